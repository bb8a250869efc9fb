"""The JSON ladder: the values of a region of text, each read on the lowest rung that can read it.

A region is what an enclosing format isolated. Nothing in it is lost: what belongs to no value is an edit of the value
beside it, or the region is not read at all.
"""

from __future__ import annotations

import re
from typing import Any

from outspoken.results.edits import (
    CODES,
    LEVELS,
    REPAIR_LIMITS,
    Edit,
    RepairBudget,
    RepairedValue,
    RepairLimit,
    cost_of,
    highest_level,
)
from outspoken.results.settings import DEFAULT, Settings

from .brackets import NAMED
from .heuristic import guess
from .scanner import encodable_value, read_at
from .schema import misfits, names_of
from .search import MARGIN, MAX_SPAN, Search, near
from .state import State
from .strings import HALF
from .tokens import BLANK, DATA, SPACES, TORN
from .truncation import assemble, finish, placed_edits
from .walk import KEY_FIRST, Walk

_BETWEEN = re.compile(r"[ \t\r\n,;，；]*")
_OPENER = re.compile(r"[{\[｛［【]")
_SURPLUS_CLOSER = re.compile(r"\s*[}\]]")
_SURPLUS = re.compile(r"[}\]｝］】\"'”]")
#: what is behind a value speaks against it
_BAD_REST = 100
_SURPLUS_COST = 30
#: how much of what closes nothing is dropped behind a value
_MAX_TAIL = 8
#: a reading of the brackets that costs more than this is compared with one of the strings
_DEAR = 180
#: the same where the text was cut off, and where a quote was left over
_DEAR_CUT = 80
_DEAR_LEFT = 30
#: repairs of a value that the text cut off after which it is open whether another reading is not cut off
_UNSURE = frozenset({"comment", "quote-style", "missing-comma", "missing-colon", "bare-value", "bare-key"})
#: how far behind a value one looks for what belongs to it
_MAX_TORN = 400
#: how many steps a damaged value costs at least
_DAMAGED = 25
#: what may be dropped beside a value of a region
_MAX_JUNK = 40


def repair_region(
    text: str,
    start: int,
    end: int,
    *,
    closed: bool,
    repair_limit: RepairLimit,
    schema: dict[str, Any] | None = None,
    settings: Settings = DEFAULT,
    budget: RepairBudget | None = None,
) -> list[RepairedValue]:
    """The values of text[start:end], in order; none where there is none, or where the cap forbids what it takes.

    `closed` says that the format proves the region's end: closing brackets may be missing then. Otherwise a value
    that does not end is one that the text cut off. `schema` is that of the value; its names tell strings apart.
    """
    if repair_limit not in REPAIR_LIMITS:
        raise ValueError(f"`repair_limit` is {repair_limit!r}; expected one of {', '.join(map(repr, REPAIR_LIMITS))}")
    budget = budget or RepairBudget.of(end - start)
    return region_values(RegionReader(text, start, end, closed, repair_limit, schema, settings, budget))


class RegionReader:
    """One region while it is read. In `prose`, anything may stand around a value; it is the caller's to note."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        closed: bool,
        repair_limit: RepairLimit,
        schema: dict[str, Any] | None,
        settings: Settings,
        budget: RepairBudget,
        *,
        prose: bool = False,
    ) -> None:
        self.base, self.text, self.end = start, text[start:end], end - start
        self.whole = text
        self.closed, self.prose, self.schema, self.budget = closed, prose, schema, budget
        #: whether the walk came to a bracket that may be another one
        self.forked = False
        self.highest = REPAIR_LIMITS.index(repair_limit)
        self.max_depth = settings.max_depth
        #: the furthest place where reading failed, and what was expected there
        self.failed: tuple[int, str] | None = None
        self.too_deep = False

    def skip(self, pos: int) -> int:
        """The place behind white space and separators."""
        return _BETWEEN.match(self.text, pos).end()  # pyright: ignore[reportOptionalMemberAccess]

    def value(self, first: int) -> RepairedValue | None:
        """The value that begins at a place of the region, on the lowest rung that reads it."""
        found = read_at(self.text, first, self.max_depth)
        if found is not None and self._stands_alone(found[2], found[1]):
            value = found[0] if found[2].isascii() or not HALF.search(found[2]) else encodable_value(found[0])
            return RepairedValue(value, found[2], self.base + first, self.base + found[1], (), "exact", 0, True, None)
        if self.budget.steps <= 0:
            self.failed = self.failed or (first, "")
            return None
        mended = self._damaged(first)
        self.budget.steps -= _DAMAGED
        if mended is None or LEVELS.index(mended.level) <= self.highest:
            return mended
        place = next(edit.start for edit in mended.edits if LEVELS.index(edit.level) > self.highest)
        self.failed = place - self.base, "sound JSON" if not self.highest else "JSON with less damage"
        return None

    def _stands_alone(self, piece: str, end: int) -> bool:
        """May a sound value be taken for what was meant, by what follows it?"""
        if piece[0] in "{[":
            return not (piece[0] == "{" and NAMED.match(self.text, end)) and self.rest(end) < _SURPLUS_COST
        return not self.prose and not self.text[end:].strip(" \t\r\n")

    def _damaged(self, first: int) -> RepairedValue | None:
        """The value by the walk, or by a search where the walk fails or leaves a choice."""
        walked, sure = self._walk(first)
        if walked is not None and sure:
            return walked
        if not self.too_deep and self.highest >= LEVELS.index("structure"):
            brackets = (
                self._search(first, opaque=True)
                if walked is None or self.forked or not walked.complete or _left(walked)
                else None
            )
            if brackets and (self.highest == LEVELS.index("structure") or brackets[0] <= _dear(brackets[1])):
                return brackets[1]
            strings = self._search(first, opaque=False) if self.highest > LEVELS.index("structure") else None
            found = sorted([reading for reading in (brackets, strings) if reading], key=lambda reading: reading[0])
            if found:
                return _told(found)
        return walked

    def _walk(self, first: int) -> tuple[RepairedValue | None, bool]:
        """The value by the walk, and whether no other reading comes into question."""
        walk = Walk(self.text, self.max_depth, closed=self.closed, bare=not self.prose)
        state = State(first)
        stop = walk.run(state, self.budget.steps)
        self.budget.steps -= walk.steps
        self.too_deep = self.too_deep or walk.too_deep
        self.forked = stop == "fork" or (stop == "done" and bool(_SURPLUS_CLOSER.match(self.text, state.pos)))
        ended = stop == "done" or (stop == "end" and finish(walk, state, closed=self.closed))
        if not ended or (stop == "done" and self.rest(state.pos) >= _BAD_REST):
            self._fail(state)
            return None, False
        made = self.made(first, state, complete=stop == "done" or self.closed)
        if made is None or self.forked:
            return made, False
        unsure = made.level != "notation" or any(edit.code in _UNSURE for edit in made.edits)
        return made, (made.complete or not unsure) and not _left(made)

    def _fail(self, state: State) -> None:
        if self.failed is None or state.pos >= self.failed[0]:
            self.failed = (state.pos, state.expected())

    def _search(self, first: int, *, opaque: bool) -> tuple[int, RepairedValue] | None:
        """What the reading costs and the value, by the search for brackets, or for the edges of strings, too."""
        if self.end - first > MAX_SPAN or self.budget.search <= 0:
            return None
        self.budget.search -= (self.end - first) // 50  # all quotes up to the end are looked for
        walk = Walk(self.text, self.max_depth, closed=self.closed, opaque=opaque, bare=not self.prose, forks=True)
        search = Search(walk, first, self._names(), self.rest, self.budget)
        found: list[tuple[int, RepairedValue]] = []
        for weight, state, complete in search.best(30 if self.schema else MARGIN):
            made = self.made(first, state, complete=complete)
            if made is not None and LEVELS.index(made.level) <= self.highest:
                found.append((weight + 15 * misfits(made.value, self.schema) if self.schema else weight, made))
        if not found:
            return None
        found.sort(key=lambda reading: reading[0])
        weight = found[0][0]
        return weight, _told(found)

    def _names(self) -> frozenset[str]:
        """The names in the schema."""
        if not self.schema:
            return frozenset()
        known = self.budget.names.get(id(self.schema))
        if known is None:
            known = self.budget.names[id(self.schema)] = (self.schema, names_of(self.schema))
        return known[1]

    def made(self, first: int, state: State, *, complete: bool) -> RepairedValue | None:
        """What a walk from `first` on made of the text; None where that is no JSON after all."""
        read = assemble(self.text, first, state, self.max_depth)
        if read is None:
            return None
        value, text, end, changes = read
        edits = placed_edits(text, first, self.base, changes)
        level = highest_level(edits)
        return RepairedValue(
            value, text, self.base + first, self.base + end, edits, level, cost_of(edits), complete, None
        )

    def guess(self, first: int) -> RepairedValue | None:
        """The rest of the region as one value, by guesswork."""
        span = self.text[first:].rstrip()
        if self.budget.steps <= 0:
            return None
        if self.highest < LEVELS.index("heuristic") or self.too_deep or not (self.closed or span.endswith(("}", "]"))):
            return None
        guessed = guess(span, self.schema, self.max_depth, self.budget)
        if guessed is None:
            return None
        start = self.base + first
        edit = Edit(start, start + len(span), guessed[1], "heuristic", "heuristic")
        return RepairedValue(*guessed, start, edit.end, (edit,), "heuristic", cost_of((edit,)), True, None)

    # -- what stands around a value

    def rest(self, pos: int) -> int:
        """How little the text behind a value looks like the end of one, in the tenths of `WEIGHTS`."""
        cost, char = 0, ""
        while cost < _BAD_REST:
            before, pos = pos, self.skip(pos)
            char = self.text[pos : pos + 1]
            if char and char in "{[｛［【" and DATA.match(self.text, pos):
                return cost + (15 if "," in self.text[before:pos] else 0)
            if not char or BLANK.match(self.text, pos):
                return cost
            match = _SURPLUS.match(self.text, pos)
            if match is None or (self.prose and (char not in "}]" or self.highest < LEVELS.index("structure"))):
                break
            cost, pos = cost + (_SURPLUS_COST if char in "}]｝］】" else 2 * _SURPLUS_COST), match.end()
        if self.prose:
            return _BAD_REST if char in "\"'”:,}]" else cost + 10 + (_SURPLUS_COST if self.torn(pos) else 0)
        return cost + (60 if self.end - pos <= _MAX_JUNK and char not in "\"'”:" else _BAD_REST)

    def torn(self, pos: int) -> bool:
        """Does the text that follows look as if it belonged to a value that ends here?"""
        following = DATA.search(self.text, pos, pos + _MAX_TORN)
        return TORN.search(self.text, pos, following.start() if following else pos + _MAX_TORN) is not None

    def tail(self, mended: RepairedValue) -> RepairedValue:
        """The value with what closes nothing behind it, and marks and comments, as edits of it."""
        for _ in range(_MAX_TAIL):
            at = mended.end - self.base
            pos = SPACES.match(self.text, at).end()  # pyright: ignore[reportOptionalMemberAccess]
            if (match := _SURPLUS.match(self.text, pos)) and self.highest >= LEVELS.index("structure"):
                code = "stray-quote" if match[0] in "\"'”" else "extra-closer"
            elif self.prose or not self.highest or not (match := BLANK.match(self.text, pos)):
                break
            else:
                code = "comment" if match.lastgroup == "comment" else "odd-space"
            mended = self._with(mended, Edit(self.base + at, self.base + match.end(), "", code, CODES[code].level))
        return mended

    def with_junk(self, mended: RepairedValue, start: int, end: int, *, before: bool) -> RepairedValue:
        edit = Edit(self.base + start, self.base + end, "", "dropped-text", "structure")
        return self._with(mended, edit, before=before)

    def _with(self, mended: RepairedValue, edit: Edit, *, before: bool = False) -> RepairedValue:
        """The value with one more edit, before or behind it."""
        edits = (edit, *mended.edits) if before else (*mended.edits, edit)
        start, end = min(mended.start, edit.start), max(mended.end, edit.end)
        return mended._replace(start=start, end=end, edits=edits, level=highest_level(edits), cost=cost_of(edits))


def _left(mended: RepairedValue) -> bool:
    """Is there a quote that belongs to no string?"""
    return any(edit.code == "stray-quote" for edit in mended.edits)


def _dear(mended: RepairedValue) -> int:
    """What a reading of the brackets may cost that is not compared with one of the strings."""
    return _DEAR_LEFT if _left(mended) else _DEAR if mended.complete else _DEAR_CUT


def _told(found: list[tuple[int, RepairedValue]]) -> RepairedValue:
    """The first of some readings and their costs, cheapest first; with the one that it may be as well."""
    weight, best = found[0]
    most = weight + (_SURPLUS_COST if _left(best) else near(weight))
    if best.runner_up is None:
        others = [made.text for other, made in found[1:] if other <= most and made.value != best.value]
        return best._replace(runner_up=others[0]) if others else best
    return best


def bounded(mended: RepairedValue, text: str) -> RepairedValue:
    """The value with what was put in at its end as part of its last character, where another value begins at once."""
    edits = list(mended.edits)
    after = ""
    code = Edit(0, 0, "", "", "")
    while edits and edits[-1].start == mended.end:
        code = edits.pop()
        after = code.after + after
    if not after:
        return mended
    if edits and edits[-1].end == mended.end:
        edits[-1] = code._replace(start=edits[-1].start, end=mended.end, after=edits[-1].after + after)
    else:
        last = mended.end - 1
        edits.append(code._replace(start=last, end=mended.end, after=text[last : mended.end] + after))
    return mended._replace(edits=tuple(edits), cost=cost_of(tuple(edits)))


def region_values(mender: RegionReader) -> list[RepairedValue]:
    """The values of a region; all of it must be read."""
    text, end, found = mender.text, mender.end, list[RepairedValue]()
    pos = mender.skip(0)
    while pos < end:
        first = pos
        may_drop = not found and mender.highest >= LEVELS.index("structure")
        if may_drop and not _OPENER.match(text, pos) and (opener := _OPENER.search(text, pos + 1, pos + _MAX_JUNK)):
            first = opener.start() if not KEY_FIRST.match(text, pos) else pos
        mended = mender.value(first) if not found or _OPENER.match(text, first) else None
        if mended is None and first > pos:
            mended = mender.value(pos)
            first = pos if mended is not None else first
        if mended is None and not found and _OPENER.match(text, first):
            mended = mender.guess(first)
        if mended is None:
            break
        if first > pos:
            mended = mender.with_junk(mended, pos, first, before=True)
        found.append(mender.tail(mended))
        pos = mender.skip(found[-1].end - mender.base)
        if pos < end and pos == found[-1].end - mender.base:
            found[-1] = bounded(found[-1], mender.whole)
    if any(mended.edits and mended.edits[-1].code == "stray-quote" for mended in found[:-1]):
        return []  # the quote is the end of a string, and what follows it belongs to the value before
    if pos < end and found:
        if end - pos > _MAX_JUNK or mender.highest < LEVELS.index("structure") or TORN.search(text, pos, end):
            return []
        found[-1] = mender.with_junk(found[-1], found[-1].end - mender.base, len(text.rstrip(" \t\r\n")), before=False)
    return found
