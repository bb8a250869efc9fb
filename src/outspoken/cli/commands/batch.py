"""`outspoken batch`: reads files of responses with every core, into a folder of results.

Exit codes: 0 if all rows were read, 1 if some are in quarantine, 2 for wrong usage, 3 if it was stopped before the end,
130 and 143 if it was interrupted or terminated.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from outspoken.cli.framework import OUTPUT, declare, option
from outspoken.cli.options import READING, Reading, json_option, reading_options
from outspoken.cli.types import Choice, File, Name, Number, provider_names
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_json

if TYPE_CHECKING:
    from outspoken.batch import BatchOptions, Summary

_COLUMNS = {
    "text-column": "the column of the responses, or of a provider's bodies; `a.b` leads into objects, `.` is the line",
    "format-column": "a column with the format of each row",
    "id-column": "a column that is kept as `id`",
    "tools-column": "a column with the tools of each row: a list, or JSON text",
    "prefix-column": "a column with the end of the prompt of each row",
    "finish-reason-column": "a column with the finish reason of each row",
    "messages-column": "a column with lists of messages: the last answer of the assistant is read",
}


class _TerminatedError(BaseException):
    """The process was asked to end."""


def _column_options(function: Callable[..., int]) -> Callable[..., int]:
    """Declare an option for each column, and pass their values as `columns`."""

    @wraps(function)
    def with_columns(**given: Any) -> int:
        columns = {name: given.pop(name.replace("-", "_")) for name in _COLUMNS}
        return function(columns={name.replace("-", "_"): value for name, value in columns.items()}, **given)

    found = with_columns
    for name, words in reversed(_COLUMNS.items()):
        default = "text" if name == "text-column" else None
        found = option(f"--{name}", metavar="C", default=default, section="Columns", help=words)(found)
    return found


_KEEP = "a column to keep, with or without a type: NAME, NAME:json, :string, :int64, :float64, :bool; may be repeated"


@declare(
    "batch",
    "Read files of responses with every core, into a folder of results."
    "\n\nIN is a file of JSON lines (also .gz, .zst) or of Parquet, a folder, or a pattern.",
    [
        ("outspoken batch logs/ --out parsed/", "all files of a folder; the text is in the column `text`"),
        ("outspoken batch a.jsonl.gz -o parsed/ -f hermes --id-column id", "one file in a known format"),
        ("outspoken stats parsed/", "the summary, again"),
    ],
)
@click.argument("inputs", nargs=-1, required=True, metavar="IN...", type=File())
@option(
    "-o",
    "--out",
    required=True,
    metavar="DIR",
    type=File(),
    section=OUTPUT,
    help="the folder of the results",
)
@reading_options(format=None, format_help="a format's name or alias, or auto; default: auto")
@_column_options
@option("-P", "--provider", type=Name(provider_names, "provider"), metavar="NAME", section=READING,
        help="the rows are bodies of this provider's responses")  # fmt: skip
@option("--keep", multiple=True, metavar="C", section="Columns", help=_KEEP)
@option("--max-chars", type=Number(), default=16_000_000, metavar="N", section="Limits",
        help="longer responses are not read; default: 16000000")  # fmt: skip
@option("--row-timeout", type=Number(fraction=True), default=60.0, metavar="SECONDS", section="Limits",
        help="a row that takes longer is not read; default: 60")  # fmt: skip
@option("--workers", type=Number(), metavar="N", section="Limits",
        help="the number of processes; default: one for each core")  # fmt: skip
@option("--unit-bytes", type=Number(), metavar="N", section="Limits", help="how much of the input makes one part")
@option("--output", type=Choice(("parquet", "jsonl")), default="parquet", metavar="TYPE", section=OUTPUT,
        help="parquet or jsonl; default: parquet")  # fmt: skip
@option("--restart", is_flag=True, section=OUTPUT, help="remove the results that are in DIR, and begin again")
@json_option("write the summary as JSON")
def run(
    inputs: tuple[str, ...],
    out: str,
    reading: Reading,
    columns: dict[str, str | None],
    keep: tuple[str, ...],
    provider: str | None,
    max_chars: int,
    row_timeout: float,
    as_json: bool,
    **running: Any,
) -> int:
    """Run the batch, and print the summary."""
    from outspoken.batch import StoppedError  # needs no pyarrow, but the other commands need not wait for it

    try:
        with _ended_by_signals():
            options = _options(
                reading, columns, keep=keep, provider=provider, max_chars=max_chars, row_timeout=row_timeout
            )
            summary = _run(inputs, out, options, running)
    except StoppedError as error:
        return _stopped(out, 3, str(error))
    except KeyboardInterrupt:
        return _stopped(out, 130, "interrupted")
    except _TerminatedError:
        return _stopped(out, 143, "terminated")
    print(summary.to_json() if as_json else _table(summary))
    if summary.total.quarantined:
        folder = Path(out) / "quarantine"
        print(
            f"outspoken: {summary.total.quarantined:,} rows could not be read; they are in `{folder}`", file=sys.stderr
        )
    return int(summary.total.quarantined > 0)


def _run(inputs: Sequence[str], out: str, options: BatchOptions, running: dict[str, Any]) -> Summary:
    from outspoken.batch import run as run_batch
    from outspoken.batch.progress import show_progress

    with show_progress() as show:
        return run_batch(inputs, out, options, progress=show, **running)


def _options(reading: Reading, columns: dict[str, str | None], **given: Any) -> BatchOptions:
    """The options of a batch. Raises UsageError for those that are not valid."""
    from outspoken.batch import BatchOptions

    if reading.repair is not None:
        given["repair"] = reading.repair
    given |= {**columns, **reading.known, "format": reading.format, "screen": reading.screen}
    tools = read_json(reading.tools_file) if reading.tools_file else None
    try:
        return BatchOptions(tools=tools, **given)
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error


def _stopped(out: str, code: int, reason: str) -> int:
    print(f"outspoken: {visible(reason)}", file=sys.stderr)
    print(f"outspoken: what is done stays in `{out}`; run the same command again to go on", file=sys.stderr)
    return code


@contextmanager
def _ended_by_signals() -> Generator[None]:
    """Let SIGTERM end a batch as Ctrl-C does."""

    def end(number: int, frame: object) -> NoReturn:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def show_summary(folder: str, *, as_json: bool) -> int:
    """Print the summary of a folder of results (`outspoken stats DIR`). Returns 1 if rows are in quarantine."""
    from outspoken.batch import read_summary

    summary = read_summary(Path(folder))
    print(summary.to_json() if as_json else _table(summary))
    return int(summary.total.quarantined > 0)


def _table(summary: Summary) -> str:
    """The table of a summary; the names of formats that were given are shown without control characters."""
    return "\n".join([visible(line) for line in summary.to_table().splitlines()])
