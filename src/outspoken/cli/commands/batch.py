"""`outspoken batch`: reads files of responses with every core, into a folder of results."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from cloup import argument, option_group

from outspoken.cli import options
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_json
from outspoken.terminal.outputs import ProgressLine

if TYPE_CHECKING:
    from outspoken.batch import BatchOptions, Summary

_COLUMNS = {
    "format-column": "a column with the format of each row",
    "id-column": "a column that is kept as `id`",
    "tools-column": "a column with the tools of each row: a list, or JSON text",
    "prefix-column": "a column with the end of the prompt of each row",
    "finish-reason-column": "a column with the finish reason of each row",
    "messages-column": "a column with lists of messages: the last answer of the assistant is read",
}
_TEXT = "the column of responses or a provider's bodies; `a.b` leads into objects, `.` is the line"
_KEEP = "a column to keep, with or without a type: NAME, NAME:json, :string, :int64, :float64, :bool; may be repeated"


@options.command(
    "batch",
    "Read files of responses with every core, into a folder of results."
    "\n\nIN is a file of JSON lines (also .gz, .zst) or of Parquet, a folder, or a pattern.",
    ("outspoken batch logs/ --out parsed/", "all files of a folder; the text is in the column `text`"),
    ("outspoken batch a.jsonl.gz -o parsed/ -f hermes --id-column id", "one file in a known format"),
    ("outspoken stats parsed/", "the summary, again"),
)
@argument("inputs", nargs=-1, required=True, metavar="IN...", type=options.File())
@options.reading_options(
    options.provider_option("the rows are bodies of this provider's responses"),
    format=options.format_option(default=None, shown="auto"),
)
@option_group(
    "Columns",
    options.option("--text-column C", _TEXT, default="text"),
    *[options.option(f"--{name} C", words) for name, words in _COLUMNS.items()],
    options.option("--keep C", _KEEP, multiple=True),
)
@option_group(
    "Limits",
    options.option("--max-chars N", "longer responses are not read", click.IntRange(1), default=16_000_000),
    options.option(
        "--row-timeout SECONDS", "a row that takes longer is not read", options.positive, default=60.0, shown=60
    ),
    options.option("--workers N", "the number of processes", click.IntRange(1), shown="one for each core"),
    options.option("--unit-bytes N", "how much of the input makes one part", click.IntRange(1)),
)
@option_group(
    "Output",
    options.option("-o --out DIR", "the folder of the results", options.File(), required=True),
    options.option("--output TYPE", "parquet or jsonl", ("parquet", "jsonl"), default="parquet"),
    options.option("--restart", "remove the results that are in DIR, and begin again"),
    options.json_option("write the summary as JSON"),
)
def run(inputs: tuple[str, ...], out: str, as_json: bool, **given: Any) -> int:
    """Run the batch, and print the summary."""
    from outspoken.batch import StoppedError  # the list of commands need not wait for it
    from outspoken.batch import run as run_batch
    from outspoken.batch.summary import progress_text

    text = progress_text()
    running = {name: given.pop(name) for name in ("workers", "unit_bytes", "output", "restart")}
    before = signal.signal(signal.SIGTERM, _end)
    try:
        wanted = _options(options.ReadingOptions.of(given), given)
        with ProgressLine() as line:
            summary = run_batch(inputs, out, wanted, progress=lambda now: line.show(text(now)), **running)
    except StoppedError as error:
        code, reason = 3, str(error)
    except KeyboardInterrupt:
        code, reason = 130, "interrupted"
    except SystemExit:
        code, reason = 143, "terminated"
    else:
        return _show(summary, as_json, Path(out) / "quarantine")
    finally:
        signal.signal(signal.SIGTERM, before)
    print(f"outspoken: {visible(reason)}", file=sys.stderr)
    print(f"outspoken: what is done stays in `{out}`; run the same command again to go on", file=sys.stderr)
    return code


def _end(number: int, frame: object) -> NoReturn:
    sys.exit(143)


def _options(reading: options.ReadingOptions, given: dict[str, Any]) -> BatchOptions:
    """The options of a batch; those of columns and limits have the same names. Raises UsageError for wrong ones."""
    from outspoken.batch import BatchOptions

    if reading.repair is not None:
        given["repair"] = reading.repair
    given |= {**reading.known, "format": reading.format, "screen": reading.screen}
    tools = read_json(reading.tools_file) if reading.tools_file else None
    try:
        return BatchOptions(tools=tools, **given)
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error


def show_summary(folder: str, *, as_json: bool) -> int:
    """Print the summary of a folder of results (`outspoken stats DIR`). Returns 1 if rows are in quarantine."""
    from outspoken.batch import read_summary

    return _show(read_summary(Path(folder)), as_json)


def _show(summary: Summary, as_json: bool, quarantine: Path | None = None) -> int:
    """Print a summary; the names of formats that were given are shown without control characters."""
    print(summary.to_json() if as_json else "\n".join([visible(line) for line in summary.to_table().splitlines()]))
    count = summary.total.quarantined
    if count and quarantine:
        print(f"outspoken: {count:,} rows could not be read; they are in `{quarantine}`", file=sys.stderr)
    return int(count > 0)
