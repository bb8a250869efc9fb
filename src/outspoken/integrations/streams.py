"""A response that arrives in chunks, as frameworks need it: text, reasoning, and calls with ids, each as it arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from outspoken.parsing.options import FinishReason
from outspoken.parsing.parser import Parser
from outspoken.providers.export.replay import without
from outspoken.results.events import (
    Done,
    Event,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
)
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


StreamItem: TypeAlias = "TextDelta | ReasoningDelta | ReasoningEnd | CallStart | CallDelta | CallEnd"


class ReplyStream:
    """Reads one response that arrives in chunks, with `feed` and `close`. Then `reply` is the complete result."""

    def __init__(self, parser: Parser, *, prefix: str | None = None, ids: CallIds | None = None) -> None:
        self._session = parser.session(prefix=prefix)
        self._ids = ids or CallIds()
        self._announced: dict[int, CallStart] = {}
        self._count = 0
        self._unfinished: dict[int, tuple[CallStart, ToolCall]] = {}

    @property
    def reply(self) -> Reply | None:
        """The complete result; None before the end."""
        return self._session.reply

    def feed(self, chunk: str) -> list[StreamItem]:
        """Read a chunk; return what has become certain. Raises LimitError, as `Session.feed` does."""
        return [item for event in self._session.feed(chunk) for item in self._items(event)]

    def close(self, finish_reason: FinishReason = None) -> list[StreamItem]:
        """End the response; return the rest. Every call that was announced has ended then."""
        return [item for event in self._session.close(finish_reason) for item in self._items(event)]

    def _items(self, event: Event) -> list[StreamItem]:
        match event:
            case TextDelta() | ReasoningDelta() | ReasoningEnd():
                return [event]
            case ToolCallStart():
                return [self._announce(event.index, event.id, event.name)]
            case ToolCallDelta():
                call = self._announced[event.index]
                return [CallDelta(call.position, call.id, event.arguments)] if event.arguments else []
            case ToolCallEnd():
                return self._end(event.index, event.call)
            case ToolCallUnfinished():
                # Its diagnostics are known at the end of the response.
                if event.index in self._announced:
                    self._unfinished[event.index] = (self._announced[event.index], event.call)
                return []
            case Done():
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
