"""The lexer of the tolerant grammar: the markers of a damaged region, the text between them, and embedded values.

A token may be several terminals at once: `<tool_call>` is what opens the first call, and what opens the next one, and
a marker that may be stray or text. Where it can be read in several ways that no single row of tokens can hold (a value
that ends at one of two places), there are several rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from outspoken.grammar import tolerant
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.semantics.steps import RecoveryStep

from . import costs
from .edges import EdgeFinder
from .marker_lexer import PUNCTUATION_LENGTH, marker_forms, marker_lexer
from .path import BLANK, Edge, Node, Region, behind_blank, name_after
from .tolerant_tokens import Kinds, Lexeme, behind, places
from .values import opens_json

#: How many rows of tokens are tried.
_MAX_ROWS = 6
#: How many markers within a value count.
_MAX_MARKERS = 4
#: How many markers may be missing at the end of the region; elsewhere, two may.
_MAX_MISSING = 3


def rows_of(region: Region, grammar: tolerant.TolerantRules, limit: int) -> Iterator[list[Lexeme]]:
    """The rows of tokens that a region may be, the likeliest first; each is cut short behind `limit` tokens."""
    waiting: list[tuple[int, ...]] = [()]
    for number, plan in enumerate(waiting):
        if number == _MAX_ROWS:
            return
        row = _Row(region, grammar, plan)
        yield row.read(limit)
        for at in range(len(plan), len(row.options)):
            waiting += [(*[0] * at, choice) for choice in range(1, row.options[at])] if not any(plan) else []


def _short_ends(config: Config) -> list[Transition]:
    """What ends the free text of a configuration although it is no token: punctuation, or a name without a marker."""
    free = config.free
    if free is None:
        return []
    markers = [t for t in free.target.markers if not t.inserted]
    if free.terminal.short == "TEXT":
        return [t for t in markers if t.terminal.short in ("ACTION_NAME", "PAYLOAD_NAME")]
    return [t for t in markers if len(t.terminal.canonical.strip()) in range(1, PUNCTUATION_LENGTH + 1)]


def _terminal(edge: Edge) -> str:
    """The terminal that the first step of an edge reads."""
    transition = edge.steps[0].transition
    return transition.terminal.name if transition is not None else ""


class _Row:
    """Reads one row of tokens. `plan` says which way to take where there are several; `options` how many there are."""

    def __init__(self, region: Region, grammar: tolerant.TolerantRules, plan: tuple[int, ...]) -> None:
        self._region, self._names, self._plan = region, grammar.names, plan
        self._may_be_missing = grammar.may_be_missing
        self._text, self._end = region.text, len(region.text)
        self._finder = EdgeFinder(region)
        self._automata = [region.automaton, *([region.automaton.broken] if region.automaton.broken else [])]
        self._has_json = marker_lexer(region.automaton).has_json
        self._openers = {t.terminal.name for a in self._automata for t in a.top_level_markers if not t.inserted}
        first = next((t.start for t in region.tokens), -1)
        is_outside = region.outer is region.automaton.top_level
        lacks_opener = is_outside and first >= 0 and not self._finder.is_opener(first)
        self._node = Node((), None, "", lacks_opener)
        self._row: list[Lexeme] = []
        #: how the last token can be read, and the name of the call that is being read
        self._last: tuple[RecoveryStep, ...] = ()
        self._name = ""
        self._configs: tuple[Config, ...] = (region.outer,)
        self.options: list[int] = []

    def read(self, limit: int) -> list[Lexeme]:
        """Read the region, up to a number of tokens."""
        pos = 0
        ends = [t.start for t in self._region.tokens] + [self._end]
        self._gap(0)
        while pos < self._end and len(self._row) <= limit:
            at = self._skip(pos)
            token = next((t for t in self._region.tokens if pos <= t.start <= at), None)
            if token is not None:
                self._end_run()
                pos = self._marker(token.start, token.end)
            else:
                pos = self._run(pos, next(end for end in ends if end > at or end == self._end))
            self._gap(pos)
        self._end_run()
        if self._region.announced and self._region.outer is self._region.automaton.top_level:
            self._begin_with_call()
        return self._row

    def _openers_before(self, config: Config, at: int) -> set[str]:
        """The opening markers that are missing before a marker that stands here, by the lenient rules."""
        lenient = [t for t in config.markers if t.inserted and not t.replaces]
        written = {t.inserted for t in lenient if self._finder.marker(t, at, config)}
        return {
            self._names[t.terminal.name] for t in config.markers if t.terminal.canonical in written and not t.inserted
        }

    def _begin_with_call(self) -> None:
        """The region begins with a call that was announced: no text and nothing stray may come first."""
        for i, lexeme in enumerate(self._row):
            kinds = lexeme.kinds.names - {tolerant.RUN, tolerant.RUN_END, tolerant.MARKER, tolerant.OPENER}
            self._row[i] = lexeme._replace(kinds=Kinds(kinds))
            if tolerant.SKIP not in kinds:
                return

    def _gap(self, pos: int) -> None:
        """Add tokens for the markers that may be missing here, as many as may be missing."""
        at = self._skip(pos)
        found = self._missing(at)
        if not found:
            return
        if at == self._end or any(pos <= t.start <= at for t in self._region.tokens):
            self._end_run()
        kinds = Kinds([*[f"{tolerant.MISSING.upper()}{name}" for name in found], tolerant.SKIP, tolerant.RUN])
        self._row += [Lexeme(kinds, pos, pos, {})] * min(len(found), _MAX_MISSING if at == self._end else 2)

    def _missing(self, at: int) -> set[str]:
        """The markers that may be missing at a place."""
        names: set[str] = set()
        for automaton in self._automata:
            for config in places(automaton):
                if at in self._finder.starts and self._finder.stands(config.markers, at):
                    names |= self._openers_before(config, at)
                    continue
                for step in [t for t in config.markers if not t.inserted]:
                    name = self._names[step.terminal.name]
                    is_known = name in names or name not in self._may_be_missing
                    if not is_known and self._finder.may_insert(step, at, config, self._node):
                        names.add(name)
        return names

    def _skip(self, pos: int) -> int:
        return behind_blank(self._text, pos)

    def _choose(self, count: int) -> int:
        """Which of several ways to take."""
        at = len(self.options)
        self.options.append(count)
        return min(self._plan[at], count - 1) if at < len(self._plan) else 0

    # markers

    def _marker(self, start: int, end: int) -> int:
        """Read a marker, or a near miss of one; returns where it ends."""
        at = self._skip(start)
        if self._has_json and self._text[at:end].strip() in ("{", "["):
            everywhere = tuple([config for automaton in self._automata for config in places(automaton)])
            value_end = self._embedded(at, everywhere, may_be_marker=True)
            if value_end is not None:
                return value_end
        by_cost: dict[tuple[int, int], dict[str, RecoveryStep]] = {}
        for automaton in self._automata:
            for name, step, cost, stop in self._readings(automaton, {start, at}):
                by_cost.setdefault((cost, self._skip(stop)), {}).setdefault(name, step)
        if not by_cost:
            self._add([tolerant.MARKER], start, end, {})
            self._configs = places(self._region.automaton)
            return end
        ways = sorted(by_cost, key=lambda way: (way[0], -way[1]))
        if not ways[0][0]:
            ways = [way for way in ways if not way[0]]
        cost, stop = ways[self._choose(len(ways))]
        steps = by_cost[cost, stop]
        kind = tolerant.MARKER if self._openers.isdisjoint(steps) else tolerant.OPENER
        stop = max([step.end for step in steps.values()])
        self._costs(cost, start)
        self._add([kind], start, stop, steps)
        self._configs = self._configs_behind(steps)
        return stop

    def _readings(self, automaton: Automaton, starts: set[int]) -> Iterator[tuple[str, RecoveryStep, int, int]]:
        """The markers that may stand at one of some offsets: name, step, cost and end."""
        seen: set[str] = set()
        for config in places(automaton):
            for transition in config.steps:
                name = transition.terminal.name
                if name in seen or not transition.terminal.short.startswith("_"):
                    continue
                edges = [edge for at in sorted(starts) for edge in self._finder.marker(transition, at, config)]
                if edges:
                    seen.add(name)
                    for edge in edges:
                        yield name, edge.steps[0], edge.cost, edge.end

    def _configs_behind(self, names: Iterable[str]) -> tuple[Config, ...]:
        found = [c for a in self._automata for name in names for c in behind(a).get(name, ())]
        return tuple(dict.fromkeys(found))

    # what stands between markers

    def _run(self, at: int, limit: int) -> int:
        """Read what stands between two markers, as far as the format knows it; returns where it ends."""
        pos, inserted, before_configs = at, 0, self._configs
        while self._skip(pos) < limit:
            read_to = self._short_marker(pos, limit) if self._text[pos] in BLANK else None
            if read_to is not None:
                pos = read_to
                continue
            pos = self._skip(pos)
            if pos > at and not inserted:
                self._gap(pos)
            before_configs = before_configs if inserted else self._configs
            read_to = self._embedded(pos, self._configs)
            if read_to is None:
                read_to = self._short_marker(pos, limit, before_configs if inserted else ())
            if read_to is None and inserted < 2 and self._insert(pos):
                inserted += 1
                continue
            inserted = 0
            pos = read_to if read_to is not None else self._piece(pos, limit)
        return max(pos, limit)

    def _short_marker(self, pos: int, limit: int, known: tuple[Config, ...] = ()) -> int | None:
        """Read a name or punctuation; returns where it ends, or None if there is none.

        If it stands only behind a marker that is missing, it may be stray in the configurations that are `known`.
        """
        ways: dict[tuple[int, int], list[Edge]] = {}
        for config in self._configs:
            for transition in config.leading_markers if config.free else config.markers:
                for edge in [] if self._is_bracket(transition) else self._short_edges(transition, pos, config):
                    if edge.end <= limit or self._finder.is_near_token(limit):
                        ways.setdefault((edge.cost, -edge.end), []).append(edge)
        if not ways:
            return None
        keys = sorted(ways)
        cost, end = keys[self._choose(min(len(keys), 3))]
        edges = ways[cost, end]
        self._costs(cost, pos)
        dropped = [e for c in known if c.free is None for e in self._finder.dropped(pos, c, self._last)]
        is_stray = any(e.end == -end and e.cost == costs.STRAY_CHARACTER for e in dropped)
        kinds = [tolerant.RUN, tolerant.STRAY_CHARACTER] if is_stray else [tolerant.RUN]
        self._add(kinds, pos, -end, {_terminal(edge): edge.steps[0] for edge in reversed(edges)})
        for edge in edges:
            self._name = name_after(edge.steps, self._name)
        self._configs = tuple(dict.fromkeys([*[edge.target for edge in edges], *(known if is_stray else ())]))
        return -end

    def _is_bracket(self, transition: Transition) -> bool:
        """Is a marker read with all that it holds, or only by the lenient rules?"""
        return bool(transition.inserted) or (self._has_json and transition.terminal.canonical.strip() in ("{", "["))

    def _short_edges(self, transition: Transition, pos: int, config: Config) -> list[Edge]:
        """How a name or punctuation that stands here can be read."""
        node = Node(self._last, None, self._name, False)
        found = [edge for edge in self._finder.marker(transition, pos, config) if not edge.steps[0].edits]
        found = found or self._finder.names.unconditional(transition, pos, node)
        return [self._finder.with_evidence(edge, self._name) for edge in found]

    def _insert(self, pos: int) -> bool:
        """Suppose that a marker is missing. Returns whether something behind it stands here."""
        found: list[Config] = []
        for config in self._configs:
            for marker in config.markers:
                is_known = not marker.inserted and self._names[marker.terminal.name] in self._may_be_missing
                is_short = len(marker.terminal.canonical.strip()) <= PUNCTUATION_LENGTH
                if is_known and self._stands(marker.target, pos, is_short=is_short):
                    found.append(marker.target)
        self._configs = tuple(dict.fromkeys(found)) or self._configs
        return bool(found)

    def _stands(self, config: Config, pos: int, *, is_short: bool) -> bool:
        """Does a marker or a value of a configuration stand here, behind a missing marker, which may be punctuation?"""
        if config.free is not None:
            return False
        for marker in config.markers:
            short = marker.terminal.short
            if marker.inserted or (short == "TOOL_NAME" and not is_short):
                continue  # a name of a tool does not follow a marker that is missing
            is_name = short in ("TOOL_NAME", "ARG_NAME")
            for edge in self._finder.marker(marker, pos, config):
                if edge.cost == 0 and (not is_name or self._finder.stands(edge.target.markers, edge.end)):
                    return True
        return bool(config.embedded) and self._text[pos] in "{[\"'<"

    def _piece(self, pos: int, limit: int) -> int:
        """Read words that the format does not know here; returns where they end."""
        dropped = [
            e
            for c in self._configs
            if c.free is None
            for e in self._finder.dropped(pos, c, self._last)
            if e.end <= limit
        ]
        ends = sorted({edge.end for edge in dropped})
        if not ends:
            return self._words(pos, limit)
        end = ends[self._choose(len(ends))]
        edge = min([edge for edge in dropped if edge.end == end], key=lambda edge: edge.cost)
        kinds, cost = [tolerant.RUN], edge.cost
        if not edge.steps[0].edits:
            kinds.append(tolerant.CUT_MARKER)
        elif cost <= costs.MAX_COST:
            kind, base = self._stray_kind(cost)
            self._costs(cost - base, pos)
            kinds.append(kind)
        self._add(kinds, pos, end, {})
        return end

    def _words(self, pos: int, limit: int) -> int:
        """Read free text up to a closing marker of it that is punctuation, or to the next marker."""
        by_start: dict[int, dict[str, Edge]] = {}
        for config in self._configs:
            for closer in _short_ends(config):
                match = marker_forms(closer).regex.search(self._text, pos, limit)
                start = match.start() if match is not None else limit
                for edge in self._finder.marker(closer, start, config) if start < limit else ():
                    by_start.setdefault(start, {}).setdefault(_terminal(edge), edge)
        if not by_start:
            self._add([tolerant.RUN], pos, limit, {})
            return limit
        start = min(by_start)
        if start > pos:
            self._add([tolerant.RUN_END], pos, start, {})
        edges = by_start[start]
        end = max([edge.end for edge in edges.values()])
        self._add([tolerant.SHORT], start, end, {name: edge.steps[0] for name, edge in edges.items()})
        values = [config for config in self._configs if config.free]
        self._configs = tuple(dict.fromkeys([*[edge.target for edge in edges.values()], *values]))
        return end

    def _stray_kind(self, cost: int) -> tuple[str, int]:
        """The terminal for text that belongs nowhere, and what it costs; the rest of the cost stands before it."""
        kinds = {
            costs.STRAY_TEXT_UNSURE: tolerant.UNSURE_TEXT,
            costs.STRAY_TEXT: tolerant.STRAY_TEXT,
            costs.STRAY_CHARACTER: tolerant.STRAY_CHARACTER,
        }
        base = max([known for known in kinds if known <= cost])
        return kinds[base], base

    # embedded values

    def _embedded(self, at: int, configs: tuple[Config, ...], *, may_be_marker: bool = False) -> int | None:
        """Read an embedded value or an object whose keys the grammar knows; returns where it ends, or None."""
        ways: dict[tuple[int, tuple[str, ...]], Edge] = {}
        for config in configs:
            if config.embedded or any(opens_json(t) for t in config.markers):
                for edge in self._value_edges(at, config):
                    edge = self._finder.with_evidence(edge, self._name)
                    names = tuple([s.transition.terminal.name if s.transition else "" for s in edge.steps])
                    cheapest = ways.get((edge.end, names))
                    if edge.cost <= costs.MAX_COST and (cheapest is None or edge.cost < cheapest.cost):
                        ways[edge.end, names] = edge
        if not ways:
            return None
        ordered = sorted(ways.values(), key=lambda edge: (edge.cost, -edge.end))
        chosen = self._choose(len(ordered) + may_be_marker)
        if chosen == len(ordered):
            return None
        edge = ordered[chosen]
        if edge.steps[0].transition is not None:
            self._costs(edge.cost, at)
        for step in edge.steps:
            if step.transition is None:
                self._add([tolerant.CUT_VALUE, self._markers_within(step)], step.start, step.end, {})
            else:
                kind = self._markers_within(step)
                self._add([kind], step.start, step.end, {step.transition.terminal.name: step})
        self._name = name_after(edge.steps, self._name)
        self._configs = (edge.target,)
        return edge.end

    def _markers_within(self, step: RecoveryStep) -> str:
        """What a value, or a part of it, is as text: a run, or a marker, if one stands in it.

        For more markers, tokens are added that are skipped if the value is no text.
        """
        starts = [t.start for t in self._region.tokens if step.start <= t.start < step.end]
        kinds = [tolerant.OPENER if self._finder.is_opener(at) else tolerant.MARKER for at in starts]
        for kind in kinds[1:_MAX_MARKERS]:
            self._row.append(Lexeme(Kinds([kind, tolerant.SKIP]), step.start, step.start, {}))
        return kinds[0] if kinds else tolerant.RUN

    def _value_edges(self, at: int, config: Config) -> list[Edge]:
        found = self._finder.values.embedded(at, config, self._name)
        return [*found, *(self._finder.values.json(at, config, self._name) if self._has_json else [])]

    # tokens

    def _add(self, kinds: list[str], start: int, end: int, steps: dict[str, RecoveryStep]) -> None:
        # a marker with a mistake is the marker, whose name its own begins with
        known = {self._names[name.rstrip("~")]: step for name, step in steps.items()}
        self._row.append(Lexeme(Kinds([*kinds, *known]), start, end, known))
        self._last = tuple(known.values())[:1]

    def _costs(self, cost: int, at: int) -> None:
        """Add tokens for what the next token costs."""
        for bit in tolerant.COST_BITS:
            if cost & bit:
                self._row.append(Lexeme(Kinds([f"COST_{bit}", tolerant.RUN]), at, at, {}))

    def _end_run(self) -> None:
        """The last token ends a run."""
        last = self._row[-1] if self._row else None
        if last is not None and tolerant.RUN in last.kinds.names and tolerant.SKIP not in last.kinds.names:
            self._row[-1] = last._replace(kinds=Kinds([*(last.kinds.names - {tolerant.RUN}), tolerant.RUN_END]))
