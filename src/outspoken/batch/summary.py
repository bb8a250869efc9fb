"""`Summary` and `Progress`: what a batch has read so far, as counts, as JSON and as a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

from outspoken.results.replies import STATUSES
from outspoken.viewer.lines import aligned

#: How the format of plain text is shown.
_NO_FORMAT = "none"


@dataclass
class Counts:
    """The counts of a unit, or of several.

    `lines` are those of the input, `blank` the empty ones of them; all others are `rows` that were read or are in
    `quarantine`, by the codes of their errors. `statuses` are rows by format ("" for plain text) and status.
    """

    lines: int = 0
    blank: int = 0
    rows: int = 0
    quarantine: dict[str, int] = field(default_factory=dict[str, int])
    statuses: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    chars: int = 0
    tool_calls: int = 0
    actions: int = 0
    payloads: int = 0
    diagnostics: int = 0
    repairs: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of more rows."""
        for name in ("lines", "blank", "rows", "chars", "tool_calls", "actions", "payloads", "diagnostics", "repairs"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        _add(self.quarantine, other.quarantine)
        for format, counts in other.statuses.items():
            _add(self.statuses.setdefault(format, {}), counts)

    @property
    def quarantined(self) -> int:
        """The number of rows in quarantine."""
        return sum(self.quarantine.values())


def _add(to: dict[str, int], counts: Mapping[str, int]) -> None:
    for key, count in counts.items():
        to[key] = to.get(key, 0) + count


@dataclass(frozen=True)
class Progress:
    """How far a batch is: rows read and in quarantine, and bytes of the input, all of them with earlier runs."""

    rows: int
    quarantined: int
    bytes: int
    total_bytes: int
    seconds: float


@dataclass
class Summary:
    """What a batch has read: all counts, the number of files and units, and the seconds of this run.

    `complete` is False if the run was stopped before the end. `new` are the counts of what this run has read itself;
    the rest was there from earlier ones.
    """

    complete: bool
    files: int
    units: int
    total: Counts
    new: Counts
    seconds: float
    workers: int

    @property
    def rows_per_second(self) -> float:
        """The rows that this run has read or put in quarantine, by its seconds."""
        return (self.new.rows + self.new.quarantined) / self.seconds if self.seconds > 0 else 0.0

    def to_json(self) -> str:
        """The summary as JSON."""
        return json.dumps(
            {**asdict(self), "rows_per_second": round(self.rows_per_second)}, ensure_ascii=False, indent=2
        )

    @classmethod
    def from_json(cls, text: str) -> Summary:
        """The inverse of `to_json`. Raises ValueError for any other text."""
        try:
            data = json.loads(text)
            del data["rows_per_second"]
            total, new = Counts(**data.pop("total")), Counts(**data.pop("new"))
            return cls(**data, total=total, new=new)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the text does not contain a summary: {error!r}") from error

    def to_table(self) -> str:
        """The summary as a text table: statuses by format, quarantine by reason, and what was found."""
        total = self.total
        rows = [("format", "rows", *STATUSES)]
        rows += [_status_row(name or _NO_FORMAT, total.statuses[name]) for name in sorted(total.statuses)]
        if len(total.statuses) != 1:
            merged: dict[str, int] = {}
            for counts in total.statuses.values():
                _add(merged, counts)
            rows.append(_status_row("all", merged))
        lines = aligned(rows)
        if total.quarantine:
            reasons = [(code, f"{count:,}") for code, count in sorted(total.quarantine.items())]
            lines += ["", *aligned([("quarantine", "rows"), *reasons])]
        return "\n".join([*lines, "", *self._notes()])

    def _notes(self) -> list[str]:
        total = self.total
        read = f"{total.lines:,} lines of {self.files:,} files: {total.rows:,} rows read"
        parts = [f"{total.quarantined:,} in quarantine", *([f"{total.blank:,} blank lines"] if total.blank else [])]
        requests = f"{total.tool_calls:,} calls, {total.actions:,} actions, {total.payloads:,} payloads"
        speed = f"{self.seconds:,.1f} s with {self.workers} workers: {self.rows_per_second:,.0f} rows a second"
        lines = [
            f"{read}, {', '.join(parts)}",
            f"{requests}, {total.repairs:,} repairs, {total.diagnostics:,} diagnostics",
        ]
        lines.append(speed)
        return lines if self.complete else [*lines, "not complete: run the same command again to go on"]


def _status_row(name: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    whole = sum(counts.values())
    shares = [f"{counts.get(status, 0) / whole:.1%}" if whole else "0.0%" for status in STATUSES]
    return name, f"{whole:,}", *shares


def progress_text() -> Callable[[Progress], str]:
    """Return what writes the progress of one batch: the share of the bytes, rows, their rate, and the time left.

    The rate and the time are those of this run: what an earlier run has read counts in neither.
    """
    start: list[Progress] = []

    def text(now: Progress) -> str:
        start.append(now) if not start else None
        rows, read = now.rows - start[0].rows, now.bytes - start[0].bytes
        rate = f", {rows / now.seconds:,.0f}/s" if now.seconds else ""
        bad = f", {now.quarantined:,} in quarantine" if now.quarantined else ""
        left = round(now.seconds * (now.total_bytes - now.bytes) / read) if read else None
        end = "" if left is None else f", {left // 60}:{left % 60:02} left"
        return (
            f"{now.bytes / max(now.total_bytes, 1):.0%} of {now.total_bytes:,} bytes, {now.rows:,} rows{rate}{bad}{end}"
        )

    return text
