"""Calls that a text shows: in marks of any language, elements, comments, tables, links and conversations."""

from random import Random

import pytest

from outspoken import ToolCall, parse, render
from tests.loops import some
from tests.semantics.test_said import CALL, calls, check_stream
from tests.tables import tables

TABLES = tables(__file__)

FORMATS = ("hermes", "qwen3_coder", "glm_4_5", "deepseek_v3_1", "gemma4", "anthropic_xml", "auto")


@pytest.mark.parametrize("frame", TABLES["SHOWN"])
def test_a_call_that_is_shown_does_not_run(frame: str) -> None:
    text = frame.replace("{}", CALL)
    assert calls(text) == calls(text, "auto") == []
    check_stream(text, "hermes", Random(text))
    for format_ in some(FORMATS[1:-1], f"shown {frame}", 0.2):
        call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format_).strip()
        text = frame.replace("{}", call)
        reply = parse(text, format_)
        assert reply.tool_calls == [], (format_, text)
        assert reply.diagnostics, (format_, text)
        check_stream(text, format_, Random(text))


def test_a_call_that_holds_the_end_of_its_reasoning_does_not_run() -> None:
    for format_ in some(FORMATS[:-1], "split", 0.5):
        call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format_).strip()
        for at in some(range(len(call) // 2, len(call) - 20), f"split {format_}", 0.1):
            text = f"<think>{call[:at]}</think>{call[at:]}"
            assert calls(text, format_) == [], text
            check_stream(text, format_, Random(text))
