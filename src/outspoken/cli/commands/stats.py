"""`outspoken stats`: counts the statuses of many responses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, cast, get_args

import click
from cloup import option

from outspoken.cli.framework import command
from outspoken.cli.options import Reading, files_argument, format_option, given_files, json_option, reading_options
from outspoken.grammar import registry
from outspoken.parsing.parser import Parser
from outspoken.processing.processor import ResponseProcessor
from outspoken.processing.settings import Expect, ProcessorSettings
from outspoken.processing.stats import ParseStats
from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible
from outspoken.terminal.inputs import read_text
from outspoken.terminal.progress import ProgressLine

#: The suffixes of files with a response on each line, and the keys that hold its text.
_LINE_SUFFIXES, _TEXT_KEYS = (".jsonl", ".ndjson"), ("text", "response")


class Response(NamedTuple):
    """A response, with the file and line that it is from."""

    place: str
    text: str
    format: str | None
    prefix: str | None
    finish_reason: str | None


class LineError(ValueError):
    """A line is not a response."""


@command(
    "stats",
    "Count how many responses are ok, repaired, truncated or invalid, by format."
    "\n\nFILE is a response. In `.jsonl` files and standard input (`-`), each line is an object with `text` or "
    "`response`, and if need be `format`, `prefix` and `finish_reason`.",
    ("outspoken stats responses.jsonl", "an object with `text` on each line"),
    ("outspoken stats logs/*.txt --json", "files with one response each; the counts as JSON"),
    ("outspoken stats parsed/", "the summary of a folder of results of `outspoken batch`"),
)
@files_argument
@reading_options(
    option(
        "--expect", type=click.Choice(get_args(Expect)), default="anything", metavar="KIND",
        help=f"what a response must have: {', '.join(get_args(Expect))}; default: anything",
    ),
    option("--strict", is_flag=True, help="count repairs and warnings as failures"),
    option("--no-recovery", is_flag=True, help="repair nothing"),
    format=format_option(words="the format of responses that name none"),
    text=False,
)  # fmt: skip
@json_option("write the counts as JSON")
def run(files: tuple[str, ...], expect: Expect, strict: bool, no_recovery: bool, as_json: bool, **given: Any) -> int:
    """Process the responses of all files and print the counts. Other lines are reported and skipped."""
    if len(files) == 1 and os.path.isdir(files[0]):
        from .batch import show_summary

        return show_summary(files[0], as_json=as_json)
    reading = Reading.of(given)
    if reading.format != "auto":
        registry.resolve(reading.format or "")
    settings = ProcessorSettings(
        enable_recovery_strategies=not no_recovery, strict_validation=strict, log_failed_parses=False, expect=expect
    )
    stats, tools = ParseStats(), reading.tools

    @cache
    def processor(format: str) -> ResponseProcessor:
        return ResponseProcessor(
            Parser(format, tools=tools, repair=reading.repair, screen=reading.screen), settings=settings, stats=stats
        )

    problems = 0
    with ProgressLine("responses") as progress:
        for path in given_files(files):
            for found in _responses(path):
                problems += not _count(processor, found, reading, progress)
    print(stats.to_json() if as_json else stats.to_table())
    return int(problems > 0)


def _count(
    processor: Callable[[str], ResponseProcessor], found: Response | str, reading: Reading, progress: ProgressLine
) -> bool:
    """Process a response. Returns False after printing the problem, if there is one."""
    problem = found
    if isinstance(found, Response):
        try:
            processor(found.format or reading.format or "auto").process(
                found.text,
                prefix=reading.prefix if found.prefix is None else found.prefix,
                finish_reason=found.finish_reason or reading.finish_reason,
            )
        except OutspokenError as error:
            problem = f"{found.place}: {error}"
        else:
            progress.step()
            return True
    progress.clear()
    print(f"outspoken: {visible(' '.join(str(problem).split()))}", file=sys.stderr)
    return False


def _responses(path: str) -> Iterator[Response | str]:
    """Read the responses of a file, and a message for each other line. Raises UsageError for an unreadable file."""
    text, name = read_text(path), "standard input" if path == "-" else path
    if path != "-" and not path.lower().endswith(_LINE_SUFFIXES):
        yield Response(name, text, None, None, None)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            yield _response(line, place)
        except LineError as error:
            yield f"{place}: {error}"


def _response(line: str, place: str) -> Response:
    """Parse the response on a line. Raises LineError."""
    try:
        data: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise LineError(f"this is not JSON: {error.msg} (column {error.colno})") from None
    except (RecursionError, ValueError):
        raise LineError("this is not JSON") from None
    if not isinstance(data, dict):
        raise LineError(f"this is {_describe(data)}; expected an object with `text` or `response`")
    known = cast("dict[str, Any]", data)
    key = next((key for key in _TEXT_KEYS if key in known), None)
    if key is None:
        raise LineError("this object has neither `text` nor `response`")
    for name in (key, "format", "prefix", "finish_reason"):
        if not isinstance(known.get(name), str | None):
            raise LineError(f"`{name}` is {_describe(known[name])}; expected a string or null")
    return Response(place, known[key] or "", known.get("format"), known.get("prefix"), known.get("finish_reason"))


def _describe(value: Any) -> str:
    return "null" if value is None else f"of type {type(value).__name__}"
