"""Writes the parts of a protocol as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Literal, get_args

from pydantic_core import to_json

from outspoken.results.arguments import check_choice, check_type

from .parts import Part

#: The protocols: `to_openai_chunks`, `to_openai_responses`, `to_anthropic_events` and `to_vercel_parts`.
Protocol = Literal["openai", "openai_responses", "anthropic", "vercel"]

#: Protocols that name their events, and protocols that end with `[DONE]`.
_WITH_EVENT_NAMES = frozenset({"openai_responses", "anthropic"})
_WITH_DONE = frozenset({"openai", "vercel"})


def sse_event(part: Part, protocol: Protocol) -> bytes:
    """Write a part as a server-sent event: `data:`, and `event:` if the protocol names its events.

    Numbers that JSON does not have (NaN, infinity) become null.
    """
    name = f"event: {part['type']}\n".encode() if protocol in _WITH_EVENT_NAMES else b""
    return name + b"data: " + to_json(part, inf_nan_mode="null") + b"\n\n"


def sse_end(protocol: Protocol) -> bytes:
    """Return the end of a stream: `data: [DONE]`, or nothing if the last event marks it."""
    return b"data: [DONE]\n\n" if protocol in _WITH_DONE else b""


def sse(parts: Iterable[Part], protocol: Protocol) -> Iterator[bytes]:
    """Write parts as a stream of server-sent events, with its end. Raises ValueError for an unknown protocol."""
    check_choice(protocol, get_args(Protocol), "protocol")
    check_type(parts, Iterable, "parts")
    return _sse(parts, protocol)


def _sse(parts: Iterable[Part], protocol: Protocol) -> Iterator[bytes]:
    for part in parts:
        yield sse_event(part, protocol)
    if end := sse_end(protocol):
        yield end


def asse(parts: AsyncIterable[Part], protocol: Protocol) -> AsyncIterator[bytes]:
    """Write asynchronous parts; see `sse`."""
    check_choice(protocol, get_args(Protocol), "protocol")
    check_type(parts, AsyncIterable, "parts")
    return _asse(parts, protocol)


async def _asse(parts: AsyncIterable[Part], protocol: Protocol) -> AsyncIterator[bytes]:
    async for part in parts:
        yield sse_event(part, protocol)
    if end := sse_end(protocol):
        yield end
