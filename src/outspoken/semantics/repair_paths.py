"""The paths of repairs: where in the arguments of a call a change of its JSON was made."""

from __future__ import annotations

from outspoken.json.scanner import paths_of
from outspoken.results.edits import Edit

from .recorder import Source


def set_paths(edits: list[Edit], text: str, start: int, end: int, key: str | None = None) -> None:
    """Give the edits their paths in the arguments of a call, of which the value from `start` to `end` is complete.

    `text` is the JSON of the value, with the edits in it. The value is that of the argument `key`, or holds all
    arguments; then edits outside of it, as those of the call's other keys, have no path.
    """
    order = sorted(range(len(edits)), key=lambda number: edits[number][:2])
    inside = [number for number in order if start <= edits[number].start and edits[number].end <= end]
    places, shift = list[int](), start
    for number in inside:
        edit = edits[number]
        places.append(edit.start - shift)
        shift += edit.end - edit.start - len(edit.after)
    prefix = () if key is None else (key,)
    paths = dict(zip(inside, paths_of(text, places), strict=True))
    for number, edit in enumerate(edits):
        if edit.level == "markup":
            continue
        if number in paths:
            edits[number] = edit._replace(path=(*prefix, *paths[number]))
        elif key is None:
            edits[number] = edit._replace(path=())


def set_paths_before(edits: list[Edit], text: str, key: str, begun: int, end: int, source: Source) -> None:
    """The same for the argument `key`, whose value ends at `end` or before white space there.

    Its value stands somewhere behind `begun`: its edits tell how long it is.
    """
    inside = [edit for edit in edits if begun <= edit.start and edit.end <= end]
    if not inside:
        return
    last = begun + len(source.slice(begun, end).rstrip())
    length = len(text) + sum([edit.end - edit.start - len(edit.after) for edit in inside])
    set_paths(edits, text, last - length, max(last, *[edit.end for edit in inside]), key)
