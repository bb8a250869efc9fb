"""luxx's `LLMResponseParser`: the new thinking, text and calls of each chunk.

For usage, finish reasons, errors and blocks of reasoning, use `ProviderStream`, on which it is built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, cast

from outspoken.providers.decode.sdk_objects import ChunkLike, chunk_data
from outspoken.providers.events import Finished, ProviderEvent
from outspoken.providers.registry import PROVIDERS, Provider, find_provider
from outspoken.providers.stream import PROVIDER_FORMAT, ProviderStream
from outspoken.providers.wire.chat_completions.reader import ChatCompletionsReader
from outspoken.results import events as results
from outspoken.results.arguments import check_optional, text_of

#: The provider whose content format reads thinking in tags.
_TAGGED_PROVIDER = "minimax"
#: The opening tags in the grammar of that format.
_OPENING_TAG = re.compile(
    r"<th?ink(?:ing|t|_never_used_[a-z0-9]{1,64})?(?:\s[^<>\n]{0,80})?>|<\|im_start\|>thinking", re.IGNORECASE
)


@dataclass(slots=True)
class ParsedDelta:
    """What is new in one chunk.

    `tool_calls` are fragments as OpenAI sends them: `{"index", "id", "type", "function": {"name", "arguments"}}`. Only
    the first fragment of a call has an id, a type and a name; the `arguments` of all, joined, are the call's.
    `is_complete` is true at the end of a content block or of the response.
    """

    thinking: str = ""
    text: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    is_complete: bool = False


class LLMResponseParser:
    """Reads the chunks of one message; call `reset` before the next message.

    `thinking`, `text` and `tool_calls` hold the message so far, the calls with their whole arguments. Text in tags
    (`<think>…</think>`, `<|im_start|>thinking…<|im_end|>`) is thinking, wherever the chunks split it; tags in code are
    text. Text that may be the beginning of a tag is held back until it is certain, and `close` returns what is held at
    the end. Pass `think_prefilled=True` if the prompt ends with `<think>`.
    """

    def __init__(self, *, think_prefilled: bool = False, format: str | None = PROVIDER_FORMAT) -> None:
        check_optional(format, str, "format")
        self._prefix = "<think>" if think_prefilled else None
        self._format = find_provider(_TAGGED_PROVIDER)[1] if format == PROVIDER_FORMAT else format
        self.reset()

    def reset(self) -> None:
        """Forget the message; the next chunk begins another one."""
        self._stream: ProviderStream | None = None
        self._provider = ""
        self._thinking, self._text = StringIO(newline=""), StringIO(newline="")
        #: by index, which is not the place in the list: calls that break off in their name have an index only
        self._calls: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, StringIO] = {}

    @property
    def thinking(self) -> str:
        """The thinking so far."""
        return self._thinking.getvalue()

    @property
    def text(self) -> str:
        """The text so far."""
        return self._text.getvalue()

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls so far, in order, with all of their arguments that have arrived."""
        for index, pieces in self._arguments.items():
            self._calls[index]["function"]["arguments"] = pieces.getvalue()
        return list(self._calls.values())

    def parse_openai(self, delta: ChunkLike) -> ParsedDelta:
        """Read a delta of Chat Completions, a choice or a chunk; a dict or an object of an SDK."""
        return self.parse_chunk(delta, "openai")

    def parse_anthropic(self, chunk: ChunkLike) -> ParsedDelta:
        """Read an event of Anthropic's stream; a dict or an object of its SDK."""
        return self.parse_chunk(chunk, "anthropic")

    def parse_chunk(self, chunk: ChunkLike, provider: str = "openai") -> ParsedDelta:
        """Read a chunk of a provider that `ProviderStream` knows; chunks of others are read as OpenAI's.

        Raises ProviderFormatError if the provider has no such chunk, and ValueError if chunks of another API came
        before and `reset` was not called.
        """
        name = cast("Provider", provider if provider in PROVIDERS else "openai")
        reader = PROVIDERS[name]
        if self._stream is None:
            self._stream, self._provider = ProviderStream(name, format=self._format, prefix=self._prefix), name
        elif reader is not PROVIDERS[self._provider]:
            other = f"a chunk of {name!r} within a message of {self._provider!r}"
            raise ValueError(f"{other}; call `reset` between messages")
        data: Any = chunk if isinstance(chunk, (str, bytes, bytearray)) else chunk_data(chunk, "chunk")
        events = self._stream.feed(_to_chunk(data) if reader is ChatCompletionsReader else data)
        delta = self._collect(events)
        if isinstance(data, dict) and cast("dict[str, Any]", data).get("type") == "content_block_stop":
            delta.is_complete = True
        return delta

    def close(self) -> ParsedDelta:
        """End the message and return what was held back."""
        return self._collect(self._stream.close()) if self._stream is not None else ParsedDelta()

    def has_thinking_tags(self, content: str | bytes | None) -> bool:
        """Does a text have an opening tag of thinking?"""
        return _OPENING_TAG.search(text_of(content, "content")) is not None

    def _collect(self, events: list[ProviderEvent]) -> ParsedDelta:
        delta = ParsedDelta()
        for event in events:
            match event:
                case results.TextDelta(text):
                    delta.text += text
                case results.ReasoningDelta(text):
                    delta.thinking += text
                case results.ToolCallStart(index, id, name):
                    head: dict[str, Any] = {"index": index, "id": id, "type": "function"}
                    delta.tool_calls.append({**head, "function": {"name": name, "arguments": ""}})
                    self._calls[index] = {**head, "function": {"name": name, "arguments": ""}}
                    self._arguments[index] = StringIO(newline="")
                case results.ToolCallDelta(index, arguments):
                    delta.tool_calls.append({"index": index, "function": {"arguments": arguments}})
                    self._arguments[index].write(arguments)
                case results.ToolCallEnd(index, call) | results.ToolCallUnfinished(index, call) if index in self._calls:
                    self._calls[index]["status"] = call.status
                case Finished():
                    delta.is_complete = True
                case _:
                    pass
        self._text.write(delta.text)
        self._thinking.write(delta.thinking)
        return delta


def _to_chunk(data: Any) -> Any:
    """Wrap a delta or a choice in a chunk."""
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {"choices": ()}
    if "choices" in fields or "error" in fields:
        return cast("Any", data)
    return {"choices": [fields if "delta" in fields or "message" in fields else {"delta": fields}]}
