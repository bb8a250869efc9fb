"""The base of all exporters: it takes events in order and returns the parts that a server of a protocol sends.

What all protocols share is decided here: when a response begins, which calls are announced and with which ids, why the
response ends, and what goes into the extension `outspoken` because protocols have no field for it: lists of `payloads`,
`actions`, `unfinished_tool_calls`, `unfinished_actions` and `signatures`, each item with its `index`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outspoken.providers import events as provider_events
from outspoken.providers.events import StreamEvent
from outspoken.providers.replies import EXTENSION, JOINED_TEXT, ProviderError
from outspoken.providers.usage import Usage
from outspoken.results import events as results
from outspoken.results.actions.base import PROVENANCE
from outspoken.results.call_ids import CallIds
from outspoken.results.codes import describe_repair
from outspoken.results.finish_reasons import FinishReason
from outspoken.results.replies import Reply, ToolCall, has_failed_call, retry_of

from .parts import STREAM_CALLS, BlockKind, ExportedCall, Part, StreamCalls
from .replay import check_event, replay, without

if TYPE_CHECKING:  # the import takes long
    from outspoken.results.actions.union import Action


class Exporter:
    """Exports events in one protocol.

    `id`, `model` and `created` (seconds since 1970) override those of the events. With `action_tool`, complete GUI
    actions become calls of a tool of that name; otherwise they are in the extension.

    A call is sent when it is `complete`, and one that stays incomplete or is invalid only in the extension: several
    clients close and run what they have of a call when the stream ends. With "pieces" as `stream_calls` a call is sent
    while it arrives, for clients that wait for its end and read the finish reason. Raises ValueError for another value.

    With `facts`, the extension also has the `repairs` and `problems` of the response, and under `retry` a message that
    asks the model again, if a call could not be read. `call_ids` are shared by the choices of a response, or know the
    ids of its history.
    """

    #: prefixes of the ids that are made here
    id_prefix = "resp_"
    call_prefix = "call_"

    def __init__(
        self,
        *,
        id: str | None = None,
        model: str | None = None,
        created: int | None = None,
        action_tool: str | None = None,
        stream_calls: StreamCalls = "complete",
        facts: bool = False,
        call_ids: CallIds | None = None,
    ) -> None:
        if stream_calls not in STREAM_CALLS:
            raise ValueError(f"`stream_calls` is {stream_calls!r}; expected one of {', '.join(STREAM_CALLS)}")
        #: the id and the model of the response: the caller's, the provider's, or a random id and ""
        self.id, self.model = id or "", model or ""
        self._in_pieces, self._tells_facts, self._call_ids = stream_calls == "pieces", facts, call_ids
        self.created = int(time.time()) if created is None else created
        self.usage: Usage | None = None
        self.error: ProviderError | None = None
        self.finished: provider_events.Finished | None = None
        self.refusal = ""
        self.calls: list[ExportedCall] = []
        self.extension: dict[str, list[Part]] = {}
        self._action_tool = action_tool
        self._by_index: dict[int, ExportedCall] = {}
        #: the calls that are held until they are complete, with their arguments so far
        self._held_calls: dict[int, tuple[results.ToolCallStart, list[str]]] = {}
        self._unfinished: list[ToolCall | Action] = []
        self._reply: Reply | None = None
        self._begun = self._ended = self._in_reasoning = False
        #: how many blocks of text have begun
        self._text_blocks = 0
        #: the text or refusal that is open
        self._block: BlockKind | None = None
        self._parts: list[Part] = []

    @property
    def has_unfinished(self) -> bool:
        """Is a call or an action cut off, or was a call announced that must not run?"""
        return any(one.status == "truncated" for one in self._unfinished) or any(call.open for call in self.calls)

    @property
    def reason(self) -> FinishReason:
        """The finish reason for the client.

        With a call that is cut off, or was announced and must not run, the reason is "length", except for an error, a
        filter or a refusal; one that is invalid does not change the reason. If a provider that did not see the calls
        says "stop", the reason is "tool_calls".
        """
        if self.error is not None:
            return "error"
        sent = self.finished.reason if self.finished else None
        if sent in ("content_filter", "refusal"):
            return sent
        cut_off = self._reply is None or (sent is None and self._reply.status == "truncated")
        if cut_off or self.has_unfinished:
            return "length"
        if sent in ("length", "pause", "error"):
            return sent
        if self.calls:
            return "tool_calls"
        return "other" if sent == "other" else "stop"

    # events in, parts out

    def whole(self, reply: Reply) -> Part:
        """Export a whole reply. Incomplete calls and actions are in the extension only."""
        raise NotImplementedError

    def replayed(self, reply: Reply) -> list[Part]:
        """The parts for a whole reply."""
        return [part for event in replay(reply) for part in self.feed(event)]

    def feed(self, event: StreamEvent) -> list[Part]:
        """Return the parts for an event; none after `Done`."""
        if self._ended:
            return []
        match event:
            case results.TextDelta() if self._begun and event.text:  # as most events are
                if self._block != "text":
                    self._switch_block("text")
                self._on_delta("text", event.text)
            case provider_events.Started():
                self.id = self.id or event.id or ""
                self.model = self.model or event.model or ""
            case provider_events.UsageReported():
                self.usage = event.usage
            case provider_events.Finished():
                self.finished = event
                if event.reason == "error" and self.error is None:
                    self.error = ProviderError(message=f"the response ended with `{event.raw}`", code=event.raw)
            case provider_events.Failed():
                self.error = event.error
            case results.Done():
                self._reply = event.reply
                self._end()
            case _:
                self._begin()
                self._export_content(event)
        return self._take_parts()

    def close(self) -> list[Part]:
        """Return the last parts of a stream that ended without `Done`; its open calls are incomplete."""
        if not self._ended:
            self._end()
        return self._take_parts()

    def begin_again(self) -> None:
        """Forget the incomplete calls: the events of another response follow, which takes the place of the last one."""
        self._unfinished.clear()
        self._held_calls.clear()
        self._by_index.clear()

    def _add_part(self, type: str, **fields: Any) -> None:
        self._parts.append({"type": type, **fields})

    def _take_parts(self) -> list[Part]:
        parts, self._parts = self._parts, []
        return parts

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.id = self.id or self.id_prefix + secrets.token_hex(12)
            self._on_start()

    def _call_id_seed(self) -> str:
        """What the ids of calls are derived from, with their positions."""
        return self.id

    def _end(self) -> None:
        self._begin()
        if self._reply is not None:
            for call in without(self._reply.unfinished_tool_calls, self._unfinished):
                self._add_unfinished_call(call)
            for action in without(self._reply.unfinished_actions, self._unfinished):
                self._add_unfinished_action(action)
            for kind, item in _facts_of(self._reply) if self._tells_facts else ():
                self._add_extension_item(kind, item)
        else:
            for start, pieces in self._held_calls.values():
                self._add_unfinished_call(_cut(start.id, start.name, pieces))
        for call in self.calls:
            if call.open and not call.reported:
                self._add_unfinished_call(_cut(call.id, call.name, call.pieces), call)
        self._end_reasoning()
        self._switch_block(None)
        self._ended = True
        self._on_finish()

    def _export_content(self, event: StreamEvent) -> None:
        match event:
            case results.TextDelta() if event.text:
                self._switch_block("text")
                self._on_delta("text", event.text)
            case results.ReasoningDelta() if event.text:
                self._begin_reasoning()
                self._on_delta("reasoning", event.text)
            case results.ReasoningEnd():
                self._end_reasoning()
            case provider_events.RefusalDelta() if event.text:
                self._switch_block("refusal")
                self.refusal += event.text
                self._on_delta("refusal", event.text)
            case provider_events.ReasoningSigned():
                self._sign(event)
            case results.PayloadParsed() | results.PayloadUnfinished():
                payload = event.payload.model_dump(mode="json", include={"type", "data", "status"})
                self._add_extension_item("payloads", payload)
            case results.ActionText():
                self._on_action_text(event.index, event.text)
            case results.ActionParsed():
                self._export_action(event.action)
            case results.ActionUnfinished():
                self._add_unfinished_action(event.action)
            case _:
                self._export_call(event)

    # blocks of text, reasoning and refusal

    def _switch_block(self, kind: BlockKind | None) -> None:
        """End the text or refusal that is open, unless it is of this kind, and begin one of this kind."""
        if self._block == kind:
            return
        if self._block is not None:
            self._on_block_end(self._block)
        self._block = kind
        self._text_blocks += kind == "text"
        if kind is not None:
            self._on_block_start(kind)

    def _extended(self, extension: dict[str, list[Part]] | None = None) -> Part:
        """Return the field for an extension; it says of several blocks of text that they have all their white space."""
        content = {**(extension or {}), **({JOINED_TEXT: True} if self._text_blocks > 1 else {})}
        return {EXTENSION: content} if content else {}

    def _begin_reasoning(self) -> None:
        """Begin a block of reasoning, unless one is open. Other blocks do not end it."""
        if not self._in_reasoning:
            self._switch_block(None)
            self._in_reasoning = True
            self._on_block_start("reasoning")

    def _end_reasoning(self) -> None:
        if self._in_reasoning:
            self._in_reasoning = False
            self._on_block_end("reasoning")

    def _sign(self, event: provider_events.ReasoningSigned) -> None:
        """Sign the open block of reasoning; if there is none, the signature is a block without text."""
        alone = not self._in_reasoning
        if event.redacted:
            self._switch_block(None)
        else:
            self._begin_reasoning()
        self._on_signature(event.signature, event.redacted)
        if alone:
            self._end_reasoning()

    # calls and actions

    def _export_call(self, event: StreamEvent) -> None:
        match event:
            case results.ToolCallStart() if self._in_pieces:
                self._by_index[event.index] = self._announce(event.id, event.name)
            case results.ToolCallStart():
                self._held_calls[event.index] = (event, [])
            case results.ToolCallDelta() if event.arguments and self._in_pieces:
                self._add_arguments(self._by_index[event.index], event.arguments)
            case results.ToolCallDelta() if event.arguments:
                self._held_calls[event.index][1].append(event.arguments)
            case results.ToolCallEnd():
                self._held_calls.pop(event.index, None)
                call = self._by_index.get(event.index)
                if call is None:
                    call = self._announce(event.call.id, event.call.name)
                    self._add_arguments(call, event.call.arguments_text)
                call.open = False
                self._on_call_end(call, event.call.arguments)
            case results.ToolCallUnfinished():
                self._held_calls.pop(event.index, None)
                self._add_unfinished_call(event.call, self._by_index.get(event.index))
            case _:
                check_event(event)

    def _announce(self, id: str | None, name: str) -> ExportedCall:
        self._switch_block(None)
        position = len(self.calls)
        self._call_ids = self._call_ids or CallIds(self._call_id_seed(), prefix=self.call_prefix)
        call = ExportedCall(position, self._call_ids.next(id), name)
        self.calls.append(call)
        self._on_call_start(call)
        return call

    def _add_arguments(self, call: ExportedCall, arguments: str) -> None:
        call.pieces.append(arguments)
        self._on_call_delta(call, arguments)

    def _add_unfinished_call(self, read: ToolCall, call: ExportedCall | None = None) -> None:
        """Add an incomplete call to the extension. If it was announced, it stays open."""
        self._unfinished.append(read)
        name, id, position = (read.name, read.id, None) if call is None else (call.name, call.id, call.position)
        item: Part = {"name": name, "arguments": read.arguments_text, "status": read.status, "id": id, "call": position}
        self._add_extension_item("unfinished_tool_calls", item)
        if call is not None:
            call.reported = True
            self._on_call_cut(call, read.status)

    def _add_unfinished_action(self, action: Action) -> None:
        self._unfinished.append(action)
        self._add_extension_item("unfinished_actions", _action_item(action))

    def _export_action(self, action: Action) -> None:
        if self._action_tool is None:
            self._add_extension_item("actions", _action_item(action))
            return
        call = self._announce(action.id, self._action_tool)
        arguments = action.model_dump(mode="json", exclude=set(PROVENANCE), exclude_none=True)
        self._add_arguments(call, json.dumps(arguments, ensure_ascii=False))
        call.open = False
        self._on_call_end(call, arguments)

    def _add_extension_item(self, kind: str, item: Part) -> None:
        self._switch_block(None)
        items = self.extension.setdefault(kind, [])
        item = {"index": len(items), **item}
        items.append(item)
        self._on_extension_item(kind, item)

    # hooks: what a protocol sends; by default it sends nothing

    def _on_start(self) -> None:
        """The response begins."""

    def _on_block_start(self, kind: BlockKind) -> None:
        """A block begins."""

    def _on_block_end(self, kind: BlockKind) -> None:
        """A block ends."""

    def _on_delta(self, kind: BlockKind, text: str) -> None:
        """A piece of a block arrives."""

    def _on_signature(self, signature: str, redacted: bool) -> None:
        """The open block of reasoning is signed, or a redacted block arrives."""

    def _on_call_start(self, call: ExportedCall) -> None:
        """A call is announced."""

    def _on_call_delta(self, call: ExportedCall, arguments: str) -> None:
        """A piece of a call's arguments arrives."""

    def _on_call_end(self, call: ExportedCall, arguments: dict[str, Any]) -> None:
        """A call is complete."""

    def _on_call_cut(self, call: ExportedCall, status: str) -> None:
        """A call ends incomplete."""

    def _on_action_text(self, index: int, text: str) -> None:
        """A piece of the text that an action types arrives; the action itself has all of it."""

    def _on_extension_item(self, kind: str, item: Part) -> None:
        """An item is added to `extension`."""

    def _on_finish(self) -> None:
        """The response ends."""


def _cut(id: str | None, name: str, pieces: list[str]) -> ToolCall:
    """A call that never ended."""
    return ToolCall(name=name, arguments={}, arguments_text="".join(pieces), id=id, status="truncated")


def _facts_of(reply: Reply) -> Iterator[tuple[str, Part]]:
    """What was repaired in a reply, and what is wrong with it: items of the extension, each with its kind."""
    for repair in reply.repairs:
        fields = repair.model_dump(mode="json", include={"code", "level", "before", "after", "line", "column"})
        yield "repairs", {**fields, "message": describe_repair(repair)}
    for found in reply.diagnostics:
        if found.severity != "note":
            yield "problems", found.model_dump(mode="json", include={"code", "message", "severity", "line", "column"})
    if has_failed_call(reply):
        yield "retry", {"message": retry_of(reply)}


def _action_item(action: Action) -> Part:
    fields = action.model_dump(mode="json", exclude={"kind", "span", "repairs", "metadata"}, exclude_none=True)
    return {key: value for key, value in fields.items() if value not in ({}, [])}
