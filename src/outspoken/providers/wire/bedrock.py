"""The Converse API of Amazon Bedrock: whole responses, and the events of `ConverseStream` as dicts.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and …_ConverseStream.html
"""

from __future__ import annotations

from typing import Any, cast

from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.usage import UsageKeys

from .reader import ApiReader, OpenPayload, arguments_text, parse_error

#: the names of token counts
_USAGE = UsageKeys(("inputTokens",), ("outputTokens",), ("totalTokens",), (), ("cacheReadInputTokens",))
#: the type of the tools that the provider runs
_SERVER_TOOL = "server_tool_use"
_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)


class BedrockReader(ApiReader):
    """Reads responses and events. Content blocks have an index."""

    def read(self, body: JsonObject) -> None:
        """Read a response, an event, or an error. An event is under its name."""
        if body.has("output", "stopReason"):
            self._read_response(body)
            return
        is_known = False
        for key in body.value:
            if key in _EVENTS:
                is_known = True
                event = body.object(key)
                if event is not None:
                    self._read_event(key, event)
            elif key.endswith(("Exception", "Error")) or key == "error":
                is_known = True
                error = parse_error(body.value[key])
                self._assembler.failed(error if error.type else error.model_copy(update={"type": key}))
        if not is_known and not body.has("p", "ResponseMetadata"):
            self._fail(body, "output", "an object, or an event")

    def _read_response(self, body: JsonObject) -> None:
        self._assembler.started()
        output = body.object("output")
        message = output.object("message") if output is not None else None
        for index, block in enumerate(message.objects("content") if message is not None else ()):
            self._read_block(index, block)
            self._end_block(index)
        self._report_usage(body.object("usage"), _USAGE)
        self._assembler.finished(body.string("stopReason"))

    def _read_event(self, kind: str, event: JsonObject) -> None:
        index = event.integer("contentBlockIndex") or 0
        if kind == "messageStart":
            self._assembler.started()
        elif kind == "contentBlockStart":
            start = event.object("start")
            if start is not None:
                self._read_block(index, start)
        elif kind == "contentBlockDelta":
            self._read_block(index, event.required_object("delta"))
        elif kind == "contentBlockStop":
            self._end_block(index)
        elif kind == "messageStop":
            self._assembler.finished(event.string("stopReason"))
        else:
            self._report_usage(event.object("usage"), _USAGE)

    def _read_block(self, index: int, block: JsonObject) -> None:
        """Read a content block, or a delta of one: then text goes on, and an input is JSON in pieces."""
        for key, value in block.value.items():
            if key == "text":
                self._assembler.add("text", block.string("text"), (index,))
            elif value is None:
                continue
            elif key == "reasoningContent":
                self._read_reasoning(index, block.required_object(key))
            elif key == "toolUse":
                self._read_call(index, block.required_object(key))
            elif key == "citationsContent":
                self._read_cited(index, block.required_object(key))
            else:
                self._extend_other(index, key, value)

    def _read_reasoning(self, index: int, content: JsonObject) -> None:
        body = content.object("reasoningText") or content
        self._assembler.add("reasoning", body.string("text"), (index,))
        self._assembler.sign(body.string("signature"), (index,))
        self._assembler.sign(body.string("redactedContent"), (index,), redacted=True)

    def _read_cited(self, index: int, content: JsonObject) -> None:
        """Read text with its sources."""
        for piece in content.objects("content"):
            self._assembler.add("text", piece.string("text"), (index,))
        for source in content.objects("citations"):
            self._assembler.payload("citation", source.value, aside=True)

    def _read_call(self, index: int, call: JsonObject) -> None:
        piece = arguments_text(call, "input")
        if call.string("type") == _SERVER_TOOL or index in self._payloads:
            self._extend_other(index, "toolUse", {**call.value, "input": piece or ""})
            return
        block = self._assembler.call((index,), call.string("toolUseId"), call.string("name"))
        self._assembler.arguments(block, piece)

    def _extend_other(self, index: int, key: str, value: Any) -> None:
        """Extend a block that becomes a payload."""
        if key == "citation":
            self._assembler.payload("citation", value, aside=True)
            return
        delta = cast("dict[str, Any]", value) if isinstance(value, dict) else {key: value}
        kind = _SERVER_TOOL if delta.get("type") == _SERVER_TOOL else key
        self._payloads.setdefault(index, OpenPayload(kind, {})).extend(delta)

    def _end_block(self, index: int) -> None:
        for kind in ("text", "reasoning", "call"):
            self._assembler.end_part(kind, (index,))
        if index in self._payloads:
            self._payloads.pop(index).end(self._assembler, "ok")
