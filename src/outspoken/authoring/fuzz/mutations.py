"""Random changes of texts: cut, doubled, swapped, mixed and misspelled parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

#: What is put in the place of a character, or between two.
_CHARS = "\"'`{}[]()<>|:=,.\\/ \n\tae0é“”’🦉\x00\u2028\ufeff"
_MARKERS = re.compile(r"<[^<>\n]{1,40}>|```\w*|[\[\]{}(),:=]|[A-Z][A-Za-z_]{3,20}:")
_QUOTES = {'"': "'", "'": '"', "“": '"'}
_WORDS = ("quince", " and then ", "\nNote: ", "0")


@dataclass(frozen=True)
class Mutator:
    """Changes texts. `others` are responses of any format, of which pieces are put into a text."""

    random: Random
    others: Sequence[str]

    def __call__(self, text: str, most: int = 3) -> str:
        """The text with one change or more."""
        for _ in range(self.random.randint(1, most)):
            text = self.random.choice(CHANGES)(self, text)
        return text

    def span(self, text: str, most: int = 16) -> tuple[int, int]:
        """A part of a text, which may be empty."""
        start = self.random.randrange(len(text) + 1)
        return start, min(len(text), start + self.random.randint(1, most))

    def marker(self, text: str) -> tuple[int, int]:
        """A part of a text that looks like a marker; any part where none does."""
        spans = [match.span() for match in _MARKERS.finditer(text)]
        return self.random.choice(spans) if spans else self.span(text)

    def piece(self) -> str:
        """A piece of another response."""
        other = self.random.choice(self.others)
        start, end = self.random.choice((self.span, self.marker))(other)
        return other[start:end]


def cut_end(mutator: Mutator, text: str) -> str:
    return text[: mutator.span(text)[0]]


def cut_start(mutator: Mutator, text: str) -> str:
    return text[mutator.span(text)[0] :]


def delete(mutator: Mutator, text: str) -> str:
    start, end = mutator.span(text)
    return text[:start] + text[end:]


def double(mutator: Mutator, text: str) -> str:
    start, end = mutator.span(text, 60)
    return text[:end] + text[start:]


def swap(mutator: Mutator, text: str) -> str:
    (a, b), (c, d) = sorted((mutator.span(text, 40), mutator.span(text, 40)))
    b = min(b, c)
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def insert_piece(mutator: Mutator, text: str) -> str:
    at = mutator.span(text)[0]
    return text[:at] + mutator.piece() + text[at:]


def mix(mutator: Mutator, text: str) -> str:
    """The beginning of a text and the end of another, or the other way round."""
    other = mutator.random.choice(mutator.others)
    first, last = mutator.random.choice(((text, other), (other, text)))
    return first[: mutator.span(first)[0]] + last[mutator.span(last)[0] :]


def change_character(mutator: Mutator, text: str) -> str:
    at = mutator.span(text)[0]
    return text[:at] + mutator.random.choice(_CHARS) + text[at + mutator.random.randint(0, 1) :]


def drop_marker(mutator: Mutator, text: str) -> str:
    start, end = mutator.marker(text)
    return text[:start] + text[end:]


def double_marker(mutator: Mutator, text: str) -> str:
    start, end = mutator.marker(text)
    return text[:end] + text[start:end] + text[end:]


def misspell_marker(mutator: Mutator, text: str) -> str:
    start, end = mutator.marker(text)
    marker = text[start:end]
    at = mutator.random.randrange(len(marker)) if marker else 0
    return text[:start] + marker[:at] + marker[at + 1 :] + text[end:]


def change_case(mutator: Mutator, text: str) -> str:
    start, end = mutator.marker(text)
    return text[:start] + text[start:end].swapcase() + text[end:]


def change_quotes(mutator: Mutator, text: str) -> str:
    start, end = mutator.span(text, 60)
    return text[:start] + "".join([_QUOTES.get(char, char) for char in text[start:end]]) + text[end:]


def text_between(mutator: Mutator, text: str) -> str:
    at = mutator.random.choice(mutator.marker(text))
    return text[:at] + mutator.random.choice(_WORDS) + text[at:]


#: All changes, by what their functions are called.
CHANGES: tuple[Callable[[Mutator, str], str], ...] = (
    cut_end, cut_start, delete, double, swap, insert_piece, mix, change_character, drop_marker, double_marker,
    misspell_marker, change_case, change_quotes, text_between,
)  # fmt: skip
