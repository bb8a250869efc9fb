"""Haystack: `OutspokenChatGenerator` is a chat generator around a chat generator whose server sends raw text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, cast

from outspoken.providers.requested import value_of
from outspoken.results.arguments import kind_of
from outspoken.results.edits import RepairLimit
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.settings import Settings

from .assembler import Assembler, CallEnd, MessagePart
from .messages import FIRST_INDEX, METADATA, call_of, content_of, framework, parts_of, refused_name

_HAYSTACK = framework("haystack", "haystack-ai", "3.4")
_haystack = _HAYSTACK.load("haystack")
_HAYSTACK.load("haystack.tools")
_data = _haystack.dataclasses
_tools = _haystack.tools
_generators = _HAYSTACK.load("haystack.components.generators.utils")
_utils = _HAYSTACK.load("haystack.utils")

_component: Callable[[type[Any]], type[Any]] = _haystack.component

_replies: Callable[[Any], Any] = _haystack.component.output_types(replies=list[_data.ChatMessage])


@_component
class OutspokenChatGenerator:
    """A chat generator whose text is read in a format.

    `chat_generator` is the one that asks the server; with `send_tools=False`, it does not get the tools, since the
    prompt describes them. `format`, `prefix`, `repair` and `render_history` are those of `Assembler`, and `settings`
    are arguments of `outspoken.Settings`. Calls and reasoning that the chat generator returns itself are kept.
    """

    def __init__(
        self, chat_generator: Any, format: str | None = None, *, prefix: str | None = None,
        repair: RepairLimit | None = None, settings: dict[str, Any] | None = None, send_tools: bool = True,
        render_history: bool = False, streaming_callback: Any = None,
    ) -> None:  # fmt: skip
        if not hasattr(chat_generator, "run"):
            raise TypeError(f"`chat_generator` is {kind_of(chat_generator)}; expected a chat generator of Haystack")
        self.chat_generator, self.streaming_callback, self._send_tools = chat_generator, streaming_callback, send_tools
        options: dict[str, Any] = {"prefix": prefix, "repair": repair, "render_history": render_history}
        self._given = {"format": format, "settings": settings, "send_tools": send_tools, **options}
        options["settings"] = Settings(**settings) if settings else None
        self._begin = Assembler.maker(format, chat_generator, **options)

    def to_dict(self) -> dict[str, Any]:
        callback = self.streaming_callback and _utils.serialize_callable(self.streaming_callback)
        inner = _haystack.core.serialization.component_to_dict(self.chat_generator, "chat_generator")
        return _haystack.default_to_dict(self, chat_generator=inner, streaming_callback=callback, **self._given)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        given = data["init_parameters"]
        if callback := given.get("streaming_callback"):
            given["streaming_callback"] = _utils.deserialize_callable(callback)
        return _haystack.default_from_dict(cls, data)

    def __getattr__(self, name: str) -> Any:
        """The methods that start and end the chat generator, those that it has."""
        if name in ("warm_up", "warm_up_async", "close", "close_async") and "chat_generator" in vars(self):
            return getattr(self.chat_generator, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @_replies
    def run(
        self, messages: list[_data.ChatMessage] | str, streaming_callback: _data.StreamingCallbackT | None = None,
        generation_kwargs: dict[str, Any] | None = None, *, tools: _tools.ToolsType | None = None,
        tools_strict: bool | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        asked, reading = self._request(
            messages, streaming_callback, generation_kwargs, tools=tools, tools_strict=tools_strict
        )
        replies = self.chat_generator.run(**asked)["replies"]
        for made in reading.close(replies):
            reading.callback(made)
        return {"replies": reading.messages(replies)}

    @_replies
    @wraps(run, ("__annotations__",))  # since Haystack wants the same inputs
    async def run_async(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        asked, reading = self._request(*args, **kwargs, is_async=True)
        replies = (await _utils.async_utils._execute_component_async(self.chat_generator, **asked))["replies"]
        for made in reading.close(replies):
            await _data.streaming_chunk._invoke_streaming_callback(reading.callback, made)
        return {"replies": reading.messages(replies)}

    def _request(
        self, messages: Any, streaming_callback: Any = None, generation_kwargs: Any = None, *, tools: Any = None,
        tools_strict: Any = None, is_async: bool = False,
    ) -> tuple[dict[str, Any], _Replies]:  # fmt: skip
        """The inputs of the chat generator, and what reads its replies."""
        own = self.streaming_callback or getattr(self.chat_generator, "streaming_callback", None)
        callback = _data.select_streaming_callback(own, streaming_callback, requires_async=is_async)
        messages = _generators._normalize_messages(messages)
        offered = _tools.flatten_tools_or_toolsets(tools or getattr(self.chat_generator, "tools", None))
        options: dict[str, Any] = generation_kwargs or {}
        assembler = self._begin(
            tools=[tool.tool_spec for tool in offered], choice=options.get("tool_choice"), stop=options.get("stop"),
            history=[*map(_said, messages)],
        )  # fmt: skip
        reading = _Replies(assembler, callback)
        tell = reading.tell_async if iscoroutinefunction(callback) else reading.tell
        sent_tools, told = tools if self._send_tools else None, tell if callback else None
        asked = {"generation_kwargs": generation_kwargs, "tools_strict": tools_strict}
        asked |= {"tools": sent_tools, "streaming_callback": told}
        asked = {key: value for key, value in asked.items() if value is not None}
        sent = assembler.to_send(
            messages, _to_send,
            lambda role, text, others: _data.ChatMessage(_data.ChatRole(role), [_data.TextContent(text), *others]),
        )  # fmt: skip
        return {"messages": [*filter(None, sent)], **asked}, reading


class _Replies:
    """Reads the replies to a request: whole ones, or, with a callback, the first in chunks."""

    def __init__(self, assembler: Assembler, callback: Any) -> None:
        self._assembler, self.callback = assembler, callback
        self._last: Any = _data.StreamingChunk("")
        self._block: int = -1  # the index of the last block
        self._kind: str = ""  # what it is of

    def tell(self, chunk: Any) -> None:
        for made in self.feed(chunk):
            self.callback(made)

    async def tell_async(self, chunk: Any) -> None:
        for made in self.feed(chunk):
            await self.callback(made)

    def feed(self, chunk: Any) -> list[Any]:
        """Read a chunk; return chunks of what has become certain."""
        self._last = chunk
        if chunk.reasoning or chunk.tool_calls or chunk.tool_call_result:
            self._kind, self._block = "own", max(self._block, chunk.index)
            if chunk.reasoning:
                self._assembler.add_own_reasoning(chunk.reasoning.reasoning_text)
            return [replace(chunk, finish_reason=None)]
        chunks = self._chunks(self._assembler.feed(chunk.content))
        if not chunk.content or chunk.meta.get("usage"):
            chunks.append(replace(chunk, content="", finish_reason=None, start=False))
        return chunks

    def close(self, replies: list[Any]) -> list[Any]:
        """End the response; return the rest, with the finish reason at the end."""
        if not self.callback:
            return []
        assembler, meta = self._assembler, cast("dict[str, Any]", replies[0].meta if replies else {})
        parts = [] if assembler.has_begun or not replies else assembler.feed(_text(replies[0]))
        made = self._chunks([*parts, *assembler.close(meta)])
        return [*made, self._chunk(finish_reason=assembler.called(meta.get("finish_reason")))]

    def messages(self, replies: list[Any]) -> list[Any]:
        """The replies with what their texts mean."""
        read_messages: list[Any] = []
        for message in replies:
            assembler, own = self._assembler, message.reasoning
            if read_messages or not self.callback:
                assembler = assembler.another()
                if own:
                    assembler.add_own_reasoning(own.reasoning_text)
                assembler.whole(_text(message), message.meta)
            extra: Any = own.extra if own else {}
            reasoning = [_data.ReasoningContent(assembler.reasoning, extra)] if assembler.reasoning else []
            text = [_data.TextContent(assembler.text)] if assembler.text else []
            calls = [*message.tool_calls, *map(_call, assembler.calls)]
            content = [*reasoning, *_others(message._content), *text, *calls]
            read_messages.append(replace(message, _content=content, _meta=assembler.metadata(message.meta)))
        return read_messages

    def _chunks(self, parts: list[MessagePart]) -> list[Any]:
        """Chunks for parts of the response. A call is sent when it is complete."""
        chunks: list[Any] = []
        for part in parts:
            if isinstance(part, TextDelta):
                chunks.append(self._chunk("text", content=part.text))
            elif isinstance(part, ReasoningDelta):
                chunks.append(self._chunk("reasoning", reasoning=_data.ReasoningContent(part.text)))
            elif isinstance(part, CallEnd):
                index, call = FIRST_INDEX + part.index, _call(part)
                delta = _data.ToolCallDelta(index, call.tool_name, json.dumps(call.arguments), call.id, call.extra)
                chunks.append(self._chunk("call", index=index, start=True, tool_calls=[delta]))
        return chunks

    def _chunk(self, kind: str = "", **fields: Any) -> Any:
        """A chunk with the metadata of the last one, in the block of its kind, which it may start."""
        start = kind not in ("", self._kind)
        self._kind, self._block = kind or self._kind, self._block + start
        meta = {key: value for key, value in self._last.meta.items() if key not in ("finish_reason", "usage")}
        place = {"component_info": self._last.component_info, "index": self._block if kind else None, "start": start}
        return _data.StreamingChunk(**{"content": "", "meta": meta, **place, **fields})


def _text(message: Any) -> str:
    return "".join(filter(None, message.texts))


def _others(parts: Sequence[Any]) -> list[Any]:
    """The parts of a message that are not read."""
    return [part for part in parts if not isinstance(part, (_data.TextContent, _data.ReasoningContent, _data.ToolCall))]


def _call(call: CallEnd) -> Any:
    """A call of Haystack. That of a call with a problem names no tool, so that it cannot run."""
    if not call.refusal:
        return _data.ToolCall(call.name, call.call.arguments, call.id)
    problem, written = parts_of(call.refusal)
    told = {"name": call.name, "problem": problem, "written": written}
    return _data.ToolCall(refused_name(call.refusal), {}, call.id, {METADATA: told})


def _said(message: Any) -> dict[str, Any]:
    """A message as chat completions have it."""
    parts, more = message._content, {METADATA: message.meta.get(METADATA)}
    for result in message.tool_call_results:
        parts = [_data.TextContent(result.result)] if isinstance(result.result, str) else result.result
        more |= {"tool_call_id": result.origin.id, "name": result.origin.tool_name}
    text = "".join([part.text for part in parts if isinstance(part, _data.TextContent)])
    more["reasoning"] = message.reasoning and message.reasoning.reasoning_text
    told: list[Any] = [(call, value_of(call.extra, METADATA) or {}) for call in message.tool_calls]
    more["tool_calls"] = [
        call_of(call.id, of.get("name", call.tool_name), call.arguments, of.get("written", "")) for call, of in told
    ]
    return {"role": message.role.value, "content": content_of(text, _others(parts)), **more}


def _to_send(message: Any) -> Any:
    """A message with the names of tools that the model wrote."""
    content: list[Any] = [*message._content]
    for place, part in enumerate(content):
        if isinstance(part, _data.ToolCall) and METADATA in (part.extra or ()):
            content[place] = replace(part, tool_name=part.extra[METADATA]["name"], extra=None)
    return replace(message, _content=content)
