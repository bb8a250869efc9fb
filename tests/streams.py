"""Responses that arrive in pieces: asynchronous chunks, and what is read of chunks."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, TypeVar

from outspoken import TextDelta

__all__ = ["collected", "later", "most_held", "streamed"]

T = TypeVar("T")


async def later(chunks: Iterable[T]) -> AsyncIterator[T]:
    """Chunks that arrive asynchronously."""
    for chunk in chunks:
        yield chunk


def collected(events: AsyncIterator[T]) -> list[T]:
    """All that arrives asynchronously."""

    async def collect() -> list[T]:
        return [event async for event in events]

    return asyncio.run(collect())


def most_held(session: Any, text: str) -> int:
    """How many characters a session holds at most, of a text that comes by characters."""
    sent = most = 0
    for number, char in enumerate(text, 1):
        sent += sum([len(event.text) for event in session.feed(char) if isinstance(event, TextDelta)])
        most = max(most, number - sent)
    return most


def streamed(parser: Any, chunks: Iterable[str | bytes], reason: Any = None, prefix: str | None = None) -> Any:
    """The reply of a parser, of any kind, to a response in chunks, which may go on what the prompt has begun."""
    session = parser.session(prefix=prefix)
    for chunk in chunks:
        session.feed(chunk)
    session.close(reason)
    assert session.reply is not None
    return session.reply
