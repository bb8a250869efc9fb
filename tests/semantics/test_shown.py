"""Calls that a text shows: in marks of any language, elements, comments, tables, links and conversations."""

from random import Random

import pytest

from outspoken import ToolCall, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.results.events import ToolCallEnd, ToolCallUnfinished
from tests.invariants.replies import at_random
from tests.loops import SEED, some
from tests.semantics.test_said import CALL, MADE, calls, check_stream
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


@pytest.mark.parametrize("frame", TABLES["NOT_SHOWN"])
def test_a_call_beside_what_could_show_it_is_made(frame: str) -> None:
    text = frame.replace("{}", CALL)
    assert calls(text) == MADE
    check_stream(text, "hermes", Random(text))


#: By format: a call that begins with the bracket of a list.
LISTED = TABLES["LISTED"]


@pytest.mark.parametrize("format_", LISTED)
def test_a_list_that_is_the_text_of_a_link_does_not_run(format_: str) -> None:
    random = Random(f"links {SEED}")
    for lead in ("", "See this.\n"):
        text = f"{lead}{LISTED[format_]}(http://x.y) is its link."
        args = ParseArguments(format_)
        events, reply = args.stream(at_random(text, random, 30))
        assert reply == args.parse(text)
        assert (reply.tool_calls, reply.status) == ([], "invalid"), text
        assert "quoted-call" in [diagnostic.code for diagnostic in reply.diagnostics]
        assert not any(isinstance(event, ToolCallEnd) for event in events)
        assert any(isinstance(event, ToolCallUnfinished) for event in events)
    assert calls(f"{LISTED[format_]}\n(as you said)", format_) == MADE


def test_a_call_that_holds_the_end_of_its_reasoning_does_not_run() -> None:
    for format_ in some(FORMATS[:-1], "split", 0.5):
        call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format_).strip()
        for at in some(range(len(call) // 2, len(call) - 20), f"split {format_}", 0.1):
            text = f"<think>{call[:at]}</think>{call[at:]}"
            assert calls(text, format_) == [], text
            check_stream(text, format_, Random(text))


def test_a_call_before_the_end_of_reasoning_that_never_began_is_reported() -> None:
    text = f"I must not do {CALL} here.\n</think>\nNo."
    assert [diagnostic.code for diagnostic in parse(text, "hermes").diagnostics] == ["orphan-closer"]
    check_stream(text, "hermes", Random(text))
    assert calls(f"Not this.\n</think>\n{CALL}") == MADE
