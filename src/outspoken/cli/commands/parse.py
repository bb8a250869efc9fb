"""`outspoken parse`: parses responses and shows their segments, or events as they arrive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from outspoken.cli.framework import OUTPUT, declare, option
from outspoken.cli.options import (
    FILES_HELP,
    READING,
    Inputs,
    Reading,
    color_option,
    input_options,
    json_option,
    reading_options,
)
from outspoken.cli.registries import load_registry
from outspoken.cli.results import exit_code, print_event, print_reply, print_title
from outspoken.cli.types import Number
from outspoken.results.events import Done, Event
from outspoken.results.printing import one_line
from outspoken.terminal.errors import UsageError
from outspoken.terminal.explain import summary
from outspoken.terminal.inputs import CHUNK_SIZE
from outspoken.terminal.outputs import print_lines

if TYPE_CHECKING:
    from outspoken.payloads import PayloadParser


@declare(
    "parse",
    "Parse responses and show their segments: text, reasoning, calls, actions, and what was damaged." + FILES_HELP,
    [
        ("outspoken parse response.txt", "detect the format, and show what is in the response"),
        ("outspoken parse -f hermes -T tools.json --json < response.txt", "a known format, as JSON"),
        ("outspoken parse -t 'Action: wait()' --stream", "the events of a stream"),
    ],
)
@input_options
@reading_options()
@option("--payloads", metavar="MODULE:NAME", section=READING, help="a payload registry, or a function that returns one")
@option("--page", metavar="NAME", section=READING, help="the page of `--payloads`; default: all payloads")
@option(
    "--stream", type=Number(), optional_value=CHUNK_SIZE, metavar="[N]", section=OUTPUT,
    help="show events as they arrive, one a line; reads at most N bytes at once",
)  # fmt: skip
@json_option("write the reply as JSON, or events as JSON lines; a line for each of several files")
@color_option
def run(
    inputs: Inputs,
    reading: Reading,
    payloads: str | None,
    page: str | None,
    stream: int | None,
    as_json: bool,
    color: str,
) -> int:
    """Parse each source, and return the highest exit code."""
    parser = _payload_parser(reading, payloads, page) if payloads or page else reading.parser()
    sources, codes = inputs.sources(), [0]
    for source in sources:
        name = source.name if len(sources) > 1 else None
        if stream:
            print_title(name, as_json=as_json)
            codes.append(_print_events(parser.stream(source.chunks(stream), **reading.known), as_json, name))
            continue
        reply = parser.parse(source.read(), **reading.known)
        if as_json:
            print_reply(reply, name)
        else:
            print_title(name)
            print_lines(summary(reply), color)
        codes.append(exit_code(reply))
    return max(codes)


def _payload_parser(reading: Reading, payloads: str | None, page: str | None) -> PayloadParser:
    """Return the parser of a page's payloads. Raises UsageError if there is no such page."""
    if not payloads or reading.format != "auto" or reading.tools_file or reading.screen:
        raise UsageError("`--page` needs `--payloads`; neither can be used with `--format`, `--tools` or `--screen`")
    try:
        return load_registry(payloads).parser(page, repair=reading.repair)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _print_events(events: Iterable[Event], as_json: bool, name: str | None) -> int:
    code = 0
    for event in events:
        if as_json:
            print_event(event, name)
        else:
            print(one_line(event), flush=True)
        if isinstance(event, Done):
            code = exit_code(event.reply)
    return code
