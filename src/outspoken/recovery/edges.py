"""What can be read at a place in a damaged region, with damage allowed: the edges of the search for a recovery path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES
from outspoken.json.edits import SIGNIFICANT
from outspoken.notations.interface import notation_of
from outspoken.notations.tools import may_have
from outspoken.results.edits import Edit
from outspoken.results.schemas.schema import is_object

from . import costs
from .doubled import doubled_unit
from .marker_lexer import PUNCTUATION_LENGTH, Token, is_closed, marker_forms, marker_lexer, token_starts
from .names import NameReader, stands
from .path import BLANK, Edge, LaterEdges, Node, RecoveryStep, Region, behind_blank, name_after
from .values import ValueReader, may_begin_json, opens_json

#: How much of the text before a marker may decide whether it stands there; eight times as much may behind it.
_CONTEXT = 50
#: As much punctuation alone is left over from markup rather than text.
_LONGEST_SCRAP = 3
#: How many closing markers that are punctuation a value may run over.
_MAX_SHORT_ENDS = 6
#: How a value begins that is no name.
_VALUE_SIGNS = frozenset("\"'[{")


class EdgeFinder:
    """Finds the edges at the places of one region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._text = region.text
        self._end = len(region.text)
        self._tokens = region.tokens
        self.starts = token_starts(region.tokens, region.text)
        self._has_json = marker_lexer(region.automaton).has_json
        #: the region begins within an object whose keys the grammar knows
        self._in_object = self._has_json and not is_closed(region.outer)
        self._may_edit = region.repair_limit not in ("none", "notation")
        self._openers = [t for t in region.automaton.top_level_markers if not t.inserted]
        self.values = ValueReader(region, self.starts)
        self.names = NameReader(region)
        #: where the names of payloads stand
        self._payloads: set[int] = set()
        self._text_ends: dict[Config, list[Token]] = {}
        self._standing: dict[tuple[int, Config], bool] = {}

    def edges(self, pos: int, config: Config, may_be_text: bool, node: Node) -> list[Edge]:
        """What can be read at a place in a configuration; free text only if it `may_be_text`."""
        free = config.free if may_be_text else None
        possible = self._free_text(pos, config, free, node) if free is not None else []
        at = behind_blank(self._text, pos) if self._region.automaton.tables.ignore else pos
        stands = at in self.starts and self._begins_marker(config, at)
        cost, ends, standing, missing = 0, set[int](), set[str](), list[Transition]()
        for marker in _tried_markers(config, free is not None):
            read = self.marker(marker, pos, config) or (self.marker(marker, at, config) if at > pos else [])
            if marker.terminal.short[0] != "_":
                read = (read or self.names.unconditional(marker, at, node)) + self.names.fused(marker, at)
            if read and node.is_after_repair:
                read = [edge for edge in read if self.names.may_follow_repair(marker, edge, node)]
            for edge in read:
                extra = costs.OTHER_MARKER if edge.end in ends else cost
                possible.append(edge._replace(cost=edge.cost + extra) if extra else edge)
            ends |= {edge.end for edge in read if edge.cost}
            if any(not edge.cost for edge in read):
                cost = costs.OTHER_MARKER
                standing.add(marker.terminal.canonical.strip())
            elif self._may_edit and free is None and not stands and self.may_insert(marker, at, config, node):
                missing.append(marker)
        possible += [self.inserted(m, pos) for m in missing if m.terminal.canonical.strip() not in standing]
        if at < self._end and free is None:
            possible += self.values.embedded(at, config, node.name)
            possible += self.values.json(at, config, node.name) if self._has_json else []
            if (at or not self._region.announced) and not node.is_after_drop:
                dropped = self.doubled(at, config, node)
                dropped += self.dropped(at, config, node.steps)
                if _is_tool_name(node):  # words behind the name may be the arguments, of a notation that is not known
                    dropped = [edge for edge in dropped if not self._ends_call(edge)]
                possible += dropped
        return [self.with_evidence(edge, node.name) for edge in possible]

    def later(self, pos: int, config: Config, may_be_text: bool, node: Node) -> list[LaterEdges]:
        """What can be read at the same place, and is made later: its cost is known to be no less than some."""
        if not self._has_json or (may_be_text and config.free is not None):
            return []
        at = behind_blank(self._text, pos) if self._region.automaton.tables.ignore else pos
        later = self.values.with_one_edit(at, config) if at < self._end else []
        return [LaterEdges(cost, partial(self._made, make, node.name)) for cost, make in later]

    def _made(self, make: Callable[[], list[Edge]], name: str) -> list[Edge]:
        return [self.with_evidence(edge, name) for edge in make()]

    def with_evidence(self, edge: Edge, name: str) -> Edge:
        """The edge, which costs more if a tool or an argument in it does not exist."""
        tools, cost = self._region.tools, 0
        if tools is None:
            return edge
        for step in edge.steps:
            transition = step.transition
            if transition is None:
                continue
            called = name_after((step,), "")
            if called:
                name, cost = (
                    called,
                    cost + (transition.terminal.short != "PAYLOAD_NAME" and called not in tools) * costs.UNKNOWN_TOOL,
                )
            elif transition.terminal.short == "ARG_NAME":
                cost += costs.UNKNOWN_ARGUMENT * (not may_have(tools, name, step.text))
            elif transition.role == "arguments" and is_object(step.value):
                cost += costs.UNKNOWN_ARGUMENT * sum(not may_have(tools, name, key) for key in step.value)
        return edge._replace(cost=edge.cost + cost) if cost else edge

    def stands(self, markers: list[Transition], at: int) -> bool:
        """Does one of the markers stand at a place?"""
        return stands(markers, self._text, at)

    def _begins_marker(self, config: Config, at: int) -> bool:
        """Does one of the markers of a configuration stand at a place?"""
        if (found := self._standing.get((at, config))) is None:
            found = self._standing[at, config] = stands(config.markers, self._text, at)
        return found

    # markers

    def marker(self, marker: Transition, pos: int, config: Config) -> list[Edge]:
        """A marker that stands here, intact or nearly so."""
        forms, text, target = marker_forms(marker), self._text, marker.target
        match = forms.match(text, pos)
        if match is not None and (end := match.end()) > pos:
            cost, edits = 0, ()
            if marker.inserted:
                cost, edits = costs.MISSING_MARKER, (_edit(pos, pos, marker.inserted, "missing-marker"),)
            possible = [Edge(cost, end, target, (RecoveryStep(marker, pos, end, match[0], edits=edits),))]
            near = self._region.near.get(pos)
            return (
                possible
                if near is None or marker.inserted
                else possible + self._near(marker, pos, pos, near, end - pos)
            )
        possible: list[Edge] = []
        if marker.inserted or not self._may_edit:
            return possible
        start = forms.lead.end(text, pos)
        written = ""
        for spelling in forms.written:
            if len(spelling) > len(written) and text.startswith(spelling, start):
                written = spelling
        if written:
            behind_blank = pos - 1 if text[pos - 1 : pos].isspace() else pos
            if self._begins_marker(config, pos) or self._begins_marker(config, behind_blank):
                return []  # by what follows, it is another marker
            end = start + len(written)
            extra = forms.extra
            if written in ("{", "[") and not forms.regex.match(text, start):
                extra += costs.OTHER_BRACKET
            possible.append(Edge(extra, end, target, (RecoveryStep(marker, pos, end, written),)))
        near = self._region.near.get(start)
        return possible + self._near(marker, pos, start, near, len(written)) if near is not None else possible

    def _near(
        self, marker: Transition, pos: int, start: int, near: dict[str, tuple[tuple[int, int], ...]], length: int
    ) -> list[Edge]:
        """The near misses from `start` on of those spellings of a marker that are longer than `length`.

        They cost more if the marker is not what the grammar has between what stands beside it.
        """
        forms, near_edges = marker_forms(marker), list[Edge]()
        for written in forms.spellings:
            for end, cost in near.get(written, ()) if len(written) > length else ():
                is_other = self._starts_intact(pos, end) and forms.match(self._text, pos) is None
                extra = forms.extra + costs.INTACT_OTHER * is_other
                before, behind = self._text[max(start - _CONTEXT, 0) : start], self._text[end : end + 8 * _CONTEXT]
                at = len(before) - (start - pos)
                if not any(forms.regex.match(before + written + behind, n) for n in {at, len(before)}):
                    extra += costs.OUT_OF_CONTEXT
                edits = (_edit(pos, end, marker.terminal.canonical or written, "damaged-marker"),)
                step = RecoveryStep(marker, pos, end, written, edits=edits)
                near_edges.append(Edge(cost + extra, end, marker.target, (step,)))
        return near_edges

    def _starts_intact(self, pos: int, end: int) -> bool:
        """Is what stands here another marker, which is intact?"""
        token = self.starts.get(pos)
        return token is not None and not token.is_near and end - 1 <= token.end <= end

    def inserted(self, marker: Transition, pos: int) -> Edge:
        """A marker that is missing here. A line break or a blank that it would end with belongs to it."""
        written, at, end = marker.terminal.canonical, pos, pos
        leads = _leads_to_value(marker)
        if leads and written[:1] == written[-1:] == " " and self._text.startswith("  ", pos):
            written, at, end = written[1:-1], pos + 1, pos + 2  # what is left of it are the blanks round its sign
        elif leads and self._text[pos : pos + 1] in ("\n", " ") and written.endswith(self._text[pos]):
            written, end = written[:-1], pos + 1
        edits = (_edit(at, at, written, "missing-marker"),)
        return Edge(costs.MISSING_MARKER, end, marker.target, (RecoveryStep(marker, pos, end, edits=edits),))

    def may_insert(self, marker: Transition, at: int, config: Config, node: Node) -> bool:
        """May a marker be missing here? If the text may be cut, only the closer of what also lacks its opener."""
        written, end_is_certain = marker.terminal.canonical.strip(), self._region.end_is_certain
        if not written or marker.inserted or not marker.terminal.short.startswith("_"):
            return False
        ends = node.lacks_opener and is_closed(marker.target) and not node.is_after_repair
        if at == self._end and not end_is_certain and not ends:
            return False
        if self._has_json and len(written) == 1 and written in "{}[],:" and _is_json(config):
            return self._in_object and written in "}]," and (at < self._end or end_is_certain)
        if not self._is_boundary(at, marker.target):
            return False
        if not end_is_certain and at < self._end and not ends and not self._is_proven(marker, at):
            return False
        if _leads_to_value(marker) and (at in self.starts or not self._has_words(at)):
            return False  # there is no value
        begun = [set(kinds.split()) for name, kinds in marker.after if name == "begin"]
        return not any(kinds <= {"think", "code"} for kinds in begun)

    def _has_words(self, at: int) -> bool:
        """Is there more than punctuation before the next marker?"""
        behind = next((token.start for token in self._tokens if token.start >= at), self._end)
        return any(char.isalnum() for char in self._text[at:behind])

    def _is_proven(self, marker: Transition, at: int) -> bool:
        """Does what stands here show that a marker is missing, although the text may be cut?"""
        if not self._has_json and len(marker.terminal.canonical.strip()) <= PUNCTUATION_LENGTH:
            return False
        if not any(name == "end" for name, _ in marker.after):
            return True
        return self.stands([t for t in marker.target.markers if not t.inserted], at)

    def _is_boundary(self, at: int, target: Config) -> bool:
        """May a marker be missing here: does another one stand here, or does a value or a line begin?"""
        if at == self._end or at in self.starts or (self._has_json and self._text[at] in "{["):
            return True
        if target.free is None:
            signs = [step for step in target.embedded if self._text[at] in _VALUE_SIGNS]
            if any(notation_of(step.terminal).may_begin(self._text[at]) for step in signs):
                return True
            return self.stands([t for t in target.markers if not t.inserted], at)
        begins_line = self._region.announced and "\n" in self._text[at - 1 : at]
        return target.free.terminal.short == "ARG_VALUE" or begins_line

    # text that is dropped

    def doubled(self, at: int, config: Config, node: Node) -> list[Edge]:
        """Drop a marker that stands right behind itself, or a name with the markup round it."""
        found = doubled_unit(self._text, at, node) if self._may_edit else None
        return [] if found is None else [_drop(at, at + found[0], config, "stray-marker", found[1])]

    def dropped(self, at: int, config: Config, before: Sequence[RecoveryStep]) -> list[Edge]:
        """Drop what stands where only markers may: a stray marker, or text up to the next marker.

        Nothing is dropped that may be a part of the last value that was read `before`.
        """
        if not self._may_edit or self._continues_string(at, before):
            return []
        text, token, end_is_certain = self._text, self.starts.get(at), self._region.end_is_certain
        if not end_is_certain and config.free is None:
            rest = text[at:]
            if not self._begins_marker(config, at) and any(
                marker.terminal.canonical.strip().startswith(rest) for marker in config.markers
            ):
                return [Edge(0, self._end, config, (RecoveryStep(None, at, self._end),))]  # the text ends in a marker
        if token is not None:
            is_doubled = config.free is not None and self._is_doubled(token)
            has_place = config.free is not None or self._begins_marker(config, at)
            if is_doubled or not has_place:
                return [_drop(at, token.end, config, "stray-marker", costs.STRAY_MARKER)]
            return []
        if config.free is not None:
            return []
        if self._in_object and text[at] == ",":
            return [_drop(at, at + 1, config, "stray-text", costs.STRAY_MARKER)]
        stray = self._stray_character(at, config)
        return [*stray, *self._dropped_text(at, config)]

    def _stray_character(self, at: int, config: Config) -> list[Edge]:
        """Drop a character that stands between markers. One before white space is as likely prose, if not doubled."""
        text, after = self._text, behind_blank(self._text, at + 1)
        if self._begins_marker(config, at) or text[at : at + 2].isalnum():
            return []
        follows = after == self._end or after in self.starts or self._begins_marker(config, after)
        if self._has_json and text[after : after + 1] in ("{", "["):
            follows = follows or may_begin_json(config)
        if text[after : after + 1] in ("'", '"') and text[at] not in "{[":  # else a value begins here
            follows = follows or any(notation_of(step.terminal).repaired_as_literal for step in config.embedded)
        if not follows:
            return []
        is_inside = after == at + 1 or text[at] == text[at - 1 : at]
        cost = costs.STRAY_CHARACTER if is_inside else costs.STRAY_TEXT
        if text[at] == "[" and "]" not in text and any(step.terminal.short == "JSON_ARRAY" for step in config.embedded):
            cost = max(cost, costs.STRAY_MARKER)  # the list may begin here, and only lack its end
        return [_drop(at, at + 1, config, "stray-text", cost)]

    def _dropped_text(self, at: int, config: Config) -> list[Edge]:
        """Drop text up to the next marker, or up to a bracket that may begin JSON."""
        text = self._text
        ends = [next((t.start for t in self._tokens if t.start > at), self._end)]
        if self._has_json and may_begin_json(config):
            bracket = min((i for c in "{[" if (i := text.find(c, at + 1)) > 0), default=-1)
            ends += [bracket] if 0 < bracket < ends[0] else []
        first = costs.STRAY_TEXT if self._region.announced else costs.STRAY_TEXT_UNSURE
        pieces = [text[at:end].rstrip(BLANK) for end in ends]
        return [
            _drop(at, at + len(piece), config, "stray-text", first + costs.STRAY_WORD * (len(piece.split()) - 1))
            for piece in pieces
            if piece and SIGNIFICANT.isdisjoint(piece)
        ]

    def _continues_string(self, at: int, before: Sequence[RecoveryStep]) -> bool:
        """Does a word stand right behind the closing quote of a value, so that it may be a part of the value?"""
        transition = before[-1].transition if before else None
        is_value = transition is not None and transition.terminal.short in EMBEDDED_VALUES
        return is_value and self._text[at].isalnum() and self._text[at - 1] in "\"'"

    def _ends_call(self, edge: Edge) -> bool:
        """Is a dropped piece of text all that stands before the end of a call?"""
        after = behind_blank(self._text, edge.end)
        ends = [marker for marker in edge.target.markers if ("end", "tool_call") in marker.after]
        words = self._text[edge.steps[0].start : edge.end]
        return any(char.isalnum() for char in words) and (after == self._end or self.stands(ends, after))

    def _is_doubled(self, token: Token) -> bool:
        """Is a marker all that the region holds?"""
        text = self._text
        return self._region.end_is_certain and not (text[: token.start] + text[token.end :]).strip(BLANK)

    # free text

    def _free_text(self, pos: int, config: Config, free: Transition, node: Node) -> list[Edge]:
        """Free text up to a marker. Each marker that it runs over costs something.

        Plain text behind a marker that was inserted runs over none: what follows belongs to what that would end.
        """
        region, target = self._region, free.target
        is_outside = target is region.automaton.top_level or config is region.outer
        if pos == 0 and region.announced and is_outside:
            return [_text(free, 0, 0, 0)]
        is_plain = free.terminal.short == "TEXT"
        text_edges: list[Edge] = [_text(free, pos, pos, 0)] if is_plain and pos not in self.starts else []
        runs_over = not (is_plain and node.is_after_repair and not node.is_after_drop)
        cost = 0
        for token in self._ends_of_text(free):
            if token.start < pos:
                continue
            text_edges.append(_text(free, pos, token.start, cost + is_plain * self._cost_of_scrap(pos, token.start)))
            cost += self._cost_as_text(token) if is_plain else costs.MARKER_IN_VALUE
            if cost > costs.MAX_COST or (is_plain and not region.end_is_certain and pos > 0) or not runs_over:
                return text_edges  # what follows a call that may be cut is not text where it looks like a part of it
        text_edges.append(_text(free, pos, self._end, cost + is_plain * self._cost_of_scrap(pos, self._end)))
        return text_edges if is_plain else text_edges + self._short_ends(pos, free)

    def _cost_of_scrap(self, start: int, end: int) -> int:
        """What it costs that text is nothing but some punctuation, which is rather left over from markup."""
        scrap = self._text[start:end].strip(BLANK)
        is_scrap = 0 < len(scrap) <= _LONGEST_SCRAP and SIGNIFICANT.issuperset(scrap)
        return costs.STRAY_CHARACTER if is_scrap and start > 0 else 0

    def _ends_of_text(self, free: Transition) -> list[Token]:
        """The tokens at which free text may end, and the names of actions and payloads that need no marker."""
        if free.target not in self._text_ends:
            names = [step for step in free.target.markers if step.terminal.short in ("ACTION_NAME", "PAYLOAD_NAME")]
            by_start = {token.start: token for token in self._tokens}
            for name in names:
                for match in marker_forms(name).regex.finditer(self._text):
                    by_start.setdefault(match.start(), Token(match.start(), match.end()))
                    if name.terminal.short == "PAYLOAD_NAME":
                        self._payloads.add(match.start())
            self._text_ends[free.target] = sorted(by_start.values()) if names else self._tokens
        return self._text_ends[free.target]

    def _short_ends(self, pos: int, free: Transition) -> list[Edge]:
        """A value up to a closing marker that is too short to be a token. Each that it runs over costs something."""
        text_edges: list[Edge] = []
        for marker in free.target.markers:
            if len(marker.terminal.canonical.strip()) in range(1, PUNCTUATION_LENGTH + 1) and not marker.inserted:
                matches = marker_forms(marker).regex.finditer(self._text, pos)
                ends = [match.start() for match, _ in zip(matches, range(_MAX_SHORT_ENDS), strict=False)]
                for passed, end in enumerate(ends):
                    tokens = sum(pos <= token.start < end for token in self._tokens)
                    lines = "\n" in self._text[pos:end].strip()
                    cost = costs.MARKER_IN_STRING * (passed + 2 * lines) + costs.MARKER_IN_VALUE * tokens
                    text_edges.append(_text(free, pos, end, cost))
        return text_edges

    def _cost_as_text(self, token: Token) -> int:
        """What it costs that a marker or name is plain text. An opening marker is less likely to be."""
        if token.start not in self.starts:
            return costs.PAYLOAD_AS_TEXT if token.start in self._payloads else costs.NAME_AS_TEXT
        return costs.OPENER_AS_TEXT if self.is_opener(token.start) else costs.MARKER_AS_TEXT

    def is_near_token(self, at: int) -> bool:
        """Does a near miss of a marker stand here?"""
        return at in self.starts and self.starts[at].is_near

    def is_opener(self, at: int) -> bool:
        """Does a marker stand here that leads out of text?"""
        return self.stands(self._openers, at)


@lru_cache(maxsize=4096)
def _tried_markers(config: Config, is_before_text: bool) -> tuple[Transition, ...]:
    """The markers of a configuration that are tried: not those in place of another one, which is tried itself.

    A bracket is read with all that it holds if that is JSON.
    """
    has_json = marker_lexer(config.automaton).has_json
    markers = [m for m in (config.leading_markers if is_before_text else config.markers) if not m.replaces]
    return tuple([marker for marker in markers if not (has_json and _opens_whole_json(marker))])


def _opens_whole_json(marker: Transition) -> bool:
    """Is a marker the bracket of JSON that is read as a whole: all of its keys and values are terminals of JSON?"""
    is_bracket = marker.terminal.canonical.strip() in ("{", "[")
    written = [step.terminal.canonical.strip() for step in marker.target.markers]
    return is_bracket and not any(len(text) > 1 and text[0] == text[-1] == '"' for text in written)


def _is_json(config: Config) -> bool:
    """Is a configuration within JSON: may a key or a value of JSON follow one of its markers?"""
    top_level = (config.automaton.top_level, config.automaton.start)
    return any(
        opens_json(step) or step.terminal.canonical.startswith('"')
        for marker in config.markers
        if marker.target not in top_level
        for step in (*marker.target.markers, *marker.target.embedded)
    )


def _is_tool_name(node: Node) -> bool:
    """Was the name of a tool read just before?"""
    transition = node.steps[-1].transition if node.steps else None
    return transition is not None and transition.terminal.short == "TOOL_NAME"


def _leads_to_value(marker: Transition) -> bool:
    """Does a bare value follow a marker?"""
    return marker.target.free is not None and marker.target.free.terminal.short == "ARG_VALUE"


def _edit(start: int, end: int, after: str, code: str) -> Edit:
    return Edit(start, end, after, code, "markup")


def _drop(start: int, end: int, config: Config, code: str, cost: int) -> Edge:
    return Edge(cost, end, config, (RecoveryStep(None, start, end, edits=(_edit(start, end, "", code),)),))


def _text(free: Transition, start: int, end: int, cost: int) -> Edge:
    return Edge(cost, end, free.target, (RecoveryStep(free, start, end, is_text=True),))
