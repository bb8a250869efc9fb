"""What is checked, and where something is found: a grammar of a checkout, and diagnostics in its files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from outspoken import Diagnostic
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Definition, Source
from outspoken.results.diagnostics import PendingDiagnostic, Severity, place_diagnostics

Span = tuple[int, int]

#: The order in which severities are shown.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class CheckedFile:
    """A file of the checkout in which something is found: its path as it is shown, and its text."""

    shown: str
    text: str

    @classmethod
    def of(cls, checkout: Checkout, path: Path) -> CheckedFile:
        """Read a file; bytes that are no text are shown as such."""
        return cls(checkout.shown(path), path.read_bytes().decode("utf-8", "backslashreplace"))

    def finding(
        self,
        code: str,
        span: Span,
        message: str,
        *helps: str,
        severity: Severity = "error",
        label: str = "",
        notes: Iterable[str] = (),
    ) -> Diagnostic:
        """Something that is found at a place of the file, and what to do about it."""
        found = PendingDiagnostic(code, message, span, severity, self.shown, label, tuple(notes), helps)
        return place_diagnostics([found], self.text)[0]

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


@dataclass(frozen=True)
class CheckedGrammar:
    """A grammar file of a checkout that is checked, or a file that several grammars share."""

    checkout: Checkout
    source: Source

    @cached_property
    def file(self) -> CheckedFile:
        """The file in which something is found."""
        return self.file_of(self.source)

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.source.path.stem

    def file_of(self, source: Source) -> CheckedFile:
        """The file of the grammar, or of one that it imports."""
        return CheckedFile(self.checkout.shown(source.path), source.text)

    def example_span(self, example: str, start: int, end: int) -> Span:
        """Where a piece of the header's example stands in the file."""
        field = self.source.field("example")
        if field is None or not field.lines:
            return self.file.top
        lines = [example.count("\n", 0, offset) for offset in (start, end)]
        columns = [offset - (example.rfind("\n", 0, offset) + 1) for offset in (start, end)]
        first, last = [field.lines[min(n, len(field.lines) - 1)][0] + c for n, c in zip(lines, columns, strict=True)]
        return first, max(first, last)


def name_span(source: Source, definition: Definition) -> Span:
    """Where a definition says its name."""
    return source.find(definition.name.rpartition("__")[2], *definition.span) or definition.span


def body_span(definition: Definition) -> Span:
    """The right side of a definition."""
    return definition.span[1] - len(definition.body), definition.span[1]
