"""`outspoken grammar show`: shows how a response is read."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.options import color_option, json_option, prefix_option, tools_option
from outspoken.cli.types import File, Number


@declare(
    "show",
    "Show how a response is read: tokens, tree, segments, and where the grammar rejects it."
    "\n\nRESPONSE is a file, `-` for standard input, or a case of the grammar, such as ok/one_call.",
    [
        ("outspoken grammar show my_tags.lark response.txt", "a file"),
        ("outspoken grammar show my_tags.lark ok/one_call --trace", "a case of the grammar, step by step"),
    ],
)
@click.argument("file", metavar="FILE", type=File())
@click.argument("response", metavar="RESPONSE", type=File())
@option("--stream", type=Number(), metavar="N", help="read N characters at a time, and show each piece")
@option("--trace", is_flag=True, help="show each step, and what was acceptable there")
@option("--html", type=File(), metavar="OUT", help="write a page that shows all of it, and nothing else")
@tools_option
@prefix_option
@json_option("write tokens, tree and reply as a line of JSON")
@color_option
def run(
    file: str,
    response: str,
    stream: int | None,
    trace: bool,
    html: str | None,
    tools: str | None,
    prefix: str | None,
    as_json: bool,
    color: str,
) -> int:
    """Show the response."""
    words = [f"--stream={stream}"] if stream else []
    words += ["--trace"] if trace else []
    words += ["--json"] if as_json else []
    given = {"html": html, "tools": tools, "prefix": prefix, "color": color}
    return run_tool("show", file, [response, *words, *[f"--{name}={value}" for name, value in given.items() if value]])
