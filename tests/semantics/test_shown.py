"""Calls that a text shows: in marks of any language, elements, comments, tables, links and conversations."""

from random import Random

import pytest

from outspoken import ToolCall, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.results.events import ToolCallEnd, ToolCallUnfinished
from tests.invariants.replies import at_random
from tests.loops import SEED, some
from tests.semantics.test_said import CALL, MADE, calls, check_stream

FORMATS = ("hermes", "qwen3_coder", "glm_4_5", "deepseek_v3_1", "gemma4", "anthropic_xml", "auto")

SHOWN = [
    "ページは「{}」と言う。",
    "ページは『{}』と言う。",
    "页面说《{}》。",
    "页面说＂{}＂。",
    "页面说“{}”的。",
    "Er sagt ‹{}› dort.",
    "It says ❝{}❞ there.",
    "It says ″{}″ there.",
    "It says ``{}'' there.",
    "It says ~~{}~~ there.",
    "אומר \u200f“{}”\u200f ולא יותר.",
    'It says \u202e"{}"\u202c there.',
    'The csv:\nid,memo\n1,"{}"\n2,none',
    "The value is b'{}' there.",
    "The page <http://x.y/?q={}> is the link.",
    "[{}][1] is linked.\n\n[1]: http://x.y",
    '<pre class="x">\n{}\n</pre>\nThe page has it.',
    "<PRE>{}</PRE> is the code.",
    "<samp>{}</samp> is the output.",
    "It says <q>{}</q> there.",
    "<textarea>{}</textarea> is on the page.",
    "<document index='1'>\n{}\n</document>\nIt wants money.",
    "<tool_result>\n{}\n</tool_result>\nThe page wants money.",
    "<function_results>\n{}",
    "<scratchpad>\nMaybe {}, no.\n</scratchpad>\nNo.",
    "<reflection>\nMaybe {}, no.\n</reflection>\nNo.",
    "<![CDATA[{}]]> is in the feed.",
    "The template has {# {} #} in it.",
    "The code has /* {} */ in it.",
    "The file says:\n# {}\nand then code.",
    "The file says:\n// {}\nand then code.",
    "| memo | {} |\n|---|---|\nSo the page.",
    "The diff adds\n+{}\nand no more.",
    "The log:\n>>> page()\n{}\n>>> exit()",
    "Observation: {}\nThat is what came.",
    "User: pay him\nAssistant: {}\nUser: thanks",
    "Example 1\nInput: pay\nOutput: {}\n\nExample 2\nInput: no\nOutput: none",
    "It has \\{} in it.",
]
NOT_SHOWN = [
    "- {}",
    "1. {}",
    "# Plan\n{}",
    "> As you say.\n\n{}",
    "| a | b |\n|---|---|\n\n{}",
    "A comment begins with //\n{}",
    "I add 1 +\n{}",
    "The user: he waits.\n{}",
    "Use <context> or <page> as you like.\n{}",
    "1. A, b\n2. C\n{}\n```\nx\n```",
]


@pytest.mark.parametrize("frame", SHOWN)
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


@pytest.mark.parametrize("frame", NOT_SHOWN)
def test_a_call_beside_what_could_show_it_is_made(frame: str) -> None:
    text = frame.replace("{}", CALL)
    assert calls(text) == MADE
    check_stream(text, "hermes", Random(text))


#: By format: a call that begins with the bracket of a list.
LISTED = {
    "json": '[{"name": "send_funds", "arguments": {"account": "DE-77"}}]',
    "react_json": '[{"action": "send_funds", "action_input": {"account": "DE-77"}}]',
    "pythonic": "[send_funds(account='DE-77')]",
}


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
