"""Reasoning that a call ends without a closing marker, a closer with nothing before it, and what surrounds a turn."""

import pytest

from outspoken import Reasoning, Text, ToolCall, parse, render
from tests.tables import tables

TABLES = tables(__file__)

CALL = ToolCall(name="find_book", arguments={"title": "Lichens"})

#: format: opening marker of reasoning, its closing marker, end of a turn
TAGS = TABLES["TAGS"]


@pytest.mark.parametrize("name", TAGS)
def test_a_call_ends_reasoning(name: str) -> None:
    opener, _, _ = TAGS[name]
    reply = parse("It is upstairs." + render(CALL, format=name), format=name, prefix=opener)
    assert (reply.reasoning, reply.text, reply.status) == ("It is upstairs.", "", "ok")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [(CALL.name, CALL.arguments)]


#: Other beginnings of reasoning, and other calls that end it: format and text
CUT = TABLES["CUT"]


@pytest.mark.parametrize("what", CUT)
def test_other_calls_that_end_reasoning(what: str) -> None:
    name, text = CUT[what]
    reply = parse(text, format=name)
    assert (reply.reasoning, reply.text, reply.status) == ("It is upstairs.", "", "ok")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [(CALL.name, CALL.arguments)]


def test_damaged_closer_stays_reasoning_before_a_call() -> None:
    call = '<tool_call>\n{"name": "find_book", "arguments": {"title": "Lichens"}}\n</tool_call>'
    reply = parse(f"<think>\nIt is upstairs.\n</think\n{call}", format="hermes")
    assert (reply.reasoning, len(reply.tool_calls)) == ("It is upstairs.\n</think", 1)


@pytest.mark.parametrize("name", TAGS)
def test_leading_closer_is_markup(name: str) -> None:
    reply = parse(TAGS[name][1] + "Good evening." + TAGS[name][2], format=name, prefix="")
    assert (reply.reasoning, reply.text, reply.status) == (None, "Good evening.", "ok")


@pytest.mark.parametrize("name", TAGS)
def test_closed_reasoning_is_rendered_closed(name: str) -> None:
    made = [Reasoning(text="Upstairs.", span=(0, 0)), CALL]
    assert TAGS[name][1] in render(made, format=name)


@pytest.mark.parametrize("name", ["minimax_m2", "step3"])
def test_reasoning_opened_by_the_prompt_is_closed_before_text(name: str) -> None:
    assert render(Text(text="Good evening.", span=(0, 0)), format=name).startswith("</think>")


def test_markers_share_line_breaks() -> None:
    made = [Reasoning(text="Upstairs.", span=(0, 0)), CALL]
    assert "</think>\n\n<tool_call>" in render(made, format="qwen3_coder")
