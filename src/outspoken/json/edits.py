"""From the edits of a walk over damaged JSON to the value: the JSON that they make, and the path of each edit."""

from __future__ import annotations

import json
import re
from typing import Any

from outspoken.results.edits import CODES, Edit

from .brackets import WalkState
from .scanner import NotJsonError, decode
from .tokens import Change, string_changes

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


def build_value(text: str, first: int, s: WalkState, max_depth: int) -> tuple[Any, str, int, list[Change]] | None:
    """Apply the edits of a walk that began at `first`.

    Returns the value, its JSON, its end in the text and the changes; None if the result is not JSON.
    """
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
    made = apply_changes(text, first, end, changes)
    if made is None:
        return None
    try:
        return decode(made, max_depth), made, end, changes
    except NotJsonError:
        return None


def apply_changes(text: str, start: int, end: int, changes: list[Change]) -> str | None:
    """text[start:end] with the changes applied; None if two of them overlap."""
    parts: list[str] = []
    pos = start
    for first, last, after, _ in changes:
        if first < pos:
            return None
        parts += (text[pos:first], after)
        pos = last
    parts.append(text[pos:end])
    return "".join(parts)


def edits_with_paths(made: str, start: int, offset: int, changes: list[Change]) -> tuple[Edit, ...]:
    """The changes as edits, each with its level and the path of the value that it is in.

    `made` is the JSON that the changes make of the text from `start` on; `offset` is added to their places.
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
    """The paths of the values that ascending places of a sound JSON text are in."""
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
