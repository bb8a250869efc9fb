"""Where the quotes of a text stand, what follows them, and whether the brackets between them are balanced.

All searches share it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate, chain, count
from operator import add
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern

from .tokens import QUOTES, is_escaped

#: quotes that are apostrophes, too
SINGLE = "'‘"

_NAME = (
    r"""(?:"(?P<name>[^"\\\n]{1,64})"|'(?P<single>[^'\\\n]{1,64})'|[“„‘＂＇「『«`](?P<wide>[^”“’＂＇」』»`\n]{1,64})[”“’＂＇」』»`]"""
    r"""|"?(?P<bare>[A-Za-z_]\w{0,40})"?)\s*[:：]"""
)
_COMMENT = r"(?:(?://|\#)[^\n]{0,200}\n\s{0,200}|/\*[^*]{0,200}\*/\s{0,200}){0,4}"
#: what may follow the closing quote of a string
_FOLLOW = lazy_pattern(
    rf"\s{{0,200}}(?:(?:[,，]\s*{_COMMENT}|\n\s{{0,200}}){_NAME}|(?P<close>[,，]?\s{{0,200}}{_COMMENT}[}}\])｝］】])|(?P<comma>[,;，、])|(?P<colon>[:：=])"
    r"|(?P<end>\Z)|(?P<comment>//|\#|/\*))",
    re.DOTALL,
)


class Follow(NamedTuple):
    """What follows a quote: its kind, and the key if it is one."""

    kind: str
    key: str


class Quotes:
    """The quotes of a text. What is found out is kept."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: dict[str, list[int]] = {}
        self._follows: dict[int, Follow] = {}
        self._chars: dict[str, list[int]] = {}

    def _places_of(self, char: str) -> list[int]:
        """Where a character stands."""
        if char not in self._chars:
            parts = self.text.split(char)[:-1]
            self._chars[char] = list(map(add, accumulate(map(len, parts)), count()))
        return self._chars[char]

    def places(self, quote: str) -> list[int]:
        """The places of unescaped quotes that can close a string which opens with `quote`."""
        if quote not in self._places:
            text = self.text
            places = sorted(chain.from_iterable(map(self._places_of, QUOTES[quote])))
            if "\\" in text:
                places = [place for place in places if text[place - 1] != "\\" or not is_escaped(text, 0, place)]
            if quote in SINGLE:
                places = [place for place in places if not text[place + 1 : place + 2].isalnum()]
            self._places[quote] = places
        return self._places[quote]

    def follow(self, place: int) -> Follow:
        """What follows the quote at a place."""
        found = self._follows.get(place)
        if found is None:
            match = _FOLLOW.match(self.text, place + 1)
            name = next(filter(None, match.group("name", "single", "wide", "bare")), "") if match else ""
            found = Follow("key" if name else (match.lastgroup or "") if match else "", name)
            self._follows[place] = found
        return found

    def is_balanced(self, start: int, end: int) -> bool:
        """Are as many brackets of each kind opened as closed between two places, strings included?"""
        for pair in ("()", "[]", "{}"):
            opening, closing = map(self._places_of, pair)
            if bisect_left(opening, end) - bisect_left(opening, start) != (
                bisect_left(closing, end) - bisect_left(closing, start)
            ):
                return False
        return True
