"""Pydantic AI: `OutspokenModel` wraps a model whose server sends raw text, so that agents get tool calls."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any

from typing_extensions import Unpack

from outspoken.providers.requested import value_of
from outspoken.results.events import ReasoningDelta, ReasoningEnd, TextDelta, ToolCallDelta, ToolCallStart

from .assembler import Assembler, CallEnd, MessagePart, ReaderOptions
from .messages import METADATA, call_of, content_of, framework, noted, object_of

_PYDANTIC_AI = framework("pydantic_ai", "pydantic-ai-slim", "2.68")
_ai = _PYDANTIC_AI.load("pydantic_ai")
_manager = _PYDANTIC_AI.load("pydantic_ai._parts_manager")
_wrapper = _PYDANTIC_AI.load("pydantic_ai.models.wrapper")

#: Tags that no text has, so that the wrapped model leaves reasoning in the text: of reasoning that is cut, it would
#: remove the opening tag alone, and what is left would be the answer.
_NO_TAGS = (f"<{secrets.token_hex(16)}>", f"</{secrets.token_hex(16)}>")


class OutspokenModel(_wrapper.WrapperModel):
    """A model whose text is read in a format.

    `wrapped` is a model, or the name of one; thinking and calls that it returns itself are kept. `format` and the
    options are those of `Assembler`.
    """

    def __init__(self, wrapped: Any, format: str | None = None, **options: Unpack[ReaderOptions]) -> None:
        _wrapper.WrapperModel.__init__(self, wrapped)
        self._tags = self.wrapped.profile.get("thinking_tags", ("<think>", "</think>"))
        self.wrapped = _without_tags(self.wrapped)
        self._begin = Assembler.maker(format, self.wrapped, **options)

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> Any:
        given = (model_settings, model_request_parameters)
        sent, parts_of = self._reading(messages, *given)
        response = await self.wrapped.request(sent, *given)
        manager = _manager.ModelResponsePartsManager(model_request_parameters=model_request_parameters)
        parts = parts_of(manager)
        for index, part in enumerate(response.parts):
            parts.start(index, part, response)
        parts.end(response)
        return replace(response, parts=manager.get_parts(), **parts.facts(response))

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[Any]:
        given = (model_settings, model_request_parameters)
        sent, parts_of = self._reading(messages, *given)
        async with self.wrapped.request_stream(sent, *given, run_context) as stream:
            yield _Stream(stream, parts_of)

    def _reading(self, messages: Any, settings: Any, parameters: Any) -> tuple[list[Any], Callable[[Any], _Parts]]:
        """The messages of a request as servers accept them, and what makes the parts of the response.

        A call of the one output tool is due if it must be one.
        """
        mode = self.wrapped.profile.get("default_structured_output_mode", "tool")
        parameters = parameters.with_default_output_mode(mode)
        options: dict[str, Any] = settings or {}
        outputs = parameters.output_tools
        due = outputs[0] if len(outputs) == 1 and not parameters.allow_text_output else None
        offered = (*parameters.function_tools, *outputs)
        tools = [{"name": tool.name, "parameters": tool.parameters_json_schema} for tool in offered]
        items = [item for message in messages for item in _items(message)]
        history, stop = [*map(_said, items)], options.get("stop_sequences")
        assembler = self._begin(tools, options.get("tool_choice"), history=history, stop=stop)
        sendable = iter(assembler.to_send(items, self._to_send, _written))
        sent: list[Any] = []
        for message in messages:
            parts = [*filter(None, islice(sendable, len(_items(message))))]
            if message.kind == "response":
                sent += parts
            elif parts or not message.parts:
                sent.append(replace(message, parts=parts))
        return sent, lambda manager: _Parts(manager, assembler, due)

    def _to_send(self, part: Any) -> Any:
        """A response or a part as servers accept it.

        A call with a problem, which its retry prompt tells, has no arguments; thinking has its tags.
        """
        if hasattr(part, "parts"):
            return replace(part, parts=[*map(self._to_send, part.parts)])
        if part.part_kind == "tool-call" and object_of(part.args) is None:
            return replace(part, args={})
        profile = self.wrapped.profile
        is_tagged = profile.get("openai_chat_send_back_thinking_parts", "auto") in ("auto", "tags")
        is_plain = part.part_kind == "thinking" and not part.provider_name and not part.signature
        if not is_plain or not is_tagged or profile.get("mimics_assistant_message_formatting", False):
            return part
        return _ai.TextPart("\n".join([self._tags[0], part.content, self._tags[1]]))


class AskAgain(_ai.capabilities.AbstractCapability[Any]):
    """A capability that asks the model again if a call could not be read, and no other call was.

    Without it, such a response is an answer in text. Each time counts against the agent's output retries.
    """

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Raise ModelRetry for a response whose metadata says that a call could not be read."""
        about: dict[str, Any] = response.metadata.get(METADATA, {}) if response.metadata else {}
        if "retry" in about and not response.tool_calls:
            raise _ai.exceptions.ModelRetry(about["retry"])
        return response


class _Parts:
    """Makes the parts of a response, of those of the wrapped model: each of its texts becomes what it means."""

    def __init__(self, manager: Any, assembler: Assembler, due: Any) -> None:
        self._manager, self._first, self._due = manager, assembler, due
        assembler.joins_reasoning = False
        self._texts: list[Assembler] = []
        self._open: dict[int, Assembler] = {}  # by the index of the part
        self._place = 0  # counts the parts, so that text behind a call is another part

    def start(self, index: int, part: Any, response: Any = None) -> list[Any]:
        """Events for the start of a part, or for all of it in a whole response."""
        if part.part_kind == "text":
            self._open[index] = text = self._first.another()
            self._texts.append(text)
            found = text.feed(part.content) if response is None else text.whole(part.content, response)
            return self._events(index, found)
        if part.part_kind == "thinking":
            self._first.add_own_reasoning()  # the prompt's `<think>` is closed
        self._place += 1
        return [self._manager.handle_part(vendor_part_id=f"native {index}", part=part)]

    def delta(self, index: int, delta: Any) -> list[Any]:
        id = f"native {index}"
        if delta.part_delta_kind == "text":
            return self._events(index, self._open[index].feed(delta.content_delta))
        if delta.part_delta_kind == "thinking":
            changed = {"content": delta.content_delta, "signature": delta.signature_delta}
            changed |= {"provider_name": delta.provider_name, "provider_details": delta.provider_details}
            return [*self._manager.handle_thinking_delta(vendor_part_id=id, **changed)]
        return self._call(id, tool_name=delta.tool_name_delta, args=delta.args_delta, tool_call_id=delta.tool_call_id)

    def close(self, response: Any) -> list[Any]:
        """End the texts that are open."""
        closed, self._open = self._open, {}
        return [event for index, text in closed.items() for event in self._events(index, text.close(response))]

    def end(self, response: Any) -> list[Any]:
        """The call of the output tool that is due, if the response is none and its text is JSON of the tool."""
        texts = [text for text in self._texts if text.text]
        if self._due is None or len(texts) != 1 or self._has_calls or response.finish_reason not in ("stop", None):
            return []
        call = texts[0].answer(self._due.name, self._due.parameters_json_schema)
        return [] if call is None else self._whole_call("answer", call)

    def facts(self, response: Any) -> dict[str, Any]:
        """The metadata of a response, and its finish reason. A server that did not see the calls says "stop"."""
        is_called = self._has_calls and response.finish_reason == "stop"
        about: dict[str, Any] = {**(response.metadata or {}), **noted(*[text.reply for text in self._texts])}
        return {"metadata": about or None, "finish_reason": "tool_call" if is_called else response.finish_reason}

    @property
    def _has_calls(self) -> bool:
        return any(part.part_kind == "tool-call" for part in self._manager.get_parts())

    def _events(self, index: int, parts: list[MessagePart]) -> list[Any]:
        """Events of Pydantic AI for the parts of a text."""
        events: list[Any] = []
        for part in parts:
            match part:
                case TextDelta(text):
                    events += self._manager.handle_text_delta(vendor_part_id=f"text {self._place}", content=text)
                case ReasoningDelta(text):
                    events += self._manager.handle_thinking_delta(
                        vendor_part_id=f"thinking {self._place}", content=text
                    )
                case ReasoningEnd():
                    self._place += 1
                case ToolCallStart(number, id, name):
                    self._place += 1
                    events += self._call(f"call {index} {number}", tool_name=name, args="", tool_call_id=id)
                case ToolCallDelta(number, arguments):
                    events += self._call(f"call {index} {number}", args=arguments)
                case CallEnd(number) if part.refusal:  # replaces what was sent
                    self._place += 1
                    events += self._whole_call(f"call {index} {number}", part)
                case _:
                    pass
        return events

    def _call(self, id: str, **changed: Any) -> list[Any]:
        event = self._manager.handle_tool_call_delta(vendor_part_id=id, **changed)
        return [] if event is None else [event]

    def _whole_call(self, id: str, call: CallEnd) -> list[Any]:
        """All of a call. The arguments of one with a problem are no JSON, so that it cannot run."""
        changed = {"tool_name": call.name, "args": call.arguments, "tool_call_id": call.id}
        return [self._manager.handle_tool_call_part(vendor_part_id=id, **changed)]


class _Stream(_ai.models.StreamedResponse):
    """A stream of the wrapped model, with what its text means."""

    def __init__(self, wrapped: Any, parts_of: Callable[[Any], _Parts]) -> None:
        _ai.models.StreamedResponse.__init__(self, model_request_parameters=wrapped.model_request_parameters)
        self._wrapped, self._parts = wrapped, parts_of(self._parts_manager)

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        parts = self._parts
        async for event in self._wrapped:
            self._copy_state()
            if event.event_kind == "part_start":
                for part_event in parts.start(event.index, event.part):
                    yield part_event
            elif event.event_kind == "part_delta":
                for part_event in parts.delta(event.index, event.delta):
                    yield part_event
        self._copy_state()
        for part_event in (*parts.close(self), *parts.end(self)):
            yield part_event
        for name, value in parts.facts(self._wrapped).items():
            setattr(self, name, value)

    def _copy_state(self) -> None:
        """Take over what the wrapped stream knows of the response."""
        for name in ("provider_response_id", "provider_details", "canonical_system", "finish_reason", "state"):
            setattr(self, name, getattr(self._wrapped, name))

    async def close_stream(self) -> None:
        await self._wrapped.cancel()

    def get_stream_cancel_errors(self) -> Any:
        return self._wrapped.get_stream_cancel_errors()

    usage = property(lambda self: self._wrapped.usage)
    model_name = property(lambda self: self._wrapped.model_name)
    provider_name = property(lambda self: self._wrapped.provider_name)
    provider_url = property(lambda self: self._wrapped.provider_url)
    timestamp = property(lambda self: self._wrapped.timestamp)


def _items(message: Any) -> list[Any]:
    """A response, or the parts of a request: each is a message of chat completions."""
    return [message] if message.kind == "response" else message.parts


def _said(item: Any) -> dict[str, Any]:
    """A response, or a part of a request, as chat completions have it."""
    if hasattr(item, "parts"):
        kinds = ("text", "thinking", "tool-call")
        texts, thoughts, called = [[part for part in item.parts if part.part_kind == kind] for kind in kinds]
        text, thought = ["".join([part.content for part in parts]) for parts in (texts, thoughts)]
        calls = [call_of(part.tool_call_id, part.tool_name, part.args) for part in called]
        content = content_of(text, [part for part in item.parts if part.part_kind not in kinds])
        about = value_of(item.metadata, METADATA)
        return {"role": "assistant", "content": content, "reasoning": thought, "tool_calls": calls, METADATA: about}
    if item.part_kind == "tool-return":
        content = content_of(*item.model_response_str_and_user_content())
    elif item.part_kind in ("retry-prompt", "retry-feedback"):
        content = item.model_response()
    else:
        role, content = "user" if item.part_kind == "user-prompt" else "system", getattr(item, "content", "")
        parts: list[Any] = [*content] if isinstance(content, Sequence) and not isinstance(content, str) else [content]
        text = "\n".join([part for part in parts if isinstance(part, str)])
        return {"role": role, "content": content_of(text, [part for part in parts if not isinstance(part, str)])}
    if getattr(item, "tool_name", None) is None:
        return {"role": "user", "content": content}
    return {"role": "tool", "tool_call_id": item.tool_call_id, "name": item.tool_name, "content": content}


def _written(role: str, text: str, others: list[Any]) -> Any:
    """The response, or the part of a request, that stands in the place of others."""
    if role == "assistant":
        return _ai.ModelResponse([_ai.TextPart(text)])
    return _ai.UserPromptPart([text, *others] if others else text)


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
