"""Anthropic's Messages: whole messages, and the events of a stream.

Source: https://docs.anthropic.com/en/api/messages and https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from typing import Any

from outspoken.providers.assembly.assembler import Assembler
from outspoken.providers.assembly.tool_calls import ToolCallBlock
from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.replies import ANTHROPIC
from outspoken.results.replies import Status

from .base import Reader, arguments_text, json_or_text, list_of

#: the blocks that are no payloads
_TEXT_BLOCKS = ("text", "thinking", "redacted_thinking")


class _ContentBlock:
    """A block that the stream has begun: its object, and the pieces of its input as JSON text."""

    def __init__(self, body: JsonObject, call: ToolCallBlock | None) -> None:
        self.body, self.call = body, call
        self.kind = body.string("type") or ""
        self.input: list[str] = []

    @property
    def is_payload(self) -> bool:
        """Is it run or found by the provider, such as the result of a search?"""
        return self.call is None and self.kind not in _TEXT_BLOCKS

    def data(self) -> dict[str, Any]:
        """Return its object with its input; an input that is no JSON is text."""
        text = "".join(self.input)
        return {**self.body.value, "input": json_or_text(text)} if text else self.body.value


class AnthropicReader(Reader):
    """Reads messages and events. Blocks have an index, and their pieces may arrive in any order."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self._blocks: dict[int, _ContentBlock] = {}
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

    def end(self) -> None:
        """Keep the provider's own blocks that never ended."""
        for block in self._blocks.values():
            self._add_payload(block, "truncated")
        self._blocks.clear()

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
            self._report_usage(JsonObject(dict(self._usage), usage.path), ANTHROPIC)

    def _read_end(self, body: JsonObject) -> None:
        details = body.object("stop_details")
        if details is not None and "refusal" in (body.string("stop_reason"), details.string("type")):
            self._assembler.refuse(details.string("explanation"))
        self._assembler.finished(body.string("stop_reason"))

    # blocks

    def _start_block(self, index: int, body: JsonObject) -> None:
        to, kind, key = self._assembler, body.string("type"), (index,)
        call = None
        if kind == "text":
            to.begin_part("text", key)
            to.text(body.string("text"), key)
            for citation in list_of(body.get("citations")):
                to.payload("citation", citation, aside=True)
        elif kind == "thinking":
            to.begin_part("reasoning", key)
            to.reasoning(body.string("thinking"), key)
            to.sign(body.string("signature"), key)
        elif kind == "redacted_thinking":
            to.sign(body.string("data"), key, redacted=True)
        elif kind == "tool_use":
            call = to.call(key, body.string("id"), body.string("name"))
        self._blocks[index] = _ContentBlock(body, call)

    def _read_delta(self, index: int, delta: JsonObject) -> None:
        to, kind, key = self._assembler, delta.string("type"), (index,)
        block = self._blocks.get(index)
        if kind == "text_delta":
            to.text(delta.string("text"), key)
        elif kind == "thinking_delta":
            to.reasoning(delta.string("thinking"), key)
        elif kind == "signature_delta":
            to.sign(delta.string("signature"), key)
        elif kind == "citations_delta":
            to.payload("citation", delta.get("citation"), aside=True)
        elif block is None:
            raise delta.invalid("type", f"a delta of a block that has begun; block {index} has not")
        elif kind == "input_json_delta":
            piece = delta.string("partial_json") or ""
            block.input.append(piece)
            if block.call is not None:
                to.arguments(block.call, piece)
        else:
            _extend(block.body.value, delta.value)

    def _stop_block(self, index: int) -> None:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        self._add_payload(block, "ok")
        if block.call is not None:
            if block.body.get("input") and not "".join(block.input):
                self._assembler.arguments(block.call, arguments_text(block.body, "input"))
            self._assembler.end_part("call", (index,))
        elif block.kind in ("text", "thinking"):
            self._assembler.end_part("text" if block.kind == "text" else "reasoning", (index,))

    def _add_payload(self, block: _ContentBlock, status: Status) -> None:
        if block.is_payload:
            self._assembler.payload(block.kind or "block", block.data(), aside=True, status=status)


def _extend(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Add the fields of a delta of an unknown type: text is appended, other values replace."""
    for key, value in delta.items():
        if key != "type":
            before = block.get(key)
            block[key] = before + value if isinstance(before, str) and isinstance(value, str) else value
