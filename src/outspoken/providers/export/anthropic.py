"""Anthropic's messages, whole and as events.

https://docs.anthropic.com/en/api/messages-streaming. Blocks have an index and may be open at once. There is no sign
that a block is unfinished but the `stop_reason`, "max_tokens", and `outspoken.unfinished` of the `message_delta`.
Anthropic's clients read the pieces of an input as they come and raise where they can be no JSON, so of a call that is
no JSON only what could still be a JSON object is sent; all of it is in the extension.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from outspoken.json.scanner import JsonScanner

from .exporter import EXTENSION, Exporter, Part, Sent, atold, told

if TYPE_CHECKING:
    from outspoken.providers.events import ProviderEvent
    from outspoken.providers.replies import FinishReason, Usage
    from outspoken.results.replies import Reply

REASONS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause": "pause_turn",
    "other": "end_turn",
}

#: Anthropic's own words that say more than those above.
_FINER = {"stop_sequence": "stop", "model_context_window_exceeded": "length"}

_ERRORS = frozenset(
    {
        "invalid_request_error",
        "authentication_error",
        "billing_error",
        "permission_error",
        "not_found_error",
        "rate_limit_error",
        "timeout_error",
        "api_error",
        "overloaded_error",
    }
)


class AnthropicEvents(Exporter):
    """Tells events as those of a message."""

    id_prefix = "msg_"
    call_prefix = "toolu_"

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self._next = 0
        self._open = self._thinking = 0
        self._uses: dict[int, tuple[int, JsonScanner]] = {}
        self._ended_uses: set[int] = set()

    def _event(self, type: str, **fields: Any) -> None:
        self._out.append({"type": type, **fields})

    def _begin(self) -> None:
        begun: Part = {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_object(self.usage) | {"output_tokens": 0},
        }
        self._event("message_start", message=begun)

    def _start(self, block: Part) -> int:
        index = self._next
        self._next += 1
        self._event("content_block_start", index=index, content_block=block)
        return index

    def _delta(self, index: int, **delta: Any) -> None:
        self._event("content_block_delta", index=index, delta=delta)

    def _open_block(self, kind: str) -> None:
        if kind == "text":
            self._open = self._start({"type": "text", "text": ""})
        elif kind == "reasoning":
            self._thinking = self._start({"type": "thinking", "thinking": "", "signature": ""})

    def _close_block(self, kind: str) -> None:
        if kind != "refusal":
            self._event("content_block_stop", index=self._thinking if kind == "reasoning" else self._open)

    def _text(self, text: str) -> None:
        self._delta(self._open, type="text_delta", text=text)

    def _reasoning(self, text: str) -> None:
        self._delta(self._thinking, type="thinking_delta", thinking=text)

    def _signed(self, signature: str, redacted: bool) -> None:
        if redacted:
            self._event("content_block_stop", index=self._start({"type": "redacted_thinking", "data": signature}))
        else:
            self._delta(self._thinking, type="signature_delta", signature=signature)

    def _call_start(self, call: Sent) -> None:
        index = self._start({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        self._uses[call.position] = (index, JsonScanner())

    def _call_delta(self, call: Sent, arguments: str) -> None:
        index, scanner = self._uses[call.position]
        if call.position in self._ended_uses or not self._is_object(call):
            return
        read, ended = scanner.feed(arguments, 0)
        if ended or scanner.broken:
            self._ended_uses.add(call.position)
        if read:
            self._delta(index, type="input_json_delta", partial_json=arguments[:read])

    def _is_object(self, call: Sent) -> bool:
        """Are the arguments an object, as far as they came? The clients raise on the beginning of a bare word."""
        first = next((piece for piece in call.arguments if piece.strip()), "")
        return first.lstrip()[:1] in ("", "{")

    def _call_end(self, call: Sent, arguments: dict[str, Any]) -> None:
        self._event("content_block_stop", index=self._uses[call.position][0])

    def _call_cut(self, call: Sent, status: str) -> None:
        self._event("content_block_stop", index=self._uses[call.position][0])

    def _finale(self) -> None:
        beyond = {EXTENSION: self.extras} if self.extras else {}
        if self.error is not None:
            kind = self.error.type if self.error.type in _ERRORS else "api_error"
            self._event("error", error={"type": kind, "message": self.error.message}, **beyond)
            return
        delta: Part = {"stop_reason": self._stop_reason(), "stop_sequence": None}
        if self.refusal:
            delta["stop_details"] = {"type": "refusal", "category": None, "explanation": self.refusal}
        self._event("message_delta", delta=delta, usage=usage_object(self.usage), **beyond)
        self._event("message_stop")

    def _stop_reason(self) -> str:
        if self.refusal and self.reason == "stop":
            return "refusal"
        if self.finished and _FINER.get(self.finished.raw) == self.reason:
            return self.finished.raw
        return REASONS[self.reason]


def to_anthropic_events(
    events: Iterable[ProviderEvent],
    *,
    id: str | None = None,
    model: str | None = None,
    action_tool: str | None = None,
) -> Iterator[Part]:
    """Events as those of an Anthropic message, as early as they come.

    Text, thinking (with signatures, redacted too) and calls are blocks. A refusal is the `explanation` of the
    `stop_details`. An error is an event `error`, with which the message ends. Payloads, GUI actions and what is
    unfinished are in `outspoken` of the `message_delta` (or the error); with `action_tool`, actions are calls of a tool
    of that name. `id` and `model` go before what the events say.
    """
    return told(events, AnthropicEvents(id=id, model=model, action_tool=action_tool))


def ato_anthropic_events(events: AsyncIterable[ProviderEvent], **options: Any) -> AsyncIterator[Part]:
    """`to_anthropic_events`, with its options, for events that come asynchronously."""
    return atold(events, AnthropicEvents(**options))


def to_anthropic(
    reply: Reply, *, id: str | None = None, model: str | None = None, action_tool: str | None = None
) -> Part:
    """A reply as an Anthropic message, or as an object of type "error" where the provider reports one.

    Calls that are unfinished are not in its content: they are in `outspoken`, and the `stop_reason` is "max_tokens".
    """
    whole: Part = {}
    for part in AnthropicEvents(id=id, model=model, action_tool=action_tool).tell(reply):
        match part["type"]:
            case "message_start":
                whole = part["message"]
            case "content_block_start":
                whole["content"].append(part["content_block"])
            case "content_block_delta":
                _grow(whole["content"][part["index"]], part["delta"])
            case "message_delta":
                whole |= part["delta"] | {key: part[key] for key in ("usage", EXTENSION) if key in part}
            case "error":
                return part
            case _:
                pass
    return whole


def _grow(block: Part, delta: Part) -> None:
    """Put a delta into its block. An input comes in one piece where all of it is there."""
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case _:
            block["input"] = json.loads(delta["partial_json"])


def usage_object(usage: Usage | None) -> Part:
    """Tokens under Anthropic's names; the counts are the provider's own. What nobody counts is 0."""
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    found: Part = {"input_tokens": usage.input_tokens or 0, "output_tokens": usage.output_tokens or 0}
    if usage.cached_tokens is not None:
        found["cache_read_input_tokens"] = usage.cached_tokens
    if usage.reasoning_tokens is not None:
        found["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return found
