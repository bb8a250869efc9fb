"""OpenAI's Responses, whole and as events.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. Text and refusals are content parts of a
message item. Reasoning is an item with `reasoning_text`, and its signature is the item's `encrypted_content`. A call is
an item. If it is incomplete, it has no `arguments.done` and the status "incomplete", and the response ends with
`response.incomplete`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from outspoken.providers.replies import ProviderError
from outspoken.providers.usage import Usage
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.parts import BlockKind, ExportedCall, ExportOptions, Part
from outspoken.results.replies import Reply

from . import USAGE

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The finish reasons of an incomplete response, and the reasons that Responses have for them.
_INCOMPLETE_REASONS = {"length": "max_output_tokens", "pause": "max_output_tokens", "content_filter": "content_filter"}

#: The error codes of Responses that providers share.
_ERROR_CODES = frozenset({"rate_limit_exceeded", "invalid_prompt", "server_error"})

#: The events for pieces of text, and the fields that they have beside it.
_DELTA_EVENTS: dict[BlockKind, tuple[str, Part]] = {
    "text": ("response.output_text.delta", {"logprobs": []}),
    "reasoning": ("response.reasoning_text.delta", {}),
    "refusal": ("response.refusal.delta", {}),
}


@dataclass(slots=True)
class _Item:
    """An output item that is open: its index, its fields, and the text of its last content part."""

    index: int
    data: Part
    pieces: list[str] = field(default_factory=list[str])

    @property
    def place(self) -> Part:
        """The fields of an event that identify it."""
        return {"item_id": self.data["id"], "output_index": self.index}


class ResponsesExporter(Exporter):
    """Exports events as those of a response.

    The last event is `response.completed`, `response.incomplete` or `response.failed`, with the whole response. Its
    fields for the request (`tools`, `instructions`, …) are empty, since the request is not known here. Payloads, GUI
    actions and unfinished calls are in `response.outspoken` of the last event.
    """

    def __init__(self, **common: Unpack[ExportOptions]) -> None:
        super().__init__(**common)
        self._sequence_number = 0
        self._output: list[Part] = []
        #: the open message, which has text and refusals as its parts, and the open reasoning
        self._open: dict[str, _Item] = {}
        #: by position
        self._call_items: dict[int, _Item] = {}

    def _add_part(self, type: str, **fields: Any) -> None:
        self._parts.append({"type": type, "sequence_number": self._sequence_number, **fields})
        self._sequence_number += 1

    def _new_response(self, status: str) -> Part:
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self.model,
            "output": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": None,
        }

    def whole(self, reply: Reply) -> Part:
        """Export a reply as one response."""
        self.replayed(reply)
        return self.response()

    def _on_start(self) -> None:
        self._add_part("response.created", response=self._new_response("in_progress"))
        self._add_part("response.in_progress", response=self._new_response("in_progress"))

    # items

    def _add_item(self, prefix: str, more: Part | None = None, **fields: Any) -> _Item:
        index = len(self._output)
        data: Part = {"id": f"{prefix}_{self.id}_{index}", **fields, "status": "in_progress"}
        item = _Item(index, data)
        self._output.append(data)
        self._add_part("response.output_item.added", output_index=index, item=_copy(data), **(more or {}))
        return item

    def _end_item(self, item: _Item, status: str = "completed") -> None:
        item.data["status"] = status
        self._add_part("response.output_item.done", output_index=item.index, item=_copy(item.data))

    def _part_place(self, item: _Item) -> Part:
        """Return the fields that identify the last content part of an item."""
        return {**item.place, "content_index": max(len(item.data["content"]) - 1, 0)}

    def _add_content_part(self, item: _Item, part: Part) -> None:
        item.pieces = []
        item.data["content"].append(part)
        self._add_part("response.content_part.added", **self._part_place(item), part=dict(part))

    def _end_part(self, item: _Item, key: str, done: str, **fields: Any) -> None:
        part = item.data["content"][-1]
        part[key] = "".join(item.pieces)
        self._add_part(done, **self._part_place(item), **{key: part[key]}, **fields)
        self._add_part("response.content_part.done", **self._part_place(item), part=dict(part))

    # text, reasoning, refusals

    def _switch_block(self, kind: BlockKind | None) -> None:
        """End the message before anything else begins."""
        if "message" in self._open and kind not in ("text", "refusal"):
            super()._switch_block(None)
            self._end_item(self._open.pop("message"))
        super()._switch_block(kind)

    def _item_of(self, kind: BlockKind) -> _Item:
        return self._open["reasoning" if kind == "reasoning" else "message"]

    def _on_block_start(self, kind: BlockKind) -> None:
        if kind == "reasoning":
            self._open[kind] = self._add_item("rs", type="reasoning", summary=[], content=[])
            return
        if "message" not in self._open:
            item = self._add_item("msg", self._extended(), type="message", role="assistant", content=[])
            self._open["message"] = item
        text: Part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        self._add_content_part(self._open["message"], text if kind == "text" else {"type": kind, kind: ""})

    def _on_block_end(self, kind: BlockKind) -> None:
        item = self._item_of(kind)
        if kind == "text":
            self._end_part(item, "text", "response.output_text.done", logprobs=[])
        elif kind == "refusal":
            self._end_part(item, "refusal", "response.refusal.done")
        else:
            if item.data["content"]:
                self._end_part(item, "text", "response.reasoning_text.done")
            self._end_item(self._open.pop(kind))

    def _on_delta(self, kind: BlockKind, text: str) -> None:
        item = self._item_of(kind)
        if kind == "reasoning":
            self._begin_reasoning_part(item)
        event, fields = _DELTA_EVENTS[kind]
        item.pieces.append(text)
        self._add_part(event, **self._part_place(item), delta=text, **fields)

    def _begin_reasoning_part(self, item: _Item) -> None:
        if not item.data["content"]:
            self._add_content_part(item, {"type": "reasoning_text", "text": ""})

    def _on_signature(self, signature: str, redacted: bool) -> None:
        if redacted:
            item = self._add_item("rs", type="reasoning", summary=[], content=[])
            item.data["encrypted_content"] = signature
            self._end_item(item)
        else:
            self._open["reasoning"].data["encrypted_content"] = signature
            self._begin_reasoning_part(self._open["reasoning"])  # readers take an item without parts as redacted

    # calls

    def _on_call_start(self, call: ExportedCall) -> None:
        self._call_items[call.position] = self._add_item(
            "fc", type="function_call", call_id=call.id, name=call.name, arguments=""
        )

    def _on_call_delta(self, call: ExportedCall, arguments: str) -> None:
        place = self._call_items[call.position].place
        self._add_part("response.function_call_arguments.delta", **place, delta=arguments)

    def _on_call_end(self, call: ExportedCall, arguments: dict[str, Any]) -> None:
        item = self._call_items[call.position]
        item.data["arguments"] = call.arguments
        self._add_part("response.function_call_arguments.done", **item.place, arguments=call.arguments)
        self._end_item(item)

    def _on_call_cut(self, call: ExportedCall, status: str) -> None:
        item = self._call_items[call.position]
        item.data["arguments"] = call.arguments
        self._end_item(item, "incomplete")

    # the end

    def response(self) -> Part:
        """Return the response, after its end."""
        reason = self.reason
        response = self._new_response("completed")
        response["output"] = [_copy(item) for item in self._output]
        if self.usage is not None:
            response["usage"] = USAGE.write(self.usage, *Usage.model_fields)
            response["usage"]["input_tokens_details"]["cache_write_tokens"] = 0
        if self.error is not None:
            response |= {"status": "failed", "error": error_object(self.error)}
        elif reason in _INCOMPLETE_REASONS or (reason == "refusal" and (self.has_unfinished or not self.refusal)):
            why = _INCOMPLETE_REASONS.get(reason, "content_filter")
            response |= {"status": "incomplete", "incomplete_details": {"reason": why}}
        return response | self._extended(self.extension)

    def _on_finish(self) -> None:
        response = self.response()
        self._add_part(f"response.{response['status']}", response=response)


def error_object(error: ProviderError) -> Part:
    """Return an error as Responses have it; codes that they do not know become `server_error`."""
    return {"code": error.code if error.code in _ERROR_CODES else "server_error", "message": error.message}


def _copy(item: Part) -> Part:
    """Copy an item, since later events must not change it in the events that were sent."""
    return item | {"content": [dict(part) for part in item["content"]]} if "content" in item else dict(item)
