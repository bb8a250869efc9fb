"""`to_wire`, `stream_to_wire` and `sse`: replies and events in the wire formats of other APIs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from pydantic_core import to_json

from outspoken.providers.events import StreamEvent
from outspoken.results.arguments import check_choice, check_type
from outspoken.results.replies import Reply

from .chat_completions.exporter import ChatCompletionsExporter, ChatCompletionsOptions
from .exporter import Exporter
from .messages.exporter import AnthropicExporter
from .parts import Part
from .replay import check_events
from .responses.exporter import ResponsesExporter
from .vercel import VercelExporter

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Chat completions and responses of OpenAI, messages of Anthropic, and UI messages of Vercel's AI SDK.
Wire = Literal["openai", "openai_responses", "anthropic", "vercel"]

_EXPORTERS: dict[Wire, type[Exporter]] = {
    "openai": ChatCompletionsExporter,
    "openai_responses": ResponsesExporter,
    "anthropic": AnthropicExporter,
    "vercel": VercelExporter,
}
#: Wire formats that name their events, and those that end with `[DONE]`.
_WITH_EVENT_NAMES = frozenset({"openai_responses", "anthropic"})
_WITH_DONE = frozenset({"openai", "vercel"})


class WireOptions(ChatCompletionsOptions, total=False):
    """The options of an export; see `Exporter`.

    For "openai", `index` is that of the choice (0), `reasoning_field` names reasoning ("reasoning_content"), and
    `include_usage=False` leaves out the last chunk of a stream, with the usage. For "vercel", `dynamic` says that the
    client does not know the tools.
    """

    dynamic: bool


def to_wire(reply: Reply, wire: Wire, **options: Unpack[WireOptions]) -> Part:
    """Write a reply as a whole response of another API, as a dict for JSON; see `WireOptions`.

    Incomplete calls are only in its extension `outspoken`, and the finish reason says "length". A provider's error
    takes the place of a completion or a message. Raises ValueError for an unknown wire format, and TypeError for an
    option that it does not have.
    """
    return _exporter(wire, options).whole(check_type(reply, Reply, "reply"))


@overload
def stream_to_wire(events: Iterable[StreamEvent], wire: Wire, **options: Unpack[WireOptions]) -> Iterator[Part]: ...
@overload
def stream_to_wire(
    events: AsyncIterable[StreamEvent], wire: Wire, **options: Unpack[WireOptions]
) -> AsyncIterator[Part]: ...
def stream_to_wire(
    events: Iterable[StreamEvent] | AsyncIterable[StreamEvent], wire: Wire, **options: Unpack[WireOptions]
) -> Iterator[Part] | AsyncIterator[Part]:
    """Write events as those of another API's stream, each as early as possible, as dicts for JSON; see `WireOptions`.

    The events are those of `stream`, `stream_response` and the like; asynchronous ones give an asynchronous iterator.
    What the API has no field for is in the extension `outspoken`. Raises what `to_wire` raises.
    """
    from outspoken.parsing.event_stream import aread_chunks, read_chunks  # whole replies are written without it

    exporter = _exporter(wire, options)
    if isinstance(events, AsyncIterable):
        return aread_chunks(exporter, events)
    check_events(events)
    return read_chunks(exporter, events)


@overload
def sse(events: Iterable[StreamEvent], wire: Wire, **options: Unpack[WireOptions]) -> Iterator[bytes]: ...
@overload
def sse(events: AsyncIterable[StreamEvent], wire: Wire, **options: Unpack[WireOptions]) -> AsyncIterator[bytes]: ...
def sse(
    events: Iterable[StreamEvent] | AsyncIterable[StreamEvent], wire: Wire, **options: Unpack[WireOptions]
) -> Iterator[bytes] | AsyncIterator[bytes]:
    """Write events as another API's stream of server-sent events, with its end: `stream_to_wire`, as bytes."""
    if isinstance(events, AsyncIterable):
        return _asse(stream_to_wire(events, wire, **options), wire)
    return _sse(stream_to_wire(events, wire, **options), wire)


def _sse(parts: Iterator[Part], wire: Wire) -> Iterator[bytes]:
    for part in parts:
        yield sse_event(part, wire)
    if end := sse_end(wire):
        yield end


async def _asse(parts: AsyncIterator[Part], wire: Wire) -> AsyncIterator[bytes]:
    async for part in parts:
        yield sse_event(part, wire)
    if end := sse_end(wire):
        yield end


def sse_event(part: Part, wire: Wire) -> bytes:
    """Write a part as a server-sent event: `data:`, and `event:` if the wire format names its events.

    Numbers that JSON does not have (NaN, infinity) become null, and halves of characters question marks.
    """
    name = f"event: {part['type']}\n".encode() if wire in _WITH_EVENT_NAMES else b""
    try:
        data = to_json(part, inf_nan_mode="null")
    except ValueError:
        data = to_json(without_halves(part), inf_nan_mode="null")
    return name + b"data: " + data + b"\n\n"


def without_halves(body: Part) -> Part:
    """Copy JSON, with a question mark for each half of a character, which server-sent events cannot have."""
    return json.loads(json.dumps(body, ensure_ascii=False).encode(errors="replace"))


def sse_end(wire: Wire) -> bytes:
    """Return the end of a stream: `data: [DONE]`, or nothing if the last event marks it."""
    return b"data: [DONE]\n\n" if wire in _WITH_DONE else b""


def _exporter(wire: Wire, options: Any) -> Exporter:
    check_choice(wire, get_args(Wire), "wire")
    return _EXPORTERS[wire](**options)
