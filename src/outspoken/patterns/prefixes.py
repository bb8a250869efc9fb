"""What the matches of patterns begin with, and which of many patterns may match where a text stands.

A search for the markers of all formats would try each of them at every `<`. Told by their beginnings, `<tool_call>` is
tried against the few that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from .syntax import REPEATS, c, sre

#: How many characters of a marker are looked at, and how many beginnings a pattern may have.
TOLD, _MANY = 24, 40

#: Look-behinds: whether each refuses what it finds, and the classes of the characters that it looks for.
Behind = tuple[tuple[bool, str], ...]

#: A beginning, whether what was looked at after it goes on with it (where it does not, anything may follow), and what
#: must stand before it.
_Start = tuple[str, bool, Behind]
_NOTHING: _Start = ("", True, ())
#: white space of any kind, all of which is below U+3001
_BLANKS = {code: " " for code in range(0x3001) if chr(code).isspace()}
_SPACE = (c.IN, [(c.CATEGORY, c.CATEGORY_SPACE)])


@lru_cache(maxsize=512)
def _parsed(pattern: str) -> list[Any]:
    return list(sre.parse(pattern))


@lru_cache(maxsize=4096)
def prefixes(pattern: str, length: int = TOLD) -> frozenset[str]:
    """What every match begins with one of; anything may follow those that are shorter than `length` characters.

    They are shorter than they could be where there would be too many. A blank stands for white space of any kind.
    """
    items = _parsed(pattern)
    found = frozenset[str]([""])
    while "" in found and length:
        found = frozenset([start[0] for start in _sequence(items, {_NOTHING}, length, False)])
        length //= 2
    return found


class PrefixIndex:
    """Of many patterns, those that may match where a text stands, told by their beginnings.

    `groups` are the numbers of the patterns that may stand at one place, in order. All that is kept comes from the
    patterns: no text can fill it. Threads may share it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.groups: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._adding = Lock()
        self._root = _Node()
        for number, pattern in enumerate(patterns):
            for start in prefixes(pattern):
                self._root.add(number, start)
        self._passed: dict[str, int] = {}
        self._match = re.compile(self._known(self._root, "")).match

    def at(self, text: str, pos: int) -> int:
        """The number of the group that may match at a place, or begin there where the text ends soon."""
        if len(text) - pos < TOLD:
            return self._number(self._root.at(text[pos:]))
        begun: Any = self._match(text, pos)
        number = self._passed.get(begun[0])
        return self._passed[_blanked(begun[0])] if number is None else number

    def _number(self, group: tuple[int, ...]) -> int:
        number = self._numbers.get(group)
        if number is not None:
            return number
        with self._adding:
            if group not in self._numbers:
                self.groups.append(group)
                self._numbers[group] = len(self.groups) - 1
            return self._numbers[group]

    def _known(self, node: _Node, begun: str) -> str:
        """An expression for the longest of the beginnings that matter; what has begun with one of them is noted."""
        self._passed[begun] = self._number(node.passed)
        ways: list[str] = []
        for char, following in sorted(node.next.items()):
            path = char
            while len(following.next) == 1 and not following.ended:
                ((char, following),) = following.next.items()
                path += char
            ways.append(written(path) + self._known(following, begun + path))
        return f"(?:{'|'.join(ways)}|)" if ways else ""


def _blanked(text: str) -> str:
    """The text with a blank for white space of any kind."""
    return text.translate(_BLANKS)


class _Node:
    """What has begun so: `passed` are the patterns of which anything may follow, `within` those that may go on so, too.

    Both are made when they are first asked for.
    """

    __slots__ = ("next", "ended", "_above", "_passed", "_within")

    def __init__(self, above: _Node | None = None) -> None:
        self.next: dict[str, _Node] = {}
        self.ended, self._above = set[int](), above
        self._passed: tuple[int, ...] | None = None
        self._within: tuple[int, ...] | None = None

    def add(self, number: int, start: str) -> None:
        """A pattern may go on with this."""
        node = self
        for char in _blanked(start):
            node = node.next.setdefault(char, _Node(node))
        node.ended.add(number)

    def at(self, text: str) -> tuple[int, ...]:
        """The patterns that may begin with a text, or that it begins with, in order."""
        node = self
        for char in _blanked(text):
            following = node.next.get(char)
            if following is None:
                return node.passed
            node = following
        return node.within

    @property
    def passed(self) -> tuple[int, ...]:
        if self._passed is None:
            self._passed = tuple(sorted({*self.ended, *(self._above.passed if self._above else ())}))
        return self._passed

    @property
    def within(self) -> tuple[int, ...]:
        if self._within is None:
            self._within = tuple(sorted({*self.passed, *[i for node in self.next.values() for i in node.within]}))
        return self._within


def beginnings(pattern: str, length: int) -> frozenset[tuple[bool, str, Behind]]:
    """What every match begins with one of: whether white space leads, what comes then, and what is before it all.

    Where a match is nothing but white space, that is what it begins with.
    """
    found = set[tuple[bool, str, Behind]]()
    for items, folds in _ways(_parsed(pattern), False):
        for text, _, behind in _sequence(items, {_NOTHING}, length, folds, blanks=True):
            if text == " ":
                known = _sequence(items, {_NOTHING}, length, folds)
                found |= {(False, start, other) for start, _, other in known if start.isspace() or not start}
            else:
                found.add((text.startswith(" "), text.lstrip(" "), behind))
    return frozenset(found)


def _ways(items: list[Any], folds: bool) -> list[tuple[list[Any], bool]]:
    """The alternatives of a pattern, and whether each is read in any case."""
    op: Any
    value: Any
    op, value = items[0] if len(items) == 1 else (None, ())
    if op is c.SUBPATTERN:
        return _ways(list(value[-1]), folds or bool(value[1] & re.IGNORECASE))
    if op is c.BRANCH:
        return [way for branch in value[1] for way in _ways(list(branch), folds)]
    return [(items, folds)]


def written(text: str) -> str:
    """A pattern for a beginning."""
    return re.escape(text).replace("\\ ", r"\s")


def _sequence(items: list[Any], starts: set[_Start], length: int, folds: bool, *, blanks: bool = False) -> set[_Start]:
    for number, (op, value) in enumerate(items, 1):
        live = {start for start in starts if start[1] and len(start[0]) < length}
        if not live:
            break
        if op is c.ASSERT and value[0] > 0 and number == len(items):
            ahead = _sequence(list(value[1]), live, length, folds, blanks=blanks)
            return (starts - live) | {(text, False, behind) for text, _, behind in ahead}
        if op in (c.ASSERT, c.ASSERT_NOT, c.AT):
            starts = {(text, on, behind + _behind(op, value) * (on and not text)) for text, on, behind in starts}
            continue
        longer = (starts - live) | _extended(op, value, live, length, folds, blanks=blanks)
        if len(longer) > _MANY:
            return {(text, False, behind) for text, _, behind in starts}
        starts = longer
    return starts


def _behind(op: Any, value: Any) -> Behind:
    """A look-behind at some characters; none for anything else, which is not asked."""
    if op is c.AT or value[0] > 0:
        return ()
    try:
        return ((op is c.ASSERT_NOT, "".join([_class(*item) for item in value[1]])),)
    except KeyError:
        return ()


def _class(op: Any, value: Any) -> str:
    """The class of one character of a pattern. Raises KeyError for anything else."""
    items = value if op is c.IN else [(op, value)]
    return "[" + "".join([_written(*item) for item in items]) + "]"


def _written(kind: Any, value: Any) -> str:
    """A part of a class of characters. Raises KeyError where it is none."""
    if kind is c.CATEGORY:
        return _CATEGORIES[value]
    if kind is c.RANGE:
        return "-".join([re.escape(chr(code)) for code in value])
    return _SIGNS[kind] + (re.escape(chr(value)) if value is not None else "")


_SIGNS = {c.LITERAL: "", c.NOT_LITERAL: "^", c.NEGATE: "^"}
_CATEGORIES = {
    c.CATEGORY_SPACE: r"\s",
    c.CATEGORY_NOT_SPACE: r"\S",
    c.CATEGORY_WORD: r"\w",
    c.CATEGORY_NOT_WORD: r"\W",
    c.CATEGORY_DIGIT: r"\d",
    c.CATEGORY_NOT_DIGIT: r"\D",
}


def _extended(
    op: Any, value: Any, starts: set[_Start], length: int, folds: bool, *, blanks: bool = False
) -> set[_Start]:
    """The beginnings with one more item of a pattern behind them."""
    if op is c.SUBPATTERN:
        return _sequence(list(value[-1]), starts, length, folds or bool(value[1] & re.IGNORECASE), blanks=blanks)
    if op is c.BRANCH:
        ways = [_sequence(list(branch), starts, length, folds, blanks=blanks) for branch in value[1]]
        return set[_Start]().union(*ways)
    if op in REPEATS:
        low, high, body = value
        once = _sequence(list(body), starts, length, folds, blanks=blanks)
        is_blank = blanks and all(_is_blank(*item) for item in body)
        again = once if high == 1 else {(text, is_blank and text == " ", behind) for text, _, behind in once}
        return again if low else starts | again
    if blanks and _is_blank(op, value):
        begun = {start for start in starts if start[0].strip()}
        led = {(" ", True, behind) for _, _, behind in starts - begun}
        return led | (_extended(op, value, begun, length, folds) if begun else set())
    chars = {" "} if (op, value) == _SPACE else _chars(op, value, folds)
    if chars is None:
        return {(text, False, behind) for text, _, behind in starts}
    return {(text + char, True, behind) for text, _, behind in starts for char in chars}


def _is_blank(op: Any, value: Any) -> bool:
    """Is an item white space, whichever?"""
    items = value if op is c.IN else [(op, value)]
    return all(
        (kind is c.LITERAL and chr(code).isspace()) or (kind is c.CATEGORY and code is c.CATEGORY_SPACE)
        for kind, code in items
    )


def _chars(op: Any, value: Any, folds: bool) -> set[str] | None:
    """The characters that an item is one of; None where they are many."""
    items = [(op, value)] if op is c.LITERAL else value if op is c.IN else [(op, value)]
    if len(items) > 4 or not all(kind is c.LITERAL for kind, _ in items):
        return None
    found = {chr(code) for _, code in items}
    return {form for char in found for form in (char.lower(), char.upper())} if folds else found
