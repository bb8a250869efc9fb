"""How many steps a search for a pattern takes. `a*a*b` tries each pair of ends in a run of `a`, and `(a+)+b` each way
to split it. Grammars come with checkpoints of models, so a pattern that takes more than quadratic time is refused.

A pattern is read as an automaton whose states are its characters. Its steps grow with the number of *loops* that read
the same text one behind the other (Weber and Seidl, On the degree of ambiguity of finite automata, 1991). The search
itself is a loop before all others, since it tries each place of the text. A loop that reads a text in several ways
takes exponential time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

from .syntax import Alternatives, Chars, Group, Look, Node, Reference, Repeat, Sequence, nodes_in, parse

#: Steps are counted in a text of so many characters, and so many are good. Those of the own formats take half of them.
LENGTH = 20_000
MOST = LENGTH**2
#: A repeat of so many times counts as one without end, where each of them may read a text in two ways.
_MANY = 16
#: A pattern of more characters is not looked at.
_LONGEST = 2_000
#: Characters that are tried beside those of a pattern: some of each category, and one that no pattern names.
_SAMPLES = ("a", "0", "_", " ", "-", "\n", "\u00e9", "\U0010fffe")


class Slow(NamedTuple):
    """Why a search for a pattern takes too many steps, and what to write instead."""

    why: str
    helps: str


def find_slow(pattern: str, most: int = MOST) -> Slow | None:
    """Why a search for a pattern may take more steps than `most`; None if it does not. Raises what `parse` raises."""
    states = _States(parse(pattern))
    if states.is_ambiguous:
        why = "a repeat can read the same text in several ways, so a search may never end"
        return Slow(why, "let what is repeated begin or end with a sign that stands nowhere else in it")
    if len(states.reads) > _LONGEST:
        return Slow(f"it has more than {_LONGEST} characters", "make several of it")
    if _most_steps(states) > most:
        why = "several repeats can read the same text one behind the other, so a search takes more than quadratic time"
        return Slow(why, r"say how often each may read, as in `\s{0,99}`, or leave out what the next one reads")
    return None


class _Part(NamedTuple):
    """A part of a pattern: the states with which it begins and ends, once for each way, and whether it may be empty."""

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    may_be_empty: bool = True


class _States:
    """The states of a pattern. The first one is the search."""

    #: Can a repeat read a text in so many ways that it takes too long?
    is_ambiguous = False

    def __init__(self, items: Sequence) -> None:
        chars = [node for node in nodes_in(items) if isinstance(node, Chars)]
        ends = [char for node in chars for pair in node.ranges for char in pair]
        self._samples = tuple(dict.fromkeys([*_SAMPLES, *[char for node in chars for char in node.literals], *ends]))
        #: which of the samples a state reads, as bits; what may follow it, once for each way; how often it may be read
        self.reads = [(1 << len(self._samples)) - 1]
        self.follows: list[list[int]] = [[0]]
        self.rounds = [LENGTH]
        self.follows[0] += self._sequence(items, ignores_case=False).first

    def _sequence(self, items: Sequence, *, ignores_case: bool) -> _Part:
        whole = _Part()
        for item in items:
            part = self._part(item, ignores_case=ignores_case)
            for state in whole.last:
                self.follows[state] += part.first
            first = whole.first + part.first if whole.may_be_empty else whole.first
            if isinstance(item, Look):  # what comes next does not follow what is looked at
                whole = whole._replace(first=first)
            else:
                last = whole.last + part.last if part.may_be_empty else part.last
                whole = _Part(first, last, whole.may_be_empty and part.may_be_empty)
        return whole

    def _part(self, item: Node, *, ignores_case: bool) -> _Part:
        if isinstance(item, Chars):
            return self._char(_bits(item.pattern(), self._samples, ignores_case))
        if isinstance(item, Reference):  # it has no choice of its own
            return self._char(self.reads[0])._replace(may_be_empty=True)
        if isinstance(item, Alternatives):
            parts = [self._sequence(branch, ignores_case=ignores_case) for branch in item.branches]
            first = tuple([state for part in parts for state in part.first])
            last = tuple([state for part in parts for state in part.last])
            return _Part(first, last, any(part.may_be_empty for part in parts))
        if isinstance(item, Repeat):
            return self._repeat(item, ignores_case=ignores_case)
        if isinstance(item, Group):
            return self._sequence(item.body, ignores_case=ignores_case or item.ignores_case)
        if isinstance(item, Look) and item.is_ahead:
            return self._sequence(item.body, ignores_case=ignores_case)
        return _Part()

    def _char(self, reads: int) -> _Part:
        self.reads.append(reads)
        self.follows.append([])
        self.rounds.append(1)
        return _Part((len(self.reads) - 1,), (len(self.reads) - 1,), False)

    def _repeat(self, item: Repeat, *, ignores_case: bool) -> _Part:
        body = len(self.reads)
        part = self._sequence(item.body, ignores_case=ignores_case)
        if item.high > 1:
            for state in part.last:
                self.follows[state] += part.first
            states = range(body, len(self.reads))
            ways = max([2, *[self.rounds[state] for state in states]])
            is_many = ways ** min(item.high, _MANY) > LENGTH
            self.is_ambiguous |= is_many and bool(states) and self._has_ways(states, part.first)
            for state in states:
                self.rounds[state] = min(self.rounds[state] * item.high, LENGTH)
        self.is_ambiguous |= part.may_be_empty and item.low >= _MANY  # each round may be empty
        return part._replace(may_be_empty=part.may_be_empty or item.low == 0)

    def alike(self, *sets: Iterable[int]) -> Iterator[tuple[int, ...]]:
        """The combinations of states that can read the same character."""
        for found in product(*sets):
            common = -1
            for state in found:
                common &= self.reads[state]
            if common:
                yield found

    def _has_ways(self, states: range, starts: Iterable[int]) -> bool:
        """Can a repeat of these states read the same text in two ways, from a state back to it?"""
        if len(states) > _LONGEST:
            return False
        within = {state: [other for other in self.follows[state] if other in states] for state in states}
        for first in starts:
            ahead, start = dict[tuple[int, ...], list[tuple[int, ...]]](), (first, first)
            waiting: list[tuple[int, ...]] = [start]
            while waiting:
                pair = waiting.pop()
                if pair not in ahead:
                    ahead[pair] = [*self.alike(within[pair[0]], within[pair[1]])]
                    waiting += ahead[pair]
            behind: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
            for pair, others in ahead.items():
                for other in others:
                    behind.setdefault(other, []).append(pair)
            circle = _closure(behind, start) & ahead.keys()
            if any(pair != other or _has_twice(within[pair], circle) for pair, other in circle):
                return True
        return False


def _has_twice(follows: list[int], circle: Collection[tuple[int, ...]]) -> bool:
    return any(follows.count(state) > 1 and (state, state) in circle for state in {*follows})


def _most_steps(made: _States) -> int:
    """The steps of the longest row of loops that read the same text one behind the other."""
    follows = dict(enumerate(made.follows))
    reached = [_closure(follows, state) for state in follows]
    loops: dict[int, list[int]] = {}
    for state, reachable in enumerate(reached):
        if state in reachable:
            loops.setdefault(min(other for other in reachable if state in reached[other]), []).append(state)

    @cache
    def steps(loop: int) -> int:
        near = _near(made, loops[loop])
        others = [inner for inner in loops if inner != loop and near.intersection(loops[inner])]
        behind = [steps(inner) for inner in others if _leads(made, loops[loop], loops[inner])]
        return max([made.rounds[state] for state in loops[loop]]) * max(behind, default=1)

    return max(map(steps, loops))


def _near(made: _States, states: list[int]) -> set[int]:
    """What can be reached from a loop with characters that it reads."""
    seen, waiting = set(states), [*states]
    while waiting:
        follows = {*made.follows[waiting.pop()]} - seen
        new = {state for state in follows if any(made.reads[state] & made.reads[one] for one in states)}
        seen |= new
        waiting += new
    return seen


def _leads(made: _States, states: list[int], others: list[int]) -> bool:
    """Can a text be read in one loop, in another one, and on the way from one to the other?"""
    near, far = [
        {state: [other for other in {*made.follows[state]} if other in loop] for state in loop}
        for loop in (states, others)
    ]
    for first, last in product(states, others):
        seen: set[tuple[int, ...]] = set()
        waiting: list[tuple[int, ...]] = [(first, first, last)]
        while waiting:
            first_state, between, other = waiting.pop()
            for ahead in made.alike(near[first_state], {*made.follows[between]}, far[other]):
                if ahead == (first, last, last):
                    return True
                if ahead not in seen:
                    seen.add(ahead)
                    waiting.append(ahead)
    return False


def _closure(follows: Mapping[Any, Iterable[Any]], start: Any) -> set[Any]:
    """All that can be reached from a start."""
    seen: set[Any] = set()
    waiting = [start]
    while waiting:
        new = set(follows.get(waiting.pop(), ())) - seen
        seen |= new
        waiting += new
    return seen


@lru_cache(maxsize=1024)
def _bits(pattern: str, samples: tuple[str, ...], ignores_case: bool) -> int:
    found = re.compile(pattern or r"[\s\S]", re.IGNORECASE if ignores_case else 0)
    return sum([1 << at for at, char in enumerate(samples) if found.match(char)])
