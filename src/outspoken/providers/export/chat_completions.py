"""OpenAI's chat completions, whole and as chunks.

https://platform.openai.com/docs/api-reference/chat/streaming; the field for reasoning is that of DeepSeek, vLLM and
SGLang. A chunk that was sent cannot be taken back, and there is no sign for the end of a call: that a call is
unfinished is said by the `finish_reason` of the choice, "length", and by `outspoken.unfinished` of the delta.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from outspoken.providers.extension import REASONING_BREAKS as BREAKS

from .exporter import EXTENSION, Exporter, Part, Sent, atold, told

if TYPE_CHECKING:
    from outspoken.providers.events import ProviderEvent
    from outspoken.providers.replies import FinishReason, ProviderError, Usage
    from outspoken.results.replies import Reply

#: Chat completions have five reasons, and none for a pause: there as where tokens ran out, there is more to come.
REASONS: dict[FinishReason, str] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "pause": "length",
    "other": "stop",
}


class OpenAIChunks(Exporter):
    """Tells events as chunks of one choice. `index` is that of the choice."""

    id_prefix = "chatcmpl-"

    def __init__(
        self,
        *,
        index: int = 0,
        include_usage: bool = True,
        reasoning_field: str = "reasoning_content",
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self._index, self._include_usage = index, include_usage
        self.reasoning_field = reasoning_field
        #: how many blocks of reasoning there are, and whether one begins
        self._thoughts = 0
        self._gap = False

    @property
    def _seed(self) -> str:
        return f"{self.id}:{self._index}" if self._index else self.id

    def _chunk(self, delta: Part, finish_reason: str | None = None) -> None:
        choice: Part = {"index": self._index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        self._out.append(self._frame([choice]))

    def empty(self) -> Part:
        """A chunk that says nothing, for what a server has to say besides."""
        if self._begun:
            self._chunk({})
        self._begin_once()
        return self._drain()[0]

    def _frame(self, choices: list[Part]) -> Part:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _begin(self) -> None:
        self._chunk({"role": "assistant", "content": None})

    def _text(self, text: str) -> None:
        self._chunk({"content": text})

    def _open_block(self, kind: str) -> None:
        """Blocks of reasoning are one string here, with a blank line between them, as in `Reply.reasoning`."""
        if kind == "reasoning":
            self._gap = self._thoughts > 0

    def _reasoning(self, text: str) -> None:
        if self._gap:
            mark = {"index": self._thoughts - 1, "kind": "reasoning"}
            self._chunk({self.reasoning_field: "\n\n", EXTENSION: {BREAKS: [mark]}})
        self._thoughts += self._gap or not self._thoughts
        self._gap = False
        self._chunk({self.reasoning_field: text})

    def _refusal(self, text: str) -> None:
        self._chunk({"refusal": text})

    def _signed(self, signature: str, redacted: bool) -> None:
        self._extra("signatures", {"data": signature, "redacted": redacted})

    def _call_start(self, call: Sent) -> None:
        function = {"name": call.name, "arguments": ""}
        self._chunk({"tool_calls": [{"index": call.position, "id": call.id, "type": "function", "function": function}]})

    def _call_delta(self, call: Sent, arguments: str) -> None:
        self._chunk({"tool_calls": [{"index": call.position, "function": {"arguments": arguments}}]})

    def _beyond(self, kind: str, item: Part) -> None:
        self._chunk({EXTENSION: {kind: [item]}})

    def _finale(self) -> None:
        if self.error is not None:
            self._out.append({"error": error_object(self.error)})
            return
        self._chunk({}, REASONS[self.reason])
        if self.usage is not None and self._include_usage:
            self._out.append({**self._frame([]), "usage": usage_object(self.usage)})


def to_openai_chunks(
    events: Iterable[ProviderEvent],
    *,
    id: str | None = None,
    model: str | None = None,
    created: int | None = None,
    index: int = 0,
    include_usage: bool = True,
    reasoning_field: str = "reasoning_content",
    action_tool: str | None = None,
) -> Iterator[Part]:
    """Events as chunks of a chat completion, as early as they come.

    The first chunk has the role; then come `content`, reasoning in `reasoning_field`, `refusal`, and `tool_calls` in
    fragments; then one with the `finish_reason`, and one with the usage, if the provider counts. An error takes the
    place of the last two, as `{"error": …}`, which OpenAI's clients raise. `id`, `model` and `created` (seconds since
    1970) go before what the events say; `index` is that of the choice. Payloads, GUI actions, signatures and what is
    unfinished are in `delta.outspoken`; with `action_tool`, actions are calls of a tool of that name.
    """
    exporter = OpenAIChunks(
        id=id,
        model=model,
        created=created,
        index=index,
        include_usage=include_usage,
        reasoning_field=reasoning_field,
        action_tool=action_tool,
    )
    return told(events, exporter)


def ato_openai_chunks(events: AsyncIterable[ProviderEvent], **options: Any) -> AsyncIterator[Part]:
    """`to_openai_chunks`, with its options, for events that come asynchronously."""
    return atold(events, OpenAIChunks(**options))


def to_openai(
    reply: Reply,
    *,
    id: str | None = None,
    model: str | None = None,
    created: int | None = None,
    index: int = 0,
    reasoning_field: str = "reasoning_content",
    action_tool: str | None = None,
) -> Part:
    """A reply as a chat completion, or as `{"error": …}` where the provider reports one.

    Calls that are unfinished are no calls here: they are in `message.outspoken`, and the `finish_reason` is "length".
    See `to_openai_chunks` for the rest.
    """
    exporter = OpenAIChunks(id=id, model=model, created=created, index=index, action_tool=action_tool)
    exporter.tell(reply)
    if exporter.error is not None:
        return {"error": error_object(exporter.error)}
    choice: Part = {
        "index": index,
        "message": message(exporter, reply, reasoning_field),
        "logprobs": None,
        "finish_reason": REASONS[exporter.reason],
    }
    whole: Part = {
        "id": exporter.id,
        "object": "chat.completion",
        "created": exporter.created,
        "model": exporter.model,
        "choices": [choice],
    }
    return whole | ({"usage": usage_object(exporter.usage)} if exporter.usage else {})


def message(exporter: OpenAIChunks, reply: Reply, reasoning_field: str) -> Part:
    """The message of a reply that was told."""
    found: Part = {"role": "assistant", "content": reply.text or None, "refusal": exporter.refusal or None}
    if reply.reasoning is not None:
        found[reasoning_field] = reply.reasoning
    if exporter.sent:
        found["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}
            for call in exporter.sent
        ]
    if exporter.extras:
        found[EXTENSION] = exporter.extras
    return found


def error_object(error: ProviderError) -> Part:
    """An error as OpenAI's APIs write it."""
    return {"message": error.message, "type": error.type or "server_error", "param": None, "code": error.code}


def usage_object(usage: Usage) -> Part:
    """Tokens as chat completions count them. What the provider does not count is 0, since a number has to stand."""
    given, written = usage.input_tokens or 0, usage.output_tokens or 0
    found: Part = {
        "prompt_tokens": given,
        "completion_tokens": written,
        "total_tokens": given + written if usage.total_tokens is None else usage.total_tokens,
    }
    if usage.cached_tokens is not None:
        found["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        found["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return found
