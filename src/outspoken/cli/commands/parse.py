"""`outspoken parse`: parses responses and shows their segments, or events as they arrive."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from outspoken.cli.options import (
    FILES_HELP,
    Command,
    File,
    ReadingOptions,
    command,
    input_options,
    option,
    output_options,
    sources,
)
from outspoken.results.events import Done
from outspoken.results.printing import one_line
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import CHUNK_SIZE
from outspoken.terminal.outputs import exit_code, print_json, print_lines, print_title
from outspoken.viewer.lines import summary

if TYPE_CHECKING:
    from outspoken.payloads import PayloadParser, PayloadRegistry


class _Parse(Command):
    """The command; the value of `--stream` may be left out. Only a number counts as one, so that a file may follow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give `--stream` its value, as click takes it."""
        end = args.index("--") if "--" in args else len(args)
        for at, (word, following) in enumerate(zip(args[:end], [*args[1:], ""], strict=False)):
            if word == "--stream" and not following.lstrip("-").isdecimal():
                args = [*args[:at], f"--stream={CHUNK_SIZE}", *args[at + 1 :]]
        return super().parse_args(ctx, args)


@command(
    "parse",
    "Parse responses and show their segments: text, reasoning, calls, actions, and what was damaged." + FILES_HELP,
    ("outspoken parse response.txt", "detect the format, and show what is in the response"),
    ("outspoken parse -f hermes -T tools.json --json < response.txt", "a known format, as JSON"),
    ("outspoken parse -t 'Action: wait()' --stream", "the events of a stream"),
    kind=_Parse,
)
@input_options(
    option("--payloads MODULE:NAME", "a payload registry, or a function that returns one"),
    option("--page NAME", "the page of `--payloads`", shown="all payloads"),
)
@output_options(
    "write the reply as JSON, or events as JSON lines; a line for each of several files",
    option(
        "--stream [N]", "show events as they arrive, one a line; reads at most N bytes at once", click.IntRange(1),
        shell_complete=File().shell_complete,
    ),
)  # fmt: skip
def run(
    files: tuple[str, ...], text: str | None, payloads: str | None, page: str | None, stream: int | None, as_json: bool,
    color: str, **given: Any,
) -> int:  # fmt: skip
    """Parse each source, and return the highest exit code."""
    reading = ReadingOptions.of(given)
    parser = _payload_parser(reading, payloads, page) if payloads or page else reading.parser()
    codes = [0]
    for source in sources(files, text):
        name = source.title
        print_title(None if as_json else name)
        if stream:
            for event in parser.stream(source.chunks(stream), **reading.known):
                print_json(event, name, line=True) if as_json else print(one_line(event), flush=True)
                codes += [exit_code(event.reply)] if isinstance(event, Done) else []
            continue
        reply = parser.parse(source.read(), **reading.known)
        print_json({"reply": reply} if name else reply, name) if as_json else print_lines(summary(reply), color)
        codes.append(exit_code(reply))
    return max(codes)


def _payload_parser(reading: ReadingOptions, payloads: str | None, page: str | None) -> PayloadParser:
    """Return the parser of a page's payloads. Raises UsageError if there is no such page."""
    if not payloads or reading.format != "auto" or reading.tools_file or reading.screen:
        raise UsageError("`--page` needs `--payloads`; neither can be used with `--format`, `--tools` or `--screen`")
    try:
        return _load_registry(payloads).parser(page, repair=reading.repair)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _load_registry(named: str) -> PayloadRegistry:
    """Load the registry `module:name`, or the one that the function of that name returns.

    Modules in the working directory are found, too. Raises UsageError if there is no registry.
    """
    from pkgutil import resolve_name  # neither is needed without payloads

    from outspoken.payloads import PayloadRegistry

    if ":" not in named.strip(":"):
        raise UsageError(f"`{named}` is not a registry; write it as `module:name`")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        loaded: Any = resolve_name(named)
        registry = loaded() if callable(loaded) else loaded
    except Exception as error:
        raise UsageError(f"cannot load `{named}`: {type(error).__name__}: {error}") from error
    if not isinstance(registry, PayloadRegistry):
        raise UsageError(f"`{named}` is of type {type(registry).__name__}; expected a PayloadRegistry")
    return registry
