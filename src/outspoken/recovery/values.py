"""JSON and literals in damaged segments: the edges that read them with the ladder, and then by the strict grammar."""

from __future__ import annotations

import re
from typing import Any

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.repair import repair_region
from outspoken.json.scanner import BracketCounter, read_at
from outspoken.notations.interface import MarkedNotation, notation_of
from outspoken.notations.schema import ANY, SchemaView
from outspoken.notations.tools import schema_view_of
from outspoken.results.edits import Edit, RepairedValue

from .marker_lexer import Token, coarse, matcher, starts
from .path import AMBIGUOUS, BLANK, CUT, JUNK, LEVEL_COSTS, MISSING, QUOTED, TELLING, WORD, Edge, Region, Taken

_MAX_ENDS = 6
_MAX_READ = 4
_FAR = 20_000
_CLOSERS = re.compile(r"[}\]]")
#: What is not dropped beside a value: it may be a part of it.
_TELLING = TELLING | {":"}


class Values:
    """Reads the values of a region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._text = region.text
        self._end = len(region.text)
        self._tokens = region.tokens
        self._starts = starts(region.tokens, region.text)
        self._mended: dict[tuple[int, int, str], list[RepairedValue]] = {}

    def embedded(self, at: int, config: Config, name: str) -> list[Edge]:
        """Values in another notation: sound ones, and Python literals that need repair."""
        found: list[Edge] = []
        for step in config.embedded:
            notation = notation_of(step.terminal)
            if not notation.may_begin(self._text[at]):
                continue
            schema_view = self._shape(name) if notation.typed_by_schema else ANY
            sound = notation.read_at(self._text, at, self._region.settings.max_depth, True, schema_view)
            if sound is not None:
                value, end, text = sound
                found.append(Edge(0, end, step.target, (Taken(step, at, end, "", value, text),)))
            elif isinstance(notation, MarkedNotation) and self._region.repair_limit not in ("none", "notation"):
                found += self._without_marks(at, step, notation, schema_view)
            if not notation.repairable:
                continue
            if sound is not None and self._is_followed(sound[1], step.target):
                continue
            read = 0
            for end in self._literal_ends(at, step.target):
                v = self._literal(at, end)
                if v is not None and read < _MAX_READ:
                    read += 1
                    taken = Taken(step, at, end, "", v.value[0], v.text[1:-1], v.edits, ambiguous=v.runner_up or "")
                    found.append(Edge(_price(v), end, step.target, (taken,)))
        return found

    def _without_marks(
        self, at: int, step: Transition, notation: MarkedNotation, schema_view: SchemaView
    ) -> list[Edge]:
        """A value in which marks are missing."""
        read = notation.read_without_marks(self._text, at, self._region.settings.max_depth, schema_view)
        if read is None:
            return []
        value, end, text, places = read
        edits = tuple([Edit(place, place, notation.mark, "missing-marker", "markup") for place in places])
        return [Edge(MISSING * len(places), end, step.target, (Taken(step, at, end, "", value, text, edits),))]

    def _shape(self, name: str) -> SchemaView:
        """What is known of the arguments of a tool."""
        region = self._region
        return schema_view_of(region.tools, name, "", region.automaton.tables.header.values)

    def _is_followed(self, pos: int, config: Config) -> bool:
        """Does a marker stand here that may follow?"""
        pos += len(self._text[pos : pos + 40]) - len(self._text[pos : pos + 40].lstrip(BLANK))
        return any(matcher(t).regex.match(self._text, pos) for t in config.markers)

    def _literal(self, start: int, end: int) -> RepairedValue | None:
        """A damaged literal, read as the only item of a list, so that its own end is known."""
        found = repair_region(
            f"[{self._text[start:end]}]",
            0,
            end - start + 2,
            closed=True,
            repair_limit=self._region.repair_limit,
            settings=self._region.settings,
            budget=self._region.budget,
        )
        if len(found) != 1 or not found[0].complete or _dropped(found[0]):
            return None
        v = found[0]
        if not self._region.closed and any(e.code in ("lost-quote", "missing-closer") for e in v.edits):
            return None  # it may be cut
        if not isinstance(v.value, list) or len(v.value) != 1 or v.text[:1] != "[" or v.text[-1:] != "]":  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
            return None
        edits = [_unlisted(edit, start, end) for edit in v.edits]
        return v._replace(edits=tuple([e for e in edits if e])) if all(edits) else None

    def _literal_ends(self, at: int, target: Config) -> list[int]:
        """Where a damaged literal may end: before the markers that may follow it."""
        ends: list[int] = []
        closers = [t.terminal.canonical.strip() or t.terminal.regex[0] for t in target.markers]
        for closer in sorted(set(closers)):
            end = self._text.find(closer, at + 1)
            while end > 0 and len(ends) < 40:
                ends.append(end)
                end = self._text.find(closer, end + 1)
        ends = sorted(set(ends))
        return ends[:_MAX_ENDS] + ends[_MAX_ENDS:][-_MAX_ENDS:]

    def json(self, at: int, config: Config, name: str) -> list[Edge]:
        """JSON that needs repair, as an island or with keys that the grammar knows."""
        found: list[Edge] = []
        if self._region.repair_limit == "none" or not any(opens_json(t) for t in (*config.markers, *config.embedded)):
            return found
        if at in self._starts and self._text[at] not in "{[":
            return found
        ends = [t.start for t in self._tokens if t.start > at and self._ends_json(t)]
        ends = [*ends[: _MAX_ENDS - 1], *ends[_MAX_ENDS - 1 :][-2:], self._end]
        if self._end - at > _FAR:
            ends = [*ends[:1], *ends[-2:]]
        counter = BracketCounter(at)
        counter.feed(self._text, at, self._end)
        if counter.end is not None:
            ends.insert(0, counter.end)
        if not self._region.closed:
            found.append(self._cut(at, config, name))
        for end in dict.fromkeys(ends):
            values = self._mend(at, end, name)
            if not values or not values[0].complete or not _is_sound_enough(values[0], self._text):
                continue
            way = self._walk(config, values[0])
            if way is None:
                continue
            v, price = values[0], _price(values[0])
            for dropped in _dropped(v):
                price += JUNK + WORD * len(self._text[dropped.start : dropped.end].split())
            if v.level in ("strings", "heuristic"):
                price += QUOTED * sum(at < t.start < v.end and t.end - t.start > 2 for t in self._tokens)
            found.append(Edge(price, v.end, way[1], way[0]))
            if LEVEL_COSTS[v.level] <= LEVEL_COSTS["structure"] and not _dropped(v):
                break  # its strings are sound, so it does not end further on
        return found

    def _cut(self, at: int, config: Config, name: str) -> Edge:
        """JSON that the text cuts off: what is complete of it is read."""
        values = self._mend(at, self._end, name)
        if len(values) == 1 and not values[0].complete:
            way = self._walk(config, values[0])
            if way is not None:
                return Edge(CUT, self._end, way[1], way[0])
        return Edge(CUT, self._end, config, (Taken(None, at, self._end),))

    def _ends_json(self, token: Token) -> bool:
        """May JSON end before this marker? Before more JSON only where a line begins."""
        if self._text[token.start] not in "{[":
            return token.end - token.start > 2
        return self._text[token.start - 1 : token.start] == "\n"

    def _mend(self, start: int, end: int, name: str) -> list[RepairedValue]:
        """What the ladder reads of a part of the text."""
        region = self._region
        try:
            return self._mended[start, end, name]
        except KeyError:
            pass
        closed = region.closed or end < self._end
        found = self._mended[start, end, name] = repair_region(
            self._text,
            start,
            end,
            closed=closed,
            repair_limit=region.repair_limit,
            schema=self._schema(name, start, end),
            settings=region.settings,
            budget=region.budget,
        )
        return found

    def _schema(self, name: str, start: int, end: int) -> dict[str, Any] | None:
        """The schema of what stands there: the arguments of a tool, or an object round them."""
        tools = self._region.tools
        if name:
            return tools.schema(name) if tools is not None and name in tools else None
        called = next((n for n in (tools.names if tools else ()) if f'"{n}"' in self._text[start:end]), None)
        keys = coarse(self._region.automaton).keys
        if tools is None or called is None or not keys:
            return None
        schema = tools.schema(called) or {}
        return {"type": "object", "properties": {key: schema if arguments else {} for key, arguments in keys.items()}}

    def _walk(self, config: Config, mended: RepairedValue) -> tuple[tuple[Taken, ...], Config] | None:
        """Read repaired JSON by the strict grammar, as far as it is complete.

        None where it is not what the format may have here.
        """
        text, pos, taken = mended.text, 0, list[Taken]()
        place = _Places(mended)
        depth = self._region.settings.max_depth
        stop = len(text) if mended.complete else place.cut()
        while pos < len(text):
            if text[pos] in BLANK:
                pos += 1
                continue
            step, end, value = _strict(config, text, pos, depth)
            if step is None:
                return None
            if end > stop:
                break
            start, after = place.raw(pos), place.raw(end)
            piece = text[pos:end]
            if value is not None:
                taken.append(Taken(step, start, after, piece, value[0], value[1]))
            else:
                taken.append(Taken(step, start, after, piece))
            config, pos = step.target, end
        if not taken:
            return None
        edits = tuple([e for e in mended.edits if not e.code.startswith("cut-")])
        first = taken[0]._replace(edits=edits, ambiguous=mended.runner_up or "")
        return (first, *taken[1:]), config


class _Places:
    """Where the characters of repaired text stand in the raw text."""

    def __init__(self, mended: RepairedValue) -> None:
        self._mended = mended
        self._marks = [(0, mended.start)]
        at, raw = 0, mended.start
        for edit in mended.edits:
            at += edit.start - raw
            self._marks.append((at, edit.start))
            at += len(edit.after)
            raw = edit.end
            self._marks.append((at, raw))
        self._at = 0

    def cut(self) -> int:
        """Up to where the repaired text is complete: to what was put in for what the text cut off."""
        for mark, edit in enumerate(self._mended.edits):
            if edit.code.startswith("cut-"):
                return self._marks[2 * mark + 1][0]
        return self._marks[-1][0]

    def raw(self, offset: int) -> int:
        """The raw offset of an offset in the repaired text; within what was put in, where that was put."""
        marks = self._marks
        while self._at + 1 < len(marks) and marks[self._at + 1][0] <= offset:
            self._at += 1
        while self._at and marks[self._at][0] > offset:
            self._at -= 1
        at, raw = marks[self._at]
        limit = marks[self._at + 1][1] if self._at + 1 < len(marks) else raw + offset - at
        return min(raw + offset - at, limit)


def _strict(config: Config, text: str, pos: int, depth: int) -> tuple[Transition | None, int, Any]:
    """What the strict grammar reads at a place: the transition, its end, and the value and text of an island."""
    for step in config.markers:
        match = matcher(step).regex.match(text, pos)
        if match is not None and match.end() > pos and not step.inserted:
            return step, match.end(), None
    for step in config.embedded:
        if text[pos] in JSON_FIRST.get(step.terminal.short, ()):
            found = read_at(text, pos, depth)
            if found is not None:
                return step, found[1], (found[0], found[2])
    return None, pos, None


def _is_sound_enough(mended: RepairedValue, text: str) -> bool:
    """May a value be used that was repaired in such a way? Not if something of it was left out, or if it was cut."""
    if sum(edit.code == "lost-quote" for edit in mended.edits) > 1:
        return False
    for edit in mended.edits:
        before = text[edit.start : edit.end]
        if edit.code == "missing-value":
            return False
        if edit.code == "dropped-text" and not _TELLING.isdisjoint(before):
            return False
        if edit.code == "lost-quote" and not _CLOSERS.search(text, edit.end, mended.end):
            return False
        if edit.code == "bare-value" and any(word.startswith(before) for word in ("true", "false", "null")):
            return False
    return True


def _unlisted(edit: Edit, start: int, end: int) -> Edit | None:
    """An edit of the list whose only item stands at start:end, as an edit of the item.

    None where it changes one of the brackets, which are not part of the text, and not all of the list.
    """
    first, last = edit.start + start - 1, edit.end + start - 1
    if (first, last) == (start - 1, end + 1):
        return edit._replace(start=start, end=end, after=edit.after[1:-1])
    return edit._replace(start=first, end=last) if start <= first and last <= end else None


def opens_json(step: Transition) -> bool:
    return step.terminal.short in JSON_FIRST or step.terminal.canonical.strip() in ("{", "[")


def _dropped(mended: RepairedValue) -> list[Edit]:
    return [edit for edit in mended.edits if edit.code == "dropped-text"]


def _price(mended: RepairedValue) -> int:
    return LEVEL_COSTS[mended.level] + (AMBIGUOUS if mended.runner_up is not None else 0)
