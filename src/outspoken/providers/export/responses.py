"""OpenAI's Responses, whole and as events.

https://platform.openai.com/docs/api-reference/responses-streaming. Text and refusals are content parts of a message
item, reasoning is an item with `reasoning_text`, its signature the item's `encrypted_content`, and a call an item whose
`arguments.done` comes only where it is complete: an unfinished one ends with the status "incomplete", and the response
with `response.incomplete`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .exporter import EXTENSION, Exporter, Part, Sent, atold, told

if TYPE_CHECKING:
    from outspoken.providers.events import ProviderEvent
    from outspoken.providers.replies import ProviderError, Usage
    from outspoken.results.replies import Reply

#: Reasons for which a response is incomplete.
_INCOMPLETE = {"length": "max_output_tokens", "pause": "max_output_tokens", "content_filter": "content_filter"}

#: Of the codes that an error of a response can have, those that a provider's error can be told by.
_CODES = frozenset({"rate_limit_exceeded", "invalid_prompt", "server_error"})


@dataclass(slots=True)
class _Item:
    """An output item that is open: where it is in the output, what it is, and the text of its last content part."""

    index: int
    data: Part
    pieces: list[str] = field(default_factory=list[str])


class ResponsesEvents(Exporter):
    """Tells events as those of a response."""

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self._number = 0
        self._output: list[Part] = []
        self._item: _Item | None = None
        self._thinking: _Item | None = None
        self._items: dict[int, _Item] = {}

    def _event(self, type: str, **fields: Any) -> None:
        self._out.append({"type": type, "sequence_number": self._number, **fields})
        self._number += 1

    def _response(self, status: str) -> Part:
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

    def _begin(self) -> None:
        self._event("response.created", response=self._response("in_progress"))
        self._event("response.in_progress", response=self._response("in_progress"))

    # items

    def _add_item(self, prefix: str, **fields: Any) -> _Item:
        index = len(self._output)
        data: Part = {"id": f"{prefix}_{self.id}_{index}", **fields, "status": "in_progress"}
        item = _Item(index, data)
        self._output.append(data)
        self._event("response.output_item.added", output_index=index, item=_copy(data))
        return item

    def _end_item(self, item: _Item, status: str = "completed") -> None:
        item.data["status"] = status
        self._event("response.output_item.done", output_index=item.index, item=_copy(item.data))

    def _about(self, item: _Item) -> Part:
        """Which content part of which item an event is about: the last one."""
        place = max(len(item.data["content"]) - 1, 0)
        return {"item_id": item.data["id"], "output_index": item.index, "content_index": place}

    def _add_part(self, item: _Item, part: Part) -> None:
        item.pieces = []
        item.data["content"].append(part)
        self._event("response.content_part.added", **self._about(item), part=dict(part))

    def _end_part(self, item: _Item, key: str, done: str, **fields: Any) -> None:
        part = item.data["content"][-1]
        part[key] = "".join(item.pieces)
        self._event(done, **self._about(item), **{key: part[key]}, **fields)
        self._event("response.content_part.done", **self._about(item), part=dict(part))

    # text, reasoning, refusals

    def _switch(self, kind: str | None) -> None:
        """Text and a refusal are parts of one message; everything else ends it."""
        item = self._item
        if item is not None and item.data["type"] == "message" and kind not in ("text", "refusal"):
            super()._switch(None)
            self._end_item(item)
            self._item = None
        super()._switch(kind)

    def _open_block(self, kind: str) -> None:
        if kind == "reasoning":
            self._thinking = self._add_item("rs", type="reasoning", summary=[], content=[])
            return
        if self._item is None:
            self._item = self._add_item("msg", type="message", role="assistant", content=[])
        if kind == "text":
            self._add_part(self._item, {"type": "output_text", "text": "", "annotations": [], "logprobs": []})
        else:
            self._add_part(self._item, {"type": "refusal", "refusal": ""})

    def _close_block(self, kind: str) -> None:
        item = self._thinking if kind == "reasoning" else self._item
        if item is None:
            return
        if kind == "text":
            self._end_part(item, "text", "response.output_text.done", logprobs=[])
        elif kind == "refusal":
            self._end_part(item, "refusal", "response.refusal.done")
        else:
            if item.data["content"]:
                self._end_part(item, "text", "response.reasoning_text.done")
            self._end_item(item)
            self._thinking = None

    def _more(self, item: _Item | None, type: str, text: str, **fields: Any) -> None:
        if item is not None:
            item.pieces.append(text)
            self._event(type, **self._about(item), delta=text, **fields)

    def _text(self, text: str) -> None:
        self._more(self._item, "response.output_text.delta", text, logprobs=[])

    def _refusal(self, text: str) -> None:
        self._more(self._item, "response.refusal.delta", text)

    def _reasoning(self, text: str) -> None:
        item = self._thinking
        if item is not None:
            self._begin_thought(item)
        self._more(item, "response.reasoning_text.delta", text)

    def _begin_thought(self, item: _Item) -> None:
        if not item.data["content"]:
            self._add_part(item, {"type": "reasoning_text", "text": ""})

    def _signed(self, signature: str, redacted: bool) -> None:
        if redacted:
            item = self._add_item("rs", type="reasoning", summary=[], content=[])
            item.data["encrypted_content"] = signature
            self._end_item(item)
        elif self._thinking is not None:
            self._thinking.data["encrypted_content"] = signature
            self._begin_thought(self._thinking)  # an item without any part is one that came encrypted

    # calls

    def _call_start(self, call: Sent) -> None:
        self._items[call.position] = self._add_item(
            "fc", type="function_call", call_id=call.id, name=call.name, arguments=""
        )

    def _call_delta(self, call: Sent, arguments: str) -> None:
        item = self._items[call.position]
        about: Part = {"item_id": item.data["id"], "output_index": item.index}
        self._event("response.function_call_arguments.delta", **about, delta=arguments)

    def _call_end(self, call: Sent, arguments: dict[str, Any]) -> None:
        item = self._items[call.position]
        item.data["arguments"] = call.text
        about: Part = {"item_id": item.data["id"], "output_index": item.index}
        self._event("response.function_call_arguments.done", **about, arguments=call.text)
        self._end_item(item)

    def _call_cut(self, call: Sent, status: str) -> None:
        item = self._items[call.position]
        item.data["arguments"] = call.text
        self._end_item(item, "incomplete")

    # the end

    def whole(self) -> Part:
        """The response, once it has ended."""
        reason = self.reason
        response = self._response("completed")
        response["output"] = [_copy(item) for item in self._output]
        response["usage"] = usage_object(self.usage) if self.usage else None
        if self.error is not None:
            response |= {"status": "failed", "error": error_object(self.error)}
        elif reason in _INCOMPLETE or (reason == "refusal" and (self.unfinished or not self.refusal)):
            why = _INCOMPLETE.get(reason, "content_filter")
            response |= {"status": "incomplete", "incomplete_details": {"reason": why}}
        if self.extras:
            response[EXTENSION] = self.extras
        return response

    def _finale(self) -> None:
        response = self.whole()
        self._event(f"response.{response['status']}", response=response)


def to_openai_responses(
    events: Iterable[ProviderEvent],
    *,
    id: str | None = None,
    model: str | None = None,
    created: int | None = None,
    action_tool: str | None = None,
) -> Iterator[Part]:
    """Events as those of OpenAI's Responses, as early as they come.

    The last one is `response.completed`, `response.incomplete` or `response.failed`, with the whole response. What the
    caller sent of the request (`tools`, `instructions`, …) is not known here: the response says that there was none.
    Payloads, GUI actions and what is unfinished are in `response.outspoken` at the end; with `action_tool`, actions are
    calls of a tool of that name. `id`, `model` and `created` go before what the events say.
    """
    return told(events, ResponsesEvents(id=id, model=model, created=created, action_tool=action_tool))


def ato_openai_responses(events: AsyncIterable[ProviderEvent], **options: Any) -> AsyncIterator[Part]:
    """`to_openai_responses`, with its options, for events that come asynchronously."""
    return atold(events, ResponsesEvents(**options))


def to_openai_response(
    reply: Reply,
    *,
    id: str | None = None,
    model: str | None = None,
    created: int | None = None,
    action_tool: str | None = None,
) -> Part:
    """A reply as one response. Calls that are unfinished are no items of it: they are in `outspoken`."""
    exporter = ResponsesEvents(id=id, model=model, created=created, action_tool=action_tool)
    exporter.tell(reply)
    return exporter.whole()


def error_object(error: ProviderError) -> Part:
    """An error as a response has it. Of OpenAI's codes only few fit; the provider's own word is in the message then."""
    return {"code": error.code if error.code in _CODES else "server_error", "message": error.message}


def usage_object(usage: Usage) -> Part:
    """Tokens as Responses count them. What the provider does not count is 0, since a number has to stand."""
    given, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": given + written if usage.total_tokens is None else usage.total_tokens,
    }


def _copy(item: Part) -> Part:
    """An item as it is now: what is sent later must not change what was sent."""
    return item | {"content": [dict(part) for part in item["content"]]} if "content" in item else dict(item)
