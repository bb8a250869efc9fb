"""Finds where a part of a JSON value stands in its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecoder

_WHITE = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()


def span_at(text: str, path: Sequence[str | int]) -> tuple[int, int] | None:
    """Where the part at a path begins and ends in sound JSON; the object in which a key is missing.

    None if the text is damaged before that part.
    """
    try:
        start = _skip(text, 0)
        for part in path:
            found = _member(text, start, part) if isinstance(part, str) else _item(text, start, part)
            if found is None:
                break
            start = found
        return start, _DECODER.raw_decode(text, start)[1]
    except (ValueError, IndexError, RecursionError):
        return None


def _skip(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    return at if match is None else match.end()


def _member(text: str, start: int, key: str) -> int | None:
    """Where the value of a key begins; of several, the last one counts."""
    if text[start] != "{":
        return None
    found, at = None, _skip(text, start + 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] != ":":
            raise ValueError(text[at])
        at = _skip(text, at + 1)
        found = at if name == key else found
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        if text[at] != ",":
            break
        at = _skip(text, at + 1)
    return found


def _item(text: str, start: int, number: int) -> int | None:
    """Where an item of a list begins."""
    if text[start] != "[":
        return None
    at = _skip(text, start + 1)
    for _ in range(number):
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        if text[at] != ",":
            return None
        at = _skip(text, at + 1)
    return None if text[at] == "]" else at
