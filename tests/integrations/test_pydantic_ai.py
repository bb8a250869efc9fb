"""Pydantic AI with a model that writes raw text: agents, streams, structured output, retries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.exceptions import IncompleteToolCall, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from outspoken.integrations.pydantic_ai import AskAgain, OutspokenModel
from tests.integrations.model_tests import ANSWER, UNREAD, AgentTests, ModelTests, Ran, Read, Run, weather
from tests.integrations.model_texts import (
    BOTH,
    CUT,
    FORMATS,
    INVALID,
    THINKER,
    TOOLS,
    pieces,
    written,
)
from tests.integrations.page import printed_by_example
from tests.integrations.text_server import text_server


class Script:
    """A model that writes texts in turn, whole or in pieces, and remembers the messages that it was sent."""

    def __init__(self, *texts: str | tuple[str, str], size: int = 5) -> None:
        self.texts = [text if isinstance(text, tuple) else (text, "stop") for text in texts]
        self.sent: list[list[ModelMessage]] = []
        self.offered: list[str] = []
        self.size = size

    def whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(messages.copy())
        self.offered = [tool.name for tool in info.function_tools]
        text, reason = self.texts[len(self.sent) - 1]
        return ModelResponse(parts=[TextPart(text)], finish_reason=reason)

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        self.sent.append(messages.copy())
        self.offered = [tool.name for tool in info.function_tools]
        for piece in [*pieces(self.texts[len(self.sent) - 1][0], self.size)] or [""]:
            yield piece

    def model(self, format: str | None, **options: Any) -> OutspokenModel:
        name = None if format else THINKER
        wrapped = FunctionModel(self.whole, stream_function=self.stream, model_name=name)
        return OutspokenModel(wrapped, format, **options)


def agent_of(model: Model, **options: Any) -> tuple[Agent[None, Any], Ran]:
    """An agent with two tools, and the calls that they got."""
    ran = Ran()
    return Agent(model, tools=weather(ran), **options), ran


def asked(agent: Agent[None, Any]) -> Any:
    """The result of a run that is not streamed."""
    return asyncio.run(agent.run("When?"))


def parts(messages: list[ModelMessage], kind: str) -> list[Any]:
    return [part for message in messages for part in message.parts if part.part_kind == kind]


def responded(script: Script, way: str, format: str | None) -> ModelResponse:
    """The response to a request with the tools of the tests."""
    tools = [
        ToolDefinition(name=t["function"]["name"], parameters_json_schema=t["function"]["parameters"]) for t in TOOLS
    ]
    asked: Any = ([], None, ModelRequestParameters(function_tools=tools))

    async def run() -> ModelResponse:
        if way == "whole":
            return await script.model(format).request(*asked)
        async with script.model(format).request_stream(*asked) as stream:
            async for _ in stream:
                pass
            return stream.get()

    return asyncio.run(run())


class TestResponses(ModelTests):
    WAYS = ("whole", "streamed")
    KINDS = ("thinking", "text", "tool-call", "tool-call")

    def read(self, text: str, way: str, format: str | None = "hermes", *, size: int = 5, reason: str = "stop") -> Read:
        response = responded(Script((text, reason), size=size), way, format)
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
    MORE: ClassVar = {"results": ["nine", "nine", "west"], "metadata": [None] * 3}

    def run(self, texts: list[str], way: str, format: str) -> Run:
        script = Script(*texts)
        agent, ran = agent_of(script.model(format))
        handler = read_all if way == "streamed" else None
        result = asyncio.run(agent.run("When?", event_stream_handler=handler))
        messages = result.all_messages()
        wrote, told = parts(script.sent[1], "tool-call")[0], parts(script.sent[1], "tool-return")[0]
        assert wrote.tool_call_id == told.tool_call_id
        responses = [message for message in messages if message.kind == "response"]
        return Run(
            answer=result.output,
            ran=ran,
            texts=["".join([part.content for part in parts([response], "text")]) for response in responses],
            ids=[call.tool_call_id for call in parts(messages, "tool-call")],
            tools=script.offered,
            more={
                "results": [part.content for part in parts(messages, "tool-return")],
                "metadata": [response.metadata for response in responses],
            },
            told=(wrote.args, told.content[0]["input"]) if told.outcome == "retried" else None,
        )


def test_text_behind_a_call_is_another_part() -> None:
    text = written("hermes", BOTH[1], text="Wait.") + "\nDone."
    for way, size in (("whole", 5), ("streamed", 1), ("streamed", 7), ("streamed", 1000)):
        before, call, behind = responded(Script(text, size=size), way, "hermes").parts
        assert (before.content, call.args_as_dict(), behind.content) == ("Wait.", {"place": "Brest"}, "\n\nDone.")


@pytest.mark.parametrize(("stop", "ran"), [([], [BOTH[0]]), (["Observation:"], [])])
def test_a_stop_of_the_request_proves_no_end(stop: list[str], ran: Ran) -> None:
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>")
    agent, found = agent_of(Script(text, ANSWER).model("hermes"))
    result = asyncio.run(agent.run("When?", model_settings={"stop_sequences": stop}))
    assert (result.output, found) == (ANSWER, ran)


def test_a_streamed_call_with_a_problem_is_not_run() -> None:
    script = Script(INVALID, written("hermes", BOTH[0]), ANSWER)
    agent, ran = agent_of(script.model("hermes"))

    async def run() -> str:
        async with agent.run_stream("When?") as result:
            return await result.get_output()

    assert asyncio.run(run()) == ANSWER
    assert ran == [BOTH[0]]


def test_calls_that_stay_cut_end_the_run() -> None:
    agent, ran = agent_of(Script((CUT, "length"), (CUT, "length"), (CUT, "length")).model("hermes"), retries=1)
    with pytest.raises((IncompleteToolCall, UnexpectedModelBehavior), match=r"token limit|maximum"):
        asked(agent)
    assert ran == []


def test_ask_again_rejects_a_response_whose_call_could_not_be_read() -> None:
    script = Script(UNREAD, written("hermes", BOTH[0]), ANSWER)
    agent, ran = agent_of(script.model("hermes"), capabilities=[AskAgain()])
    result = asked(agent)
    assert (result.output, ran) == (ANSWER, [BOTH[0]])
    assert parts(script.sent[1], "text")[0].content == UNREAD  # the model sees what it wrote
    feedback = script.sent[1][-1].parts[0]
    assert "could not be used, and no tool was run" in str(feedback.content)
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
            agent = Agent(Script(right).model(format), output_type=Tide)
            async with agent.run_stream("When?") as result:
                return [output async for output in result.stream_output(debounce_by=None)]

        assert asyncio.run(run())[-1] == Tide(place="Brest", hour=9)
        return
    script = Script(wrong, right)
    assert asked(Agent(script.model(format), output_type=Tide)).output == Tide(place="Brest", hour=9)
    assert [part.outcome for part in parts(script.sent[1], "tool-return")] == ["retried"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "text", ['{"place": "Brest", "hour": "9"}', 'Here:\n```json\n{"place": "Brest", "hour": 9,}\n```']
)
def test_json_in_the_text_is_the_call_of_the_output_tool(text: str, streamed: bool) -> None:
    async def run() -> Tide:
        agent = Agent(Script(text).model("hermes"), output_type=Tide)
        if not streamed:
            return (await agent.run("When?")).output
        async with agent.run_stream("When?") as result:
            return await result.get_output()

    assert asyncio.run(run()) == Tide(place="Brest", hour=9)


@pytest.mark.parametrize("output", [Tide, str])
def test_text_that_is_no_value_or_may_be_the_answer_is_no_call(output: Any) -> None:
    text = '{"place": "Brest", "hour": 9}' if output is str else "At nine."
    agent = Agent(Script(text, text).model("hermes"), output_type=output, retries=0)
    if output is str:
        assert asked(agent).output == text
        return
    with pytest.raises(UnexpectedModelBehavior):
        asked(agent)


@pytest.mark.parametrize("streamed", [False, True])
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
    text: str, shown: list[tuple[str, str]], size: int, streamed: bool
) -> None:
    async def run(url: str) -> Any:
        model = OutspokenModel(OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none")), "hermes")
        history = [ModelResponse(parts=[ThinkingPart("Which?"), TextPart("Where?")])]
        request: Any = (history, None, ModelRequestParameters())
        async with model:
            if not streamed:
                return await model.request(*request)
            async with model.request_stream(*request) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    with text_server((text, "length" if "</think>" not in text else "stop"), size=size) as server:
        response = asyncio.run(run(server.url))
    assert [(part.part_kind, part.content) for part in response.parts] == shown
    assert server.requests[0]["messages"][0]["content"] == "<think>\nWhich?\n</think>\n\nWhere?"


def test_text_streams_as_it_arrives() -> None:
    async def run() -> list[str]:
        async with Script(ANSWER, size=10).model("hermes").request_stream([], None, ModelRequestParameters()) as stream:
            return [e.delta.content_delta async for e in stream if isinstance(e, PartDeltaEvent)]

    deltas = asyncio.run(run())
    assert len(deltas) >= 2
    assert ANSWER.endswith("".join(deltas))


OFFERED = ModelRequestParameters(function_tools=[ToolDefinition(name="tide"), ToolDefinition(name="wind")])


def test_the_arguments_of_a_call_stream_as_they_arrive() -> None:
    text = written("hermes", ("tide", {"place": "Brest " * 20}))

    async def run() -> int:
        model = Script(text, size=10).model("hermes")
        async with model.request_stream([], None, OFFERED) as stream:
            return len(
                [e async for e in stream if isinstance(e, PartDeltaEvent) and not isinstance(e.delta, TextPartDelta)]
            )

    assert asyncio.run(run()) > 5


def test_a_cancelled_stream_is_interrupted() -> None:
    async def run() -> ModelResponse:
        async with Script(ANSWER, size=10).model("hermes").request_stream([], None, ModelRequestParameters()) as stream:
            async for _ in stream:
                await stream.cancel()
            return stream.get()

    assert asyncio.run(run()).state == "interrupted"


def test_parts_of_the_wrapped_model_are_kept() -> None:
    native = [
        ThinkingPart("Which?", signature="s"),
        TextPart(written("hermes", BOTH[0])),
        ToolCallPart("wind", {}, "c9"),
    ]

    def whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=native.copy())

    model = OutspokenModel(FunctionModel(whole), "hermes")
    response = asyncio.run(model.request([], None, OFFERED))
    assert [part.part_kind for part in response.parts] == ["thinking", "tool-call", "tool-call"]
    assert (response.parts[0], response.parts[2]) == (native[0], native[2])


def test_a_thinking_part_of_the_wrapped_model_closes_what_the_prompt_opened() -> None:
    def whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ThinkingPart("Which?"), TextPart(ANSWER)])

    model = OutspokenModel(FunctionModel(whole), "hermes", prefix="<think>\n")
    response = asyncio.run(model.request([], None, ModelRequestParameters()))
    assert [(part.part_kind, part.content) for part in response.parts] == [("thinking", "Which?"), ("text", ANSWER)]


def test_a_server_of_chat_completions_is_wrapped() -> None:
    for streamed in (False, True):
        with text_server(
            *[written("qwen3_coder", *calls, text=text) for calls, text in ((BOTH, ""), ((), ANSWER))]
        ) as server:
            provider = OpenAIProvider(base_url=server.url, api_key="none")
            agent, ran = agent_of(OutspokenModel(OpenAIChatModel("m", provider=provider), "qwen3_coder"))

            async def run(agent: Agent[None, Any] = agent, streamed: bool = streamed) -> tuple[str, int]:
                async with agent:
                    if not streamed:
                        result = await agent.run("When?")
                        return result.output, result.usage.output_tokens
                    async with agent.run_stream("When?") as stream:
                        return await stream.get_output(), stream.usage.output_tokens

            assert asyncio.run(run()) == (ANSWER, 18)
            assert sorted(ran) == sorted(BOTH)
            assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide", "wind"]
            roles = [message["role"] for message in server.requests[1]["messages"]]
            assert roles == ["user", "assistant", "tool", "tool"]
            assert server.requests[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "tide"


def test_the_example_runs() -> None:
    call = written("qwen3_coder", ("tide", {"place": "Brest"}))
    with text_server(call, ANSWER) as server:
        assert printed_by_example("pydantic_ai", server.url) == f"{ANSWER}\n"
    assert server.requests[1]["messages"][-1]["content"] == "High tide in Brest at nine."
