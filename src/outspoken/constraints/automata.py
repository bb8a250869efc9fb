"""Finite automata over characters: texts that hold none of some patterns, and texts that match a pattern.

Engines know no look-around and differ in what else their regular expressions can say. Automata can be written as rules
of any grammar, and as plain regular expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

from outspoken.patterns import syntax

from .char_sets import ANY_CHAR, CharSet, Range, char_set, chars_of, of_text, partition

_State = TypeVar("_State")


class TooLargeError(ValueError):
    """An automaton has more states than a grammar should have rules."""


class Nfa:
    """A nondeterministic automaton. State 0 is the start."""

    def __init__(self) -> None:
        self.steps: list[list[tuple[CharSet, int]]] = [[]]
        self.jumps: list[list[int]] = [[]]

    def state(self) -> int:
        """A new state."""
        self.steps.append([])
        self.jumps.append([])
        return len(self.steps) - 1

    def add(self, nodes: syntax.Sequence, start: int, *, ignores_case: bool = False) -> int:
        """Add a pattern from a state on; returns the state behind it.

        Raises ValueError for what no automaton can do: look-arounds, positions, and references to groups.
        """
        for node in nodes:
            start = self._add(node, start, ignores_case=ignores_case)
        return start

    def embed(self, dfa: Dfa, start: int) -> int:
        """Add an automaton from a state on; returns the state behind it."""
        states = [self.state() for _ in dfa.steps]
        end = self.state()
        self.jumps[start].append(states[0])
        for state, row, accepts in zip(states, dfa.steps, dfa.accepts, strict=True):
            self.steps[state] += [(chars, states[target]) for chars, target in row]
            if accepts:
                self.jumps[state].append(end)
        return end

    def text(self, text: str, start: int) -> int:
        """Add a text from a state on; returns the state behind it."""
        for char in text:
            target = self.state()
            self.steps[start].append((of_text(char), target))
            start = target
        return start

    def _add(self, node: syntax.Node, start: int, *, ignores_case: bool) -> int:
        if isinstance(node, syntax.Chars):
            end = self.state()
            self.steps[start].append((chars_of(node, ignores_case=ignores_case), end))
            return end
        if isinstance(node, syntax.Group):
            return self.add(node.body, start, ignores_case=ignores_case or node.ignores_case)
        if isinstance(node, syntax.Alternatives):
            end = self.state()
            for branch in node.branches:
                self.jumps[self.add(branch, self.jump(start), ignores_case=ignores_case)].append(end)
            return end
        if isinstance(node, syntax.Repeat):
            return self._repeat(node, start, ignores_case=ignores_case)
        raise ValueError("a pattern holds what no automaton can read")

    def _repeat(self, node: syntax.Repeat, start: int, *, ignores_case: bool) -> int:
        for _ in range(node.low):
            start = self.add(node.body, start, ignores_case=ignores_case)
        if node.high == syntax.UNBOUNDED:
            loop = self.jump(start)
            self.jumps[self.add(node.body, loop, ignores_case=ignores_case)].append(loop)
            return self.jump(loop)
        end = self.state()
        self.jumps[start].append(end)
        for _ in range(node.high - node.low):
            start = self.add(node.body, start, ignores_case=ignores_case)
            self.jumps[start].append(end)
        return end

    def jump(self, start: int) -> int:
        """A new state that can be reached from a state without a character."""
        target = self.state()
        self.jumps[start].append(target)
        return target


class Dfa(NamedTuple):
    """A deterministic automaton: for each state, the characters that lead to other states, and whether a text may end.

    State 0 is the start.
    """

    steps: tuple[tuple[tuple[CharSet, int], ...], ...]
    accepts: tuple[bool, ...]

    def step(self, state: int, char: str) -> int:
        """The state that a character leads to; -1 for none."""
        code = ord(char)
        ways = (target for chars, target in self.steps[state] if any(low <= code <= high for low, high in chars))
        return next(ways, -1)

    def reads(self, text: str) -> bool:
        """Does the automaton accept a text?"""
        state = 0
        for char in text:
            if (state := self.step(state, char)) < 0:
                return False
        return self.accepts[state]


class _Table(NamedTuple):
    """A deterministic automaton over classes of characters: each row has the target of each class, or -1."""

    classes: list[CharSet]
    rows: list[list[int]]
    accepts: list[bool]


def determinize(nfa: Nfa, ends: frozenset[int], *, excludes: bool, limit: int) -> Dfa:
    """The automaton of the texts that lead to one of the states; with `excludes`, of those that never do.

    Raises TooLargeError if it needs more than `limit` states.
    """
    classes, classes_of = partition([chars for steps in nfa.steps for chars, _ in steps])
    ended = sum([1 << end for end in ends])

    @cache
    def closure(state: int) -> int:
        """The states that are reached from one without a character, as bits. Those that only jump are left out."""
        reached, waiting = {state}, [state]
        while waiting:
            more = {*nfa.jumps[waiting.pop()]} - reached
            reached |= more
            waiting += more
        return sum(
            [1 << reached_state for reached_state in reached if nfa.steps[reached_state] or reached_state in ends]
        )

    @cache
    def ways(state: int) -> list[tuple[int, int]]:
        return [(at, closure(target)) for chars, target in nfa.steps[state] for at in classes_of[chars]]

    def targets_of(subset: int) -> list[int | None]:
        reached = [0] * len(classes)
        for state in _bits(subset):
            for at, targets in ways(state):
                reached[at] |= targets
        return [None if not target or (excludes and target & ended) else target for target in reached]

    return _explored(classes, closure(0), targets_of, lambda subset: excludes or bool(subset & ended), limit)


def _explored(
    classes: list[CharSet],
    first: _State,
    targets_of: Callable[[_State], list[_State | None]],
    accepts: Callable[[_State], bool],
    limit: int,
) -> Dfa:
    """The automaton of all states that are reached from the first one, by the targets of each for all classes."""
    numbers: dict[_State | None, int] = {None: -1, first: 0}
    waiting, rows = [first], list[list[int]]()
    for state in waiting:
        targets = targets_of(state)
        for target in targets:
            if target is not None and target not in numbers:
                numbers[target] = len(waiting)
                waiting.append(target)
        rows.append([numbers[target] for target in targets])
        if len(waiting) > limit:
            raise TooLargeError(f"an automaton needs more than {limit} states")
    return _minimal(_Table(classes, rows, [*map(accepts, waiting)]))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _minimal(table: _Table) -> Dfa:
    """The same automaton with the fewest states, without those from which no end can be reached."""
    into: list[set[int]] = [set() for _ in table.rows]
    for state, row in enumerate(table.rows):
        for target in {*row} - {-1}:
            into[target].add(state)
    reached = [state for state, accepts in enumerate(table.accepts) if accepts]
    alive = {*reached}
    for state in reached:
        reached += into[state] - alive
        alive |= into[state]
    rows = [[target if target in alive else -1 for target in row] for row in table.rows]
    group = [*map(int, table.accepts), -1]  # the last one is that of no target
    members: dict[int, set[int]] = {}
    for state in range(len(rows)):
        members.setdefault(group[state], set()).add(state)
    waiting = set(range(len(rows)))
    while waiting:  # those of which a target has left its group
        numbers = {group[state] for state in waiting}
        moved = [part for number in numbers for part in _leaving(rows, group, members[number], waiting)]
        for part in moved:
            number = len(members) + 1
            members[group[next(iter(part))]] -= part
            members[number] = part
            for state in part:
                group[state] = number
        waiting = {before for part in moved for state in part for before in into[state]}
    return _numbered(_Table(table.classes, rows, table.accepts), group)


def _leaving(rows: list[list[int]], group: list[int], members: set[int], waiting: set[int]) -> list[set[int]]:
    """The states that have to leave a group, by where they go. Those that are not waiting all go the same ways."""
    at = group.__getitem__
    parts: dict[tuple[int, ...], set[int]] = {}
    for state in members & waiting:
        parts.setdefault(tuple(map(at, rows[state])), set()).add(state)
    other = next((state for state in members if state not in waiting), None)
    kept = tuple(map(at, rows[other])) if other is not None else max(parts, key=lambda key: len(parts[key]))
    return [part for key, part in parts.items() if key != kept]


def _numbered(table: _Table, group: list[int]) -> Dfa:
    """The automaton of groups of states, numbered from the start on."""
    order = {group[0]: 0}
    waiting = [0]
    steps: list[tuple[tuple[CharSet, int], ...]] = []
    for state in waiting:
        joined: dict[int, list[Range]] = {}
        for chars, target in zip(table.classes, table.rows[state], strict=True):
            if target < 0:
                continue
            reached = group[target]
            if reached not in order:
                order[reached] = len(order)
                waiting.append(target)
            joined.setdefault(order[reached], []).extend(chars)
        steps.append(tuple([(char_set(ranges), target) for target, ranges in joined.items()]))
    return Dfa(tuple(steps), tuple([table.accepts[state] for state in waiting]))


@lru_cache(maxsize=256)
def without(patterns: tuple[str, ...], limit: int = 4000) -> Dfa:
    """The automaton of the texts in which none of the patterns matches anywhere."""
    nfa = Nfa()
    nfa.steps[0].append((ANY_CHAR, 0))
    ends = frozenset([nfa.add(syntax.parse(pattern), nfa.jump(0)) for pattern in patterns])
    return determinize(nfa, ends, excludes=True, limit=limit)


@lru_cache(maxsize=1024)
def matching(pattern: str, limit: int = 4000) -> Dfa:
    """The automaton of the texts that match a pattern as a whole."""
    nfa = Nfa()
    end = nfa.add(syntax.parse(pattern), 0)
    return determinize(nfa, frozenset([end]), excludes=False, limit=limit)


def intersection(one: Dfa, other: Dfa, limit: int = 4000) -> Dfa:
    """The automaton of the texts that both accept. Raises TooLargeError if it needs more than `limit` states."""
    classes, found = partition([chars for dfa in (one, other) for row in dfa.steps for chars, _ in row])
    lefts, rights = _rows(one, len(classes), found), _rows(other, len(classes), found)

    def targets_of(state: tuple[int, int]) -> list[tuple[int, int] | None]:
        return [None if -1 in pair else pair for pair in zip(lefts[state[0]], rights[state[1]], strict=True)]

    return _explored(classes, (0, 0), targets_of, lambda at: one.accepts[at[0]] and other.accepts[at[1]], limit)


def _rows(dfa: Dfa, count: int, found: Mapping[CharSet, tuple[int, ...]]) -> list[list[int]]:
    rows: list[list[int]] = []
    for steps in dfa.steps:
        row = [-1] * count
        for chars, target in steps:
            for at in found[chars]:
                row[at] = target
        rows.append(row)
    return rows


def length_between(low: int, high: int | None) -> Dfa:
    """The automaton of the texts of so many characters."""
    rows: list[tuple[tuple[CharSet, int], ...]] = [((ANY_CHAR, at + 1),) for at in range(low if high is None else high)]
    rows.append(((ANY_CHAR, low),) if high is None else ())
    return Dfa(tuple(rows), tuple([at >= low for at in range(len(rows))]))


def complement(dfa: Dfa) -> Dfa:
    """The automaton of the texts that one does not accept."""
    classes, found = partition([ANY_CHAR, *[chars for row in dfa.steps for chars, _ in row]])
    sink = len(dfa.steps)
    rows = [[sink if target < 0 else target for target in row] for row in _rows(dfa, len(classes), found)]
    return _minimal(_Table(classes, [*rows, [sink] * len(classes)], [*[not one for one in dfa.accepts], True]))
