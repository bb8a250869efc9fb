"""Requests that allow no calls: markup of calls is text as it was written, whole and streamed."""

import pytest

from outspoken import Parser, Reply
from outspoken.authoring.fuzz.checks import ParseArguments
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
