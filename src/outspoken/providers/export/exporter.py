"""What goes out: the events of a response, told again in the words of another protocol.

Each protocol has an `Exporter`. It takes events in order and gives the parts that a server sends, as plain dicts; the
functions of its module (`to_openai_chunks` and so on) run one over a whole stream. What all protocols have in common is
decided here: when a response begins, which calls are announced and with which ids, why it ends, and what becomes of
that which a protocol has no word for: the extension `outspoken` has lists under `payloads`, `actions`, `unfinished`
(calls), `unfinished_actions` and `signatures`, each item with its `index`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from outspoken.providers.events import (
    Failed,
    Finished,
    ProviderEvent,
    ReasoningSigned,
    RefusalDelta,
    Started,
    UsageReported,
)
from outspoken.providers.extension import EXTENSION as EXTENSION
from outspoken.providers.replies import FinishReason, ProviderError, Usage
from outspoken.results import events as said
from outspoken.results.actions.base import PROVENANCE

from .replay import retold

if TYPE_CHECKING:
    from outspoken.results.actions.union import Action
    from outspoken.results.replies import Reply, ToolCall

#: One chunk, event or part of a protocol, as it is written as JSON.
Part = dict[str, Any]


@dataclass(slots=True)
class Sent:
    """A call that was announced. `position` counts those from 0; no other call of the response has its `id`.

    It is `open` until it has ended, which one that is unfinished never does; `told` says that the client was told so.
    """

    position: int
    id: str
    name: str
    arguments: list[str] = field(default_factory=list[str])
    open: bool = True
    told: bool = False

    @property
    def text(self) -> str:
        """The arguments, as far as they were sent."""
        return "".join(self.arguments)


class Exporter:
    """Tells events in the words of one protocol.

    `id`, `model` and `created` (seconds since 1970) go before what the events say. With `action_tool`, finished GUI
    actions are calls of a tool of that name; without, they are in the extension. `close` ends a stream that had no
    `Done`: what is open in it is unfinished.
    """

    #: what ids begin with that are made here
    id_prefix = "resp_"
    call_prefix = "call_"

    def __init__(
        self,
        *,
        id: str | None = None,
        model: str | None = None,
        created: int | None = None,
        action_tool: str | None = None,
    ) -> None:
        self._id, self._model = id, model
        self.created = int(time.time()) if created is None else created
        self.usage: Usage | None = None
        self.error: ProviderError | None = None
        self.finished: Finished | None = None
        self.refusal = ""
        self.sent: list[Sent] = []
        self.extras: dict[str, list[Part]] = {}
        self._action_tool = action_tool
        self._calls: dict[int, Sent] = {}
        self._ids: set[str] = set()
        self._cut: list[ToolCall | Action] = []
        self._reply: Reply | None = None
        self._begun = self._ended = self._thinks = False
        self._block: str | None = None
        self._out: list[Part] = []

    @property
    def id(self) -> str:
        """The id of the response: the caller's, the provider's, or one made here."""
        if self._id is None:
            self._id = self.id_prefix + secrets.token_hex(12)
        return self._id

    @property
    def _seed(self) -> str:
        """What the ids of calls are made of, with their positions."""
        return self.id

    @property
    def model(self) -> str:
        """The model, empty where nobody says."""
        return self._model or ""

    @property
    def unfinished(self) -> bool:
        """Is a call or an action unfinished?"""
        return bool(self._cut) or any(call.open for call in self.sent)

    @property
    def reason(self) -> FinishReason:
        """Why the response ends, as a client has to see it.

        What is unfinished never looks finished: then it is "length", unless the provider has a graver reason. And
        where there are calls to run it is "tool_calls", also where a provider that knew nothing of them said "stop".
        """
        if self.error is not None:
            return "error"
        given = self.finished.reason if self.finished else None
        if given in ("content_filter", "refusal"):
            return given
        cut = self._reply is None or (given is None and self._reply.status == "truncated")
        if cut or self.unfinished:
            return "length"
        if given in ("length", "pause", "error"):
            return given
        if self.sent:
            return "tool_calls"
        return "other" if given == "other" else "stop"

    def feed(self, event: ProviderEvent) -> list[Part]:
        """The parts that an event comes to. What comes after `Done` is nothing."""
        if self._ended:
            return []
        match event:
            case Started():
                self._id = self._id or event.id
                self._model = self._model or event.model
            case UsageReported():
                self.usage = event.usage
            case Finished():
                self.finished = event
                if event.reason == "error" and self.error is None:
                    self.error = ProviderError(message=f"the response ended with `{event.raw}`", code=event.raw)
            case Failed():
                self.error = event.error
            case said.Done():
                self._reply = event.reply
                self._finish()
            case _:
                self._begin_once()
                self._tell(event)
        return self._drain()

    def close(self) -> list[Part]:
        """The last parts of a stream that ended without `Done`; nothing after `Done`."""
        if not self._ended:
            self._finish()
        return self._drain()

    def tell(self, reply: Reply) -> list[Part]:
        """All parts of a reply that is all there. What is unfinished in it is in the extension only."""
        parts: list[Part] = []
        for event in retold(reply):
            parts += self.feed(event)
        return parts

    def _tell(self, event: ProviderEvent) -> None:
        match event:
            case said.TextDelta() if event.text:
                self._switch("text")
                self._text(event.text)
            case said.ReasoningDelta() if event.text:
                self._think()
                self._reasoning(event.text)
            case said.ReasoningEnd():
                self._thought()
            case RefusalDelta() if event.text:
                self._switch("refusal")
                self.refusal += event.text
                self._refusal(event.text)
            case ReasoningSigned():
                self._sign(event)
            case said.PayloadParsed():
                self._extra("payloads", event.payload.model_dump(mode="json", include={"type", "data", "status"}))
            case said.ActionText():
                self._action_text(event.index, event.text)
            case said.ActionParsed():
                self._action(event.action)
            case said.ActionUnfinished():
                self._leave_action(event.action)
            case _:
                self._tell_call(event)

    def _tell_call(self, event: ProviderEvent) -> None:
        match event:
            case said.ToolCallStart():
                self._calls[event.index] = self._announce(event.id, event.name)
            case said.ToolCallDelta() if event.arguments:
                self._add(self._calls[event.index], event.arguments)
            case said.ToolCallEnd():
                self._end(self._calls.get(event.index) or self._whole_call(event.call), event.call.arguments)
            case said.ToolCallUnfinished():
                self._leave_call(event.call, self._calls.get(event.index))
            case _:
                pass

    def _announce(self, id: str | None, name: str) -> Sent:
        self._switch(None)
        position = len(self.sent)
        if not id or id in self._ids:
            id = self.call_prefix + hashlib.sha256(f"{self._seed}:{position}".encode()).hexdigest()[:24]
        self._ids.add(id)
        call = Sent(position, id, name)
        self.sent.append(call)
        self._call_start(call)
        return call

    def _add(self, call: Sent, arguments: str) -> None:
        call.arguments.append(arguments)
        self._call_delta(call, arguments)

    def _whole_call(self, read: ToolCall) -> Sent:
        """A call that comes all at once, since what it would be was known only at its end."""
        call = self._announce(read.id, read.name)
        self._add(call, read.arguments_text)
        return call

    def _end(self, call: Sent, arguments: dict[str, Any]) -> None:
        call.open = False
        self._call_end(call, arguments)

    def _leave_call(self, read: ToolCall, call: Sent | None = None) -> None:
        """A call is unfinished. One that was announced stays open, so the response ends as one that was cut."""
        self._cut.append(read)
        item: Part = {"name": read.name, "arguments": read.arguments_text, "status": read.status}
        if call is None:
            self._extra("unfinished", {**item, "id": read.id, "call": None})
            return
        call.told = True
        self._extra("unfinished", {**item, "id": call.id, "call": call.position})
        self._call_cut(call, read.status)

    def _leave_action(self, action: Action) -> None:
        self._cut.append(action)
        self._extra("unfinished_actions", _action_part(action))

    def _action(self, action: Action) -> None:
        if self._action_tool is None:
            self._extra("actions", _action_part(action))
            return
        call = self._announce(action.id, self._action_tool)
        arguments = action.model_dump(mode="json", exclude=set(PROVENANCE), exclude_none=True)
        self._add(call, json.dumps(arguments, ensure_ascii=False))
        self._end(call, arguments)

    def _extra(self, kind: str, item: Part) -> None:
        self._switch(None)
        items = self.extras.setdefault(kind, [])
        item = {"index": len(items), **item}
        items.append(item)
        self._beyond(kind, item)

    def _begin_once(self) -> None:
        if not self._begun:
            self._begun = True
            self._begin()

    def _finish(self) -> None:
        self._begin_once()
        if self._reply is not None:
            for call in _rest(self._reply.unfinished, self._cut):
                self._leave_call(call)
            for action in _rest(self._reply.unfinished_actions, self._cut):
                self._leave_action(action)
        for call in self.sent:
            if call.open and not call.told:
                cut: Part = {"name": call.name, "arguments": call.text, "status": "truncated"}
                self._extra("unfinished", {**cut, "id": call.id, "call": call.position})
                self._call_cut(call, "truncated")
        self._thought()
        self._switch(None)
        self._ended = True
        self._finale()

    def _switch(self, kind: str | None) -> None:
        """Close the text or refusal that is open, unless it is of this kind, and open one of this kind."""
        if self._block == kind:
            return
        if self._block is not None:
            self._close_block(self._block)
        self._block = kind
        if kind is not None:
            self._open_block(kind)

    def _sign(self, event: ReasoningSigned) -> None:
        """A signature is that of the block that is open; where none is, it is a block without text."""
        alone = not self._thinks
        if event.redacted:
            self._switch(None)
        else:
            self._think()
        self._signed(event.signature, event.redacted)
        if alone:
            self._thought()

    def _think(self) -> None:
        """Open a block of reasoning, unless one is open: it goes on, whatever comes between, until it ends."""
        if not self._thinks:
            self._switch(None)
            self._thinks = True
            self._open_block("reasoning")

    def _thought(self) -> None:
        """Close the block of reasoning that is open."""
        if self._thinks:
            self._thinks = False
            self._close_block("reasoning")

    def _drain(self) -> list[Part]:
        parts, self._out = self._out, []
        return parts

    # what a protocol says; what it has no word for, it leaves to the extension

    def _begin(self) -> None:
        """The response begins."""

    def _open_block(self, kind: str) -> None:
        """Text, reasoning or a refusal begins."""

    def _close_block(self, kind: str) -> None:
        """Something else begins."""

    def _text(self, text: str) -> None:
        """More text."""

    def _reasoning(self, text: str) -> None:
        """More reasoning."""

    def _refusal(self, text: str) -> None:
        """More of `refusal`."""

    def _signed(self, signature: str, redacted: bool) -> None:
        """The signature of the block of reasoning that is open, or a block that is nothing but its signature."""

    def _call_start(self, call: Sent) -> None:
        """A call is announced."""

    def _call_delta(self, call: Sent, arguments: str) -> None:
        """More of its arguments."""

    def _call_end(self, call: Sent, arguments: dict[str, Any]) -> None:
        """A call is complete."""

    def _call_cut(self, call: Sent, status: str) -> None:
        """A call will never be complete."""

    def _action_text(self, index: int, text: str) -> None:
        """More of what an action types; all of it comes with the action."""

    def _beyond(self, kind: str, item: Part) -> None:
        """Something for the extension. Where it cannot be sent at once, it is in `extras` at the end."""

    def _finale(self) -> None:
        """The response ends: why, with how many tokens, or with which error."""


def told(events: Iterable[ProviderEvent], exporter: Exporter) -> Iterator[Part]:
    """The parts of a whole stream, as early as its events come."""
    for event in events:
        yield from exporter.feed(event)
    yield from exporter.close()


async def atold(events: AsyncIterable[ProviderEvent], exporter: Exporter) -> AsyncIterator[Part]:
    """`told` for events that come asynchronously."""
    async for event in events:
        for part in exporter.feed(event):
            yield part
    for part in exporter.close():
        yield part


def _action_part(action: Action) -> Part:
    shown = action.model_dump(mode="json", exclude={"kind", "span", "repairs", "metadata"}, exclude_none=True)
    return {key: value for key, value in shown.items() if value not in ({}, [])}


_T = TypeVar("_T")


def _rest(found: Sequence[_T], told: Sequence[object]) -> list[_T]:
    """What of `found` is not in `told`; what is there twice has to be told twice."""
    rest = list(found)
    for item in told:
        if item in rest:
            rest.remove(cast("_T", item))
    return rest
