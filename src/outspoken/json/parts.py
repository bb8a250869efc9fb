"""The parts of sound JSON: where a part stands, which part stands at a place, and what is passed over as a whole.

A long run of items is read as one list, up to the first error or to the end of the list: to read each of them alone
takes three times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecoder
from typing import Any, NamedTuple

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
_COLON, _COMMA = [lazy_pattern(rf"[ \t\r\n]*({mark})[ \t\r\n]*") for mark in ":,"]
_decode: Callable[[str, int], tuple[Any, int]] = JSONDecoder(strict=False).raw_decode


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
        for name in path:
            part_start = None
            for part in _parts(text, start):
                if part.name == name:
                    part_start = part.start  # of a repeated key, the last one counts
                    if isinstance(name, int):
                        break
            if part_start is None:
                break
            start = part_start
        return start, _decode(text, start)[1]
    except (ValueError, IndexError, RecursionError):
        return None


class _Part(NamedTuple):
    """A part of an object or a list: its key or number, where its key ends, its value, and where its comma ends."""

    name: str | int
    named: int
    start: int
    end: int
    stop: int


def _parts(text: str, start: int) -> Iterator[_Part]:
    """The parts of the object or list that begins at a place; nothing for other values. Raises ValueError."""
    opener, at, number = text[start], BLANKS.match(text, start + 1).end(), 0
    while (opener == "{" and text[at] == '"') or (opener == "[" and text[at] != "]"):
        name, named = number, start + 1
        if opener == "{":
            name, named = _decode(text, at)
            if (colon := _COLON.match(text, named)) is None:
                raise ValueError(text[named])
            at = colon.end()
        end = _decode(text, at)[1]
        comma = _COMMA.match(text, end)
        yield _Part(name, named, at, end, comma.end(1) if comma else end)
        if comma is None:
            return
        at, number = comma.end(), number + 1


class _Open:
    """An object or a list that places are in: its path, its end, and the part that the last place was in or behind."""

    __slots__ = ("_rest", "end", "part", "path")

    def __init__(self, text: str, start: int, end: int, path: tuple[str | int, ...]) -> None:
        self.path, self.end, self._rest = path, end, _parts(text, start)
        self.part: _Part | None = None
        self.next()

    def next(self) -> None:
        """Go to the next part; to None behind the last one, and where the text is damaged."""
        try:
            self.part = next(self._rest, None)
        except (ValueError, IndexError, RecursionError):
            self.part = None


def paths_of(text: str, places: list[int]) -> list[tuple[str | int, ...]]:
    """The paths of the values that ascending places of a sound JSON text are in; a key is in its object."""
    open_ = [_Open(text, BLANKS.match(text, 0).end(), len(text) + 1, ())]
    paths: list[tuple[str | int, ...]] = []
    for place in places:
        while len(paths) < len(places):
            top, part = open_[-1], open_[-1].part
            if place >= top.end and len(open_) > 1:
                open_.pop()
            elif part is not None and place >= part.stop:
                top.next()
            elif part is not None and part.start < place < part.end and text[part.start] in "{[":
                open_.append(_Open(text, part.start, part.end, (*top.path, part.name)))
            else:
                paths.append(top.path if part is None or place < part.named else (*top.path, part.name))
                break
    return paths
