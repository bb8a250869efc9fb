"""Reasoning that a call ends without a closing marker, a closer with nothing before it, and what surrounds a turn."""

from __future__ import annotations

import pytest

from outspoken import Reasoning, Text, ToolCall, parse, render

CALL = ToolCall(name="find_book", arguments={"title": "Lichens"})

#: format: opening marker of reasoning, its closing marker, end of a turn
TAGS = {
    "qwen3_coder": ("<think>", "</think>", "<|im_end|>\n"),
    "glm_4_5": ("<think>", "</think>", "</assistant>\n"),
    "minimax_m2": ("<think>\n", "</think>", "[e~[\n"),
    "dots": ("<think>", "</think>", "<|endofresponse|>"),
    "step3": ("<think>\n", "</think>", "<|EOT|>"),
    "deepseek_v4": ("<think>", "</think>", "<｜end▁of▁sentence｜>"),
    "gigachat3_5": ("<think>", "</think>", "</s>"),
    "minicpm5": ("<think>", "</think>", "<|im_end|>"),
    "iquest_q1": ("<think>", "</think>", "<|im_end|>"),
    "seed_oss": ("<seed:think>", "</seed:think>", "<seed:eos>"),
    "hermes": ("<think>", "</think>", "<|im_end|>\n"),
    "hy_v3": ("<think:opensource>", "</think:opensource>", "<｜hy_eos:opensource｜>"),
    "k2_horizon": ("<ifm|think>", "</ifm|think>", "<|im_end|>"),
}


@pytest.mark.parametrize("name", TAGS)
def test_a_call_ends_reasoning(name: str) -> None:
    opener, _, _ = TAGS[name]
    reply = parse("It is upstairs." + render(CALL, name), name, prefix=opener)
    assert (reply.reasoning, reply.text, reply.status) == ("It is upstairs.", "", "ok")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [(CALL.name, CALL.arguments)]


#: Other beginnings of reasoning, and other calls that end it: format and text
CUT = {
    "plain tags": (
        "hy_v3",
        "<think>It is upstairs.<tool_calls><tool_call>find_book<tool_sep>\n<arg_key>title</arg_key>\n"
        "<arg_value>Lichens</arg_value>\n</tool_call></tool_calls>",
    ),
    "a call without its section": (
        "kimi_k2",
        "<think>It is upstairs.<|tool_call_begin|>functions.find_book:0<|tool_call_argument_begin|>"
        '{"title": "Lichens"}<|tool_call_end|>',
    ),
    "the first token lost": (
        "gemma4",
        'thought\nIt is upstairs.<channel|><|tool_call>call:find_book{title:<|"|>Lichens<|"|>}<tool_call|>',
    ),
}


@pytest.mark.parametrize("what", CUT)
def test_other_calls_that_end_reasoning(what: str) -> None:
    name, text = CUT[what]
    reply = parse(text, name)
    assert (reply.reasoning, reply.text, reply.status) == ("It is upstairs.", "", "ok")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [(CALL.name, CALL.arguments)]


def test_damaged_closer_stays_reasoning_before_a_call() -> None:
    call = '<tool_call>\n{"name": "find_book", "arguments": {"title": "Lichens"}}\n</tool_call>'
    reply = parse(f"<think>\nIt is upstairs.\n</think\n{call}", "hermes")
    assert (reply.reasoning, len(reply.tool_calls)) == ("It is upstairs.\n</think", 1)


@pytest.mark.parametrize("name", TAGS)
def test_leading_closer_is_markup(name: str) -> None:
    reply = parse(TAGS[name][1] + "Good evening." + TAGS[name][2], name, prefix="")
    assert (reply.reasoning, reply.text, reply.status) == (None, "Good evening.", "ok")


@pytest.mark.parametrize("name", TAGS)
def test_closed_reasoning_is_rendered_closed(name: str) -> None:
    made = [Reasoning(text="Upstairs.", span=(0, 0)), CALL]
    assert TAGS[name][1] in render(made, name)


@pytest.mark.parametrize("name", ["minimax_m2", "step3"])
def test_reasoning_opened_by_the_prompt_is_closed_before_text(name: str) -> None:
    assert render(Text(text="Good evening.", span=(0, 0)), name).startswith("</think>")


def test_markers_share_line_breaks() -> None:
    made = [Reasoning(text="Upstairs.", span=(0, 0)), CALL]
    assert "</think>\n\n<tool_call>" in render(made, "qwen3_coder")
