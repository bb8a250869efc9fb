"""Findings: diagnostics in files of a checkout, with the explanation that `--explain` adds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from outspoken import Diagnostic
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.results.diagnostics import Severity
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics

Span = tuple[int, int]

#: The order in which severities are shown.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Finding(NamedTuple):
    """A diagnostic, and lines that explain it further."""

    diagnostic: Diagnostic
    explanation: str = ""


@dataclass(frozen=True)
class CheckedFile:
    """A file of the checkout in which something is found: its path as it is shown, and its text."""

    shown: str
    text: str

    @classmethod
    def of(cls, checkout: Checkout, path: Path) -> CheckedFile:
        """Read a file; bytes that are no text are shown as such."""
        return cls(checkout.shown(path), path.read_bytes().decode("utf-8", "backslashreplace"))

    @classmethod
    def of_source(cls, checkout: Checkout, source: Source) -> CheckedFile:
        """The file of a grammar's source."""
        return cls(checkout.shown(source.path), source.text)

    def finding(
        self,
        code: str,
        message: str,
        span: Span,
        severity: Severity = "error",
        *,
        label: str = "",
        notes: Iterable[str] = (),
        helps: Iterable[str] = (),
        explanation: str = "",
    ) -> Finding:
        """Something that is found at a place of the file."""
        note = PendingDiagnostic(code, message, span, severity, self.shown, label, tuple(notes), tuple(helps))
        return Finding(place_diagnostics([note], self.text)[0], explanation)

    def line(self, number: int) -> Span:
        """The span of a line, counted from 1, without its end; of the first one for 0."""
        lines = self.text.splitlines(keepends=True)
        start = sum([len(line) for line in lines[: max(number, 1) - 1]])
        text = lines[max(number, 1) - 1] if len(lines) >= max(number, 1) else ""
        return start, start + len(text.rstrip())

    @property
    def top(self) -> Span:
        """The span of the first line, for what is about the file as a whole."""
        return self.line(1)
