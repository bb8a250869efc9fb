"""smolagents: `OutspokenModel` wraps a model whose server sends raw text, so that `ToolCallingAgent` gets tool calls.

    from smolagents import OpenAIModel, ToolCallingAgent, tool
    from outspoken.integrations.smolagents import OutspokenModel

    @tool
    def tide(place: str) -> str:
        '''The hour of high tide.

        Args:
            place: the name of a port
        '''
        return f"High tide in {place} at nine."

    server = OpenAIModel("qwen3-coder", api_base="http://localhost:8000/v1", api_key="none", tool_choice="auto")
    agent = ToolCallingAgent([tide], OutspokenModel(server, "qwen3_coder"))
    print(agent.run("When is high tide in Brest?"))

A response with a call that is truncated or invalid has no tool calls, so no tool is run; `parse_tool_calls` raises
ValueError, from which the agent makes an error that the model sees. `on_reply` gets each response with its reasoning,
repairs and problems, for which smolagents has no place. Requests without tools, such as those of `CodeAgent`, are
passed on, and their responses are not read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from outspoken.parsing.parser import Parser
from outspoken.results.arguments import check_type
from outspoken.results.edits import RepairLimit
from outspoken.results.events import TextDelta
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings

from .framework import Framework, format_of
from .messages import FIRST_INDEX, CallIds, finish_reason, has_failed_call, identified_calls, retry_message
from .streams import ReplyStream, StreamItem

_SMOLAGENTS = Framework("smolagents", "smolagents", "1.26")
_models = _SMOLAGENTS.load("smolagents.models")

#: The tool that ends a run.
_ANSWER = "final_answer"
_NO_CALL = f"the response calls no tool; write a call, of `{_ANSWER}` if the task is done"


class OutspokenModel(_models.Model):
    """A model whose text is read in a format.

    `wrapped` is a model of smolagents; with `send_tools=False`, it does not get the tools, since the prompt describes
    them. `format` is the name of a format or the id of a model, or "auto"; without it, the name of the wrapped model
    says the format, or it is "auto" if that is not known. `repair` and `settings` are those of `outspoken.Parser`, and
    `prefix` is that of `Parser.parse`. `on_reply` is called with each response that was read. Calls that the model
    returns itself are kept. With `text_is_answer`, a response without calls is a call of `final_answer` with its text.

    In a stream, smolagents does not pass on why a response ended, so a call whose end is missing is taken as cut. If
    the server removes the marker that ends a call, pass `finish_reason="stop"`. Raises what `Parser` raises.
    """

    def __init__(
        self,
        wrapped: Any,
        format: str | None = None,
        *,
        prefix: str | None = None,
        repair: RepairLimit | None = None,
        settings: Settings | None = None,
        send_tools: bool = True,
        text_is_answer: bool = False,
        finish_reason: str | None = None,
        on_reply: Callable[[Reply], None] | None = None,
    ) -> None:
        self.wrapped: Any = check_type(wrapped, _models.Model, "wrapped")
        _models.Model.__init__(self, model_id=wrapped.model_id)
        self._prefix, self._send_tools, self._finish_reason = prefix, send_tools, finish_reason
        self._text_is_answer, self._on_reply = text_is_answer, on_reply
        self._make_parser = partial(Parser, format_of(format, wrapped), repair=repair, settings=settings)
        self._make_parser()  # wrong options fail here
        self._last: tuple[str, Reply] | None = None  # the last response without calls, by its content

    def generate(
        self,
        messages: Any,
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Ask the wrapped model; with tools, return its message with what its text means."""
        given = self._given(stop_sequences, response_format, tools_to_call_from)
        message = self.wrapped.generate(messages, **given, **kwargs)
        if not tools_to_call_from:
            return message
        reason = finish_reason(message.raw) or self._finish_reason
        prefix = "" if message.tool_calls and not message.content else self._prefix
        reply = self._parser(tools_to_call_from).parse(_text(message), prefix=prefix, finish_reason=reason)
        calls = self._all_calls(reply, message.tool_calls or ())
        content = reply.text if calls else self._remember(reply.text + _written(reply), reply)
        self._report(reply)
        return _models.ChatMessage(
            message.role, content, tool_calls=calls or None, raw=message.raw, token_usage=message.token_usage
        )

    def generate_stream(
        self,
        messages: Any,
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: Any = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Ask the wrapped model; with tools, give what its text means as it arrives, and calls at the end."""
        given = self._given(stop_sequences, response_format, tools_to_call_from)
        deltas = self._deltas(messages, {**given, **kwargs})
        if not tools_to_call_from:
            yield from deltas
            return
        stream, native, sent = ReplyStream(self._parser(tools_to_call_from), prefix=self._prefix), list[Any](), ""
        for delta in deltas:
            native += delta.tool_calls or ()
            text = _shown(stream.feed(delta.content or ""))
            sent += text
            if text or delta.token_usage:
                yield _models.ChatMessageStreamDelta(content=text, token_usage=delta.token_usage)
        text = _shown(stream.close(self._finish_reason))
        reply = stream.reply
        assert reply is not None
        calls = [_delta(n, call) for n, call in enumerate(self._all_calls(reply, native))]
        text += "" if calls else _written(reply)
        if not calls:
            self._remember(sent + text, reply)
        self._report(reply)
        if text or calls:
            yield _models.ChatMessageStreamDelta(content=text, tool_calls=calls or None)

    def parse_tool_calls(self, message: Any) -> Any:
        """Put calls into a message that has none.

        Raises ValueError if a call is truncated or invalid, or if there is none, with what the model should know.
        """
        message.role = _models.MessageRole.ASSISTANT
        if not message.tool_calls:
            content, last = _text(message), self._last
            reply = last[1] if last and last[0] == content else self._parser(()).parse(content)
            if has_failed_call(reply):
                raise ValueError(retry_message(reply))
            message.tool_calls = _calls(reply)
            message.content = reply.text
            if not message.tool_calls:
                raise ValueError(_NO_CALL)
        return _models.Model.parse_tool_calls(self, message)

    def _given(self, stop_sequences: Any, response_format: Any, tools: Any) -> dict[str, Any]:
        """The arguments that there are."""
        given = {"stop_sequences": stop_sequences, "response_format": response_format}
        given |= {"tools_to_call_from": tools} if self._send_tools else {}
        return {key: value for key, value in given.items() if value is not None}

    def _deltas(self, messages: Any, given: dict[str, Any]) -> Iterator[Any]:
        """The stream of the wrapped model, or its message in one piece if it cannot stream."""
        if hasattr(self.wrapped, "generate_stream"):
            yield from self.wrapped.generate_stream(messages, **given)
        else:
            message = self.wrapped.generate(messages, **given)
            calls = [_delta(n - FIRST_INDEX, call) for n, call in enumerate(message.tool_calls or ())]
            yield _models.ChatMessageStreamDelta(_text(message), calls or None, message.token_usage)

    def _parser(self, tools: Any) -> Parser:
        return self._make_parser(tools=[_models.get_tool_json_schema(tool) for tool in tools])

    def _all_calls(self, reply: Reply, native: Sequence[Any]) -> list[Any]:
        """The calls of a response, those of the wrapped model first; none if one of them is refused."""
        if has_failed_call(reply):
            return []
        calls = [*native, *_calls(reply)]
        return calls if calls or not (self._text_is_answer and reply.text) else [_call(_ANSWER, {"answer": reply.text})]

    def _remember(self, content: str, reply: Reply) -> str:
        self._last = (content, reply)
        return content

    def _report(self, reply: Reply) -> None:
        if self._on_reply is not None:
            self._on_reply(reply)


def _text(message: Any) -> str:
    """The text of a message."""
    content: Any = message.content
    if not isinstance(content, list):
        return content or ""
    parts = cast("list[dict[str, str]]", content)
    return "".join([part["text"] for part in parts if part["type"] == "text"])


def _calls(reply: Reply) -> list[Any]:
    """The sound calls of a reply."""
    calls = identified_calls(reply, CallIds())
    return [_call(call.name, call.arguments, call.id) for call in calls if call.problem is None]


def _call(name: str, arguments: dict[str, Any], id: str | None = None) -> Any:
    function = _models.ChatMessageToolCallFunction(arguments=arguments, name=name)
    return _models.ChatMessageToolCall(function=function, id=id or CallIds().next(), type="function")


def _delta(position: int, call: Any) -> Any:
    """A call as smolagents streams it, with its arguments as text; what is no call is a delta already."""
    if not isinstance(call, _models.ChatMessageToolCall):
        return call
    text = json.dumps(call.function.arguments)
    function = _models.ChatMessageToolCallFunction(arguments=text, name=call.function.name)
    return _models.ChatMessageToolCallStreamDelta(FIRST_INDEX + position, call.id, call.type, function)


def _shown(items: list[StreamItem]) -> str:
    """The text that has become certain."""
    return "".join([item.text for item in items if isinstance(item, TextDelta)])


def _written(reply: Reply) -> str:
    """All calls of a reply that is refused, as they were written, for the memory of the agent."""
    calls = [reply.raw[slice(*call.span)] for call in (*reply.tool_calls, *reply.unfinished_tool_calls)]
    return "".join([f"\n{call}" for call in calls]) if has_failed_call(reply) else ""
