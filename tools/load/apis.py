"""The APIs of the clients: their requests, and what a client makes of their events."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .stories import Story

PATHS = {"chat_completions": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


@dataclass
class Received:
    """What a client has of a response."""

    reasoning: str = ""
    text: str = ""
    #: the names of calls and the text of their arguments
    names: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])
    usage: tuple[int, int] | None = None
    finish: str | None = None
    error: str | None = None
    #: did the last event come with which the API ends a stream, and how many came before it
    ended: bool = False
    events: int = 0

    def feed(self, api: str, block: str) -> None:
        """Read one server-sent event."""
        data = block.rpartition("data: ")[2]
        if self.ended:
            raise ValueError(f"an event follows the last one: {data[:80]!r}")
        if data == "[DONE]":
            self.ended = True
        else:
            self.events += 1
            _READERS[api](self, json.loads(data))


def request(story: Story) -> dict[str, Any]:
    """The request for a story."""
    base: dict[str, Any] = {"model": "m", "stream": True}
    messages = [{"role": "user", "content": story.prompt()}]
    match story.api:
        case "responses":
            return {**base, "input": story.prompt()}
        case "messages":
            return {**base, "max_tokens": 1000, "messages": messages}
        case _:
            return {**base, "messages": messages}


def _read_chat(found: Received, chunk: Any) -> None:
    if "error" in chunk:
        found.error = chunk["error"]["message"]
        return
    if chunk.get("usage"):
        found.usage = (chunk["usage"]["prompt_tokens"], chunk["usage"]["completion_tokens"])
    for choice in chunk["choices"]:
        delta = choice["delta"]
        found.text += delta.get("content") or ""
        found.reasoning += delta.get("reasoning_content") or ""
        calls: list[Any] = delta.get("tool_calls") or []
        for call in calls:
            if call["index"] == len(found.names):
                found.names.append(call["function"]["name"])
                found.arguments.append("")
            found.arguments[call["index"]] += call["function"]["arguments"]
        found.finish = choice["finish_reason"] or found.finish


def _read_responses(found: Received, event: Any) -> None:
    match event["type"]:
        case "response.output_text.delta":
            found.text += event["delta"]
        case "response.reasoning_text.delta":
            found.reasoning += event["delta"]
        case "response.output_item.added" if event["item"]["type"] == "function_call":
            found.names.append(event["item"]["name"])
            found.arguments.append("")
        case "response.function_call_arguments.delta":
            found.arguments[-1] += event["delta"]
        case "response.completed":
            found.finish, found.ended = "tool_calls", True
            usage = event["response"]["usage"]
            found.usage = (usage["input_tokens"], usage["output_tokens"])
        case "response.failed":
            found.error, found.ended = event["response"]["error"]["message"], True
        case _:
            pass


def _read_messages(found: Received, event: Any) -> None:
    match event["type"]:
        case "content_block_start" if event["content_block"]["type"] == "tool_use":
            found.names.append(event["content_block"]["name"])
            found.arguments.append("")
        case "content_block_delta":
            delta = event["delta"]
            found.text += delta.get("text", "")
            found.reasoning += delta.get("thinking", "")
            if "partial_json" in delta:
                found.arguments[-1] += delta["partial_json"]
        case "message_delta":
            found.finish = {"tool_use": "tool_calls"}.get(event["delta"]["stop_reason"], event["delta"]["stop_reason"])
            found.usage = (event["usage"]["input_tokens"], event["usage"]["output_tokens"])
        case "message_stop":
            found.ended = True
        case "error":
            found.error, found.ended = event["error"]["message"], True
        case _:
            pass


_READERS: dict[str, Callable[[Received, Any], None]] = {
    "chat_completions": _read_chat,
    "responses": _read_responses,
    "messages": _read_messages,
}
