"""The OpenAI Agents SDK with a model that writes raw text: agents, streams, handoffs, structured output, damage."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import agents
import pytest
from agents import Agent, AgentsException, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.models.interface import ModelTracing
from openai import AsyncOpenAI
from openai.types.responses import ResponseCompletedEvent, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from outspoken.integrations.messages import noted
from outspoken.integrations.openai_agents import OutspokenModel
from outspoken.providers import ProviderReply
from outspoken.serving.app import Proxy
from outspoken.serving.settings import ServerSettings
from tests.integrations.model_tests import ANSWER, AgentTests, Ran, Read, ReasoningTests, weather
from tests.integrations.model_texts import BOTH, CUT, INVALID, REPAIRABLE, THINKER, written
from tests.integrations.text_server import TextServer, text_server
from tests.serving.serving import Server

set_tracing_disabled(True)


@asynccontextmanager
async def model_of(url: str, format: str | None, **options: Any) -> Any:
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield OutspokenModel(OpenAIChatCompletionsModel("m" if format else THINKER, client), format, **options)


def agent_of(model: OutspokenModel, **options: Any) -> tuple[Agent[Any], Ran]:
    """An agent with two tools, and the calls that they got."""
    ran = Ran()
    return Agent("tides", tools=[agents.function_tool(one) for one in weather(ran)], model=model, **options), ran


async def run(agent: Agent[Any], streamed: bool, **options: Any) -> Any:
    if not streamed:
        return await Runner.run(agent, "When?", **options)
    result = Runner.run_streamed(agent, "When?", **options)
    async for _ in result.stream_events():
        pass
    return result


def ran_at(url: str, format: str, streamed: bool, given: dict[str, Any], **options: Any) -> Any:
    """The result of a run with a server and options `given` to the model, the calls that were run, and the replies."""
    replies: list[ProviderReply] = []

    async def main() -> Any:
        async with model_of(url, format, on_reply=replies.append, **given) as model:
            agent, ran = agent_of(model, **options)
            return await run(agent, streamed), ran

    return *asyncio.run(main()), replies


def request_of(model: OutspokenModel, said: str = "When?") -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a request with two tools."""
    given = ("", said, agents.ModelSettings(), agent_of(model)[0].tools, None, [], ModelTracing.DISABLED)
    return given, {"previous_response_id": None, "conversation_id": None, "prompt": None}


async def output_of(model: OutspokenModel, streamed: bool, said: str) -> list[Any]:
    """The output of a request; of a stream, the events say the same."""
    given, asked = request_of(model, said)
    if not streamed:
        return (await model.get_response(*given, **asked)).output
    events = [event async for event in model.stream_response(*given, **asked)]
    checked = TypeAdapter(ResponseStreamEvent)
    assert all(isinstance(event, type(checked.validate_python(event.model_dump()))) for event in events)
    assert [event.sequence_number for event in events] == [*range(len(events))]
    assert isinstance(events[-1], ResponseCompletedEvent)
    output = events[-1].response.output
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.model_dump() for item in done] == [item.model_dump() for item in output]
    kinds = [event.type for event in events]
    assert kinds.count("response.created") == kinds.count("response.completed") == 1
    return output


def output(text: Any, format: str | None, streamed: bool, size: int = 7, said: str = "When?", **options: Any) -> Any:
    async def main() -> list[Any]:
        async with model_of(server.url, format, **options) as model:
            return await output_of(model, streamed, said)

    server = text_server(text, size=size)
    return asyncio.run(main())


class TestResponses(ReasoningTests):
    WAYS = ("whole", "streamed")
    KINDS = ("reasoning", "message", "function_call", "function_call")

    def read(self, text: str, way: str, format: str | None = "hermes", *, size: int = 5, reason: str = "stop") -> Read:
        replies: list[ProviderReply] = []
        items = output((text, reason), format, way == "streamed", size, on_reply=replies.append)
        said = {kind: [i.content[0].text for i in items if i.type == kind] for kind in ("reasoning", "message")}
        calls = [(item.name, item.arguments) for item in items if item.type == "function_call"]
        return Read(
            text="".join(said["message"]),
            reasoning="".join(said["reasoning"]),
            calls=[(name, json.loads(arguments)) for name, arguments in calls if arguments.startswith("{")],
            refused=[(name, arguments) for name, arguments in calls if not arguments.startswith("{")],
            about=noted(*replies).get("outspoken", {}),
            kinds=tuple(item.type for item in items),
        )


class TestAgents(AgentTests):
    WAYS = ("whole", "streamed")
    MORE: ClassVar = {"tokens": [9, 9, 9], "statuses": ["ok", "ok", "ok"]}

    def agent(self, url: str, way: str, format: str, ran: Ran, **options: Any) -> tuple[Any, dict[str, Any]]:
        result, made, replies = ran_at(url, format, way == "streamed", options)
        ran += made
        tokens = [response.usage.output_tokens for response in result.raw_responses]
        return result.final_output, {"tokens": tokens, "statuses": [reply.status for reply in replies]}


def test_a_call_without_its_end_is_taken_as_cut_unless_told_otherwise_and_one_read_off_is_refused() -> None:
    sound = written("hermes", BOTH[0])
    text = sound.removesuffix("\n</tool_call>").removesuffix("}")
    for streamed in (False, True):
        assert "was not run" in output(sound, "hermes", streamed, said=f"The page says {sound}")[-1].arguments
        assert "is truncated and was not run" in output(text, "hermes", streamed)[-1].arguments
        (call,) = output(text, "hermes", streamed, finish_reason="stop")
        assert call.arguments == '{"place": "Brest", "day": 3}'


@pytest.mark.parametrize("streamed", [False, True])
def test_a_handoff_is_a_call(streamed: bool) -> None:
    server = text_server(written("qwen3_coder", ("transfer_to_sailor", {})), ANSWER)

    async def main() -> Any:
        async with model_of(server.url, "qwen3_coder") as model:
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
    result, _, _ = ran_at(text_server(text).url, "hermes", streamed, {}, output_type=Tide)
    assert result.final_output == Tide(place="Brest", hour=9)


def test_text_streams_as_it_arrives_and_a_call_when_it_is_complete() -> None:
    text = written("hermes", ("tide", {"place": "Brest " * 20}), text=ANSWER)
    server = text_server(text, size=10)

    async def main() -> list[Any]:
        async with model_of(server.url, "hermes") as model:
            given, asked = request_of(model)
            return [event async for event in model.stream_response(*given, **asked)]

    events = asyncio.run(main())
    kinds = [event.type for event in events]
    assert kinds.count("response.output_text.delta") >= 3
    assert kinds.count("response.function_call_arguments.delta") == 1
    assert "".join([event.delta for event in events if event.type == "response.output_text.delta"]) == ANSWER


# through `outspoken serve`: the SDK's own models, of both of its APIs


def ran_through_the_proxy(api: str, streamed: bool, *texts: str | tuple[str, str]) -> tuple[Any, Ran, TextServer]:
    """A run with the SDK's own model in front of the proxy: its result or error, its calls, the upstream."""
    server = text_server(*texts)
    with Server(Proxy(ServerSettings(server.url, "hermes")).app()) as proxy:

        async def main() -> Any:
            async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="none", max_retries=0) as client:
                kind = agents.OpenAIResponsesModel if api == "responses" else OpenAIChatCompletionsModel
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
