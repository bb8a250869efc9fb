"""Pydantic AI: `OutspokenModel` wraps a model whose server sends raw text, so that agents get tool calls.

    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from outspoken.integrations.pydantic_ai import AskAgain, OutspokenModel

    server = OpenAIChatModel("qwen3-coder", provider=OpenAIProvider(base_url="http://localhost:8000/v1"))
    agent = Agent(OutspokenModel(server, "qwen3_coder"), capabilities=[AskAgain()])

    @agent.tool_plain
    def tide(place: str) -> str:
        return f"High tide in {place} at nine."

    print(agent.run_sync("When is high tide in Brest?").output)

The wrapped model sends the tools of the agent with its request; the server renders them into the prompt. The text that
comes back becomes text, thinking and tool calls. Output tools are read like other tools, so structured output works.

A call that is truncated or invalid keeps its name and id, but its arguments are a sentence that says what is wrong with
them. That is no JSON, so Pydantic AI does not run the tool, and sends the sentence back to the model in a retry prompt.
Repairs and problems are in `ModelResponse.metadata["outspoken"]`. If the markup of a call could not be read at all, it
is text; `AskAgain` then asks the model again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from outspoken.parsing.parser import Parser
from outspoken.results.edits import RepairLimit
from outspoken.results.events import ReasoningDelta, ReasoningEnd, TextDelta
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings

from . import messages as shared
from .framework import Framework, allows_calls, format_of
from .streams import CallDelta, CallEnd, CallStart, ReplyStream, StreamItem

_PYDANTIC_AI = Framework("pydantic_ai", "pydantic-ai-slim", "2.68")
_messages = _PYDANTIC_AI.load("pydantic_ai.messages")
_models = _PYDANTIC_AI.load("pydantic_ai.models")
_wrapper = _PYDANTIC_AI.load("pydantic_ai.models.wrapper")
_capabilities = _PYDANTIC_AI.load("pydantic_ai.capabilities")
_exceptions = _PYDANTIC_AI.load("pydantic_ai.exceptions")

#: Its words for finish reasons that the parser has other words for.
_REASONS = {"tool_call": "tool_calls"}


class OutspokenModel(_wrapper.WrapperModel):
    """A model whose text is read in a format.

    `wrapped` is a model, or the name of one. `format` is the name of a format or the id of a model, or "auto"; without
    it, the name of the wrapped model says the format, or it is "auto" if that is not known. `repair` and `settings` are
    those of `outspoken.Parser`, and `prefix` is that of `Parser.parse`. Thinking and calls that the wrapped model
    returns itself are kept. Raises what `Parser` raises.
    """

    def __init__(
        self,
        wrapped: Any,
        format: str | None = None,
        *,
        prefix: str | None = None,
        repair: RepairLimit | None = None,
        settings: Settings | None = None,
    ) -> None:
        _wrapper.WrapperModel.__init__(self, wrapped)
        self._prefix = prefix
        self._make_parser = partial(Parser, format_of(format, self.wrapped), repair=repair, settings=settings)
        self._make_parser()  # wrong options fail here

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> Any:
        """Ask the wrapped model, and return its response with what its text means."""
        response = await self.wrapped.request(_to_send(messages), model_settings, model_request_parameters)
        return self._read(response, self._parser(model_request_parameters, model_settings), _ids(messages))

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[Any]:
        """Ask the wrapped model, and give a stream of what its text means, as it arrives."""
        request = (_to_send(messages), model_settings, model_request_parameters, run_context)
        async with self.wrapped.request_stream(*request) as stream:
            parser = self._parser(model_request_parameters, model_settings)
            yield _Stream(stream, parser, self._prefix, _ids(messages))

    def _parser(self, parameters: Any, settings: Any) -> Parser:
        tools = [
            {"name": tool.name, "parameters": tool.parameters_json_schema}
            for tool in (*parameters.function_tools, *parameters.output_tools)
        ]
        return self._make_parser(tools=tools, calls=allows_calls(tools, settings and settings.get("tool_choice")))

    def _read(self, response: Any, parser: Parser, ids: shared.CallIds) -> Any:
        """A response with what its text parts mean in their place."""
        parts: list[Any] = []
        replies: list[Reply] = []
        prefix, reason = self._prefix, _reason(response)
        for part in response.parts:
            if part.part_kind == "text":
                reply = parser.parse(part.content, prefix=prefix, finish_reason=reason)
                replies.append(reply)
                parts += [_part(item) for item in shared.message_parts(reply, ids)]
            else:
                prefix = "" if part.part_kind == "thinking" else prefix  # the prompt's `<think>` is closed
                parts.append(part)
        return replace(
            response, parts=parts, metadata=_metadata(response, replies), finish_reason=_finish_reason(response, parts)
        )


class AskAgain(_capabilities.AbstractCapability[Any]):
    """A capability that asks the model again if a call could not be read, and no other call was.

    Without it, such a response is an answer in text. Each time counts against the agent's output retries.
    """

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Raise ModelRetry for a response whose metadata says that a call could not be read."""
        found: dict[str, Any] = response.metadata.get(shared.METADATA, {}) if response.metadata else {}
        if "retry" in found and not response.tool_calls:
            raise _exceptions.ModelRetry(found["retry"])
        return response


class _Stream(_models.StreamedResponse):
    """A stream of the wrapped model, with what its text means."""

    def __init__(self, wrapped: Any, parser: Parser, prefix: str | None, ids: shared.CallIds) -> None:
        _models.StreamedResponse.__init__(self, model_request_parameters=wrapped.model_request_parameters)
        self._wrapped, self._parser, self._prefix, self._ids = wrapped, parser, prefix, ids
        self._texts: dict[int, ReplyStream] = {}  # by the index of the part
        self._place = 0  # counts the parts, so that text behind a call is another part

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        async for event in self._wrapped:
            self._copy_state()
            if event.event_kind == "part_start":
                made = self._start(event.index, event.part)
            elif event.event_kind == "part_delta":
                made = self._delta(event.index, event.delta)
            else:
                continue
            for one in made:
                yield one
        self._copy_state()
        for one in [one for index in self._texts for one in self._end(index)]:
            yield one
        self.metadata = _metadata(self._wrapped, [text.reply for text in self._texts.values() if text.reply])
        self.finish_reason = _finish_reason(self._wrapped, self._parts_manager.get_parts())

    def _start(self, index: int, part: Any) -> list[Any]:
        """Events for the start of a part of the wrapped model."""
        if part.part_kind == "text":
            self._texts[index] = ReplyStream(self._parser, prefix=self._prefix, ids=self._ids)
            return self._feed(index, part.content)
        if part.part_kind == "thinking":
            self._prefix = ""  # the prompt's `<think>` is closed
        self._place += 1
        return [self._parts_manager.handle_part(vendor_part_id=f"native {index}", part=part)]

    def _delta(self, index: int, delta: Any) -> list[Any]:
        """Events for more of a part of the wrapped model."""
        manager, id = self._parts_manager, f"native {index}"
        if delta.part_delta_kind == "text":
            return self._feed(index, delta.content_delta)
        if delta.part_delta_kind == "thinking":
            changed = {"content": delta.content_delta, "signature": delta.signature_delta}
            changed |= {"provider_name": delta.provider_name, "provider_details": delta.provider_details}
            return [*manager.handle_thinking_delta(vendor_part_id=id, **changed)]
        made = manager.handle_tool_call_delta(
            vendor_part_id=id, tool_name=delta.tool_name_delta, args=delta.args_delta, tool_call_id=delta.tool_call_id
        )
        return [] if made is None else [made]

    def _feed(self, index: int, text: str) -> list[Any]:
        return [made for item in self._texts[index].feed(text) for made in self._events(index, item)]

    def _end(self, index: int) -> list[Any]:
        return [made for item in self._texts[index].close(_reason(self)) for made in self._events(index, item)]

    def _events(self, index: int, item: StreamItem) -> list[Any]:
        """Events of Pydantic AI for an item of the stream of a text part."""
        manager, place = self._parts_manager, self._place
        match item:
            case TextDelta():
                return [*manager.handle_text_delta(vendor_part_id=f"text {place}", content=item.text)]
            case ReasoningDelta():
                return [*manager.handle_thinking_delta(vendor_part_id=f"thinking {place}", content=item.text)]
            case ReasoningEnd():
                self._place += 1
                return []
            case CallStart():
                self._place += 1
                return self._call(index, item.position, tool_name=item.name, args="", tool_call_id=item.id)
            case CallDelta():
                return self._call(index, item.position, args=item.arguments)
            case CallEnd() if item.call.problem is not None:  # replaces what was sent
                part = _part(item.call)
                changed = {"tool_name": part.tool_name, "args": part.args, "tool_call_id": part.tool_call_id}
                return [manager.handle_tool_call_part(vendor_part_id=f"call {index} {item.position}", **changed)]
            case _:
                return []

    def _call(self, index: int, position: int, **changed: str) -> list[Any]:
        made = self._parts_manager.handle_tool_call_delta(vendor_part_id=f"call {index} {position}", **changed)
        return [] if made is None else [made]

    def _copy_state(self) -> None:
        """Take over what the wrapped stream knows of the response."""
        for name in ("provider_response_id", "provider_details", "canonical_system", "finish_reason", "state"):
            setattr(self, name, getattr(self._wrapped, name))

    @property
    def usage(self) -> Any:
        """The usage so far."""
        return self._wrapped.usage

    async def close_stream(self) -> None:
        """Close the stream of the wrapped model."""
        await self._wrapped.cancel()

    def get_stream_cancel_errors(self) -> Any:
        """The errors that mean that the stream was cancelled."""
        return self._wrapped.get_stream_cancel_errors()

    model_name = property(lambda self: self._wrapped.model_name)
    provider_name = property(lambda self: self._wrapped.provider_name)
    provider_url = property(lambda self: self._wrapped.provider_url)
    timestamp = property(lambda self: self._wrapped.timestamp)


def _to_send(messages: Any) -> list[Any]:
    """The messages as servers accept them: a call with a problem, which its retry prompt tells, has no arguments."""
    made: list[Any] = []
    for message in messages:
        parts = [
            replace(part, args={}) if part.part_kind == "tool-call" and not shared.is_object(part.args) else part
            for part in message.parts
        ]
        made.append(replace(message, parts=parts))
    return made


def _ids(messages: Any) -> shared.CallIds:
    """Ids for the calls of a response to these messages."""
    calls = [part for message in messages for part in message.parts if part.part_kind == "tool-call"]
    return shared.CallIds(taken=[call.tool_call_id for call in calls])


def _part(item: shared.Passage | shared.IdentifiedCall) -> Any:
    """A part of a response. The arguments of a call with a problem are no JSON, so that it cannot run."""
    if isinstance(item, shared.Passage):
        return (_messages.TextPart if item.kind == "text" else _messages.ThinkingPart)(content=item.text)
    args = item.arguments_text if item.problem is None else item.refusal
    return _messages.ToolCallPart(tool_name=item.name, args=args, tool_call_id=item.id)


def _reason(response: Any) -> str | None:
    """The finish reason in a word that the parser knows."""
    return _REASONS.get(response.finish_reason, response.finish_reason)


def _finish_reason(response: Any, parts: list[Any]) -> Any:
    """The finish reason; a server that did not see the calls says "stop"."""
    has_calls = any(part.part_kind == "tool-call" for part in parts)
    return "tool_call" if has_calls and response.finish_reason == "stop" else response.finish_reason


def _metadata(response: Any, replies: list[Reply]) -> Any:
    """The metadata of a response, with what the framework has no field for."""
    found: dict[str, Any] = {}
    for reply in replies:
        for key, value in shared.metadata(reply).items():
            found[key] = found[key] + value if isinstance(value, list) and key in found else value
        if shared.has_failed_call(reply):
            found["retry"] = shared.retry_message(reply)
    if not found:
        return response.metadata
    known: dict[str, Any] = response.metadata or {}
    return {**known, shared.METADATA: found}
