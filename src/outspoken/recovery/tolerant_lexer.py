"""The lexer of the tolerant grammar: the markers of a damaged region, the text between them, and embedded values.

A token may be several terminals at once: `<tool_call>` is what opens the first call, and what opens the next one, and
a marker that may be stray or text. Where it can be read in several ways that no single row of tokens can hold (a value
that ends at one of two places), there are several rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from outspoken.grammar import tolerant
from outspoken.grammar.automaton import Automaton, Config
from outspoken.semantics.steps import Step as RecoveryStep

from . import costs
from .edges import EdgeFinder
from .marker_lexer import marker_lexer
from .path import BLANK, SIGNIFICANT, Edge, Node, Region, name_after
from .tolerant_tokens import Kinds, Lexeme, behind, places, transitions
from .values import ValueReader, opens_json

#: How many rows of tokens are tried.
_MAX_ROWS = 6
#: How many markers may be missing at the end of the region; elsewhere, two may.
_MAX_MISSING = 3


def rows_of(region: Region, grammar: tolerant.TolerantGrammar) -> Iterator[list[Lexeme]]:
    """The rows of tokens that a region may be, the likeliest first."""
    waiting: list[tuple[int, ...]] = [()]
    for number, plan in enumerate(waiting):
        if number == _MAX_ROWS:
            return
        row = _Row(region, grammar, plan)
        yield row.read()
        for at in range(len(plan), len(row.options)):
            waiting += [(*[0] * at, choice) for choice in range(1, row.options[at])] if not any(plan) else []


class _Row:
    """Reads one row of tokens. `plan` says which way to take where there are several; `options` how many there are."""

    def __init__(self, region: Region, grammar: tolerant.TolerantGrammar, plan: tuple[int, ...]) -> None:
        self._region, self._names, self._plan = region, grammar.names, plan
        self._may_be_missing = grammar.may_be_missing
        self._text, self._end = region.text, len(region.text)
        self._finder, self._values = EdgeFinder(region), ValueReader(region)
        self._automata = [region.automaton, *([region.automaton.broken] if region.automaton.broken else [])]
        self._has_json = marker_lexer(region.automaton).has_json
        self._openers = {t.terminal.name for a in self._automata for t in a.top_level_markers if not t.inserted}
        first = next((t.start for t in region.tokens), -1)
        lacks_opener = first >= 0 and not self._finder.is_opener(first)
        self._node = Node((), None, "", lacks_opener)
        self._row: list[Lexeme] = []
        self._name = ""
        self._configs: tuple[Config, ...] = (region.outer,)
        self.options: list[int] = []

    def read(self) -> list[Lexeme]:
        """Read the region."""
        pos = 0
        ends = [t.start for t in self._region.tokens] + [self._end]
        self._gap(0)
        while pos < self._end:
            at = self._skip(pos)
            token = next((t for t in self._region.tokens if pos <= t.start <= at), None)
            if token is not None:
                self._end_run()
                pos = self._marker(token.start, token.end)
            else:
                limit = next(end for end in ends if end > at or end == self._end)
                pos = self._run(at, limit)
            self._gap(pos)
        self._end_run()
        if self._region.announced and self._region.outer is self._region.automaton.top_level:
            self._begin_with_call()
        return self._row

    def _openers_before(self, config: Config, at: int) -> set[str]:
        """The opening markers that are missing before a marker that stands here, by the lenient rules."""
        written = {t.inserted for t in config.markers if t.inserted and self._finder.marker(t, at, config)}
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
        self._row += [Lexeme(kinds, pos, pos, {}, {})] * min(len(found), _MAX_MISSING if at == self._end else 2)

    def _missing(self, at: int) -> set[str]:
        """The markers that may be missing at a place."""
        found: set[str] = set()
        for automaton in self._automata:
            for config, _ in places(automaton):
                if at in self._finder.starts and self._finder.stands(config.markers, at):
                    found |= self._openers_before(config, at)
                    continue
                for step in config.markers:
                    name = self._names[step.terminal.name]
                    is_known = name in found or name not in self._may_be_missing
                    if not is_known and self._finder.may_insert(step, at, config, self._node):
                        found.add(name)
        return found

    def _skip(self, pos: int) -> int:
        while pos < self._end and self._text[pos] in BLANK:
            pos += 1
        return pos

    def _choose(self, count: int) -> int:
        """Which of several ways to take."""
        at = len(self.options)
        self.options.append(count)
        return self._plan[at] if at < len(self._plan) else 0

    # markers

    def _marker(self, start: int, end: int) -> int:
        """Read a marker, or a near miss of one; returns where it ends."""
        at = self._skip(start)
        if self._has_json and self._text[at] in "{[":
            found = self._embedded(at, self._all_places())
            if found is not None:
                return found
        by_cost: dict[tuple[int, int], dict[str, RecoveryStep]] = {}
        for automaton in self._automata:
            for name, step, cost, stop in self._readings(automaton, {start, at}):
                by_cost.setdefault((cost, self._skip(stop)), {}).setdefault(name, step)
        if not by_cost:
            self._add([tolerant.MARKER], start, end, {})
            self._configs = tuple([p.config for p in places(self._region.automaton)])
            return end
        ways = sorted(by_cost, key=lambda way: (way[0], -way[1]))
        if not ways[0][0]:
            ways = [way for way in ways if not way[0]]
        cost, stop = ways[self._choose(len(ways))]
        steps = by_cost[cost, stop]
        near = by_cost.get((costs.DAMAGED_MARKER + costs.INTACT_OTHER, stop), {}) if not cost else {}
        kind = tolerant.MARKER if self._openers.isdisjoint(steps) else tolerant.OPENER
        stop = max([step.end for step in steps.values()])
        self._costs(cost, start)
        self._add([kind], start, stop, steps, near)
        self._configs = self._configs_behind([*steps, *near])
        return stop

    def _readings(self, automaton: Automaton, starts: set[int]) -> Iterator[tuple[str, RecoveryStep, int, int]]:
        """The markers that may stand at one of some offsets: name, step, cost and end."""
        seen: set[str] = set()
        for place in places(automaton):
            for transition in transitions(place.config):
                name = transition.terminal.name
                if name in seen or not transition.terminal.short.startswith("_"):
                    continue
                edges = [edge for at in sorted(starts) for edge in self._finder.marker(transition, at, place.config)]
                if edges:
                    seen.add(name)
                    for edge in edges:
                        yield name, edge.steps[0], edge.cost, edge.end

    def _configs_behind(self, names: Iterable[str]) -> tuple[Config, ...]:
        found = [c for a in self._automata for name in names for c in behind(a).get(name, ())]
        return tuple(dict.fromkeys(found))

    def _all_places(self) -> tuple[Config, ...]:
        return tuple([place.config for automaton in self._automata for place in places(automaton)])

    # what stands between markers

    def _run(self, at: int, limit: int) -> int:
        """Read what stands between two markers, as far as the format knows it; returns where it ends."""
        pos, inserted = at, 0
        while (pos := self._skip(pos)) < limit:
            if pos > at and not inserted:
                self._gap(pos)
            found = self._embedded(pos, self._configs)
            if found is None:
                found = self._short_marker(pos, limit)
            if found is None and inserted < 2 and self._insert(pos):
                inserted += 1
                continue
            inserted = 0
            pos = found if found is not None else self._piece(pos, limit)
        return limit if self._skip(limit) == pos else pos

    def _short_marker(self, pos: int, limit: int) -> int | None:
        """Read a name or punctuation; returns where it ends, or None if there is none."""
        by_end: dict[int, dict[str, RecoveryStep]] = {}
        targets: dict[int, list[Config]] = {}
        for config in self._configs:
            for transition in config.leading_markers if config.free else config.markers:
                if transition.inserted:
                    continue
                for edge in self._finder.marker(transition, pos, config):
                    if edge.cost == 0 and edge.end <= max(limit, pos + 1):
                        by_end.setdefault(edge.end, {}).setdefault(transition.terminal.name, edge.steps[0])
                        targets.setdefault(edge.end, []).append(edge.target)
        if not by_end:
            return None
        ends = sorted(by_end, reverse=True)
        end = ends[self._choose(len(ends))]
        self._add([tolerant.RUN], pos, end, by_end[end])
        named = [
            step.text
            for step in by_end[end].values()
            if step.transition and step.transition.terminal.short == "TOOL_NAME"
        ]
        self._name = named[0] if named else self._name
        self._configs = tuple(dict.fromkeys(targets[end]))
        return end

    def _insert(self, pos: int) -> bool:
        """Suppose that a marker is missing. Returns whether something behind it stands here."""
        found: list[Config] = []
        for config in self._configs:
            for marker in config.markers:
                if (
                    marker.inserted
                    or not marker.terminal.canonical.strip()
                    or not marker.terminal.short.startswith("_")
                ):
                    continue
                target = marker.target
                if target.free is None and self._stands(target, pos):
                    found.append(target)
        self._configs = tuple(dict.fromkeys(found)) or self._configs
        return bool(found)

    def _stands(self, config: Config, pos: int) -> bool:
        """Does a marker or a value of a configuration stand here, and no free text?"""
        if config.free is not None:
            return False
        for marker in config.markers:
            short = marker.terminal.short
            if marker.inserted or short == "TOOL_NAME":
                continue  # a name of a tool does not follow a marker that is missing
            for edge in self._finder.marker(marker, pos, config):
                if edge.cost == 0 and (short != "ARG_NAME" or self._finder.stands(edge.target.markers, edge.end)):
                    return True
        return bool(config.embedded) and self._text[pos] in "{[\"'<"

    def _piece(self, pos: int, limit: int) -> int:
        """Read words that the format does not know here; returns where they end."""
        end = limit
        if self._has_json and any(opens_json(t) for c in self._configs for t in (*c.markers, *c.embedded)):
            brackets = [i for c in "{[" if (i := self._text.find(c, pos + 1, limit)) > 0]
            end = min([end, *brackets])
        piece = self._text[pos:end].rstrip(BLANK)
        kinds = [tolerant.RUN]
        if SIGNIFICANT.isdisjoint(piece):
            kind = tolerant.STRAY_TEXT if self._region.announced else tolerant.UNSURE_TEXT
            cost = costs.STRAY_WORD * (len(piece.split()) - 1)
            if cost <= costs.MAX_COST:
                self._costs(cost, pos)
                kinds.append(kind)
        if end == self._end and not self._region.end_is_certain:
            rest = self._text[pos:]
            if any(t.terminal.canonical.strip().startswith(rest) for c in self._configs for t in transitions(c)):
                kinds.append(tolerant.CUT_MARKER)
        self._add(kinds, pos, pos + len(piece), {})
        return end

    # embedded values

    def _embedded(self, at: int, configs: tuple[Config, ...]) -> int | None:
        """Read an embedded value or an object whose keys the grammar knows; returns where it ends, or None."""
        ways: dict[tuple[int, tuple[str, ...]], Edge] = {}
        for config in configs:
            if config.embedded or any(opens_json(t) for t in config.markers):
                for edge in self._value_edges(at, config):
                    names = tuple([s.transition.terminal.name if s.transition else "" for s in edge.steps])
                    known = ways.get((edge.end, names))
                    if known is None or edge.cost < known.cost:
                        ways[edge.end, names] = edge
        if not ways:
            return None
        ordered = sorted(ways.values(), key=lambda edge: (edge.cost, -edge.end))
        edge = ordered[self._choose(len(ordered))]
        if edge.steps[0].transition is not None:
            self._costs(edge.cost, at)
        for step in edge.steps:
            if step.transition is None:
                self._add([tolerant.CUT_VALUE, tolerant.RUN], step.start, step.end, {})
            else:
                opens = step is edge.steps[0] and step.transition.terminal.name in self._openers
                kind = tolerant.OPENER if opens else tolerant.RUN
                self._add([kind], step.start, step.end, {step.transition.terminal.name: step})
        self._name = name_after(edge.steps, self._name)
        self._configs = (edge.target,)
        return edge.end

    def _value_edges(self, at: int, config: Config) -> list[Edge]:
        found = self._values.embedded(at, config, self._name)
        return [*found, *(self._values.json(at, config, self._name) if self._has_json else [])]

    # tokens

    def _add(
        self,
        kinds: list[str],
        start: int,
        end: int,
        steps: dict[str, RecoveryStep],
        near: dict[str, RecoveryStep] | None = None,
    ) -> None:
        known, others = ({self._names[name]: step for name, step in found.items()} for found in (steps, near or {}))
        names = [*kinds, *known, *[f"{tolerant.NEAR.upper()}{name}" for name in others]]
        self._row.append(Lexeme(Kinds(names), start, end, known, others))

    def _costs(self, cost: int, at: int) -> None:
        """Add tokens for what the next token costs."""
        for bit in tolerant.COST_BITS:
            if cost & bit:
                self._row.append(Lexeme(Kinds([f"COST_{bit}", tolerant.RUN]), at, at, {}, {}))

    def _end_run(self) -> None:
        """The last token ends a run."""
        last = self._row[-1] if self._row else None
        if last is not None and tolerant.RUN in last.kinds.names and tolerant.SKIP not in last.kinds.names:
            self._row[-1] = last._replace(kinds=Kinds([*(last.kinds.names - {tolerant.RUN}), tolerant.RUN_END]))
