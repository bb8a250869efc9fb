"""`outspoken grammar check`: reports what is wrong with grammars or missing from them."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare
from outspoken.cli.options import json_option
from outspoken.cli.types import File


@declare(
    "check",
    "Report what is wrong with grammars or missing from them.",
    [
        ("outspoken grammar check my_tags.lark", "every problem with its place"),
        ("outspoken grammar check *.lark --json", "the findings as JSON, a line for each grammar"),
    ],
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=File())
@json_option("write the findings as JSON, a line for each grammar")
def run(files: tuple[str, ...], as_json: bool) -> int:
    """Check the grammars, and return the highest exit code."""
    return max([run_tool("check", file, ["--json"] if as_json else []) for file in files])
