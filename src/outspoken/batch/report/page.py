"""`write_report` reads a folder of results and writes the page, by `page.html`. Its policy lets nothing be loaded."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from outspoken.batch.errors import BatchError
from outspoken.batch.inputs import reason_of
from outspoken.batch.outputs import REPORT
from outspoken.batch.parts import replacing
from outspoken.notations.tools import Tools
from outspoken.results.packages import Package
from outspoken.results.replies import STATUSES
from outspoken.results.snippet import visible

from .buckets import FileBuckets, Key, TimeBuckets
from .source import Source
from .tally import WORST, CallChecker, Tally

#: So many kinds, formats, tools and problems are shown, and kinds of damage as numbers.
MOST = {"kinds": 60, "formats": 120, "tools": 60, "problems": 100, "matrix": 12, "worst": WORST}
#: The statuses that bars show, in their order.
DAMAGED = ("repaired", "truncated", "invalid")
#: The size of a chart of columns.
_WIDTH, _HEIGHT = 240, 28
_HERE = Path(__file__).parent
_JINJA = Package("batch", "jinja2", needed_by="the report of a batch")

K = TypeVar("K")


def make_page(source: Source, tally: Tally) -> str:
    """The page as HTML."""
    style = (_HERE / "page.css").read_text("utf-8")
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    labels = tally.buckets.labels(tally.bucket_statuses)
    formats = Counter({name: 0 for name, _ in tally.statuses})
    for (name, _), count in tally.statuses.items():
        formats[name] += count
    whole = Counter[Key]()
    for (key, _), count in tally.bucket_statuses.items():
        whole[key] += count
    page: str = _template().render(
        source=source,
        tally=tally,
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'",
        labels=labels,
        is_time=isinstance(tally.buckets, TimeBuckets),
        by_bucket=StatusRows.of({key: {s: tally.bucket_statuses[key, s] for s in STATUSES} for key in labels}),
        formats=formats,
        by_format=StatusRows.of({name: {s: tally.statuses[name, s] for s in STATUSES} for name in formats}),
        kinds_of={name: Counter({k: n for (f, k), n in tally.format_kinds.items() if f == name}) for name in formats},
        shares={kind: [tally.bucket_kinds[key, kind] / max(1, whole[key]) for key in labels] for kind in tally.kinds},
        tools=[*dict(ordered(tally.bad_calls)), *[n for n, _ in ordered(tally.calls) if n not in tally.bad_calls]],
        quarantined=sum(tally.quarantine.values()),
    )
    return page


@cache
def _template() -> Any:
    """The template. All text is escaped in it: as HTML, and characters that cannot be seen."""
    jinja = _JINJA.load("jinja2")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(_HERE),
        autoescape=True,
        finalize=_shown,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"things": things, "ordered": ordered, "columns": columns, "lines": _lines}
    environment.globals |= {"percent": percent, "MOST": MOST, "DAMAGED": DAMAGED, "STATUSES": STATUSES}
    return environment.get_template("page.html")


def _shown(value: Any) -> Any:
    """What stands in the page for a value: numbers with commas, and text with escapes for control characters."""
    if value is None or hasattr(value, "__html__"):
        return value if value is not None else ""
    return f"{value:,}" if isinstance(value, int) else visible(str(value))


def _lines(text: str) -> Any:
    """Lines of text as they are."""
    return _JINJA.load("markupsafe").Markup("\n").join([visible(line) for line in text.split("\n")])


def percent(count: int, whole: int) -> str:
    """A share as text: with so many digits that it is neither 0 nor 100 % if it is not."""
    share = count / whole if whole else 0.0
    if 0 < share < 0.001:
        return "<0.1%"
    return ">99.9%" if 0.999 < share < 1 else f"{share:.1%}"


def things(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what if count == 1 else f'{what}s'}"


def ordered(counts: Mapping[K, int]) -> list[tuple[K, int]]:
    """Kinds by their counts, the most frequent first, and by name."""
    found: list[Any] = [one for one in counts.items() if one[1]]
    return sorted(found, key=lambda one: (-one[1], one[0]))


# charts, as numbers of SVG


class Rect(NamedTuple):
    """A part of a chart: its place, its size, and its class."""

    x: float
    y: float
    width: float
    height: float
    name: str


class StatusRow(NamedTuple):
    """How many rows there are under a key, how many are not ok, and the bar of those in pieces and in words."""

    rows: int
    damaged: int
    bar: list[Rect]
    words: str


class StatusRows(NamedTuple):
    """The rows of a table of statuses by their keys, and the share of the rows that a full bar is."""

    rows: dict[Any, StatusRow]
    scale: float

    @classmethod
    def of(cls, counts: Mapping[Any, Mapping[str, int]]) -> StatusRows:
        """The rows for some counts by status."""
        scale = max([*[1 - own["ok"] / (sum(own.values()) or 1) for own in counts.values()], 0.0001])
        return cls({key: _status_row(own, scale) for key, own in counts.items()}, scale)


def _status_row(own: Mapping[str, int], scale: float) -> StatusRow:
    rows, at, bar = sum(own.values()), 0.0, list[Rect]()
    for status in DAMAGED:
        if share := own[status] / rows if rows else 0.0:
            width = min(max(share / scale * 1000, 3.0), 1000 - at)
            bar.append(Rect(at, 0, width, 10, status))
            at += width
    words = ", ".join([f"{own[status]:,} {status}" for status in DAMAGED if own[status]]) or "none"
    return StatusRow(rows, rows - own["ok"], bar, words)


def columns(values: Sequence[float], labels: Iterable[str]) -> list[tuple[str, list[Rect]]]:
    """The columns of a small chart, each with its words; the highest fills it."""
    most, width = max(values, default=0.0), _WIDTH / max(1, len(values))
    found: list[tuple[str, list[Rect]]] = []
    for n, (value, label) in enumerate(zip(values, labels, strict=True)):
        height = max(value / most * _HEIGHT, 1.5) if value and most else 0.0
        column = [Rect(n * width + width * 0.1, _HEIGHT - height, width * 0.8, height, "column")] if height else []
        found.append((f"{label}: {value:.2%}", [Rect(n * width, 0, width, _HEIGHT, "ground"), *column]))
    return found


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
    try:
        with replacing(path) as aside:
            aside.write_text(page, "utf-8", newline="\n")
    except OSError as error:
        raise BatchError(f"cannot write `{path}`: {reason_of(error)}") from error
    return path


def make_tally(source: Source) -> Tally:
    """Count all rows of a folder of results. Raises BatchError if there are more or fewer than its summary says."""
    buckets = (
        FileBuckets(source.inputs, source.lasts) if source.time_column is None else TimeBuckets(source.time_column)
    )
    tools = None if source.options["tools_column"] else Tools.of(source.options["tools"])
    tally = Tally(source.inputs, buckets, CallChecker(tools))
    for file, rows, times in source.chunks():
        tally.add(file, rows, times)
    for row in source.quarantine():
        tally.add_quarantined(row)
    tally.finish()
    total = source.summary.total
    counted = tally.rows, sum(tally.quarantine.values())
    if source.summary.complete and counted != (total.rows, total.quarantined):
        raise BatchError(
            f"`{source.folder}` has {counted[0]:,} rows and {counted[1]:,} in quarantine; its summary says "
            f"{total.rows:,} and {total.quarantined:,}; run the same `outspoken batch` again, to make lost parts anew"
        )
    return tally
