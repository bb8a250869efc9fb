"""LangChain with a model that writes raw text: chains, streams, agent loops, structured output, damage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import reduce
from operator import add
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake import FakeListLLM, FakeStreamingListLLM
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_chunk_to_message,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, Field, ValidationError

from outspoken import parse
from outspoken.integrations import langchain
from outspoken.integrations.langchain import ChatOutspoken, OutspokenOutputParser, tool_errors
from tests.integrations.model_tests import ANSWER, CUTS, AgentTests, ModelTests, Ran, Read, Run, weather
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, THINKER, TOOLS, pieces, written
from tests.integrations.page import printed_by_example

ASKED = [HumanMessage("When?")]


class Script(BaseChatModel):
    """A chat model that writes texts in turn, whole or in pieces, and remembers what it was sent."""

    texts: list[str]
    reason: str = "stop"
    size: int = 5
    sent: list[list[BaseMessage]] = Field(default_factory=list)
    bound: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.bound.append((tools, kwargs))
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.sent.append([*messages])
        usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
        text = self.texts[len(self.sent) - 1]
        message = AIMessage(text, response_metadata={"finish_reason": self.reason, "model": "m"}, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        self.sent.append([*messages])
        for piece in pieces(self.texts[len(self.sent) - 1], self.size):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece, id="r1"))
        usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
        metadata = {"finish_reason": self.reason, "model": "m"}
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", id="r1", response_metadata=metadata, usage_metadata=usage)
        )


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


def loop(ask: Ask, script: Script, format: str) -> tuple[list[BaseMessage], Ran]:
    """An agent: it runs sound calls, and answers invalid ones with their errors."""
    ran = Ran()
    tools = {one.name: one for one in tools_of(ran)}
    model = ChatOutspoken(model=script, format=format).bind_tools([*tools.values()])
    messages: list[BaseMessage] = [*ASKED]
    while True:
        message = ask(model, messages)
        messages.append(message)
        answers = [tools[call["name"]].invoke(call) for call in message.tool_calls] + tool_errors(message)
        if not answers:
            return messages, ran
        messages += answers


class Thinker(Script):
    model: str = THINKER


class TestResponses(ModelTests, AgentTests):
    KINDS = ("reasoning", "text", "tool_call", "tool_call")
    MORE: ClassVar = {
        "metadata": [{"finish_reason": reason, "model": "m"} for reason in ("tool_calls", "tool_calls", "stop")],
        "tokens": [9, 9, 9],
        "results": ["nine", "nine", "west"],
    }

    def read(self, text: str, way: str, format: str | None = "hermes", *, size: int = 5, reason: str = "stop") -> Read:
        script = (Script if format else Thinker)(texts=[text], size=size, reason=reason)
        model = ChatOutspoken(model=script, format=format).bind_tools(TOOLS)
        message = WAYS[self.WAYS.index(way)](model, ASKED)
        refused = [(call["name"], call["args"]) for call in message.invalid_tool_calls]
        if refused:
            assert [call["id"][:5] for call in message.invalid_tool_calls] == ["call_"] * len(refused)
            assert message.response_metadata["finish_reason"] == reason
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

    def run(self, texts: list[str], way: str, format: str) -> Run:
        script = Script(texts=texts)
        messages, ran = loop(WAYS[self.WAYS.index(way)], script, format)
        found = [message for message in messages if isinstance(message, AIMessage)]
        wrote, told = script.sent[1][-2:]
        refused = told.status == "error" and told.name in ("tide", "wind")
        return Run(
            answer=found[-1].text,
            ran=ran,
            texts=[message.text for message in found],
            ids=[call["id"] or "" for message in found for call in message.tool_calls],
            tools=[one["function"]["name"] for one in script.bound[0][0]],
            more={
                "metadata": [message.response_metadata for message in found],
                "tokens": [message.usage_metadata["output_tokens"] for message in found if message.usage_metadata],
                "results": [message.content for message in messages if isinstance(message, ToolMessage)],
            },
            told=(wrote.tool_calls[0]["args"], told.text) if refused else None,
        )


@pytest.mark.parametrize("ask", WAYS)
def test_blocks_of_reasoning_are_joined_as_in_the_reply(ask: Ask) -> None:
    text = "<think>One.</think>Hm.<think>Two.</think>Done."
    message = ask(ChatOutspoken(model=Script(texts=[text]), format="hermes"), ASKED)
    reply = parse(text, format="hermes")
    assert (message.additional_kwargs["reasoning_content"], message.text) == (reply.reasoning, reply.text)
    assert reply.reasoning == "One.\n\nTwo."


@pytest.mark.parametrize("cut", CUTS)
def test_a_call_with_deep_arguments_that_is_cut_anywhere_never_runs(cut: int) -> None:
    deep = '<tool_call>\n{"name": "tide", "arguments": {"place": "a\\"]}", "day": [[{"b": ["c\\\\", {}]}, 1]]}}'
    for ask in (invoked, streamed):
        script = Script(texts=[deep[: cut + 25]], reason="length")
        message = ask(ChatOutspoken(model=script, format="hermes").bind_tools(TOOLS), ASKED)
        assert (message.tool_calls, len(message.invalid_tool_calls)) == ([], 1)
        assert "never ends" in message.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize("format", FORMATS)
def test_structured_output_is_a_call(format: str) -> None:
    class Tide(BaseModel):
        """A tide."""

        place: str
        hour: int

    script = Script(texts=[written(format, ("Tide", {"place": "Brest", "hour": 9}))])
    model = ChatOutspoken(model=script, format=format).with_structured_output(Tide)
    assert model.invoke(ASKED) == Tide(place="Brest", hour=9)
    assert script.bound[0][1]["tool_choice"] == "any"


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
    script = Script(texts=[text])
    model = ChatOutspoken(model=script, format="hermes").with_structured_output(Port, method=method)
    assert model.invoke(ASKED) == Port(place="Brest", hour=9)


@pytest.mark.parametrize(
    "text", ["At nine.", '<tool_call>\n{"name": "Port", "arguments": {"place": "Br', '{"hour": "x"}']
)
def test_structured_output_that_is_none_is_an_error(text: str) -> None:
    chat = ChatOutspoken(model=Script(texts=[text, text]), format="hermes")
    with pytest.raises(OutputParserException):
        chat.with_structured_output(Port).invoke(ASKED)
    found = chat.with_structured_output(Port.model_json_schema(), include_raw=True).invoke(ASKED)
    assert (found["parsed"], type(found["parsing_error"])) == (None, OutputParserException)


def test_a_history_with_refused_calls_is_one_that_servers_accept() -> None:
    invalid = {"name": "tide", "args": "the call is cut; it was written as x", "id": "c1", "error": "the call is cut"}
    sound = {"name": "wind", "args": {"place": "Brest"}, "id": "c2", "type": "tool_call"}
    turn = AIMessage("", tool_calls=[sound], invalid_tool_calls=[{**invalid, "type": "invalid_tool_call"}])
    told = ToolMessage("Told.", tool_call_id="c1")
    for answers in ([], [told]):
        script = Script(texts=[ANSWER])
        answered = [ToolMessage("West.", tool_call_id="c2"), *answers]
        ChatOutspoken(model=script, format="hermes").bind_tools(TOOLS).invoke([*ASKED, turn, *answered])
        _, sent, *rest = script.sent[0]
        assert [(call["name"], call["args"]) for call in sent.tool_calls] == [("wind", sound["args"]), ("tide", {})]
        assert sent.invalid_tool_calls == []
        texts = {message.tool_call_id: message.text for message in rest}
        assert texts == {"c1": "Told." if answers else "the call is cut", "c2": "West."}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("text", [INVALID, CUT])
def test_an_agent_asks_again(text: str, is_async: bool) -> None:
    script = Script(texts=[text, written("hermes", BOTH[0]), ANSWER])
    agent = create_agent(ChatOutspoken(model=script, format="hermes"), TOOLS, middleware=[langchain.AskAgain()])
    given = {"messages": ASKED}
    messages = (asyncio.run(agent.ainvoke(given)) if is_async else agent.invoke(given))["messages"]
    assert [(call["name"], call["args"]) for call in messages[-1].tool_calls] == [BOTH[0]]
    assert isinstance(script.sent[1][-1], ToolMessage)


def test_an_agent_gives_up() -> None:
    script = Script(texts=[INVALID] * 2)
    model = ChatOutspoken(model=script, format="hermes")
    agent = create_agent(model, TOOLS, middleware=[langchain.AskAgain(retries=1)])
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
    found.append((Script(texts=[text]) | parser).invoke(ASKED))
    found.append(streamed(Script(texts=[text]) | parser, ASKED))
    for message in found:
        assert isinstance(message, AIMessage)
        assert message.text == "Look:"
        assert [(call["name"], call["args"]) for call in message.tool_calls] == [*BOTH]


def test_text_streams_as_it_arrives_and_calls_when_they_are_complete() -> None:
    text = written("hermes", ("tide", {"place": "Brest " * 20}), text=ANSWER)
    chunks = [*ChatOutspoken(model=Script(texts=[text], size=10), format="hermes").bind_tools(TOOLS).stream(ASKED)]
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
    model = ChatOutspoken(model=Script(texts=[text]), format="hermes").bind_tools(TOOLS)
    model = model.with_config({"callbacks": [seen]})
    assert ask(model, ASKED).text == "Look:"
    (outer,) = [run for run, (parent, _) in seen.runs.items() if parent is None]
    inner = {run: found for run, found in seen.runs.items() if run != outer}
    assert [*inner.values()] == ([(outer, ["nostream"])] if ask in (invoked, ainvoked) else [])
    assert seen.tokens.get(outer, "Look:") == "Look:"
    assert (outer in seen.tokens) == (ask in (streamed, astreamed))


@pytest.mark.parametrize("ask", WAYS)
def test_calls_and_reasoning_of_the_model_itself_are_kept(ask: Ask) -> None:
    native = {"name": "wind", "args": {"place": "Paris"}, "id": "c9", "type": "tool_call"}

    class Native(Script):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            message = AIMessage(self.texts[0], tool_calls=[native], additional_kwargs={"reasoning_content": "Which?"})
            return ChatResult(generations=[ChatGeneration(message=message)])

        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
            call = {"name": "wind", "args": '{"place": "Paris"}', "id": "c9", "index": 0, "type": "tool_call_chunk"}
            for given in (
                {"content": "", "additional_kwargs": {"reasoning_content": "Which?"}},
                *[{"content": piece} for piece in pieces(self.texts[0])],
                {"content": "", "tool_call_chunks": [call]},
            ):
                yield ChatGenerationChunk(message=AIMessageChunk(**given))

    model = ChatOutspoken(model=Native(texts=[written("hermes", BOTH[0])]), format="hermes").bind_tools(TOOLS)
    message = ask(model, ASKED)
    calls = {call["id"]: (call["name"], call["args"]) for call in message.tool_calls}
    assert calls.pop("c9") == ("wind", {"place": "Paris"})
    assert [*calls.values()] == [BOTH[0]]
    assert message.additional_kwargs["reasoning_content"] == "Which?"


def test_tools_need_not_be_sent() -> None:
    script = Script(texts=[written("qwen3_coder", BOTH[0])])
    model = ChatOutspoken(model=script, format="qwen3_coder", send_tools=False).bind_tools(TOOLS)
    assert [(call["name"], call["args"]) for call in model.invoke(ASKED).tool_calls] == [BOTH[0]]
    assert script.bound == []


def test_an_empty_stream_ends() -> None:
    assert streamed(ChatOutspoken(model=Script(texts=[""]), format="hermes"), ASKED).text == ""

    async def nothing() -> AsyncIterator[str]:
        for _ in ():
            yield ""

    async def read() -> list[Any]:
        return [chunk async for chunk in OutspokenOutputParser(format="hermes").atransform(nothing())]

    assert [chunk.content for chunk in asyncio.run(read())] == [""]


class ChatOpenAI(Script):
    """Stands for the class of that name of the example, whose package is not installed."""

    def __init__(self, **given: Any) -> None:
        super().__init__(texts=[written("qwen3_coder", ("tide", {"place": "Brest"}))])


def test_the_example_runs() -> None:
    printed = printed_by_example("langchain", langchain_openai="tests.integrations.test_langchain")
    assert printed == "[('tide', {'place': 'Brest'})] []\n"


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(ValidationError, match="there is no format `hermess`; did you mean `hermes`"):
        OutspokenOutputParser(format="hermess")
