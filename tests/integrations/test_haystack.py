"""Haystack with a chat generator that writes raw text: agents, pipelines, streams, damage, serialisation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.components.generators.utils import _convert_streaming_chunks_to_chat_message
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage, ReasoningContent, StreamingChunk, ToolCall
from haystack.dataclasses.streaming_chunk import ToolCallDelta
from haystack.tools import Tool, Toolset, tool
from haystack.utils import Secret

from outspoken.integrations.haystack import OutspokenChatGenerator
from tests.integrations.model_tests import ANSWER, AgentTests, Ran, Read, SentToolsTests, weather
from tests.integrations.model_texts import BOTH, INVALID, pieces, written
from tests.integrations.text_server import text_server

# Haystack loads classes and functions from modules that are trusted.
allow_deserialization_module("outspoken.integrations.haystack")
allow_deserialization_module(__name__)

ASKED = [ChatMessage.from_user("When?")]


@component
class Whole:
    """A chat generator that returns a reply for each text, and does not stream."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], streaming_callback: Any = None, tools: Any = None) -> Any:
        return {"replies": [ChatMessage.from_assistant(text) for text in self.texts]}


def generator_of(url: str, format: str | None = "hermes", model: str = "m", **options: Any) -> OutspokenChatGenerator:
    """A chat generator of a server, read in a format."""
    server = OpenAIChatGenerator(api_key=Secret.from_token("none"), model=model, api_base_url=url)
    return OutspokenChatGenerator(server, format, **options)


def tools_of(ran: Ran) -> list[Tool]:
    return [tool(function) for function in weather(ran)]


def invoked(generator: Any, **given: Any) -> ChatMessage:
    return generator.run(ASKED, tools=tools_of([]), **given)["replies"][0]


def ainvoked(generator: Any, **given: Any) -> ChatMessage:
    return asyncio.run(generator.run_async(ASKED, tools=tools_of([]), **given))["replies"][0]


def same(chunks: list[StreamingChunk], message: ChatMessage) -> ChatMessage:
    """The message, which says what its chunks say."""
    made = _convert_streaming_chunks_to_chat_message(chunks)
    assert (made.text, made.reasoning) == (message.text, message.reasoning)
    assert [(c.id, c.tool_name, c.arguments) for c in made.tool_calls] == [
        (c.id, c.tool_name, c.arguments) for c in message.tool_calls
    ]
    assert made.meta["finish_reason"] == message.meta.get("finish_reason")
    starts = [chunk.index for chunk in chunks if chunk.start]
    assert len(starts) == len(set(starts))
    return message


def streamed(generator: Any) -> ChatMessage:
    chunks: list[StreamingChunk] = []
    return same(chunks, invoked(generator, streaming_callback=chunks.append))


def astreamed(generator: Any) -> ChatMessage:
    chunks: list[StreamingChunk] = []

    async def add(chunk: StreamingChunk) -> None:
        chunks.append(chunk)

    return same(chunks, ainvoked(generator, streaming_callback=add))


Ask = Callable[[Any], ChatMessage]
WAYS: list[Ask] = [invoked, ainvoked, streamed, astreamed]


class TestResponses(SentToolsTests, AgentTests):
    MORE: ClassVar = {
        "exit_reason": "text",
        "counts": {"tide": 2, "wind": 1},
        "reasons": ["tool_calls", "tool_calls", "stop"],
        "tokens": [9, 9, 9],
    }

    def asked(self, url: str, way: str, format: str | None, model: str, **options: Any) -> Read:
        message = WAYS[self.WAYS.index(way)](generator_of(url, format, model, **options))
        calls, refused = list[Any](), list[tuple[str, str]]()
        for call in message.tool_calls:
            if call.extra is None:
                calls.append((call.tool_name, call.arguments))
                continue
            about = call.extra["outspoken"]
            assert call.tool_name.startswith(f"call was refused ({about['problem'].partition(': ')[0]}: ")
            assert (call.arguments, call.id[:5], message.meta["finish_reason"]) == ({}, "call_", "length")
            refused.append((about["name"], f"{about['problem']} {about['written']}"))
        reasoning = message.reasoning.reasoning_text if message.reasoning else None
        return Read(message.text, reasoning, calls, refused, message.meta.get("outspoken", {}))

    def agent(self, url: str, way: str, format: str, ran: Ran, **options: Any) -> tuple[Any, dict[str, Any]]:
        agent = Agent(chat_generator=generator_of(url, format, **options), tools=tools_of(ran))
        seen: list[StreamingChunk] = []
        given: dict[str, Any] = {"streaming_callback": seen.append} if "streamed" in way else {}
        is_async = way in ("awaited", "async streamed")
        found = asyncio.run(agent.run_async(ASKED, **given)) if is_async else agent.run(ASKED, **given)
        answers = [message for message in found["messages"] if message.is_from("assistant")]
        assert not given or "".join([chunk.content for chunk in seen]) == "".join([m.text or "" for m in answers])
        return found["last_message"].text, {
            "exit_reason": found["exit_reason"],
            "counts": found["tool_call_counts"],
            "reasons": [message.meta["finish_reason"] for message in answers],
            "tokens": [message.meta["usage"]["completion_tokens"] for message in answers],
        }


@pytest.mark.parametrize("ask", WAYS)
def test_calls_keep_their_order(ask: Ask) -> None:
    text = f"{INVALID}\n{written('hermes', *BOTH)}\n{INVALID}"
    message = ask(generator_of(text_server(text).url))
    names = [call.tool_name.partition(" (")[0] for call in message.tool_calls]
    assert names == ["call was refused", "tide", "wind", "call was refused"]
    assert len({call.id for call in message.tool_calls}) == 4


def test_text_and_reasoning_stream_as_they_arrive_and_calls_when_they_are_complete() -> None:
    chunks: list[StreamingChunk] = []
    text = written("hermes", BOTH[0], text=ANSWER, reasoning="Which day is it? " * 3)
    invoked(generator_of(text_server(text).url), streaming_callback=chunks.append)
    assert len([chunk for chunk in chunks if chunk.content]) > 3
    assert len([chunk for chunk in chunks if chunk.reasoning]) > 3
    assert len([chunk for chunk in chunks if chunk.tool_calls]) == 1
    assert [chunk.index for chunk in chunks if chunk.start] == [0, 1, 1000]
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["tool_calls"]
    assert chunks[-1].finish_reason == "tool_calls"
    assert len([chunk for chunk in chunks if not (chunk.content or chunk.reasoning or chunk.tool_calls)]) == 4
    assert [chunk.meta["usage"]["completion_tokens"] for chunk in chunks if chunk.meta.get("usage")] == [9]
    assert {chunk.meta["model"] for chunk in chunks} == {"mosses-2"}


@component
class Native:
    """A chat generator that returns reasoning and a call itself, beside its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], streaming_callback: Any = None, tools: Any = None) -> Any:
        if streaming_callback:
            streaming_callback(StreamingChunk("", reasoning=ReasoningContent("Which?"), index=0, start=True))
            for piece in pieces(self.text, 5):
                streaming_callback(StreamingChunk(piece, index=0))
            call = ToolCallDelta(2, "wind", '{"place": "Paris"}', "c9")
            streaming_callback(StreamingChunk("", tool_calls=[call], index=2, start=True))
        calls, reasoning = [ToolCall("wind", {"place": "Paris"}, "c9")], ReasoningContent("Which?", {"s": 1})
        return {"replies": [ChatMessage.from_assistant(self.text, tool_calls=calls, reasoning=reasoning)]}


@pytest.mark.parametrize("ask", [invoked, ainvoked])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_calls_and_reasoning_of_the_chat_generator_itself_are_kept(ask: Any, is_streamed: bool) -> None:
    chunks: list[StreamingChunk] = []
    given = {"streaming_callback": chunks.append} if is_streamed else {}
    text = f"{ANSWER}\n{written('hermes', BOTH[0])}"
    message = ask(OutspokenChatGenerator(Native(text), "hermes", prefix="<think>\n"), **given)
    assert (message.text, message.reasoning) == (ANSWER, ReasoningContent("Which?", {"s": 1}))
    calls = [(call.tool_name, call.arguments) for call in message.tool_calls]
    assert calls == [("wind", {"place": "Paris"}), BOTH[0]]
    if is_streamed:
        made = _convert_streaming_chunks_to_chat_message(chunks)
        assert sorted([call.tool_name for call in made.tool_calls]) == ["tide", "wind"]
        assert (made.text, made.reasoning) == (ANSWER, ReasoningContent("Which?"))


def test_a_chat_generator_that_does_not_stream_is_sent_at_the_end() -> None:
    generator = OutspokenChatGenerator(Whole(written("hermes", BOTH[0], text="Look:")), "hermes")
    chunks: list[StreamingChunk] = []
    for ask in (invoked, ainvoked):
        chunks.clear()
        message = ask(generator, streaming_callback=chunks.append)
        assert same(chunks, message).text == "Look:"
        assert [call.tool_name for call in message.tool_calls] == ["tide"]


def test_chunks_of_two_thoughts_say_what_the_message_says() -> None:
    text = f"<think>One.</think>{written('hermes', BOTH[0])}<think>Two.</think>Done."
    assert streamed(generator_of(text_server(text).url)).reasoning == ReasoningContent("One.\n\nTwo.")


def test_all_replies_are_read() -> None:
    generator = OutspokenChatGenerator(Whole(*[written("hermes", call) for call in BOTH]), "hermes")
    replies = generator.run("When?", tools=tools_of([]))["replies"]
    assert [[(call.tool_name, call.arguments) for call in reply.tool_calls] for reply in replies] == [[c] for c in BOTH]
    assert OutspokenChatGenerator(MockChatGenerator(), "hermes").run([])["replies"] == []


def test_a_pipeline_runs_it_and_survives_serialisation() -> None:
    def pipeline() -> Pipeline:
        mock = MockChatGenerator(written("qwen3_coder", *BOTH, text="Look:"))
        made = Pipeline()
        made.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("When, in {{ place }}?")]))
        options: dict[str, Any] = {"repair": "notation", "settings": {"max_chars": 1000}, "prefix": ""}
        made.add_component("llm", OutspokenChatGenerator(mock, "qwen3_coder", **options))
        made.connect("prompt.prompt", "llm.messages")
        return made

    first = pipeline()
    again = Pipeline.loads(first.dumps())
    assert again.to_dict() == first.to_dict()
    for made in (first, again):
        found = made.run({"prompt": {"place": "Brest"}, "llm": {"tools": tools_of([])}})
        (message,) = found["llm"]["replies"]
        assert [(call.tool_name, call.arguments) for call in message.tool_calls] == [*BOTH]
        assert message.text == "Look:"


def test_an_agent_survives_serialisation() -> None:
    generator = OutspokenChatGenerator(MockChatGenerator([written("hermes", BOTH[0]), ANSWER]), "hermes")
    agent = Agent(chat_generator=generator, tools=[lookup])
    agent = Agent.from_dict(agent.to_dict())
    assert agent.run(ASKED)["last_message"].text == ANSWER


@tool(name="tide")
def lookup(place: Annotated[str, "a port"], day: Annotated[int, "a day"] = 0) -> str:
    """The hour of high tide."""
    return "nine"


def shown(chunk: StreamingChunk) -> None:
    """A callback that can be serialised."""
    SHOWN.append(chunk.content)


SHOWN: list[str] = []


def test_a_callback_of_the_component_is_called_and_serialised() -> None:
    generator = OutspokenChatGenerator(MockChatGenerator(ANSWER), "hermes", streaming_callback=shown)
    for made in (generator, OutspokenChatGenerator.from_dict(generator.to_dict())):
        SHOWN.clear()
        made.run(ASKED)
        assert "".join(SHOWN) == ANSWER


def test_tools_may_be_a_toolset() -> None:
    server = text_server(written("qwen3_coder", BOTH[0]))
    generator = generator_of(server.url, "qwen3_coder", send_tools=False)
    (message,) = generator.run(ASKED, tools=Toolset(tools_of([])), generation_kwargs={"seed": 1})["replies"]
    assert [(call.tool_name, call.arguments) for call in message.tool_calls] == [BOTH[0]]
    assert (server.requests[0]["seed"], "tools" in server.requests[0]) == (1, False)


def test_the_chat_generator_is_warmed_up_and_closed_with_the_agent() -> None:
    seen: list[str] = []

    @component
    class Client(Whole):
        def warm_up(self) -> None:
            seen.append("warm_up")

        def close(self) -> None:
            seen.append("close")

    @component
    class AsyncClient(Client):
        async def warm_up_async(self) -> None:
            seen.append("warm_up_async")

        async def close_async(self) -> None:
            seen.append("close_async")

    for kind in (Client, AsyncClient, Whole):
        agent = Agent(chat_generator=OutspokenChatGenerator(kind(), "hermes"), tools=tools_of([]))
        agent.warm_up()
        agent.close()
        asyncio.run(agent.warm_up_async())
        asyncio.run(agent.close_async())
    assert seen == ["warm_up", "close", "warm_up", "close", "warm_up", "close", "warm_up_async", "close_async"]


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(ValueError, match="expected an integer of at least 1"):
        OutspokenChatGenerator(Whole(), "hermes", settings={"max_chars": 0})
    with pytest.raises(TypeError, match="`chat_generator` is a str; expected a chat generator of Haystack"):
        OutspokenChatGenerator("qwen3-coder", "hermes")
