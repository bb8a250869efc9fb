"""The events of a response that arrives in chunks, as an iterator that has the reply at its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from outspoken.results.arguments import check_async_chunks, check_chunks

from .options import FinishReason

E = TypeVar("E")
R_co = TypeVar("R_co", covariant=True)


class ChunkReader(Protocol[E]):
    """What reads chunks one by one."""

    def feed(self, chunk: Any, /) -> list[E]:
        """Read a chunk, and return the events that have become certain."""
        ...

    def close(self) -> list[E]:
        """End the response, and return the last events."""
        ...


class EventSource(ChunkReader[E], Protocol[E, R_co]):
    """What reads a response in chunks, such as a `Session`."""

    @property
    def reply(self) -> R_co | None:
        """The complete result; None before the end."""
        ...


class StreamSession(EventSource[E, R_co], Protocol[E, R_co]):
    """An event source that is closed with the finish reason."""

    def close(self, finish_reason: FinishReason = None) -> list[E]:
        """End the response, and return the last events."""
        ...


class OneResponse:
    """Reads one response: it holds a place in it."""

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"`{name}` reads one response and cannot be copied or pickled; start another one")


class _WithReply(OneResponse, Generic[E, R_co]):
    """An iterator of the events of a source."""

    def __init__(self, source: EventSource[E, R_co]) -> None:
        self._source = source

    @property
    def reply(self) -> R_co:
        """The reply, once the last event was taken. Raises RuntimeError before."""
        reply = self._source.reply
        if reply is None:
            raise RuntimeError("the stream has no reply before its last event was taken")
        return reply


class EventStream(_WithReply[E, R_co], Iterator[E]):
    """The events of a response that arrives in chunks. `reply` is the complete result after the last event."""

    def __init__(self, source: EventSource[E, R_co], chunks: Iterable[Any], close: Callable[[], list[E]]) -> None:
        super().__init__(source)
        self._events = read_chunks(source, chunks, close)

    def __iter__(self) -> Iterator[E]:
        return self._events  # a loop calls the generator itself

    def __next__(self) -> E:
        return next(self._events)


class AsyncEventStream(_WithReply[E, R_co], AsyncIterator[E]):
    """Like `EventStream`, for asynchronous chunks."""

    def __init__(self, source: EventSource[E, R_co], chunks: AsyncIterable[Any], close: Callable[[], list[E]]) -> None:
        super().__init__(source)
        self._events = aread_chunks(source, chunks, close)

    def __aiter__(self) -> AsyncIterator[E]:
        return self._events

    async def __anext__(self) -> E:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Stop reading."""
        await self._events.aclose()


class StreamParser(ABC, Generic[E, R_co]):
    """Reads responses in chunks, each in a `session` of its own."""

    __slots__ = ()

    @abstractmethod
    def session(self, *, prefix: str | None = None) -> StreamSession[E, R_co]:
        """Start to read one response that arrives in chunks, with `feed` and `close`."""

    def stream(
        self, chunks: Iterable[str | bytes | None], *, prefix: str | None = None, finish_reason: FinishReason = None
    ) -> EventStream[E, R_co]:
        """Parse a response that arrives in chunks: an iterator of events, each as soon as it is certain.

        The last event is `Done`. Its reply, which is also the `reply` of the iterator, equals that of `parse` for the
        joined chunks. If the finish reason is known only after the last chunk, pass a function without arguments that
        returns it.
        """
        check_chunks(chunks)
        session = self.session(prefix=prefix)
        return EventStream(session, chunks, partial(session.close, finish_reason))

    def astream(
        self,
        chunks: AsyncIterable[str | bytes | None],
        *,
        prefix: str | None = None,
        finish_reason: FinishReason = None,
    ) -> AsyncEventStream[E, R_co]:
        """Like `stream`, for an asynchronous iterable of chunks."""
        check_async_chunks(chunks)
        session = self.session(prefix=prefix)
        return AsyncEventStream(session, chunks, partial(session.close, finish_reason))


def read_chunks(
    source: ChunkReader[E], chunks: Iterable[Any], close: Callable[[], list[E]] | None = None
) -> Iterator[E]:
    """What a source makes of chunks, and of their end."""
    for chunk in chunks:
        yield from source.feed(chunk)
    yield from (close or source.close)()


async def aread_chunks(
    source: ChunkReader[E], chunks: AsyncIterable[Any], close: Callable[[], list[E]] | None = None
) -> AsyncGenerator[E, None]:
    """The same for asynchronous chunks."""
    async for chunk in chunks:
        for event in source.feed(chunk):
            yield event
    for event in (close or source.close)():
        yield event
