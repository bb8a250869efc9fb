"""Requests that allow no calls, where markup is text as it was written, and those that force one in JSON."""

import pytest

from outspoken import Parser, Reply, formats
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from tests.cases import CASES, FORMATS
from tests.invariants.replies import pieces
from tests.loops import some


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


def test_a_call_that_an_engine_forces_is_read_in_every_format_with_calls() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
    for info in formats():
        if any("tool_call" in kinds.split() for kinds in registry.automaton(info.name).tables.nodes):
            prompt = "" if "think" in registry.header(info.name).opened else None
            text = '[{"name": "get_weather", "parameters": {"city": "Paris"}}]'
            reply = Parser(info.name, tools=tools).parse(text, prefix=prompt)
            assert [(call.name, call.arguments, call.status) for call in reply.tool_calls] == [
                ("get_weather", {"city": "Paris"}, "ok")
            ], info.name
            assert reply.text == "", info.name
