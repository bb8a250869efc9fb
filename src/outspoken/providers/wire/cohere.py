"""Cohere's `/v2/chat`: whole responses, and the events of a stream.

Source: https://docs.cohere.com/reference/chat and https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.usage import UsageKeys

from .reader import ApiReader, parse_error

#: the names of token counts
_USAGE = UsageKeys(
    ("tokens.input_tokens", "billed_units.input_tokens"), ("tokens.output_tokens", "billed_units.output_tokens"),
    (), (), ("cached_tokens",),
)  # fmt: skip
#: the key of the tool plan, which is reasoning
_PLAN = ("plan",)


class CohereReader(ApiReader):
    """Reads responses and events. Parts of the content and calls have an index."""

    def read(self, body: JsonObject) -> None:
        """Read a response, an event, or an error. Events of unknown types are skipped."""
        kind, message = body.string("type") or body.string("event_type"), body.get("message")
        if kind is not None and not isinstance(message, str):
            self._read_event(kind, body)
        elif isinstance(message, dict):
            self._assembler.started(body.string("id"), body.string("model"))
            self._read_message(JsonObject(message, "message"))
            self._read_end(body)
        else:
            self._fail(body, "message", "an object")

    def _read_message(self, message: JsonObject) -> None:
        to = self._assembler
        to.add("reasoning", message.string("tool_plan"), _PLAN)
        to.end_part("reasoning", _PLAN)
        for index, part in enumerate(message.objects("content")):
            self._read_content(index, part)
            self._end_content(index)
        for index, call in enumerate(message.objects("tool_calls")):
            self._add_call((index,), call, call.required_object("function"))
            to.end_part("call", (index,))
        for citation in message.objects("citations"):
            to.payload("citation", citation.value, aside=True)

    def _read_end(self, body: JsonObject) -> None:
        self._report_usage(body.object("usage"), _USAGE)
        if error := body.get("error"):
            self._assembler.failed(parse_error(error))
        self._assembler.finished(body.string("finish_reason"))

    def _read_event(self, kind: str, body: JsonObject) -> None:
        to, index = self._assembler, body.integer("index") or 0
        delta = body.object("delta")
        message = delta.object("message") if delta is not None else None
        if kind == "message-start":
            to.started(body.string("id"))
        elif kind == "message-end" and delta is not None:
            self._read_end(delta)
        elif kind == "content-end":
            self._end_content(index)
        elif kind == "tool-call-end":
            to.end_part("call", (index,))
        elif message is not None:
            self._read_delta(kind, index, message)

    def _read_delta(self, kind: str, index: int, message: JsonObject) -> None:
        to = self._assembler
        if kind in ("content-start", "content-delta"):
            content = message.object("content")
            if content is not None:
                self._read_content(index, content)
        elif kind == "tool-plan-delta":
            to.add("reasoning", message.string("tool_plan"), _PLAN)
        elif kind in ("tool-call-start", "tool-call-delta"):
            call = message.object("tool_calls")
            if call is not None:
                to.end_part("reasoning", _PLAN)
                self._add_call((index,), call, call.required_object("function"))
        elif kind == "citation-start":
            to.payload("citation", message.get("citations"), aside=True)

    def _read_content(self, index: int, part: JsonObject) -> None:
        self._assembler.add("reasoning", part.string("thinking"), (index,))
        self._assembler.add("text", part.string("text"), (index,))

    def _end_content(self, index: int) -> None:
        self._assembler.end_part("reasoning", (index,))
        self._assembler.end_part("text", (index,))
