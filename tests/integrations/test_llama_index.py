"""LlamaIndex with an LLM that writes raw text: agents, workflows, streams, structured output, damage."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, ToolCallBlock
from llama_index.core.llms import LLM
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

from outspoken.integrations.llama_index import OutspokenLLM
from tests.integrations.model_tests import ANSWER, AgentTests, Ran, Read, ReasoningTests, SentToolsTests, weather
from tests.integrations.model_texts import BOTH, FORMATS, INVALID, pieces, written
from tests.integrations.text_server import text_server

ASKED = [ChatMessage("When?")]


def llm_of(url: str, format: str | None = "hermes", model: str = "m", **options: Any) -> OutspokenLLM:
    """An LLM of a server, read in a format."""
    return OutspokenLLM(
        llm=OpenAILike(model=model, api_base=url, api_key="none", is_chat_model=True), format=format, **options
    )


def tools_of(ran: Ran) -> list[FunctionTool]:
    """Two tools that note their calls; one of them has its arguments from a schema."""

    def wind(**given: Any) -> str:
        """The wind."""
        ran.append(("wind", given))
        return "west"

    return [FunctionTool.from_defaults(weather(ran)[0]), FunctionTool.from_defaults(wind, fn_schema=Place)]


class Place(BaseModel):
    place: str
    day: int = 0


def run(agent: Any) -> tuple[str, list[Any]]:
    """The answer of an agent, and the events on the way."""

    async def go() -> tuple[str, list[Any]]:
        handler = agent.run("When?")
        events = [event async for event in handler.stream_events()]
        return str(await handler), events

    return asyncio.run(go())


def test_a_workflow_of_agents_hands_off() -> None:
    ran = Ran()
    handoff = written("hermes", ("handoff", {"to_agent": "Pilot", "reason": "tides"}))
    server = text_server(handoff, written("hermes", BOTH[0]), ANSWER)
    llm = llm_of(server.url)
    guide = FunctionAgent(name="Guide", description="guides", llm=llm, can_handoff_to=["Pilot"])
    pilot = FunctionAgent(name="Pilot", description="knows tides", tools=tools_of(ran), llm=llm)
    answer, _ = run(AgentWorkflow(agents=[guide, pilot], root_agent="Guide"))
    assert (answer, ran) == (ANSWER, [BOTH[0]])


def invoked(llm: OutspokenLLM, tools: Any) -> ChatResponse:
    return llm.chat_with_tools(tools, "When?", allow_parallel_tool_calls=True)


def ainvoked(llm: OutspokenLLM, tools: Any) -> ChatResponse:
    return asyncio.run(llm.achat_with_tools(tools, "When?", allow_parallel_tool_calls=True))


def streamed(llm: OutspokenLLM, tools: Any) -> ChatResponse:
    found = [*llm.stream_chat_with_tools(tools, "When?", allow_parallel_tool_calls=True)]
    assert "".join([one.delta or "" for one in found]) == (found[-1].message.content or "")
    return found[-1]


def astreamed(llm: OutspokenLLM, tools: Any) -> ChatResponse:
    async def last() -> ChatResponse:
        stream = await llm.astream_chat_with_tools(tools, "When?", allow_parallel_tool_calls=True)
        return [response async for response in stream][-1]

    return asyncio.run(last())


Ask = Callable[[OutspokenLLM, Any], ChatResponse]
WAYS: list[Ask] = [invoked, ainvoked, streamed, astreamed]


class TestResponses(ReasoningTests, SentToolsTests):
    KINDS = ("thinking", "text", "tool_call", "tool_call")

    def asked(self, url: str, way: str, format: str | None, model: str, **options: Any) -> Read:
        llm = llm_of(url, format, model, **options)
        response = WAYS[self.WAYS.index(way)](llm, tools_of([]))
        assert response.raw.usage.completion_tokens == 9
        message = response.message
        calls = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        sound = [(c.tool_name, c.tool_kwargs) for c in calls if not c.tool_name.startswith("call was refused")]
        refused = [c.tool_name for c in calls if c.tool_name.startswith("call was refused")]
        told = [b for b in message.blocks if b.block_type == "tool_call" and isinstance(b.tool_kwargs, str)]
        problems = [(block.tool_name, block.tool_kwargs) for block in told if "was not run" in block.tool_kwargs]
        assert [name.partition(": ")[0] for name in refused] == [
            f"call was refused ({problem.partition(': ')[0]}" for _, problem in problems
        ]
        assert [call.tool_kwargs for call in calls if call.tool_name in refused] == [{}] * len(refused)
        assert ("tool_calls" in message.additional_kwargs) == bool(sound)
        if refused and not sound:
            with pytest.raises(ValueError, match="and was not run: "):
                llm.get_tool_calls_from_response(response)
        return Read(
            text=message.content,
            reasoning=next((b.content for b in message.blocks if b.block_type == "thinking"), None),
            calls=sound,
            refused=problems,
            about=message.additional_kwargs.get("outspoken", {}),
            kinds=tuple(block.block_type for block in message.blocks),
        )


class TestAgents(AgentTests):
    WAYS = ("whole", "streamed", "workflow", "streamed workflow")
    MORE: ClassVar = {"answered": 3, "streamed": True}

    def agent(self, url: str, way: str, format: str, ran: Ran, **options: Any) -> tuple[Any, dict[str, Any]]:
        streaming = way.startswith("streamed")
        agent: Any = FunctionAgent(tools=tools_of(ran), llm=llm_of(url, format, **options), streaming=streaming)
        answer, events = run(AgentWorkflow(agents=[agent]) if "workflow" in way else agent)
        results = [event for event in events if isinstance(event, ToolCallResult)]
        errors = [str(event.tool_output.content) for event in results if event.tool_output.is_error]
        assert all("write it again without this mistake" in error for error in errors)
        pieces = [event.delta for event in events if isinstance(event, AgentStream) and event.delta]
        streamed = "".join(pieces) == "Let me look." + ANSWER and len(pieces) > 4
        return answer, {"answered": len(results), "streamed": streamed or not streaming}


def test_reasoning_and_text_stream_as_they_arrive() -> None:
    text = written("hermes", BOTH[0], text=ANSWER, reasoning="Which day is it? " * 3)
    llm = llm_of(text_server(text).url)
    found = [*llm.stream_chat_with_tools(tools_of([]), "When?")]
    thought = [*filter(None, [one.additional_kwargs.get("thinking_delta") for one in found])]
    assert len(thought) > 3
    assert "".join(thought).strip() == ("Which day is it? " * 3).strip()
    assert len([one for one in found if one.delta]) > 3
    counts = [len(llm.get_tool_calls_from_response(one, error_on_no_tool_call=False)) for one in found]
    assert (counts, {*counts[:-3]}, counts[-1]) == (sorted(counts), {0}, 1)


@pytest.mark.parametrize("ask", WAYS)
def test_calls_keep_their_order(ask: Ask) -> None:
    text = f"{INVALID}\n{written('hermes', *BOTH)}\n{INVALID}"
    llm = llm_of(text_server(text).url)
    calls = llm.get_tool_calls_from_response(ask(llm, tools_of([])), error_on_no_tool_call=False)
    names = [call.tool_name.partition(" (")[0] for call in calls]
    assert names == ["call was refused", "tide", "wind", "call was refused"]
    assert len({call.tool_id for call in calls}) == 4


class Tide(BaseModel):
    """A tide."""

    place: str
    hour: int


QUESTION = PromptTemplate("When?")


@pytest.mark.parametrize("format", FORMATS)
def test_structured_output_is_a_call(format: str) -> None:
    text, tide = written(format, ("Tide", {"place": "Brest", "hour": 9})), Tide(place="Brest", hour=9)
    llm = llm_of(text_server(*[text] * 4).url, format)
    assert llm.structured_predict(Tide, QUESTION) == tide
    assert asyncio.run(llm.astructured_predict(Tide, QUESTION)) == tide
    assert [*llm.stream_structured_predict(Tide, QUESTION)][-1] == tide
    assert json.loads(llm.as_structured_llm(Tide).chat(ASKED).message.content or "") == tide.model_dump()


def test_structured_output_is_json_in_the_text_too() -> None:
    server = text_server('Here:\n```json\n{"place": "Brest", "hour": 9,}\n```')
    assert llm_of(server.url).structured_predict(Tide, QUESTION) == Tide(place="Brest", hour=9)


def test_structured_output_of_a_cut_call_fails() -> None:
    cut = written("hermes", ("Tide", {"place": "Brest", "hour": 9}))[:-20]
    llm = llm_of(text_server(*[(cut, "length")] * 3).url)
    with pytest.raises(ValueError, match="the call of `Tide` is truncated and was not run"):
        llm.structured_predict(Tide, QUESTION)
    with pytest.raises(ValueError, match="the call of `Tide` is truncated and was not run"):
        asyncio.run(llm.astructured_predict(Tide, QUESTION))
    assert not any(isinstance(one, Tide) for one in llm.stream_structured_predict(Tide, QUESTION))


def test_one_call_at_a_time_leaves_out_the_others_and_says_so() -> None:
    llm = llm_of(text_server(*[written("hermes", *BOTH)] * 2).url)
    tools = tools_of([])
    for response in (llm.chat_with_tools(tools, "When?"), [*llm.stream_chat_with_tools(tools, "When?")][-1]):
        assert [call.tool_name for call in llm.get_tool_calls_from_response(response)] == ["tide"]
        left = response.message.additional_kwargs["outspoken"]["calls_left_out"]
        assert left == [{"name": "wind", "arguments": {"place": "Brest"}}]


def test_a_response_without_a_call_is_an_error_where_one_is_needed() -> None:
    llm = llm_of(text_server(ANSWER, ANSWER).url)
    with pytest.raises(ValueError, match="the response has no tool call: 'High tide at nine"):
        llm.predict_and_call(tools_of([]), "When?")
    assert llm.predict_and_call(tools_of([]), "When?", error_on_no_tool_call=False).response == ANSWER


class Completions(CustomLLM):
    """An LLM of completions, without tools."""

    text: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="m")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        assert kwargs == {}
        return CompletionResponse(text=self.text)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        for piece in pieces(self.text):
            yield CompletionResponse(text=piece, delta=piece)


def test_a_refused_call_of_a_history_without_metadata_has_no_arguments() -> None:
    server = text_server(ANSWER)
    call = ToolCallBlock(tool_call_id="c1", tool_name="tide", tool_kwargs="the call was cut off and was not run")
    told = ChatMessage(role="tool", content="error", additional_kwargs={"tool_call_id": "c1"})
    llm_of(server.url).chat([ChatMessage(role="assistant", blocks=[call]), told, *ASKED])
    assert server.requests[0]["messages"][0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_an_llm_of_completions_gets_no_tools() -> None:
    llm = OutspokenLLM(llm=Completions(text=written("qwen3_coder", *BOTH, text="Look:")), format="qwen3_coder")
    for ask in WAYS:
        calls = llm.get_tool_calls_from_response(ask(llm, tools_of([])))
        assert [(call.tool_name, call.tool_kwargs) for call in calls] == [*BOTH]


def test_an_llm_without_tools_may_call_none_if_the_request_says_so() -> None:
    text = written("hermes", BOTH[0])
    llm = OutspokenLLM(llm=Completions(text=text), format="hermes")
    for choice, content, count in (("none", text, 0), ("auto", None, 1)):
        found = llm.chat_with_tools(tools_of([]), "When?", tool_choice=choice)
        calls = llm.get_tool_calls_from_response(found, error_on_no_tool_call=False)
        assert (found.message.content, len(calls)) == (content, count)


def test_completions_are_text_without_reasoning() -> None:
    text = written("hermes", text=ANSWER, reasoning="Which?")
    llm: LLM = llm_of(text_server(*[text] * 4).url)
    assert llm.complete("When?").text == ANSWER
    assert "".join([one.delta or "" for one in llm.stream_complete("When?")]) == ANSWER

    async def both() -> list[str]:
        whole = await llm.acomplete("When?")
        stream = await llm.astream_complete("When?")
        return [whole.text, "".join([one.delta or "" async for one in stream])]

    assert asyncio.run(both()) == [ANSWER, ANSWER]


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(TypeError, match="`llm` is a str; expected LLM"):
        OutspokenLLM(llm="qwen3-coder", format="hermes")
