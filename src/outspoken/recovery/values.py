"""Embedded values in damaged segments: intact ones, and JSON and literals that need repair."""

from __future__ import annotations

from functools import lru_cache

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.decoder import may_repeat_keys, repeated_keys
from outspoken.json.edits import is_trustworthy, with_paths
from outspoken.json.repair import repair_region
from outspoken.json.scanner import BracketCounter
from outspoken.json.structure import KEY_FIRST
from outspoken.notations.coerce import ANY, SchemaView
from outspoken.notations.interface import Notation, notation_of
from outspoken.notations.tools import schema_view_of
from outspoken.notations.transcoder import MarkedNotation
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.edits import Edit, RepairedValue
from outspoken.results.schemas.schema import Schema

from . import costs
from .marker_lexer import Token, marker_forms, marker_lexer
from .one_mistake import LEAST_COST, OneEdit, OneMistake, with_key, without_opener
from .path import BLANK, Edge, LaterEdges, RecoveryStep, Region, behind_blank
from .repaired_json import call_keys, read_repaired

#: What gives the edits of a call their paths.
_ARGUMENTS = ("field", "arguments")
#: How many ends of a value are tried, and how many readings of a literal are kept.
_MAX_ENDS, _MAX_LITERALS = 6, 4
#: A value with mistakes in more marks is not read.
_MAX_NEAR_MARKS = 6
#: In a text that is longer than this, fewer ends are tried.
_FAR = 20_000
#: A literal that is a string, a number or a word.
_LITERAL = lazy_pattern(
    r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?\b|\b(?:True|False|None|true|false|null)\b"""
)
#: Brackets behind a value that close nothing.
_SURPLUS = lazy_pattern(r"\s*[}\]]")
#: A comma, and the beginning of an object or a string.
_NEXT_VALUE = lazy_pattern(r"\s{0,20},\s{0,20}[{\"]")


class ValueReader:
    """Reads the embedded values of a region, given its tokens by where they start."""

    def __init__(self, region: Region, starts: dict[int, Token]) -> None:
        self._region = region
        self._text = region.text
        self._end = len(region.text)
        self._tokens = region.tokens
        self._starts = starts
        self._repaired: dict[tuple[int, int, str], list[RepairedValue]] = {}

    # other notations than JSON

    def embedded(self, at: int, config: Config, name: str) -> list[Edge]:
        """Values in any notation that are intact, values that lack marks, and Python literals that need repair.

        `name` is the tool whose schema types them.
        """
        edges: list[Edge] = []
        for transition in config.embedded:
            notation = notation_of(transition.terminal)
            if not notation.may_begin(self._text[at]):
                continue
            schema = self._schema_view(name) if notation.typed_by_schema else ANY
            intact = notation.read_at(self._text, at, self._region.settings.max_depth, True, schema)
            if intact is not None:
                value, end, text = intact
                step = RecoveryStep(transition, at, end, "", value, text)
                edges.append(Edge(0, end, transition.target, (step,)))
            elif isinstance(notation, MarkedNotation) and self._region.repair_limit not in ("none", "notation"):
                edges += self._without_marks(at, transition, notation, schema)
                edges += self._with_near_marks(at, transition, notation, schema)
                edges += self._before_marker(at, transition, notation, schema)
            if notation.repaired_as_literal and intact is None:
                edges += self._first_literal(at, transition, notation, schema)
            if notation.repaired_as_literal and (intact is None or not self._is_followed(intact[1], transition.target)):
                edges += self._literals(at, transition)
        return edges

    def _first_literal(self, at: int, transition: Transition, notation: Notation, schema: SchemaView) -> list[Edge]:
        """A literal behind which something is missing, or stands by mistake."""
        match = _LITERAL.match(self._text, at)
        if match is None:
            return []
        read = notation.read_at(match[0], 0, self._region.settings.max_depth, True, schema)
        if read is None or read[1] != len(match[0]):
            return []
        step = RecoveryStep(transition, at, match.end(), "", read[0], read[2])
        return [Edge(0, match.end(), transition.target, (step,))]

    def _without_marks(
        self, at: int, transition: Transition, notation: MarkedNotation, schema: SchemaView
    ) -> list[Edge]:
        """A value that lacks marks."""
        read = notation.read_without_marks(self._text, at, self._region.settings.max_depth, schema)
        if read is None:
            return []
        value, end, text, places = read
        edits = tuple([Edit(place, place, notation.mark, "missing-marker", "markup") for place in places])
        step = RecoveryStep(transition, at, end, "", value, text, edits)
        return [Edge(costs.MISSING_MARKER * len(places), end, transition.target, (step,))]

    def _before_marker(
        self, at: int, transition: Transition, notation: MarkedNotation, schema: SchemaView
    ) -> list[Edge]:
        """A value before a closing marker with a mistake, which the notation takes for a part of it, or before
        something else that is not its own; and one that lacks its last brace, right before what follows it."""
        target, depth, edges = transition.target, self._region.settings.max_depth, list[Edge]()
        spellings = {text for marker in target.markers for text in marker_forms(marker).spellings}
        near = [start for start, ends in sorted(self._region.near.items()) if start > at and spellings & ends.keys()]
        near = sorted({*near[:_MAX_ENDS], *notation.ends_before(self._text, at, depth, schema)})
        reads = (notation.read_at(self._text[:start] + notation.ending, at, depth, True, schema) for start in near)
        read = next((read for read in reads if read is not None), None)
        if read is not None:
            edges.append(Edge(0, read[1], target, (RecoveryStep(transition, at, read[1], "", read[0], read[2]),)))
        end = next((start for start in sorted(self._starts) if start > at and self._is_followed(start, target)), None)
        read = None if end is None else notation.read_at(self._text[:end] + "}", at, depth, True, schema)
        if end is not None and read is not None and read[0] and read[1] == end + 1:
            edit = Edit(end, end, "}", "missing-closer", "structure")
            step = RecoveryStep(transition, at, end, "", read[0], read[2], (edit,))
            edges.append(Edge(costs.MISSING_MARKER, end, target, (step,)))
        return edges

    def _with_near_marks(
        self, at: int, transition: Transition, notation: MarkedNotation, schema: SchemaView
    ) -> list[Edge]:
        """A value with mistakes in its marks."""
        near: list[tuple[int, int, int]] = []
        for start, ends in sorted(self._region.near.items()):
            if start >= (near[-1][1] if near else at) and notation.mark in ends:
                least = ends[notation.mark][0][1]
                near.append((start, max([end for end, cost in ends[notation.mark] if cost == least]), least))
        if not near or len(near) > _MAX_NEAR_MARKS:
            return []
        pieces, offsets, last = list[str](), list[tuple[int, int]](), at
        length = 0
        for start, end, _ in near:
            pieces += [self._text[last:start], notation.mark]
            length += start - last
            offsets += [(length, start), (length + len(notation.mark), end)]
            length, last = length + len(notation.mark), end
        read = notation.read_at("".join([*pieces, self._text[last:]]), 0, self._region.settings.max_depth, True, schema)
        if read is None:
            return []
        value, read_to, text = read
        before = max([(0, at), *[pair for pair in offsets if pair[0] <= read_to]])
        end = before[1] + read_to - before[0]
        used = [item for item in near if item[1] <= end]
        edits = tuple([Edit(start, stop, notation.mark, "damaged-marker", "markup") for start, stop, _ in used])
        step = RecoveryStep(transition, at, end, "", value, text, edits)
        return [Edge(sum([cost for *_, cost in used]), end, transition.target, (step,))] if used else []

    def _schema_view(self, name: str) -> SchemaView:
        """What is known of the arguments of a tool."""
        region = self._region
        return schema_view_of(region.tools, name, "", region.automaton.tables.header.values)

    def _is_well_followed(self, pos: int, config: Config) -> bool:
        """Does the text end, or a marker of the format follow?"""
        after = behind_blank(self._text, pos)
        return after == self._end or pos in self._starts or after in self._starts or self._is_followed(pos, config)

    def _is_followed(self, pos: int, config: Config, beyond: int = 0) -> bool:
        """Does a marker of a configuration follow, which ends `beyond` an offset?"""
        pos += len(self._text[pos : pos + 40]) - len(self._text[pos : pos + 40].lstrip(BLANK))
        matches = [marker_forms(marker).match(self._text, pos) for marker in config.markers]
        return any(match is not None and match.end() > beyond for match in matches)

    def _literals(self, at: int, transition: Transition) -> list[Edge]:
        """Damaged literals."""
        found: list[Edge] = []
        for end in self._literal_ends(at, transition.target):
            v = self._literal(at, end)
            if v is not None and len(found) < _MAX_LITERALS:
                item, text = v.value[0], v.text[1:-1]
                step = RecoveryStep(transition, at, end, "", item, text, v.edits, ambiguous=v.runner_up or "")
                found.append(Edge(_cost(v), end, transition.target, (step,)))
        return found

    def _literal(self, start: int, end: int) -> RepairedValue | None:
        """A damaged literal, read as the only item of a list, so that its own end is known."""
        regions = repair_region(
            f"[{self._text[start:end]}]",
            0,
            end - start + 2,
            closed=True,
            repair_limit=self._region.repair_limit,
            settings=self._region.settings,
            budget=self._region.budget,
        )
        if len(regions) != 1 or not regions[0].complete or _dropped_text(regions[0]):
            return None
        v = regions[0]
        if not self._region.end_is_certain and any(e.code in ("lost-quote", "missing-closer") for e in v.edits):
            return None  # it may be cut
        if not isinstance(v.value, list) or len(v.value) != 1 or v.text[:1] != "[" or v.text[-1:] != "]":  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
            return None
        edits = [_edit_of_item(edit, start, end) for edit in v.edits]
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

    # JSON

    def json(self, at: int, config: Config, name: str) -> list[Edge]:
        """JSON that needs repair, as an embedded value or with keys that the grammar knows."""
        region, edges = self._region, list[Edge]()
        if region.repair_limit == "none" or not may_begin_json(config) or self._is_marker(at):
            return edges
        if not region.end_is_certain:
            edges.append(self._cut_json(at, config, name))
        for end in self._json_ends(at):
            if not _may_be_object(config) and KEY_FIRST.match(self._text, at, end):
                continue  # it would be an object without its bracket
            values = self._repair(at, end, name)
            if not values or not values[0].complete or not is_trustworthy(values[0], self._text):
                continue
            value, read = values[0], self._read(config, values[0])
            if read is None:
                continue
            other_keys = sum(edit.code == "other-key" for edit in read[0][0].edits)
            cost = self._cost_of_json(at, value) + costs.DAMAGED_MARKER * other_keys
            edges.append(Edge(cost, value.end, read[1], read[0]))
            is_sound = costs.LEVEL_COSTS[value.level] <= costs.LEVEL_COSTS["structure"] and not _dropped_text(value)
            surplus = _SURPLUS.match(self._text, value.end)
            if is_sound and (surplus is None or self._is_followed(value.end, read[1], beyond=surplus.end())):
                break  # its strings are intact, so it does not end further on
            if cost <= costs.LEVEL_COSTS["strings"] and value.end == end and self._ends_region(end):
                break  # further on, a string would hold the marker, which costs more
        return edges

    def _read(self, config: Config, value: RepairedValue) -> tuple[tuple[RecoveryStep, ...], Config] | None:
        """A repaired value as the grammar reads it. Its edits get paths here, if not with the arguments of a call."""
        depth = self._region.settings.max_depth
        read = read_repaired(config, value, depth)
        return read if read is None or _gives_paths(read[0]) else read_repaired(config, with_paths(value), depth)

    def with_one_edit(self, at: int, config: Config) -> list[LaterEdges]:
        """JSON with one mistake of a character."""
        region = self._region
        if region.repair_limit in ("none", "notation") or not may_begin_json(config) or self._is_marker(at):
            return []
        mistake: OneMistake | None = None
        left = _MAX_ENDS

        def likely() -> list[Edge]:
            nonlocal mistake, left
            depth, quotes = region.settings.max_depth, region.repair_limit != "structure"
            mistake = OneMistake(self._text, at, depth, region.budget, quotes=quotes)
            readings = mistake.readings(likely=True)
            if self._text[at] == "{" and {step.terminal.short for step in config.embedded} == {"JSON_ARRAY"}:
                readings += without_opener(self._text, at, "[", depth)
            one_edits = self._edges_of(readings, config)[:left]
            left -= len(one_edits)
            return one_edits

        def others() -> list[Edge]:
            keys, depth = call_keys(config.automaton), region.settings.max_depth
            readings = [] if mistake is None else mistake.readings(likely=False)
            readings += with_key(self._text, at, depth, keys, region.tools)
            return self._edges_of(readings, config)[:left]

        return [LaterEdges(LEAST_COST, likely), LaterEdges(LEAST_COST + 1, others)]

    def _edges_of(self, readings: list[OneEdit], config: Config) -> list[Edge]:
        """The edges of values with one mistake that the grammar reads and that are well followed."""
        region, edges = self._region, list[Edge]()
        for repaired, cost in readings:
            edit = repaired.edits[0]
            if not region.end_is_certain and edit.start == edit.end >= self._end:
                continue  # it may be cut
            read = read_repaired(config, repaired, region.settings.max_depth)
            if read is None or (edit.code == "missing-marker" and not _supplies_marker(read[0], edit)):
                continue
            if self._is_well_followed(repaired.end, read[1]):
                shorts = [step.transition.terminal.short for step in read[0] if step.transition is not None]
                cost += _cost_of_repeated(repaired) + self._cost_of_early_end(repaired)
                edits = shorts.count("_OTHER_KEY") + len(read[0][0].edits) - 1
                other = costs.DAMAGED_MARKER * edits
                edges.append(Edge(cost + other, repaired.end, read[1], read[0]))
        return edges

    def _is_marker(self, at: int) -> bool:
        """Does a marker stand at a place that begins no JSON?"""
        return at in self._starts and self._text[at] not in "{["

    def _ends_region(self, at: int) -> bool:
        """Does an intact marker stand at a place, and nothing behind it?"""
        token = self._starts.get(at)
        return token is not None and not token.is_near and not self._text[token.end :].strip(BLANK)

    def _json_ends(self, at: int) -> list[int]:
        """Where JSON may end: at its closing bracket, or before a marker."""
        ends = [t.start for t in self._tokens if t.start > at and self._may_end_json(t)]
        ends = [*ends[: _MAX_ENDS - 1], *ends[_MAX_ENDS - 1 :][-2:], self._end]
        if self._end - at > _FAR:
            ends = [*ends[:1], *ends[-2:]]
        counter = BracketCounter(at)
        counter.feed(self._text, at, self._end)
        return list(dict.fromkeys(ends if counter.end is None else [counter.end, *ends]))

    def _may_end_json(self, token: Token) -> bool:
        """May JSON end before a marker? Before more JSON, only at the beginning of a line."""
        if self._text[token.start] not in "{[":
            return token.end - token.start > 2
        return self._text[token.start - 1 : token.start] == "\n"

    def _cost_of_json(self, at: int, value: RepairedValue) -> int:
        cost = _cost(value) + _cost_of_repeated(value) + self._cost_of_early_end(value)
        if self._text[at] == self._text[at + 1 : at + 2] and any(e.code == "missing-closer" for e in value.edits):
            cost += costs.STRAY_CHARACTER  # the opening bracket is doubled as likely as a closing one is missing
        for dropped in _dropped_text(value):
            cost += costs.STRAY_TEXT + costs.STRAY_WORD * len(self._text[dropped.start : dropped.end].split())
        if value.level in ("strings", "heuristic"):
            cost += costs.MARKER_IN_STRING * sum(at < t.start < value.end and self._is_no_word(t) for t in self._tokens)
        return cost

    def _cost_of_early_end(self, value: RepairedValue) -> int:
        """What it costs that a value ends with a bracket that is missing or another one, although more follow."""
        last = value.edits[-1] if value.edits else None
        is_early = last is not None and last.code in ("missing-closer", "wrong-closer") and last.end == value.end
        return costs.STRAY_TEXT * (is_early and _NEXT_VALUE.match(self._text, value.end) is not None)

    def _is_no_word(self, token: Token) -> bool:
        """Is a token longer than punctuation, and no word that is nearly a marker, as `action` is for `action:`?"""
        return token.end - token.start > 2 and not (token.is_near and self._text[token.start : token.end].isalnum())

    def _cut_json(self, at: int, config: Config, name: str) -> Edge:
        """JSON that the text cuts off: its complete part is read."""
        values = self._repair(at, self._end, name)
        if len(values) == 1 and not values[0].complete:
            read = self._read(config, values[0])
            if read is not None:
                return Edge(costs.CUT_VALUE, self._end, read[1], read[0])
        return Edge(costs.CUT_VALUE, self._end, config, (RecoveryStep(None, at, self._end),))

    def _repair(self, start: int, end: int, name: str) -> list[RepairedValue]:
        """The JSON values in a part of the text."""
        region, key = self._region, (start, end, name)
        if key not in self._repaired:
            self._repaired[key] = repair_region(
                self._text,
                start,
                end,
                closed=region.end_is_certain or end < self._end,
                repair_limit=region.repair_limit,
                schema=self._json_schema(name, start, end),
                settings=region.settings,
                budget=region.budget,
            )
        return self._repaired[key]

    def _json_schema(self, name: str, start: int, end: int) -> Schema | None:
        """The schema of the JSON in a part of the text: the arguments of a tool, or an object that holds them."""
        tools = self._region.tools
        if tools is None or name:
            return tools.arguments(name) if tools is not None and name in tools and tools.schema(name) else None
        called = next((n for n in tools.names if self._text.find(f'"{n}"', start, end) >= 0), None)
        keys, argument_keys = marker_lexer(self._region.automaton).key_names
        return tools.envelope(called, keys, argument_keys) if called is not None and keys else None


def _gives_paths(steps: tuple[RecoveryStep, ...]) -> bool:
    """Are the arguments of a call read before anything ends that takes the edits?"""
    transitions = [step.transition for step in steps if step.transition is not None]
    operations = [operation for t in transitions for operation in (*t.before, *t.after)]
    return next((op == _ARGUMENTS for op in operations if op == _ARGUMENTS or op[0] == "end"), False)


def _supplies_marker(steps: tuple[RecoveryStep, ...], edit: Edit) -> bool:
    """Is a key that was supplied a marker of the call? It is none within the arguments, which may have any keys."""
    return any(step.start == step.end == edit.start for step in steps)


def _edit_of_item(edit: Edit, start: int, end: int) -> Edit | None:
    """An edit of a list whose only item stands at start:end, as an edit of the item.

    None if it changes one of the brackets, which are not in the text, and not the whole list.
    """
    first, last = edit.start + start - 1, edit.end + start - 1
    if (first, last) == (start - 1, end + 1):
        return edit._replace(start=start, end=end, after=edit.after[1:-1])
    return edit._replace(start=first, end=last) if start <= first and last <= end else None


def opens_json(transition: Transition) -> bool:
    """Does a transition begin JSON: as an embedded value, or with the bracket of an object that the grammar knows?"""
    return transition.terminal.short in JSON_FIRST or transition.terminal.canonical.strip() in ("{", "[")


@lru_cache(maxsize=4096)
def may_begin_json(config: Config) -> bool:
    """May JSON begin in a configuration?"""
    return any(opens_json(step) for step in (*config.markers, *config.embedded))


@lru_cache(maxsize=4096)
def _may_be_object(config: Config) -> bool:
    """May an opening brace stand in a configuration, or be what a marker there is read for?"""
    brackets = [text.strip() for step in config.markers for text in (step.inserted, step.terminal.canonical)]
    firsts = [step.terminal.first or "{" for step in config.markers]
    firsts += ["".join(JSON_FIRST.get(step.terminal.short, ())) for step in config.embedded]
    return "{" in brackets or any("{" in first for first in firsts)


def _dropped_text(repaired: RepairedValue) -> list[Edit]:
    return [edit for edit in repaired.edits if edit.code == "dropped-text"]


def _cost(repaired: RepairedValue) -> int:
    return costs.LEVEL_COSTS[repaired.level] + (costs.AMBIGUOUS_VALUE if repaired.runner_up is not None else 0)


def _cost_of_repeated(repaired: RepairedValue) -> int:
    """What it costs that an object has a key twice."""
    may_repeat = may_repeat_keys(repaired.text, repaired.value)
    return costs.REPEATED_KEY if may_repeat and repeated_keys(repaired.text) else 0
