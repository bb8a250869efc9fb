"""`outspoken ui`: a page on this machine that shows how a response is read, or a page of one response as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from cloup import argument, option_group

from outspoken.cli.options import SHARED, File, command, format_names, format_option, json_option, option, sources
from outspoken.results.packages import install_command
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text
from outspoken.terminal.outputs import print_written

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen


@command(
    "ui",
    "Open a page on this machine where you paste a response, and see how it is read.",
    ("outspoken ui", "open the playground, with an example"),
    ("outspoken ui response.txt -T tools.json", "begin with a response, or with what the page saved"),
    ("outspoken ui response.txt --write page.html", "write one page that works from a file"),
)
@argument("file", required=False, metavar="[FILE]", type=File())
@option_group(
    "Reading",
    SHARED["text"],
    format_option("a format's name or alias, the id or the folder of a model, auto, or a grammar file (NAME.lark)"),
    SHARED["tools"],
    SHARED["screen"],
    SHARED["prefix"],
    SHARED["finish-reason"],
    option(
        "--chunk N", "characters that arrive at once", click.IntRange(0), default=0,
        shown="as few as the slider has room for",
    ),
)  # fmt: skip
@option_group(
    "Server",
    option("--port N", "the port to listen on", click.IntRange(0, 65535), default=0, shown="a free one"),
    option("--open/--no-open", "open the browser", into="open_browser", default=True),
)
@option_group(
    "Output",
    option("-w --write PAGE", "write a page of HTML that works from a file, and serve nothing", File()),
    option(
        "--to NAME", "with `--write`: also show the reply as this format writes it; may be repeated",
        shell_complete=format_names, multiple=True,
    ),
    json_option("with `--write`: write the path of the page as JSON"),
)  # fmt: skip
def run(
    file: str | None, text: str | None, tools: str | None, screen: Screen | None, port: int, open_browser: bool,
    write: str | None, to: tuple[str, ...], as_json: bool, **given: Any,
) -> int:  # fmt: skip
    """Serve until the process is asked to stop, or write the page and print its path."""
    from outspoken.playground.given import begin_with  # what reads grammars, which others need not wait for

    source = sources((file,) if file else (), text)[0] if file or write or text is not None else None
    first = begin_with(
        source.read() if source else None,
        source.name if source else "response",
        tools=tools and read_text(tools),
        screen=screen and f"{screen.width}x{screen.height}",
        **given,
    )
    if write:
        from outspoken.playground.answers import write as write_page

        write_page(write, first, formats=list(to))
        return print_written(write, as_json=as_json)
    try:
        from outspoken.playground.app import serve
    except ImportError as error:
        raise UsageError(f"the playground needs {error.name}: {install_command('ui')}") from None
    serve(first, port=port, open_browser=open_browser)
    return 0
