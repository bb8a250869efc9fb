"""Reads the JSON values of a region of text, each with the lowest level of repair that can read it; applies the edits.

A region is what a format isolated. No text of it is lost: what belongs to no value is an edit of the value beside it,
or the region is not read at all.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.codes import CODES
from outspoken.results.edits import (
    LEVELS,
    REPAIR_LIMITS,
    Edit,
    RepairBudget,
    RepairedValue,
    RepairLimit,
)
from outspoken.results.schemas.schema import SINGLE_TYPES, Schema
from outspoken.results.settings import DEFAULT, Settings

from . import costs
from .brackets import NEXT_MEMBER, WalkOptions, WalkState
from .decoder import (
    BLANKS,
    UNSOUND,
    NotJsonError,
    decode,
    encodable_value,
    place_of_damage,
    read_value,
    total_pattern,
)
from .edits import (
    applied,
    changes_any_number,
    changes_number,
    changes_of,
    computes_string,
    edits_of,
    without_insertion_behind,
)  # fmt: skip
from .structure import KEY_FIRST, StructureWalk
from .tokens import BLANK, DATA, SURROGATE, TORN, Change

if TYPE_CHECKING:
    from .quotes import Quotes

_STRUCTURE, _HEURISTIC = LEVELS.index("structure"), LEVELS.index("heuristic")

_BETWEEN = total_pattern(r"[ \t\r\n,;，；]*")
_OPENER = lazy_pattern(r"[{\[｛［【]")
_SURPLUS_CLOSER = lazy_pattern(r"\s*[}\]]")
_SURPLUS = lazy_pattern(r"[}\]｝］】\"'”]")
#: how many surplus brackets, quotes and comments are dropped behind a value
_MAX_SURPLUS = 8
_COLON_QUOTE = lazy_pattern(r'\s*:\s*"')
#: with these repairs, another reading of a truncated value may be complete
_UNSURE = frozenset({"comment", "quote-style", "missing-comma", "missing-colon", "bare-value", "bare-key"})
#: how many characters behind a value are searched for the rest of it
_MAX_TORN = 400
#: the steps that a damaged value costs at least
_MIN_STEPS = 25
#: how many characters may be dropped beside the values of a region
_MAX_DROPPED = 40


def repair_region(
    text: str,
    start: int,
    end: int,
    *,
    closed: bool,
    repair_limit: RepairLimit,
    schema: Schema | None = None,
    settings: Settings = DEFAULT,
    budget: RepairBudget | None = None,
) -> list[RepairedValue]:
    """The values of text[start:end], in order; none if there is none, or if `repair_limit` forbids the repairs.

    With `closed`, the format proves where the region ends, so that only closing brackets may be missing. Otherwise a
    value without an end is truncated. The names and types of `schema` help to find where strings end. The edits have no
    paths; `edits.with_paths` adds them.
    """
    context = RepairContext(repair_limit, schema, settings, budget or RepairBudget.of(end - start))
    return RegionReader(text, start, end, closed, context).values()


class RepairContext(NamedTuple):
    """What all regions of a text share."""

    repair_limit: RepairLimit
    schema: Schema | None
    settings: Settings
    budget: RepairBudget

    @property
    def is_list(self) -> bool:
        """Is a list due, and nothing else? Then a tuple is one."""
        return self.schema is not None and self.schema.types == SINGLE_TYPES["array"]


class RegionReader:
    """Reads one region. In `prose`, other text may surround a value; the caller reports it."""

    def __init__(
        self, text: str, start: int, end: int, closed: bool, context: RepairContext, *, prose: bool = False
    ) -> None:
        self.whole, self.base, self.text, self.end = text, start, text[start:end], end - start
        self.closed, self.prose = closed, prose
        self.schema, self.budget, self.max_depth = context.schema, context.budget, context.settings.max_depth
        self.limit, self._is_list = REPAIR_LIMITS.index(context.repair_limit), context.is_list and not prose
        #: the furthest place where reading failed, and what was expected there
        self.failed: tuple[int, str] | None = None
        self.too_deep = False
        #: did the walk come to a bracket that may be wrong?
        self._doubtful = False
        #: a place up to which a value that was tried is sound
        self._damage = 0
        #: see `changes_of`
        self._bodies: dict[Change, list[Change]] = {}

    @cached_property
    def _quotes(self) -> Quotes:
        from .quotes import Quotes

        return Quotes(self.text)

    def _skip(self, pos: int) -> int:
        """The place behind white space and separators."""
        return _BETWEEN.match(self.text, pos).end()

    def value(self, first: int) -> RepairedValue | None:
        """The value that begins at a place of the region, with the lowest level of repair that reads it."""
        sound = self.sound_value(first)
        if sound is not None:
            return sound
        if self.budget.steps <= 0:
            self.failed = self.failed or (first, "")
            return None
        repaired = self._damaged(first)
        self.budget.steps -= _MIN_STEPS
        if repaired is None or LEVELS.index(repaired.level) <= self.limit:
            return repaired
        place = next(edit.start for edit in repaired.edits if LEVELS.index(edit.level) > self.limit)
        self.failed = place - self.base, "sound JSON" if not self.limit else "JSON with less damage"
        return None

    def sound_value(self, first: int) -> RepairedValue | None:
        """The value that begins at a place of the region, if it is sound and all that was meant there."""
        try:
            found = read_value(self.text, first, self.max_depth)
        except UNSOUND as error:
            self._damage = max(place_of_damage(error), first)
            return None
        if not self._stands_alone(found[2], found[1]):
            return None
        value = found[0] if found[2].isascii() or not SURROGATE.search(found[2]) else encodable_value(found[0])
        return RepairedValue(value, found[2], self.base + first, self.base + found[1])

    def _stands_alone(self, piece: str, end: int) -> bool:
        """Does what follows a sound value allow that it is all that was meant?"""
        if piece[0] == "{" and NEXT_MEMBER.match(self.text, end):
            return False
        if piece[0] in "{[":
            return self._cost_of_rest(end) < costs.SURPLUS
        return not self.prose and not self.text[end:].strip(" \t\r\n")

    def _damaged(self, first: int) -> RepairedValue | None:
        """The value by the walk, or by a search if the walk fails or has a choice."""
        walked = self._walk(first)
        invents = walked is not None and (_glued_members(walked, self.whole) or self._invents(walked.value))
        has_choice = walked is None or self._doubtful or invents or _has_stray_quote(walked)
        is_sure = walked is not None and not has_choice and (walked.complete or not _is_unsure(walked))
        if is_sure or self.too_deep or self.limit < _STRUCTURE:
            return walked
        brackets = self._search(first, first_quote_ends=True)
        most = 0 if brackets is None or invents else _compared_from(brackets[1])
        if brackets and (self.limit == _STRUCTURE or brackets[0] <= most):
            return brackets[1]
        strings = self._search(first, first_quote_ends=False) if self.limit > _STRUCTURE else None
        readings = sorted([reading for reading in (brackets, strings) if reading], key=lambda reading: reading[0])
        return _with_runner_up(readings) if readings else walked

    def _walk(self, first: int) -> RepairedValue | None:
        """The value by the walk."""
        walk = StructureWalk(self.text, self.max_depth, self._options(), self._damage)
        state = WalkState(first)
        stop = walk.run(state, self.budget.steps)
        self.budget.steps -= walk.steps
        self.too_deep = self.too_deep or walk.too_deep
        self._doubtful = stop == "choice" or (stop == "done" and bool(_SURPLUS_CLOSER.match(self.text, state.pos)))
        ended = stop == "done" or (stop == "end" and walk.finish(state))
        if not ended or (stop == "done" and self._cost_of_rest(state.pos) >= costs.BAD_REST):
            if self.failed is None or state.pos >= self.failed[0]:
                self.failed = (state.pos, state.expected())
            return None
        return self._build(first, state, complete=stop == "done" or self.closed)

    def _options(self, first_quote_ends: bool = True, try_brackets: bool = False) -> WalkOptions:
        return WalkOptions(self.closed, first_quote_ends, not self.prose, try_brackets, self._is_list)

    def _search(self, first: int, *, first_quote_ends: bool) -> tuple[int, RepairedValue] | None:
        """The cheapest reading and its cost, by a search over brackets, or over the ends of strings, too."""
        from .strings import MAX_SPAN, Search  # many damaged texts need no search

        if self.end - first > MAX_SPAN or self.budget.search <= 0:
            return None
        self.budget.search -= (self.end - first) // 50  # the search looks for all quotes up to the end
        walk = StructureWalk(
            self.text, self.max_depth, self._options(first_quote_ends, try_brackets=True), self._damage
        )
        names = self.schema.all_names if self.schema is not None else frozenset[str]()
        search = Search(walk, self._quotes, first, names, self._cost_of_rest, self.budget)
        readings: list[tuple[int, RepairedValue]] = []
        for weight, state, complete in search.cheapest(costs.SCHEMA_MARGIN if self.schema else costs.MARGIN):
            value = self._build(first, state, complete=complete)
            if value is not None:
                readings.append((weight + self._weight_of(value), value))
        readings.sort(key=lambda reading: reading[0])
        allowed = [reading for reading in readings if LEVELS.index(reading[1].level) <= self.limit]
        if not allowed:
            return None
        # what the limit forbids may be meant all the same
        others = [reading for reading in readings if reading is not allowed[0]]
        return allowed[0][0], _with_runner_up([allowed[0], *others])

    def _weight_of(self, repaired: RepairedValue) -> int:
        """What a reading costs for what it says."""
        weight, schema = costs.GLUED_KEY * _glued_members(repaired, self.whole), self.schema
        if schema is not None and (misfits := schema.misfits(repaired.value)):
            weight += costs.INVENTED_KEY * schema.unknown_names(repaired.value) + costs.MISFIT * misfits
        return weight

    def _invents(self, value: Any) -> bool:
        """Does a value have a name that the schema does not have?"""
        return self.schema is not None and self.schema.unknown_names(value) > 0

    def _build(self, first: int, state: WalkState, *, complete: bool) -> RepairedValue | None:
        """The value that a walk from `first` on made of the text; None if the result is not JSON."""
        changes = changes_of(self.text, state, self._bodies)
        text = applied(self.text, first, state.pos, changes)
        if text is None:
            return None
        try:
            value = decode(text, self.max_depth)
        except NotJsonError:
            return None
        if computes_string(self.text, changes) or changes_any_number(self.text, changes):
            return None
        edits = edits_of(self.base, changes)
        span = self.base + first, self.base + state.pos
        return RepairedValue(value, text, *span, edits, complete)

    def _guess(self, first: int) -> RepairedValue | None:
        """The rest of the region as one value, on the level "heuristic"."""
        from .heuristic import read_heuristically

        span = self.text[first:].rstrip()
        if self.limit < _HEURISTIC or self.too_deep or self.budget.steps <= 0:
            return None
        if not (self.closed or span.endswith(("}", "]"))):
            return None
        guessed = read_heuristically(span, self.schema, self.max_depth, self.budget)
        if guessed is None:
            return None
        if changes_number(span, 0, len(span), guessed[1], "heuristic"):
            return None
        start = self.base + first
        edit = Edit(start, start + len(span), guessed[1], "heuristic", "heuristic")
        return RepairedValue(*guessed, start, edit.end, (edit,))

    # -- the text around a value

    def _cost_of_rest(self, pos: int) -> int:
        """How unlikely it is that a value ends before the text at a place, as in `costs`."""
        cost, char = 0, ""
        while cost < costs.BAD_REST:
            before, pos = pos, self._skip(pos)
            char = self.text[pos : pos + 1]
            if char and char in "{[｛［【" and DATA.match(self.text, pos):
                return cost + (costs.NEXT_VALUE if "," in self.text[before:pos] else 0)
            if not char or BLANK.match(self.text, pos):
                return cost
            match = _SURPLUS.match(self.text, pos)
            if match is None or (self.prose and (char not in "}]" or self.limit < _STRUCTURE)):
                break
            cost, pos = cost + (costs.SURPLUS if char in "}]｝］】" else 2 * costs.SURPLUS), match.end()
        if self.prose:
            return (
                costs.BAD_REST
                if char in "\"'”:,}]"
                else cost + costs.PROSE_BEHIND + (costs.SURPLUS if self._is_torn(pos) else 0)
            )
        return cost + (costs.DROPPED_REST if self.end - pos <= _MAX_DROPPED and char not in "\"'”:" else costs.BAD_REST)

    def _is_torn(self, pos: int) -> bool:
        """Does the text at a place look like the rest of a value?"""
        following = DATA.search(self.text, pos, pos + _MAX_TORN)
        return TORN.search(self.text, pos, following.start() if following else pos + _MAX_TORN) is not None

    def with_surplus(self, repaired: RepairedValue) -> RepairedValue:
        """The value with edits that drop surplus brackets and quotes, comments and odd spaces behind it."""
        for _ in range(_MAX_SURPLUS):
            at = repaired.end - self.base
            pos = BLANKS.match(self.text, at).end()
            if (match := _SURPLUS.match(self.text, pos)) and self.limit >= _STRUCTURE:
                code = "stray-quote" if match[0] in "\"'”" else "extra-closer"
            elif self.prose or not self.limit or not (match := BLANK.match(self.text, pos)):
                break
            else:
                code = "comment" if match.lastgroup == "comment" else "odd-space"
            repaired = self._with_dropped(repaired, at, match.end(), code)
        return repaired

    def _with_dropped(
        self, repaired: RepairedValue, start: int, end: int, code: str = "dropped-text", *, before: bool = False
    ) -> RepairedValue:
        """The value with one more edit, before or behind it, that drops self.text[start:end]."""
        edit = Edit(self.base + start, self.base + end, "", code, CODES[code].level)
        edits = (edit, *repaired.edits) if before else (*repaired.edits, edit)
        start, end = min(repaired.start, edit.start), max(repaired.end, edit.end)
        return repaired._replace(start=start, end=end, edits=edits)

    # -- all values

    def values(self) -> list[RepairedValue]:
        """The values of the region; none if a part of it cannot be read."""
        text, end = self.text, self.end
        repaired_values: list[RepairedValue] = []
        pos = self._skip(0)
        while pos < end and (repaired := self._next(pos, is_first=not repaired_values)) is not None:
            repaired_values.append(self.with_surplus(repaired))
            pos = self._skip(repaired_values[-1].end - self.base)
            if pos < end and pos == repaired_values[-1].end - self.base:
                repaired_values[-1] = without_insertion_behind(repaired_values[-1], self.whole)
        if any(repaired.edits and repaired.edits[-1].code == "stray-quote" for repaired in repaired_values[:-1]):
            return []  # the quote is the end of a string, and what follows it belongs to the value before
        if pos < end and repaired_values:
            if end - pos > _MAX_DROPPED or self.limit < _STRUCTURE or TORN.search(text, pos, end):
                return []
            repaired_values[-1] = self._with_dropped(
                repaired_values[-1], repaired_values[-1].end - self.base, len(text.rstrip(" \t\r\n"))
            )
        return repaired_values

    def _next(self, pos: int, *, is_first: bool) -> RepairedValue | None:
        """The next value. Text before the first one may be dropped."""
        if not is_first:
            return self.value(pos) if _OPENER.match(self.text, pos) else None
        first = pos
        if self.limit >= _STRUCTURE and not _OPENER.match(self.text, pos) and not KEY_FIRST.match(self.text, pos):
            opener = _OPENER.search(self.text, pos + 1, pos + _MAX_DROPPED)
            first = opener.start() if opener else pos
        repaired = self.value(first)
        if repaired is None and first > pos and (repaired := self.value(pos)) is not None:
            return repaired
        if repaired is None and _OPENER.match(self.text, first):
            repaired = self._guess(first)
        return self._with_dropped(repaired, pos, first, before=True) if repaired and first > pos else repaired


def _glued_members(repaired: RepairedValue, text: str) -> int:
    """How many keys without quotes stand between two quotes, as words do in a string whose quotes are not escaped."""
    edits = repaired.edits
    return sum(
        one.code == "missing-comma"
        and other.code == "bare-key"
        and one.end == other.start
        and _COLON_QUOTE.match(text, other.end) is not None
        for one, other in pairwise(edits)
    )


def _is_unsure(repaired: RepairedValue) -> bool:
    """Was something repaired for which another reading of a truncated value may be complete?"""
    return repaired.level != "notation" or any(edit.code in _UNSURE for edit in repaired.edits)


def _has_stray_quote(repaired: RepairedValue) -> bool:
    """Was a quote dropped that belongs to no string?"""
    return any(edit.code == "stray-quote" for edit in repaired.edits)


def _compared_from(repaired: RepairedValue) -> int:
    """The cost from which on a reading of the brackets is compared with readings of the strings."""
    return (
        costs.COMPARED_STRAY
        if _has_stray_quote(repaired)
        else costs.COMPARED
        if repaired.complete
        else costs.COMPARED_TRUNCATED
    )


def _with_runner_up(found: list[tuple[int, RepairedValue]]) -> RepairedValue:
    """The cheapest of some readings, which are sorted by cost, with the next one if that is as likely."""
    weight, best = found[0]
    most = weight + (costs.SURPLUS if _has_stray_quote(best) else costs.tolerance(weight))
    if best.runner_up is None:
        others = [other.text for cost, other in found[1:] if cost <= most and other.value != best.value]
        return best._replace(runner_up=others[0]) if others else best
    return best
