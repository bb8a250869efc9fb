"""Passes over the sound objects and lists that follow each other in a list, without reading each of them alone.

A long run of items is read as one list, up to the first error or to the end of the list: to read each of them alone
takes three times as long.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .decoder import UNSOUND, place_of_damage, read_strictly, scan_once, too_deep

#: a comma, and a list or an object without another one at its beginning
_NEXT = re.compile(r"[ \t\r\n]*(,)[ \t\r\n]*(?=[\[{](?!\s*[\[{]))")
#: After so many items, those that follow are read as one list, in windows of so many characters.
_FEW, _WINDOW = 4, 1 << 15
#: An item begins as the first one of its run does: with a bracket, or with a brace and the same key.
_HEAD = re.compile(r'\[|\{[ \t\r\n]*(?:"[^"\\]{0,40}")?')
#: how many places are tried where the last item of a run begins
_MAX_TRIES = 3
#: how far the end of an object is searched
_MAX_OBJECT = 4000
_BLANK = " \t\r\n"


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
