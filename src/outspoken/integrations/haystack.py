"""Haystack: `OutspokenChatGenerator` is a chat generator around a chat generator whose server sends raw text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeAlias

from outspoken.results.arguments import kind_of
from outspoken.results.edits import RepairLimit
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.settings import Settings

from .assembler import Assembler, CallEnd, MessagePart
from .framework import framework
from .messages import FIRST_INDEX, METADATA, parts_of, refused_name

_HAYSTACK = framework("haystack", "haystack-ai", "3.4")
_haystack = _HAYSTACK.load("haystack")
_messages = _HAYSTACK.load("haystack.dataclasses")
_chunks = _HAYSTACK.load("haystack.dataclasses.streaming_chunk")
_tools = _HAYSTACK.load("haystack.tools")
_generators = _HAYSTACK.load("haystack.components.generators.utils")
_serialization = _HAYSTACK.load("haystack.core.serialization")
_callables = _HAYSTACK.load("haystack.utils")
_async = _HAYSTACK.load("haystack.utils.async_utils")

_component: Callable[[type[Any]], type[Any]] = _haystack.component
_delta = _chunks.ToolCallDelta

#: The methods of components that Haystack calls around runs.
_LIFE_CYCLE = ("warm_up", "warm_up_async", "close", "close_async")

if TYPE_CHECKING:
    _Message: TypeAlias = Any
    _Callback: TypeAlias = Any
    _ToolsType: TypeAlias = Any
else:  # Haystack reads the types of inputs where they are checked
    _Message, _Callback, _ToolsType = _messages.ChatMessage, _chunks.StreamingCallbackT, _tools.ToolsType
_replies: Callable[[Any], Any] = _haystack.component.output_types(replies=list[_Message])


@_component
class OutspokenChatGenerator:
    """A chat generator whose text is read in a format.

    `chat_generator` is the one that asks the server; with `send_tools=False`, it does not get the tools, since the
    prompt describes them. `format`, `prefix` and `repair` are those of `Assembler`, and `settings` are arguments of
    `outspoken.Settings`. Calls and reasoning that the chat generator returns itself are kept.
    """

    def __init__(
        self, chat_generator: Any, format: str | None = None, *, prefix: str | None = None,
        repair: RepairLimit | None = None, settings: dict[str, Any] | None = None, send_tools: bool = True,
        streaming_callback: Any = None,
    ) -> None:  # fmt: skip
        if not hasattr(chat_generator, "run"):
            raise TypeError(f"`chat_generator` is {kind_of(chat_generator)}; expected a chat generator of Haystack")
        self.chat_generator, self.streaming_callback = chat_generator, streaming_callback
        options: dict[str, Any] = {"prefix": prefix, "repair": repair}
        self._options = {"format": format, **options, "settings": settings, "send_tools": send_tools}
        options["settings"] = Settings(**settings) if settings else None
        self._begin = partial(Assembler, format, chat_generator, **options)
        self._begin()  # wrong options fail here

    def to_dict(self) -> dict[str, Any]:
        """The component as data."""
        callback = self.streaming_callback
        return _serialization.default_to_dict(
            self,
            chat_generator=_serialization.component_to_dict(self.chat_generator, "chat_generator"),
            streaming_callback=_callables.serialize_callable(callback) if callback else None,
            **self._options,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """The component from data."""
        given = data["init_parameters"]
        if given.get("streaming_callback"):
            given["streaming_callback"] = _callables.deserialize_callable(given["streaming_callback"])
        return _serialization.default_from_dict(cls, data)

    def __getattr__(self, name: str) -> Any:
        """The methods that start and end the chat generator, those that it has."""
        if name in _LIFE_CYCLE and "chat_generator" in vars(self):
            return getattr(self.chat_generator, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @_replies
    def run(
        self, messages: list[_Message] | str, streaming_callback: _Callback | None = None,
        generation_kwargs: dict[str, Any] | None = None, *, tools: _ToolsType | None = None,
        tools_strict: bool | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Ask the chat generator, and return its replies with what their text means."""
        callback = self._callback(streaming_callback, is_async=False)
        asked, reading = self._request(messages, generation_kwargs, tools, tools_strict, callback)
        replies = self.chat_generator.run(**asked)["replies"]
        for made in reading.close(replies) if callback else ():
            callback(made)
        return {"replies": reading.messages(replies, is_streamed=callback is not None)}

    @_replies
    async def run_async(
        self, messages: list[_Message] | str, streaming_callback: _Callback | None = None,
        generation_kwargs: dict[str, Any] | None = None, *, tools: _ToolsType | None = None,
        tools_strict: bool | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Ask the chat generator, and return its replies with what their text means."""
        callback = self._callback(streaming_callback, is_async=True)
        asked, reading = self._request(messages, generation_kwargs, tools, tools_strict, callback)
        replies = (await _async._execute_component_async(self.chat_generator, **asked))["replies"]
        for made in reading.close(replies) if callback else ():
            await _chunks._invoke_streaming_callback(callback, made)
        return {"replies": reading.messages(replies, is_streamed=callback is not None)}

    def _callback(self, given: Any, *, is_async: bool) -> Any:
        own = self.streaming_callback or getattr(self.chat_generator, "streaming_callback", None)
        return _messages.select_streaming_callback(own, given, requires_async=is_async)

    def _request(
        self, messages: Any, generation_kwargs: Any, tools: Any, strict: Any, callback: Any
    ) -> tuple[dict[str, Any], _Replies]:
        """The inputs of the chat generator, and what reads its replies."""
        messages = _generators._normalize_messages(messages)
        offered = _tools.flatten_tools_or_toolsets(tools or getattr(self.chat_generator, "tools", None))
        options: dict[str, Any] = generation_kwargs or {}
        assembler = self._begin(
            [tool.tool_spec for tool in offered], options.get("tool_choice"), stop=options.get("stop"),
            taken=[call.id for message in messages for call in message.tool_calls],
        )  # fmt: skip
        reading = _Replies(assembler)

        async def feed(chunk: Any) -> None:
            for made in reading.feed(chunk):
                await _chunks._invoke_streaming_callback(callback, made)

        def feed_now(chunk: Any) -> None:
            for made in reading.feed(chunk):
                callback(made)

        asked = {"generation_kwargs": generation_kwargs, "tools_strict": strict}
        asked |= {"tools": tools} if self._options["send_tools"] else {}
        asked |= {"streaming_callback": feed if iscoroutinefunction(callback) else feed_now} if callback else {}
        asked = {key: value for key, value in asked.items() if value is not None}
        return {"messages": [*map(_to_send, messages)], **asked}, reading


class _Replies:
    """Reads the replies to a request: whole ones, or one that arrives in chunks."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._last: Any = _messages.StreamingChunk("")
        self._block: int = -1  # the index of the last block
        self._kind: str = ""  # what it is of

    def feed(self, chunk: Any) -> list[Any]:
        """Read a chunk; return chunks of what has become certain."""
        self._last = chunk
        if chunk.reasoning or chunk.tool_calls or chunk.tool_call_result:
            self._kind, self._block = "own", max(self._block, chunk.index)
            if chunk.reasoning:
                self._assembler.add_own_reasoning(chunk.reasoning.reasoning_text)
            return [replace(chunk, finish_reason=None)]
        made = self._chunks(self._assembler.feed(chunk.content))
        if not chunk.content or chunk.meta.get("usage"):
            made.append(replace(chunk, content="", finish_reason=None, start=False))
        return made

    def close(self, replies: list[Any]) -> list[Any]:
        """End the response; return the rest, with the finish reason at the end."""
        assembler = self._assembler
        meta: dict[str, Any] = replies[0].meta if replies else {}
        parts = [] if assembler.has_begun or not replies else assembler.feed(_text(replies[0]))
        made = self._chunks([*parts, *assembler.close(meta)])
        return [*made, replace(self._chunk(), content="", finish_reason=assembler.called(meta.get("finish_reason")))]

    def messages(self, replies: list[Any], *, is_streamed: bool) -> list[Any]:
        """The replies with what their text means, of which the first one may have arrived in chunks."""
        made: list[Any] = []
        for message in replies:
            assembler = self._assembler
            if made or not is_streamed:
                assembler, own = assembler.another(), message.reasoning
                if own:
                    assembler.add_own_reasoning(own.reasoning_text)
                assembler.whole(_text(message), message.meta)
            made.append(_message(message, assembler))
        return made

    def _chunks(self, parts: list[MessagePart]) -> list[Any]:
        """Chunks for parts of the response. A call is sent when it is complete."""
        made: list[Any] = []
        for part in parts:
            match part:
                case TextDelta(text):
                    made.append(replace(self._chunk("text"), content=text))
                case ReasoningDelta(text):
                    made.append(replace(self._chunk("reasoning"), reasoning=_messages.ReasoningContent(text)))
                case CallEnd():
                    self._chunk("call")  # so that text behind it is another block
                    index, call = FIRST_INDEX + part.index, _call(part)
                    fields = (index, call.tool_name, json.dumps(call.arguments), call.id, call.extra)
                    made.append(replace(self._chunk(), index=index, start=True, tool_calls=[_delta(*fields)]))
                case _:
                    pass
        return made

    def _chunk(self, kind: str = "") -> Any:
        """A chunk with the metadata of the last one, in the block of its kind, which it may start."""
        start = bool(kind) and kind != self._kind
        self._kind, self._block = kind or self._kind, self._block + start
        meta = {key: value for key, value in self._last.meta.items() if key not in ("finish_reason", "usage")}
        return _messages.StreamingChunk("", meta, self._last.component_info, self._block if kind else None, start=start)


def _text(message: Any) -> str:
    return "".join(filter(None, message.texts))


def _message(message: Any, assembler: Assembler) -> Any:
    """A message with what its text means."""
    extra: Any = message.reasoning.extra if message.reasoning else {}
    reasoning = [_messages.ReasoningContent(assembler.reasoning, extra)] if assembler.reasoning else []
    text = [_messages.TextContent(assembler.text)] if assembler.text else []
    kinds = (_messages.TextContent, _messages.ReasoningContent, _messages.ToolCall)
    others = [part for part in message._content if not isinstance(part, kinds)]
    content = [*reasoning, *others, *text, *message.tool_calls, *map(_call, assembler.calls)]
    return replace(message, _content=content, _meta=assembler.metadata(message.meta))


def _call(call: CallEnd) -> Any:
    """A call of Haystack. That of a call with a problem names no tool, so that it cannot run."""
    if not call.refusal:
        return _messages.ToolCall(call.name, call.call.arguments, call.id)
    problem, written = parts_of(call.refusal)
    told = {"name": call.name, "problem": problem, "written": written}
    return _messages.ToolCall(refused_name(call.refusal), {}, call.id, {METADATA: told})


def _to_send(message: Any) -> Any:
    """A message with the names of tools that the model wrote."""
    content = [
        replace(part, tool_name=part.extra[METADATA]["name"], extra=None)
        if isinstance(part, _messages.ToolCall) and METADATA in (part.extra or ())
        else part
        for part in message._content
    ]
    return message if content == message._content else replace(message, _content=content)
