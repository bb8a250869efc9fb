"""`outspoken batch`: reads files of responses with every core, into a folder of results.

Exit codes: 0 if all rows were read, 1 if some are in quarantine, 2 for wrong usage, 3 if it was stopped before the end,
130 and 143 if it was interrupted or terminated.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from outspoken.results.edits import REPAIR_LIMITS
from outspoken.results.snippet import visible

from .inputs import UsageError, read_json

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


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    words = "files of JSON lines (also .gz, .zst) and of Parquet, folders, or patterns"
    command.add_argument("inputs", nargs="+", metavar="IN", help=words)
    command.add_argument("--out", required=True, metavar="DIR", help="the folder of the results")
    command.add_argument("--format", help="a format's name or alias, or auto; default: auto")
    for name, help in _COLUMNS.items():
        command.add_argument(f"--{name}", metavar="C", default="text" if name == "text-column" else None, help=help)
    command.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")
    command.add_argument("--prefix", help=r"the end of the prompt, if it opens a block (`<think>\n`)")
    command.add_argument("--finish-reason", metavar="WORD", help="the provider's finish reason, such as stop or length")
    command.add_argument("--provider", metavar="NAME", help="the rows are bodies of this provider's responses")
    words = (
        "a column to keep, with or without a type: NAME, NAME:json, :string, :int64, :float64, :bool; may be repeated"
    )
    command.add_argument("--keep", action="append", default=[], metavar="C", help=words)
    command.add_argument("--repair", choices=REPAIR_LIMITS, default="heuristic", help="default: heuristic")
    command.add_argument("--max-chars", type=int, default=16_000_000, metavar="N", help="longer responses are not read")
    words = "a row that takes longer is not read; default: 60"
    command.add_argument("--row-timeout", type=float, default=60.0, metavar="SECONDS", help=words)
    command.add_argument("--output", choices=("parquet", "jsonl"), default="parquet", help="default: parquet")
    command.add_argument("--workers", type=int, metavar="N", help="the number of processes; default: one for each core")
    command.add_argument("--unit-bytes", type=int, metavar="N", help="how much of the input makes one part")
    command.add_argument("--restart", action="store_true", help="remove the results that are in DIR, and begin again")
    command.add_argument("--json", action="store_true", help="write the summary as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the batch, and print the summary."""
    from outspoken.batch import StoppedError  # needs no pyarrow, but the other commands need not wait for it

    try:
        with _ended_by_signals():
            summary = _run(args)
    except StoppedError as error:
        return _stopped(args, 3, str(error))
    except KeyboardInterrupt:
        return _stopped(args, 130, "interrupted")
    except _TerminatedError:
        return _stopped(args, 143, "terminated")
    print(summary.to_json() if args.json else _table(summary))
    if summary.total.quarantined:
        folder = Path(args.out) / "quarantine"
        print(
            f"outspoken: {summary.total.quarantined:,} rows could not be read; they are in `{folder}`", file=sys.stderr
        )
    return int(summary.total.quarantined > 0)


def _run(args: argparse.Namespace) -> Summary:
    from outspoken.batch import run as run_batch
    from outspoken.batch.progress import show_progress

    options = _options(args)
    with show_progress() as show:
        return run_batch(
            args.inputs,
            args.out,
            options,
            workers=args.workers,
            output=args.output,
            restart=args.restart,
            unit_bytes=args.unit_bytes,
            progress=show,
        )


def _options(args: argparse.Namespace) -> BatchOptions:
    """The options of a batch. Raises UsageError for those that are not valid."""
    from outspoken.batch import BatchOptions

    given: dict[str, Any] = {name.replace("-", "_"): getattr(args, name.replace("-", "_")) for name in _COLUMNS}
    for name in ("format", "finish_reason", "provider", "repair", "max_chars", "row_timeout"):
        given[name] = getattr(args, name)
    tools = read_json(args.tools) if args.tools else None
    try:
        return BatchOptions(
            **given, tools=tools, keep=tuple(args.keep), prefix=args.prefix and args.prefix.replace("\\n", "\n")
        )
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error


def _stopped(args: argparse.Namespace, code: int, reason: str) -> int:
    print(f"outspoken: {visible(reason)}", file=sys.stderr)
    print(f"outspoken: what is done stays in `{args.out}`; run the same command again to go on", file=sys.stderr)
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
