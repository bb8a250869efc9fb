"""Regular expressions as trees of typed nodes.

Python's parser of regular expressions is private (`re._parser`; `sre_parse` before Python 3.11), and there is no public
one. This module is the only one in the library that uses it; `tests/patterns/test_patterns.py` fails if what it
returns changes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from .lazy import lazy_pattern

_NEW = sys.version_info >= (3, 11)
sre_constants: Any = import_module("re._constants" if _NEW else "sre_constants")
sre_parser: Any = import_module("re._parser" if _NEW else "sre_parse")

#: The largest number of repetitions, for repeats without an upper bound.
UNBOUNDED = int(sre_constants.MAXREPEAT)
SPACE = r"\s"


class Chars(NamedTuple):
    """One character of a class. `categories` are escapes such as `\\s`; `.` excludes nothing."""

    literals: tuple[str, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()
    categories: tuple[str, ...] = ()
    negated: bool = False

    @property
    def only_literals(self) -> bool:
        """Are all characters of the class listed?"""
        return not (self.negated or self.ranges or self.categories)

    @property
    def is_space(self) -> bool:
        """Does the class contain nothing but white space?"""
        if self.negated or self.ranges or self.categories not in ((), (SPACE,)):
            return False
        return all(char.isspace() for char in self.literals)

    def pattern(self) -> str:
        """The class as a regular expression; "" for `.`."""
        ranges = [f"{re.escape(low)}-{re.escape(high)}" for low, high in self.ranges]
        listed = "".join([*map(re.escape, self.literals), *ranges, *self.categories])
        return f"[{'^' * self.negated}{listed}]" if listed else ""


class Alternatives(NamedTuple):
    """`a|b`"""

    branches: tuple[Sequence, ...]


class Repeat(NamedTuple):
    """`a{low,high}`, greedy or not; `width` is the least and the greatest length of `a`"""

    low: int
    high: int
    body: Sequence
    width: tuple[int, int]


class Group(NamedTuple):
    """`(a)`, `(?:a)` or `(?i:a)`"""

    body: Sequence
    ignores_case: bool
    number: int | None = None


class Reference(NamedTuple):
    """`\\1`"""

    group: int


class Look(NamedTuple):
    """`(?=a)`, `(?!a)`, `(?<=a)` or `(?<!a)`; `width` is as for repeats"""

    body: Sequence
    is_ahead: bool
    is_negative: bool
    width: tuple[int, int]


class Position(NamedTuple):
    """`^`, `$`, `\\b` and the like"""

    is_end: bool


class Other(NamedTuple):
    """Anything else: no analysis looks into it."""


Node = Chars | Alternatives | Repeat | Group | Reference | Look | Position | Other
Sequence = tuple[Node, ...]


@lru_cache(maxsize=1024)
def parse(pattern: str) -> Sequence:
    """The nodes of a pattern. Raises `re.error` for a pattern that is not valid."""
    return _sequence(sre_parser.parse(pattern))


def nodes_in(items: Sequence) -> Iterator[Node]:
    """All nodes of a pattern, also those in others."""
    for item in items:
        yield item
        bodies = item.branches if isinstance(item, Alternatives) else ()
        for body in (item.body,) if isinstance(item, Repeat | Group | Look) else bodies:
            yield from nodes_in(body)


_c = sre_constants
_REPEATS = (_c.MAX_REPEAT, _c.MIN_REPEAT, getattr(_c, "POSSESSIVE_REPEAT", _c.MAX_REPEAT))
_CATEGORIES: dict[Any, str] = {
    _c.CATEGORY_SPACE: SPACE,
    _c.CATEGORY_NOT_SPACE: r"\S",
    _c.CATEGORY_WORD: r"\w",
    _c.CATEGORY_NOT_WORD: r"\W",
    _c.CATEGORY_DIGIT: r"\d",
    _c.CATEGORY_NOT_DIGIT: r"\D",
}


def _sequence(items: Any) -> Sequence:
    return tuple([_node(op, value) for op, value in items])


def _node(op: Any, value: Any) -> Node:
    if op is _c.LITERAL:
        return Chars((chr(value),))
    if op is _c.IN:
        return _class(value)
    if op is _c.SUBPATTERN:
        return Group(_sequence(value[-1]), bool(value[1] & re.IGNORECASE), value[0])
    if op in _REPEATS:
        return Repeat(value[0], int(value[1]), _sequence(value[2]), value[2].getwidth())
    if op is _c.BRANCH:
        return Alternatives(tuple([_sequence(branch) for branch in value[1]]))
    if op in (_c.ASSERT, _c.ASSERT_NOT):
        return Look(_sequence(value[1]), value[0] > 0, op is _c.ASSERT_NOT, value[1].getwidth())
    if op is _c.AT:
        return Position(value in (_c.AT_END, _c.AT_END_STRING))
    if op is _c.GROUPREF:
        return Reference(value)
    if op is _c.NOT_LITERAL:
        return Chars((chr(value),), negated=True)
    return Chars(negated=True) if op is _c.ANY else Other()


def _class(items: Any) -> Chars:
    literals = tuple([chr(value) for kind, value in items if kind is _c.LITERAL])
    ranges = tuple([(chr(value[0]), chr(value[1])) for kind, value in items if kind is _c.RANGE])
    categories = tuple([_CATEGORIES[value] for kind, value in items if kind is _c.CATEGORY])
    return Chars(literals, ranges, categories, items[0][0] is _c.NEGATE)


#: An escape, a class, an empty group or the parenthesis of a capturing group.
_TOKEN = lazy_pattern(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\)|\((?!\?)", re.DOTALL)


def without_groups(pattern: str) -> str:
    """The pattern with its capturing groups made plain, so that those of a pattern round it keep their numbers."""
    return _TOKEN.sub(lambda found: "(?:" + found[0][1:] if found[0][0] == "(" else found[0], pattern)
