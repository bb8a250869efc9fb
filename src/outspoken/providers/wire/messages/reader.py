"""Anthropic's Messages: whole messages, and the events of a stream.

Source: https://docs.anthropic.com/en/api/messages and https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from typing import Any

from outspoken.providers.assembly.assembler import Assembler
from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.wire.reader import ApiReader, OpenPayload, arguments_text, list_of

from . import USAGE


class AnthropicReader(ApiReader):
    """Reads messages and events. Blocks have an index, and their pieces may arrive in any order."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        #: the blocks that have begun
        self._bodies: dict[int, JsonObject] = {}
        self._usage: dict[str, Any] = {}
        self._last_index = -1

    def read(self, body: JsonObject) -> None:
        """Read a message, an event, or an error. Events of unknown types are skipped."""
        kind = body.string("type")
        if kind == "message":
            self._read_head(body)
            self._read_joined(body)
            for index, block in enumerate(body.objects("content")):
                self._start_block(index, block)
                self._stop_block(index)
            self.read_extension(body)
            self._read_end(body)
        elif kind == "message_start":
            self._read_head(body.required_object("message"))
        elif kind == "content_block_start":
            self._read_joined(body)
            self._start_block(self._index(body, new=True), body.required_object("content_block"))
        elif kind == "content_block_delta":
            self._read_delta(self._index(body), body.required_object("delta"))
        elif kind == "content_block_stop":
            self._stop_block(self._index(body))
        elif kind == "message_delta":
            self.read_extension(body)
            self._read_usage(body)
            self._read_end(body.object("delta") or body)
        elif kind == "error" or kind is None:
            self._read_error_event(body, "type", "`message`, or the name of an event")

    def _index(self, event: JsonObject, *, new: bool = False) -> int:
        """Return the index of a block; gateways that leave it out mean the last block."""
        found = event.integer("index")
        self._last_index = found if found is not None else self._last_index + new
        return self._last_index

    def _read_head(self, message: JsonObject) -> None:
        self._assembler.started(message.string("id"), message.string("model"))
        self._read_usage(message)

    def _read_usage(self, body: JsonObject) -> None:
        """Read the usage. Later counts replace earlier ones; those that are not repeated stay."""
        usage = body.object("usage")
        if usage is not None:
            self._usage.update({key: value for key, value in usage.value.items() if value is not None})
            self._report_usage(JsonObject(dict(self._usage), usage.path), USAGE)

    def _read_end(self, body: JsonObject) -> None:
        details = body.object("stop_details")
        if details is not None and "refusal" in (body.string("stop_reason"), details.string("type")):
            self._assembler.refuse(details.string("explanation"))
        self._assembler.finished(body.string("stop_reason"))

    # blocks

    def _start_block(self, index: int, body: JsonObject) -> None:
        to, kind, key = self._assembler, body.string("type"), (index,)
        self._bodies[index] = body
        if kind == "text":
            to.begin_part("text", key)
            to.add("text", body.string("text"), key)
            for citation in list_of(body.get("citations")):
                to.payload("citation", citation, aside=True)
        elif kind == "thinking":
            to.begin_part("reasoning", key)
            to.add("reasoning", body.string("thinking"), key)
            to.sign(body.string("signature"), key)
        elif kind == "redacted_thinking":
            to.sign(body.string("data"), key, redacted=True)
        elif kind == "tool_use":
            to.call(key, body.string("id"), body.string("name"))
        else:
            self._payloads[index] = OpenPayload(kind or "block", body.value)

    def _read_delta(self, index: int, delta: JsonObject) -> None:
        to, kind, key = self._assembler, delta.string("type"), (index,)
        if kind == "text_delta":
            to.add("text", delta.string("text"), key)
        elif kind == "thinking_delta":
            to.add("reasoning", delta.string("thinking"), key)
        elif kind == "signature_delta":
            to.sign(delta.string("signature"), key)
        elif kind == "citations_delta":
            to.payload("citation", delta.get("citation"), aside=True)
        elif index not in self._bodies:
            raise delta.invalid("type", f"a delta of a block that has begun; block {index} has not")
        elif kind == "input_json_delta":
            piece = delta.string("partial_json") or ""
            if self._bodies[index].value.get("type") == "tool_use":
                to.arguments(to.call(key, None, None), piece)
            elif index in self._payloads and piece:
                self._payloads[index].extend({"input": piece})
        elif index in self._payloads:
            self._payloads[index].extend({key: value for key, value in delta.value.items() if key != "type"})

    def _stop_block(self, index: int) -> None:
        to, body, key = self._assembler, self._bodies.pop(index, None), (index,)
        if body is None:
            return
        if index in self._payloads:
            self._payloads.pop(index).end(to, "ok")
        kind = {"text": "text", "thinking": "reasoning", "tool_use": "call"}.get(body.string("type") or "")
        if kind == "call" and body.get("input") and not (call := to.call(key, None, None)).length:
            to.arguments(call, arguments_text(body, "input"))
        if kind is not None:
            to.end_part(kind, key)
