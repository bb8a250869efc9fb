"""Calls as JSON objects: misspelt keys, other keys, and what stands between the entries of a list."""

import re
from typing import Any

import pytest

from outspoken import RenderError, Reply, ResponseError, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.recovery.marker_lexer import marker_lexer
from outspoken.results.replies import ToolCall
from tests.cases import FORMATS
from tests.invariants.replies import pieces
from tests.tables import tables

TABLES = tables(__file__)


def read(text: str, format_: str, **options: Any) -> Reply:
    """A text, read whole, and in pieces with the same result."""
    reply = parse(text, format=format_, **options)
    for size in (1, 5):
        assert ParseArguments(format_, options).stream(pieces(text, size))[1] == reply, size
    return reply


def calls(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in reply.tool_calls]


A, B, C = (f'{{"name": "{name}", "arguments": {{"x": "{name}]}}"}}}}' for name in "abc")


@pytest.mark.parametrize("format_", TABLES["LISTS"])
def test_one_bad_entry_of_a_list_costs_no_other_entry(format_: str) -> None:
    frame = TABLES["LISTS"][format_]
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
    if frame[0] != "[":  # there, the bracket of the list and what follows it open the calls
        reply = read(frame % f"}}, {A}", format_)
        assert (calls(reply), reply.status) == ([("a", {"x": "a]}"})], "repaired"), reply
    for bad in TABLES["ONE_BAD_ENTRY_OF_A_LIST_COSTS_NO_OTHER_ENTRY"]:
        reply = read(frame % f"{A}, {bad}, {C}", format_)
        assert [call.name for call in reply.tool_calls] == ["a", "c"], (bad, reply)
        assert [call.name for call in reply.unfinished_tool_calls] == ["b"], (bad, reply)
        assert reply.status == "invalid"
    reply = read(frame % '{"name": "b", "arguments": 3}', format_)
    assert [call.status for call in reply.unfinished_tool_calls] == ["invalid"]


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
