"""Texts that match a regular expression: a short example, or random ones with the alternatives that they take.

Look-arounds are ignored: match a text in its place before you rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from random import Random

from outspoken.patterns.syntax import UNBOUNDED, Alternatives, Chars, Group, Node, Reference, Repeat, Sequence, parse

#: The branch of an alternative: the number of the alternative in the pattern, and that of the branch.
Branch = tuple[int, int]

#: The characters for an example, the most readable ones first.
_READABLE = "ax1 _-\n:=,.<>{}[]()\"'/|`" + "".join(map(chr, range(33, 127)))

_WORD, _OTHER = "abcxyzABC019_é漢", " -./:;!?“🦉"
_CATEGORIES = {r"\d": "0123456789", r"\s": " \n\t", r"\w": _WORD, r"\D": "aZ_ ", r"\S": "aZ0_", r"\W": _OTHER}
#: The characters for negated classes and `.`.
_ANY = f"{_WORD}{_OTHER}\"'<>{{}}\n"
#: How often an unbounded or widely bounded repeat is repeated beyond its minimum.
_REPETITIONS = (0, 0, 1, 1, 2, 4)


def example(pattern: str) -> str:
    """A short text that matches; "" for a pattern that is not valid."""
    try:
        return _shortest(parse(pattern), {})
    except re.error:
        return ""


def _shortest(items: Sequence, groups: dict[int, str]) -> str:
    return "".join([_shortest_of(node, groups) for node in items])


def _shortest_of(node: Node, groups: dict[int, str]) -> str:
    if isinstance(node, Chars):
        return next(iter(_matching(node, (*_READABLE, *node.literals, *[low for low, _ in node.ranges]))), "")
    if isinstance(node, Alternatives):
        return min([_shortest(branch, groups) for branch in node.branches], key=len)
    if isinstance(node, Repeat):
        return _shortest(node.body, groups) * node.low
    if isinstance(node, Group):
        text = _shortest(node.body, groups)
        groups |= {} if node.number is None else {node.number: text}
        return text
    return groups.get(node.group, "") if isinstance(node, Reference) else ""


@cache
def _matching(chars: Chars, choices: tuple[str, ...]) -> list[str]:
    """The characters of a class among some."""
    matches = re.compile(chars.pattern() or ".").fullmatch
    return [char for char in choices if matches(char)]


@cache
def _numbered(pattern: str) -> tuple[Sequence, dict[int, int]]:
    """A pattern, and the number of each of its alternatives by identity."""
    tree = parse(pattern)
    return tree, {id(node): number for number, node in enumerate(_alternatives(tree))}


def _alternatives(items: Sequence) -> Iterator[Alternatives]:
    for node in items:
        if isinstance(node, Alternatives):
            yield node
            for branch in node.branches:
                yield from _alternatives(branch)
        elif isinstance(node, (Group, Repeat)):
            yield from _alternatives(node.body)


def branches(pattern: str) -> set[Branch]:
    """All branches of the alternatives in a pattern, except those inside look-arounds."""
    tree, numbers = _numbered(pattern)
    return {(numbers[id(node)], i) for node in _alternatives(tree) for i in range(len(node.branches))}


class RegexSampler:
    """Makes random texts that match. `taken` are the branches of the last text; `wanted` ones are preferred."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._numbers: dict[int, int] = {}
        self.taken: set[Branch] = set()
        self.wanted: set[Branch] = set()

    def sample(self, pattern: str) -> str:
        """A text that matches the pattern."""
        tree, self._numbers = _numbered(pattern)
        self.taken = set()
        return self._sequence(tree, False)

    def _sequence(self, items: Sequence, ignores_case: bool) -> str:
        return "".join([self._one(node, ignores_case) for node in items])

    def _one(self, node: Node, ignores_case: bool) -> str:
        if isinstance(node, Chars):
            char = self._character(node)
            swaps = ignores_case and self._random.random() < 0.2 and len(char.swapcase()) == 1
            return char.swapcase() if swaps else char
        if isinstance(node, Alternatives):
            return self._branch(node, ignores_case)
        if isinstance(node, Repeat):
            return "".join([self._sequence(node.body, ignores_case) for _ in range(self._times(node.low, node.high))])
        return self._sequence(node.body, ignores_case or node.ignores_case) if isinstance(node, Group) else ""

    def _character(self, chars: Chars) -> str:
        options = [*chars.literals, *chars.ranges, *chars.categories]
        if chars.negated or not options:
            return self._random.choice(_matching(chars, tuple(_ANY)))
        option = options[0] if len(options) == 1 and chars.only_literals else self._random.choice(options)
        if isinstance(option, tuple):
            return chr(self._random.randint(*map(ord, option)))
        return self._random.choice(_CATEGORIES[option]) if option in _CATEGORIES else option

    def _branch(self, node: Alternatives, ignores_case: bool) -> str:
        number = self._numbers[id(node)]
        wanted = [i for i, branch in enumerate(node.branches) if (number, i) in self.wanted or self._leads_on(branch)]
        chosen = self._random.choice(wanted or range(len(node.branches)))
        self.taken.add((number, chosen))
        return self._sequence(node.branches[chosen], ignores_case)

    def _leads_on(self, branch: Sequence) -> bool:
        """Whether a branch contains others that are wanted."""
        return bool(self.wanted) and any(
            (self._numbers[id(node)], i) in self.wanted
            for node in _alternatives(branch)
            for i in range(len(node.branches))
        )

    def _times(self, low: int, high: int) -> int:
        if high <= 1:
            return self._random.randint(low, high)
        times = low + self._random.choice(_REPETITIONS)
        return times if high == UNBOUNDED else min(times, high)
