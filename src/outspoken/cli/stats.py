"""`outspoken stats`: counts the statuses of many responses."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, cast

from outspoken.parsing.parser import Parser
from outspoken.processing.processor import ResponseProcessor
from outspoken.processing.settings import ProcessorSettings
from outspoken.processing.stats import ParseStats
from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible

from .inputs import read_text, read_tools

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


def run(args: argparse.Namespace) -> int:
    """Process the responses of all files and print the counts. Other lines are reported and skipped."""
    settings = ProcessorSettings(
        enable_recovery_strategies=not args.no_recovery,
        strict_validation=args.strict,
        log_failed_parses=False,
        expect=args.expect,
    )
    tools = read_tools(args.tools) if args.tools else None
    stats = ParseStats()

    @cache
    def processor(format: str) -> ResponseProcessor:
        return ResponseProcessor(Parser(format, tools=tools), settings=settings, stats=stats)

    problems = 0
    for path in args.files:
        for found in _responses(path):
            problems += not _count(processor, found, args.format)
    print(stats.to_json() if args.json else stats.to_table())
    return int(problems > 0)


def _count(processor: Callable[[str], ResponseProcessor], found: Response | str, format: str) -> bool:
    """Process a response. Returns False after printing the problem, if there is one."""
    problem = found
    if isinstance(found, Response):
        try:
            processor(found.format or format).process(
                found.text, prefix=found.prefix, finish_reason=found.finish_reason
            )
        except OutspokenError as error:
            problem = f"{found.place}: {error}"
        else:
            return True
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
