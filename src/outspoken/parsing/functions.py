"""`parse`, `stream` and `astream`: the functions that read responses."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from outspoken.fast_path import reader
from outspoken.results.edits import RepairLimit
from outspoken.results.events import Event
from outspoken.results.replies import Reply
from outspoken.results.settings import DEFAULT, Settings, with_screen

from .session import OnError, Session, StreamParser

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen, Space


@cache
def _detection() -> ModuleType:
    from outspoken.fast_path import detection  # a format that is named does not need it

    return detection


def parse(
    text: str,
    format: str = "auto",
    *,
    tools: Any = None,
    prefix: str | None = None,
    on_error: OnError = "keep",
    repair: RepairLimit | None = None,
    coordinates: Space | None = None,
    screen: Screen | None = None,
    finish_reason: str | None = None,
    settings: Settings | None = None,
) -> Reply:
    """Parse a complete response.

    `format` is the name or an alias of a format. With "auto", each segment is read by the format that fits it.
    `tools` are the tools that the model was given, as OpenAI or Anthropic dicts, pydantic models or annotated
    callables. Their schemas give bare-text arguments a type.

    `prefix` is the end of the prompt, if it opens markup (`<think>` and a line break). It is read before the text and
    is not part of any span. By default it is what the format's prompts always end with, unless the response itself
    begins so. Pass "" if the prompt opens nothing.

    `repair` limits repairs. Each level includes those before it: "none"; "notation", repairs with one possible reading,
    such as a trailing comma in JSON; "structure", missing brackets, commas and markers; "strings", unescaped quotes
    (the default); "heuristic", a guess. Every change is in `reply.repairs`. `finish_reason` is the provider's finish
    reason. With "stop" and the like, closing markers that are missing at the end are inserted; with "length" or None,
    the last call is truncated.

    `coordinates` is the coordinate space of points in GUI actions, if it is not the format's own. With a `screen`,
    points are converted to its pixels. Both can also be set in `settings`, which also say whether points outside of
    the screen are moved to its edge.

    Damaged responses do not raise: problems are in `reply.diagnostics`. With `on_error="raise"`, the first error raises
    ResponseError, and nothing is repaired unless `repair` is given. Raises UnknownFormatError for an unknown format,
    ToolError for an invalid tool, ValueError for an unknown `repair`, and LimitError for a text over the limit.
    """
    if coordinates is not None or screen is not None:
        settings = with_screen(settings, coordinates, screen)
    if repair is None and on_error == "keep" and reader.ENABLED and not (prefix and format == "auto"):
        given = settings or DEFAULT
        if format == "auto":
            reply = _detection().read(text, tools, given)
        else:
            reply = reader.read(text, format, prefix, tools, given)
        if reply is not None:
            return reply
    return Session(format, tools, prefix, on_error, repair, settings, None).read(text, finish_reason)


def stream(
    chunks: Iterable[str | bytes],
    format: str = "auto",
    *,
    tools: Any = None,
    prefix: str | None = None,
    on_error: OnError = "keep",
    repair: RepairLimit | None = None,
    coordinates: Space | None = None,
    screen: Screen | None = None,
    settings: Settings | None = None,
) -> Iterator[Event]:
    """Parse a response that arrives in chunks, and yield each event as soon as it is certain.

    The last event is `Done`. Its reply equals that of `parse` for the joined chunks. For the arguments, see `parse`.
    """
    settings = with_screen(settings, coordinates, screen)
    parser = StreamParser(format, tools=tools, prefix=prefix, on_error=on_error, repair=repair, settings=settings)
    for chunk in chunks:
        yield from parser.feed(chunk)
    yield from parser.close()


async def astream(
    chunks: AsyncIterable[str | bytes],
    format: str = "auto",
    *,
    tools: Any = None,
    prefix: str | None = None,
    on_error: OnError = "keep",
    repair: RepairLimit | None = None,
    coordinates: Space | None = None,
    screen: Screen | None = None,
    settings: Settings | None = None,
) -> AsyncIterator[Event]:
    """Like `stream`, for an asynchronous iterable of chunks."""
    settings = with_screen(settings, coordinates, screen)
    parser = StreamParser(format, tools=tools, prefix=prefix, on_error=on_error, repair=repair, settings=settings)
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
    for event in parser.close():
        yield event
