"""Parts of a protocol as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Literal

from pydantic_core import to_json

from .exporter import Part

#: The protocols, as the functions that make their parts are called.
Protocol = Literal["openai", "openai_responses", "anthropic", "vercel"]

#: Those whose events have their type as the name of the event, and those that end with `[DONE]`.
_NAMED = frozenset({"openai_responses", "anthropic"})
_DONE = frozenset({"openai", "vercel"})


def sse_event(part: Part, protocol: Protocol) -> bytes:
    """One part as a server-sent event: `data:`, and `event:` where the protocol names its events.

    A number that JSON does not have (NaN) is null.
    """
    name = f"event: {part['type']}\n".encode() if protocol in _NAMED else b""
    return name + b"data: " + to_json(part, inf_nan_mode="null") + b"\n\n"


def sse_end(protocol: Protocol) -> bytes:
    """What ends a stream: `data: [DONE]`, or nothing where the last event says so itself."""
    return b"data: [DONE]\n\n" if protocol in _DONE else b""


def sse(parts: Iterable[Part], protocol: Protocol) -> Iterator[bytes]:
    """Parts as a stream of server-sent events, with what ends it."""
    for part in parts:
        yield sse_event(part, protocol)
    if end := sse_end(protocol):
        yield end


async def asse(parts: AsyncIterable[Part], protocol: Protocol) -> AsyncIterator[bytes]:
    """`sse` for parts that come asynchronously."""
    async for part in parts:
        yield sse_event(part, protocol)
    if end := sse_end(protocol):
        yield end
