"""`show_progress`: a progress bar with the rate and the remaining time, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .summary import Progress


@contextmanager
def show_progress() -> Generator[Callable[[Progress], None] | None]:
    """Draw a progress bar on standard error while a batch runs; None if that is no terminal, or without rich."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        yield None
        return
    words = TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]:,.0f}/s{task.fields[bad]}")
    columns = (BarColumn(), DownloadColumn(binary_units=True), words, TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("batch", total=None, rows=0, rate=0.0, bad="")
        first: list[int] = []

        def show(now: Progress) -> None:
            first.append(now.rows) if not first else None
            rate = (now.rows - first[0]) / now.seconds if now.seconds else 0.0
            bad = f", {now.quarantined:,} in quarantine" if now.quarantined else ""
            bar.update(task, completed=now.bytes, total=now.total_bytes, rows=now.rows, rate=rate, bad=bad)

        yield show
