"""`outspoken stats`: statistics of files of responses."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from outspoken.processing.config import ParserConfig
from outspoken.processing.processor import ResponseProcessor
from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible

from .main import read_text, read_tools

#: The names of files with a response on each line, and of the keys that hold it there.
_LINES, _KEYS = (".jsonl", ".ndjson"), ("text", "response")


class Response(NamedTuple):
    """A response of a file: where it stands, what it says, and what is known of it."""

    place: str
    text: str
    format: str | None
    finish_reason: str | None


class BadLine(ValueError):
    """A line that is no response."""


def run(given: argparse.Namespace) -> int:
    """Read all responses of all files and print the table. What cannot be read is reported, and does not count."""
    config = ParserConfig(
        enable_recovery_strategies=not given.no_recovery,
        strict_validation=given.strict,
        log_failed_parses=False,
        expect=given.expect,
    )
    processor = ResponseProcessor(config, tools=read_tools(given.tools) if given.tools else None)
    bad = 0
    for path in given.files:
        for found in _responses(path):
            bad += not _count(processor, found, given.format)
    print(processor.stats.to_json() if given.json else processor.stats.to_table())
    return int(bad > 0)


def _count(processor: ResponseProcessor, found: Response | str, format: str) -> bool:
    """Process a response; False where it is none, or cannot be read, which is reported."""
    problem = found
    if isinstance(found, Response):
        try:
            processor.process(found.text, found.format or format, finish_reason=found.finish_reason)
        except OutspokenError as error:
            problem = f"{found.place}: {error}"
        else:
            return True
    print(f"outspoken: {visible(' '.join(str(problem).split()))}", file=sys.stderr)
    return False


def _responses(path: str) -> Iterator[Response | str]:
    """The responses of a file, and what is wrong with lines that are none. Raises WrongUse for no readable file."""
    text, name = read_text(path), "standard input" if path == "-" else path
    if path != "-" and not path.lower().endswith(_LINES):
        yield Response(name, text, None, None)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            yield _response(line, place)
        except BadLine as error:
            yield f"{place}: {error}"


def _response(line: str, place: str) -> Response:
    """The response on a line. Raises BadLine."""
    try:
        data: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadLine(f"this is not JSON: {error.msg} (column {error.colno})") from None
    except (RecursionError, ValueError):
        raise BadLine("this is not JSON") from None
    if not isinstance(data, dict):
        raise BadLine(f"this is {_kind(data)}; expected an object with `text` or `response`")
    known = cast("dict[str, Any]", data)
    key = next((key for key in _KEYS if key in known), None)
    if key is None:
        raise BadLine("this object has neither `text` nor `response`")
    for name in (key, "format", "finish_reason"):
        if not isinstance(known.get(name), str) and (name == key or known.get(name) is not None):
            raise BadLine(f"`{name}` is {_kind(known[name])}; expected a string")
    return Response(place, known[key], known.get("format"), known.get("finish_reason"))


def _kind(value: Any) -> str:
    return "null" if value is None else f"of type {type(value).__name__}"
