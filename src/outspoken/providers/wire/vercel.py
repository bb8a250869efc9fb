"""The UI message stream of Vercel's AI SDK, and its UI messages.

Source: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol, version 1 (the header `x-vercel-ai-ui-message-stream: v1`).
Text, reasoning and calls are parts with ids. A complete call ends with `tool-input-available`, an incomplete one with
`tool-input-error`, which has its input so far. The extension is data parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.providers.replies import EXTENSION
from outspoken.providers.usage import UsageKeys
from outspoken.results.finish_reasons import FinishReason
from outspoken.results.replies import Reply

from .exporter import Exporter
from .parts import BlockKind, ExportedCall, ExportOptions, Part

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: the names of token counts
_USAGE = UsageKeys(("inputTokens",), ("outputTokens",), ("totalTokens",), ("reasoningTokens",), ("cachedInputTokens",))
#: The header by which the SDK recognises the protocol.
HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}

#: The reasons that the AI SDK does not have.
_OTHER_REASONS: dict[FinishReason, FinishReason] = {"refusal": "content_filter", "pause": "other"}

#: The data parts of the extension. Incomplete calls that were announced have a `tool-input-error` instead.
_DATA_PARTS = {
    "payloads": "data-payload",
    "actions": "data-action",
    "unfinished_tool_calls": "data-unfinished-call",
    "unfinished_actions": "data-unfinished-action",
}


class VercelExporter(Exporter):
    """Exports events as parts of a UI message. With `dynamic`, the client does not know the tools.

    Payloads, GUI actions, a refusal, and incomplete calls and actions that were not announced are data parts
    (`data-payload`, `data-action`, `data-refusal`, `data-unfinished-call`, `data-unfinished-action`). The text that an
    action types is a transient `data-action-text`. Signatures are `providerMetadata` of `reasoning-end`; the usage is
    metadata of the message. Errors are no part of a whole message.
    """

    id_prefix = "msg-"

    def __init__(self, *, dynamic: bool = False, **common: Unpack[ExportOptions]) -> None:
        super().__init__(**common)
        self._dynamic: Part = {"dynamic": True} if dynamic else {}
        self._block_count = 0
        #: the ids of the open blocks
        self._block_ids: dict[BlockKind, str] = {}
        #: the metadata of the open block of reasoning
        self._signature: Part = {}

    def whole(self, reply: Reply) -> Part:
        """Export a reply as the UI message that the AI SDK makes of the parts."""
        message: Part = {"id": "", "role": "assistant", "parts": []}
        for part in self.replayed(reply):
            kind: str = part["type"]
            if kind == "start":
                message["id"] = part["messageId"]
            elif kind == "finish":
                message |= {"metadata": part["messageMetadata"]} if "messageMetadata" in part else {}
            else:
                _add_to_message(message["parts"], part)
        return message

    def _on_start(self) -> None:
        self._add_part("start", messageId=self.id)
        self._add_part("start-step")

    def _on_block_start(self, kind: BlockKind) -> None:
        if kind != "refusal":
            self._block_ids[kind] = str(self._block_count)
            self._block_count += 1
            self._add_part(f"{kind}-start", id=self._block_ids[kind])

    def _on_block_end(self, kind: BlockKind) -> None:
        if kind != "refusal":
            signature: Part = self._signature if kind == "reasoning" else {}
            self._add_part(f"{kind}-end", id=self._block_ids[kind], **signature)
            if signature:
                self._signature = {}

    def _on_delta(self, kind: BlockKind, text: str) -> None:
        if kind != "refusal":
            self._add_part(f"{kind}-delta", id=self._block_ids[kind], delta=text)

    def _on_signature(self, signature: str, redacted: bool) -> None:
        metadata: Part = {"providerMetadata": {EXTENSION: {"signature": signature, "redacted": redacted}}}
        if not redacted:
            self._signature = metadata
            return
        id = str(self._block_count)
        self._block_count += 1
        self._add_part("reasoning-start", id=id)
        self._add_part("reasoning-end", id=id, **metadata)

    def _on_call_start(self, call: ExportedCall) -> None:
        self._add_part("tool-input-start", toolCallId=call.id, toolName=call.name, **self._dynamic)

    def _on_call_delta(self, call: ExportedCall, arguments: str) -> None:
        self._add_part("tool-input-delta", toolCallId=call.id, inputTextDelta=arguments)

    def _on_call_end(self, call: ExportedCall, arguments: dict[str, Any]) -> None:
        self._add_part("tool-input-available", toolCallId=call.id, toolName=call.name, input=arguments, **self._dynamic)

    def _on_call_cut(self, call: ExportedCall, status: str) -> None:
        message = "the call never ended" if status == "truncated" else "the call cannot be read"
        head: Part = {"toolCallId": call.id, "toolName": call.name, **self._dynamic}
        self._add_part("tool-input-error", **head, input=call.arguments, errorText=message)

    def _on_action_text(self, index: int, text: str) -> None:
        """Send it for clients that show it live; it is not part of the message."""
        self._add_part("data-action-text", data={"order": index, "text": text}, transient=True)

    def _on_extension_item(self, kind: str, item: Part) -> None:
        if item.get("call") is None:
            self._add_part(_DATA_PARTS[kind], id=f"{kind}-{item['index']}", data=item)

    def _on_finish(self) -> None:
        if self.refusal:
            self._add_part("data-refusal", id="refusal", data={"text": self.refusal})
        if self.error is not None:
            self._add_part("error", errorText=self.error.message)
        self._add_part("finish-step")
        usage = {"messageMetadata": {"usage": _USAGE.write(self.usage)}} if self.usage else {}
        reason = _OTHER_REASONS.get(self.reason, self.reason).replace("_", "-")
        self._add_part("finish", finishReason=reason, **usage)


def _add_to_message(parts: list[Part], part: Part) -> None:
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
        dynamic = {"type": "dynamic-tool", "toolName": part["toolName"]} if "dynamic" in part else {}
        head: Part = {"type": f"tool-{part['toolName']}"} | dynamic
        parts.append({**head, "toolCallId": part["toolCallId"], "state": "input-available", "input": part["input"]})
    elif kind.startswith("data-") and not part.get("transient"):
        parts.append(part)
