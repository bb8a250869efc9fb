"""`outspoken grammar check`: reports what is wrong with grammars or missing from them."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.options import json_option
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
@json_option("write the findings as JSON, a line for each grammar")
def run(files: tuple[str, ...], explain: bool, as_json: bool) -> int:
    """Check the grammars, and return the highest exit code."""
    words = [*(["--explain"] if explain else []), *(["--json"] if as_json else [])]
    return max([run_tool("check", file, words) for file in files])
