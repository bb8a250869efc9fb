"""The diagnostics and repairs of a response, and its status."""

from __future__ import annotations

from collections.abc import Callable

from outspoken.patterns.markup_search import FoundMarkup
from outspoken.results.codes import describe_repair
from outspoken.results.diagnostics import PendingDiagnostic, Repair, Severity
from outspoken.results.edits import Edit
from outspoken.results.replies import STATUSES, Status

#: The code of an edit that changes nothing: a marker stands where it is not expected.
_ODD = "odd-marker"
#: The levels of edits of markers; that of the others is "markup".
_LEVELS = {_ODD: "notation", "extra-closer": "structure"}


def odd_marker(start: int, end: int) -> Edit:
    """The edit of a marker that stands where the grammar does not expect it."""
    return Edit(start, end, "", _ODD, "notation")


class Source:
    """The raw text, as a parser gives it: `source.slice(start, end)` is what stands between two offsets."""

    slice: Callable[[int, int], str]


class Recorder:
    """Collects diagnostics and repairs.

    `edits` are changes that no node has taken yet; the node that ends next takes them. `repairs` are those that were
    taken. `refused` are opening brackets, by their offsets, behind which no call could be read.
    `is_damaged` says that a segment of the format could not be read, and was lost.
    `ambiguity` says why the call that ends next has two readings, or is empty; `was_ambiguous` stays true after that.
    """

    status: Status = "ok"
    ambiguity = ""
    was_ambiguous = False
    is_damaged = False
    #: an offset, its line, and where that line begins: the first that is known, and the last that was asked for
    _first = _last = (0, 1, 0)

    def __init__(self, format: str, source: Source) -> None:
        self._format, self._source = format, source
        self.diagnostics: list[PendingDiagnostic] = []
        self.edits: list[Edit] = []
        self.repairs: list[Repair] = []
        self.refused: list[FoundMarkup] = []

    def report(
        self,
        code: str,
        message: str,
        span: tuple[int, int],
        severity: Severity = "error",
        *,
        label: str = "",
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> None:
        """Add a diagnostic. What the prompt holds of `span` is left out."""
        span = (max(span[0], 0), max(span[1], 0))
        self.diagnostics.append(PendingDiagnostic(code, message, span, severity, self._format, label, notes, helps))

    def lower_status(self, status: Status) -> None:
        """Take over a status if it is worse than the present one."""
        if STATUSES.index(status) > STATUSES.index(self.status):
            self.status = status

    def withdraw(self, spans: list[tuple[int, int]], statuses: list[Status]) -> None:
        """Take back what was said of refused calls, which nothing depends on; the segments have these `statuses`."""

        def is_within(span: tuple[int, int]) -> bool:
            return any(start <= span[0] and span[1] <= end for start, end in spans)

        self.diagnostics[:] = [d for d in self.diagnostics if d.severity != "error" or not is_within(d.span)]
        if not any(d.severity == "error" or d.code.startswith("unclosed-") for d in self.diagnostics):
            self.status = "repaired" if self.repairs else "ok"
            for status in statuses:
                self.lower_status(status)

    def add_marker(self, code: str, marker: str, start: int, end: int) -> None:
        """Record what was noticed of a marker without recovery, which records its own edits.

        It was missing, damaged, one too many (`marker` is what it should be), or stands where by what is beside it, it
        would be none. Only what the response holds can be damaged or too many.
        """
        start, end = max(start, 0), max(end, 0)
        if end > start or code in ("missing-marker", _ODD):
            self.edits.append(Edit(start, end, marker, code, _LEVELS.get(code, "markup")))

    def _take_odd(self) -> None:
        """Report the first marker that stands where it is not expected, if nothing else says what is wrong."""
        odd = [edit for edit in self.edits if edit.code == _ODD]
        if odd:
            self.edits[:] = [edit for edit in self.edits if edit.code != _ODD]
        if odd and not self.edits:
            message = "the grammar does not expect this marker here, by what is beside it"
            self.report(_ODD, message, (odd[0].start, odd[0].end), "warning")

    def take_repairs(self) -> tuple[Repair, ...]:
        """The changes since the last call, in the order of the text. They belong to the node that ends now."""
        if self.edits:
            self._take_odd()
        if not self.edits:
            return ()
        repairs = tuple(self._repairs_of(sorted(self.edits, key=lambda e: e[:2])))
        self.edits.clear()
        self.repairs += repairs
        alike: dict[str, list[Repair]] = {}
        for repair in repairs:
            key = f"{repair.code} {repair.before} {repair.after}" if repair.level == "markup" else repair.code
            alike.setdefault(key, []).append(repair)
        for first, *others in alike.values():
            label = "missing here" if not first.before else "read otherwise" if first.after else "dropped"
            more = f"{len(others)} more of this kind in the same segment"
            self.report(
                first.code, describe_repair(first), first.span, "warning", label=label, notes=(more,) if others else ()
            )
        self.lower_status("repaired")
        return repairs

    def _repairs_of(self, edits: list[Edit]) -> list[Repair]:
        """The repairs that edits are reported as, which are in the order of the text."""
        spans = [(max(edit.start, 0), max(edit.end, 0)) for edit in edits]
        first = spans[0][0]
        text = self._source.slice(first, max([end for _, end in spans]))
        line, column = self._place(first)
        last, repairs = first, list[Repair]()
        for edit, (start, end) in zip(edits, spans, strict=True):
            if breaks := text.count("\n", last - first, start - first):
                line, column = line + breaks, start - first - text.rindex("\n", 0, start - first)
            else:
                column += start - last
            last = start
            repairs.append(edit.as_repair((start, end), text[start - first : end - first], line, column))
        self._last = (last, line, last - column + 1)
        return repairs

    def _place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, counted on from the last one that was asked for."""
        at, line, begun = self._last
        if offset < at:
            at, line, begun = self._first
        passed = self._source.slice(at, offset)
        breaks = passed.count("\n")
        if breaks:
            begun = at + passed.rindex("\n") + 1
        self._last = (offset, line + breaks, begun)
        return line + breaks, offset - begun + 1

    def continue_from(self, other: Recorder, start: int) -> None:
        """Record what stands from an offset on; another recorder knows the line of that offset."""
        other._place(max(start, 0))
        self._first = self._last = other._last

    def absorb(self, other: Recorder) -> None:
        """Take over the diagnostics, repairs and status of a fork."""
        self.diagnostics += other.diagnostics
        self.repairs += other.repairs
        self.lower_status(other.status)
