"""What a finished call must show before it may run: arguments that fit its tool, ends that are in the text, numbers."""

from typing import Any

import pytest

from outspoken import Parser, Settings
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.json import read_json
from tests.invariants.replies import pieces
from tests.tables import tables

TABLES = tables(__file__)

STRING, NUMBER = {"type": "string"}, {"type": "number"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "send_funds",
        "parameters": {
            "type": "object",
            "properties": {"account": STRING, "amount": NUMBER, "speed": {"type": "string", "enum": ["slow", "fast"]}},
            "required": ["account", "amount"],
        },
    },
    {"name": "list_dir", "parameters": {"type": "object", "properties": {"path": STRING}}},
]


def hermes(arguments: str, name: str = "send_funds") -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


LISTING = (
    '<function_calls>\n<invoke name="list_dir">\n<parameter name="path">{}</parameter>\n</invoke>\n</function_calls>'
)


@pytest.mark.parametrize(("format_", "text", "code"), TABLES["MISTAKEN"])
def test_a_sound_call_that_violates_its_schema(format_: str, text: str, code: str) -> None:
    reported = Parser(format_, tools=TOOLS).parse(text)
    assert ([d.code for d in reported.diagnostics], len(reported.tool_calls)) == ([code], 1)
    refused = Parser(format_, tools=TOOLS, settings=Settings(schema_check="refuse")).parse(text)
    assert (refused.status, refused.tool_calls) == ("invalid", [])
    ignored = Parser(format_, tools=TOOLS, settings=Settings(schema_check="off")).parse(text)
    assert (ignored.diagnostics, len(ignored.tool_calls)) == ([], 1)


@pytest.mark.parametrize("reason", ["length", None])
def test_cut_arguments_are_no_text_of_an_argument_without_a_name(reason: str | None) -> None:
    reply = Parser("react").parse('Action: list_dir\nAction Inpu: {"path": "/srv"', finish_reason=reason)
    assert reply.tool_calls == []
    assert reply.diagnostics


@pytest.mark.parametrize(("format_", "text"), TABLES["UNPROVEN"])
def test_a_repaired_call_that_is_not_proven_does_not_run(format_: str, text: str) -> None:
    reply = Parser(format_, tools=TOOLS).parse(text, finish_reason="stop")
    assert [call.arguments for call in reply.tool_calls] in ([], [{"path": "/srv"}])
    assert reply.diagnostics


@pytest.mark.parametrize(("format_", "text", "arguments"), TABLES["PROVEN"])
def test_a_call_that_is_proven_runs(format_: str, text: str, arguments: dict[str, Any] | None) -> None:
    (call,) = Parser(format_, tools=TOOLS).parse(text, finish_reason="stop").tool_calls
    if arguments is None:
        assert call.arguments["path"] in text
    else:
        assert call.arguments == arguments


@pytest.mark.parametrize("written", ["12,5", "1/2", "010", "1.500,25", "12 000", "12.5.1"])
def test_json_keeps_what_is_no_number(written: str) -> None:
    value: Any = read_json(f'{{"amount": {written}, "to": "DE",}}').value
    assert value == {"amount": written, "to": "DE"} or (" " in written and value is None)


def test_a_path_with_single_backslashes() -> None:
    text = hermes('{"path": "C:\\temp\\notes"}', "list_dir")
    assert Parser("hermes").parse(text).tool_calls == []
    (call,) = Parser("hermes").parse(text.replace("\\", "\\\\")).tool_calls
    assert call.arguments == {"path": "C:\\temp\\notes"}


@pytest.mark.parametrize(("format_", "text", "has_tools", "count"), TABLES["UNREAD"])
def test_what_cannot_be_read_is_reported(format_: str, text: str, has_tools: bool, count: int) -> None:
    reply = Parser(format_, tools=TOOLS if has_tools else None).parse(text, finish_reason="stop")
    assert ([d.code for d in reply.diagnostics], len(reply.tool_calls)) == (["unread-markup"], count)


#: Values, and what is reported of a call that holds one.
HELD = [
    *[(value, ["odd-marker"]) for value in TABLES["PARTS_OF_MARKERS"]],
    *[(value, list[str]()) for value in TABLES["OWN_SIGNS"]],
]


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize(("value", "codes"), HELD)
def test_a_value_may_hold_signs_of_its_own_or_of_the_marker_beside_it(
    value: str, codes: list[str], tools: list[Any] | None
) -> None:
    text = LISTING.format(value)
    args = ParseArguments("anthropic_xml", {"tools": tools}, "stop")
    reply = args.parse(text)
    assert ([d.code for d in reply.diagnostics], [call.arguments for call in reply.tool_calls]) == (
        codes,
        [{"path": value}],
    )
    assert args.stream(pieces(text, 3))[1] == reply


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ('{"name": "list_dir ", "args": {"path": "a"}}', "unknown-tool"),
        ('{"name": "list_dir", "args": {"path ": "a"}}', "unknown-argument"),
        ('{"name": "list_dir", "args": {"": "a"}}', "unknown-argument"),
    ],
)
def test_no_name_is_empty_or_holds_white_space_at_its_ends(call: str, code: str) -> None:
    reply = Parser("gemini_computer_use").parse(call)
    assert ([d.code for d in reply.diagnostics], len(reply.tool_calls)) == ([code], 1)


def test_a_tool_that_is_mentioned_in_tags_is_not_reported() -> None:
    assert not Parser("coding_tags", tools=TOOLS).parse('Use <code>list_dir</code> with a "path", then.').diagnostics


def test_what_may_end_a_value_behind_a_call_is_reported() -> None:
    for format_, text in {
        "mistral": '[TOOL_CALLS]list_dir[ARGS]{"path": "a"}"}',
        "react": 'Action: list_dir\nAction Input: {"path": "a"}\n" }',
        "llama3_json": '{"name": "list_dir", "parameters": {"path": "a"}}"}}',
    }.items():
        reply = Parser(format_, tools=TOOLS).parse(text, finish_reason="stop")
        assert [d.code for d in reply.diagnostics] == ["unread-markup"], text


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize(("format_", "text", "arguments"), TABLES["SWAPPED"])
def test_what_was_swapped_with_its_neighbour(
    format_: str, text: str, arguments: dict[str, Any] | None, tools: list[Any] | None
) -> None:
    reply = Parser(format_, tools=tools).parse(text, finish_reason="stop")
    assert [call.arguments for call in reply.tool_calls] == ([] if arguments is None else [arguments])
    assert reply.diagnostics or tools is None
