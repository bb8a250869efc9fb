"""Anthropic's messages, whole and as events.

Source: https://docs.anthropic.com/en/api/messages-streaming. Blocks have an index, and several may be open. No event
marks a block as incomplete; the `stop_reason` is "max_tokens", and the call is in `outspoken.unfinished_tool_calls` of
the `message_delta`. Anthropic's clients parse the input as it arrives and raise on text that cannot be JSON. So the
pieces of an input end before such text, and the extension has all of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from outspoken.json.scanner import JsonScanner
from outspoken.providers.replies import EXTENSION
from outspoken.providers.usage import Usage
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.parts import BlockKind, ExportedCall, ExportOptions, Part
from outspoken.results.finish_reasons import FinishReason
from outspoken.results.replies import Reply

from . import USAGE

if TYPE_CHECKING:
    from typing_extensions import Unpack

_FINISH_REASONS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause": "pause_turn",
    "other": "end_turn",
}

#: More specific words of Anthropic for a reason, exported if they are the provider's.
_SPECIFIC_REASONS = {"stop_sequence": "stop", "model_context_window_exceeded": "length"}

_ERROR_KINDS = "invalid_request authentication billing permission not_found rate_limit timeout api overloaded"
_ERROR_TYPES = frozenset([f"{kind}_error" for kind in _ERROR_KINDS.split()])


class AnthropicExporter(Exporter):
    """Exports events as those of a message.

    Text, thinking (signed or redacted) and calls are blocks. A refusal is the `explanation` of the `stop_details`. An
    error is an event `error`, which ends the message, and an object of type "error" in place of a whole message.
    Payloads, GUI actions and unfinished calls are in `outspoken` of the `message_delta` or the error.
    """

    id_prefix = "msg_"
    call_prefix = "toolu_"

    def __init__(self, **common: Unpack[ExportOptions]) -> None:
        super().__init__(**common)
        self._next_index = 0
        #: the index of the block, by kind
        self._block_index: dict[BlockKind, int] = {}
        #: the index and the scanner of each call's block, and the calls whose input has ended or is no JSON
        self._call_blocks: dict[int, tuple[int, JsonScanner]] = {}
        self._ended_inputs: set[int] = set()

    def whole(self, reply: Reply) -> Part:
        """Export a reply as a message; the `stop_reason` is "max_tokens" if a call is incomplete."""
        message: Part = {}
        for part in self.replayed(reply):
            match part["type"]:
                case "message_start":
                    message = part["message"]
                case "content_block_start":
                    message["content"].append(part["content_block"])
                case "content_block_delta":
                    _add_delta(message["content"][part["index"]], part["delta"])
                case "message_delta":
                    message |= part["delta"] | {key: part[key] for key in ("usage", EXTENSION) if key in part}
                case "error":
                    return part
                case _:
                    pass
        return message

    def _on_start(self) -> None:
        begun: Part = {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage() | {"output_tokens": 0},
        }
        self._add_part("message_start", message=begun)

    def _start_block(self, block: Part, **more: Any) -> int:
        index = self._next_index
        self._next_index += 1
        self._add_part("content_block_start", index=index, content_block=block, **more)
        return index

    def _add_delta(self, index: int, **delta: Any) -> None:
        self._add_part("content_block_delta", index=index, delta=delta)

    def _on_block_start(self, kind: BlockKind) -> None:
        if kind == "text":
            self._block_index[kind] = self._start_block({"type": "text", "text": ""}, **self._extended())
        elif kind == "reasoning":
            self._block_index[kind] = self._start_block({"type": "thinking", "thinking": "", "signature": ""})

    def _on_block_end(self, kind: BlockKind) -> None:
        if kind != "refusal":
            self._add_part("content_block_stop", index=self._block_index[kind])

    def _on_delta(self, kind: BlockKind, text: str) -> None:
        if kind == "text":
            self._add_delta(self._block_index[kind], type="text_delta", text=text)
        elif kind == "reasoning":
            self._add_delta(self._block_index[kind], type="thinking_delta", thinking=text)

    def _on_signature(self, signature: str, redacted: bool) -> None:
        if redacted:
            self._add_part(
                "content_block_stop", index=self._start_block({"type": "redacted_thinking", "data": signature})
            )
        else:
            self._add_delta(self._block_index["reasoning"], type="signature_delta", signature=signature)

    def _on_call_start(self, call: ExportedCall) -> None:
        index = self._start_block({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        self._call_blocks[call.position] = (index, JsonScanner())

    def _on_call_delta(self, call: ExportedCall, arguments: str) -> None:
        index, scanner = self._call_blocks[call.position]
        if call.position in self._ended_inputs or not _may_be_object(call):
            return
        read, ended = scanner.feed(arguments, 0)
        if ended or scanner.broken:
            self._ended_inputs.add(call.position)
        if read:
            self._add_delta(index, type="input_json_delta", partial_json=arguments[:read])

    def _on_call_end(self, call: ExportedCall, arguments: dict[str, Any] | None = None) -> None:
        self._add_part("content_block_stop", index=self._call_blocks[call.position][0])

    def _on_call_cut(self, call: ExportedCall, status: str) -> None:
        self._on_call_end(call)

    def _on_finish(self) -> None:
        extension = self._extended(self.extension)
        if self.error is not None:
            kind = self.error.type if self.error.type in _ERROR_TYPES else "api_error"
            self._add_part("error", error={"type": kind, "message": self.error.message}, **extension)
            return
        delta: Part = {"stop_reason": self._stop_reason(), "stop_sequence": None}
        if self.refusal:
            delta["stop_details"] = {"type": "refusal", "category": None, "explanation": self.refusal}
        self._add_part("message_delta", delta=delta, usage=self._usage(), **extension)
        self._add_part("message_stop")

    def _usage(self) -> Part:
        return USAGE.write(self.usage or Usage(), "input_tokens", "output_tokens")

    def _stop_reason(self) -> str:
        if self.refusal and self.reason == "stop":
            return "refusal"
        if self.finished and _SPECIFIC_REASONS.get(self.finished.raw) == self.reason:
            return self.finished.raw
        return _FINISH_REASONS[self.reason]


def _may_be_object(call: ExportedCall) -> bool:
    """May the arguments be an object? Anthropic's clients raise on the first letter of anything else."""
    first = next((piece for piece in call.pieces if piece.strip()), "")
    return first.lstrip()[:1] in ("", "{")


def _add_delta(block: Part, delta: Part) -> None:
    """Add a delta to its block. The input of a whole reply is one delta."""
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case _:
            block["input"] = json.loads(delta["partial_json"])
