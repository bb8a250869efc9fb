"""Diagnostics of a response, while it is read and with their places, and the repairs that made it readable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from pydantic import Field

from .construct import FrozenModel, construct

Severity = Literal["error", "warning", "note"]

#: The most problems in a retry message, and the most characters of each.
_MAX_PROBLEMS, _MAX_LENGTH = 5, 200


class Repair(FrozenModel):
    """One change that made damaged text readable.

    `before` is the text at `span` of the raw text, and `after` was read in its place. `level` is the repair level, from
    certain to guessed: "notation", "structure", "strings", "heuristic"; or "markup" for a marker of the format. `path`
    leads to the changed value by keys and by indexes from 0: from the arguments of a call, in every format; from the
    JSON value itself where that is no call. It is empty for what is changed beside them. `line` and `column` count
    from 1.
    """

    code: str
    level: str
    span: tuple[int, int]
    path: tuple[str | int, ...] = ()
    before: str
    after: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.line}:{self.column} {self.code} ({self.level}): {self.before!r} read as {self.after!r}"


class Diagnostic(FrozenModel):
    """A problem of a response, or a remark on it, with its place.

    `code` is stable: codes are added, never renamed. `span` is in characters; `line` and `column` count from 1.
    `severity` is "error" if something is missing or unreliable, "warning" if it is complete but repaired or unusual,
    and "note" if nothing is wrong. `str` gives one line, `frame` the place as well.

    Raises ValueError if the span ends before it starts.
    """

    code: str
    message: str
    span: tuple[int, int]
    severity: Severity = "error"
    label: str = ""
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    format: str | None = None
    line: int = 1
    column: int = 1
    excerpt: str = Field(default="", repr=False)
    excerpt_start: int = Field(default=0, repr=False)

    def __str__(self) -> str:
        from .snippet import visible

        return f"{self.format or 'text'}:{self.line}:{self.column} {self.code}: {visible(self.message)}"

    def frame(self) -> str:
        """The diagnostic as a code snippet: message, lines of the text, and carets under the span."""
        from .snippet import draw

        return draw(self)

    def model_post_init(self, context: Any, /) -> None:
        start, end = self.span
        if start > end:
            raise ValueError(f"span {self.span} ends before it starts")


def retry_message(opening: str, diagnostics: Iterable[Diagnostic], *, is_truncated: bool) -> str:
    """A message for the model: what is wrong with its response, and a request to write it again."""
    found = sorted([d for d in diagnostics if d.severity != "note"], key=lambda d: d.severity != "error")
    lines = [f"- line {d.line}, column {d.column}: {shortened(d.message)}" for d in found[:_MAX_PROBLEMS]]
    if len(found) > _MAX_PROBLEMS:
        lines.append(f"- and {len(found) - _MAX_PROBLEMS} more")
    advice = "Write the whole response again, without these mistakes."
    if is_truncated:
        advice += " It broke off before its end: make it shorter."
    return "\n".join([opening, *lines, advice])


def shortened(message: str) -> str:
    """A message on one line, for a model."""
    line = " ".join(message.split())
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 3]}..."


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

    diagnostics: list[Diagnostic] = []
    line_start = (0, 1)
    for diagnostic in pending:
        line, column, excerpt, start = locate(raw, diagnostic.span, line_start)
        line_start = (diagnostic.span[0] - column + 1, line)
        place = {"line": line, "column": column, "excerpt": excerpt, "excerpt_start": start}
        diagnostics.append(construct(Diagnostic, {**diagnostic._asdict(), **place}))
    return diagnostics
