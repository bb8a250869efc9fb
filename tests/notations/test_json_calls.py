"""Calls as JSON objects: misspelt keys, other keys, and what stands between the entries of a list."""

import re
from typing import Any

import pytest

from outspoken import RenderError, Reply, ResponseError, parse, render, stream
from outspoken.grammar import registry
from outspoken.recovery.marker_lexer import marker_lexer
from outspoken.results.edits import RepairLimit
from outspoken.results.replies import ToolCall
from tests.cases import FORMATS
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

FRAMES = TABLES["FRAMES"]


def read(text: str, format_: str, **options: Any) -> Reply:
    """A text, read whole, and in pieces with the same result."""
    reply = parse(text, format=format_, **options)
    for size in (1, 5):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        events = stream(pieces, format=format_, **options)
        assert [*events]
        assert events.reply == reply, size
    return reply


def calls(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in reply.tool_calls]


@pytest.mark.parametrize("format_", FRAMES)
def test_misspelt_and_other_keys_of_a_call_are_read_or_reported(format_: str) -> None:
    for key in ("argumEnts", "argumens", "arrguments", "argument", "input", "params", "paramters"):
        tools = [{"name": "write_file"}] if format_ in ("json", "llama3_json") else None
        reply = read(FRAMES[format_] % f'{{"name": "write_file", "{key}": {{"path": "a"}}}}', format_, tools=tools)
        assert calls(reply) == [("write_file", {"path": "a"})], (key, reply)
        assert [repair.code for repair in reply.repairs] == ["other-key"]
        assert reply.repairs[0].before == f'"{key}"'
        assert reply.status == "repaired"
    limits: list[RepairLimit] = ["none", "notation"]
    for limit in limits:
        reply = parse(FRAMES[format_] % '{"name": "write_file", "input": {"path": "a"}}', format=format_, repair=limit)
        assert reply.tool_calls == []
    reply = read(FRAMES[format_] % '{"name": "f", "arguments": {"x": 1}, "note": "b", "type": "function"}', format_)
    assert calls(reply) == [("f", {"x": 1})]
    assert [(found.code, found.severity) for found in reply.diagnostics] == [("unknown-key", "note")]


def test_misspelt_name_of_a_call_is_read() -> None:
    for format_ in ("hermes", "function_calls_json", "tool_calls_json", "longcat", "cohere", "granite_20b_fc"):
        for key in ("nme", "naem", "Name", "tool", "function"):
            reply = read(FRAMES[format_] % f'{{"{key}": "f", "arguments": {{"x": 1}}}}', format_)
            assert calls(reply) == [("f", {"x": 1})], (format_, key, reply)
            assert reply.status == "repaired" or format_ == "cohere"
    reply = read('{"toolCalls": [{"nme": "f", "arguments": {"x": 1}}, {"arguments": {}}]}', "json")
    assert calls(reply) == [("f", {"x": 1})]
    assert [found.code for found in reply.diagnostics] == ["other-key", "unread-entry"]


def test_call_whose_arguments_may_stand_under_an_unknown_key_is_invalid() -> None:
    text = FRAMES["hermes"] % '{"name": "f", "config": {"x": 1}}'
    reply = read(text, "hermes")
    assert reply.tool_calls == []
    assert [call.status for call in reply.unfinished_tool_calls] == ["invalid"]
    assert [found.code for found in reply.diagnostics] == ["unknown-key", "invalid-call"]
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    text = FRAMES["hermes"] % '{"name": "f", "city": "Paris"}'
    assert read(text, "hermes", tools=[tool]).tool_calls == []
    text = FRAMES["hermes"] % '{"name": "f", "thought": "I need no arguments."}'
    reply = read(text, "hermes", tools=[tool])
    assert calls(reply) == [("f", {})]
    assert [(found.code, found.severity) for found in reply.diagnostics] == [("unknown-key", "warning")]


OTHER_ENTRIES = ['"all": true', '"path": "/"', '"x": 1, "y": 2', '"id": "c1", "force": "yes"']


@pytest.mark.parametrize("entry", [*OTHER_ENTRIES, '"arguments": {}, "all": 1', '"all": 1, "arguments": null'])
def test_what_may_be_an_argument_of_a_call_without_any_is_not_left_out(entry: str) -> None:
    """Models write arguments beside the name; without them it is another call, which does not run."""
    for format_ in ("hermes", "function_calls_json", "tool_calls_json", "longcat", "granite_20b_fc", "react_json"):
        key = "action" if format_ == "react_json" else "name"
        frame = FRAMES.get(format_, "Thought: It goes.\nAction: %s")
        text = frame % f'{{"{key}": "delete", {entry}}}'
        for named in (format_, "auto"):
            reply = read(text, named)
            assert reply.tool_calls == [], reply
            assert reply.diagnostics or reply.text, reply
        about = frame % f'{{"{key}": "delete", "id": "c1", "reason": "It is old."}}'
        assert calls(read(about, format_)) == [("delete", {})], about


def test_object_without_a_known_key_is_no_call() -> None:
    for text in TABLES["OBJECT_WITHOUT_A_KNOWN_KEY_IS_NO_CALL"]:
        reply = read(text, "json")
        assert reply.tool_calls == []
        assert reply.text == text


A, B, C = (f'{{"name": "{name}", "arguments": {{"x": "{name}]}}"}}}}' for name in "abc")
LISTS = TABLES["LISTS"]


@pytest.mark.parametrize("format_", LISTS)
def test_one_bad_entry_of_a_list_costs_no_other_entry(format_: str) -> None:
    frame = LISTS[format_]
    for between in (",,", "},", " ", "}},,", ",;"):
        text = frame % f"{A}{between}{C}"
        reply = read(text, format_)
        assert [call.name for call in reply.tool_calls] == ["a", "c"], (between, reply)
        assert reply.status == "repaired", (between, reply)
        assert all(repair.level == "markup" for repair in reply.repairs)
        assert reply.text == ("Done." if format_ == "json" else "")
        with pytest.raises(ResponseError):
            parse(text, format=format_, on_error="raise")
        assert [call.name for call in parse(text, format=format_, repair="none").tool_calls] == ["a", "c"]
    assert [call.name for call in read(frame % f"{A},", format_).tool_calls] == ["a"]
    for bad in TABLES["ONE_BAD_ENTRY_OF_A_LIST_COSTS_NO_OTHER_ENTRY"]:
        reply = read(frame % f"{A}, {bad}, {C}", format_)
        assert [call.name for call in reply.tool_calls] == ["a", "c"], (bad, reply)
        assert [call.name for call in reply.unfinished_tool_calls] == ["b"], (bad, reply)
        assert reply.status == "invalid"
    reply = read(frame % '{"name": "b", "arguments": 3}', format_)
    assert [call.status for call in reply.unfinished_tool_calls] == ["invalid"]


def test_damage_between_actions_is_reported() -> None:
    one, two = (f'{{"action_type": "CLICK", "id": "{id}"}}' for id in "ac")
    for between in (" ", "}},,", ",,"):
        text = f'{{"actions": [{one}{between}{two}]}}'
        reply = read(text, "skyvern")
        assert [action.status for action in reply.actions] == ["ok", "ok"]
        assert (reply.status, reply.text) == ("repaired", "")
    reply = read(f'{{"actions": [{one}, {{"action_type": "INPUT_TEXT", "id": "b", "text":}}, {two}]}}', "skyvern")
    assert [len(reply.actions), len(reply.unfinished_actions), reply.status] == [2, 1, "invalid"]
    assert read(f'{{"actions": [{one},', "skyvern").status == "truncated"


@in_one_item("text, expected, codes", TABLES["ENVELOPES"])
def test_envelope_keeps_all_of_its_entries(text: str, expected: dict[str, Any], codes: list[str]) -> None:
    reply = read(text, "json")
    found = reply.to_envelope()
    assert {key: found[key] for key in found if key != "needsMoreWork" or key in expected} == expected
    assert ([one.code for one in reply.diagnostics], reply.status) == (codes, "ok")


#: The formats whose grammar names the keys of a call's object.
FRAMED = [name for name in FORMATS if any(marker_lexer(registry.automaton(name)).keys.values())]


@pytest.mark.parametrize("format_", FRAMED)
def test_keys_without_quotes_are_read_in_every_format_that_frames_json(format_: str) -> None:
    """Reads two calls without the quotes of all keys, where the format has several calls."""
    made = [ToolCall(name="run", arguments={"command": f"ls {n}", "n": n}) for n in (1, 2)]
    try:
        text = render(made, format=format_)
    except RenderError:
        text = render(made[:1], format=format_)
    expected = calls(parse(text, format=format_))
    assert expected
    damaged = re.sub(r'"(\w+)":', r"\1:", text)
    tools = [{"name": "run"}]
    for options in ({}, {"tools": tools}):
        reply = read(damaged, format_, **options)
        assert calls(reply) == expected, (damaged, reply)
        assert reply.status == ("repaired" if damaged != text else "ok")


@in_one_item("written, declared, name", TABLES["DOUBLED_NAMES"])
def test_a_doubled_name_is_that_of_a_tool_in_its_own_namespace(written: str, declared: str, name: str) -> None:
    text = f'<tool_call>\n{{"name": "{written}", "arguments": {{}}}}\n</tool_call>'
    (call,) = parse(text, format="hermes", tools=[{"name": declared, "parameters": {}}]).tool_calls
    assert call.name == name
