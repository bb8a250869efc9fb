"""The shortest texts that show the conflicts of an LALR parser, and their derivations.

A parser whose actions clash is run with all of them at once: from a stack, a terminal leads to several. Dijkstra's
algorithm over these stacks finds the shortest text at which two actions of a clash can both go on, and over pairs of
stacks the shortest rest that suits both. Every search is bounded.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from outspoken.grammar.tables import END

from .lalr import LalrAutomaton, Stack, Step, TableConflict

#: The most stacks, and pairs of stacks, that a search visits.
_MOST_STACKS, _MOST_PAIRS = 4000, 3000

#: The shift action of a conflict. The other actions are the productions to reduce.
SHIFT = -1

_Place = TypeVar("_Place", bound=Hashable)


class Read(NamedTuple):
    """A terminal that was read, and the productions that ended before it."""

    terminal: str
    ended: tuple[int, ...]


class ParsePath(NamedTuple):
    """A parse through a conflict by one of its actions: the terminals so far, and the stack behind the last."""

    action: int
    reads: tuple[Read, ...]
    stack: Stack


class Counterexample(NamedTuple):
    """The actions of a conflict behind the shortest text that leads to it.

    `ways` are those by the actions that can go on; of one action there may be several, in one row. Where `is_real` is
    false, no text was found behind which two actions can go on; then each row comes from a text of its own.
    """

    site: TableConflict
    paths: tuple[tuple[ParsePath, ...], ...]
    is_confirmed: bool


class ReadingPair(NamedTuple):
    """Two readings to the end of the text; `is_same` says that it is the same text.

    An end that was not found within the bound is open.
    """

    first: ParsePath
    second: ParsePath
    is_same: bool


#: What leads on from a place: the terminal, how each of the readings reads it, and the place behind it.
_Successors = Callable[[_Place], Iterable[tuple[str, tuple[Read, ...], _Place]]]


@dataclass(frozen=True, slots=True)
class _Visit(Generic[_Place]):
    """A place, what was read last to come to it, and the place before."""

    place: _Place
    read: tuple[Read, ...] = ()
    before: _Visit[_Place] | None = None

    def trail(self) -> tuple[_Place, list[tuple[Read, ...]]]:
        """Where the walk started, and all that was read since."""
        rows: list[tuple[Read, ...]] = []
        visit = self
        while visit.before is not None:
            rows.append(visit.read)
            visit = visit.before
        return visit.place, rows[::-1]


class CounterexampleSearch:
    """Searches in one parser. `costs` says how long the text of each terminal is."""

    def __init__(self, automaton: LalrAutomaton, start: int, costs: Mapping[str, int]) -> None:
        self._automaton, self._start = automaton, (start,)
        self._costs = {name: costs.get(name, 1) + 1 for name in {*automaton.terminals, END}}

    def counterexamples(self, sites: Iterable[TableConflict]) -> dict[TableConflict, Counterexample]:
        """The first counterexample of each conflict, as far as the search is bounded."""
        waiting = {(site.state, site.terminal): site for site in sites}
        found: dict[TableConflict, Counterexample] = {}
        alone: dict[TableConflict, dict[int, tuple[ParsePath, ...]]] = {}
        for visit in self._walk([self._start], self._successors, _MOST_STACKS):
            for site, rows in self._met(visit, waiting):
                for row in rows:
                    alone.setdefault(site, {}).setdefault(row[0].action, row)
                if len(rows) > 1:
                    found[site] = Counterexample(site, tuple(rows), True)
                    waiting.pop((site.state, site.terminal), None)
            if not waiting:
                break
        for site in waiting.values():
            found[site] = Counterexample(site, tuple(alone.get(site, {}).values()), False)
        return found

    def _met(
        self, visit: _Visit[Stack], waiting: Mapping[tuple[int, str], TableConflict]
    ) -> Iterator[tuple[TableConflict, list[tuple[ParsePath, ...]]]]:
        """The conflicts that a stack leads to, with the parses through them."""
        for terminal in self._automaton.expected(visit.place) if visit.place else ():
            for ended, reached in self._automaton.closures(visit.place, terminal):
                site = waiting.get((reached[-1], terminal))
                if site is not None:
                    reads = tuple([row[0] for row in visit.trail()[1]])
                    yield site, self._rows(site, reached, reads, ended)

    def _successors(self, stack: Stack) -> Iterator[tuple[str, tuple[Read, ...], Stack]]:
        """All ways to read on from a stack; from the end of the text there is none."""
        for terminal in self._automaton.expected(stack) if stack else ():
            for step in self._automaton.steps(stack, terminal):
                yield terminal, (Read(terminal, step.ended),), step.stack

    def _rows(
        self, site: TableConflict, stack: Stack, reads: tuple[Read, ...], ended: tuple[int, ...]
    ) -> list[tuple[ParsePath, ...]]:
        """For each action that can go on from a stack at the clash, the ways to read the terminal by it."""
        automaton, terminal = self._automaton, site.terminal
        rows: list[tuple[ParsePath, ...]] = []
        for action in (*([SHIFT] if site.shifts else []), *site.ends):
            steps: list[Step] = []
            if action == SHIFT:
                target = automaton.shifts[stack[-1]][terminal]
                steps = [Step((), (*stack, target))]
            else:
                after = automaton.reduced(stack, action)
                if after is not None:
                    steps = [s._replace(ended=(action, *s.ended)) for s in automaton.steps(after, terminal)]
            if steps:
                row = [ParsePath(action, (*reads, Read(terminal, (*ended, *s.ended))), s.stack) for s in steps]
                rows.append(tuple(row))
        return rows

    def pair(self, counterexample: Counterexample) -> ReadingPair | None:
        """Two readings of a meeting to their ends: of one text where there is one, else each of its shortest text."""
        if len(counterexample.paths) < 2:
            return None
        if counterexample.is_confirmed:
            common = self._common(counterexample)
            if common is not None:
                return common
        first, second = counterexample.paths[0][0], counterexample.paths[1][0]
        return ReadingPair(self.completed(first), self.completed(second), False)

    def completed(self, path: ParsePath) -> ParsePath:
        """A way with the shortest rest of a text, if one is found."""
        for visit in self._walk([path.stack], self._successors, _MOST_STACKS):
            if not visit.place:
                return ParsePath(path.action, (*path.reads, *[row[0] for row in visit.trail()[1]]), ())
        return path

    def _common(self, counterexample: Counterexample) -> ReadingPair | None:
        """The shortest text that both actions read to the end."""
        automaton = self._automaton
        starts: dict[tuple[Stack, Stack], tuple[ParsePath, ParsePath]] = {}
        for i, row in enumerate(counterexample.paths):
            for other in counterexample.paths[i + 1 :]:
                for one, two in ((a, b) for a in row for b in other):
                    starts.setdefault((one.stack, two.stack), (one, two))

        def successors(pair: tuple[Stack, Stack]) -> Iterator[tuple[str, tuple[Read, ...], tuple[Stack, Stack]]]:
            one, two = pair
            both = sorted({*automaton.expected(one)} & {*automaton.expected(two)}) if one and two else ()
            for terminal in both:
                for a in automaton.steps(one, terminal):
                    for b in [a] if one == two else automaton.steps(two, terminal):
                        yield terminal, (Read(terminal, a.ended), Read(terminal, b.ended)), (a.stack, b.stack)

        for visit in self._walk(list(starts), successors, _MOST_PAIRS):
            if visit.place == ((), ()):
                start, rows = visit.trail()
                one, two = starts[start]
                return ReadingPair(
                    ParsePath(one.action, (*one.reads, *[row[0] for row in rows]), ()),
                    ParsePath(two.action, (*two.reads, *[row[1] for row in rows]), ()),
                    True,
                )
        return None

    def _walk(self, starts: list[_Place], successors: _Successors[_Place], most: int) -> Iterator[_Visit[_Place]]:
        """Dijkstra's algorithm: places in the order of the length of the text that leads to them."""
        tie = count()
        queue = [(0, next(tie), _Visit(start)) for start in starts]
        seen: set[_Place] = set()
        while queue and len(seen) < most:
            cost, _, visit = heapq.heappop(queue)
            if visit.place in seen:
                continue
            seen.add(visit.place)
            yield visit
            for terminal, read, target in successors(visit.place):
                if target not in seen:
                    heapq.heappush(queue, (cost + self._costs[terminal], next(tie), _Visit(target, read, visit)))
