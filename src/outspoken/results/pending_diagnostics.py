"""Diagnostics while a text is read: their lines and columns are computed once all of the text is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .construct import construct
from .diagnostics import Diagnostic, Severity


class PendingDiagnostic(NamedTuple):
    """A diagnostic without its line, column and excerpt; see `Diagnostic` for the fields."""

    code: str
    message: str
    span: tuple[int, int]
    severity: Severity
    format: str | None
    label: str = ""
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()

    @classmethod
    def moved(cls, diagnostic: Diagnostic, span: tuple[int, int]) -> PendingDiagnostic:
        """A diagnostic of a part of a text, with its span in the whole text."""
        one = diagnostic
        return cls(one.code, one.message, span, one.severity, one.format, one.label, one.notes, one.helps)


def place_diagnostics(pending: Iterable[PendingDiagnostic], raw: str) -> list[Diagnostic]:
    """The diagnostics with their places in the complete text `raw`."""
    from .snippet import locate

    found: list[Diagnostic] = []
    known = (0, 1)
    for one in pending:
        line, column, excerpt, start = locate(raw, one.span, known)
        known = (one.span[0] - column + 1, line)
        place = {"line": line, "column": column, "excerpt": excerpt, "excerpt_start": start}
        found.append(construct(Diagnostic, {**one._asdict(), **place}))
    return found
