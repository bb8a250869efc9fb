"""Places in one part of a text, as places in the whole text."""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.pending_diagnostics import PendingDiagnostic


class Shift(NamedTuple):
    """How far a part stands behind the beginning: in characters, in lines, and in columns of its first line."""

    offset: int
    lines: int
    columns: int

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        """A span, moved."""
        return span[0] + self.offset, span[1] + self.offset

    def repair(self, repair: Repair) -> Repair:
        """A repair, moved."""
        column = repair.column + (self.columns if repair.line == 1 else 0)
        return repair.model_copy(
            update={"span": self.span(repair.span), "line": repair.line + self.lines, "column": column}
        )

    def segment(self, segment: Any) -> Any:
        """A segment, moved."""
        moved: dict[str, Any] = {"span": self.span(segment.span)}
        if getattr(segment, "repairs", ()):
            moved["repairs"] = tuple([self.repair(repair) for repair in segment.repairs])
        return segment.model_copy(update=moved)


def note_of(diagnostic: Diagnostic, shift: Shift | None) -> PendingDiagnostic:
    """A diagnostic whose place is still to be found in the whole text."""
    values = {name: getattr(diagnostic, name) for name in PendingDiagnostic._fields}
    if shift is not None:
        values["span"] = shift.span(diagnostic.span)
    return PendingDiagnostic(**values)
