"""Responses that arrive in pieces: asynchronous chunks, and what is read of chunks."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, TypeVar

__all__ = ["collected", "later", "streamed"]

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


def streamed(parser: Any, chunks: Iterable[str | bytes], reason: Any = None, prefix: str | None = None) -> Any:
    """The reply of a parser, of any kind, to a response in chunks, which may go on what the prompt has begun."""
    session = parser.session(prefix=prefix)
    for chunk in chunks:
        session.feed(chunk)
    session.close(reason)
    assert session.reply is not None
    return session.reply
