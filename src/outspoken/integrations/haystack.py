"""Haystack: `OutspokenChatGenerator` is a chat generator around a chat generator whose server sends raw text.

A call that is truncated or invalid names no tool, but says what is wrong, so that the agent does not run it and answers
the model with an error. The tool that it meant is in its `extra["outspoken"]`. See the README for an example.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from inspect import isawaitable, iscoroutinefunction
from typing import Any, TypeVar

from outspoken.results.arguments import kind_of
from outspoken.results.edits import RepairLimit
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.settings import Settings

from .assembler import Assembler, CallEnd, FormatReader, MessagePart
from .framework import Framework
from .messages import FIRST_INDEX, METADATA, IdentifiedCall, noted

_HAYSTACK = Framework("haystack", "haystack-ai", "3.4")
_haystack = _HAYSTACK.load("haystack")
_messages = _HAYSTACK.load("haystack.dataclasses")
_chunks = _HAYSTACK.load("haystack.dataclasses.streaming_chunk")
_tools = _HAYSTACK.load("haystack.tools")
_generators = _HAYSTACK.load("haystack.components.generators.utils")
_serialization = _HAYSTACK.load("haystack.core.serialization")
_deserialization = _HAYSTACK.load("haystack.utils.deserialization")
_callables = _HAYSTACK.load("haystack.utils")
_async = _HAYSTACK.load("haystack.utils.async_utils")

_LIST: Any = list
#: The types of the inputs, which Haystack reads where they are checked.
_INPUTS: dict[str, Any] = {
    "messages": _LIST[_messages.ChatMessage] | str,
    "streaming_callback": _chunks.StreamingCallbackT | None,
    "generation_kwargs": dict[str, Any] | None,
    "tools": _tools.ToolsType | None,
    "tools_strict": bool | None,
    "return": dict[str, Any],
}
#: The methods of components that Haystack calls around runs.
_LIFE_CYCLE = ("warm_up", "warm_up_async", "close", "close_async")

_Run = TypeVar("_Run", bound=Callable[..., Any])
_Kind = TypeVar("_Kind")


def _runs(run: _Run) -> _Run:
    """Declares the inputs and outputs of a component."""
    run.__annotations__ = dict(_INPUTS)
    return _haystack.component.output_types(replies=_LIST[_messages.ChatMessage])(run)


def _component(kind: type[_Kind]) -> type[_Kind]:
    return _haystack.component(kind)


@_component
class OutspokenChatGenerator:
    """A chat generator whose text is read in a format.

    `chat_generator` is the one that asks the server; with `send_tools=False`, it does not get the tools, since the
    prompt describes them. `format`, `prefix` and `repair` are those of `FormatReader`, and `settings` are arguments of
    `outspoken.Settings`. Calls and reasoning that the chat generator returns itself are kept.
    """

    def __init__(
        self,
        chat_generator: Any,
        format: str | None = None,
        *,
        prefix: str | None = None,
        repair: RepairLimit | None = None,
        settings: dict[str, Any] | None = None,
        send_tools: bool = True,
        streaming_callback: Any = None,
    ) -> None:
        if not hasattr(chat_generator, "run"):
            raise TypeError(f"`chat_generator` is {kind_of(chat_generator)}; expected a chat generator of Haystack")
        self.chat_generator, self.streaming_callback = chat_generator, streaming_callback
        self._options = {"format": format, "prefix": prefix, "repair": repair, "settings": settings}
        self._options |= {"send_tools": send_tools}
        made = Settings(**settings) if settings else None
        self._reader = FormatReader(format, chat_generator, prefix=prefix, repair=repair, settings=made)

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
        _deserialization.deserialize_component_inplace(given, key="chat_generator")
        if given.get("streaming_callback"):
            given["streaming_callback"] = _callables.deserialize_callable(given["streaming_callback"])
        return _serialization.default_from_dict(cls, data)

    def __getattr__(self, name: str) -> Any:
        """The methods that start and end the chat generator, those that it has."""
        if name in _LIFE_CYCLE and "chat_generator" in vars(self):
            return getattr(self.chat_generator, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @_runs
    def run(
        self,
        messages: Any,
        streaming_callback: Any = None,
        generation_kwargs: Any = None,
        *,
        tools: Any = None,
        tools_strict: Any = None,
    ) -> Any:
        """Ask the chat generator, and return its replies with what their text means."""
        callback = self._callback(streaming_callback, is_async=False)
        given, reading = self._request(messages, generation_kwargs, tools, tools_strict)

        def feed(chunk: Any) -> None:
            for made in reading.feed(chunk):
                callback(made)

        if callback is None:
            return {"replies": reading.whole(self.chat_generator.run(**given)["replies"])}
        replies = self.chat_generator.run(**given, streaming_callback=feed)["replies"]
        for made in reading.close(replies):
            callback(made)
        return {"replies": reading.streamed(replies)}

    @_runs
    async def run_async(
        self,
        messages: Any,
        streaming_callback: Any = None,
        generation_kwargs: Any = None,
        *,
        tools: Any = None,
        tools_strict: Any = None,
    ) -> Any:
        """Ask the chat generator, and return its replies with what their text means."""
        callback = self._callback(streaming_callback, is_async=True)
        given, reading = self._request(messages, generation_kwargs, tools, tools_strict)

        async def feed(chunk: Any) -> None:
            await _send(callback, reading.feed(chunk))

        def feed_now(chunk: Any) -> None:
            for made in reading.feed(chunk):
                callback(made)

        if callback is not None:
            given["streaming_callback"] = feed if iscoroutinefunction(callback) else feed_now
        result = await _async._execute_component_async(self.chat_generator, **given)
        if callback is None:
            return {"replies": reading.whole(result["replies"])}
        await _send(callback, reading.close(result["replies"]))
        return {"replies": reading.streamed(result["replies"])}

    def _callback(self, given: Any, *, is_async: bool) -> Any:
        own = self.streaming_callback or getattr(self.chat_generator, "streaming_callback", None)
        return _messages.select_streaming_callback(own, given, requires_async=is_async)

    def _request(
        self, messages: Any, generation_kwargs: Any, tools: Any, strict: Any
    ) -> tuple[dict[str, Any], _Replies]:
        """The inputs of the chat generator, and what reads its replies."""
        messages = _generators._normalize_messages(messages)
        offered = _tools.flatten_tools_or_toolsets(tools or getattr(self.chat_generator, "tools", None))
        given = {"generation_kwargs": generation_kwargs, "tools_strict": strict}
        given |= {"tools": tools} if self._options["send_tools"] else {}
        options: dict[str, Any] = generation_kwargs or {}
        assembler = self._reader.begin(
            [tool.tool_spec for tool in offered], options.get("tool_choice"), stop=options.get("stop"),
            taken=[call.id for message in messages for call in message.tool_calls if call.id],
        )  # fmt: skip
        given = {key: value for key, value in given.items() if value is not None}
        return {"messages": [*map(_to_send, messages)], **given}, _Replies(assembler)


class _Replies:
    """Reads the replies to a request: whole ones, or one that arrives in chunks."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        assembler.joins_reasoning = True
        self._last: Any = _messages.StreamingChunk("")
        self._block, self._kind = -1, ""  # the index of the last block, and what it is of

    def whole(self, replies: list[Any]) -> list[Any]:
        """Read whole replies."""
        made: list[Any] = []
        for message in replies:
            assembler = self._assembler.another()
            if message.reasoning:
                assembler.add_own_reasoning()
            assembler.whole(_text(message), message.meta)
            made.append(_message(message, assembler))
        return made

    def feed(self, chunk: Any) -> list[Any]:
        """Read a chunk; return chunks of what has become certain."""
        self._last = chunk
        if chunk.reasoning or chunk.tool_calls or chunk.tool_call_result:
            self._kind, self._block = "own", max(self._block, chunk.index)
            if chunk.reasoning:
                self._assembler.add_own_reasoning()
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

    def streamed(self, replies: list[Any]) -> list[Any]:
        """The replies, of which the first one has arrived in chunks."""
        return [_message(message, self._assembler) for message in replies[:1]] + self.whole(replies[1:])

    def _chunks(self, parts: list[MessagePart]) -> list[Any]:
        """Chunks for parts of the response. A call is sent when it is complete."""
        made: list[Any] = []
        for part in parts:
            match part:
                case TextDelta():
                    made.append(replace(self._chunk(*self._begun("text")), content=part.text))
                case ReasoningDelta():
                    content = _messages.ReasoningContent(reasoning_text=part.text)
                    made.append(replace(self._chunk(*self._begun("reasoning")), reasoning=content))
                case CallEnd(number, ended):
                    self._begun("call")  # so that text behind it is another block
                    index, call = FIRST_INDEX + number, _call(ended)
                    delta = _chunks.ToolCallDelta(
                        index, call.tool_name, json.dumps(call.arguments), call.id, call.extra
                    )
                    made.append(replace(self._chunk(index, start=True), tool_calls=[delta]))
                case _:
                    pass
        return made

    def _begun(self, kind: str) -> tuple[int, bool]:
        """The index of the block that a chunk belongs to, and whether it starts it."""
        start = kind != self._kind
        self._kind, self._block = kind, self._block + start
        return self._block, start

    def _chunk(self, index: int | None = None, start: bool = False) -> Any:
        """A chunk with the metadata of the last one."""
        meta = {key: value for key, value in self._last.meta.items() if key not in ("finish_reason", "usage")}
        return _messages.StreamingChunk("", meta, self._last.component_info, index, start=start)


async def _send(callback: Any, chunks: list[Any]) -> None:
    for chunk in chunks:
        sent = callback(chunk)
        if isawaitable(sent):
            await sent


def _text(message: Any) -> str:
    return "".join(filter(None, message.texts))


def _message(message: Any, assembler: Assembler) -> Any:
    """A message with what its text means."""
    own = message.reasoning
    joined = "\n\n".join(filter(None, [own.reasoning_text if own else "", assembler.reasoning]))
    reasoning = [_messages.ReasoningContent(joined, own.extra if own else {})] if joined else []
    text = [_messages.TextContent(assembler.text)] if assembler.text else []
    kinds = (_messages.TextContent, _messages.ReasoningContent, _messages.ToolCall)
    others = [part for part in message._content if not isinstance(part, kinds)]
    content = [*reasoning, *others, *text, *message.tool_calls, *map(_call, assembler.calls)]
    meta = {**message.meta, **noted(assembler.reply)}
    meta |= {"finish_reason": assembler.called(meta["finish_reason"])} if "finish_reason" in meta else {}
    return replace(message, _content=content, _meta=meta)


def _call(call: IdentifiedCall) -> Any:
    """A call of Haystack. That of a call with a problem names no tool, so that it cannot run."""
    if call.problem is None:
        return _messages.ToolCall(call.name, call.arguments, call.id)
    told = {"name": call.name, "problem": call.problem, "written": call.written}
    return _messages.ToolCall(call.refused_name, {}, call.id, {METADATA: told})


def _to_send(message: Any) -> Any:
    """A message with the names of tools that the model wrote."""
    if not any(METADATA in (call.extra or ()) for call in message.tool_calls):
        return message
    return replace(message, _content=[_named(part) for part in message._content])


def _named(part: Any) -> Any:
    is_refused = isinstance(part, _messages.ToolCall) and METADATA in (part.extra or ())
    return replace(part, tool_name=part.extra[METADATA]["name"], extra=None) if is_refused else part
