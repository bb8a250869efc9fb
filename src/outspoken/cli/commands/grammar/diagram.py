"""`outspoken grammar diagram`: draws the syntax as a railroad diagram."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.types import File


@declare(
    "diagram",
    "Draw the syntax of a grammar as a railroad diagram in SVG.",
    [("outspoken grammar diagram my_tags.lark -o my_tags.svg", "into a file")],
)
@click.argument("file", metavar="FILE", type=File())
@option("-o", "--output", type=File(), metavar="OUT", help="the SVG file to write; default: standard output")
def run(file: str, output: str | None) -> int:
    """Draw the diagram."""
    return run_tool("diagram", file, [f"--output={output}"] if output else [])
