"""The UI message stream of Vercel's AI SDK, and its UI messages.

https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol, version 1 (the header `x-vercel-ai-ui-message-stream: v1`). Text,
reasoning and calls are parts with ids. A call that is complete is `tool-input-available`; one that is unfinished is
`tool-input-error`, with what came of its input. What the protocol has no word for are data parts.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .exporter import EXTENSION, Exporter, Part, Sent, atold, told

if TYPE_CHECKING:
    from outspoken.providers.events import ProviderEvent
    from outspoken.providers.replies import FinishReason, Usage
    from outspoken.results.replies import Reply

#: What a server says beside the type of the content, so that the SDK knows the protocol.
HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}

REASONS: dict[FinishReason, str] = {
    "stop": "stop",
    "tool_calls": "tool-calls",
    "length": "length",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "pause": "other",
    "error": "error",
    "other": "other",
}

#: The data parts of the extension. What is unfinished and was announced has its `tool-input-error`.
_DATA = {
    "payloads": "data-payload",
    "actions": "data-action",
    "unfinished": "data-unfinished-call",
    "unfinished_actions": "data-unfinished-action",
}


class VercelParts(Exporter):
    """Tells events as parts of a UI message. With `dynamic`, its tools are those that the client does not know."""

    id_prefix = "msg-"

    def __init__(self, *, dynamic: bool = False, **common: Any) -> None:
        super().__init__(**common)
        self._dynamic: Part = {"dynamic": True} if dynamic else {}
        self._blocks = 0
        self._open: dict[str, str] = {}
        self._signature: Part = {}

    def _part(self, type: str, **fields: Any) -> None:
        self._out.append({"type": type, **fields})

    def _begin(self) -> None:
        self._part("start", messageId=self.id)
        self._part("start-step")

    def _open_block(self, kind: str) -> None:
        if kind != "refusal":
            self._open[kind] = str(self._blocks)
            self._blocks += 1
            self._part(f"{kind}-start", id=self._open[kind])

    def _close_block(self, kind: str) -> None:
        if kind != "refusal":
            signature: Part = self._signature if kind == "reasoning" else {}
            self._part(f"{kind}-end", id=self._open[kind], **signature)
            if signature:
                self._signature = {}

    def _text(self, text: str) -> None:
        self._part("text-delta", id=self._open["text"], delta=text)

    def _reasoning(self, text: str) -> None:
        self._part("reasoning-delta", id=self._open["reasoning"], delta=text)

    def _signed(self, signature: str, redacted: bool) -> None:
        about: Part = {"providerMetadata": {EXTENSION: {"signature": signature, "redacted": redacted}}}
        if not redacted:
            self._signature = about
            return
        id = str(self._blocks)
        self._blocks += 1
        self._part("reasoning-start", id=id)
        self._part("reasoning-end", id=id, **about)

    def _call_start(self, call: Sent) -> None:
        self._part("tool-input-start", toolCallId=call.id, toolName=call.name, **self._dynamic)

    def _call_delta(self, call: Sent, arguments: str) -> None:
        self._part("tool-input-delta", toolCallId=call.id, inputTextDelta=arguments)

    def _call_end(self, call: Sent, arguments: dict[str, Any]) -> None:
        self._part("tool-input-available", toolCallId=call.id, toolName=call.name, input=arguments, **self._dynamic)

    def _call_cut(self, call: Sent, status: str) -> None:
        why = "the call never ended" if status == "truncated" else "the call cannot be read"
        about: Part = {"toolCallId": call.id, "toolName": call.name, **self._dynamic}
        self._part("tool-input-error", **about, input=call.text, errorText=why)

    def _action_text(self, index: int, text: str) -> None:
        """What an action types, for who shows it live: no part of the message."""
        self._part("data-action-text", data={"order": index, "text": text}, transient=True)

    def _beyond(self, kind: str, item: Part) -> None:
        if item.get("call") is None:
            self._part(_DATA[kind], id=f"{kind}-{item['index']}", data=item)

    def _finale(self) -> None:
        if self.refusal:
            self._part("data-refusal", id="refusal", data={"text": self.refusal})
        if self.error is not None:
            self._part("error", errorText=self.error.message)
        self._part("finish-step")
        usage = {"messageMetadata": {"usage": usage_object(self.usage)}} if self.usage else {}
        self._part("finish", finishReason=REASONS[self.reason], **usage)


def to_vercel_parts(
    events: Iterable[ProviderEvent],
    *,
    id: str | None = None,
    dynamic: bool = False,
    action_tool: str | None = None,
) -> Iterator[Part]:
    """Events as parts of the AI SDK's UI message stream, as early as they come.

    Payloads, GUI actions, a refusal, and calls and actions that are unfinished and were never announced are data parts
    (`data-payload`, `data-action`, `data-refusal`, `data-unfinished-call`, `data-unfinished-action`); the text that an
    action types is a transient `data-action-text`. Signatures are `providerMetadata` of `reasoning-end`, the usage is
    metadata of the message. `id` is the message's; with `dynamic`, calls are those of tools that the client does not
    know; with `action_tool`, actions are calls of a tool of that name.
    """
    return told(events, VercelParts(id=id, dynamic=dynamic, action_tool=action_tool))


def ato_vercel_parts(events: AsyncIterable[ProviderEvent], **options: Any) -> AsyncIterator[Part]:
    """`to_vercel_parts`, with its options, for events that come asynchronously."""
    return atold(events, VercelParts(**options))


def to_vercel(reply: Reply, *, id: str | None = None, dynamic: bool = False, action_tool: str | None = None) -> Part:
    """A reply as one UI message, as the AI SDK makes it of the parts. Errors are no part of a message."""
    exporter = VercelParts(id=id, dynamic=dynamic, action_tool=action_tool)
    message: Part = {"id": "", "role": "assistant", "parts": []}
    for part in exporter.tell(reply):
        kind: str = part["type"]
        if kind == "start":
            message["id"] = part["messageId"]
        elif kind == "finish":
            message |= {"metadata": part["messageMetadata"]} if "messageMetadata" in part else {}
        else:
            _put(message["parts"], part)
    return message


def _put(parts: list[Part], part: Part) -> None:
    kind: str = part["type"]
    if kind == "start-step":
        parts.append({"type": "step-start"})
    elif kind in ("text-start", "reasoning-start"):
        parts.append({"type": kind.removesuffix("-start"), "text": "", "state": "streaming"})
    elif kind in ("text-delta", "reasoning-delta"):
        parts[-1]["text"] += part["delta"]
    elif kind in ("text-end", "reasoning-end"):
        parts[-1] |= {"state": "done"} | {key: part[key] for key in ("providerMetadata",) if key in part}
    elif kind == "tool-input-available":
        named = {"type": "dynamic-tool", "toolName": part["toolName"]} if "dynamic" in part else {}
        shown: Part = {"type": f"tool-{part['toolName']}"} | named
        parts.append({**shown, "toolCallId": part["toolCallId"], "state": "input-available", "input": part["input"]})
    elif kind.startswith("data-") and not part.get("transient"):
        parts.append(part)


def usage_object(usage: Usage) -> Part:
    """Tokens as the AI SDK counts them. What the provider does not count is absent."""
    counts = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.total_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "cachedInputTokens": usage.cached_tokens,
    }
    return {key: count for key, count in counts.items() if count is not None}
