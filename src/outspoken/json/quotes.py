"""Where the quotes of a text stand, what follows them, and which brackets are open there. All searches share it."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern

from .tokens import QUOTES

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
_BRACKETS = lazy_pattern(r"[(){}\[\]]")


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
        self._brackets: tuple[list[int], list[tuple[int, int, int]]] | None = None

    def places(self, quote: str) -> list[int]:
        """The places of unescaped quotes that can close a string which opens with `quote`."""
        if quote not in self._places:
            text, chars = self.text, re.escape(QUOTES[quote])
            up_to_quote = re.compile(rf"[^{chars}\\]*(?:\\.[^{chars}\\]*)*(?:([{chars}])|\\?\Z)", re.DOTALL)
            places = [match.start(1) for match in up_to_quote.finditer(text) if match.lastindex]
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

    def open_brackets(self, place: int) -> tuple[int, int, int]:
        """How many brackets of each kind are open at a place, from the start of the text, strings included."""
        if self._brackets is None:
            places, nets, open_ = [-1], [(0, 0, 0)], [0, 0, 0]
            for match in _BRACKETS.finditer(self.text):
                kind = "([{)]}".index(match[0])
                open_[kind % 3] += 1 if kind < 3 else -1
                places.append(match.start())
                nets.append((open_[0], open_[1], open_[2]))
            self._brackets = places, nets
        places, nets = self._brackets
        return nets[bisect_left(places, place) - 1]
