"""The OpenAI Agents SDK with a model that writes raw text: agents, streams, handoffs, structured output, damage."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents import (
    Agent,
    AgentsException,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.models.interface import ModelTracing
from openai import AsyncOpenAI
from openai.types.responses import ResponseCompletedEvent, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from outspoken import UnknownFormatError
from outspoken.integrations.openai_agents import OutspokenModel
from outspoken.providers import ProviderReply
from outspoken.serving.app import Proxy
from outspoken.serving.settings import ServerSettings
from tests.integrations.model_tests import ANSWER, Ran, weather
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, THINKER, THOUGHT, written
from tests.integrations.page import printed_by_example
from tests.integrations.text_server import TextServer, text_server
from tests.serving.serving import Server

set_tracing_disabled(True)


@asynccontextmanager
async def model_of(server: TextServer, format: str, **options: Any) -> Any:
    async with AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
        yield OutspokenModel(OpenAIChatCompletionsModel("m", client), format, **options)


def agent_of(model: OutspokenModel, **options: Any) -> tuple[Agent[Any], Ran]:
    """An agent with two tools, and the calls that they got."""
    ran = Ran()
    return Agent("tides", tools=[function_tool(one) for one in weather(ran)], model=model, **options), ran


async def run(agent: Agent[Any], streamed: bool, **options: Any) -> Any:
    if not streamed:
        return await Runner.run(agent, "When?", **options)
    result = Runner.run_streamed(agent, "When?", **options)
    async for _ in result.stream_events():
        pass
    return result


def ran_with(
    format: str, streamed: bool, *texts: str | tuple[str, str], size: int = 7, **options: Any
) -> tuple[Any, Ran, TextServer, list[ProviderReply]]:
    """The result of a run, the calls that were run, the server, and the replies."""
    replies: list[ProviderReply] = []
    with text_server(*texts, size=size) as server:

        async def main() -> Any:
            async with model_of(server, format, on_reply=replies.append) as model:
                agent, ran = agent_of(model, **options)
                return await run(agent, streamed), ran

        result, ran = asyncio.run(main())
        return result, ran, server, replies


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_agent_runs_one_call_then_two_at_once(format: str, streamed: bool) -> None:
    first = written(format, ("tide", {"place": "Paris"}), text="Let me look.")
    result, ran, server, replies = ran_with(
        format, streamed, first, written(format, *BOTH), written(format, text=ANSWER)
    )
    assert result.final_output == ANSWER
    assert ran[0] == ("tide", {"place": "Paris"})
    assert sorted(ran[1:]) == sorted(BOTH)
    assert [response.usage.output_tokens for response in result.raw_responses] == [9, 9, 9]
    assert [reply.status for reply in replies] == ["ok", "ok", "ok"]
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide", "wind"]
    sent = server.requests[2]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "tool", "tool"]
    assert sent[1]["content"] == "Let me look."
    ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 3
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ids


async def responses(server: TextServer, format: str, sizes: Iterator[int], **options: Any) -> list[Any]:
    """The output of a request, whole and of streams that are split in other ways."""
    asked: dict[str, Any] = {"previous_response_id": None, "conversation_id": None, "prompt": None}
    outputs: list[Any] = []
    async with model_of(server, format, **options) as model:
        agent, _ = agent_of(model)
        given = ("", "When?", ModelSettings(), agent.tools, None, [], ModelTracing.DISABLED)
        outputs.append((await model.get_response(*given, **asked)).output)
        for server.size in sizes:
            events = [event async for event in model.stream_response(*given, **asked)]
            checked = TypeAdapter(ResponseStreamEvent)
            assert all(isinstance(event, type(checked.validate_python(event.model_dump()))) for event in events)
            assert [event.sequence_number for event in events] == [*range(len(events))]
            assert isinstance(events[-1], ResponseCompletedEvent)
            outputs.append(events[-1].response.output)
            done = [event.item for event in events if event.type == "response.output_item.done"]
            assert [item.model_dump() for item in done] == [item.model_dump() for item in outputs[-1]]
    return outputs


def all_ways(text: str, format: str, **options: Any) -> list[Any]:
    with text_server(*[text] * 4) as server:
        return asyncio.run(responses(server, format, iter((1, 7, 1000)), **options))


@pytest.mark.parametrize("format", ["hermes", "harmony", "glm_4_5"])
def test_reasoning_text_and_calls_keep_their_order(format: str) -> None:
    for output in all_ways(written(format, *BOTH, text="Look:", reasoning="Which day?"), format):
        assert [item.type for item in output] == ["reasoning", "message", "function_call", "function_call"]
        reasoning, message, *calls = output
        assert (reasoning.content[0].text, message.content[0].text) == ("Which day?", "Look:")
        assert [call.name for call in calls] == ["tide", "wind"]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_repaired_call_runs_and_the_reply_says_what_was_repaired(streamed: bool) -> None:
    result, ran, _, replies = ran_with("hermes", streamed, REPAIRABLE, ANSWER)
    assert (result.final_output, ran) == (ANSWER, [BOTH[0]])
    assert [repair.code for repair in replies[0].repairs] == ["trailing-comma", "missing-closer"]


@pytest.mark.parametrize("text", [INVALID, CUT])
def test_a_call_with_a_problem_is_no_sound_call(text: str) -> None:
    status = "invalid" if text == INVALID else "truncated"
    for output in all_ways(text, "hermes"):
        call = output[-1]
        assert (call.type, call.name) == ("function_call", "tide")
        assert call.arguments.startswith(f"the call of `tide` is {status} and was not run: ")
        assert call.arguments.endswith(text.removeprefix("Wait.").lstrip())


@pytest.mark.parametrize("text", [INVALID, CUT, (CUT, "length")])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_model_is_told_about_a_call_with_a_problem_and_writes_another(text: Any, streamed: bool) -> None:
    result, ran, server, _ = ran_with("hermes", streamed, text, written("hermes", BOTH[0]), ANSWER)
    assert (result.final_output, ran) == (ANSWER, [BOTH[0]])
    damaged, answer = server.requests[1]["messages"][-2:]
    assert damaged["tool_calls"][0]["function"]["arguments"] == "{}"
    assert answer["role"] == "tool"
    assert "and was not run: " in answer["content"]


def test_a_call_without_its_end_is_taken_as_cut_unless_told_otherwise() -> None:
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>").removesuffix("}")
    for output in all_ways(text, "hermes"):
        assert "is truncated and was not run" in output[-1].arguments
    for output in all_ways(text, "hermes", finish_reason="stop"):
        assert output[-1].arguments == '{"place": "Brest", "day": 3}'


@pytest.mark.parametrize("streamed", [False, True])
def test_a_handoff_is_a_call(streamed: bool) -> None:
    with text_server(written("qwen3_coder", ("transfer_to_sailor", {})), ANSWER) as server:

        async def main() -> Any:
            async with model_of(server, "qwen3_coder") as model:
                sailor = Agent("sailor", model=model)
                return await run(Agent("harbour", model=model, handoffs=[sailor]), streamed)

        result = asyncio.run(main())
    assert (result.final_output, result.last_agent.name) == (ANSWER, "sailor")


@pytest.mark.parametrize("streamed", [False, True])
def test_structured_output_is_the_text(streamed: bool) -> None:
    class Tide(BaseModel):
        place: str
        hour: int

    text = '<think>Nine.</think>{"place": "Brest", "hour": 9}'
    result, _, _, _ = ran_with("hermes", streamed, text, output_type=Tide)
    assert result.final_output == Tide(place="Brest", hour=9)


def test_text_streams_as_it_arrives_and_a_call_when_it_is_complete() -> None:
    text = written("hermes", ("tide", {"place": "Brest " * 20}), text=ANSWER)
    with text_server(text, size=10) as server:

        async def main() -> list[Any]:
            asked: dict[str, Any] = {"previous_response_id": None, "conversation_id": None, "prompt": None}
            async with model_of(server, "hermes") as model:
                tools = agent_of(model)[0].tools
                given = ("", "When?", ModelSettings(), tools, None, [], ModelTracing.DISABLED)
                return [event async for event in model.stream_response(*given, **asked)]

        events = asyncio.run(main())
    kinds = [event.type for event in events]
    assert kinds.count("response.output_text.delta") >= 3
    assert kinds.count("response.function_call_arguments.delta") == 1
    assert kinds.count("response.created") == kinds.count("response.completed") == 1
    assert "".join([event.delta for event in events if event.type == "response.output_text.delta"]) == ANSWER


def test_the_example_runs() -> None:
    call = written("qwen3_coder", ("tide", {"place": "Brest"}))
    with text_server(call, ANSWER) as server:
        assert printed_by_example("openai_agents", server.url) == f"{ANSWER}\n"
    assert server.requests[1]["messages"][-1]["content"] == "High tide in Brest at nine."


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(UnknownFormatError):
        OutspokenModel(None, "hermess")


# through `outspoken serve`: the SDK's own models, of both of its APIs


def ran_through_the_proxy(api: str, streamed: bool, *texts: str | tuple[str, str]) -> tuple[Any, Ran, TextServer]:
    """A run with the SDK's own model in front of the proxy: its result or error, its calls, the upstream."""
    with text_server(*texts) as server, Server(Proxy(ServerSettings(server.url, "hermes")).app()) as proxy:

        async def main() -> Any:
            async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="none", max_retries=0) as client:
                kind = OpenAIResponsesModel if api == "responses" else OpenAIChatCompletionsModel
                agent, ran = agent_of(kind("m", client))
                try:
                    return await run(agent, streamed), ran
                except AgentsException as error:
                    return error, ran

        result, ran = asyncio.run(main())
        return result, ran, server


@pytest.mark.parametrize("api", ["responses", "chat_completions"])
@pytest.mark.parametrize("streamed", [False, True])
def test_an_agent_runs_through_the_proxy(api: str, streamed: bool) -> None:
    first = written("hermes", ("tide", {"place": "Paris"}), text="Let me look.", reasoning="Paris?")
    result, ran, server = ran_through_the_proxy(api, streamed, first, written("hermes", *BOTH), ANSWER)
    assert result.final_output == ANSWER
    assert ran[0] == ("tide", {"place": "Paris"})
    assert sorted(ran[1:]) == sorted(BOTH)
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide", "wind"]
    sent = server.requests[2]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "tool", "tool"]
    ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 3
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ids
    if api == "responses":
        assert sent[1]["reasoning_content"] == "Paris?"
        assert [response.usage.output_tokens for response in result.raw_responses] == [9, 9, 9]


@pytest.mark.parametrize("api", ["responses", "chat_completions"])
@pytest.mark.parametrize("streamed", [False, True])
def test_damage_through_the_proxy(api: str, streamed: bool) -> None:
    result, ran, _ = ran_through_the_proxy(api, streamed, REPAIRABLE, ANSWER)
    assert (result.final_output, ran) == (ANSWER, [BOTH[0]])
    for text in (CUT, INVALID, (CUT, "length"), '<tool_call>\n{"name": "tide", "arguments": {}'):
        result, ran, _ = ran_through_the_proxy(api, streamed, text, ANSWER)
        assert ran == []
        shown = (ANSWER, "Wait.", "", text if isinstance(text, str) else text[0])
        assert isinstance(result, AgentsException) or result.final_output in shown


@pytest.mark.parametrize("streamed", [False, True])
def test_the_name_of_the_model_says_the_format(streamed: bool) -> None:
    replies: list[ProviderReply] = []

    async def main(server: TextServer) -> Any:
        async with AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
            model = OutspokenModel(OpenAIChatCompletionsModel(THINKER, client), on_reply=replies.append)
            return await run(Agent("tides", model=model), streamed)

    with text_server(THOUGHT) as server:
        assert asyncio.run(main(server)).final_output == "At nine."
    assert [reply.reasoning for reply in replies] == ["They ask."]
