"""Chunks that hold the message so far, or all of it again, behind or beside the pieces of a stream."""

from __future__ import annotations

import json
from typing import Any

from outspoken.providers.assembly.assembler import Assembler
from outspoken.providers.assembly.tool_calls import ToolCallBlock
from outspoken.providers.decode.json_object import JsonObject

from .base import arguments_text, list_of

#: fields that hold reasoning as text; a server that sends several sends the same in all
REASONING = ("reasoning_content", "reasoning", "thinking")
#: lists of reasoning parts: text, summaries, encrypted blocks
REASONING_LISTS = ("reasoning_details", "thinking_blocks")
#: fields whose values, or items of a list, become payloads, and the payload types
PAYLOADS = {
    "annotations": "annotation",
    "audio": "audio",
    "images": "image",
    "executed_tools": "executed_tool",
    "citations": "citation",
}


class Received:
    """What has arrived of a message in pieces: its texts, its calls, and its other items."""

    def __init__(self) -> None:
        #: a part arrived in a delta, so that a whole message repeats what has arrived
        self.has_deltas = False
        self.calls: list[ToolCallBlock] = []
        self.items: list[Any] = []
        self._pieces: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}

    def add(self, kind: str, piece: str | None) -> None:
        """Note a piece of the content, the reasoning or the refusal."""
        if piece:
            self._pieces[kind].append(piece)

    def rest_of(self, message: JsonObject, assembler: Assembler) -> JsonObject:
        """What has not arrived of a whole message; all of it if nothing arrived in deltas.

        What contradicts the pieces is left out, with a diagnostic.
        """
        if not self.has_deltas:
            return message
        fields = {key: value for key, value in message.value.items() if key != "function_call" or not self.calls}
        for key in ("content", "refusal", *REASONING):
            if isinstance(text := fields.get(key), str):
                fields[key] = self._rest("reasoning" if key in REASONING else key, text, assembler)
        if isinstance(fields.get("content"), list):
            fields["content"] = self._rest_of_parts(message, assembler)
        if self._pieces["reasoning"]:
            fields = {key: value for key, value in fields.items() if key not in REASONING_LISTS}
        for key in PAYLOADS:
            if fields.get(key):
                fields[key] = [item for item in list_of(fields[key]) if item not in self.items]
        if fields.get("tool_calls"):
            calls = message.objects("tool_calls")
            fields["tool_calls"] = [c.value for n, c in enumerate(calls) if not self._has_call(n, c, assembler)]
        return JsonObject(fields, message.path)

    def _rest(self, kind: str, whole: str, assembler: Assembler) -> str:
        received = "".join(self._pieces[kind])
        if whole.startswith(received):
            return whole[len(received) :]
        if not received.startswith(whole):
            assembler.warn("repeated-message", f"the whole message has other {kind} than its pieces, which count")
        return ""

    def _rest_of_parts(self, message: JsonObject, assembler: Assembler) -> list[Any]:
        """The parts of the content that have not arrived; the rest of all text is one part."""
        parts = message.objects("content")
        text = "".join([part.string("text") or "" for part in parts if part.string("type") in ("text", None)])
        rest = self._rest("content", text, assembler)
        others = [part.value for part in parts if part.string("type") not in ("text", "thinking", "reasoning", None)]
        return [*([{"type": "text", "text": rest}] if rest else []), *[p for p in others if p not in self.items]]

    def _has_call(self, number: int, call: JsonObject, assembler: Assembler) -> bool:
        """Has a call of the whole message arrived? Arguments that are still missing are added to it."""
        function = call.object("function") or call.object("custom") or call
        if number >= len(self.calls):
            return call.value in self.items
        known = self.calls[number]
        whole, received = arguments_text(function, "arguments") or "", known.text
        if not known.done:
            known.identify(call.string_or_number("id"), None)
            if whole.startswith(received):
                assembler.arguments(known, whole[len(received) :])
                return True
        if not _is_same(whole, received):
            assembler.warn("repeated-message", "the whole message has other arguments than its pieces, which count")
        return True


def _is_same(one: str, other: str) -> bool:
    """Are two texts the same JSON, or nothing?"""
    if one.strip() in ("", "{}") and other.strip() in ("", "{}"):
        return True
    try:
        return one == other or json.loads(one) == json.loads(other)
    except (ValueError, RecursionError):
        return False
