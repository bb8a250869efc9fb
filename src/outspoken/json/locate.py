"""Finds where a part of a JSON value stands in its text, and which part stands at a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecoder

from .decoder import BLANKS, scan_once
from .items import end_of_object, items_behind

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
        start = BLANKS.match(text, 0).end()
        for part in path:
            found = None
            for name, place in _parts(text, start):
                if name == part:
                    found = place  # of a repeated key, the last one counts
                    if isinstance(part, int):
                        break
            if found is None:
                break
            start = found
        return start, _DECODER.raw_decode(text, start)[1]
    except (ValueError, IndexError, RecursionError):
        return None


def _parts(text: str, start: int) -> Iterator[tuple[str | int, int]]:
    """The key or the number of each part of an object or a list, and where it begins; nothing for other values."""
    opener, at, number = text[start], BLANKS.match(text, start + 1).end(), 0
    while (opener == "{" and text[at] == '"') or (opener == "[" and text[at] != "]"):
        name: str | int = number
        if opener == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = BLANKS.match(text, at).end()
            if text[at] != ":":
                raise ValueError(text[at])
            at = BLANKS.match(text, at + 1).end()
        yield name, at
        at = BLANKS.match(text, _DECODER.raw_decode(text, at)[1]).end()
        if text[at] != ",":
            return
        at, number = BLANKS.match(text, at + 1).end(), number + 1


def paths_of(text: str, places: list[int]) -> list[tuple[str | int, ...]]:
    """The paths of the values that ascending places of a sound JSON text are in."""
    walk = _PathWalk(text)
    found: list[tuple[str | int, ...]] = []
    rest = iter(places)
    place = next(rest, None)
    while place is not None and (match := _STRING_OR_MARK.search(text, walk.pos)) is not None:
        end = match.end()
        if match[0] in "}]":
            while place is not None and place < end and text[place : match.start()].strip():
                found.append(tuple(walk.path))  # in the last value before the bracket
                place = next(rest, None)
            walk.close()
        while place is not None and place < end:
            found.append(tuple(walk.path[:-1] if walk.is_key else walk.path))
            place = next(rest, None)
        walk.read(match, place or 0)
    return found + [tuple(walk.path)] * (len(places) - len(found))


class _PathWalk:
    """A walk over the tokens of sound JSON: where it is, the path of the value there, and whether a key is next."""

    def __init__(self, text: str) -> None:
        self.text, self.pos, self.path = text, 0, list[str | int]()
        #: for each open bracket, whether a key is next
        self._keys: list[bool] = []
        self._misses = 0

    @property
    def is_key(self) -> bool:
        return bool(self._keys) and self._keys[-1]

    def close(self) -> None:
        """A bracket is closed."""
        self.path.pop()
        self._keys.pop()

    def read(self, match: re.Match[str], place: int) -> None:
        """Go behind a token, or behind more that stands before the next place."""
        char, self.pos = match[0][0], match.end()
        far = place - self.pos > _FAR_PLACE and self._misses < _MAX_MISSES
        if char == '"' and self.is_key:
            self.path[-1] = _read_key(match[0])
            self._keys[-1] = False
        elif char in "{[" and not (far and self.path and self._pass_value(match.start(), place)):
            self.path.append(0 if char == "[" else "")
            self._keys.append(char == "{")
        elif char == ",":
            last = self.path[-1]
            self.path[-1] = last + 1 if isinstance(last, int) else ""
            self._keys[-1] = isinstance(last, str)
            if far and self._keys[-1]:
                sound, end = end_of_object(self.text, self.pos, place, len(self.text))
                self.pos, self._misses = (end - 1, self._misses) if sound else (self.pos, self._misses + 1)

    def _pass_value(self, start: int, place: int) -> bool:
        """Pass over an object or a list that ends before a place, and the items of the list behind it."""
        behind = scan_once(self.text, start)[1]
        if behind > place:
            self._misses += 1
            return False
        last = self.path[-1]
        items = items_behind(self.text, behind, place, len(self.text)) if isinstance(last, int) else None
        self.pos = items.end if items is not None else behind
        if items is not None and isinstance(last, int):
            self.path[-1] = last + items.number
        return True


def _read_key(written: str) -> str:
    return _decode_loosely(written) if "\\" in written else written[1:-1]
