"""The functions that a caller uses."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from outspoken.fast_path import detection, reader
from outspoken.results.edits import RepairLimit
from outspoken.results.events import Event
from outspoken.results.replies import Reply
from outspoken.results.settings import DEFAULT, Settings, with_screen

from .session import OnError, Session, StreamParser

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen, Space


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
    """Read a whole response.

    `format` is a format's name or alias, or "auto": each segment is then read by the format that its text fits.
    `tools` are the tools that the model was given: OpenAI or Anthropic dicts, pydantic models, annotated callables;
    their schemas give the types of arguments that are written as bare text. `prefix` is what the prompt had already
    opened (`<think>` and a line break): it is read first, and is no part of the spans. Without it, it is what the
    format's prompts always end with, unless the response begins with that itself; "" says that nothing was opened.

    `repair` says how far damage may be repaired, each step with the ones before it: "none"; "notation", where there is
    one reading only (a trailing comma in JSON); "structure", missing brackets and commas, and from here on missing
    markers; "strings", quotes that are not escaped (this is what is done if nothing is said); "heuristic", a guess. All
    that was changed is in `reply.repairs`. `finish_reason` is what the provider said of the end, if it said it: with
    "stop" and the like a call at the end may lack its closing markers, with "length" or nothing it is truncated.

    `coordinates` is the space in which the points of GUI actions are written, where that is not the format's own. With
    a `screen`, points are given in its pixels. Both may stand in the settings, too, which also say whether points
    beyond the screen are moved to its edge.

    Nothing that a model can write raises: what is wrong is in `reply.diagnostics`. With `on_error="raise"` the first
    error is raised as a ResponseError, and nothing is repaired unless `repair` says so. Raises UnknownFormatError,
    ToolError, ValueError for an unknown `repair`, and LimitError for text over the limit.
    """
    if coordinates is not None or screen is not None:
        settings = with_screen(settings, coordinates, screen)
    if repair is None and on_error == "keep" and reader.ENABLED and not (prefix and format == "auto"):
        given = settings or DEFAULT
        auto = format == "auto"
        reply = detection.read(text, tools, given) if auto else reader.read(text, format, prefix, tools, given)
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
    """Read a response that arrives in chunks, and yield its events as early as they are certain.

    The last event is `Done`, with the reply that `parse` would give for the joined chunks. See `parse` for the rest.
    """
    parser = StreamParser(
        format,
        tools=tools,
        prefix=prefix,
        on_error=on_error,
        repair=repair,
        settings=with_screen(settings, coordinates, screen),
    )
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
    """`stream` for chunks that arrive asynchronously."""
    parser = StreamParser(
        format,
        tools=tools,
        prefix=prefix,
        on_error=on_error,
        repair=repair,
        settings=with_screen(settings, coordinates, screen),
    )
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
    for event in parser.close():
        yield event
