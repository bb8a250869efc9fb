"""Random strings that match a regular expression, and which of its alternatives they took."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from outspoken.patterns.syntax import sre_constants as c
from outspoken.patterns.syntax import sre_parser as sre

#: How often an unbounded or widely bounded repeat is repeated beyond its least.
_OFTEN = (0, 0, 1, 1, 2, 4)
_LETTERS = "abcxyzABC019_é漢"
_OTHERS = " -./:;!?“🦉"
_CLASSES: dict[Any, tuple[str, str]] = {
    c.CATEGORY_DIGIT: ("0123456789", "aZ_ "),
    c.CATEGORY_SPACE: (" \n\t", "aZ0_"),
    c.CATEGORY_WORD: (_LETTERS, _OTHERS),
    c.CATEGORY_NOT_DIGIT: ("aZ_ ", "0123456789"),
    c.CATEGORY_NOT_SPACE: ("aZ0_", " \n\t"),
    c.CATEGORY_NOT_WORD: (_OTHERS, _LETTERS),
}
#: What may stand for any character.
_ANY = f"{_LETTERS}{_OTHERS}\"'<>{{}}\n"

#: One branch of an alternative in a pattern: the alternative's number in it, and the branch's.
Branch = tuple[int, int]


@cache
def _tree(pattern: str) -> tuple[Any, dict[int, int]]:
    """The parsed pattern, and its alternatives, each with its number."""
    tree = sre.parse(pattern)
    numbers: dict[int, int] = {}
    _number(tree, numbers)
    return tree, numbers


def _number(items: Any, numbers: dict[int, int]) -> None:
    for op, value in items:
        if op is c.BRANCH:
            numbers[id(value)] = len(numbers)
            for branch in value[1]:
                _number(branch, numbers)
        elif op is c.SUBPATTERN or op in _REPEATS:
            _number(value[-1], numbers)


_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT)


def branches(pattern: str) -> set[Branch]:
    """All branches of the alternatives in a pattern, but for those inside look-arounds."""
    tree, numbers = _tree(pattern)
    found: set[Branch] = set()
    _branches(tree, numbers, found)
    return found


def _branches(items: Any, numbers: dict[int, int], found: set[Branch]) -> None:
    for op, value in items:
        if op is c.BRANCH:
            found.update((numbers[id(value)], i) for i in range(len(value[1])))
            for branch in value[1]:
                _branches(branch, numbers, found)
        elif op is c.SUBPATTERN or op in _REPEATS:
            _branches(value[-1], numbers, found)


class Sampler:
    """Makes strings that match patterns. `taken` are the branches that the string made last took.

    Those that are `wanted` are taken where they can be.

    Look-arounds are not looked at: what is made has to be matched in its place, and made again where it does not.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._numbers: dict[int, int] = {}
        self.taken: set[Branch] = set()
        self.wanted: set[Branch] = set()
        self._makers: dict[Any, Callable[[Any, bool], str]] = {
            c.LITERAL: lambda value, fold: self._cased(chr(value), fold),
            c.NOT_LITERAL: lambda value, fold: self._one_of(_ANY, chr(value)),
            c.ANY: lambda value, fold: self._one_of(_ANY, "\n"),
            c.IN: lambda value, fold: self._cased(self._in(value), fold),
            c.BRANCH: self._branch,
            c.SUBPATTERN: self._group,
            c.MAX_REPEAT: self._repeat,
            c.MIN_REPEAT: self._repeat,
        }

    def sample(self, pattern: str) -> str:
        """A string that matches the pattern, but for its look-arounds."""
        tree, self._numbers = _tree(pattern)
        self.taken = set()
        return self._sequence(tree, False)

    def _sequence(self, items: Any, fold: bool) -> str:
        return "".join([self._makers[op](value, fold) for op, value in items if op in self._makers])

    def _cased(self, char: str, fold: bool) -> str:
        return char.swapcase() if fold and self._random.random() < 0.2 and len(char.swapcase()) == 1 else char

    def _one_of(self, chars: str, without: str) -> str:
        return self._random.choice([char for char in chars if char not in without])

    def _in(self, items: Any) -> str:
        negated = items[0][0] is c.NEGATE
        if negated:
            return self._outside(items[1:])
        op, value = self._random.choice(items)
        if op is c.LITERAL:
            return chr(value)
        if op is c.RANGE:
            return chr(self._random.randint(*value))
        return self._random.choice(_CLASSES[value][0])

    def _outside(self, items: Any) -> str:
        """A character that is in none of the items of a set."""
        return self._random.choice(_outside(tuple(items)))

    def _branch(self, value: Any, fold: bool) -> str:
        number = self._numbers[id(value)]
        wanted = [at for at, branch in enumerate(value[1]) if (number, at) in self.wanted or self._leads(branch)]
        at = self._random.choice(wanted or range(len(value[1])))
        self.taken.add((number, at))
        return self._sequence(value[1][at], fold)

    def _leads(self, branch: Any) -> bool:
        """Does a branch hold others that are wanted?"""
        within: set[Branch] = set()
        if self.wanted:
            _branches(branch, self._numbers, within)
        return not within.isdisjoint(self.wanted)

    def _group(self, value: Any, fold: bool) -> str:
        return self._sequence(value[-1], fold or bool(value[1] & int(c.SRE_FLAG_IGNORECASE)))

    def _repeat(self, value: Any, fold: bool) -> str:
        low, high, body = value
        most = 1 if high is c.MAXREPEAT or high > 1 else high
        often = low + (self._random.choice(_OFTEN) if most == 1 and high != 1 else self._random.randint(0, high - low))
        often = often if high is c.MAXREPEAT else min(often, high)
        return "".join([self._sequence(body, fold) for _ in range(often)])


@cache
def _outside(items: tuple[tuple[Any, Any], ...]) -> list[str]:
    barred = [item for item in items if item[0] is not c.CATEGORY]
    chars = [char for char in _ANY if not any(_holds(item, char) for item in barred)]
    for op, value in items:
        if op is c.CATEGORY:
            chars = [char for char in chars if not _is_of(value, char)]
    return chars


def _holds(item: tuple[Any, Any], char: str) -> bool:
    op, value = item
    return chr(value) == char if op is c.LITERAL else value[0] <= ord(char) <= value[1]


def _is_of(category: Any, char: str) -> bool:
    if category in (c.CATEGORY_SPACE, c.CATEGORY_NOT_SPACE):
        return char.isspace() == (category is c.CATEGORY_SPACE)
    if category in (c.CATEGORY_DIGIT, c.CATEGORY_NOT_DIGIT):
        return char.isdecimal() == (category is c.CATEGORY_DIGIT)
    return (char.isalnum() or char == "_") == (category is c.CATEGORY_WORD)
