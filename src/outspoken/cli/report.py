"""`outspoken report`: writes a page about the results of `outspoken batch`."""

from __future__ import annotations

import argparse

from outspoken.results.snippet import visible


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("folder", metavar="DIR", help="the folder of the results of `outspoken batch`")
    command.add_argument("--out", metavar="FILE", help="the page; default: report.html in DIR")
    words = "a kept column of times: damage is shown over time, and not by file"
    command.add_argument("--time-column", metavar="C", help=words)
    command.add_argument("--partial", action="store_true", help="report what is done of a batch that is not complete")


def run(args: argparse.Namespace) -> int:
    """Write the page, and print its path."""
    from outspoken.batch import write_report  # imports pyarrow, which the other commands need not wait for

    path = write_report(args.folder, args.out, time_column=args.time_column, partial=args.partial)
    print(f"written: {visible(str(path))}")
    return 0
