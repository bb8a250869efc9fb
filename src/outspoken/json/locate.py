"""Finds where a part of a JSON value stands in its text, and which part stands at a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json import JSONDecoder

from .items import items_behind
from .scanner import scan_once

_WHITE = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()
#: A part without a place is passed over as a whole if the next place is so far away, unless that failed so often.
_FAR_PLACE, _MAX_MISSES = 48, 16
#: a string or a mark of sound JSON
_STRING_OR_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)
_decode_loosely: Callable[[str], str] = JSONDecoder(strict=False).decode


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


def paths_of(text: str, places: list[int]) -> list[tuple[str | int, ...]]:
    """The paths of the values that ascending places of a sound JSON text are in."""
    found: list[tuple[str | int, ...]] = []
    path: list[str | int] = []
    keys: list[bool] = []
    pos = misses = 0
    rest = iter(places)
    place = next(rest, None)
    while place is not None and (match := _STRING_OR_MARK.search(text, pos)) is not None:
        char, pos = match[0][0], match.end()
        if char in "}]":
            while place is not None and place < pos and text[place : match.start()].strip():
                found.append(tuple(path))  # in the last value before the bracket
                place = next(rest, None)
            path.pop()
            keys.pop()
        while place is not None and place < pos:
            found.append(tuple(path[:-1] if keys and keys[-1] else path))
            place = next(rest, None)
        if char == '"':
            if keys and keys[-1]:
                path[-1] = _read_key(match[0])
                keys[-1] = False
        elif char in "{[":
            if path and place is not None and place - pos > _FAR_PLACE and misses < _MAX_MISSES:
                behind = scan_once(text, match.start())[1]
                if behind <= place:
                    last = path[-1]
                    items = items_behind(text, behind, place, len(text)) if isinstance(last, int) else None
                    if items is not None and isinstance(last, int):
                        path[-1] = last + items.count
                    pos = items.end if items is not None else behind
                    continue
                misses += 1
            path.append(0 if char == "[" else "")
            keys.append(char == "{")
        elif char == ",":
            last = path[-1]
            keys[-1] = isinstance(last, str)
            path[-1] = last + 1 if isinstance(last, int) else ""
    return found + [tuple(path)] * (len(places) - len(found))


def _read_key(written: str) -> str:
    return _decode_loosely(written) if "\\" in written else written[1:-1]
