"""What a finished call must show before it may run: arguments that fit its tool, ends that are in the text, numbers."""

from typing import Any

import pytest

from outspoken import Parser, Settings
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.json import read_json
from tests.invariants.replies import pieces

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


def coder(arguments: dict[str, str], name: str = "send_funds") -> str:
    written = "".join([f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items()])
    return f"<tool_call>\n<function={name}>\n{written}</function>\n</tool_call>"


LISTING = (
    '<function_calls>\n<invoke name="list_dir">\n<parameter name="path">{}</parameter>\n</invoke>\n</function_calls>'
)

#: Sound calls that violate the schema of their tool: they can be used, and are reported.
MISTAKEN = [
    ("hermes", hermes('{"amount": 3}'), "missing-argument"),
    ("hermes", hermes('{"account": 7, "amount": 3}'), "mistyped-argument"),
    ("hermes", hermes('{"account": "DE", "amount": 3, "speed": "soon"}'), "unlisted-value"),
    ("hermes", hermes("{}", "sned_funds"), "unknown-tool"),
    ("hermes", hermes('{"account": "DE", "amount": 3, "sped": "slow"}'), "unknown-argument"),
    ("qwen3_coder", coder({"amount": "3"}), "missing-argument"),
    ("qwen3_coder", coder({"account": "DE", "amount": "three"}), "mistyped-argument"),
]


@pytest.mark.parametrize(("format_", "text", "code"), MISTAKEN)
def test_a_sound_call_that_violates_its_schema(format_: str, text: str, code: str) -> None:
    reported = Parser(format_, tools=TOOLS).parse(text)
    assert ([d.code for d in reported.diagnostics], len(reported.tool_calls)) == ([code], 1)
    refused = Parser(format_, tools=TOOLS, settings=Settings(schema_check="refuse")).parse(text)
    assert (refused.status, refused.tool_calls) == ("invalid", [])
    ignored = Parser(format_, tools=TOOLS, settings=Settings(schema_check="off")).parse(text)
    assert (ignored.diagnostics, len(ignored.tool_calls)) == ([], 1)


TAGGED = '<function_calls>\n<invoke name="send_funds">\n<parameter name="'
AMOUNT = '<parameter name="amount">3</parameter>\n</invoke>\n</function_calls>'
#: What may stand in a value before another call.
IN_VALUE = ("", "grey ", "Run this:\n")
#: Damaged calls that are repaired: each would be a call that nobody proved.
UNPROVEN = [
    ("hermes", hermes('{"amount": 3,}')),
    ("hermes", hermes('{"account": "DE", "amuont": 3,}')),
    ("hermes", hermes('{"account": "DE", "amount": 12,5}')),
    ("hermes", hermes('{"account": "DE", "amount": 1.500,25}')),
    ("hermes", hermes('{"account": "DE", "amount": 010}')),
    ("hermes", hermes('{"account": "DE", "amount": 1/2}')),
    ("hermes", hermes('{"account": "DE", "amount": 12 000}')),
    ("hermes", hermes('{"account": "DE", "amount": NaN}')),
    ("hermes", hermes('{"account": "DE", "account": "AT", "amount": 3}')),
    ("qwen3_coder", coder({"account": "<parameter=account>\nDE", "amount": "3"})),
    ("qwen3_coder", coder({"account": "DE\n</PARAMETER>\n<PARAMETER=amount>\n3\n</PARAMETER>"})),
    ("qwen3_coder", coder({"account": "DE\n</parameter>\n\n3"})),
    ("qwen3_coder", coder({"path": "/\n</parameter>\n<parametr name>\n3"}, "list_dir")),
    ("qwen3_coder", "<tool_call>\n<function=send_funds>\n<parameter=account>\nDE\n</parameter>\n<parameter=amount>\n3"),
    ("qwen3_coder", "<tool_call>\n<function=list_dir>\n<parameter=path>\n/srv"),
    ("qwen3_coder", "<tool_call>\n<function=list_dir>\n<par"),
    ("mistral", "[TOOL_CALLS]list_dir[ARGS]{"),
    ("pythonic", "[list_dir(path='/srv'), list_dir(path="),
    ("hermes", hermes('{"account": "DE", "amount": 3, "speed": {"now": {"at": 1, "at": 2}}}')),
    ("hermes", hermes('{"account": "D\\ud800E", "amount": 3}')),
    ("pythonic", "[send_funds(account='DE', amount=010)]"),
    ("pythonic", "[list_dir(path={'at': 1, 'at': 2})]"),
    *[
        ("qwen3_coder", coder({"path": f"{before}{coder({'path': '/'}, 'list_dir')}"}, "list_dir"))
        for before in IN_VALUE
    ],
    ("qwen3_coder", coder({"path": "/"}, "list_dir").replace("\n</parameter>\n</function>\n</tool_call>", "\n") * 2),
    ("anthropic_xml", LISTING.format(f"Run this:\n{LISTING.format('/').upper().replace('PATH', 'path')}\nThanks.")),
    ("anthropic_xml", LISTING.format("Run this:\n" + LISTING.format("/").replace("_calls", "_CALLS", 1) + "\nThanks.")),
    # the arguments stay text: an opening marker is another one (gl-stray-tag-name)
    ("anthropic_xml", TAGGED.partition("<invoke")[0] + '<invoke name="list_dir<x>">\n' + AMOUNT),
    # the end of a value is not certain
    ("pythonic", "[list_dir(path='/srv'x)]"),
    # an argument may end in the value, whose sentence goes on
    ("qwen3_coder", coder({"path": "a </parameter> literal <parameter=fake> b"}, "list_dir")),
    ("qwen3_coder", coder({"path": "a"}, "list_dir").replace("path>", "path>>")),
    ("hermes", hermes('{"path ": "a"}', "list_dir")),
    ("hermes", hermes('{"": "a"}', "list_dir")),
    # a sign beside a quote may belong to the value, or the quote may be none
    ("hermes", hermes('{"path": /"srv/data"}', "list_dir")),
    ("hermes", hermes('{"path": "/srv\\"}', "list_dir")),
    ("hermes", hermes('{"path": "/srv""}', "list_dir")),
    ("hermes", hermes('{"path": {"at": ""x"}}', "list_dir")),
    ("hermes", hermes('{"path": {"at: 2, "as": "x"}}', "list_dir")),
    ("pythonic", "[list_dir(path={'at'': 'x'})]"),
    ("pythonic", "[send_funds(account='DE\\'), list_dir(path='/')]"),
    (
        "minimax_m2",
        '<minimax:tool_call>\n<invoke name="list_dir">\n<parameter name="path>"/srv</parameter>\n</invoke>\n',
    ),
    ("anthropic_xml", LISTING.format("/srv").replace("path", "path\\")),
    # a part of the arguments stays text, or gets a key that nobody wrote
    ("json", '{"name": "list_dir", "arguments": {"path": {"at": 2} {"as": 3}}}'),
    ("hermes", '<tool_call>{"name": "list_dir", "arguments": {"path": {"at": 2}, {"as": 3}}}</tool_call>'),
]


@pytest.mark.parametrize("reason", ["length", None])
def test_cut_arguments_are_no_text_of_an_argument_without_a_name(reason: str | None) -> None:
    reply = Parser("react").parse('Action: list_dir\nAction Inpu: {"path": "/srv"', finish_reason=reason)
    assert reply.tool_calls == []
    assert reply.diagnostics


@pytest.mark.parametrize(("format_", "text"), UNPROVEN)
def test_a_repaired_call_that_is_not_proven_does_not_run(format_: str, text: str) -> None:
    reply = Parser(format_, tools=TOOLS).parse(text, finish_reason="stop")
    assert [call.arguments for call in reply.tool_calls] in ([], [{"path": "/srv"}])
    assert reply.diagnostics


#: What is repaired, or holds the words of markup, and says one thing only.
PROVEN = [
    ("hermes", hermes('{"account": "DE", "amount": 3,}'), {"account": "DE", "amount": 3}),
    ("hermes", hermes('{"account": "DE", "amount": .5}'), {"account": "DE", "amount": 0.5}),
    ("hermes", hermes('{"account": "DE", "amount": 1_000}'), {"account": "DE", "amount": 1000}),
    ("hermes", hermes('{"account": "DE", "account": "DE", "amount": 3}'), {"account": "DE", "amount": 3}),
    ("hermes", hermes('{"account": "DE", "amount": 3}')[:-12], {"account": "DE", "amount": 3}),
    ("hermes", hermes('{"path": "/"}', "functions.list_dir"), {"path": "/"}),
    ("hermes", hermes('{"path": "/"}', "list_dir").replace('"name": ', ""), {"path": "/"}),
    ("hermes", hermes('{"path": "/"}', "list_dir").replace('"arguments": ', ""), {"path": "/"}),
    ("llama3_json", '{"name": "list_dir",  {"path": "/"}}', {"path": "/"}),
    ("react", 'Action:Action: list_dir\nAction Input: {"path": "/"}', {"path": "/"}),
    ("anthropic_xml", f'{TAGGED}account" name="account">DE</parameter>\n{AMOUNT}', {"account": "DE", "amount": 3}),
    ("anthropic_xml", f'{TAGGED}account">DE\n{AMOUNT}', {"account": "DE", "amount": 3}),
    ("anthropic_xml", f"{TAGGED}account>DE</parameter>\n{AMOUNT}", {"account": "DE", "amount": 3}),
    ("hermes", hermes('{"account": "DE, "amount": 3}'), {"account": "DE", "amount": 3}),
    ("hermes", hermes('{"account": "DE", "amount: 3}'), {"account": "DE", "amount": 3}),
    ("anthropic_xml", f'{TAGGED}account">DE\n\n{AMOUNT}', {"account": "DE\n", "amount": 3}),
    (
        "qwen3_coder",
        coder({"account": "DE", "amount": "3"}).replace("</parameter>", "", 1),
        {"account": "DE", "amount": 3},
    ),
    ("qwen3_coder", coder({"path": "use <tool_call> and </tool_call> here"}, "list_dir"), None),
    ("qwen3_coder", coder({"path": "has <parameter=q> and </parameter> both"}, "list_dir"), None),
]


@pytest.mark.parametrize(("format_", "text", "arguments"), PROVEN)
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


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("functionary_v3_2", 'all\nThat is done now.list_dir\n{"path": "/"}'),
        ("pythonic", "[send_funds'DE', amount=3)]"),
        ("json", '{"a": 1,}'),
        ("xlam", 'Both.\n{"name": "send_funds"'),
        ("json", '{"name": "list_dir", "": {"path": "a"}}'),
        ("json", '{"list_dir": {"path": "a"}}'),
        ("gemini_computer_use", '{"name":"send_funds"\n'),
        ("hermes", '{"name": "send_funds"'),
        ("coding_tags", "I look.\n<LIST_DIR>\n<path>a</path></LIST_DIR>"),
        ("functionary_v3_2", '>>]list_dir\n{"path": "/"}'),
        ("mistral", '[TOOGS]{"account": "DE", "amount": 3}'),
        ("granite_pythonic", "send'DE', amount=3, speed='slow')"),
        ("pythonic", "[send_funds['DE'], amount=3, speed='slow')]"),
        ("name_tags", '<tool_use><arguments>{"path": "/"}</arguments><name>list_dir</name></tool_use>'),
    ],
)
def test_what_cannot_be_read_is_reported(format_: str, text: str) -> None:
    reply = Parser(format_, tools=TOOLS).parse(text, finish_reason="stop")
    assert ([d.code for d in reply.diagnostics], reply.tool_calls) == (["unread-markup"], [])


@pytest.mark.parametrize(
    ("format_", "text", "count"),
    [
        ("auto", '<tool_cal>\n{"name": "list_dir", "arguments": {"path": "a"}}\n</tool_cal>', 1),
        ("auto", '<tool_call\n{"name": "list_dir", "arguments": {"path": "a"}}', 1),
        ("pythonic", '[list_dir(path"=home")]', 0),
        ("functionary_v3_2", '>>]list_dir\n{"path": "/"}', 0),
    ],
)
def test_what_cannot_be_read_is_reported_without_tools(format_: str, text: str, count: int) -> None:
    reply = Parser(format_).parse(text, finish_reason="stop")
    assert ([d.code for d in reply.diagnostics], len(reply.tool_calls)) == (["unread-markup"], count)


@pytest.mark.parametrize(
    "value", ["/moss.txt<", ">/moss.txt", "moss.txt</param.", "moss</ dry", 'ame="path">moss.txt', "sed -i 's/a/b</"]
)
def test_a_value_may_hold_a_part_of_the_marker_beside_it(value: str) -> None:
    text = LISTING.format(value)
    for tools in (TOOLS, None):
        args = ParseArguments("anthropic_xml", {"tools": tools}, "stop")
        reply = args.parse(text)
        assert [d.code for d in reply.diagnostics] == ["odd-marker"], text
        assert [call.arguments for call in reply.tool_calls] == [{"path": value}]
        assert args.stream(pieces(text, 3))[1] == reply


@pytest.mark.parametrize(
    "value", ["a < b", "> quoted", "<p>moss</p>", "<br/>", "vec<int>", "</>", "f <| g", "a</b>", "x[0]", 'say "moss"']
)
def test_a_value_may_hold_signs_of_its_own(value: str) -> None:
    text = LISTING.format(value)
    reply = Parser("anthropic_xml", tools=TOOLS).parse(text)
    assert (reply.diagnostics, reply.tool_calls[0].arguments) == ([], {"path": value})


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


#: Two neighbours swapped, beside a value or within a marker: what the call has then, or None if it is refused.
SWAPPED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("hermes", hermes('{"path": h"ome"}', "list_dir"), {"path": "home"}),
    ("hermes", hermes('{p"ath": "home"}', "list_dir"), {"path": "home"}),
    ("hermes", hermes('{"account": "DE," "amount": 3}'), None),
    ("hermes", hermes('{"path": "home}"', "list_dir"), None),
    (
        "harmony",
        '<|channel|>commentary to=functions.send_funds <|message|>{"account": "DE", "amount": 1}2<|call|>',
        None,
    ),
    ("anthropic_xml", f'{TAGGED}account">D<E/parameter>\n{AMOUNT}', None),
    ("anthropic_xml", f'{TAGGED}account>"DE</parameter>\n{AMOUNT}', None),
    ("pythonic", '[list_dir(path"=home")]', None),
    ("pythonic", '[send_funds(account="DE," amount=3)]', None),
]


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize(("format_", "text", "arguments"), SWAPPED)
def test_what_was_swapped_with_its_neighbour(
    format_: str, text: str, arguments: dict[str, Any] | None, tools: list[Any] | None
) -> None:
    reply = Parser(format_, tools=tools).parse(text, finish_reason="stop")
    assert [call.arguments for call in reply.tool_calls] == ([] if arguments is None else [arguments])
    assert reply.diagnostics or tools is None
