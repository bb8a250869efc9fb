"""`outspoken stats`: counts the statuses of many responses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from outspoken.cli import options
from outspoken.grammar import registry
from outspoken.parsing.parser import Parser
from outspoken.processing.processor import ResponseProcessor
from outspoken.processing.settings import Expect, ProcessorSettings
from outspoken.processing.stats import ParseStats
from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible
from outspoken.terminal.inputs import read_text
from outspoken.terminal.outputs import ProgressLine

_EXPECT = get_args(Expect)
#: The suffixes of files with a response on each line.
_LINE_SUFFIXES = (".jsonl", ".ndjson")


class Response(BaseModel):
    """A line of a file: a response, and what is known of it."""

    model_config = ConfigDict(strict=True)

    text: str | None = Field(validation_alias=AliasChoices("text", "response"))
    format: str | None = None
    prefix: str | None = None
    finish_reason: str | None = None


@options.command(
    "stats",
    "Count how many responses are ok, repaired, truncated or invalid, by format."
    "\n\nFILE is a response. In `.jsonl` files and standard input (`-`), each line is an object with `text` or "
    "`response`, and if need be `format`, `prefix` and `finish_reason`.",
    ("outspoken stats responses.jsonl", "an object with `text` on each line"),
    ("outspoken stats logs/*.txt --json", "files with one response each; the counts as JSON"),
    ("outspoken stats parsed/", "the summary of a folder of results of `outspoken batch`"),
)
@options.files_argument
@options.reading_options(
    options.option("--expect KIND", f"what a response must have: {', '.join(_EXPECT)}", _EXPECT, default="anything"),
    options.option("--strict", "count repairs and warnings as failures"),
    options.option("--no-recovery", "repair nothing"),
    format=options.format_option("the format of responses that name none"),
)
@options.json_option("write the counts as JSON")
def run(files: tuple[str, ...], expect: Expect, strict: bool, no_recovery: bool, as_json: bool, **given: Any) -> int:
    """Process the responses of all files and print the counts. Other lines are reported and skipped."""
    if len(files) == 1 and os.path.isdir(files[0]):
        from .batch import show_summary

        return show_summary(files[0], as_json=as_json)
    reading = options.ReadingOptions.of(given)
    if reading.format != "auto":
        registry.resolve(reading.format or "")
    settings = ProcessorSettings(
        enable_recovery_strategies=not no_recovery, strict_validation=strict, log_failed_parses=False, expect=expect
    )
    stats, wanted = ParseStats(), reading.options

    @cache
    def processor(format: str) -> ResponseProcessor:
        return ResponseProcessor(Parser(format, **wanted), settings=settings, stats=stats)

    problems = 0
    with ProgressLine("responses") as progress:
        for place, line, is_json in chain.from_iterable(map(_responses, options.given_files(files))):
            try:
                response = Response.model_validate_json(line) if is_json else Response(text=line)
                prefix = reading.prefix if response.prefix is None else response.prefix
                end = response.finish_reason or reading.finish_reason
                response_processor = processor(response.format or reading.format or "auto")
                response_processor.process(response.text or "", prefix=prefix, finish_reason=end)
                progress.step()
            except (ValidationError, OutspokenError) as error:
                problems += 1
                progress.clear()
                print(f"outspoken: {visible(' '.join(f'{place}: {_problem(error)}'.split()))}", file=sys.stderr)
    print(stats.to_json() if as_json else stats.to_table())
    return int(problems > 0)


def _responses(path: str) -> Iterator[tuple[str, str, bool]]:
    """Read the responses of a file: their places, what is written there, and whether that is JSON.

    Raises UsageError for an unreadable file.
    """
    text, name = read_text(path), "standard input" if path == "-" else path
    if path != "-" and not path.lower().endswith(_LINE_SUFFIXES):
        yield name, text, False
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{name}:{number}", line, True


def _problem(error: ValidationError | OutspokenError) -> str:
    """Why a line is no response, or cannot be read."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return "this is not JSON"
    place = ".".join([str(part) for part in first["loc"]])
    return f"`{place}`: {first['msg']}" if place else f"{first['msg']}; expected an object with `text`"
