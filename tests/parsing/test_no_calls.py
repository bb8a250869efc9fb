"""Requests that allow no calls: markup of calls is text as it was written, whole and streamed."""

import pytest

from outspoken import Parser, Reply
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.cases import CASES, FORMATS
from tests.invariants.replies import pieces
from tests.loops import some

TEXTS = {
    "hermes": '{"name": "Bob", "arguments": {"age": 4}}',
    "llama3_json": '{"name": "Bob", "parameters": {"age": 4}}',
    "mistral": '[TOOL_CALLS] [{"name": "Bob", "arguments": {"age": 4}}',
    "json": '{"toolCalls": [{"name": "Bob", "arguments": {"age": 4}}], "content": "", "needsMoreWork": false}',
    "react": 'Action: tide\nAction Input: {"place": "Brest"}',
    "qwen3_vl": 'Well.\n<tool_call>\n{"name": "tide", "arguments": {}}\n</tool_call>',
    "qwen3_coder": "<tool_call>\n<function=tide>\n<parameter=place>\nBrest\n</function>\n</tool_call> said so",
    "auto": '<tool_call>\n{"name": "Bob", "arguments": {"age": 4}}\n</tool_call>',
    "deepseek_v3_1": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tide<｜tool▁sep｜>{"place": "Bre',
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}",
}


@pytest.mark.parametrize("format", TEXTS)
def test_a_call_is_text_as_it_was_written(format: str) -> None:
    parser = Parser(format, calls=False)
    reply = parser.parse(TEXTS[format], finish_reason="stop")
    assert (reply.text, reply.status, reply.diagnostics) == (TEXTS[format], "ok", [])
    events = [*parser.stream([*TEXTS[format]], finish_reason="stop")]
    assert "".join([getattr(event, "text", "") for event in events]) == TEXTS[format]


def test_reasoning_is_read_and_holds_what_it_says_of_calls() -> None:
    text = '<think>\nNot <tool_call>\n{"name": "a", "arguments": {}}\n</tool_call> now.\n</think>\n\nHello'
    reply = Parser("hermes", calls=False).parse(text)
    assert (reply.reasoning, reply.text) == (text[8:-16], "Hello")


def test_actions_are_read() -> None:
    text = '<tool_call>\n{"name": "computer_use", "arguments": {"action": "wait", "time": 2}}\n</tool_call>'
    assert [type(action).__name__ for action in Parser("qwen2_5_vl", calls=False).parse(text).actions] == ["Wait"]


def has_call(reply: Reply) -> bool:
    return any(segment.kind == "tool_call" for segment in reply.segments)


@pytest.mark.parametrize("format", some(FORMATS, "no calls", 0.34))
def test_no_response_of_the_corpus_has_a_call(format: str) -> None:
    args, own = ParseArguments(format, {"calls": False}, "stop"), [case for case in CASES if case.format == format]
    for case in some(own, "no calls", 0.34):
        reply = Parser(format, calls=False).parse(case.text, finish_reason="stop")
        assert not has_call(reply), case
        assert args.stream(pieces(case.text, 5))[1] == reply, case
    for case in some(own, "no calls detected", 0.1):
        assert not has_call(Parser(calls=False).parse(case.text, finish_reason="stop")), case


def test_a_format_without_calls_is_read_as_before() -> None:
    for case in [case for case in CASES if case.format == "text"]:
        assert Parser(case.format, calls=False).parse(case.text) == Parser(case.format).parse(case.text), case
