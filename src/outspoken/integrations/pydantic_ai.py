"""Pydantic AI: `OutspokenModel` wraps a model whose server sends raw text, so that agents get tool calls.

A call that is truncated or invalid keeps its name and id, but its arguments are a sentence that says what is wrong with
them. That is no JSON, so Pydantic AI does not run the tool, and sends the sentence back to the model in a retry prompt.
Where only output tools are allowed, JSON in the text that fits the one output tool is a call of it. The README of this
package has an example.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outspoken.results.events import ReasoningDelta, ReasoningEnd, TextDelta, ToolCallDelta, ToolCallStart

from .assembler import Assembler, CallEnd, FormatReader, MessagePart, ReaderOptions
from .framework import Framework
from .messages import METADATA, is_object, merged_metadata

if TYPE_CHECKING:
    from typing_extensions import Unpack

_PYDANTIC_AI = Framework("pydantic_ai", "pydantic-ai-slim", "2.68")
_messages = _PYDANTIC_AI.load("pydantic_ai.messages")
_models = _PYDANTIC_AI.load("pydantic_ai.models")
_manager = _PYDANTIC_AI.load("pydantic_ai._parts_manager")
_wrapper = _PYDANTIC_AI.load("pydantic_ai.models.wrapper")
_capabilities = _PYDANTIC_AI.load("pydantic_ai.capabilities")
_exceptions = _PYDANTIC_AI.load("pydantic_ai.exceptions")

#: Tags that no text has, so that the wrapped model leaves reasoning in the text: of reasoning that is cut, it would
#: remove the opening tag alone, and what is left would be the answer.
_NO_TAGS = (f"<{secrets.token_hex(16)}>", f"</{secrets.token_hex(16)}>")


class OutspokenModel(_wrapper.WrapperModel):
    """A model whose text is read in a format.

    `wrapped` is a model, or the name of one; thinking and calls that it returns itself are kept. `format` and the
    options are those of `FormatReader`.
    """

    def __init__(self, wrapped: Any, format: str | None = None, **options: Unpack[ReaderOptions]) -> None:
        _wrapper.WrapperModel.__init__(self, wrapped)
        self._tags = self.wrapped.profile.get("thinking_tags", ("<think>", "</think>"))
        self.wrapped = _without_tags(self.wrapped)
        self._reader = FormatReader(format, self.wrapped, **options)

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> Any:
        """Ask the wrapped model, and return its response with what its text means."""
        sent = self._to_send(messages)
        response = await self.wrapped.request(sent, model_settings, model_request_parameters)
        manager = _manager.ModelResponsePartsManager(model_request_parameters=model_request_parameters)
        due = self._due(model_request_parameters)
        parts = _Parts(manager, self._begin(messages, model_settings, model_request_parameters), due)
        for index, part in enumerate(response.parts):
            parts.start(index, part)
            parts.close(response)
        parts.end(response)
        return replace(
            response, parts=manager.get_parts(), metadata=parts.metadata(response),
            finish_reason=parts.finish_reason(response),
        )  # fmt: skip

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[Any]:
        """Ask the wrapped model, and give a stream of what its text means, as it arrives."""
        request = (self._to_send(messages), model_settings, model_request_parameters, run_context)
        async with self.wrapped.request_stream(*request) as stream:
            assembler = self._begin(messages, model_settings, model_request_parameters)
            yield _Stream(stream, assembler, self._due(model_request_parameters))

    def _due(self, parameters: Any) -> Any:
        """The one output tool of a request whose response must be a call; None if there is none, or text may be it."""
        mode = self.wrapped.profile.get("default_structured_output_mode", "tool")
        parameters = parameters.with_default_output_mode(mode)
        return None if parameters.allow_text_output or len(parameters.output_tools) != 1 else parameters.output_tools[0]

    def _begin(self, messages: Any, settings: Any, parameters: Any) -> Assembler:
        tools = [
            {"name": tool.name, "parameters": tool.parameters_json_schema}
            for tool in (*parameters.function_tools, *parameters.output_tools)
        ]
        taken = [part.tool_call_id for m in messages for part in m.parts if part.part_kind == "tool-call"]
        given: dict[str, Any] = settings or {}
        return self._reader.begin(tools, given.get("tool_choice"), taken=taken, stop=given.get("stop_sequences"))

    def _to_send(self, messages: Any) -> list[Any]:
        """The messages as servers accept them."""
        return [replace(message, parts=[*map(self._sendable, message.parts)]) for message in messages]

    def _sendable(self, part: Any) -> Any:
        """A call with a problem, which its retry prompt tells, has no arguments; thinking has its tags."""
        if part.part_kind == "tool-call" and not is_object(part.args):
            return replace(part, args={})
        profile = self.wrapped.profile
        is_tagged = profile.get("openai_chat_send_back_thinking_parts", "auto") in ("auto", "tags")
        if part.part_kind != "thinking" or part.provider_name or part.signature or not is_tagged:
            return part
        if profile.get("mimics_assistant_message_formatting", False):
            return part
        return _messages.TextPart("\n".join([self._tags[0], part.content, self._tags[1]]))


class AskAgain(_capabilities.AbstractCapability[Any]):
    """A capability that asks the model again if a call could not be read, and no other call was.

    Without it, such a response is an answer in text. Each time counts against the agent's output retries.
    """

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Raise ModelRetry for a response whose metadata says that a call could not be read."""
        about: dict[str, Any] = response.metadata.get(METADATA, {}) if response.metadata else {}
        if "retry" in about and not response.tool_calls:
            raise _exceptions.ModelRetry(about["retry"])
        return response


class _Parts:
    """Makes the parts of a response, of those of the wrapped model: each of its texts becomes what it means."""

    def __init__(self, manager: Any, assembler: Assembler, due: Any) -> None:
        self._manager, self._first, self._due = manager, assembler, due
        self._texts: list[Assembler] = []
        self._open: dict[int, Assembler] = {}  # by the index of the part
        self._place = 0  # counts the parts, so that text behind a call is another part

    def start(self, index: int, part: Any) -> list[Any]:
        """Events for the start of a part."""
        if part.part_kind == "text":
            self._open[index] = self._first.another()
            self._texts.append(self._open[index])
            return self._feed(index, part.content)
        if part.part_kind == "thinking":
            self._first.add_own_reasoning()  # the prompt's `<think>` is closed
        self._place += 1
        return [self._manager.handle_part(vendor_part_id=f"native {index}", part=part)]

    def delta(self, index: int, delta: Any) -> list[Any]:
        """Events for more of a part."""
        id = f"native {index}"
        if delta.part_delta_kind == "text":
            return self._feed(index, delta.content_delta)
        if delta.part_delta_kind == "thinking":
            changed = {"content": delta.content_delta, "signature": delta.signature_delta}
            changed |= {"provider_name": delta.provider_name, "provider_details": delta.provider_details}
            return [*self._manager.handle_thinking_delta(vendor_part_id=id, **changed)]
        changed = {"tool_name": delta.tool_name_delta, "args": delta.args_delta, "tool_call_id": delta.tool_call_id}
        return self._call(id, **changed)

    def close(self, response: Any) -> list[Any]:
        """End the texts that are open."""
        closed, self._open = self._open, {}
        return [
            event
            for index, text in closed.items()
            for item in text.close(response)
            for event in self._events(index, item)
        ]

    def end(self, response: Any) -> list[Any]:
        """The call of the output tool that is due, if the response is none and its text is JSON of the tool."""
        texts = [text for text in self._texts if text.text]
        has_calls = any(part.part_kind == "tool-call" for part in self._manager.get_parts())
        if self._due is None or len(texts) != 1 or has_calls or response.finish_reason not in ("stop", None):
            return []
        call = texts[0].answer(self._due.name, self._due.parameters_json_schema)
        return [] if call is None else self._whole_call("answer", call)

    def metadata(self, response: Any) -> Any:
        """The metadata of a response, with what the framework has no field for."""
        about = merged_metadata([text.reply for text in self._texts])
        known: dict[str, Any] = response.metadata or {}
        return {**known, METADATA: about} if about else response.metadata

    def finish_reason(self, response: Any) -> Any:
        """The finish reason; a server that did not see the calls says "stop"."""
        has_calls = any(part.part_kind == "tool-call" for part in self._manager.get_parts())
        return "tool_call" if has_calls and response.finish_reason == "stop" else response.finish_reason

    def _feed(self, index: int, text: str) -> list[Any]:
        return [event for item in self._open[index].feed(text) for event in self._events(index, item)]

    def _events(self, index: int, item: MessagePart) -> list[Any]:
        """Events of Pydantic AI for a part of a text."""
        match item:
            case TextDelta():
                id = f"text {self._place}"
                return [*self._manager.handle_text_delta(vendor_part_id=id, content=item.text)]
            case ReasoningDelta():
                id = f"thinking {self._place}"
                return [*self._manager.handle_thinking_delta(vendor_part_id=id, content=item.text)]
            case ReasoningEnd():
                self._place += 1
                return []
            case ToolCallStart(number, id, name):
                self._place += 1
                return self._call(f"call {index} {number}", tool_name=name, args="", tool_call_id=id)
            case ToolCallDelta(number, arguments):
                return self._call(f"call {index} {number}", args=arguments)
            case CallEnd(number, call) if call.problem is not None:  # replaces what was sent
                self._place += 1
                return self._whole_call(f"call {index} {number}", call)
            case _:
                return []

    def _call(self, id: str, **changed: Any) -> list[Any]:
        event = self._manager.handle_tool_call_delta(vendor_part_id=id, **changed)
        return [] if event is None else [event]

    def _whole_call(self, id: str, call: Any) -> list[Any]:
        """All of a call. The arguments of one with a problem are no JSON, so that it cannot run."""
        args = call.arguments_text if call.problem is None else call.refusal
        changed = {"tool_name": call.name, "args": args, "tool_call_id": call.id}
        return [self._manager.handle_tool_call_part(vendor_part_id=id, **changed)]


class _Stream(_models.StreamedResponse):
    """A stream of the wrapped model, with what its text means."""

    def __init__(self, wrapped: Any, assembler: Assembler, due: Any) -> None:
        _models.StreamedResponse.__init__(self, model_request_parameters=wrapped.model_request_parameters)
        self._wrapped, self._parts = wrapped, _Parts(self._parts_manager, assembler, due)

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        parts = self._parts
        async for event in self._wrapped:
            self._copy_state()
            if event.event_kind == "part_start":
                made = parts.start(event.index, event.part)
            elif event.event_kind == "part_delta":
                made = parts.delta(event.index, event.delta)
            else:
                continue
            for one in made:
                yield one
        self._copy_state()
        for one in (*parts.close(self), *parts.end(self)):
            yield one
        self.metadata, self.finish_reason = parts.metadata(self._wrapped), parts.finish_reason(self._wrapped)

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


def _without_tags(model: Any) -> Any:
    """A copy of a model, and of those that it wraps, that does not look for reasoning in text."""
    model = copy(model)
    if hasattr(model, "wrapped"):
        model.wrapped = _without_tags(model.wrapped)
    elif hasattr(model, "models"):
        model.models = [*map(_without_tags, model.models)]
    else:
        model.__dict__["profile"] = {**model.profile, "thinking_tags": _NO_TAGS}
    return model
