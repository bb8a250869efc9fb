"""The parts of sound JSON: where a part stands, which part stands at a place, and what is passed over as a whole.

A long run of items is read as one list, up to the first error or to the end of the list: to read each of them alone
takes three times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecoder
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern

from .decoder import BLANKS, UNSOUND, place_of_damage, read_strictly, scan_once, too_deep

#: a comma, and a list or an object without another one at its beginning
_NEXT = lazy_pattern(r"[ \t\r\n]*(,)[ \t\r\n]*(?=[\[{](?!\s*[\[{]))")
#: After so many items, those that follow are read as one list, in windows of so many characters.
_FEW, _WINDOW = 4, 1 << 15
#: An item begins as the first one of its run does: with a bracket, or with a brace and the same key.
_HEAD = lazy_pattern(r'\[|\{[ \t\r\n]*(?:"[^"\\]{0,40}")?')
#: how many places are tried where the last item of a run begins
_MAX_TRIES = 3
#: how far the end of an object is searched
_MAX_OBJECT = 4000
_BLANK = " \t\r\n"
_DECODER = JSONDecoder()
#: A part without a place is passed over as a whole if the next place is so far away, unless that failed so often.
_FAR_PLACE, _MAX_MISSES = 48, 16
#: a string or a mark of sound JSON
_STRING_OR_MARK = lazy_pattern(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)
_decode_loosely: Callable[[str], str] = JSONDecoder(strict=False).decode


class Items(NamedTuple):
    """How many items follow, where the comma before the last of them is, and where that item ends."""

    number: int
    comma: int
    end: int


def items_behind(text: str, pos: int, limit: int, max_depth: int) -> Items | None:
    """The sound objects and lists that follow each other from a comma at `pos` on, none beyond `limit`.

    None if there are none. An item that begins with two brackets may end the run.
    """
    run: Items | None = None
    count, many = 0, True
    while item := _NEXT.match(text, pos):
        more = _long_run(text, item, limit, max_depth) if many and count >= _FEW else None
        if more is not None:
            run = Items(count + more.number, more.comma, more.end)
        else:
            many = count < _FEW
            try:
                value, end = scan_once(text, item.end())
            except UNSOUND:
                break
            if end > limit or too_deep(value, text[pos:end], max_depth):
                break
            run = Items(count + 1, item.start(1), end)
        count, pos = run.number, run.end
    return run


def end_of_object(text: str, pos: int, limit: int, max_depth: int) -> tuple[bool, int]:
    """Whether an object goes on with sound members at `pos` up to its end, and where it ends or is damaged."""
    piece = text[pos : min(limit, pos + _MAX_OBJECT)]
    try:
        value, end = scan_once("{" + piece, 0)
    except UNSOUND as error:
        return False, pos + place_of_damage(error) - 1
    return not too_deep(value, piece[: end - 1], max_depth), pos + end - 1


def _long_run(text: str, first: re.Match[str], limit: int, max_depth: int) -> Items | None:
    """The items from the `first` on that can be read as one list, and one behind them; None if no list is found."""
    begin = first.end()
    match = _HEAD.match(text, begin)
    head = match[0] if match else text[begin]
    stop = _comma_before(text, begin, min(limit, begin + _WINDOW), head)
    for _ in range(_MAX_TRIES):
        last = _comma_before(text, begin, stop, head) if stop is not None else None
        if last is None:
            return None
        try:
            count = len(read_strictly(f"[{text[begin:last]}]", max_depth + 1))
            value, end = scan_once(text, text.index(head, last))
        except UNSOUND:
            stop = _comma_before(text, begin, _damage(text, begin, last), head)
            continue
        return None if end > limit or too_deep(value, text[last:end], max_depth) else Items(count + 1, last, end)
    return None


def _damage(text: str, begin: int, end: int) -> int:
    """Where a list that goes on at `begin` is damaged."""
    try:
        scan_once("[" + text[begin:end], 0)
    except UNSOUND as error:
        return begin + max(place_of_damage(error) - 1, 0)
    return end


def _behind_last(text: str, begin: int, end: int) -> int:
    """The place behind the last character before `end` that is not blank."""
    while end > begin and text[end - 1] in _BLANK:
        end -= 1
    return end


def _comma_before(text: str, begin: int, end: int | None, head: str) -> int | None:
    """The last comma between two items of which the second begins so."""
    while (end := text.rfind(head, begin, end)) > begin:
        comma = _behind_last(text, begin, end) - 1
        if text[comma] == "," and text[_behind_last(text, begin, comma) - 1] in "}]":
            return comma
    return None


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
