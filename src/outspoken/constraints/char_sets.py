"""Sets of characters as ranges of code points, and their partition into classes that no set tells apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from outspoken.patterns import syntax

#: The first and the last code point of a range of characters.
Range: TypeAlias = tuple[int, int]
#: Ranges in their order, which do not touch.
CharSet: TypeAlias = tuple[Range, ...]

_LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
#: All characters that UTF-8 can encode.
ANY_CHAR: CharSet = ((0, _SURROGATES[0] - 1), (_SURROGATES[1] + 1, _LAST))


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
    chars = char_set(ranges)
    return negated(chars) if node.negated else both(chars, ANY_CHAR)


def partition(sets: Iterable[CharSet]) -> tuple[list[CharSet], dict[CharSet, tuple[int, ...]]]:
    """The classes of characters that no set tells apart, in the order of their first ones, and the classes of each set.

    Characters that are in no set are in no class.
    """
    numbers = {chars: number for number, chars in enumerate(dict.fromkeys(sets))}
    borders: dict[int, int] = {}
    for chars, number in numbers.items():
        for low, high in chars:
            borders[low] = borders.get(low, 0) ^ 1 << number
            borders[high + 1] = borders.get(high + 1, 0) ^ 1 << number
    ranges: dict[int, list[Range]] = {}
    inside, at = 0, 0
    for border in sorted(borders):
        if inside:
            ranges.setdefault(inside, []).append((at, border - 1))
        inside ^= borders[border]
        at = border
    classes = [char_set(some) for some in ranges.values()]
    by_set = {chars: tuple([at for at, held in enumerate(ranges) if held >> n & 1]) for chars, n in numbers.items()}
    return classes, by_set
