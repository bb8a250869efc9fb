"""A JSON string that holds a part of the response: what is in it, and where that stands in the text round it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .json_codes import Cap
from .notes import Note
from .replies import Status
from .settings import Settings

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)


class Quoted(NamedTuple):
    """The actions that a string holds, and what is said of them; their spans count in the text round the string."""

    actions: list[Any]
    notes: list[Note]
    status: Status


def read_quoted(format: str, text: str, raw: str, start: int, settings: Settings, cap: Cap) -> Quoted:
    """Read what a string says, `text`, as a response of a format. The string is `raw`, which stands at `start`."""
    from .reading import Reading

    reply = Reading(format, None, "", "keep", cap, settings, None).read(text, "stop")
    places = _places(text, raw)
    notes: list[Note] = []
    for said in reply.diagnostics:
        span = (start + places[said.span[0]], start + places[said.span[1]])
        notes.append(Note(said.code, said.message, span, said.severity, format, said.label, said.notes, said.helps))
    actions: list[Any] = []
    for segment in reply.segments:
        if segment.kind == "action":
            begin, end = places[segment.span[0]], places[segment.span[1]]
            update = {"span": (start + begin, start + end), "raw": raw[begin:end]}
            actions.append(segment.model_copy(update=update))
    return Quoted(actions, notes, reply.status)


def _places(text: str, raw: str) -> list[int]:
    """Where each character of a string stands in how it is written, and where its end does."""
    inner = raw[1:-1]
    found = list(_CHARACTER.finditer(inner))
    if len(found) == len(text) and all(m[0] == char or m[0][0] == "\\" for m, char in zip(found, text, strict=True)):
        return [1, *[match.end() + 1 for match in found]]
    # it had to be repaired: about where
    return [min(1 + place * len(inner) // max(len(text), 1), len(raw)) for place in range(len(text) + 1)]
