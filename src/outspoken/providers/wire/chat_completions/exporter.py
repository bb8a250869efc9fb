"""OpenAI's chat completions, whole and as chunks.

Source: https://platform.openai.com/docs/api-reference/chat/streaming; the field for reasoning is that of DeepSeek, vLLM
and SGLang. No chunk marks the end of a call, and many clients run whatever arguments are JSON. So a closing brace is
sent when more follows it or the call is complete: the arguments of an incomplete call are never an object. Then the
choice has the `finish_reason` "length", and a delta has the call in `outspoken.unfinished_tool_calls`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.providers.replies import EXTENSION, REASONING_BREAKS, ProviderError
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.parts import BlockKind, ExportedCall, ExportOptions, Part
from outspoken.results.finish_reasons import FinishReason
from outspoken.results.replies import Reply

from . import USAGE

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The reasons that chat completions do not have. With "length", too, the client may continue.
_OTHER_REASONS: dict[FinishReason, str] = {"refusal": "content_filter", "pause": "length", "other": "stop"}

#: The token counts that are always there.
_COUNTS = ("input_tokens", "output_tokens", "total_tokens")


class ChatCompletionsOptions(ExportOptions, total=False):
    """The options of an export to chat completions; see `WireOptions`."""

    index: int
    include_usage: bool
    reasoning_field: str


class ChatCompletionsExporter(Exporter):
    """Exports events as chunks of one choice, which has the index `index`.

    The first chunk has the role; then follow `content`, reasoning in `reasoning_field`, `refusal`, and `tool_calls` in
    fragments; then a chunk with the `finish_reason`, and one with the usage, if it is known, unless `include_usage` is
    False. An error replaces the last two, or a whole completion, with `{"error": …}`, which OpenAI's clients raise.
    Payloads, GUI actions, signatures and unfinished calls are in `delta.outspoken` or `message.outspoken`. The ids of
    calls without one come from the `call_seed`, by default the `id`, and the index.
    """

    id_prefix = "chatcmpl-"

    def __init__(
        self,
        *,
        index: int = 0,
        include_usage: bool = True,
        reasoning_field: str = "reasoning_content",
        call_seed: str | None = None,
        **common: Unpack[ExportOptions],
    ) -> None:
        super().__init__(**common)
        self._index, self._include_usage, self._call_seed = index, include_usage, call_seed
        self.reasoning_field = reasoning_field
        #: how many blocks of reasoning have text, and whether the next text begins another one
        self._reasoning_blocks = 0
        self._needs_break = False
        #: by position: the end of the arguments so far, which may be the end of the object
        self._held: dict[int, str] = {}

    def _call_id_seed(self) -> str:
        seed = self._call_seed or self.id
        return f"{seed}:{self._index}" if self._index else seed

    def _add_chunk(self, delta: Part, finish_reason: str | None = None) -> None:
        self._parts.append(self.envelope([self.choice("delta", delta, finish_reason)]))

    @property
    def finish_reason(self) -> str:
        """The finish reason in the words of chat completions."""
        return _OTHER_REASONS.get(self.reason, self.reason)

    def choice(self, kind: str, content: Part, finish_reason: str | None) -> Part:
        """Return a choice with a `delta` or a `message`."""
        return {"index": self._index, kind: content, "logprobs": None, "finish_reason": finish_reason}

    def empty_chunk(self) -> Part:
        """Return a chunk without content, to which a server may add fields. The first one has the role."""
        if self._begun:
            self._add_chunk({})
        self._begin()
        return self._take_parts()[0]

    def envelope(self, choices: list[Part], kind: str = "chat.completion.chunk") -> Part:
        """Return a chunk or a completion with these choices."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}

    def whole(self, reply: Reply) -> Part:
        """Export a reply as a chat completion; its `finish_reason` is "length" if a call is incomplete."""
        self.replayed(reply)
        if self.error is not None:
            return {"error": error_object(self.error)}
        message: Part = {"role": "assistant", "content": reply.text or None, "refusal": self.refusal or None}
        if reply.reasoning is not None:
            message[self.reasoning_field] = reply.reasoning
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        message |= self._extension_fields(self.extension) if self.extension else {}
        choice = self.choice("message", message, self.finish_reason)
        usage = {"usage": USAGE.write(self.usage, *_COUNTS)} if self.usage else {}
        return self.envelope([choice], "chat.completion") | usage

    def _on_start(self) -> None:
        self._add_chunk({"role": "assistant", "content": None})

    def _on_block_start(self, kind: BlockKind) -> None:
        """Put a blank line between blocks of reasoning, as in `Reply.reasoning`, since the field is one string."""
        if kind == "reasoning":
            self._needs_break = self._reasoning_blocks > 0

    def _on_delta(self, kind: BlockKind, text: str) -> None:
        if kind == "reasoning":
            self._begin_reasoning_text()
        field = {"text": "content", "refusal": "refusal", "reasoning": self.reasoning_field}[kind]
        self._add_chunk({field: text})

    def _begin_reasoning_text(self) -> None:
        if self._needs_break:
            mark = {"index": self._reasoning_blocks - 1, "kind": "reasoning"}
            self._add_chunk({self.reasoning_field: "\n\n", EXTENSION: {REASONING_BREAKS: [mark]}})
        self._reasoning_blocks += self._needs_break or not self._reasoning_blocks
        self._needs_break = False

    def _on_signature(self, signature: str, redacted: bool) -> None:
        self._add_extension_item("signatures", {"data": signature, "redacted": redacted})

    def _on_call_start(self, call: ExportedCall) -> None:
        function = {"name": call.name, "arguments": ""}
        self._add_chunk(
            {"tool_calls": [{"index": call.position, "id": call.id, "type": "function", "function": function}]}
        )

    def _on_call_delta(self, call: ExportedCall, arguments: str) -> None:
        """Send a piece of the arguments, but hold back the closing braces at its end: the call may be incomplete."""
        text = self._held.pop(call.position, "") + arguments
        shown = text.rstrip("} \t\r\n")
        if "}" in text[len(shown) :]:
            self._held[call.position] = text[len(shown) :]
            text = shown
        if text:
            self._add_arguments_chunk(call, text)

    def _add_arguments_chunk(self, call: ExportedCall, arguments: str) -> None:
        self._add_chunk({"tool_calls": [{"index": call.position, "function": {"arguments": arguments}}]})

    def _on_call_end(self, call: ExportedCall, arguments: dict[str, Any]) -> None:
        if held := self._held.pop(call.position, ""):
            self._add_arguments_chunk(call, held)

    def _on_call_cut(self, call: ExportedCall, status: str) -> None:
        """Begin the arguments if none were sent: some clients take nothing as an empty object."""
        if not call.arguments.removesuffix(self._held.get(call.position, "")).strip():
            self._add_arguments_chunk(call, "{")

    def _on_extension_item(self, kind: str, item: Part) -> None:
        self._add_chunk(self._extension_fields({kind: [item]}))

    def _extension_fields(self, extension: dict[str, list[Part]]) -> Part:
        """The fields of a message or delta that have the extension: with facts two, since gateways pass only one on."""
        own: Part = {EXTENSION: extension}
        return {**own, "provider_specific_fields": own} if self._tells_facts else own

    def _on_finish(self) -> None:
        if self.error is not None:
            self._parts.append({"error": error_object(self.error)})
            return
        self._add_chunk({}, self.finish_reason)
        if self.usage is not None and self._include_usage:
            self._parts.append({**self.envelope([]), "usage": USAGE.write(self.usage, *_COUNTS)})


def error_object(error: ProviderError) -> Part:
    """Return an error as OpenAI's APIs send it."""
    return {"message": error.message, "type": error.type or "server_error", "param": None, "code": error.code}
