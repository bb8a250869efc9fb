"""OpenAI Agents SDK: `OutspokenModel` wraps a model whose server sends raw text, so that agents get tool calls."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import Unpack

from outspoken.providers.events import StreamEvent
from outspoken.providers.replies import ProviderReply
from outspoken.providers.wire.replay import replay
from outspoken.providers.wire.responses.exporter import ResponsesExporter
from outspoken.results.events import Done, ToolCallEnd

from .assembler import Assembler, ReaderOptions
from .messages import call_of, chat_message, framework, object_of, parts_of, refused_calls

_AGENTS = framework("openai_agents", "openai-agents", "0.24")
_interface = _AGENTS.load("agents.models.interface")
_responses = _AGENTS.load("openai.types.responses")

_ITEM = TypeAdapter[Any](_responses.ResponseOutputItem)
_EVENTS = TypeAdapter[Any](_responses.ResponseStreamEvent)

#: The last events of a stream with a response, and those of one that failed.
_ENDS, _FAILURES = ("response.completed", "response.incomplete"), ("response.failed", "error", "response.error")
#: The items that are read; all others are kept as they are.
_READ = ("message", "reasoning", "function_call")
#: The arguments of a request that have no names.
_ARGUMENTS = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")


class OutspokenModel(_interface.Model):
    """A model whose text is read in a format.

    `wrapped` is a model of the SDK. `format` and the options are those of `Assembler`; the SDK does not pass on why
    a chat completion ended. `on_reply` is called with each response that was read.
    """

    def __init__(
        self, wrapped: Any, format: str | None = None, *, on_reply: Callable[[ProviderReply], None] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:  # fmt: skip
        self.wrapped, self._on_reply = wrapped, on_reply
        self._begin = Assembler.maker(format, wrapped, **options)

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        request, reading = self._request(args, kwargs)
        response = await self.wrapped.get_response(**request)
        reading.close(response.output, is_whole=True)
        return replace(response, output=reading.items)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        request, reading = self._request(args, kwargs)
        async for event in self.wrapped.stream_response(**request):
            if event.type in _FAILURES:
                yield event
                continue
            is_last = event.type in _ENDS
            for part in reading.close(event.response.output) if is_last else reading.feed(event):
                yield _EVENTS.validate_python(part)
            if is_last:
                response = event.response.model_copy(update={"output": reading.items})
                yield event.model_copy(update={"response": response, "sequence_number": reading.sequence_number})

    def _request(self, args: Any, kwargs: Any) -> tuple[dict[str, Any], _ResponseItems]:
        """The arguments of a request, in which outputs of calls tell their problems, and what reads the response."""
        request: dict[str, Any] = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
        functions = [tool for tool in request["tools"] if hasattr(tool, "params_json_schema")]
        tools = [{"name": tool.name, "parameters": tool.params_json_schema} for tool in functions]
        tools += [
            {"name": handoff.tool_name, "parameters": handoff.input_json_schema} for handoff in request["handoffs"]
        ]
        choice = getattr(request.get("model_settings"), "tool_choice", None)
        items: list[Any] = request["input"]
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items
        refused = {item["call_id"]: item["arguments"] for item in items if object_of(item.get("arguments")) is None}
        groups = _groups(items, refused)
        assembler = self._begin(tools, choice, history=[said for _, said in groups])
        sent = assembler.to_send(
            [turn for turn, _ in groups],
            write=lambda role, text, others: [chat_message(role, text, others, "input_text")],
        )
        request["input"] = [
            {**item, **({"arguments": "{}"} if "arguments" in item else {"output": refused[item["call_id"]]})}
            if item.get("call_id") in refused
            else item
            for turn in filter(None, sent)
            for item in turn
        ]
        return request, _ResponseItems(assembler, self._on_reply)

    async def close(self) -> None:
        await self.wrapped.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self.wrapped.get_retry_advice(request)


class _ResponseItems:
    """Reads one response, and makes the items and events of what its text means."""

    def __init__(self, assembler: Assembler, on_reply: Callable[[ProviderReply], None] | None) -> None:
        choice = "none" if assembler.choice == "none" else "auto"
        self._source = assembler.source("openai_responses", tool_choice=choice)
        self._reason, self._on_reply = assembler.finish_reason, on_reply
        self._exporter = ResponsesExporter(id=f"resp_{secrets.token_hex(12)}", call_ids=assembler.ids)
        #: after the end: the items of the response, and the number of the last event
        self.items, self.sequence_number = list[Any](), 0

    def feed(self, event: Any) -> list[dict[str, Any]]:
        return self._export(self._source.feed(event.model_dump(mode="json", exclude_unset=True)))

    def close(self, output: Any, *, is_whole: bool = False) -> list[dict[str, Any]]:
        """End the response: read what has not arrived of its `items`, and return events, but not the last one."""
        items = [item.model_dump(mode="json", exclude_unset=True) for item in output]
        response = {"output": items, "status": self._reason or "in_progress"}
        if is_whole:
            *parts, end = self._export(replay(self._source.read(response)))
        else:
            events = self._source.feed({"type": "response.completed", "response": response})
            *parts, end = self._export([*events, *self._source.close()])
        self.items = [*map(_ITEM.validate_python, end["response"]["output"])]
        self.items += [item for item in output if item.type not in _READ]
        self.sequence_number = end["sequence_number"]
        if self._on_reply is not None and self._source.reply is not None:
            self._on_reply(self._source.reply)
        return parts

    def _export(self, events: Iterable[StreamEvent]) -> list[dict[str, Any]]:
        """The events for some of those that were read. A call with a problem ends last, with its refusal."""
        parts: list[dict[str, Any]] = []
        for event in events:
            for index, call, refusal in refused_calls(event.reply) if isinstance(event, Done) else ():
                told = call.model_copy(update={"arguments_text": refusal})
                parts += self._exporter.feed(ToolCallEnd(index, told))
            parts += self._exporter.feed(event)
        return parts


def _groups(items: Iterable[Any], refused: dict[str, str]) -> list[tuple[list[Any], dict[str, Any]]]:
    """The items of a history, those of a turn of the model together, and what they are in chat completions."""
    groups: list[tuple[list[Any], dict[str, Any]]] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call_output":
            id, output = item["call_id"], item["output"]
            told = parts_of(refused[id])[0] if id in refused else output
            groups.append(([item], {"role": "tool", "tool_call_id": id, "content": told}))
        elif kind in ("reasoning", "function_call") or item.get("role") == "assistant":
            if not groups or groups[-1][1]["role"] != "assistant":
                groups.append(([], {"role": "assistant", "content": "", "reasoning": "", "tool_calls": []}))
            turn, said = groups[-1]
            turn.append(item)
            if kind == "function_call":
                said["tool_calls"].append(call_of(item["call_id"], item["name"], item["arguments"]))
            elif kind == "reasoning":
                said["reasoning"] += _text(item.get("content") or item.get("summary") or ())
            else:
                said["content"] += _text(item["content"])
        else:
            groups.append(([item], {"role": "user", **item}))
    return groups


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join([part.get("text", "") for part in content])
