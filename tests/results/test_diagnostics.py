"""Every diagnostic of a reply, by its code: the smallest text that gives it, and the whole message."""

from __future__ import annotations

import re
from pathlib import Path

import outspoken
from outspoken import Diagnostic, Parser, Screen, Settings, parse
from outspoken.payloads import PayloadRegistry, PayloadType
from outspoken.results.pending_diagnostics import MARKUP
from tests.loops import in_one_item

QWEN = "<tool_call><function=f><parameter=a>1</parameter></function></tool_call>"

REGISTRY = PayloadRegistry([PayloadType("card", "CARD")])

#: code: format or registry, text, the diagnostic in one line
MESSAGES: dict[str, tuple[str | PayloadRegistry | Parser, str, str]] = {
    "unclosed-call": (
        "hermes",
        '<tool_call>{"name": "f", "arguments": {"a": 1',
        "hermes:1:1 unclosed-call: the call of `f` never ends",
    ),
    "invalid-call": (
        "hermes",
        '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
        "hermes:1:1 invalid-call: the arguments of `f` are not a JSON object",
    ),
    "unclosed-reasoning": ("hermes", "<think>Hm", "hermes:1:1 unclosed-reasoning: the reasoning is never closed"),
    "unclosed-markup": (
        "hermes",
        "Well. <tool_call>{",
        "hermes:1:6 unclosed-markup: the text ends inside markup, which is kept as text",
    ),
    "unclosed-section": (
        "kimi_k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        "kimi_k2:1:108 unclosed-section: the text ends before the section of calls does",
    ),
    "unread-entry": (
        "json",
        '{"toolCalls": [{"id": "1"}], "content": "", "needsMoreWork": false}',
        "json:1:16 unread-entry: this has no place in a call, or repeats an earlier entry; it is left out",
    ),
    "repeated-argument": (
        "qwen3_coder",
        QWEN.replace("</function>", "<parameter=a>2</parameter></function>"),
        "qwen3_coder:1:61 repeated-argument: the argument `a` is given twice; the last one is taken",
    ),
    "mistyped-argument": (
        "qwen3_coder",
        QWEN.replace(">1<", ">one<"),
        "qwen3_coder:1:37 mistyped-argument: the argument `a` of `f` should be integer, and is kept as text",
    ),
    "unknown-tool": ("qwen3_coder", QWEN.replace("=f>", "=g>"), "qwen3_coder:1:1 unknown-tool: there is no tool `g`"),
    "ambiguous-space": (
        Parser(screen=Screen(1920, 1080)),
        "Thought: Sure.\nAction: click(start_box='<|box_start|>(500,250)<|box_end|>')",
        "ui_tars:2:9 ambiguous-space: the space of its points may be px_smart28 or rel1000; "
        "they are as the model wrote them",
    ),
    "clamped-point": (
        "ui_tars_1_0",
        "Action: click(start_box='(1200,5)')",
        "ui_tars_1_0:1:15 clamped-point: the point in `start_box` is beyond the screen, and was moved to its edge",
    ),
    "unclosed-action": (
        "ui_tars",
        "Action: type(content='mo",
        "ui_tars:1:9 unclosed-action: the action `type` never ends",
    ),
    "invalid-action": (
        "ui_tars",
        "Action: juggle(balls=3)",
        "ui_tars:1:9 invalid-action: `juggle` is not an action of this format",
    ),
    "missing-marker": (
        "qwen3_coder",
        QWEN.replace("</parameter>", ""),
        "qwen3_coder:1:38 missing-marker: the marker `</parameter>` is missing",
    ),
    "damaged-marker": (
        "hermes",
        '<tool_call>{"name": "f", "arguments": {}}</tool_call\nDone.',
        "hermes:1:42 damaged-marker: `</tool_call` was read as the marker `</tool_call>`",
    ),
    "stray-marker": (
        "qwen3_coder",
        "<tool_call>" + QWEN,
        "qwen3_coder:1:1 stray-marker: the marker `<tool_call>` is not allowed here and was dropped",
    ),
    "stray-text": (
        "qwen3_coder",
        QWEN.replace("<function", "so<function"),
        "qwen3_coder:1:12 stray-text: `so` is between markers and was dropped",
    ),
    "foreign-notation": (
        "qwen3_coder",
        '<tool_call><function=f>{"a": 1}</function></tool_call>',
        "qwen3_coder:1:1 foreign-notation: "
        "the call that starts with `<tool_call>` is in another notation than the format's",
    ),
    "trailing-comma": (
        "hermes",
        '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>',
        "hermes:1:46 trailing-comma: a comma with nothing after it was dropped",
    ),
    "truncated-escape": (
        "react_json",
        '{"action": "Final Answer", "action_input": "so \\u00',
        "react_json:1:48 truncated-escape: the text ends inside the escape `\\u00`, which is left out",
    ),
    "unclosed-answer": (
        "react_json",
        '{"action": "Final Answer", "action_input": "so it',
        "react_json:1:1 unclosed-answer: the answer never ends",
    ),
    "invalid-answer": (
        "react_json",
        '{"action": "Final Answer", "action_input": "a" b{ c"} d',
        "react_json:1:1 invalid-answer: the rest of the answer cannot be read, and is kept as it stands",
    ),
    "lone-surrogate": (
        "react_json",
        '{"action": "Final Answer", "action_input": "so \\ud83d it"}',
        "react_json:1:48 lone-surrogate: `\\ud83d` is half a character, and is read as U+FFFD",
    ),
    "invented-result": (
        "react",
        "Thought: So.\nObservation: It rains.",
        "react:2:1 invented-result: the model wrote this tool result itself; it is kept as reasoning",
    ),
    "odd-marker": (
        REGISTRY,
        '__CARD:__ {"title": "Moss"}',
        "payloads:1:1 odd-marker: this marker is not written as the format writes it",
    ),
    "unread-markup": (
        "hermes",
        "<tool_call>\nls -la\n</tool_call>",
        "hermes:1:1 unread-markup: "
        "this looks like the marker '<tool_call>', but no call could be read here, so it stays text",
    ),
    "other-key": (
        "hermes",
        '<tool_call>{"name": "f", "params": {"a": 1}}</tool_call>',
        'hermes:1:26 other-key: the key `"params"` was read as `"arguments"`',
    ),
    "unknown-key": (
        "json",
        '{"toolCalls": [], "content": "So.", "plan": 1}',
        "json:1:37 unknown-key: the key `plan` has no meaning here; it is kept in `unread`",
    ),
    "invalid-list": (
        "function_calls_json",
        '<function_calls>[{"name": "f", "arguments": {}} so]</function_calls>',
        "function_calls_json:1:49 invalid-list: this does not belong between the entries of a list",
    ),
    "missing-payload": (REGISTRY, "CARD:\n- a", "payloads:1:1 missing-payload: no payload follows this marker"),
}


def f(a: int) -> None: ...


CLAMPING = Settings(clamp=True)


def given(code: str) -> Diagnostic:
    """The diagnostic of a code that its text gives."""
    format_, text, _ = MESSAGES[code]
    reply = parse(text, format_, tools=[f], settings=CLAMPING) if isinstance(format_, str) else format_.parse(text)
    (found,) = [d for d in reply.diagnostics if d.code == code]
    return found


@in_one_item("code", MESSAGES)
def test_a_message(code: str) -> None:
    assert str(given(code)) == MESSAGES[code][2]


@in_one_item("code", MESSAGES)
def test_a_frame_begins_with_the_message_and_shows_the_place(code: str) -> None:
    found = given(code)
    lines = found.frame().splitlines()
    assert lines[0] == f"{found.severity}[{code}]: {found.message}"
    assert lines[1].strip() == f"--> {found.format}:{found.line}:{found.column} (offset {found.span[0]})"
    assert "^" in lines[4]


def test_a_diagnostic_is_data() -> None:
    found = given("missing-marker")
    assert Diagnostic(**found.model_dump()) == found


def test_every_code_is_in_the_table() -> None:
    rooms = [Path(outspoken.__file__).parent / room for room in ("semantics", "engine", "detection")]
    source = "".join([path.read_text("utf-8") for room in rooms for path in room.glob("*.py")])
    noted = set(re.findall(r'(?:\.report|PendingDiagnostic)\(\s*"([a-z-]+)"', source)) | set(MARKUP)
    assert noted <= set(MESSAGES), noted - set(MESSAGES)
