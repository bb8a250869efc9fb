"""Pydantic AI with a model that writes raw text: agents, streams, structured output, retries."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai import messages as kinds
from pydantic_ai.exceptions import IncompleteToolCall, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, PartDeltaEvent, TextPart, TextPartDelta, ThinkingPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from outspoken.integrations.pydantic_ai import AskAgain, OutspokenModel
from tests.integrations.model_tests import ANSWER, UNREAD, AgentTests, Ran, Read, ReasoningTests, text_of, weather
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, TOOLS, written
from tests.integrations.text_server import text_server


def model_of(*texts: str | tuple[str, str | None], format: str | None = "hermes", size: int = 5) -> OutspokenModel:
    """A model of a server that writes these texts in turn, read in a format."""
    return client(text_server(*texts, size=size).url, format)


def client(url: str, format: str | None, model: str = "m", **options: Any) -> OutspokenModel:
    server = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key="none"))
    return OutspokenModel(server, format, **options)


def agent_of(model: Model, **options: Any) -> tuple[Agent[None, Any], Ran]:
    """An agent with two tools, and the calls that they got."""
    ran = Ran()
    return Agent(model, tools=weather(ran), **options), ran


def asked(agent: Agent[None, Any], streamed: bool = False) -> Any:
    """The result of a run; of one that is streamed, its output and tokens."""

    async def run() -> Any:
        async with agent:
            if not streamed:
                return await agent.run("When?")
            async with agent.run_stream("When?") as result:
                return await result.get_output(), result.usage.output_tokens

    return asyncio.run(run())


def parts(messages: list[ModelMessage], kind: str) -> list[Any]:
    return [part for message in messages for part in message.parts if part.part_kind == kind]


def responded(model: OutspokenModel, way: str, history: Any = ()) -> ModelResponse:
    """The response to a request with the tools of the tests."""
    tools = [
        ToolDefinition(name=t["function"]["name"], parameters_json_schema=t["function"]["parameters"]) for t in TOOLS
    ]
    asked: Any = ([*history], None, ModelRequestParameters(function_tools=tools))

    async def run() -> ModelResponse:
        async with model:
            if way == "whole":
                return await model.request(*asked)
            async with model.request_stream(*asked) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    return asyncio.run(run())


class TestResponses(ReasoningTests):
    WAYS = ("whole", "streamed")
    KINDS = ("thinking", "text", "tool-call", "tool-call")

    def asked(self, url: str, way: str, format: str | None, model: str, **options: Any) -> Read:
        response = responded(client(url, format, model, **options), way)
        calls, refused = list[Any](), list[tuple[str, str]]()
        for call in parts([response], "tool-call"):
            if not isinstance(call.args, str) or call.args.startswith("{"):
                calls.append((call.tool_name, call.args_as_dict()))
                continue
            refused.append((call.tool_name, call.args))
            with pytest.raises(ValueError, match="expected"):
                call.args_as_dict(raise_if_invalid=True)
        return Read(
            text="".join([part.content for part in parts([response], "text")]),
            reasoning="".join([part.content for part in parts([response], "thinking")]),
            calls=calls,
            refused=refused,
            about=(response.metadata or {}).get("outspoken", {}),
            kinds=tuple(part.part_kind for part in response.parts),
        )


async def read_all(context: Any, events: Any) -> None:
    """A handler with which an agent streams the responses of its model."""
    async for _ in events:
        pass


class TestAgents(AgentTests):
    WAYS = ("whole", "streamed")
    MORE: ClassVar = {"results": ["nine", "nine", "west"], "metadata": [None] * 3, "tokens": 27}

    def agent(self, url: str, way: str, format: str, ran: Ran, **options: Any) -> tuple[Any, dict[str, Any]]:
        agent = Agent(client(url, format, **options), tools=weather(ran))

        async def run() -> Any:
            async with agent:
                return await agent.run("When?", event_stream_handler=read_all if way == "streamed" else None)

        result = asyncio.run(run())
        messages = result.all_messages()
        told = {part.tool_call_id: part for part in parts(messages, "tool-return")}
        assert [*told] == [call.tool_call_id for call in parts(messages, "tool-call")]
        return result.output, {
            "results": [part.content for part in told.values()],
            "metadata": [message.metadata for message in messages if message.kind == "response"],
            "tokens": result.usage.output_tokens,
        }


def test_text_behind_a_call_is_another_part() -> None:
    text = written("hermes", BOTH[1], text="Wait.") + "\nDone."
    for way, size in (("whole", 5), ("streamed", 1), ("streamed", 7), ("streamed", 1000)):
        before, call, behind = responded(model_of(text, size=size), way).parts
        assert (before.content, call.args_as_dict(), behind.content) == ("Wait.", {"place": "Brest"}, "\n\nDone.")


@pytest.mark.parametrize(("stop", "ran"), [([], [BOTH[0]]), (["Observation:"], [])])
def test_a_stop_of_the_request_proves_no_end(stop: list[str], ran: Ran) -> None:
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>")
    agent, found = agent_of(model_of(text, ANSWER), model_settings={"stop_sequences": stop})
    result = asked(agent)
    assert (result.output, found) == (ANSWER, ran)


def test_a_streamed_call_with_a_problem_is_not_run() -> None:
    agent, ran = agent_of(model_of(INVALID, written("hermes", BOTH[0]), ANSWER))
    assert asked(agent, streamed=True) == (ANSWER, 27)
    assert ran == [BOTH[0]]


def test_calls_that_stay_cut_end_the_run() -> None:
    agent, ran = agent_of(model_of(*[(CUT, "length")] * 3), retries=1)
    with pytest.raises((IncompleteToolCall, UnexpectedModelBehavior), match=r"token limit|maximum"):
        asked(agent)
    assert ran == []


def test_ask_again_rejects_a_response_whose_call_could_not_be_read() -> None:
    server = text_server(UNREAD, written("hermes", BOTH[0]), ANSWER)
    agent, ran = agent_of(client(server.url, "hermes"), capabilities=[AskAgain()])
    result = asked(agent)
    assert (result.output, ran) == (ANSWER, [BOTH[0]])
    wrote, told = [message for message in server.requests[1]["messages"] if message["role"] != "system"][-2:]
    assert text_of(wrote) == UNREAD  # the model sees what it wrote
    assert "could not be used, and no tool was run" in text_of(told)
    assert result.usage.requests == 3


class Tide(BaseModel):
    place: str
    hour: int


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("streamed", [False, True])
def test_structured_output_is_the_call_of_the_output_tool(format: str, streamed: bool) -> None:
    wrong = written(format, ("final_result", {"place": "Brest", "hour": "late"}))
    right = written(format, ("final_result", {"place": "Brest", "hour": 9}))
    if streamed:

        async def run() -> list[Tide]:
            agent = Agent(model_of(right, format=format), output_type=Tide)
            async with agent, agent.run_stream("When?") as result:
                return [output async for output in result.stream_output(debounce_by=None)]

        assert asyncio.run(run())[-1] == Tide(place="Brest", hour=9)
        return
    result = asked(Agent(model_of(wrong, right, format=format), output_type=Tide))
    assert result.output == Tide(place="Brest", hour=9)
    assert parts(result.all_messages(), "tool-return")[0].outcome == "retried"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "text", ['{"place": "Brest", "hour": "9"}', 'Here:\n```json\n{"place": "Brest", "hour": 9,}\n```']
)
def test_json_in_the_text_is_the_call_of_the_output_tool(text: str, streamed: bool) -> None:
    found = asked(Agent(model_of(text), output_type=Tide), streamed)
    assert (found[0] if streamed else found.output) == Tide(place="Brest", hour=9)


@pytest.mark.parametrize("output", [Tide, str])
def test_text_that_is_no_value_or_may_be_the_answer_is_no_call(output: Any) -> None:
    text = '{"place": "Brest", "hour": 9}' if output is str else "At nine."
    agent = Agent(model_of(text, text), output_type=output, retries=0)
    if output is str:
        assert asked(agent).output == text
        return
    with pytest.raises(UnexpectedModelBehavior):
        asked(agent)


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>\nHm, they want", [("thinking", "Hm, they want")]),
        ("<think>\nHm.\n</think>\n\nNine.", [("thinking", "Hm."), ("text", "Nine.")]),
        ("Tags such as <think> begin it.", [("text", "Tags such as <think> begin it.")]),
    ],
)
def test_a_server_s_reasoning_is_none_of_the_answer(
    text: str, shown: list[tuple[str, str]], size: int, way: str
) -> None:
    server = text_server((text, "length" if "</think>" not in text else "stop"), size=size)
    history = [ModelResponse(parts=[ThinkingPart("Which?"), TextPart("Where?")])]
    response = responded(client(server.url, "hermes"), way, history)
    assert [(part.part_kind, part.content) for part in response.parts] == shown
    assert server.requests[0]["messages"][0]["content"] == "<think>\nWhich?\n</think>\n\nWhere?"


OFFERED = ModelRequestParameters(function_tools=[ToolDefinition(name="tide"), ToolDefinition(name="wind")])


def test_text_and_the_arguments_of_a_call_stream_as_they_arrive() -> None:
    async def deltas(text: str) -> list[Any]:
        model = model_of(text, size=10)
        async with model, model.request_stream([], None, OFFERED) as stream:
            return [event.delta async for event in stream if isinstance(event, PartDeltaEvent)]

    texts = [delta.content_delta for delta in asyncio.run(deltas(ANSWER))]
    assert len(texts) >= 2
    assert ANSWER.endswith("".join(texts))
    found = asyncio.run(deltas(written("hermes", ("tide", {"place": "Brest " * 20}))))
    assert len([delta for delta in found if not isinstance(delta, TextPartDelta)]) > 5


def test_a_cancelled_stream_is_interrupted() -> None:
    async def run() -> ModelResponse:
        model = model_of(ANSWER, size=10)
        async with model, model.request_stream([], None, ModelRequestParameters()) as stream:
            async for _ in stream:
                await stream.cancel()
            return stream.get()

    assert asyncio.run(run()).state == "interrupted"


def test_parts_of_the_wrapped_model_are_kept() -> None:
    native = [
        ThinkingPart("Which?", signature="s"),
        TextPart(written("hermes", BOTH[0])),
        kinds.ToolCallPart("wind", {}, "c9"),
    ]
    model = OutspokenModel(FunctionModel(lambda *asked: ModelResponse(parts=native.copy())), "hermes")
    response = asyncio.run(model.request([], None, OFFERED))
    assert [part.part_kind for part in response.parts] == ["thinking", "tool-call", "tool-call"]
    assert (response.parts[0], response.parts[2]) == (native[0], native[2])


def test_a_thinking_part_of_the_wrapped_model_closes_what_the_prompt_opened() -> None:
    native = ModelResponse(parts=[ThinkingPart("Which?"), TextPart(ANSWER)])
    model = OutspokenModel(FunctionModel(lambda *asked: native), "hermes", prefix="<think>\n")
    response = asyncio.run(model.request([], None, ModelRequestParameters()))
    assert [(part.part_kind, part.content) for part in response.parts] == [("thinking", "Which?"), ("text", ANSWER)]
