"""Finite automata over characters: texts that hold none of some patterns, and texts that match a pattern.

Engines know no look-around and differ in what else their regular expressions can say. Automata can be written as rules
of any grammar, and as plain regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from outspoken.patterns import syntax

#: The first and the last code point of a range of characters.
Range: TypeAlias = tuple[int, int]
#: Ranges in their order, which do not touch.
CharSet: TypeAlias = tuple[Range, ...]

_LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
#: All characters that UTF-8 can encode.
ANY_CHAR: CharSet = ((0, _SURROGATES[0] - 1), (_SURROGATES[1] + 1, _LAST))


class TooLargeError(ValueError):
    """An automaton has more states than a grammar should have rules."""


def char_set(ranges: Iterable[Range]) -> CharSet:
    """The ranges in order, joined where they touch."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def negated(chars: CharSet) -> CharSet:
    """All other characters."""
    found: list[Range] = []
    at = 0
    for low, high in chars:
        if at < low:
            found.append((at, low - 1))
        at = high + 1
    if at <= _LAST:
        found.append((at, _LAST))
    return both(tuple(found), ANY_CHAR)


def both(one: CharSet, other: CharSet) -> CharSet:
    """The characters that are in both sets."""
    found = [(max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) <= min(b, d)]
    return char_set(found)


def of_text(chars: str) -> CharSet:
    """The characters of a text."""
    return char_set([(ord(char), ord(char)) for char in chars])


_CATEGORIES: dict[str, CharSet] = {}


def _category(escape: str) -> CharSet:
    """The characters of `\\s`, `\\w`, `\\d` and their opposites, as Python's `re` reads them."""
    if escape not in _CATEGORIES:
        import re

        matches = re.compile(escape.lower()).match
        chars = char_set([(code, code) for code in range(0x30000) if matches(chr(code))])
        _CATEGORIES[escape.lower()] = both(chars, ANY_CHAR)
        _CATEGORIES[escape.upper()[0] + escape[1].upper()] = negated(chars)
    return _CATEGORIES[escape]


def chars_of(node: syntax.Chars, *, ignores_case: bool = False) -> CharSet:
    """The characters of a class."""
    ranges = [(ord(char), ord(char)) for char in node.literals]
    ranges += [(ord(low), ord(high)) for low, high in node.ranges]
    for escape in node.categories:
        ranges += _category(escape)
    if ignores_case:
        letters = [chr(code) for low, high in ranges if high - low < 128 for code in range(low, high + 1)]
        cased = {other for char in letters for other in (char.lower(), char.upper()) if len(other) == 1}
        ranges += [(ord(char), ord(char)) for char in cased]
    found = char_set(ranges)
    return negated(found) if node.negated else both(found, ANY_CHAR)


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

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """The states that can be reached without a character."""
        found, waiting = set(states), list(states)
        while waiting:
            for target in self.jumps[waiting.pop()]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return frozenset(found)


class Dfa(NamedTuple):
    """A deterministic automaton: for each state, the characters that lead to other states, and whether a text may end.

    State 0 is the start.
    """

    steps: tuple[tuple[tuple[CharSet, int], ...], ...]
    accepts: tuple[bool, ...]

    def reads(self, text: str) -> bool:
        """Does the automaton accept a text?"""
        state = 0
        for char in text:
            code = ord(char)
            found = [t for chars, t in self.steps[state] if any(low <= code <= high for low, high in chars)]
            if not found:
                return False
            state = found[0]
        return self.accepts[state]


def _atoms(sets: Iterable[CharSet]) -> list[Range]:
    """Ranges so that each set is a union of some of them."""
    borders = {border for chars in sets for low, high in chars for border in (low, high + 1)}
    borders |= {border for low, high in ANY_CHAR for border in (low, high + 1)}
    ordered = sorted(borders)
    pairs = list(zip(ordered, [border - 1 for border in ordered[1:]], strict=False))
    return [pair for pair in pairs if both((pair,), ANY_CHAR)]


def determinize(nfa: Nfa, ends: frozenset[int], *, excludes: bool, limit: int) -> Dfa:
    """The automaton of the texts that lead to one of the states; with `excludes`, of those that never do.

    Raises TooLargeError if it needs more than `limit` states.
    """
    atoms = _atoms({chars for steps in nfa.steps for chars, _ in steps})
    classes = _classes(nfa, atoms)
    first = nfa.closure([0])
    numbers, waiting = {first: 0}, [first]
    steps: list[dict[int, list[Range]]] = []
    accepts: list[bool] = []
    for subset in waiting:
        if len(numbers) > limit:
            raise TooLargeError(f"an automaton needs more than {limit} states")
        row: dict[int, list[Range]] = {}
        for known, ranges in classes:
            reached = {target for state in subset for index, target in known.get(state, ()) if index}
            if not reached:
                continue
            target = nfa.closure(reached)
            if excludes and not ends.isdisjoint(target):
                continue
            if target not in numbers:
                numbers[target] = len(numbers)
                waiting.append(target)
            row.setdefault(numbers[target], []).extend(ranges)
        steps.append(row)
        accepts.append(excludes or not ends.isdisjoint(subset))
    rows = tuple([tuple([(char_set(ranges), target) for target, ranges in row.items()]) for row in steps])
    return minimized(Dfa(rows, tuple(accepts)))


def _classes(nfa: Nfa, atoms: list[Range]) -> list[tuple[dict[int, list[tuple[bool, int]]], list[Range]]]:
    """The characters that no step tells apart, each class with the steps over it by state."""
    by_steps: dict[tuple[tuple[int, int], ...], list[Range]] = {}
    flat = [(state, target, chars) for state, steps in enumerate(nfa.steps) for chars, target in steps]
    for atom in atoms:
        key = tuple([(s, t) for s, t, chars in flat if any(low <= atom[0] <= high for low, high in chars)])
        by_steps.setdefault(key, []).append(atom)
    found: list[tuple[dict[int, list[tuple[bool, int]]], list[Range]]] = []
    for key, ranges in by_steps.items():
        known: dict[int, list[tuple[bool, int]]] = {}
        for state, target in key:
            known.setdefault(state, []).append((True, target))
        found.append((known, ranges))
    return found


def minimized(dfa: Dfa) -> Dfa:
    """The same automaton with the fewest states, without those from which no end can be reached."""
    alive = _alive(dfa)
    group = [int(accepts) if alive[state] else -1 for state, accepts in enumerate(dfa.accepts)]
    while True:
        keys: dict[tuple[object, ...], int] = {}
        renewed: list[int] = []
        for state, row in enumerate(dfa.steps):
            if not alive[state]:
                renewed.append(-1)
                continue
            joined: dict[int, list[Range]] = {}
            for chars, target in row:
                if alive[target]:
                    joined.setdefault(group[target], []).extend(chars)
            key = (group[state], tuple(sorted([(target, char_set(ranges)) for target, ranges in joined.items()])))
            renewed.append(keys.setdefault(key, len(keys)))
        if len(set(renewed)) == len(set(group)):
            break
        group = renewed
    return _numbered(dfa, renewed)


def _alive(dfa: Dfa) -> list[bool]:
    """From which states an end can be reached."""
    into: list[list[int]] = [[] for _ in dfa.steps]
    for state, row in enumerate(dfa.steps):
        for _, target in row:
            into[target].append(state)
    alive = list(dfa.accepts)
    waiting = [state for state, accepts in enumerate(alive) if accepts]
    while waiting:
        for state in into[waiting.pop()]:
            if not alive[state]:
                alive[state] = True
                waiting.append(state)
    return alive


def _numbered(dfa: Dfa, group: list[int]) -> Dfa:
    """The automaton of groups of states, numbered from the start on."""
    order: dict[int, int] = {}
    first: dict[int, int] = {}
    for state, number in enumerate(group):
        first.setdefault(number, state)
    waiting = [group[0]]
    order[group[0]] = 0
    rows: list[tuple[tuple[CharSet, int], ...]] = []
    accepts: list[bool] = []
    for number in waiting:
        state = first[number]
        joined: dict[int, list[Range]] = {}
        for chars, target in dfa.steps[state]:
            reached = group[target]
            if reached < 0:
                continue
            if reached not in order:
                order[reached] = len(order)
                waiting.append(reached)
            joined.setdefault(order[reached], []).extend(chars)
        rows.append(tuple([(char_set(ranges), target) for target, ranges in joined.items()]))
        accepts.append(dfa.accepts[state])
    return Dfa(tuple(rows), tuple(accepts))


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
    """The automaton of the texts that both accept."""
    numbers, waiting = {(0, 0): 0}, [(0, 0)]
    rows: list[tuple[tuple[CharSet, int], ...]] = []
    accepts: list[bool] = []
    for left, right in waiting:
        if len(numbers) > limit:
            raise TooLargeError(f"an automaton needs more than {limit} states")
        row: list[tuple[CharSet, int]] = []
        for chars, target in one.steps[left]:
            for others, reached in other.steps[right]:
                if common := both(chars, others):
                    pair = (target, reached)
                    if pair not in numbers:
                        numbers[pair] = len(numbers)
                        waiting.append(pair)
                    row.append((common, numbers[pair]))
        rows.append(tuple(row))
        accepts.append(one.accepts[left] and other.accepts[right])
    return minimized(Dfa(tuple(rows), tuple(accepts)))


def ending_in(dfa: Dfa, chars: CharSet) -> Dfa:
    """The automaton of the texts that one accepts and that are empty or end in one of the characters."""
    last = Dfa((((chars, 0), (negated(chars), 1)), ((chars, 0), (negated(chars), 1))), (True, False))
    return intersection(dfa, last)


def length_between(low: int, high: int | None) -> Dfa:
    """The automaton of the texts of so many characters."""
    rows: list[tuple[tuple[CharSet, int], ...]] = [((ANY_CHAR, at + 1),) for at in range(low if high is None else high)]
    rows.append(((ANY_CHAR, low),) if high is None else ())
    return Dfa(tuple(rows), tuple([at >= low for at in range(len(rows))]))


def complement(dfa: Dfa) -> Dfa:
    """The automaton of the texts that one does not accept."""
    sink = len(dfa.steps)
    rows: list[tuple[tuple[CharSet, int], ...]] = []
    for row in dfa.steps:
        rest = negated(char_set([one for chars, _ in row for one in chars]))
        rows.append((*row, (rest, sink)) if rest else row)
    rows.append(((ANY_CHAR, sink),))
    return minimized(Dfa(tuple(rows), (*[not accepts for accepts in dfa.accepts], True)))
