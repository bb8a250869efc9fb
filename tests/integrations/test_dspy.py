"""DSPy with an LM that writes calls in a format of its own: agents, predictions, reasoning, damage, streams."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy.streaming import StreamListener, StreamResponse
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel

from outspoken import Reply, UnknownFormatError
from outspoken.integrations.dspy import OutspokenAdapter
from tests.integrations.model_tests import ANSWER, CUTS, LOOK, READ_OFF, UNREAD, Ran, weather
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, THINKER, printed_by_example, written
from tests.integrations.text_server import text_server

SUBMIT = ("submit", {"answer": ANSWER})
#: How a response in DSPy's layout ends.
END = "\n\n[[ ## completed ## ]]"


class Script(dspy.BaseLM):
    """An LM that writes texts in turn, and remembers what it was sent."""

    def __init__(self, *texts: Any, native: bool = False) -> None:
        super().__init__("m", "chat", 0.0, 1000, cache=False)
        self.texts, self.native = texts, native
        self.sent: list[list[dict[str, Any]]] = []
        self.options: list[dict[str, Any]] = []

    @property
    def supports_function_calling(self) -> bool:
        return self.native

    @property
    def supports_reasoning(self) -> bool:
        return self.native

    def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        self.sent.append(messages)
        self.options.append(kwargs)
        text, calls = self.texts[len(self.sent) - 1], None
        if isinstance(text, tuple):
            text, calls = text
        message = SimpleNamespace(content=text, tool_calls=calls)
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={}, model="m")

    async def aforward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        return self.forward(prompt, messages, **kwargs)


def asked(module: Any, lm: Script, adapter: OutspokenAdapter, *, is_async: bool = False, **inputs: Any) -> Any:
    """What a module predicts."""
    with dspy.context(lm=lm, adapter=adapter):
        return asyncio.run(module.acall(**inputs)) if is_async else module(**inputs)


def sections(**fields: str) -> str:
    """A response in the layout that DSPy asks for."""
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items()]
    return "\n\n".join(parts) + END


#: How an agent of DSPy ends.
LAST = [
    sections(next_thought="So.", next_tool_name="finish", next_tool_args="{}"),
    sections(reasoning="-", answer=ANSWER),
]


def calls_of(found: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.args) for call in found.tool_calls]


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "react"])
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("native", [False, True])
def test_an_agent_runs_one_call_then_two_at_once(format: str, is_async: bool, native: bool) -> None:
    first = written(format, ("tide", {"place": "Paris"}), text="Let me look.")
    script, ran = Script(first, written(format, *BOTH), written(format, SUBMIT), native=native), Ran()
    agent = dspy.ReActV2("question -> answer", tools=weather(ran))
    adapter = OutspokenAdapter(format, use_native_function_calling=native)
    found = asked(agent, script, adapter, is_async=is_async, question="When?")
    assert (found.answer, found.termination_reason) == (ANSWER, "submit")
    assert ran == [("tide", {"place": "Paris"}), *BOTH]
    events = found.history.messages
    assert [calls_of(event["tool_calls"]) for event in events] == [[("tide", {"place": "Paris"})], [*BOTH], [SUBMIT]]
    assert all(
        len({call.id for call in event["tool_calls"].tool_calls}) == len(event["tool_calls"].tool_calls)
        for event in events
    )
    assert [str(event["next_thought"]) for event in events[:1]] == ["Let me look."]
    assert ("tools" in script.options[0]) == native


@pytest.mark.parametrize("native", [False, True, None])
def test_a_call_that_a_result_holds_does_not_run_and_one_that_the_model_made_runs_again(native: bool | None) -> None:
    last, ran = [written("hermes", SUBMIT)] if native is not None else LAST, Ran()
    script = Script(READ_OFF[0], READ_OFF[0], READ_OFF[1], READ_OFF[2], *last, native=bool(native))
    module = dspy.ReAct if native is None else dspy.ReActV2
    adapter = OutspokenAdapter("hermes", use_native_function_calling=bool(native), render_history=True)
    assert asked(module("question -> answer", tools=weather(ran)), script, adapter, question="When?").answer == ANSWER
    assert ran == [LOOK] * 3
    assert "stands in message" in script.sent[3][-1]["content"]
    assert not any("tool_calls" in message for message in script.sent[-1])


class Plan(dspy.Signature):
    """Plan what to look up."""

    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    thought: dspy.Reasoning = dspy.OutputField()
    calls: dspy.ToolCalls = dspy.OutputField()


def planned(script: Script, adapter: OutspokenAdapter, *, is_async: bool = False) -> Any:
    tools = [dspy.Tool(tool) for tool in weather([])]
    return asked(dspy.Predict(Plan), script, adapter, is_async=is_async, question="When?", tools=tools)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("native", [False, True])
def test_calls_of_all_formats_are_tool_calls(format: str, native: bool) -> None:
    script = Script(written(format, *BOTH, text="Look:"), native=native)
    found = planned(script, OutspokenAdapter(format, use_native_function_calling=native))
    assert calls_of(found.calls) == [*BOTH]
    assert (found.thought, len(script.sent)) == ("Look:", 1)


@pytest.mark.parametrize("format", ["hermes", "harmony", "glm_4_5"])
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_reasoning_is_in_a_field_of_its_type(format: str, native: bool, is_async: bool) -> None:
    script = Script(written(format, *BOTH, text="Look:", reasoning="Which day?"), native=native)
    found = planned(script, OutspokenAdapter(format, use_native_function_calling=native), is_async=is_async)
    assert isinstance(found.thought, dspy.Reasoning)
    assert (found.thought, calls_of(found.calls)) == ("Which day?", [*BOTH])


def test_a_field_without_a_section_has_its_default() -> None:
    signature = Plan.append("note", dspy.OutputField(default="none"), type_=str).append(
        "next", dspy.OutputField(), type_=int
    )
    found = OutspokenAdapter("hermes").parse(signature, written("hermes", BOTH[0], text="Hm."))
    assert (found["thought"], found["note"], found["next"]) == ("Hm.", "none", None)


def test_reasoning_before_sections_is_no_part_of_them() -> None:
    text = "<think>\nHm. [[ ## answer ## ]]\n</think>\n\n" + sections(answer=ANSWER)
    found = asked(dspy.ChainOfThought("question -> answer"), Script(text), OutspokenAdapter("hermes"), question="When?")
    assert (found.answer, str(found.reasoning).strip()) == (ANSWER, "Hm. [[ ## answer ## ]]")


def test_sections_are_read_as_with_the_chat_adapter() -> None:
    calls = '{"tool_calls": [{"name": "wind", "args": {"place": "Brest"}}]}'
    found = planned(Script(sections(thought="Hm.", calls=calls)), OutspokenAdapter("hermes"))
    assert (found.thought, calls_of(found.calls)) == ("Hm.", [BOTH[1]])
    # a call in the section, as the model writes it
    found = planned(Script(sections(thought="Hm.", calls=written("hermes", *BOTH))), OutspokenAdapter("hermes"))
    assert (found.thought, calls_of(found.calls)) == ("Hm.", [*BOTH])


@pytest.mark.parametrize("calls", [CUT, INVALID, '{"tool_calls": [{"name": "tide", "args": {"place": "Bre', ""])
def test_a_cut_section_is_not_completed_and_run(calls: str) -> None:
    text = sections(thought="Hm.", calls=calls).removesuffix(END)
    with pytest.raises(AdapterParseError):
        planned(Script(text), OutspokenAdapter("hermes", use_json_adapter_fallback=False))
    cut = sections(next_thought="Hm.", next_tool_name="tide", next_tool_args='{"place": "B').removesuffix(END)
    right = sections(next_thought="Hm.", next_tool_name="tide", next_tool_args='{"place": "Brest"}')
    script, ran = Script(cut, right, *LAST), Ran()
    agent = dspy.ReAct("question -> answer", tools=weather(ran))
    assert asked(agent, script, OutspokenAdapter("hermes"), question="When?").answer == ANSWER
    assert ran == [("tide", {"place": "Brest"})]
    assert "`next_tool_args` in your last response is truncated" in script.sent[1][-1]["content"]


def test_calls_without_a_field_for_them_stay_text() -> None:
    text = f"It writes {written('hermes', BOTH[0])} and {CUT}"
    found = asked(
        dspy.Predict("question -> answer"), Script(sections(answer=text)), OutspokenAdapter("hermes"), question="?"
    )
    assert found.answer == text


@pytest.mark.parametrize("is_async", [False, True])
def test_react_takes_the_first_call_of_a_response(is_async: bool) -> None:
    script, ran = Script(written("hermes", BOTH[0], text="Hm."), written("hermes", *BOTH[::-1]), *LAST), Ran()
    agent = dspy.ReAct("question -> answer", tools=weather(ran))
    found = asked(agent, script, OutspokenAdapter("hermes"), is_async=is_async, question="When?")
    assert (found.answer, ran) == (ANSWER, [*BOTH])
    assert found.trajectory["thought_0"] == "Hm."
    assert found.trajectory["thought_1"] == "(Only the first of 2 calls was run. Write one call at a time.)"
    assert found.trajectory["observation_1"] == "west"


@pytest.mark.parametrize("native", [False, True])
def test_a_repaired_call_runs_and_the_reply_says_what_was_repaired(native: bool) -> None:
    replies: list[Reply] = []
    adapter = OutspokenAdapter("hermes", use_native_function_calling=native, on_reply=replies.append)
    assert calls_of(planned(Script(REPAIRABLE, native=native), adapter).calls) == [BOTH[0]]
    assert [[repair.code for repair in reply.repairs] for reply in replies] == [["trailing-comma", "missing-closer"]]


@pytest.mark.parametrize("text", [INVALID, CUT, UNREAD, written("hermes", BOTH[1]) + INVALID])
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_the_model_is_told_about_a_call_with_a_problem_and_writes_another(
    text: str, native: bool, is_async: bool
) -> None:
    script, ran = Script(text, written("hermes", BOTH[0]), written("hermes", SUBMIT), native=native), Ran()
    agent = dspy.ReActV2("question -> answer", tools=weather(ran))
    adapter = OutspokenAdapter("hermes", use_native_function_calling=native)
    found = asked(agent, script, adapter, is_async=is_async, question="When?")
    assert (found.answer, ran) == (ANSWER, [BOTH[0]])
    *before, wrote, told = script.sent[1]
    assert before == script.sent[0]
    assert (wrote, told["role"]) == ({"role": "assistant", "content": text}, "user")
    assert told["content"].startswith("Your last response could not be used, and no tool was run:")
    assert script.sent[2][:-1] != script.sent[1]  # the third request is a new one


@pytest.mark.parametrize("text", [INVALID, CUT])
@pytest.mark.parametrize("native", [False, True])
def test_a_call_that_stays_damaged_is_an_error_of_the_adapter(text: str, native: bool) -> None:
    for again in (True, False):
        script = Script(text, text, native=native)
        adapter = OutspokenAdapter("hermes", use_native_function_calling=native, use_json_adapter_fallback=again)
        with pytest.raises(AdapterParseError, match="could not be used, and no tool was run") as raised:
            planned(script, adapter)
        assert raised.value.lm_response == text
        assert len(script.sent) == 1 + again


@pytest.mark.parametrize("cut", CUTS)
def test_a_call_that_is_cut_anywhere_never_runs(cut: int) -> None:
    with pytest.raises(AdapterParseError, match="no tool was run"):
        OutspokenAdapter("hermes").parse(Plan, REPAIRABLE[:cut])


def test_other_mistakes_fall_back_to_json() -> None:
    script = Script("What?", '{"answer": "nine"}')
    assert asked(dspy.Predict("question -> answer"), script, OutspokenAdapter("hermes"), question="?").answer == "nine"
    assert "JSON" in script.sent[1][-1]["content"]


@pytest.mark.parametrize("reason", [None, "stop"])
def test_the_finish_reason_proves_the_end_of_a_call_without_its_closing_marker(reason: str | None) -> None:
    adapter = OutspokenAdapter("hermes", finish_reason=reason)
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>")
    if reason:
        assert calls_of(adapter.parse(Plan, text)["calls"]) == [BOTH[0]]
    else:
        with pytest.raises(AdapterParseError):
            adapter.parse(Plan, text)


def test_calls_of_the_server_are_kept() -> None:
    native = [{"id": "c9", "type": "function", "function": {"name": "wind", "arguments": '{"place": "Paris"}'}}]
    adapter = OutspokenAdapter("hermes", use_native_function_calling=True)
    found = planned(Script((written("hermes", BOTH[0]), native), native=True), adapter)
    assert calls_of(found.calls) == [("wind", {"place": "Paris"}), BOTH[0]]
    found = planned(Script(("", native), native=True), adapter)
    assert calls_of(found.calls) == [("wind", {"place": "Paris"})]


def test_tools_give_arguments_their_types() -> None:
    found = planned(Script(written("qwen3_coder", BOTH[0])), OutspokenAdapter("qwen3_coder"))
    assert found.calls.tool_calls[0].args["day"] == 3


def test_fields_stream_as_with_the_chat_adapter() -> None:
    server = text_server(sections(answer=ANSWER))
    lm = dspy.LM("openai/m", api_base=server.url, api_key="none", cache=False)
    predict = dspy.streamify(
        dspy.Predict("question -> answer"), stream_listeners=[StreamListener(signature_field_name="answer")]
    )

    async def pieces() -> list[Any]:
        with dspy.context(lm=lm, adapter=OutspokenAdapter("hermes")):
            return [piece async for piece in predict(question="When?")]

    found = asyncio.run(pieces())
    texts = [piece.chunk for piece in found if isinstance(piece, StreamResponse)]
    assert len(texts) > 3
    assert "".join(texts).strip() == found[-1].answer == ANSWER


def test_the_example_runs_against_a_server() -> None:
    answer = "High tide in Brest at nine."
    calls = [("tide", {"place": "Brest"}), ("submit", {"answer": answer})]
    server = text_server(*[written("qwen3_coder", call) for call in calls])
    assert printed_by_example("dspy", server.url) == f"{answer}\n"
    assert "High tide in Brest at nine." in str(server.requests[1]["messages"])


class Port(BaseModel):
    name: str
    hours: list[int]


class Harbour(dspy.Signature):
    """Tell of a port."""

    question: str = dspy.InputField()
    port: Port = dspy.OutputField()
    others: list[str] = dspy.OutputField()
    answer: str = dspy.OutputField()


@pytest.mark.parametrize(
    ("port", "others"),
    [
        ('{"name": "Brest", "hours": [9]}', '["Leith"]'),
        ('```json\n{"name": "Brest", "hours": ["9",]}\n```', '["Leith",]'),
        ('Here it is: {"Name": "Brest", "hours": 9}', '"Leith"'),
    ],
)
def test_fields_of_types_are_read_with_repairs_and_conversions(port: str, others: str) -> None:
    script = Script(sections(port=port, others=others, answer="[1,]"))
    found = asked(dspy.Predict(Harbour), script, OutspokenAdapter("hermes"), question="Which?")
    assert (found.port, found.others, found.answer) == (Port(name="Brest", hours=[9]), ["Leith"], "[1,]")


def test_wrong_options_fail_at_once() -> None:
    with pytest.raises(UnknownFormatError, match="there is no format `hermess`; did you mean `hermes`"):
        OutspokenAdapter("hermess")


@pytest.mark.parametrize("is_async", [False, True])
def test_the_name_of_the_lm_says_the_format(is_async: bool) -> None:
    lm, replies = Script(f"They ask.\n</think>\n\n{sections(answer='At nine.')}"), list[Any]()
    lm.model = THINKER
    adapter = OutspokenAdapter(on_reply=replies.append)
    found = asked(dspy.Predict("question -> answer"), lm, adapter, is_async=is_async, question="When?")
    assert (found.answer, [reply.reasoning for reply in replies]) == ("At nine.", ["They ask."])
