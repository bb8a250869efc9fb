"""smolagents: `OutspokenModel` wraps a model whose server sends raw text, so that agents get tool calls."""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from typing_extensions import Unpack

from outspoken.results.arguments import check_type
from outspoken.results.events import TextDelta
from outspoken.results.replies import Reply, ToolCall, has_failed_call, retry_of

from .assembler import Assembler, CallEnd, ReaderOptions, joined
from .messages import FIRST_INDEX, content_of, framework, written_of

_SMOLAGENTS = framework("smolagents", "smolagents", "1.26")
_models = _SMOLAGENTS.load("smolagents.models")

#: How the memory of an agent writes calls and results.
_CALLS, _OBSERVATION = "Calling tools:\n", "Observation:\n"
#: The tool that ends a run.
_ANSWER = "final_answer"
_NO_CALL = f"the response calls no tool; write a call, of `{_ANSWER}` if the task is done"


class OutspokenModel(_models.Model):
    """A model whose text is read in a format.

    `wrapped` is a model of smolagents; with `send_tools=False`, it does not get the tools, since the prompt describes
    them. `format` and its options are those of `Assembler`; a stream does not say why a response ended, and has calls
    at its end. `on_reply` is called with each response that was read. Without tools, responses are passed on unread.
    Calls that the model returns itself are kept. With `text_is_answer`, a response without calls is a call of
    `final_answer` with its text.
    """

    def __init__(
        self, wrapped: Any, format: str | None = None, *, send_tools: bool = True, text_is_answer: bool = False,
        on_reply: Callable[[Reply], None] | None = None, **options: Unpack[ReaderOptions],
    ) -> None:  # fmt: skip
        self.wrapped: Any = check_type(wrapped, _models.Model, "wrapped")
        _models.Model.__init__(self, model_id=wrapped.model_id)
        self._send_tools, self._text_is_answer, self._on_reply = send_tools, text_is_answer, on_reply
        self._begin = Assembler.maker(format, wrapped, **options)
        self._last: Assembler | None = None  # the last response without calls

    def generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        messages, request, assembler = self._request(messages, *args, **kwargs)
        message = self.wrapped.generate(messages, **request)
        if assembler is None:
            return message
        if message.tool_calls and not message.content:
            assembler.add_own_reasoning()
        assembler.whole(_parts(message)[0], message.raw)
        calls = self._end(assembler, message.tool_calls or ())
        content = assembler.text + _written(assembler.reply)
        return _models.ChatMessage(message.role, content, calls or None, message.raw, message.token_usage)

    def generate_stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        messages, request, assembler = self._request(messages, *args, **kwargs)
        deltas = self._deltas(messages, request)
        if assembler is None:
            yield from deltas
            return
        native: list[Any] = []
        for delta in deltas:
            native += delta.tool_calls or ()
            text = joined(assembler.feed(delta.content or ""), TextDelta)
            if text or delta.token_usage:
                yield _models.ChatMessageStreamDelta(content=text, token_usage=delta.token_usage)
        text = joined(assembler.close(), TextDelta) + _written(assembler.reply)
        calls = [_delta(n, call) for n, call in enumerate(self._end(assembler, native))]
        if text or calls:
            yield _models.ChatMessageStreamDelta(content=text, tool_calls=calls or None)

    def parse_tool_calls(self, message: Any) -> Any:
        """Put calls into a message that has none.

        Raises ValueError if a call is truncated or invalid, or if there is none, with what the model should know.
        """
        message.role = _models.MessageRole.ASSISTANT
        if not message.tool_calls:
            content, last = _parts(message)[0], self._last
            if last is None or last.text + _written(last.reply) != content:
                last = self._begin(calls=True)
                last.whole(content)
            if has_failed_call(last.reply):
                raise ValueError(retry_of(last.reply))
            message.tool_calls = [*map(_call, last.calls)]
            message.content = last.reply.text
            if not message.tool_calls:
                raise ValueError(_NO_CALL)
        return _models.Model.parse_tool_calls(self, message)

    def _request(
        self, messages: list[Any], stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None, tools_to_call_from: Any = None, **kwargs: Any,
    ) -> tuple[list[Any], dict[str, Any], Assembler | None]:  # fmt: skip
        """The messages and arguments for the wrapped model, and what reads its response; None without tools."""
        possible = {"stop_sequences": stop_sequences, "response_format": response_format}
        possible |= {"tools_to_call_from": tools_to_call_from} if self._send_tools else {}
        request = {key: value for key, value in possible.items() if value is not None} | kwargs
        tools = [_models.get_tool_json_schema(tool) for tool in tools_to_call_from or ()]
        if not tools:
            return messages, request, None
        turns = _turns(messages)
        assembler = self._begin(tools, stop=stop_sequences, history=[said for _, said in turns])
        sent = assembler.to_send(
            [turn for turn, _ in turns],
            write=lambda role, text, others: [
                _models.ChatMessage(_models.MessageRole(role), [{"type": "text", "text": text}, *others])
            ],
        )
        return [message for turn in filter(None, sent) for message in turn], request, assembler

    def _deltas(self, messages: Any, given: dict[str, Any]) -> Iterator[Any]:
        """The stream of the wrapped model, or its message in one piece if it cannot stream."""
        if hasattr(self.wrapped, "generate_stream"):
            yield from self.wrapped.generate_stream(messages, **given)
        else:
            message = self.wrapped.generate(messages, **given)
            calls = [_delta(n - FIRST_INDEX, call) for n, call in enumerate(message.tool_calls or ())]
            yield _models.ChatMessageStreamDelta(_parts(message)[0], calls or None, message.token_usage)

    def _end(self, assembler: Assembler, native: Sequence[Any]) -> list[Any]:
        """The calls of a response, those of the wrapped model first; none if one of them is refused."""
        reply, text, calls = assembler.reply, assembler.text, list[Any]()
        if not has_failed_call(reply):
            own_calls = assembler.calls
            if not native and not own_calls and self._text_is_answer and text:
                own_calls = [CallEnd(0, assembler.ids.next(), ToolCall(name=_ANSWER, arguments={"answer": text}))]
            calls = [*native, *map(_call, own_calls)]
        if not calls:
            self._last = assembler
        if self._on_reply is not None:
            self._on_reply(reply)
        return calls


def _turns(messages: list[Any]) -> list[tuple[list[Any], dict[str, Any]]]:
    """The messages, calls with what the assistant said before, and what they are in chat completions."""
    turns: list[tuple[list[Any], dict[str, Any]]] = []
    called: list[Any] = []
    for sent in messages:
        message = _models.ChatMessage.from_dict({**sent}) if isinstance(sent, dict) else sent
        role, (text, others) = _models.MessageRole(message.role).value, _parts(message)
        if role == "tool-call":
            called = literal_eval(text.removeprefix(_CALLS))
            if not turns or turns[-1][1]["role"] != "assistant":
                turns.append(([], {"role": "assistant", "content": ""}))
            turns[-1][0].append(sent)
            turns[-1][1]["tool_calls"] = called
        elif role == "tool-response":
            id, text = called[0]["id"] if len(called) == 1 else None, text.removeprefix(_OBSERVATION)
            turns.append(([sent], {"role": "tool", "tool_call_id": id, "content": content_of(text, others)}))
        else:
            turns.append(([sent], {"role": role, "content": content_of(text, others)}))
    return turns


def _parts(message: Any) -> tuple[str, list[Any]]:
    """The text of a message, and its other parts."""
    content: Any = message.content
    parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    text = "".join([part["text"] for part in parts if part["type"] == "text"])
    return text, [part for part in parts if part["type"] != "text"]


def _call(call: CallEnd) -> Any:
    function = _models.ChatMessageToolCallFunction(arguments=call.call.arguments, name=call.name)
    return _models.ChatMessageToolCall(function=function, id=call.id, type="function")


def _delta(position: int, call: Any) -> Any:
    """A call as smolagents streams it, with its arguments as text; what is no call is a delta already."""
    if not isinstance(call, _models.ChatMessageToolCall):
        return call
    text = json.dumps(call.function.arguments)
    function = _models.ChatMessageToolCallFunction(arguments=text, name=call.function.name)
    return _models.ChatMessageToolCallStreamDelta(FIRST_INDEX + position, call.id, call.type, function)


def _written(reply: Reply) -> str:
    """All calls of a reply that is refused, as they were written, for the memory of the agent."""
    calls = [written_of(call, reply) for call in (*reply.tool_calls, *reply.unfinished_tool_calls)]
    return "".join([f"\n{call}" for call in calls]) if has_failed_call(reply) else ""
