"""Diagnostics while a text is read: their place in lines and columns is found when all of it is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .construct import construct
from .diagnostics import Diagnostic, Repair

#: What is said of the repair of a marker, or of what stands where only markers may.
MARKUP = {
    "missing-marker": "the marker {after} is missing",
    "damaged-marker": "{before} was read as the marker {after}",
    "stray-marker": "the marker {before} has no place here, and was dropped",
    "foreign-notation": "the call that {before} opens is not written as the format writes calls, but can be read",
    "stray-text": "{before} stands between markers, and was dropped",
}


def describe_repair(repair: Repair) -> str:
    """What a repair says to a person."""
    from .edits import message_of, shown

    if repair.rung == "markup":
        return MARKUP[repair.code].format(before=shown(repair.before.strip()), after=shown(repair.after.strip()))
    return message_of(repair.code, repair.before, repair.after)


class PendingDiagnostic(NamedTuple):
    """A diagnostic that is not place_diagnostics yet; see `Diagnostic` for the fields."""

    code: str
    message: str
    span: tuple[int, int]
    severity: Any
    format: str | None
    label: str = ""
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()


def place_diagnostics(notes: Iterable[PendingDiagnostic], raw: str) -> list[Diagnostic]:
    """The diagnostics of a text that was read to its end."""
    from .snippet import locate

    found: list[Diagnostic] = []
    known = (0, 1)
    for note in notes:
        line, column, excerpt, start = locate(raw, note.span, known)
        known = (note.span[0] - column + 1, line)
        place = {"line": line, "column": column, "excerpt": excerpt, "excerpt_start": start}
        found.append(construct(Diagnostic, {**note._asdict(), **place}))
    return found
