"""What a builder writes down beside the segments: repairs, diagnostics, and how bad it all is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outspoken.grammar.header import Header
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Repair
from outspoken.results.edits import Edit, RepairLimit
from outspoken.results.pending_diagnostics import PendingDiagnostic, describe_repair
from outspoken.results.replies import STATUSES, Status

from .embedded_actions import ReadEmbedded


class Bookkeeper:
    """Keeps repairs and diagnostics."""

    header: Header
    #: the raw text between two offsets, from the machine
    slice: Callable[[int, int], str]
    #: reads the actions that a JSON string holds
    read_embedded: ReadEmbedded
    status: Status = "ok"
    #: how much may be repaired
    repair_limit: RepairLimit = "none"
    #: why what is read now counts as unreadable, although it was read
    doubt = ""
    doubted = False
    #: an offset, its line, and where that line begins: the first that is known, and the last one that was asked for
    _first = _known = (0, 1, 0)

    def __init__(self) -> None:
        self.notes: list[PendingDiagnostic] = []
        #: the changes that belong to what ends next, and all that belong to something
        self.edits: list[Edit] = []
        self.repairs: list[Repair] = []

    def note(self, code: str, message: str, span: tuple[int, int], severity: str = "error", **more: Any) -> None:
        """Remember a diagnostic."""
        self.notes.append(
            PendingDiagnostic(code, message, (max(span[0], 0), max(span[1], 0)), severity, self.header.format, **more)
        )

    def worsen(self, status: Status) -> None:
        """The reply is no better than this."""
        if STATUSES.index(status) > STATUSES.index(self.status):
            self.status = status

    def supply(self, arg: str, m: Any, g: int, base: int) -> None:
        """A marker was missing here."""
        at = max(base + m.start(g), 0)
        self.edits.append(Edit(at, at, arg, "missing-marker", "markup"))

    def take_repairs(self) -> tuple[Repair, ...]:
        """The changes since the last segment, which belong to the one that ends now."""
        if not self.edits:
            return ()
        made = tuple([self._repair(edit) for edit in sorted(self.edits, key=lambda e: e[:2])])
        self.edits.clear()
        self.repairs += made
        alike: dict[str, list[Repair]] = {}
        for repair in made:
            key = f"{repair.code} {repair.before} {repair.after}" if repair.rung == "markup" else repair.code
            alike.setdefault(key, []).append(repair)
        for first, *others in alike.values():
            label = "missing here" if not first.before else "read otherwise" if first.after else "dropped"
            more = f"{len(others)} more of this kind in the same segment"
            self.note(
                first.code, describe_repair(first), first.span, "warning", label=label, notes=(more,) if others else ()
            )
        self.worsen("repaired")
        return made

    def _repair(self, edit: Edit) -> Repair:
        start, end = max(edit.start, 0), max(edit.end, 0)
        line, column = self._place(start)
        values = {"code": edit.code, "rung": edit.level, "span": (start, end), "path": edit.path}
        before = self.slice(start, end)
        return construct(Repair, {**values, "before": before, "after": edit.after, "line": line, "column": column})

    def counts_from(self, other: Bookkeeper, offset: int) -> None:
        """Count lines from an offset on, as another one does that has the text before it."""
        other._place(max(offset, 0))
        self._first = self._known = other._known

    def _place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, counted on from the last one that was asked for."""
        at, line, begun = self._known
        if offset < at:
            at, line, begun = self._first
        passed = self.slice(at, offset)
        breaks = passed.count("\n")
        if breaks:
            begun = at + passed.rindex("\n") + 1
        self._known = (offset, line + breaks, begun)
        return line + breaks, offset - begun + 1
