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

    def moved(span: tuple[int, int]) -> tuple[int, int]:
        return start + places[span[0]], start + places[span[1]]

    diagnostics = [d for d in reply.diagnostics if d.code != "unread-markup"]  # of text, which is reported as a whole
    notes = [PendingDiagnostic.moved(diagnostic, moved(diagnostic.span)) for diagnostic in diagnostics]
    actions: list[Any] = []
    for segment in reply.segments:
        span = moved(segment.span)
        if segment.kind == "action":
            update = {"span": span, "raw": raw[span[0] - start : span[1] - start]}
            actions.append(segment.model_copy(update=update))
        else:
            message = "this part of the string is no action, and is left out"
            notes.append(PendingDiagnostic("unread-entry", message, span, "warning", None))
    return EmbeddedActions(actions, notes, reply.status)


def _places(text: str, raw: str) -> list[int]:
    """Where each character of a string stands in how it is written, and where its end does."""
    inner = raw[1:-1]
    found = list(_CHARACTER.finditer(inner))
    if len(found) == len(text) and all(m[0] == char or m[0][0] == "\\" for m, char in zip(found, text, strict=True)):
        return [1, *[match.end() + 1 for match in found]]
    # it had to be repaired: about where
    return [min(1 + place * len(inner) // max(len(text), 1), len(raw)) for place in range(len(text) + 1)]
