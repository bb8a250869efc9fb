"""LangChain with a model that writes raw text: chains, streams, agent loops, structured output, damage."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import reduce
from operator import add
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain_core import messages as kinds
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake import FakeListLLM, FakeStreamingListLLM
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage, message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool, tool
from openai import OpenAI
from pydantic import BaseModel, ValidationError

from outspoken import parse
from outspoken.integrations import langchain
from outspoken.integrations.langchain import ChatOutspoken, OutspokenOutputParser, tool_errors
from tests.integrations.model_tests import ANSWER, CUTS, AgentTests, Ran, Read, ReasoningTests, SentToolsTests, weather
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, TOOLS, printed_by_example, written
from tests.integrations.text_server import text_server

ASKED = [kinds.HumanMessage("When?")]


class ChatOpenAI(BaseChatModel):
    """Stands for the class of that name, whose package is not installed: a client of a server."""

    base_url: str
    model: str = "m"
    api_key: str = "none"

    @property
    def _llm_type(self) -> str:
        return "openai"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)

    def _ask(self, messages: Any, options: dict[str, Any]) -> Iterator[Any]:
        with OpenAI(base_url=self.base_url, api_key=self.api_key, max_retries=0) as client:
            sent: Any = kinds.convert_to_openai_messages(messages)
            found = client.chat.completions.create(model=self.model, messages=sent, **options)
            yield from found if options.get("stream") else [found]

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        (found,) = self._ask(messages, kwargs)
        choice = found.choices[0]
        known = {"content": "", "response_metadata": {"finish_reason": choice.finish_reason, "model": "m"}}
        message = message_chunk_to_message(chunk_of(choice.message, **known, usage_metadata=tokens_of(found)))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for found in self._ask(messages, {**kwargs, "stream": True}):
            known: dict[str, Any] = {"id": "r1", "usage_metadata": tokens_of(found) if found.usage else None}
            for choice in found.choices:
                reason = {"finish_reason": choice.finish_reason, "model": "m"} if choice.finish_reason else {}
                yield ChatGenerationChunk(message=chunk_of(choice.delta, **known, response_metadata=reason))
            if not found.choices:
                yield ChatGenerationChunk(message=AIMessageChunk(content="", **known))


def chunk_of(said: Any, **known: Any) -> AIMessageChunk:
    """A chunk for a message or a delta of OpenAI's client."""
    calls = [
        kinds.ToolCallChunk(name=call.function.name, args=call.function.arguments, id=call.id, index=number)
        for number, call in enumerate(said.tool_calls or ())
    ]
    thought = getattr(said, "reasoning_content", None)
    extra = {"reasoning_content": thought} if thought else {}
    return AIMessageChunk(**{**known, "content": said.content or ""}, additional_kwargs=extra, tool_call_chunks=calls)


def tokens_of(found: Any) -> Any:
    return {"input_tokens": 20, "output_tokens": found.usage.completion_tokens, "total_tokens": 29}


def model_of(*texts: Any, format: str = "hermes", size: int = 5, **options: Any) -> ChatOutspoken:
    """A chat model of a server that writes these texts in turn, read in a format."""
    server = ChatOpenAI(base_url=text_server(*texts, size=size).url)
    return ChatOutspoken(model=server, format=format, **options)


def tools_of(ran: Ran) -> list[BaseTool]:
    return [tool(function) for function in weather(ran)]


def streamed(model: Any, messages: Any) -> AIMessage:
    return message_chunk_to_message(reduce(add, model.stream(messages)))


def astreamed(model: Any, messages: Any) -> AIMessage:
    async def joined() -> Any:
        return reduce(add, [chunk async for chunk in model.astream(messages)])

    return message_chunk_to_message(asyncio.run(joined()))


def invoked(model: Any, messages: Any) -> AIMessage:
    return model.invoke(messages)


def ainvoked(model: Any, messages: Any) -> AIMessage:
    return asyncio.run(model.ainvoke(messages))


Ask = Callable[[Any, Any], AIMessage]
WAYS: list[Ask] = [invoked, ainvoked, streamed, astreamed]


class TestResponses(ReasoningTests, SentToolsTests, AgentTests):
    KINDS = ("reasoning", "text", "tool_call", "tool_call")
    MORE: ClassVar = {
        "metadata": [{"finish_reason": reason, "model": "m"} for reason in ("tool_calls", "tool_calls", "stop")],
        "tokens": [9, 9, 9],
        "results": ["nine", "nine", "west"],
    }

    def asked(self, url: str, way: str, format: str | None, model: str, **options: Any) -> Read:
        chat = ChatOutspoken(model=ChatOpenAI(base_url=url, model=model), format=format, **options).bind_tools(TOOLS)
        message = WAYS[self.WAYS.index(way)](chat, ASKED)
        refused = [(call["name"], call["args"]) for call in message.invalid_tool_calls]
        if refused:
            assert [call["id"][:5] for call in message.invalid_tool_calls] == ["call_"] * len(refused)
            assert message.response_metadata["finish_reason"] == "length"
            # nothing that LangChain does with messages makes it a sound call
            chunk = AIMessageChunk(**message.model_dump(exclude={"type"})) + AIMessageChunk(content="")
            assert len(chunk.tool_calls) == len(message.tool_calls)
        return Read(
            text=message.text,
            reasoning=message.additional_kwargs.get("reasoning_content"),
            calls=[(call["name"], call["args"]) for call in message.tool_calls],
            refused=refused,
            about=message.response_metadata.get("outspoken", {}),
            kinds=tuple(block["type"] for block in message.content_blocks),
        )

    def agent(self, url: str, way: str, format: str, ran: Ran, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Run sound calls, and answer invalid ones with their errors."""
        tools = {one.name: one for one in tools_of(ran)}
        model = ChatOutspoken(model=ChatOpenAI(base_url=url), format=format, **options).bind_tools([*tools.values()])
        messages, answers = [*ASKED], list[Any]()
        while answers or len(messages) == 1:
            message = WAYS[self.WAYS.index(way)](model, messages)
            answers = [tools[call["name"]].invoke(call) for call in message.tool_calls] + tool_errors(message)
            messages += [message, *answers]
        found = [message for message in messages if isinstance(message, AIMessage)]
        return found[-1].text, {
            "metadata": [message.response_metadata for message in found],
            "tokens": [message.usage_metadata["output_tokens"] for message in found if message.usage_metadata],
            "results": [message.content for message in messages if isinstance(message, ToolMessage)],
        }

    def test_the_example_runs(self) -> None:
        server = text_server(written("qwen3_coder", ("tide", {"place": "Brest"})))
        printed = printed_by_example("langchain", server.url, langchain_openai="tests.integrations.test_langchain")
        assert printed == "[('tide', {'place': 'Brest'})] []\n"


@pytest.mark.parametrize("ask", WAYS)
def test_blocks_of_reasoning_are_joined_as_in_the_reply(ask: Ask) -> None:
    text = "<think>One.</think>Hm.<think>Two.</think>Done."
    message = ask(model_of(text), ASKED)
    reply = parse(text, format="hermes")
    assert (message.additional_kwargs["reasoning_content"], message.text) == (reply.reasoning, reply.text)
    assert reply.reasoning == "One.\n\nTwo."


@pytest.mark.parametrize("cut", CUTS)
def test_a_call_with_deep_arguments_that_is_cut_anywhere_never_runs(cut: int) -> None:
    deep = '<tool_call>\n{"name": "tide", "arguments": {"place": "a\\"]}", "day": [[{"b": ["c\\\\", {}]}, 1]]}}'
    for ask in (invoked, streamed):
        message = ask(model_of((deep[: cut + 25], "length")).bind_tools(TOOLS), ASKED)
        assert (message.tool_calls, len(message.invalid_tool_calls)) == ([], 1)
        assert "never ends" in message.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize("format", FORMATS)
def test_structured_output_is_a_call(format: str) -> None:
    class Tide(BaseModel):
        """A tide."""

        place: str
        hour: int

    server = text_server(written(format, ("Tide", {"place": "Brest", "hour": 9})))
    model = ChatOutspoken(model=ChatOpenAI(base_url=server.url), format=format).with_structured_output(Tide)
    assert model.invoke(ASKED) == Tide(place="Brest", hour=9)
    assert server.requests[0]["tool_choice"] == "any"


class Port(BaseModel):
    place: str
    hour: int


@pytest.mark.parametrize("method", ["function_calling", "json_mode", "json_schema"])
@pytest.mark.parametrize(
    "text",
    [
        '{"place": "Brest", "hour": 9}',
        'Here:\n```json\n{"place": "Brest", "hour": 9,}\n```',
        '<think>\nHm.\n</think>\n\n{"place": "Brest", "hour": "9"}',
    ],
)
def test_structured_output_is_json_too(text: str, method: str) -> None:
    model = model_of(text).with_structured_output(Port, method=method)
    assert model.invoke(ASKED) == Port(place="Brest", hour=9)


@pytest.mark.parametrize(
    "text", ["At nine.", '<tool_call>\n{"name": "Port", "arguments": {"place": "Br', '{"hour": "x"}']
)
def test_structured_output_that_is_none_is_an_error(text: str) -> None:
    chat = model_of(text, text)
    with pytest.raises(OutputParserException):
        chat.with_structured_output(Port).invoke(ASKED)
    found = chat.with_structured_output(Port.model_json_schema(), include_raw=True).invoke(ASKED)
    assert (found["parsed"], type(found["parsing_error"])) == (None, OutputParserException)


def test_a_history_with_refused_calls_is_one_that_servers_accept() -> None:
    invalid = {"name": "tide", "args": "the call is cut; it was written as x", "id": "c1", "error": "the call is cut"}
    sound = {"name": "wind", "args": {"place": "Brest"}, "id": "c2", "type": "tool_call"}
    turn = AIMessage("", tool_calls=[sound], invalid_tool_calls=[{**invalid, "type": "invalid_tool_call"}])
    text, west = written("hermes", BOTH[0]), ToolMessage("West.", tool_call_id="c2")  # the text is read off if told
    for answers in ([], [ToolMessage(text, tool_call_id="c1")]):
        server = text_server(text)
        model = ChatOutspoken(model=ChatOpenAI(base_url=server.url), format="hermes").bind_tools(TOOLS)
        assert len(model.invoke([*ASKED, turn, west, *answers]).tool_calls) == 1 - len(answers)
        _, sent, *rest = server.requests[0]["messages"]
        calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in sent["tool_calls"]]
        assert calls == [("wind", sound["args"]), ("tide", {})]
        texts = {message["tool_call_id"]: message["content"] for message in rest}
        assert texts == {"c1": text if answers else "the call is cut", "c2": "West."}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("text", [INVALID, CUT])
def test_an_agent_asks_again(text: str, is_async: bool) -> None:
    server = text_server(text, written("hermes", BOTH[0]), ANSWER)
    model = ChatOutspoken(model=ChatOpenAI(base_url=server.url), format="hermes")
    agent = create_agent(model, TOOLS, middleware=[langchain.AskAgain()])
    given = {"messages": ASKED}
    messages = (asyncio.run(agent.ainvoke(given)) if is_async else agent.invoke(given))["messages"]
    assert [(call["name"], call["args"]) for call in messages[-1].tool_calls] == [BOTH[0]]
    assert server.requests[1]["messages"][-1]["role"] == "tool"


def test_an_agent_gives_up() -> None:
    agent = create_agent(model_of(INVALID, INVALID), TOOLS, middleware=[langchain.AskAgain(retries=1)])
    assert len(agent.invoke({"messages": ASKED})["messages"]) == 2
    with pytest.raises(AttributeError):
        _ = langchain.AskNever


@pytest.mark.parametrize("format", FORMATS)
def test_the_parser_reads_what_a_model_of_texts_writes(format: str) -> None:
    text = written(format, *BOTH, text="Look:")
    parser = OutspokenOutputParser(format=format, tools=tools_of([]))
    found = [parser.parse(text), (FakeListLLM(responses=[text]) | parser).invoke("When?")]
    chain = FakeStreamingListLLM(responses=[text, text]) | parser
    found += [invoked(chain, "When?"), streamed(chain, "When?"), astreamed(chain, "When?")]
    server = ChatOpenAI(base_url=text_server(text, text).url)
    found += [(server | parser).invoke(ASKED), streamed(server | parser, ASKED)]
    for message in found:
        assert isinstance(message, AIMessage)
        assert message.text == "Look:"
        assert [(call["name"], call["args"]) for call in message.tool_calls] == [*BOTH]


def test_text_streams_as_it_arrives_and_calls_when_they_are_complete() -> None:
    text = written("hermes", ("tide", {"place": "Brest " * 20}), text=ANSWER)
    chunks = [*model_of(text, size=10).bind_tools(TOOLS).stream(ASKED)]
    assert len([chunk for chunk in chunks if chunk.content]) >= 3
    assert "".join([chunk.content for chunk in chunks]) == ANSWER
    assert len([chunk for chunk in chunks if chunk.tool_call_chunks]) == 1
    assert {chunk.id for chunk in chunks if chunk.content} != {None}
    assert [chunk.chunk_position for chunk in chunks].index("last") == len(chunks) - 1


class Seen(BaseCallbackHandler):
    """What a tracer or a graph sees: runs with their tags and parents, and the tokens of each."""

    def __init__(self) -> None:
        self.tokens: dict[Any, str] = {}
        self.runs: dict[Any, tuple[Any, list[str]]] = {}

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.runs[run_id] = (kwargs["parent_run_id"], kwargs["tags"] or [])

    def on_llm_new_token(self, token: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.tokens[run_id] = self.tokens.get(run_id, "") + str(token)


@pytest.mark.parametrize("ask", WAYS)
def test_callbacks_see_the_text_and_not_the_markup(ask: Ask) -> None:
    seen, text = Seen(), written("hermes", BOTH[0], text="Look:")
    model = model_of(text).bind_tools(TOOLS)
    model = model.with_config({"callbacks": [seen]})
    assert ask(model, ASKED).text == "Look:"
    (outer,) = [run for run, (parent, _) in seen.runs.items() if parent is None]
    inner = {run: found for run, found in seen.runs.items() if run != outer}
    assert [*inner.values()] == ([(outer, ["nostream"])] if ask in (invoked, ainvoked) else [])
    assert seen.tokens.get(outer, "Look:") == "Look:"
    assert (outer in seen.tokens) == (ask in (streamed, astreamed))


def test_an_empty_stream_ends() -> None:
    assert streamed(model_of(""), ASKED).text == ""

    async def nothing() -> AsyncIterator[str]:
        for _ in ():
            yield ""

    async def read() -> list[Any]:
        return [chunk async for chunk in OutspokenOutputParser(format="hermes").atransform(nothing())]

    assert [chunk.content for chunk in asyncio.run(read())] == [""]


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(ValidationError, match="there is no format `hermess`; did you mean `hermes`"):
        OutspokenOutputParser(format="hermess")
