"""LlamaIndex with an LLM that writes raw text: agents, workflows, streams, structured output, damage."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms import LLM
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel, Field

from outspoken.integrations.llama_index import OutspokenLLM
from tests.integrations.model_tests import ANSWER, AgentTests, ModelTests, Ran, Read, Run, weather
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, THINKER, pieces, written
from tests.integrations.page import printed_by_example
from tests.integrations.text_server import text_server

ASKED = [ChatMessage("When?")]


class Script(FunctionCallingLLM):
    """An LLM that writes texts in turn, whole or in pieces, and remembers what it was sent."""

    texts: list[str]
    reason: str = "stop"
    size: int = 5
    sent: list[list[ChatMessage]] = Field(default_factory=list)
    options: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, model_name="m")

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> Any:
        asked = [user_msg if isinstance(user_msg, ChatMessage) else ChatMessage(user_msg)] if user_msg else []
        return {"messages": [*(chat_history or []), *asked], "tools": [tool.metadata.name for tool in tools]}

    def _next(self, messages: Any, options: dict[str, Any]) -> str:
        self.sent.append([*messages])
        self.options.append(options)
        return self.texts[len(self.sent) - 1]

    def message(self, text: str) -> ChatMessage:
        return ChatMessage(text, role="assistant")

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        raw = {"choices": [{"finish_reason": self.reason}]}
        return ChatResponse(message=self.message(self._next(messages, kwargs)), raw=raw)

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        text = self._next(messages, kwargs)

        def stream() -> Any:
            sent = ""
            for piece in pieces(text, self.size):
                sent += piece
                raw = {"choices": [{"finish_reason": None}]}
                yield ChatResponse(message=self.message(sent), delta=piece, raw=raw)
            yield ChatResponse(
                message=self.message(sent), delta="", raw={"choices": [{"finish_reason": self.reason}], "usage": 9}
            )

        return stream()

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        found = self.stream_chat(messages, **kwargs)

        async def stream() -> Any:
            for response in found:
                yield response

        return stream()

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError

    acomplete = stream_complete = astream_complete = complete


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


def agent_of(script: Script, format: str, ran: Ran, *, streaming: bool = True, workflow: bool = False) -> Any:
    agent = FunctionAgent(tools=tools_of(ran), llm=OutspokenLLM(llm=script, format=format), streaming=streaming)
    return AgentWorkflow(agents=[agent]) if workflow else agent


def test_a_workflow_of_agents_hands_off() -> None:
    ran = Ran()
    handoff = written("hermes", ("handoff", {"to_agent": "Pilot", "reason": "tides"}))
    script = Script(texts=[handoff, written("hermes", BOTH[0]), ANSWER])
    llm = OutspokenLLM(llm=script, format="hermes")
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


class Thinker(Script):
    model: str = THINKER


class TestResponses(ModelTests):
    KINDS = ("thinking", "text", "tool_call", "tool_call")

    def read(self, text: str, way: str, format: str | None = "hermes", *, size: int = 5, reason: str = "stop") -> Read:
        llm = OutspokenLLM(llm=(Script if format else Thinker)(texts=[text], size=size, reason=reason), format=format)
        response = WAYS[self.WAYS.index(way)](llm, tools_of([]))
        assert not text or response.raw["choices"] == [{"finish_reason": reason}]
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
    MORE: ClassVar = {"answered": True, "streamed": True}

    def run(self, texts: list[str], way: str, format: str) -> Run:
        script, ran = Script(texts=texts), Ran()
        streaming = way.startswith("streamed")
        answer, events = run(agent_of(script, format, ran, streaming=streaming, workflow="workflow" in way))
        sent = script.sent[2]
        calls = [block for message in sent for block in message.blocks if isinstance(block, ToolCallBlock)]
        results = [message.additional_kwargs["tool_call_id"] for message in sent if message.role == "tool"]
        pieces = [event.delta for event in events if isinstance(event, AgentStream)]
        failed = next(
            (event for event in events if isinstance(event, ToolCallResult) and event.tool_output.is_error), None
        )
        if failed is not None:  # servers read JSON
            assert script.sent[1][-2].additional_kwargs == {}
            assert "write it again without this mistake" in str(script.sent[1][-1].content)
        streamed = "".join(pieces) == "Let me look." + ANSWER and len([piece for piece in pieces if piece]) > 4
        return Run(
            answer=answer,
            ran=ran,
            texts=[*[message.content for message in sent if message.role == "assistant"], answer],
            ids=[call.tool_call_id or "" for call in calls],
            tools=script.options[0]["tools"],
            more={"answered": results == [call.tool_call_id for call in calls], "streamed": streamed or not streaming},
            told=(calls[0].tool_kwargs, str(script.sent[1][-1].content)) if failed else None,
        )


def test_reasoning_and_text_stream_as_they_arrive() -> None:
    text = written("hermes", BOTH[0], text=ANSWER, reasoning="Which day is it? " * 3)
    llm = OutspokenLLM(llm=Script(texts=[text]), format="hermes")
    found = [*llm.stream_chat_with_tools(tools_of([]), "When?")]
    thought = [one.additional_kwargs["thinking_delta"] for one in found if one.additional_kwargs]
    assert len(thought) > 3
    assert "".join(thought).strip() == ("Which day is it? " * 3).strip()
    assert len([one for one in found if one.delta]) > 3
    assert [len(llm.get_tool_calls_from_response(one, error_on_no_tool_call=False)) for one in found[-2:]] == [0, 1]


@pytest.mark.parametrize("ask", WAYS)
def test_calls_keep_their_order(ask: Ask) -> None:
    text = f"{INVALID}\n{written('hermes', *BOTH)}\n{INVALID}"
    llm = OutspokenLLM(llm=Script(texts=[text]), format="hermes")
    calls = llm.get_tool_calls_from_response(ask(llm, tools_of([])), error_on_no_tool_call=False)
    assert [call.tool_name.partition(" (")[0] for call in calls] == [
        "call was refused",
        "tide",
        "wind",
        "call was refused",
    ]
    assert len({call.tool_id for call in calls}) == 4


class Tide(BaseModel):
    """A tide."""

    place: str
    hour: int


QUESTION = PromptTemplate("When?")


@pytest.mark.parametrize("format", FORMATS)
def test_structured_output_is_a_call(format: str) -> None:
    text, tide = written(format, ("Tide", {"place": "Brest", "hour": 9})), Tide(place="Brest", hour=9)
    llm = OutspokenLLM(llm=Script(texts=[text] * 4), format=format)
    assert llm.structured_predict(Tide, QUESTION) == tide
    assert asyncio.run(llm.astructured_predict(Tide, QUESTION)) == tide
    assert [*llm.stream_structured_predict(Tide, QUESTION)][-1] == tide
    assert json.loads(llm.as_structured_llm(Tide).chat(ASKED).message.content or "") == tide.model_dump()


def test_structured_output_is_json_in_the_text_too() -> None:
    llm = Script(texts=['Here:\n```json\n{"place": "Brest", "hour": 9,}\n```'] * 3)
    assert OutspokenLLM(llm=llm, format="hermes").structured_predict(Tide, QUESTION) == Tide(place="Brest", hour=9)


def test_structured_output_of_a_cut_call_fails() -> None:
    cut = written("hermes", ("Tide", {"place": "Brest", "hour": 9}))[:-20]
    llm = OutspokenLLM(llm=Script(texts=[cut] * 3, reason="length"), format="hermes")
    with pytest.raises(ValueError, match="the call of `Tide` is truncated and was not run"):
        llm.structured_predict(Tide, QUESTION)
    with pytest.raises(ValueError, match="the call of `Tide` is truncated and was not run"):
        asyncio.run(llm.astructured_predict(Tide, QUESTION))
    assert not any(isinstance(one, Tide) for one in llm.stream_structured_predict(Tide, QUESTION))


def test_one_call_at_a_time_leaves_out_the_others_and_says_so() -> None:
    llm = OutspokenLLM(llm=Script(texts=[written("hermes", *BOTH)] * 2), format="hermes")
    tools = tools_of([])
    for response in (llm.chat_with_tools(tools, "When?"), [*llm.stream_chat_with_tools(tools, "When?")][-1]):
        assert [call.tool_name for call in llm.get_tool_calls_from_response(response)] == ["tide"]
        left = response.message.additional_kwargs["outspoken"]["calls_left_out"]
        assert left == [{"name": "wind", "arguments": {"place": "Brest"}}]


def test_a_response_without_a_call_is_an_error_where_one_is_needed() -> None:
    llm = OutspokenLLM(llm=Script(texts=[ANSWER, ANSWER]), format="hermes")
    with pytest.raises(ValueError, match="the response has no tool call: 'High tide at nine"):
        llm.predict_and_call(tools_of([]), "When?")
    assert llm.predict_and_call(tools_of([]), "When?", error_on_no_tool_call=False).response == ANSWER


@pytest.mark.parametrize("ask", WAYS)
def test_calls_and_thinking_of_the_llm_itself_are_kept(ask: Ask) -> None:
    class Native(Script):
        def message(self, text: str) -> ChatMessage:
            call = ToolCallBlock(tool_call_id="c9", tool_name="wind", tool_kwargs='{"place": "Paris"}')
            blocks = [ThinkingBlock(content="Which?"), TextBlock(text=text), call]
            return ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"tool_calls": [1]})

    llm = OutspokenLLM(llm=Native(texts=[written("hermes", BOTH[0])]), format="hermes", prefix="<think>\n")
    response = ask(llm, tools_of([]))
    assert response.message.blocks[0] == ThinkingBlock(content="Which?")
    calls = llm.get_tool_calls_from_response(response)
    assert [(call.tool_name, call.tool_kwargs) for call in calls] == [("wind", {"place": "Paris"}), BOTH[0]]


def test_a_refused_call_of_a_history_without_metadata_has_no_arguments() -> None:
    script = Script(texts=[ANSWER])
    call = ToolCallBlock(tool_call_id="c1", tool_name="tide", tool_kwargs="the call was cut off and was not run")
    history = [ChatMessage(role="assistant", blocks=[call]), ChatMessage(role="tool", content="error")]
    OutspokenLLM(llm=script, format="hermes").chat([*history, ChatMessage(role="user", content="Well?")])
    assert script.sent[0][0].blocks[0].tool_kwargs == {}


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


def test_an_llm_of_completions_gets_no_tools() -> None:
    llm = OutspokenLLM(llm=Completions(text=written("qwen3_coder", *BOTH, text="Look:")), format="qwen3_coder")
    for ask in WAYS:
        calls = llm.get_tool_calls_from_response(ask(llm, tools_of([])))
        assert [(call.tool_name, call.tool_kwargs) for call in calls] == [*BOTH]


def test_completions_are_text_without_reasoning() -> None:
    text = written("hermes", text=ANSWER, reasoning="Which?")
    llm: LLM = OutspokenLLM(llm=Script(texts=[text] * 4), format="hermes")
    assert llm.complete("When?").text == ANSWER
    assert "".join([one.delta or "" for one in llm.stream_complete("When?")]) == ANSWER

    async def both() -> list[str]:
        whole = await llm.acomplete("When?")
        stream = await llm.astream_complete("When?")
        return [whole.text, "".join([one.delta or "" async for one in stream])]

    assert asyncio.run(both()) == [ANSWER, ANSWER]


def test_tools_need_not_be_sent() -> None:
    script = Script(texts=[written("qwen3_coder", BOTH[0])])
    llm = OutspokenLLM(llm=script, format="qwen3_coder", send_tools=False)
    assert [call.tool_kwargs for call in llm.get_tool_calls_from_response(invoked(llm, tools_of([])))] == [BOTH[0][1]]
    assert script.options == [{}]


def test_the_example_runs_against_a_server() -> None:
    answer = "High tide in Brest at nine."
    with text_server(written("qwen3_coder", ("tide", {"place": "Brest"})), answer) as server:
        assert printed_by_example("llama_index", server.url) == f"{answer}\n"
        assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide"]
        assert [message["role"] for message in server.requests[1]["messages"]] == ["user", "assistant", "tool"]


def test_a_server_gets_no_metadata_and_no_arguments_that_are_no_json() -> None:
    ran = Ran()
    with text_server((CUT, "length"), written("hermes", BOTH[0]), ANSWER) as server:
        llm = OpenAILike(model="m", api_base=server.url, api_key="none", is_chat_model=True)
        agent = FunctionAgent(tools=tools_of(ran), llm=OutspokenLLM(llm=llm, format="hermes"))
        assert (run(agent)[0], ran) == (ANSWER, [BOTH[0]])
        call = server.requests[1]["messages"][1]["tool_calls"][0]["function"]
        assert call == {"name": "tide", "arguments": "{}"}
        assert "outspoken" not in json.dumps(server.requests)


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(TypeError, match="`llm` is a str; expected LLM"):
        OutspokenLLM(llm="qwen3-coder", format="hermes")
