"""The actions that a JSON string of a response holds."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.diagnostics import PendingDiagnostic
from outspoken.results.replies import Reply, Status

_CHARACTER = lazy_pattern(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)


class EmbeddedActions(NamedTuple):
    """The actions of a string, and their diagnostics. All spans are offsets in the text round the string."""

    actions: list[Any]
    notes: list[PendingDiagnostic]
    status: Status


def embedded_actions(reply: Reply, text: str, raw: str, start: int) -> EmbeddedActions:
    """The actions of `reply`, which is what the value of a JSON string, `text`, is read as."""
    places = _places(text, raw)
    notes: list[PendingDiagnostic] = []
    for diagnostic in reply.diagnostics:
        first, last = diagnostic.span
        note = PendingDiagnostic.moved(diagnostic, (start + places[first], start + places[last]))
        if note.code == "unread-markup":  # the string is no text of the reply
            note = note._replace(code="unread-entry", message="this looks like an action, but none could be read here")
        notes.append(note)
    actions: list[Any] = []
    for segment in reply.segments:
        if segment.kind == "action":
            begin, end = places[segment.span[0]], places[segment.span[1]]
            update = {"span": (start + begin, start + end), "raw": raw[begin:end]}
            actions.append(segment.model_copy(update=update))
    return EmbeddedActions(actions, notes, reply.status)


def _places(text: str, raw: str) -> list[int]:
    """Where each character of a string stands in how it is written, and where its end does."""
    inner = raw[1:-1]
    found = list(_CHARACTER.finditer(inner))
    if len(found) == len(text) and all(m[0] == char or m[0][0] == "\\" for m, char in zip(found, text, strict=True)):
        return [1, *[match.end() + 1 for match in found]]
    # it had to be repaired: about where
    return [min(1 + place * len(inner) // max(len(text), 1), len(raw)) for place in range(len(text) + 1)]
