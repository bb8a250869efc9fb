"""`outspoken ui`: a page on this machine that shows how a response is read, or a page of one response as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from outspoken.cli.framework import OUTPUT, declare, option
from outspoken.cli.options import (
    READING,
    Inputs,
    finish_reason_option,
    format_option,
    json_option,
    prefix_option,
    screen_option,
    text_option,
    tools_option,
)
from outspoken.cli.results import print_json
from outspoken.cli.types import File, Name, Number, format_names
from outspoken.results.snippet import visible
from outspoken.terminal.inputs import read_text

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen


@declare(
    "ui",
    "Open a page on this machine where you paste a response, and see how it is read.",
    [
        ("outspoken ui", "open the playground, with an example"),
        ("outspoken ui response.txt -T tools.json", "begin with a response, or with what the page saved"),
        ("outspoken ui response.txt --write page.html", "write one page that works from a file"),
    ],
)
@click.argument("file", required=False, metavar="[FILE]", type=File())
@text_option
@format_option(words="a format's name or alias, auto, or a grammar file (NAME.lark)")
@tools_option
@screen_option
@prefix_option
@finish_reason_option
@option("--chunk", type=Number(least=0), default=0, metavar="N", section=READING,
        help="characters that arrive at once; default: as few as the slider has room for")  # fmt: skip
@option("--port", type=Number(least=0), default=0, metavar="N", section="Server", help="default: a free one")
@option("--open/--no-open", "open_browser", default=True, section="Server", help="open the browser; default: yes")
@option("-w", "--write", type=File(), metavar="PAGE", section=OUTPUT,
        help="write a page of HTML that works from a file, and serve nothing")  # fmt: skip
@option("--to", type=Name(format_names), multiple=True, metavar="NAME", section=OUTPUT,
        help="with `--write`: also show the reply as this format writes it; may be repeated")  # fmt: skip
@json_option("with `--write`: write the path of the page as JSON")
def run(
    file: str | None,
    text: str | None,
    format: str,
    tools: str | None,
    screen: Screen | None,
    prefix: str | None,
    finish_reason: str | None,
    chunk: int,
    port: int,
    open_browser: bool,
    write: str | None,
    to: tuple[str, ...],
    as_json: bool,
) -> int:
    """Serve until the process is asked to stop, or write the page and print its path."""
    from outspoken.playground.run import begin_with, serve  # what reads grammars, which others need not wait for
    from outspoken.playground.run import write as write_page

    inputs = Inputs((file,) if file else (), text)
    source = inputs.sources()[0] if file or write or text is not None else None
    first = begin_with(
        source.read() if source else None,
        source.name if source else "response",
        format=format,
        tools=read_text(tools) if tools else "",
        screen=f"{screen.width}x{screen.height}" if screen else "",
        prefix=prefix,
        finish_reason=finish_reason or "",
        chunk=chunk,
    )
    if not write:
        serve(first, port=port, open_browser=open_browser)
        return 0
    write_page(write, first, formats=list(to))
    if as_json:
        print_json({"written": write})
    else:
        print(f"written: {visible(write)}")
    return 0
