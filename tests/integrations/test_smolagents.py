"""smolagents with a model that writes raw text: agents, streams, damage, code agents."""

from __future__ import annotations

from typing import Any

import pytest
from smolagents import CodeAgent, Model, Tool, ToolCallingAgent, models
from smolagents.agents import ActionStep, PlanningStep
from smolagents.models import ChatMessage, ChatMessageToolCallFunction, MessageRole, agglomerate_stream_deltas
from smolagents.monitoring import LogLevel, TokenUsage

from outspoken import Reply
from outspoken.integrations.messages import noted, refusal_of
from outspoken.integrations.smolagents import OutspokenModel
from outspoken.results.replies import has_failed_call
from tests.integrations.model_tests import ANSWER, LOOK, PAGE, READ_OFF, UNREAD, Ran, Read, SentToolsTests, text_of
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, TIDE, printed_by_example, written
from tests.integrations.text_server import text_server

FINAL = ("final_answer", {"answer": ANSWER})


def model_of(url: str, format: str | None = "hermes", model: str = "m", **options: Any) -> OutspokenModel:
    """A model of a server, read in a format."""
    return OutspokenModel(
        models.OpenAIModel(model, api_base=url, api_key="none", tool_choice="auto"), format, **options
    )


class Weather(Tool):
    """A tool that notes its calls."""

    description = "Look it up."
    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, name: str, result: str, ran: Ran) -> None:
        self.name, self.result, self.ran = name, result, ran
        place = {"type": "string", "description": "a port"}
        self.inputs = {"place": place, "day": {"type": "integer", "description": "a day", "nullable": True}}
        super().__init__()

    def forward(self, place: str, day: int = 0) -> str:
        self.ran.append((self.name, {"place": place, "day": day} if day else {"place": place}))
        return self.result


class Note(Tool):
    """A tool of one text, which smolagents runs with unreadable arguments as well."""

    name, description = "note", "Write it down."
    output_type = "string"

    def __init__(self, ran: Ran) -> None:
        self.ran = ran
        self.inputs = {"text": {"type": "string", "description": "a text"}}
        super().__init__()

    def forward(self, text: str) -> str:
        self.ran.append(("note", {"text": text}))
        return "noted"


def tools_of(ran: Ran, reads: bool = False) -> list[Tool]:
    return [Weather("tide", PAGE if reads else "nine", ran), Weather("wind", "west", ran), Note(ran)]


def agent_of(model: Model, ran: Ran, reads: bool = False, **options: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools_of(ran, reads), model, verbosity_level=LogLevel.OFF, **options)


def answers(agent: ToolCallingAgent, streamed: bool) -> Any:
    """The answer of an agent."""
    if not streamed:
        return agent.run("When?")
    return [*agent.run("When?", stream=True)][-1].output


def steps(agent: ToolCallingAgent) -> list[ActionStep]:
    return [step for step in agent.memory.steps if isinstance(step, ActionStep)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_agent_runs_one_call_then_two_at_once(format: str, streamed: bool) -> None:
    first = written(format, ("tide", {"place": "Paris"}), text="Let me look.")
    # in react, an answer is no call
    last = written(format, text=ANSWER) if format == "react" else written(format, FINAL)
    server, ran = text_server(first, written(format, *BOTH), last), Ran()
    model = model_of(server.url, format, text_is_answer=format == "react")
    agent = agent_of(model, ran, stream_outputs=streamed)
    assert answers(agent, streamed) == ANSWER
    assert ran[0] == ("tide", {"place": "Paris"})
    assert sorted(ran[1:]) == sorted(BOTH)
    found = steps(agent)
    assert [step.model_output for step in found] == ["Let me look.", "", ANSWER if format == "react" else ""]
    assert [step.error for step in found] == [None] * 3
    assert [len({call.id for call in step.tool_calls or ()}) for step in found] == [1, 2, 1]
    assert sorted((found[1].observations or "").split()) == ["nine", "west"]
    assert [step.token_usage.output_tokens for step in found if step.token_usage] == [9, 9, 9]
    offered = [[tool["function"]["name"] for tool in request["tools"]] for request in server.requests]
    assert offered == [["tide", "wind", "note", "final_answer"]] * 3


def whole(model: Model, tools: Any) -> ChatMessage:
    return model.generate([], tools_to_call_from=tools)


def streamed(model: Model, tools: Any) -> ChatMessage:
    return agglomerate_stream_deltas([*model.generate_stream([], tools_to_call_from=tools)])


WAYS = [whole, streamed]


class TestResponses(SentToolsTests):
    WAYS = ("whole", "streamed")

    def asked(self, url: str, way: str, format: str | None, model: str, **options: Any) -> Read:
        replies = list[Reply]()
        read = model_of(url, format, model, on_reply=replies.append, **options)
        message = WAYS[self.WAYS.index(way)](read, tools_of([]))
        (reply,), calls = replies, list[Any]()
        if has_failed_call(reply):
            assert not message.tool_calls
            with pytest.raises(ValueError, match="no tool was run"):
                read.parse_tool_calls(message)
        elif message.tool_calls:
            calls = calls_of(read.parse_tool_calls(message))
        refused = [(call.name, refusal_of(call, reply)) for call in reply.unfinished_tool_calls]
        return Read(message.content, reply.reasoning, calls, refused, noted(reply).get("outspoken", {}))


def calls_of(message: ChatMessage) -> list[tuple[str, Any]]:
    return [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_repaired_call_runs_and_the_reply_says_what_was_repaired(streamed: bool) -> None:
    replies, ran = list[Reply](), Ran()
    model = model_of(text_server(REPAIRABLE, written("hermes", FINAL)).url, on_reply=replies.append)
    assert answers(agent_of(model, ran, stream_outputs=streamed), streamed) == ANSWER
    assert ran == [BOTH[0]]
    assert [repair.code for repair in replies[0].repairs] == ["trailing-comma", "missing-closer"]


NOTE = '<tool_call>\n{"name": "note", "arguments": {"text": "a", "text": 1 2}}\n</tool_call>'
SOUND_AND_INVALID = written("hermes", BOTH[1]) + "\n" + INVALID


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("text", [INVALID, CUT, UNREAD, NOTE, SOUND_AND_INVALID])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_model_is_told_about_a_call_with_a_problem_and_writes_another(text: str, streamed: bool, size: int) -> None:
    server, ran = text_server(text, written("hermes", BOTH[0]), written("hermes", FINAL), size=size), Ran()
    agent = agent_of(model_of(server.url), ran, stream_outputs=streamed)
    assert answers(agent, streamed) == ANSWER
    assert ran == [BOTH[0]]
    failed = steps(agent)[0]
    assert type(failed.error).__name__ == "AgentParsingError"
    assert failed.tool_calls is None
    wrote, told = server.requests[1]["messages"][-2:]
    assert "could not be used, and no tool was run" in text_of(told)
    assert text_of(wrote) == text.strip()  # the model sees what it wrote


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("renders", [False, True])
def test_a_call_that_a_result_holds_does_not_run_and_the_history_is_text(streamed: bool, renders: bool) -> None:
    texts, ran = [*READ_OFF[:3], written("hermes", FINAL)], Ran()
    server = text_server(*texts)
    server.takes_text_alone = True
    agent = agent_of(model_of(server.url, render_history=renders), ran, True, stream_outputs=streamed)
    assert answers(agent, streamed) == ANSWER
    assert ran == [LOOK, LOOK]
    sent = [text_of(message) for message in server.requests[-1]["messages"] if message["role"] == "assistant"]
    assert (sent == texts[:3]) == renders


@pytest.mark.parametrize("streamed", [False, True])
def test_a_response_without_a_call_is_an_error_that_the_model_sees(streamed: bool) -> None:
    server = text_server(ANSWER, "", written("hermes", FINAL))
    agent = agent_of(model_of(server.url), Ran(), stream_outputs=streamed)
    assert answers(agent, streamed) == ANSWER
    told = [text_of(request["messages"][-1]) for request in server.requests[1:]]
    assert all("the response calls no tool" in text for text in told)
    assert steps(agent)[0].model_output == ANSWER


def test_text_streams_as_it_arrives_and_calls_when_they_are_complete() -> None:
    model = model_of(text_server(written("hermes", BOTH[0], text=ANSWER)).url)
    deltas = [*model.generate_stream([], tools_to_call_from=tools_of([]))]
    assert len([delta for delta in deltas if delta.content]) > 4
    assert "".join([delta.content or "" for delta in deltas]) == ANSWER
    assert [bool(delta.tool_calls) for delta in deltas].index(True) == len(deltas) - 1


def test_a_message_from_elsewhere_is_parsed() -> None:
    model = model_of(text_server().url)
    parts = [{"type": "text", "text": written("hermes", *BOTH, text="Look:")}]
    message = model.parse_tool_calls(ChatMessage(MessageRole.USER, parts))
    assert (message.role, message.content) == (MessageRole.ASSISTANT, "Look:")
    assert calls_of(message) == [*BOTH]
    with pytest.raises(ValueError, match="no tool was run"):
        model.parse_tool_calls(ChatMessage(MessageRole.ASSISTANT, CUT))


@pytest.mark.parametrize("reason", [None, "stop"])
def test_the_finish_reason_proves_the_end_of_a_call_without_its_closing_marker(reason: str | None) -> None:
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>")
    for ask in WAYS:
        model = model_of(text_server((text, None)).url, finish_reason=reason)
        assert bool(ask(model, tools_of([])).tool_calls) == (reason == "stop")


@pytest.mark.parametrize("ask", WAYS)
def test_a_model_needs_no_streams_and_no_named_arguments(ask: Any) -> None:
    class Own(Model):
        def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
            assert set(kwargs) == {"tools_to_call_from"}
            calls = [models.ChatMessageToolCall(ChatMessageToolCallFunction({}, "note"), "c9", "function")]
            usage = TokenUsage(20, 9)
            return ChatMessage(MessageRole.ASSISTANT, written("hermes", *BOTH), calls, token_usage=usage)

    model = OutspokenModel(Own(), "hermes")
    message = model.parse_tool_calls(ask(model, tools_of([])))
    assert calls_of(message) == [("note", {}), *BOTH]
    assert message.token_usage.output_tokens == 9


@pytest.mark.parametrize("stream_outputs", [False, True])
def test_a_code_agent_is_not_affected(stream_outputs: bool) -> None:
    code = 'Thought: easy.\n<code>\nfinal_answer(tide("Brest") + "<tool_call>")\n</code>'
    ran = Ran()
    model = model_of(text_server(code).url)
    agent = CodeAgent(tools_of(ran), model, verbosity_level=LogLevel.OFF, stream_outputs=stream_outputs)
    assert agent.run("When?") == "nine<tool_call>"
    assert ran == [("tide", {"place": "Brest"})]


def test_plans_are_not_read() -> None:
    plan = "1. Ask for the <tool_call>.\n2. Answer.\n<end_plan>"
    server = text_server(plan, written("hermes", FINAL))
    agent = agent_of(model_of(server.url), Ran(), planning_interval=5)
    assert agent.run("When?") == ANSWER
    (step,) = [step for step in agent.memory.steps if isinstance(step, PlanningStep)]
    assert "<tool_call>" in step.plan


def test_an_agent_calls_the_agent_that_it_manages() -> None:
    ran = Ran()
    calls = [("pilot", {"task": "When?"}), BOTH[0], ("final_answer", {"answer": "nine"}), FINAL]
    model = model_of(text_server(*[written("hermes", call) for call in calls]).url)
    pilot = agent_of(model, ran, name="pilot", description="Knows tides.")
    agent = agent_of(model, Ran(), managed_agents=[pilot])
    assert agent.run("When?") == ANSWER
    assert ran == [BOTH[0]]


def test_the_example_runs_against_a_server() -> None:
    calls = [("tide", {"place": "Brest"}), ("final_answer", {"answer": TIDE})]
    server = text_server(*[written("qwen3_coder", call) for call in calls])
    assert printed_by_example("smolagents", server.url).endswith(f"{TIDE}\n")
    assert server.requests[0]["tool_choice"] == "auto"
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide", "final_answer"]


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(TypeError, match="`wrapped` is a str; expected Model"):
        OutspokenModel("qwen3-coder", "hermes")
