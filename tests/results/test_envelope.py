"""The reply as one plain object, whatever notation the model chose.

Every text is read whole and in pieces of three characters; both must give the same object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outspoken import Done, parse, stream
from outspoken.contrib.conventions import CONVENTIONS
from outspoken.results.conventions import Conventions
from tests.loops import in_one_item


def envelope(text: str, tools: Any = None) -> dict[str, Any]:
    """The envelope of a text whose format is not known."""
    whole = parse(text, tools=tools).to_envelope()
    *_, done = stream((text[i : i + 3] for i in range(0, len(text), 3)), tools=tools)
    assert isinstance(done, Done)
    assert done.reply.to_envelope() == whole
    return whole


def call(name: str, arguments: dict[str, Any] | None = None, **more: str) -> dict[str, Any]:
    return {"name": name, "arguments": arguments or {}, **more}


def calls(*made: dict[str, Any], content: str | None = CONVENTIONS.placeholder, more: bool = True) -> dict[str, Any]:
    """An envelope with calls; without content where that is None."""
    return {**({} if content is None else {"content": content}), "toolCalls": list(made), "needsMoreWork": more}


INVOKE_READ = '<invoke name="read_file"><parameter name="path">{}</parameter></invoke>'

FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "an envelope with a call": (
        '{"toolCalls": [{"name": "read_file", "arguments": {"path": "x.txt"}}], "needsMoreWork": true}',
        calls(call("read_file", {"path": "x.txt"}), content=None),
    ),
    "an envelope with all its keys": (
        '{"toolCalls": [{"name": "read_file", "arguments": {"path": "config.json"}}], "content": "",'
        ' "needsMoreWork": true}',
        calls(call("read_file", {"path": "config.json"}), content=""),
    ),
    "an envelope with content only": (
        '{"content": "The answer is 42", "needsMoreWork": false}',
        {"content": "The answer is 42", "needsMoreWork": False},
    ),
    "a list of calls in tags": (
        '<function_calls>[{"name": "list_dir", "arguments": {"path": "."}}]</function_calls>',
        calls(call("list_dir", {"path": "."})),
    ),
    "text before the tags": (
        "I will list that directory.\n"
        '<function_calls>[{"name": "list_dir", "arguments": {"path": "."}}]</function_calls>',
        calls(call("list_dir", {"path": "."}), content="I will list that directory."),
    ),
    "an invocation": (
        f"<function_calls>{INVOKE_READ.format('config.json')}</function_calls>",
        calls(call("read_file", {"path": "config.json"})),
    ),
    "two invocations": (
        f"<function_calls>{INVOKE_READ.format('a.txt')}{INVOKE_READ.format('b.txt')}</function_calls>",
        calls(call("read_file", {"path": "a.txt"}), call("read_file", {"path": "b.txt"})),
    ),
    "an envelope in a fence": (
        'Here is the result:\n```json\n{"toolCalls": [{"name": "test", "arguments": {}}], "needsMoreWork": true}\n```',
        calls(call("test"), content=None),
    ),
    "an envelope after text": (
        "I will help you with that.\n\n"
        '{"toolCalls": [{"name": "search", "arguments": {"q": "test"}}], "needsMoreWork": true}',
        calls(call("search", {"q": "test"}), content=None),
    ),
    "a call between tokens": (
        '<|tool_calls_section_begin|><|tool_call_begin|>{"name": "test", "arguments": {}}<|tool_call_end|>'
        "<|tool_calls_section_end|>",
        calls(call("test")),
    ),
    "a single call": (
        '{"name": "read_file", "arguments": {"path": "test.txt"}}',
        calls(call("read_file", {"path": "test.txt"}), content=""),
    ),
    "plain text": ("The answer to your question is 42.", {"content": "The answer to your question is 42."}),
    "nothing": ("", {"content": ""}),
    "an envelope that is cut": ('{"toolCalls": [{"name": "test"', {"content": '{"toolCalls": [{"name": "test"'}),
    "Llama on Groq": (
        '<function_calls>\n[{"name": "read_file", "arguments": {"path": "/etc/hosts"}}]\n</function_calls>',
        {
            "toolCalls": [{"name": "read_file", "arguments": {"path": "/etc/hosts"}}],
            "content": "Executing tools",
            "needsMoreWork": True,
        },
    ),
    "Claude without structured output": (
        '<function_calls>\n<invoke name="search_web">\n<parameter name="query">weather today</parameter>\n'
        '<parameter name="num_results">5</parameter>\n</invoke>\n</function_calls>',
        {
            "toolCalls": [{"name": "search_web", "arguments": {"query": "weather today", "num_results": 5}}],
            "content": "Executing tools",
            "needsMoreWork": True,
        },
    ),
    "ChatGPT with markdown": (
        "I'll search for that information.\n\n```json\n"
        '{"toolCalls": [{"name": "web_search", "arguments": {"q": "latest news"}}], "needsMoreWork": true}\n```',
        {"toolCalls": [{"name": "web_search", "arguments": {"q": "latest news"}}], "needsMoreWork": True},
    ),
}


@pytest.mark.parametrize("case", FORMATS)
def test_every_format_gives_the_same_envelope(case: str) -> None:
    text, expected = FORMATS[case]
    assert envelope(text) == expected


CODE = 'Use this:\n```python\nprint("hi")\n```'
SAMPLE = f"It is written like this:\n```\n{INVOKE_READ.format('a.txt')}\n```"
LONG = 2**70 + 1

RIGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "a code sample keeps its fence": (CODE, {"content": CODE}),
    "a fence in the content is data": (
        '{"content": "see ```js\\nx\\n```", "needsMoreWork": false}',
        {"content": "see ```js\nx\n```", "needsMoreWork": False},
    ),
    "a call in a code sample is text": (SAMPLE, {"content": SAMPLE}),
    "a brace in a string is data": (
        '{"toolCalls":[{"name":"w","arguments":{"t":"a } b"}}],"needsMoreWork":true}',
        calls(call("w", {"t": "a } b"}), content=None),
    ),
    "a stray brace before the object": (
        '}\n{"toolCalls":[{"name":"w","arguments":{"t":1}}],"needsMoreWork":true}',
        calls(call("w", {"t": 1}), content=None),
    ),
    "another object before the call": (
        '{"note": 1} and\n{"name": "w", "arguments": {"a": 1}}',
        calls(call("w", {"a": 1}), content='{"note": 1} and'),
    ),
    "two single calls": (
        '{"name": "a", "arguments": {}}\n{"name": "b", "arguments": {"x": 1}}',
        calls(call("a"), call("b", {"x": 1}), content=""),
    ),
    "a bare list of calls": (
        '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {"x": 1}}]',
        calls(call("a"), call("b", {"x": 1}), content=""),
    ),
    "several blocks of tags": (
        'First.\n<function_calls>[{"name": "a", "arguments": {}}]</function_calls>\nThen.\n'
        '<function_calls>[{"name": "b", "arguments": {}}]</function_calls>\nDone.',
        calls(call("a"), call("b"), content="First.\nThen.\nDone."),
    ),
    "blocks of tags on one line": (
        'First <function_calls>[{"name": "a", "arguments": {}}]</function_calls> then.',
        calls(call("a"), content="First then."),
    ),
    "one object in tags": ('<function_calls>{"name": "a"}</function_calls>', calls(call("a"))),
    "a call between tokens leaves nothing behind": (
        'Wait.<|tool_call_begin|>{"name": "test", "arguments": {}}<|tool_call_end|>',
        calls(call("test"), content="Wait."),
    ),
    "calls without arguments": (
        '<|tool_call_begin|>{"name": "a"}<|tool_call_end|>'
        '<|tool_call_begin|>{"name": "b", "arguments": null}<|tool_call_end|>'
        '<|tool_call_begin|>{"name": "c", "arguments": {}}<|tool_call_end|>',
        calls(call("a"), call("b"), call("c")),
    ),
    "arguments in a string": (
        '{"name": "a", "arguments": "{\\"x\\": 1}"}',
        calls(call("a", {"x": 1}), content=""),
    ),
    "an id that the model gave": (
        '{"id": "call_1", "name": "a", "arguments": {}}',
        calls(call("a", id="call_1"), content=""),
    ),
    "the names of Kimi's tokens": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
        calls(call("get_weather", {"city": "Paris"}, id="functions.get_weather:0")),
    ),
    "the wide tokens of DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        '{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        calls(call("get_weather", {"city": "Paris"})),
    ),
    "a long integer": (f'{{"name": "a", "arguments": {{"n": {LONG}}}}}', calls(call("a", {"n": LONG}), content="")),
    "an invocation that is cut": (
        'Hi <invoke name="x"><parameter name="a">1</parameter>',
        {"content": 'Hi <invoke name="x"><parameter name="a">1</parameter>'},
    ),
    "a finished call before one that is cut": (
        f'Hi {INVOKE_READ.format("a.txt")} <invoke name="x"><parameter name="a">1',
        calls(call("read_file", {"path": "a.txt"}), content="Hi"),
    ),
    "text round an envelope that has content": (
        'Well.\n\n{"content": "It is 42.", "needsMoreWork": false}\n\nBye.',
        {"content": "It is 42.", "needsMoreWork": False},
    ),
    "calls and the wish to stop": (
        '{"toolCalls": [{"name": "a", "arguments": {}}], "needsMoreWork": false}',
        calls(call("a"), content=None, more=False),
    ),
    "no calls, as null": ('{"toolCalls": null}', {}),
    "no calls, as a list": ('{"toolCalls": [], "content": "Done."}', {"toolCalls": [], "content": "Done."}),
    "calls that are no list": ('{"toolCalls": "x"}', {"content": '{"toolCalls": "x"}'}),
    "an object that says nothing of calls": ('Here: {"a": 1}', {"content": 'Here: {"a": 1}'}),
    "two notations in one text": (
        f'{INVOKE_READ.format("a.txt")} and\n{{"name": "b", "arguments": {{}}}}',
        calls(call("read_file", {"path": "a.txt"}), call("b"), content="and"),
    ),
    "reasoning is no content": ("<think>\nHm.\n</think>\n\nHello!", {"content": "Hello!"}),
}


@in_one_item("case", RIGHT)
def test_easily_confused_envelopes(case: str) -> None:
    text, expected = RIGHT[case]
    assert envelope(text) == expected


def test_types_come_from_the_tool_schemas() -> None:
    tools = [{"name": "set", "parameters": {"properties": {"version": {"type": "string"}}}}]
    text = '<invoke name="set"><parameter name="version">1.10</parameter></invoke>'
    assert envelope(text, tools)["toolCalls"] == [call("set", {"version": "1.10"})]


def test_truncated_call_is_kept_beside_the_envelope() -> None:
    reply = parse('Hi <invoke name="x"><parameter name="a">1</parameter>')
    assert [c.name for c in reply.unfinished_tool_calls] == ["x"]
    assert [(d.code, d.severity) for d in reply.diagnostics] == [("unclosed-call", "error")]


def test_text_round_an_envelope_is_kept_beside_it() -> None:
    reply = parse('Well.\n\n{"content": "It is 42.", "needsMoreWork": false}')
    assert (reply.envelope_content, reply.text) == ("It is 42.", "Well.\n\nIt is 42.")


def test_the_envelope_is_a_copy() -> None:
    reply = parse('{"name": "a", "arguments": {"x": [1]}}')
    reply.to_envelope()["toolCalls"][0]["arguments"]["x"].append(2)
    assert reply.tool_calls[0].arguments == {"x": [1]}


def test_an_application_names_the_keys() -> None:
    names = Conventions(tool_calls="calls", needs_more_work="again", placeholder="Working")
    reply = parse('<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>')
    assert reply.to_envelope(names) == {"content": "Working", "calls": [call("a", {})], "again": True}


# what other projects' tests assert, where that data lies beside the project

VECTORS = Path(__file__).parents[3] / "shared" / "conformance" / "gui" / "vectors.jsonl"
OURS = ("seed001_multi", "speakmcp_text")
#: An object that has nothing but `content` is no envelope: any JSON that a model shows may have that key.
NO_ENVELOPE = "speakmcp-001"


def rows() -> Iterator[dict[str, Any]]:
    for line in VECTORS.read_text("utf-8").splitlines() if VECTORS.exists() else ():
        row: dict[str, Any] = json.loads(line)
        if row["format"] in OURS and not row.get("quirk"):
            yield row


def asserted(expected: dict[str, Any], envelope: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a row asserts of an envelope, and what ours says of that."""
    calls: list[dict[str, Any]] = envelope.get("toolCalls") or []
    content = str(envelope.get("content", ""))
    actual: dict[str, Any] = {
        "content": content,
        "content_contains": [part for part in expected.get("content_contains", ()) if part in content],
        "tool_calls": calls or None,
        "tool_call_names": [call["name"] for call in calls],
        "tool_call_count": len(calls),
        "arguments_0": calls[0]["arguments"] if calls else None,
        "needs_more_work": envelope.get("needsMoreWork"),
        "equals": envelope,
    }
    wanted = {key: value for key, value in expected.items() if key in actual}
    return wanted, {key: actual[key] for key in wanted}


def test_cases_of_other_projects() -> None:
    checked = 0
    for row in rows():
        wanted, actual = asserted(row["expected"], parse(row["input"]).to_envelope())
        assert (wanted == actual) is (row["id"] != NO_ENVELOPE), row["id"]
        checked += bool(wanted)
    assert checked >= 22 or not VECTORS.exists()
