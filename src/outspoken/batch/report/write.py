"""`write_report`: reads a folder of results, and writes the page."""

from __future__ import annotations

import os
from pathlib import Path

from outspoken.batch.errors import BatchError
from outspoken.batch.inputs import reason_of
from outspoken.batch.outputs import REPORT
from outspoken.notations.tools import Tools

from .arguments import CallChecker
from .buckets import FileBuckets, TimeBuckets
from .page import make_page
from .source import Source
from .tally import Tally


def write_report(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    time_column: str | None = None,
    partial: bool = False,
) -> Path:
    """Write a page of HTML about a folder of results, and return its path: `report.html` in the folder, or `out`.

    `time_column` is a column of the input that the batch has kept: numbers since 1970, dates in ISO 8601 or times of
    Arrow. Damage is shown by it; without it, by file. With `partial`, there is a report of what is done of a batch that
    is not complete.

    Raises BatchError if the folder holds no batch, one that is not complete, or parts that cannot be read, if there is
    no such column, and if the page cannot be written.
    """
    source = Source(Path(folder), time_column=time_column, partial=partial)
    path = source.folder / REPORT if out is None else Path(out)
    page = make_page(source, make_tally(source))
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        aside.write_text(page, "utf-8", newline="\n")
        os.replace(aside, path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise BatchError(f"cannot write `{path}`: {reason_of(error)}") from error
    return path


def make_tally(source: Source) -> Tally:
    """Count all rows of a folder of results. Raises BatchError if there are more or fewer than its summary says."""
    buckets = (
        FileBuckets(source.inputs, source.lasts) if source.time_column is None else TimeBuckets(source.time_column)
    )
    tools = None if source.options["tools_column"] else Tools.of(source.options["tools"])
    tally = Tally(source.inputs, buckets, CallChecker(tools))
    for chunk in source.chunks():
        tally.add(chunk)
    for row in source.quarantine():
        tally.add_quarantined(row)
    tally.finish()
    total = source.summary.total
    found = tally.rows, sum(tally.quarantine.values())
    if source.summary.complete and found != (total.rows, total.quarantined):
        raise BatchError(
            f"`{source.folder}` has {found[0]:,} rows and {found[1]:,} in quarantine; its summary says "
            f"{total.rows:,} and {total.quarantined:,}; run the same `outspoken batch` again, to make lost parts anew"
        )
    return tally
