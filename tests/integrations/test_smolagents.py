"""smolagents with a model that writes raw text: agents, streams, damage, code agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from smolagents import CodeAgent, Model, Tool, ToolCallingAgent
from smolagents.agents import ActionStep, PlanningStep
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    agglomerate_stream_deltas,
)
from smolagents.monitoring import LogLevel, TokenUsage

from outspoken import Reply, UnknownFormatError
from outspoken.integrations.smolagents import OutspokenModel
from tests.integrations.model_tests import ANSWER, CUTS, UNREAD, Ran
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, THINKER, THOUGHT, pieces, written
from tests.integrations.page import printed_by_example
from tests.integrations.text_server import text_server

FINAL = ("final_answer", {"answer": ANSWER})


class Script(Model):
    """A model that writes texts in turn, whole or in pieces, and remembers what it was sent."""

    def __init__(self, *texts: str, reason: str | None = "stop", size: int = 5) -> None:
        super().__init__(model_id="m")
        self.texts, self.reason, self.size = texts, reason, size
        self.sent: list[list[ChatMessage]] = []
        self.tools: list[list[str]] = []

    def _next(self, messages: Any, tools: Any) -> str:
        self.sent.append([*messages])
        self.tools.append([tool.name for tool in tools or ()])
        return self.texts[len(self.sent) - 1]

    def generate(
        self,
        messages: Any,
        stop_sequences: Any = None,
        response_format: Any = None,
        tools_to_call_from: Any = None,
        **kwargs: Any,
    ) -> ChatMessage:
        text = self._next(messages, tools_to_call_from)
        raw = {"choices": [{"finish_reason": self.reason}]}
        return ChatMessage(MessageRole.ASSISTANT, text, raw=raw, token_usage=TokenUsage(20, 9))

    def generate_stream(
        self,
        messages: Any,
        stop_sequences: Any = None,
        response_format: Any = None,
        tools_to_call_from: Any = None,
        **kwargs: Any,
    ) -> Iterator[ChatMessageStreamDelta]:
        for piece in pieces(self._next(messages, tools_to_call_from), self.size):
            yield ChatMessageStreamDelta(content=piece)
        yield ChatMessageStreamDelta(content=None, token_usage=TokenUsage(20, 9))


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


def tools_of(ran: Ran) -> list[Tool]:
    return [Weather("tide", "nine", ran), Weather("wind", "west", ran), Note(ran)]


def agent_of(model: Model, ran: Ran, **options: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools_of(ran), model, verbosity_level=LogLevel.OFF, **options)


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
    script, ran = Script(first, written(format, *BOTH), last), Ran()
    model = OutspokenModel(script, format, text_is_answer=format == "react")
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
    assert script.tools == [["tide", "wind", "note", "final_answer"]] * 3


def whole(model: Model, tools: Any) -> ChatMessage:
    return model.generate([], tools_to_call_from=tools)


def streamed(model: Model, tools: Any) -> ChatMessage:
    return agglomerate_stream_deltas([*model.generate_stream([], tools_to_call_from=tools)])


WAYS = [whole, streamed]


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize("format", ["hermes", "harmony", "glm_4_5"])
def test_text_and_calls_are_in_the_message_and_reasoning_in_the_reply(ask: Any, format: str) -> None:
    replies: list[Reply] = []
    text = written(format, *BOTH, text="Look:", reasoning="Which day?")
    model = OutspokenModel(Script(text), format, on_reply=replies.append)
    message = ask(model, tools_of([]))
    assert message.content == "Look:"
    read = model.parse_tool_calls(message) if ask is streamed else message
    assert [(call.function.name, call.function.arguments) for call in read.tool_calls] == [*BOTH]
    assert [reply.reasoning for reply in replies] == ["Which day?"]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_repaired_call_runs_and_the_reply_says_what_was_repaired(streamed: bool) -> None:
    replies, ran = list[Reply](), Ran()
    model = OutspokenModel(Script(REPAIRABLE, written("hermes", FINAL)), "hermes", on_reply=replies.append)
    assert answers(agent_of(model, ran, stream_outputs=streamed), streamed) == ANSWER
    assert ran == [BOTH[0]]
    assert [repair.code for repair in replies[0].repairs] == ["trailing-comma", "missing-closer"]


NOTE = '<tool_call>\n{"name": "note", "arguments": {"text": "a", "text": 1 2}}\n</tool_call>'
SOUND_AND_INVALID = written("hermes", BOTH[1]) + "\n" + INVALID


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("text", [INVALID, CUT, UNREAD, NOTE, SOUND_AND_INVALID])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_model_is_told_about_a_call_with_a_problem_and_writes_another(text: str, streamed: bool, size: int) -> None:
    script = Script(text, written("hermes", BOTH[0]), written("hermes", FINAL), reason="length", size=size)
    script.reason, ran = None, Ran()
    agent = agent_of(OutspokenModel(script, "hermes"), ran, stream_outputs=streamed)
    assert answers(agent, streamed) == ANSWER
    assert ran == [BOTH[0]]
    failed = steps(agent)[0]
    assert type(failed.error).__name__ == "AgentParsingError"
    assert failed.tool_calls is None
    *_, wrote, told = script.sent[1]
    assert "could not be used, and no tool was run" in told.content[0]["text"]
    assert wrote.content[0]["text"] == text.strip()  # the model sees what it wrote


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("ask", WAYS)
def test_a_call_that_is_cut_anywhere_never_runs(ask: Any, cut: int) -> None:
    model = OutspokenModel(Script(REPAIRABLE[:cut], reason="length"), "hermes")
    message = ask(model, tools_of([]))
    assert not message.tool_calls
    with pytest.raises(ValueError, match="no tool was run"):
        model.parse_tool_calls(message)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_response_without_a_call_is_an_error_that_the_model_sees(streamed: bool) -> None:
    script = Script(ANSWER, "", written("hermes", FINAL))
    agent = agent_of(OutspokenModel(script, "hermes"), Ran(), stream_outputs=streamed)
    assert answers(agent, streamed) == ANSWER
    assert all("the response calls no tool" in sent[-1].content[0]["text"] for sent in script.sent[1:])
    assert steps(agent)[0].model_output == ANSWER


def test_text_streams_as_it_arrives_and_calls_when_they_are_complete() -> None:
    model = OutspokenModel(Script(written("hermes", BOTH[0], text=ANSWER)), "hermes")
    deltas = [*model.generate_stream([], tools_to_call_from=tools_of([]))]
    assert len([delta for delta in deltas if delta.content]) > 4
    assert "".join([delta.content or "" for delta in deltas]) == ANSWER
    assert [bool(delta.tool_calls) for delta in deltas].index(True) == len(deltas) - 1


def test_a_message_from_elsewhere_is_parsed() -> None:
    model = OutspokenModel(Script(), "hermes")
    parts = [{"type": "text", "text": written("hermes", *BOTH, text="Look:")}]
    message = model.parse_tool_calls(ChatMessage(MessageRole.USER, parts))
    assert (message.role, message.content) == (MessageRole.ASSISTANT, "Look:")
    assert [(call.function.name, call.function.arguments) for call in message.tool_calls or ()] == [*BOTH]
    with pytest.raises(ValueError, match="no tool was run"):
        model.parse_tool_calls(ChatMessage(MessageRole.ASSISTANT, CUT))


@pytest.mark.parametrize("reason", [None, "stop"])
def test_the_finish_reason_proves_the_end_of_a_call_without_its_closing_marker(reason: str | None) -> None:
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>")
    for ask in WAYS:
        model = OutspokenModel(Script(text, reason=None), "hermes", finish_reason=reason)
        assert bool(ask(model, tools_of([])).tool_calls) == (reason == "stop")


class Native(Script):
    """A model that returns a call itself, beside its text."""

    def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
        message = super().generate(*args, **kwargs)
        function = ChatMessageToolCallFunction({"place": "Paris"}, "wind")
        message.tool_calls = [ChatMessageToolCall(function, "c9", "function")]
        return message

    def generate_stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatMessageStreamDelta]:
        yield from super().generate_stream(*args, **kwargs)
        for name, arguments in (("wind", '{"place": '), (None, '"Paris"}')):
            function: Any = ChatMessageToolCallFunction(arguments, name)  # type: ignore[arg-type]
            yield ChatMessageStreamDelta(tool_calls=[ChatMessageToolCallStreamDelta(0, "c9", "function", function)])


@pytest.mark.parametrize("ask", WAYS)
def test_calls_of_the_model_itself_are_kept(ask: Any) -> None:
    model = OutspokenModel(Native(written("hermes", BOTH[0])), "hermes")
    message = model.parse_tool_calls(ask(model, tools_of([])))
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    assert calls == [("wind", {"place": "Paris"}), BOTH[0]]


@pytest.mark.parametrize("ask", WAYS)
def test_a_model_needs_no_streams_and_no_named_arguments(ask: Any) -> None:
    class Own(Model):
        def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
            assert set(kwargs) == {"tools_to_call_from"}
            calls = [ChatMessageToolCall(ChatMessageToolCallFunction({}, "note"), "c9", "function")]
            usage = TokenUsage(20, 9)
            return ChatMessage(MessageRole.ASSISTANT, written("hermes", *BOTH), calls, token_usage=usage)

    model = OutspokenModel(Own(), "hermes")
    message = model.parse_tool_calls(ask(model, tools_of([])))
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    assert calls == [("note", {}), *BOTH]
    assert message.token_usage.output_tokens == 9


@pytest.mark.parametrize("stream_outputs", [False, True])
def test_a_code_agent_is_not_affected(stream_outputs: bool) -> None:
    code = 'Thought: easy.\n<code>\nfinal_answer(tide("Brest") + "<tool_call>")\n</code>'
    ran = Ran()
    model = OutspokenModel(Script(code), "hermes")
    agent = CodeAgent(tools_of(ran), model, verbosity_level=LogLevel.OFF, stream_outputs=stream_outputs)
    assert agent.run("When?") == "nine<tool_call>"
    assert ran == [("tide", {"place": "Brest"})]


def test_plans_are_not_read() -> None:
    plan = "1. Ask for the <tool_call>.\n2. Answer.\n<end_plan>"
    script = Script(plan, written("hermes", FINAL))
    agent = agent_of(OutspokenModel(script, "hermes"), Ran(), planning_interval=5)
    assert agent.run("When?") == ANSWER
    (step,) = [step for step in agent.memory.steps if isinstance(step, PlanningStep)]
    assert "<tool_call>" in step.plan


def test_an_agent_calls_the_agent_that_it_manages() -> None:
    ran = Ran()
    helper = Script(written("hermes", BOTH[0]), written("hermes", ("final_answer", {"answer": "nine"})))
    pilot = agent_of(OutspokenModel(helper, "hermes"), ran, name="pilot", description="Knows tides.")
    script = Script(written("hermes", ("pilot", {"task": "When?"})), written("hermes", FINAL))
    agent = agent_of(OutspokenModel(script, "hermes"), Ran(), managed_agents=[pilot])
    assert agent.run("When?") == ANSWER
    assert ran == [BOTH[0]]


def test_tools_need_not_be_sent() -> None:
    script = Script(written("hermes", BOTH[0]))
    message = OutspokenModel(script, "hermes", send_tools=False).generate([], tools_to_call_from=tools_of([]))
    assert (script.tools, len(message.tool_calls or ())) == ([[]], 1)


def test_the_example_runs_against_a_server() -> None:
    answer = "High tide in Brest at nine."
    calls = [("tide", {"place": "Brest"}), ("final_answer", {"answer": answer})]
    with text_server(*[written("qwen3_coder", call) for call in calls]) as server:
        assert printed_by_example("smolagents", server.url).endswith(f"{answer}\n")
        assert server.requests[0]["tool_choice"] == "auto"
        assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide", "final_answer"]


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(UnknownFormatError, match="there is no format `hermess`; did you mean `hermes`"):
        OutspokenModel(Script(), "hermess")
    with pytest.raises(TypeError, match="`wrapped` is a str; expected Model"):
        OutspokenModel("qwen3-coder", "hermes")


def test_the_name_of_the_model_says_the_format() -> None:
    script, replies = Script(THOUGHT, THOUGHT), list[Any]()
    script.model_id = THINKER
    model = OutspokenModel(script, on_reply=replies.append)
    assert model.generate([], tools_to_call_from=tools_of([])).content == "At nine."
    deltas = model.generate_stream([], tools_to_call_from=tools_of([]))
    assert "".join([delta.content or "" for delta in deltas]) == "At nine."
    assert [reply.reasoning for reply in replies] == ["They ask."] * 2
