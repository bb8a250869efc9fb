"""`outspoken grammar check`: reports what is wrong with grammars or missing from them."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.types import File


@declare(
    "check",
    "Report what is wrong with grammars or missing from them.",
    [
        ("outspoken grammar check my_tags.lark", "every problem with its place"),
        ("outspoken grammar check *.lark --explain", "and both derivations of each conflict"),
    ],
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=File())
@option("--explain", is_flag=True, help="print both derivations of each conflict")
def run(files: tuple[str, ...], explain: bool) -> int:
    """Check the grammars, and return the highest exit code."""
    return max([run_tool("check", file, ["--explain"] if explain else []) for file in files])
