"""Where a walk over damaged JSON ends before its value does, and the JSON that the edits of a walk make."""

from __future__ import annotations

import json
import re
from typing import Any

from outspoken.results.edits import CODES, Edit

from .scanner import NotJsonError, decode
from .state import State
from .strings import Change, cut_tail, string_changes
from .tokens import CLOSING
from .walk import Walk

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


def finish(walk: Walk, s: State, *, closed: bool) -> bool:
    """Close what is open where the text ends. Returns whether what was read so far is a value.

    Where the format proves that the value has ended (`closed`), what is missing is only closing brackets. Else the
    text was cut: what is incomplete is left out, and a string is kept as far as it came.
    """
    if closed:
        if s.opened >= 0 or s.mode == "T":
            return False
        _without_member(s, walk.end, "missing-value")
    elif s.opened >= 0 and (s.mode not in "FK"):
        _cut_string(walk, s)
    elif s.mode == "T":
        return False
    elif s.mode in "KI" and s.comma and s.pending:
        s.drop(s.comma[0], walk.end, "cut-text")
        s.pending = False
    elif s.mode != "A" and (s.mode not in "EF" or s.pos < walk.end):
        _without_member(s, walk.end, "cut-text")
    if s.pending and s.comma:
        s.put(*s.comma, "", "trailing-comma")
    at = s.last if closed and (s.edits is None or s.edits[2] <= s.last) else walk.end
    for name in reversed(s.stack):
        s.put(at, at, CLOSING[name], "missing-closer" if closed else "cut-container")
    s.pos = max(s.pos, at)
    return True


def _without_member(s: State, end: int, code: str) -> None:
    """Leave out the member or item that the text ended in."""
    if s.mode == "A" or (code == "missing-value" and s.mode not in "CV"):
        return
    start = s.key if s.mode in "CVFK" else s.pos
    if s.comma:
        start, s.pending = min(s.comma[0], start), False
    if start < end:
        s.drop(start, end, code)


def _cut_string(walk: Walk, s: State) -> None:
    """The string that the text ended in, as far as it came."""
    quote = walk.text[s.opened]
    end = cut_tail(walk.text, s.opened + 1, walk.end)
    if quote != '"':
        s.put(s.opened, s.opened + 1, '"', "quote-style")
    s.edits = (s.edits, s.opened + 1, end, quote, "string")
    if end < walk.end:
        s.put(end, walk.end, "", "cut-text")
    s.put(walk.end, walk.end, '"', "cut-string")
    s.mode = "A"


def assemble(text: str, first: int, s: State, max_depth: int) -> tuple[Any, str, int, list[Change]] | None:
    """What a walk from `first` on made of the text: the value, its JSON, its end in the text and the edits."""
    changes: list[Change] = []
    entry = s.edits
    while entry is not None:
        entry, start, end, after, code = entry
        if code == "string":
            changes += reversed(string_changes(text, start, end, after))
        else:
            changes.append((start, end, after, code))
    changes.reverse()
    changes.sort(key=lambda change: change[:2])
    end = s.pos
    changes = [change for change in changes if change[1] <= end]
    made = applied(text, first, end, changes)
    if made is None:
        return None
    try:
        return decode(made, max_depth), made, end, changes
    except NotJsonError:
        return None


def applied(text: str, start: int, end: int, changes: list[Change]) -> str | None:
    """The text with the changes made; None where two of them overlap."""
    parts: list[str] = []
    pos = start
    for first, last, after, _ in changes:
        if first < pos:
            return None
        parts += (text[pos:first], after)
        pos = last
    parts.append(text[pos:end])
    return "".join(parts)


def placed_edits(made: str, start: int, offset: int, changes: list[Change]) -> tuple[Edit, ...]:
    """The changes as edits of the whole text, each with the path of the value that it is in.

    `made` is the JSON that they make of the text that begins at `start`; the changes are counted from `offset` on.
    """
    shift, places = start, list[int]()
    for first, last, after, _ in changes:
        places.append(first - shift)
        shift += last - first - len(after)
    paths = _paths(made, places)
    return tuple(
        Edit(offset + first, offset + last, after, code, CODES[code].level, path)
        for (first, last, after, code), path in zip(changes, paths, strict=True)
    )


def _paths(made: str, places: list[int]) -> list[tuple[str | int, ...]]:
    """The path to the value that each of the ascending places of a sound JSON text is in."""
    found: list[tuple[str | int, ...]] = []
    path: list[str | int] = []
    keys: list[bool] = []
    for match in _TOKEN.finditer(made):
        if match[0] in "}]":
            path.pop()
            keys.pop()
        while len(found) < len(places) and places[len(found)] < match.end():
            found.append(tuple(path[:-1] if keys and keys[-1] else path))
        if len(found) == len(places):
            break
        char = match[0][0]
        if char == '"':
            if keys and keys[-1]:
                path[-1] = json.loads(match[0], strict=False)
                keys[-1] = False
        elif char in "{[":
            path.append(0 if char == "[" else "")
            keys.append(char == "{")
        elif char == ",":
            last = path[-1]
            keys[-1] = isinstance(last, str)
            path[-1] = last + 1 if isinstance(last, int) else ""
    found += [tuple(path)] * (len(places) - len(found))
    return found
