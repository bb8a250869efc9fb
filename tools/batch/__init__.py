"""Heavy checks of `outspoken batch`, which take too long for the tests. Run as `python -m tools.batch CHECK`.

`kills`: the command is killed at random moments, and its results equal those of a run that was not.
`memory`: the memory of all processes for inputs from 10 MB to 2 GB.
`bad-rows`: one bad row in a thousand, of ten kinds; all are in quarantine, none is lost.
`clusters`: Ray and Spark read the same rows as the embedded engine; and how fast each is.
"""

from __future__ import annotations

import argparse

from .bad_rows import check_bad_rows
from .clusters import ENGINES, check_clusters
from .kills import check_kills
from .memory import check_memory


def main(arguments: list[str] | None = None) -> int:
    """Run one of the checks. Returns 1 if it fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.batch", description="Heavy checks of `outspoken batch`.")
    commands = parser.add_subparsers(metavar="CHECK", required=True)
    kills = commands.add_parser("kills", help="kill the command at random moments, and go on")
    kills.add_argument("--rows", type=int, default=200_000, help="default: 200,000")
    kills.add_argument("--kills", type=int, default=10, help="default: 10")
    kills.add_argument("--seed", type=int, default=1, help="default: 1")
    kills.set_defaults(run=_kills)
    memory = commands.add_parser("memory", help="measure memory for inputs of several sizes")
    memory.add_argument("--megabytes", type=int, nargs="*", default=[10, 100, 2000], help="default: 10 100 2000")
    memory.add_argument("--suffix", choices=(".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"), default=".jsonl")
    memory.set_defaults(run=_memory)
    rows = commands.add_parser("bad-rows", help="read one bad row in a thousand")
    rows.add_argument("--rows", type=int, default=200_000, help="default: 200,000")
    rows.set_defaults(run=_bad_rows)
    clusters = commands.add_parser("clusters", help="compare Ray and Spark with the embedded engine")
    clusters.add_argument("--rows", type=int, default=20_000, help="rows to compare; default: 20,000")
    clusters.add_argument(
        "--speed-rows", type=int, default=200_000, help="rows to measure; default: 200,000; 0 for none"
    )
    clusters.add_argument("--engine", nargs="*", choices=ENGINES, default=ENGINES, help="default: all")
    clusters.set_defaults(run=_clusters)
    found = parser.parse_args(arguments)
    return int(not found.run(found))


def _kills(found: argparse.Namespace) -> bool:
    return check_kills(found.rows, found.kills, found.seed)


def _memory(found: argparse.Namespace) -> bool:
    return check_memory(found.megabytes, found.suffix)


def _bad_rows(found: argparse.Namespace) -> bool:
    return check_bad_rows(found.rows)


def _clusters(found: argparse.Namespace) -> bool:
    return check_clusters(found.rows, found.speed_rows, found.engine)
