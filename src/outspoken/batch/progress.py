"""How far a batch is, as a line for people."""

from __future__ import annotations

from collections.abc import Callable

from .summary import Progress


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
