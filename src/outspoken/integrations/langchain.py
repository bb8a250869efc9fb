"""LangChain: `OutspokenOutputParser` reads text into messages, `ChatOutspoken` is a chat model around a chat model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from typing import Any

from pydantic import model_validator
from typing_extensions import is_typeddict

from outspoken.parsing.event_stream import aread_chunks, read_chunks
from outspoken.processing.answers import read_answer
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.packages import Package

from .assembler import Assembler, AssemblerFields, CallEnd, MessagePart, joined
from .messages import FIRST_INDEX, METADATA, REASONS, call_of, framework, parts_of

_LANGCHAIN = framework("langchain", "langchain-core", "1.0")
_chat_models = _LANGCHAIN.load("langchain_core.language_models.chat_models")
_messages = _LANGCHAIN.load("langchain_core.messages")
_outputs = _LANGCHAIN.load("langchain_core.outputs")
_parsers = _LANGCHAIN.load("langchain_core.output_parsers.transform")
_managers = _LANGCHAIN.load("langchain_core.callbacks.manager")
_functions = _LANGCHAIN.load("langchain_core.utils.function_calling")
_exceptions = _LANGCHAIN.load("langchain_core.exceptions")

#: Where chat models keep the reasoning.
_REASONING = "reasoning_content"


class OutspokenOutputParser(AssemblerFields, _parsers.BaseTransformOutputParser[_messages.AIMessage]):
    """Reads the text of a model, or of its messages, whole and streamed.

    `tools` are the tools that the model was given, as `bind_tools` takes them. `format` and `prefix` are those of
    `Assembler`, and `parser_options` are other arguments of `outspoken.Parser`.
    """

    tools: Sequence[Any] = ()

    def parse(self, text: str) -> Any:
        """Read a text into an AIMessage."""
        return _read(_messages.AIMessage(content=text), self._begin())

    def parse_result(self, result: Any, *, partial: bool = False) -> Any:
        """Read the first of some generations into an AIMessage."""
        return _read(getattr(result[0], "message", None) or _messages.AIMessage(content=result[0].text), self._begin())

    def _transform(self, input: Iterator[Any]) -> Iterator[Any]:
        return read_chunks(_Chunks(self._begin()), input)

    def _atransform(self, input: AsyncIterator[Any]) -> AsyncIterator[Any]:
        return aread_chunks(_Chunks(self._begin()), input)

    def _begin(self, tools: Any = None, choice: Any = None, **request: Any) -> Assembler:
        return AssemblerFields._begin(self, _openai_tools(self.tools), calls=True)


class ChatOutspoken(AssemblerFields, _chat_models.BaseChatModel):
    """A chat model whose text is read in a format.

    `model` is the chat model that asks the server. The tools of `bind_tools` define the types of arguments, and go to
    it unless the prompt describes them (`send_tools=False`). `render_history` is that of `Assembler`, and the other
    fields are those of `OutspokenOutputParser`. Calls and reasoning that the model returns itself are kept.
    """

    model: Any
    render_history: bool = False
    send_tools: bool = True

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
            described = {"name": function["name"], "schema": function["parameters"]}
            kind = {"type": method, method: described} if method == "json_schema" else {"type": "json_object"}
            asked = self.bind(response_format=kind, **kwargs)
        is_type = isinstance(schema, type) and not is_typeddict(schema)

        def parse(message: Any) -> Any:
            requested = [(call["name"], call["args"]) for call in (*message.tool_calls, *message.invalid_tool_calls)]
            functions = [
                {"name": name, "arguments": "" if arguments is None else arguments} for name, arguments in requested
            ]
            listed = [{"type": "function", "function": each} for each in functions]
            said = {"message": {"content": message.text, "tool_calls": listed}, "finish_reason": "stop"}
            wanted: Any = schema if is_type else function["parameters"]
            answer = read_answer({"choices": [said]}, wanted, tool=function["name"], format="text")
            value = answer.value if answer.is_valid else None
            error = None if answer.is_valid else _exceptions.OutputParserException(answer.retry, llm_output=answer.raw)
            if error is not None and not include_raw:
                raise error
            return {"raw": message, "parsed": value, "parsing_error": error} if include_raw else value

        return asked | parse

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        model, asked, assembler = self._request(messages, stop, run_manager, kwargs)
        message = _read(model.invoke(**asked), assembler)
        return _outputs.ChatResult(generations=[_outputs.ChatGeneration(message=message)])

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        model, asked, assembler = self._request(messages, stop, run_manager, kwargs)
        message = _read(await model.ainvoke(**asked), assembler)
        return _outputs.ChatResult(generations=[_outputs.ChatGeneration(message=message)])

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        model, asked, assembler = self._request(messages, stop, run_manager, kwargs)
        for chunk in read_chunks(_Chunks(assembler), model.stream(**asked)):
            yield _outputs.ChatGenerationChunk(message=chunk)

    async def _astream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        model, asked, assembler = self._request(messages, stop, run_manager, kwargs)
        async for chunk in aread_chunks(_Chunks(assembler), model.astream(**asked)):
            yield _outputs.ChatGenerationChunk(message=chunk)

    def _request(self, messages: Any, stop: Any, run_manager: Any, kwargs: dict[str, Any]) -> Any:
        """The model with its tools, the arguments of a request to it, and what reads its response."""
        options = {**kwargs, **({} if stop is None else {"stop": stop})}
        choice = {"tool_choice": options.pop("tool_choice")} if "tool_choice" in options else {}
        tools = _openai_tools(options.pop("tools", None) or ())
        model = self.model.bind_tools(tools, **choice) if tools and self.send_tools else self.model
        config: dict[str, Any] = {"tags": ["nostream"]}  # by which LangGraph leaves it out of its stream of messages
        if run_manager is not None:  # traces see the request below that of this model
            is_async = isinstance(run_manager, _managers.AsyncCallbackManagerForLLMRun)
            parent = _managers.AsyncParentRunManager if is_async else _managers.ParentRunManager
            config["callbacks"] = parent.get_child(run_manager)
        history: list[Any] = []  # with an answer to each invalid call that has none: the reason
        answered = {message.tool_call_id for message in messages if isinstance(message, _messages.ToolMessage)}
        for message in messages:
            history += [message, *[error for error in tool_errors(message) if error.tool_call_id not in answered]]
        assembler = self._begin(tools, kwargs.get("tool_choice"), history=[*map(_said, history)], stop=stop)
        sent = [*filter(None, assembler.to_send(history, _to_send))]
        return model, {"input": sent, "config": config, **options}, assembler


@cache
def __getattr__(name: str) -> Any:
    """`AskAgain`, which needs the package `langchain` beside `langchain-core`."""
    if name != "AskAgain":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    middleware = Package("", "langchain", "1.0", "`AskAgain`").load("langchain.agents.middleware")

    class AskAgain(middleware.AgentMiddleware):
        """A middleware of agents that asks the model again if a call could not be read, and no other call was.

        Without it, such a response ends the run of the agent. The model is asked `retries` times for one response.
        """

        def __init__(self, retries: int = 2) -> None:
            middleware.AgentMiddleware.__init__(self)
            self._retries = retries

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            response, left = handler(request), self._retries
            while left and (request := _again(request, response.result)) is not None:
                response, left = handler(request), left - 1
            return response

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            response, left = await handler(request), self._retries
            while left and (request := _again(request, response.result)) is not None:
                response, left = await handler(request), left - 1
            return response

    AskAgain.__module__, AskAgain.__qualname__ = __name__, "AskAgain"
    return AskAgain


def _again(request: Any, result: Sequence[Any]) -> Any:
    """The request with which the model is asked again; None if its response can be used."""
    message = result[-1]
    told = message.response_metadata.get(METADATA, {}).get("retry")
    if not isinstance(message, _messages.AIMessage) or message.tool_calls or told is None:
        return None
    answers = tool_errors(message) or [_messages.HumanMessage(told)]
    return request.override(messages=[*request.messages, message, *answers])


def _said(message: Any) -> dict[str, Any]:
    """A message as chat completions have it."""
    role = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}.get(message.type, message.type)
    fields = {"role": role, "content": message.content}
    if isinstance(message, _messages.ToolMessage):
        return {**fields, "tool_call_id": message.tool_call_id, "name": message.name}
    if isinstance(message, _messages.AIMessage):
        called = [*message.tool_calls, *message.invalid_tool_calls]
        calls = [call_of(call["id"], call["name"], call["args"]) for call in called]
        about = message.response_metadata.get(METADATA)
        fields |= {_REASONING: message.additional_kwargs.get(_REASONING), "tool_calls": calls, METADATA: about}
    return fields


def _to_send(message: Any) -> Any:
    """A message as servers accept it: an invalid call has the arguments {}."""
    if not isinstance(message, _messages.AIMessage) or not message.invalid_tool_calls:
        return message
    refused: list[Any] = message.invalid_tool_calls
    calls = [_messages.ToolCall(name=c["name"], args={}, id=c["id"], type="tool_call") for c in refused]
    return message.model_copy(update={"tool_calls": [*message.tool_calls, *calls], "invalid_tool_calls": []})


def tool_errors(message: Any) -> list[Any]:
    """An answer to each invalid call of a message: a ToolMessage with the reason, to ask the model again."""
    answers: list[Any] = []
    for call in getattr(message, "invalid_tool_calls", ()):
        told = call.get("error") or call.get("args") or "the call is invalid and was not run"
        answers.append(_messages.ToolMessage(told, tool_call_id=call["id"], name=call["name"], status="error"))
    return answers


class OutspokenChunk(_messages.AIMessageChunk):
    """A chunk of a message whose invalid calls say why they are invalid, which LangChain leaves out of streams."""

    @model_validator(mode="after")
    def _add_reasons(self) -> Any:
        """Take the reasons from the arguments of the invalid calls, where they stand."""
        for call in self.invalid_tool_calls:
            call["error"] = call["error"] or parts_of(call["args"] or "")[0]
        return self


def _read(message: Any, assembler: Assembler) -> Any:
    """A message with what its text means."""
    if own := message.additional_kwargs.get(_REASONING):
        assembler.add_own_reasoning(own)
    read = _joined(assembler.whole(str(message.text), message.response_metadata))
    extra = {_REASONING: assembler.reasoning} if assembler.reasoning else {}
    changed: dict[str, Any] = {"content": _content(message, assembler.text)}
    for key in ("tool_calls", "invalid_tool_calls"):
        changed[key] = [*getattr(message, key), *getattr(read, key)]
    changed["additional_kwargs"] = {**message.additional_kwargs, **extra}
    return message.model_copy(update={**changed, "response_metadata": assembler.metadata(message.response_metadata)})


class _Chunks:
    """Reads one response that arrives in chunks, into chunks of a message. The last one has the metadata."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._reasons: dict[str, Any] = {}  # sent at the end, since LangChain joins the texts of two chunks

    def feed(self, chunk: Any) -> list[Any]:
        if isinstance(chunk, str):
            return _chunks(self._assembler.feed(chunk))
        response_facts: dict[str, Any] = chunk.response_metadata
        self._reasons |= {key: value for key, value in response_facts.items() if key in REASONS and value}
        if own := chunk.additional_kwargs.get(_REASONING):
            self._assembler.add_own_reasoning(own)
        kept = {key: getattr(chunk, key, None) for key in ("tool_call_chunks", "additional_kwargs", "usage_metadata")}
        kept["response_metadata"] = {key: value for key, value in response_facts.items() if key not in REASONS}
        kept = {key: value for key, value in {**kept, "content": _content(chunk, "")}.items() if value}
        rest = [OutspokenChunk(**{"content": "", **kept}, id=chunk.id)] if kept else []
        return [*_chunks(self._assembler.feed(str(chunk.text))), *rest]

    def close(self) -> list[Any]:
        made = _chunks(self._assembler.close(self._reasons))
        metadata = self._assembler.metadata(self._reasons)
        return [*made, OutspokenChunk(content="", response_metadata=metadata, chunk_position="last")]


def _chunks(parts: list[MessagePart]) -> list[Any]:
    """The chunks of a message for parts of a response, in their order."""
    return [_joined([part]) for part in parts if isinstance(part, (TextDelta, ReasoningDelta, CallEnd))]


def _joined(parts: list[MessagePart]) -> Any:
    """One chunk of a message for parts of a response. A call is sent when it has ended."""
    calls: list[Any] = []
    for call in [part for part in parts if isinstance(part, CallEnd)]:
        fields = {"name": call.name, "args": call.arguments, "id": call.id, "index": FIRST_INDEX + call.index}
        calls.append(_messages.ToolCallChunk(type="tool_call_chunk", **fields))
    extra = {_REASONING: text} if (text := joined(parts, ReasoningDelta)) else {}
    return OutspokenChunk(content=joined(parts, TextDelta), additional_kwargs=extra, tool_call_chunks=calls)


def _openai_tools(tools: Sequence[Any]) -> list[dict[str, Any]]:
    return [_functions.convert_to_openai_tool(tool) for tool in tools]


def _content(message: Any, text: str) -> Any:
    """The content of a message with another text: text, or its other blocks with the text behind them."""
    if isinstance(message.content, str):
        return text
    blocks: list[Any] = [b for b in message.content if not isinstance(b, str) and b.get("type") != "text"]
    return [*blocks, {"type": "text", "text": text}] if text else blocks
