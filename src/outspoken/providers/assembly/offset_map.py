"""The content of a response, and how places in one part of it map to places in the whole."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.pending_diagnostics import PendingDiagnostic
from outspoken.results.replies import Segment

#: One kind of segment.
SegmentT = TypeVar("SegmentT", bound=Segment)


class OffsetMap(NamedTuple):
    """Where a part begins in the content: characters, line breaks, and characters since the last line break."""

    offset: int
    lines: int
    columns: int

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        """Map a span."""
        return span[0] + self.offset, span[1] + self.offset

    def repair(self, repair: Repair) -> Repair:
        """Map the place of a repair."""
        column = repair.column + (self.columns if repair.line == 1 else 0)
        return repair.model_copy(
            update={"span": self.span(repair.span), "line": repair.line + self.lines, "column": column}
        )

    def segment(self, segment: SegmentT) -> SegmentT:
        """Map the place of a segment and of its repairs."""
        update: dict[str, Any] = {"span": self.span(segment.span)}
        if repairs := getattr(segment, "repairs", ()):
            update["repairs"] = tuple([self.repair(repair) for repair in repairs])
        return segment.model_copy(update=update)


class Content:
    """The content so far, and how long it is."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.length = 0
        self._lines = self._line_start = 0

    def append(self, piece: str) -> None:
        """Add a piece."""
        breaks = piece.count("\n")
        if breaks:
            self._lines += breaks
            self._line_start = self.length + piece.rindex("\n") + 1
        self._pieces.append(piece)
        self.length += len(piece)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def end(self) -> OffsetMap:
        """Return the map for a part that begins here."""
        return OffsetMap(self.length, self._lines, self.length - self._line_start)


def to_pending(diagnostic: Diagnostic, offset_map: OffsetMap | None) -> PendingDiagnostic:
    """Map a diagnostic of a part; its line and column are found in the whole content at the end."""
    span = diagnostic.span if offset_map is None else offset_map.span(diagnostic.span)
    return PendingDiagnostic.moved(diagnostic, span)
