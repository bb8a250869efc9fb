"""A response that arrives in chunks, as frameworks need it: text, reasoning, and calls with ids, each as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from outspoken.parsing.options import FinishReason
from outspoken.parsing.parser import Parser
from outspoken.parsing.session import Session
from outspoken.providers.export.replay import without
from outspoken.results import events as results
from outspoken.results.replies import Reply, ToolCall

from .messages import CallIds, IdentifiedCall


@dataclass(frozen=True)
class CallStart:
    """A call begins. `position` counts the calls of the response from 0, those with a problem too."""

    position: int
    id: str
    name: str


@dataclass(frozen=True)
class CallDelta:
    """More of a call's arguments, as JSON text."""

    position: int
    id: str
    arguments: str


@dataclass(frozen=True)
class CallEnd:
    """A call ends: it is complete, or it has a problem and must not be run, whatever was sent of it.

    A call that is only known at its end to have a problem was not announced by `CallStart`.
    """

    position: int
    call: IdentifiedCall
    announced: bool


StreamItem: TypeAlias = (
    "results.TextDelta | results.ReasoningDelta | results.ReasoningEnd | CallStart | CallDelta | CallEnd"
)


class ReplyStream:
    """Reads one response that arrives in chunks, with `feed` and `close`. Then `reply` is the complete result.

    With `joins_reasoning`, a blank line stands before each block of reasoning but the first, as in `Reply.reasoning`.
    """

    def __init__(
        self, parser: Parser, prefix: str | None = None, ids: CallIds | None = None, *, joins_reasoning: bool = False
    ) -> None:
        self._parser, self._prefix, self._ids = parser, prefix, ids or CallIds()
        self._session: Session | None = None
        self._needs_break, self._joins_reasoning = False, joins_reasoning
        self._calls: dict[int, IdentifiedCall] = {}
        self._announced: dict[int, CallStart] = {}
        self._count = 0
        self._unfinished: dict[int, tuple[CallStart, ToolCall]] = {}

    @property
    def reply(self) -> Reply | None:
        """The complete result; None before the end."""
        return None if self._session is None else self._session.reply

    @property
    def calls(self) -> list[IdentifiedCall]:
        """The calls that have ended, in the order of the response."""
        return [call for _, call in sorted(self._calls.items())]

    @property
    def has_begun(self) -> bool:
        """True if text has arrived."""
        return self._session is not None

    def add_own_reasoning(self) -> None:
        """Note that the model itself has returned reasoning: before any text, it ends that which the prompt opens."""
        if self._session is None:
            self._prefix, self._needs_break = "", True

    def feed(self, chunk: str | None) -> list[StreamItem]:
        """Read a chunk; return what has become certain. Raises LimitError, as `Session.feed` does."""
        return [item for event in self._open().feed(chunk) for item in self._items(event)] if chunk else []

    def close(self, finish_reason: FinishReason = None) -> list[StreamItem]:
        """End the response; return the rest. Every call that was announced has ended then."""
        return [item for event in self._open().close(finish_reason) for item in self._items(event)]

    def end(self, finish_reason: FinishReason = None) -> tuple[list[StreamItem], Reply]:
        """End the response; return the rest and the complete result."""
        items = self.close(finish_reason)
        assert self.reply is not None
        return items, self.reply

    def _open(self) -> Session:
        self._session = self._session or self._parser.session(prefix=self._prefix)
        return self._session

    def _items(self, event: results.Event) -> list[StreamItem]:
        items = self._items_of(event)
        self._calls |= {item.position: item.call for item in items if isinstance(item, CallEnd)}
        return items

    def _items_of(self, event: results.Event) -> list[StreamItem]:
        match event:
            case results.ReasoningDelta() if self._joins_reasoning and self._needs_break:
                self._needs_break = False
                return [results.ReasoningDelta(f"\n\n{event.text}")]
            case results.ReasoningEnd():
                self._needs_break = True
                return [event]
            case results.TextDelta() | results.ReasoningDelta():
                return [event]
            case results.ToolCallStart():
                return [self._announce(event.index, event.id, event.name)]
            case results.ToolCallDelta():
                call = self._announced[event.index]
                return [CallDelta(call.position, call.id, event.arguments)] if event.arguments else []
            case results.ToolCallEnd():
                return self._end(event.index, event.call)
            case results.ToolCallUnfinished():
                # Its diagnostics are known at the end of the response.
                if event.index in self._announced:
                    self._unfinished[event.index] = (self._announced[event.index], event.call)
                return []
            case results.Done():
                return self._end_unfinished(event.reply)
            case _:
                return []

    def _announce(self, index: int, id: str | None, name: str) -> CallStart:
        start = CallStart(self._count, self._ids.next(id), name)
        self._count += 1
        self._announced[index] = start
        return start

    def _end(self, index: int, call: ToolCall) -> list[StreamItem]:
        """The end of a complete call, with all of it if it was not announced."""
        items: list[StreamItem] = []
        if index not in self._announced:
            start = self._announce(index, call.id, call.name)
            items += [start, CallDelta(start.position, start.id, call.arguments_text)]
        start = self._announced[index]
        return [*items, CallEnd(start.position, IdentifiedCall(start.id, call), announced=True)]

    def _end_unfinished(self, reply: Reply) -> list[StreamItem]:
        """The ends of all calls with a problem."""
        items: list[StreamItem] = []
        for start, call in self._unfinished.values():
            ended = IdentifiedCall.of(start.id, call, reply)
            items.append(CallEnd(start.position, ended, announced=True))
        for call in without(reply.unfinished_tool_calls, [call for _, call in self._unfinished.values()]):
            ended = IdentifiedCall.of(self._ids.next(call.id), call, reply)
            items.append(CallEnd(self._count, ended, announced=False))
            self._count += 1
        return items


class Reading(Protocol):
    """Reads the chunks of a framework, and makes those that its user gets."""

    def feed(self, chunk: Any, /) -> list[Any]:
        """Read a chunk."""
        ...

    def close(self) -> list[Any]:
        """End the response."""
        ...


def read_chunks(chunks: Iterable[Any], reading: Reading) -> Iterator[Any]:
    """What is made of the chunks of a response."""
    for chunk in chunks:
        yield from reading.feed(chunk)
    yield from reading.close()


async def aread_chunks(chunks: AsyncIterable[Any], reading: Reading) -> AsyncIterator[Any]:
    """What is made of the chunks of a response."""
    async for chunk in chunks:
        for made in reading.feed(chunk):
            yield made
    for made in reading.close():
        yield made
