"""LangChain: `OutspokenOutputParser` reads text into messages, `ChatOutspoken` is a chat model around a chat model.

    from langchain_core.messages import HumanMessage
    from langchain_openai import ChatOpenAI
    from outspoken.integrations.langchain import ChatOutspoken, tool_errors

    def tide(place: str) -> str:
        "The hour of high tide."
        return f"High tide in {place} at nine."

    server = ChatOpenAI(model="qwen3-coder", base_url="http://localhost:8000/v1", api_key="none")
    model = ChatOutspoken(model=server, format="qwen3_coder").bind_tools([tide])
    message = model.invoke([HumanMessage("When is high tide in Brest?")])
    print([(call["name"], call["args"]) for call in message.tool_calls], tool_errors(message))

A chain of a model that returns text, such as one for completions, ends with the parser:
`prompt | llm | OutspokenOutputParser(format="hermes", tools=[tide])`.

Calls are in `tool_calls`, those that are truncated or invalid in `invalid_tool_calls`, with the reason. Reasoning is in
`additional_kwargs["reasoning_content"]`, from which `content_blocks` takes it. Repairs and problems are in
`response_metadata["outspoken"]`. In agents of `langchain`, the middleware `AskAgain` asks the model again if
a call could not be read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from typing import Any

from pydantic import model_validator
from typing_extensions import is_typeddict

from outspoken.parsing.parser import Parser
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.packages import Package
from outspoken.results.replies import Reply

from .framework import Framework, allows_calls, format_of
from .messages import (
    FIRST_INDEX,
    METADATA,
    REASONS,
    CallIds,
    finish_reason,
    identified_calls,
    noted,
    reason_of,
    typed_answer,
)
from .streams import CallEnd, ReplyStream, StreamItem, aread_chunks, read_chunks

_LANGCHAIN = Framework("langchain", "langchain-core", "1.0")
_chat_models = _LANGCHAIN.load("langchain_core.language_models.chat_models")
_messages = _LANGCHAIN.load("langchain_core.messages")
_outputs = _LANGCHAIN.load("langchain_core.outputs")
_parsers = _LANGCHAIN.load("langchain_core.output_parsers.transform")
_managers = _LANGCHAIN.load("langchain_core.callbacks.manager")
_functions = _LANGCHAIN.load("langchain_core.utils.function_calling")
_runnables = _LANGCHAIN.load("langchain_core.runnables")
_exceptions = _LANGCHAIN.load("langchain_core.exceptions")

#: Where chat models keep the reasoning.
_REASONING = "reasoning_content"
#: The tag by which LangGraph leaves a model out of its stream of messages.
_NOT_STREAMED = "nostream"


class OutspokenOutputParser(_parsers.BaseTransformOutputParser[_messages.AIMessage]):
    """Reads the text of a model, or of its messages, whole and streamed.

    `format` is the name of a format or the id of a model, or "auto"; `tools` are the tools that the model was given, as
    `bind_tools` takes them. `prefix` is that of `outspoken.Parser.parse`, and `parser_options` are other arguments of
    `outspoken.Parser`.
    """

    format: str = "auto"
    tools: Sequence[Any] = ()
    prefix: str | None = None
    parser_options: dict[str, Any] = {}  # noqa: RUF012  # a field of pydantic, which copies its default

    def model_post_init(self, context: Any, /) -> None:
        """Check the options, with `outspoken.Parser`. What it raises is in pydantic's ValidationError."""
        _parsers.BaseTransformOutputParser.model_post_init(self, context)
        self._parser()

    def parse(self, text: str) -> Any:
        """Read a text into an AIMessage."""
        return _read(_messages.AIMessage(content=text), self._parser(), self.prefix, CallIds())

    def parse_result(self, result: Any, *, partial: bool = False) -> Any:
        """Read the first of some generations into an AIMessage."""
        message = getattr(result[0], "message", None) or _messages.AIMessage(content=result[0].text)
        return _read(message, self._parser(), self.prefix, CallIds())

    def _transform(self, input: Iterator[Any]) -> Iterator[Any]:
        return read_chunks(input, _Reading(self._parser(), self.prefix, CallIds()))

    def _atransform(self, input: AsyncIterator[Any]) -> AsyncIterator[Any]:
        return aread_chunks(input, _Reading(self._parser(), self.prefix, CallIds()))

    def _parser(self) -> Parser:
        return Parser(self.format, tools=_openai_tools(self.tools), **self.parser_options)


class ChatOutspoken(_chat_models.BaseChatModel):
    """A chat model whose text is read in a format.

    `model` is the chat model that asks the server. The tools of `bind_tools` go to it, and define the types of
    arguments; with `send_tools=False`, they do not go to it, since the prompt describes them. The other fields are
    those of `OutspokenOutputParser`; without a `format`, the name of the model says it, or it is "auto" if that is not
    known. Calls and reasoning that the model returns itself are kept.
    """

    model: Any
    format: str | None = None
    prefix: str | None = None
    send_tools: bool = True
    parser_options: dict[str, Any] = {}  # noqa: RUF012  # a field of pydantic, which copies its default

    def model_post_init(self, context: Any, /) -> None:
        """Check the options, with `outspoken.Parser`. What it raises is in pydantic's ValidationError."""
        _chat_models.BaseChatModel.model_post_init(self, context)
        self._parser({})

    @property
    def _llm_type(self) -> str:
        return "outspoken"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Give the model tools: functions, pydantic models, LangChain's tools, or dicts as OpenAI's API takes them."""
        choice = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=_openai_tools(tools), **choice, **kwargs)

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, method: str = "function_calling", **kwargs: Any
    ) -> Any:
        """A model whose answers are values of a type, whether it writes them as a call or as JSON.

        `schema` is a pydantic model, a TypedDict or a JSON schema. By the `method`, the server is asked for a call
        ("function_calling"), or for JSON ("json_mode", or by the schema: "json_schema"). Raises
        OutputParserException, with a message for the model, for an answer that is none.
        """
        function = _functions.convert_to_openai_tool(schema)["function"]
        if method == "function_calling":
            asked = self.bind_tools([schema], tool_choice=kwargs.pop("tool_choice", "any"), **kwargs)
        else:
            kind: dict[str, Any] = {"type": "json_object"}
            if method == "json_schema":
                kind = {"type": method, method: {"name": function["name"], "schema": function["parameters"]}}
            asked = self.bind(response_format=kind, **kwargs)

        def parse(message: Any) -> Any:
            calls = [(call["name"], json.dumps(call["args"])) for call in message.tool_calls]
            calls += [(call["name"], call["args"] or "") for call in message.invalid_tool_calls]
            is_type = isinstance(schema, type) and not is_typeddict(schema)
            found = typed_answer(message.text, calls, schema if is_type else function["parameters"], function["name"])
            if not found.is_valid:
                raise _exceptions.OutputParserException(found.retry, llm_output=found.raw)
            return found.value

        if not include_raw:
            return asked | _runnables.RunnableLambda(parse)

        def parse_with_raw(message: Any) -> dict[str, Any]:
            try:
                return {"raw": message, "parsed": parse(message), "parsing_error": None}
            except _exceptions.OutputParserException as error:
                return {"raw": message, "parsed": None, "parsing_error": error}

        return asked | _runnables.RunnableLambda(parse_with_raw)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        model, options = self._model(stop, kwargs)
        message = model.invoke(_to_send(messages), _config(run_manager, _managers.CallbackManager), **options)
        return self._result(message, messages, kwargs, stop)

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        model, options = self._model(stop, kwargs)
        message = await model.ainvoke(
            _to_send(messages), _config(run_manager, _managers.AsyncCallbackManager), **options
        )
        return self._result(message, messages, kwargs, stop)

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[Any]:
        (model, options), reading = self._model(stop, kwargs), self._reading(messages, kwargs, stop)
        chunks = model.stream(_to_send(messages), _config(run_manager, _managers.CallbackManager), **options)
        for made in read_chunks(chunks, reading):
            yield _outputs.ChatGenerationChunk(message=made)

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        (model, options), reading = self._model(stop, kwargs), self._reading(messages, kwargs, stop)
        chunks = model.astream(_to_send(messages), _config(run_manager, _managers.AsyncCallbackManager), **options)
        async for made in aread_chunks(chunks, reading):
            yield _outputs.ChatGenerationChunk(message=made)

    def _model(self, stop: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The model with its tools, and the other options of the request."""
        options = {key: value for key, value in kwargs.items() if key not in ("tools", "tool_choice")}
        options |= {} if stop is None else {"stop": stop}
        if not kwargs.get("tools") or not self.send_tools:
            return self.model, options
        choice = {"tool_choice": kwargs["tool_choice"]} if "tool_choice" in kwargs else {}
        return self.model.bind_tools(kwargs["tools"], **choice), options

    def _parser(self, kwargs: dict[str, Any]) -> Parser:
        tools = _openai_tools(kwargs.get("tools") or ())
        options: dict[str, Any] = {"calls": allows_calls(tools, kwargs.get("tool_choice")), **self.parser_options}
        return Parser(format_of(self.format, self.model), tools=tools, **options)

    def _reading(self, messages: Any, kwargs: dict[str, Any], stop: Any) -> _Reading:
        return _Reading(self._parser(kwargs), self.prefix, _ids(messages), stop)

    def _result(self, message: Any, messages: Any, kwargs: dict[str, Any], stop: Any) -> Any:
        read = _read(message, self._parser(kwargs), self.prefix, _ids(messages), stop)
        return _outputs.ChatResult(generations=[_outputs.ChatGeneration(message=read)])


def __getattr__(name: str) -> Any:
    """`AskAgain`, which needs the package `langchain` beside `langchain-core`."""
    if name != "AskAgain":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return _ask_again()


@cache
def _ask_again() -> type[Any]:
    middleware = Package("", "langchain", "1.0", "`AskAgain`").load("langchain.agents.middleware")

    class AskAgain(middleware.AgentMiddleware):
        """A middleware of agents that asks the model again if a call could not be read, and no other call was.

        Without it, such a response ends the run of the agent. The model is asked `retries` times for one response.
        """

        def __init__(self, retries: int = 2) -> None:
            middleware.AgentMiddleware.__init__(self)
            self._retries = retries

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            """Ask the model, and again with what is wrong with its response."""
            response = handler(request)
            for _ in range(self._retries):
                if not (again := _again(response.result)):
                    break
                request = request.override(messages=[*request.messages, *again])
                response = handler(request)
            return response

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            """Ask the model, and again with what is wrong with its response."""
            response = await handler(request)
            for _ in range(self._retries):
                if not (again := _again(response.result)):
                    break
                request = request.override(messages=[*request.messages, *again])
                response = await handler(request)
            return response

    AskAgain.__module__, AskAgain.__qualname__ = __name__, "AskAgain"
    return AskAgain


def _again(result: Sequence[Any]) -> list[Any]:
    """The messages with which the model is asked again; none if its response can be used."""
    message = result[-1]
    told = message.response_metadata.get(METADATA, {}).get("retry")
    if not isinstance(message, _messages.AIMessage) or message.tool_calls or told is None:
        return []
    return [message, *(tool_errors(message) or [_messages.HumanMessage(told)])]


def _to_send(messages: Sequence[Any]) -> list[Any]:
    """The messages as servers accept them: an invalid call has the arguments {}, and an answer with the reason."""
    answered = {message.tool_call_id for message in messages if isinstance(message, _messages.ToolMessage)}
    made: list[Any] = []
    for message in messages:
        refused: list[Any] = message.invalid_tool_calls if isinstance(message, _messages.AIMessage) else []
        if not refused:
            made.append(message)
            continue
        calls = [_messages.ToolCall(name=call["name"], args={}, id=call["id"], type="tool_call") for call in refused]
        update = {"tool_calls": [*message.tool_calls, *calls], "invalid_tool_calls": []}
        made.append(message.model_copy(update=update))
        made += [error for error in tool_errors(message) if error.tool_call_id not in answered]
    return made


def tool_errors(message: Any) -> list[Any]:
    """An answer to each invalid call of a message: a ToolMessage with the reason, to ask the model again."""
    return [
        _messages.ToolMessage(
            content=call.get("error") or call.get("args") or "the call is invalid and was not run",
            tool_call_id=call["id"],
            name=call["name"],
            status="error",
        )
        for call in message.invalid_tool_calls
    ]


class OutspokenChunk(_messages.AIMessageChunk):
    """A chunk of a message whose invalid calls say why they are invalid, which LangChain leaves out of streams."""

    @model_validator(mode="after")
    def _add_reasons(self) -> Any:
        """Take the reasons from the arguments of the invalid calls, where they stand."""
        for call in self.invalid_tool_calls:
            call["error"] = call["error"] or reason_of(call["args"] or "")
        return self


def _read(message: Any, parser: Parser, prefix: str | None, ids: CallIds, stop: Any = None) -> Any:
    """A message with what its text means."""
    reasoning: str = message.additional_kwargs.get(_REASONING) or ""
    reason = finish_reason(message.response_metadata, stop=stop)
    reply = parser.parse(str(message.text), prefix="" if reasoning else prefix, finish_reason=reason)
    calls, invalid = [*message.tool_calls], [*message.invalid_tool_calls]
    for call in identified_calls(reply, ids):
        if call.problem is None:
            calls.append(_messages.ToolCall(name=call.name, args=call.arguments, id=call.id, type="tool_call"))
        else:
            made = {"name": call.name, "args": call.refusal, "id": call.id, "error": call.problem}
            invalid.append(_messages.InvalidToolCall(type="invalid_tool_call", **made))
    extra = "\n\n".join(filter(None, [reasoning, reply.reasoning]))
    changed: dict[str, Any] = {
        "content": _content(message, reply.text),
        "tool_calls": calls,
        "invalid_tool_calls": invalid,
        "additional_kwargs": {**message.additional_kwargs, **({_REASONING: extra} if extra else {})},
        "response_metadata": {**message.response_metadata, **_metadata(message.response_metadata, reply)},
    }
    return message.model_copy(update=changed)


class _Reading:
    """Reads one response that arrives in chunks, into chunks of a message. The last one has the metadata."""

    def __init__(self, parser: Parser, prefix: str | None, ids: CallIds, stop: Any = None) -> None:
        self._stream, self._stop = ReplyStream(parser, prefix, ids, joins_reasoning=True), stop
        self._reasons: dict[str, Any] = {}  # sent at the end, since LangChain joins the texts of two chunks

    def feed(self, chunk: Any) -> list[Any]:
        """Read a text or a message."""
        if isinstance(chunk, str):
            return self._text(chunk)
        known: dict[str, Any] = chunk.response_metadata
        self._reasons |= {key: value for key, value in known.items() if key in REASONS and value}
        if chunk.additional_kwargs.get(_REASONING):
            self._stream.add_own_reasoning()
        kept = {
            "content": _content(chunk, ""),
            "additional_kwargs": chunk.additional_kwargs,
            "response_metadata": {key: value for key, value in known.items() if key not in REASONS},
            "usage_metadata": chunk.usage_metadata,
            "tool_call_chunks": [*getattr(chunk, "tool_call_chunks", ())],
        }
        kept = {key: value for key, value in kept.items() if value}
        rest = [OutspokenChunk(**{"content": "", **kept}, id=chunk.id)] if kept else []
        return [*self._text(str(chunk.text)), *rest]

    def close(self) -> list[Any]:
        """End the response."""
        items, reply = self._stream.end(finish_reason(self._reasons, stop=self._stop))
        last = OutspokenChunk(
            content="", response_metadata={**self._reasons, **_metadata(self._reasons, reply)}, chunk_position="last"
        )
        return [*filter(None, map(self._chunk, items)), last]

    def _text(self, text: str) -> list[Any]:
        return [*filter(None, map(self._chunk, self._stream.feed(text)))]

    def _chunk(self, item: StreamItem) -> Any:
        """A chunk of a message for an item of a stream; None if there is nothing to say."""
        match item:
            case TextDelta():
                return OutspokenChunk(content=item.text)
            case ReasoningDelta():
                return OutspokenChunk(content="", additional_kwargs={_REASONING: item.text})
            case CallEnd(call=call):
                args = call.arguments_text if call.problem is None else call.refusal
                return _call_chunk(item.position, call.name, args, call.id)
            case _:
                return None


def _call_chunk(position: int, name: str, args: str, id: str) -> Any:
    chunk = _messages.ToolCallChunk(name=name, args=args, id=id, index=FIRST_INDEX + position, type="tool_call_chunk")
    return OutspokenChunk(content="", tool_call_chunks=[chunk])


def _openai_tools(tools: Sequence[Any]) -> list[dict[str, Any]]:
    return [_functions.convert_to_openai_tool(tool) for tool in tools]


def _ids(messages: Any) -> CallIds:
    """Ids for the calls of a response to these messages."""
    calls = [
        call
        for message in messages
        if isinstance(message, _messages.AIMessage)
        for call in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    return CallIds(taken=[call["id"] for call in calls if call["id"]])


def _content(message: Any, text: str) -> Any:
    """The content of a message with another text: text, or its other blocks with the text behind them."""
    if isinstance(message.content, str):
        return text
    blocks: list[Any] = [b for b in message.content if not isinstance(b, str) and b.get("type") != "text"]
    return [*blocks, {"type": "text", "text": text}] if text else blocks


def _metadata(known: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """What the response metadata gets. A server that did not see the calls says "stop"."""
    has_calls = bool(reply.tool_calls) and known.get("finish_reason") == "stop"
    return {**({"finish_reason": "tool_calls"} if has_calls else {}), **noted(reply)}


def _config(run_manager: Any, manager: Any) -> dict[str, Any]:
    """The configuration of the request to the model, which traces see below that of this one."""
    config: dict[str, Any] = {"tags": [_NOT_STREAMED]}
    if run_manager is not None:
        child = manager(handlers=[], parent_run_id=run_manager.run_id)
        child.set_handlers(run_manager.inheritable_handlers)
        child.add_tags(run_manager.inheritable_tags)
        child.add_metadata(run_manager.inheritable_metadata)
        config["callbacks"] = child
    return config
