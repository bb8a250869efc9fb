"""A small parser of the chunks of chat streams: thinking, text and calls of each chunk, as they are new in it.

For what it leaves out (usage, why the response ended, errors, several blocks), see `ProviderStream`, which it is made
of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from outspoken.results.events import (
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
)

from .events import Finished, ProviderEvent
from .plain import plain
from .stream import OWN, ProviderStream
from .table import PROVIDERS, content_format

_TAGGED = "minimax"
#: the opening tags that the grammar of that content has
_TAGS = re.compile(
    r"<th?ink(?:ing|t|_never_used_[a-z0-9]{1,64})?(?:\s[^<>\n]{0,80})?>|<\|im_start\|>thinking", re.IGNORECASE
)


@dataclass(slots=True)
class ParsedDelta:
    """What is new in one chunk.

    `tool_calls` are fragments as OpenAI sends them: `{"index", "id", "type", "function": {"name", "arguments"}}`, where
    id, type and name are in a call's first one only; their `arguments`, joined, are the call's. `is_complete` says that
    a block of content is complete, or the response is.
    """

    thinking: str = ""
    text: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    is_complete: bool = False


class LLMResponseParser:
    """Reads the chunks of one message after another; `reset` is called between two. No two parsers share anything.

    All of what came so far is in `thinking`, `text` and `tool_calls`, the last with whole arguments. Reasoning in tags
    (`<think>…</think>`, `<|im_start|>thinking…<|im_end|>`) is thinking, however the chunks split it: what may be the
    beginning of a tag is held back until it is known, and `close` gives what is held in the end. Tags in code are
    text. With `think_prefilled`, the prompt has opened the thinking.
    """

    def __init__(self, *, think_prefilled: bool = False, format: str | None = OWN) -> None:
        self._prefix = "<think>" if think_prefilled else None
        #: content of any provider is read as that of the one that is known to have tags in it
        self._format = content_format(_TAGGED) if format == OWN else format
        self.reset()

    def reset(self) -> None:
        """Forget the message; the next chunk begins another one."""
        self._stream: ProviderStream | None = None
        self._provider = ""
        self.thinking = self.text = ""
        self.tool_calls: list[dict[str, Any]] = []
        #: the same by their numbers: a call that breaks off in its name is never announced, but counts
        self._calls: dict[int, dict[str, Any]] = {}

    def parse_openai(self, delta: Any) -> ParsedDelta:
        """The delta of a chunk, the choice it is in, or the chunk; as a dict or an object of an SDK."""
        return self.parse_chunk(delta, "openai")

    def parse_anthropic(self, chunk: Any) -> ParsedDelta:
        """An event of Anthropic's stream, as a dict or an object of its SDK."""
        return self.parse_chunk(chunk, "anthropic")

    def parse_chunk(self, chunk: Any, provider: str = "openai") -> ParsedDelta:
        """A chunk of any provider that `ProviderStream` knows; of others, as OpenAI's.

        Raises ProviderFormatError for what is no chunk of the provider's, and ValueError where another provider's
        chunk comes before `reset`.
        """
        name = provider if provider in PROVIDERS else "openai"
        if self._stream is None:
            self._stream, self._provider = ProviderStream(name, self._format, prefix=self._prefix), name
        elif PROVIDERS[name].api != PROVIDERS[self._provider].api:
            other = f"a chunk of {name!r} within a message of {self._provider!r}"
            raise ValueError(f"{other}; call `reset` between messages")
        chunk = chunk if isinstance(chunk, (str, bytes)) else plain(chunk)
        events = self._stream.feed(_wrapped(chunk) if PROVIDERS[name].api == "chat" else chunk)
        made = self._delta(events)
        made.is_complete = made.is_complete or _ends_block(chunk)
        return made

    def close(self) -> ParsedDelta:
        """The message has ended: what was held back, since it might have been the beginning of a tag."""
        return self._delta(self._stream.close()) if self._stream is not None else ParsedDelta()

    def has_thinking_tags(self, content: str) -> bool:
        """Does a text have an opening tag of thinking in it?"""
        return bool(content) and _TAGS.search(content) is not None

    def _delta(self, events: list[ProviderEvent]) -> ParsedDelta:
        made = ParsedDelta()
        for event in events:
            match event:
                case TextDelta(text):
                    made.text += text
                case ReasoningDelta(text):
                    made.thinking += text
                case ToolCallStart(index, id, name):
                    self._call(made, index, {"id": id, "type": "function"}, name=name, arguments="")
                case ToolCallDelta(index, arguments):
                    self._call(made, index, {}, arguments=arguments)
                case ToolCallEnd(index, call) | ToolCallUnfinished(index, call) if index in self._calls:
                    self._calls[index]["status"] = call.status
                case Finished():
                    made.is_complete = True
                case _:
                    pass
        self.text += made.text
        self.thinking += made.thinking
        return made

    def _call(self, made: ParsedDelta, index: int, head: dict[str, Any], **function: str) -> None:
        """A fragment of a call: in the delta, and in the whole."""
        made.tool_calls.append({"index": index, **head, "function": dict(function)})
        if head:
            self._calls[index] = {"index": index, **head, "function": dict(function)}
            self.tool_calls.append(self._calls[index])
        else:
            self._calls[index]["function"]["arguments"] += function["arguments"]


def _wrapped(chunk: Any) -> Any:
    """A chunk of OpenAI's; a delta or a choice becomes one."""
    if not isinstance(chunk, dict) or "choices" in chunk or "error" in chunk:
        return cast("Any", chunk)
    found = cast("dict[str, Any]", chunk)
    if "delta" in found or "message" in found:
        return {"choices": [found]}
    return {"choices": [{"delta": found}]}


def _ends_block(chunk: Any) -> Literal[True, False]:
    found = cast("dict[str, Any]", chunk) if isinstance(chunk, dict) else {}
    return found.get("type") == "content_block_stop"
