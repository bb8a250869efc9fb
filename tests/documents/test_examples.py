"""The programs in `examples/` do what they say, with models that are written here."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outspoken import Action, Parser, ReasoningDelta, TextDelta, ToolCall, render
from outspoken.actions import PageContext
from outspoken.parsing import EventStream
from outspoken.providers import ProviderReply, stream_response
from tests.documents import user_code
from tests.examples import chat_loop, page_agent, provider_relay, react_runner, table_chat
from tests.loops import in_one_item
from tests.models.test_chat_templates import TEMPLATES
from tests.streams import collected, later


def add(a: int, b: int) -> int:
    """A tool."""
    return a + b


def pieces(text: str) -> Iterator[str]:
    """A text in pieces, as a model writes it."""
    return (text[i : i + 4] for i in range(0, len(text), 4))


def reply_of(events: EventStream[Any, ProviderReply]) -> ProviderReply:
    """The reply at the end of a stream."""
    assert [*events]
    return events.reply


@in_one_item(
    "format_", ["hermes", "qwen3_coder", "kimi_k2", "deepseek_v3_1", "harmony", "glm_4_5", "anthropic_xml", "auto"]
)
def test_the_chat_loop_runs_tools_and_retries(format_: str) -> None:
    call = render(ToolCall(name="add", arguments={"a": 2, "b": 3}), format="hermes" if format_ == "auto" else format_)
    responses = iter([call[: len(call) * 3 // 4], call, "It is 5."])
    messages, shown = [{"role": "user", "content": "2 + 3?"}], list[str]()
    reply = chat_loop.chat(lambda _: pieces(next(responses)), format_, [add], messages, shown.append)
    assert (reply.text, "".join(shown)) == ("It is 5.", "It is 5.")
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert messages[-2]["content"] == "5"


def test_the_react_agent_thinks_acts_and_answers() -> None:
    action = 'Thought: I add.\nAction: {"action": "add", "action_input": {"a": 2, "b": 3}}'
    answer = 'Thought: I know.\nAction: {"action": "Final Answer", "action_input": "It is \\"5\\"."}'
    prompts: list[str] = []

    def model(prompt: str) -> Iterator[str]:
        prompts.append(prompt)
        return pieces(action if len(prompts) == 1 else answer)

    events = list(react_runner.run(model, {"add": add}, "2 + 3?"))
    assert "".join([event.text for event in events if isinstance(event, ReasoningDelta)]) == "I add.I know."
    assert "".join([event.text for event in events if isinstance(event, TextDelta)]) == 'It is "5".'
    assert prompts[1] == f"Question: 2 + 3?\n{action}\nObservation: 5\n"


def test_the_table_chat_sends_text_and_stores_payloads() -> None:
    text = 'Your table is ready.\n\nSUGGESTED_VALUES:\n[{"label": "Add rows", "value": "Add ten rows"}]'
    stored: list[dict[str, Any]] = []

    body = collected(table_chat.respond(later(pieces(text)), "table_view", stored.append))
    read = reply_of(stream_response(body))
    assert read.text == stored[0]["message"] == "Your table is ready."
    assert stored[0]["suggested_values"] == read.payloads[0].data == [{"label": "Add rows", "value": "Add ten rows"}]
    assert "open_filters" in table_chat.system_prompt("table_view")


def test_the_page_agent_acts_on_elements_until_the_goal_is_reached() -> None:
    page = PageContext.of({"AAB": {"tagName": "input", "attributes": {"type": "checkbox"}}}, {"AAB": "5d41402a"})
    select = {"action_type": "SELECT_OPTION", "id": "AAB", "option": {"label": "Breakfast"}}
    responses = ["I cannot see.", json.dumps({"actions": [select]}), '{"actions": [{"action_type": "COMPLETE"}]}']
    prompts: list[str] = []
    performed: list[Action] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return responses[len(prompts) - 1]

    last = page_agent.run(ask, lambda: page, performed.append, "Order breakfast.")
    assert last is not None
    assert last.type == "complete"
    (ticked,) = performed
    assert ticked.type == "set_checked"
    assert ticked.element is not None
    assert ticked.element.hash == "5d41402a"
    assert [prompt.startswith("Order breakfast.") for prompt in prompts] == [True] * 3
    assert "could not be used" in prompts[1]


def test_the_relay_turns_text_of_one_provider_into_calls_of_another() -> None:
    text = '<think>Which?</think>One moment.\n<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>'
    chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces(text)]
    body = b"".join([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]) + b"data: [DONE]\n\n"
    logged: list[ProviderReply] = []

    arriving = later([body[i : i + 50] for i in range(0, len(body), 50)])
    relayed = collected(provider_relay.relay(arriving, "hermes", logged.append))
    read = reply_of(stream_response(relayed, provider="anthropic"))
    assert (read.reasoning, read.text) == ("Which?", "One moment.")
    assert read.tool_calls[0].arguments == logged[0].tool_calls[0].arguments == {"a": 2, "b": 3}


# code of users is typed: mypy, strict, finds what a call returns and what is wrong with one


CODE = user_code.__file__
TOP = Path(CODE).parents[2]
MYPY = ("mypy", "--strict", "--config-file=", "--python-version=3.10", CODE)


def test_mypy_accepts_user_code(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What mypy has found of the library is kept, so that it reads again only what has changed."""
    stored = getattr(request.config, "cache", None)
    cache = tmp_path if stored is None else stored.mkdir("mypy")
    command = [sys.executable, "-m", *MYPY, "--cache-dir", str(cache)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=TOP)
    assert found.returncode == 0, found.stdout + found.stderr


def test_user_code_runs() -> None:
    assert [call.name for call in user_code.whole()] == ["tide"]
    assert user_code.streamed(Parser("hermes")) == "Hi."
    assert [message["content"] for message in user_code.ran()] == ["day 3"]
    assert user_code.of_provider() == "tool_calls"
    assert user_code.with_payloads() == user_code.Card(title="Moss")
    assert user_code.processed() == [{"a": None}]
    assert [action.type for action in user_code.acted()] == ["click"]
    assert user_code.others().values == ([1],)
    assert user_code.prompted(Parser.for_model(TEMPLATES["hermes"])).text == "nine."
    assert user_code.exported()[0]["type"] == "start"
