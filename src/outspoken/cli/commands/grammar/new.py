"""`outspoken grammar new`: writes a first grammar and its cases."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.options import json_option
from outspoken.cli.types import File, Name, format_names


@declare(
    "new",
    "Write a first grammar and its cases, from responses, a chat template or a format that is alike.",
    [
        ("outspoken grammar new my_tags.lark --from a.txt b.txt", "from raw responses"),
        ("outspoken grammar new my_tags.lark --template tokenizer_config.json", "from a chat template"),
    ],
)
@click.argument("file", metavar="FILE", type=File())
@option(
    "--from", "from_", several=True, until=".lark", type=File(), metavar="RESPONSE...", help="files with raw responses"
)
@option("--template", type=File(), metavar="FILE", help="a chat template, or a tokenizer_config.json")
@option("--like", type=Name(format_names), metavar="FORMAT", help="copy the grammar of this format")
@option("--force", is_flag=True, help="write it even if a format reads all of it already")
@json_option("write the paths and the remarks as JSON")
def run(file: str, from_: tuple[str, ...], template: str | None, like: str | None, force: bool, as_json: bool) -> int:
    """Write the grammar."""
    words = [*(["--template", template] if template else []), *(["--like", like] if like else [])]
    words += ["--json"] if as_json else []
    return run_tool("new", file, [*words, *(["--force"] if force else []), *(["--from", *from_] if from_ else [])])
