"""Bare values: the type that each schema gives to a text, and values written as JSON."""

import json
import math
import re
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outspoken import RenderError, Reply, ResponseError, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.notations.coerce import escape, fits, may_be_other_than_text, read_bare, to_json
from outspoken.recovery.marker_lexer import marker_lexer
from outspoken.results.replies import ToolCall
from tests.cases import FORMATS
from tests.invariants.cost import calls_in
from tests.invariants.replies import pieces
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

KINDS = ["null", "boolean", "integer", "number", "string", "object", "array"]
TEXT = frozenset({"string"})

TYPED: list[tuple[str, str, Any]] = [*TABLES["TYPED"], ("array", "[" * 129 + "]" * 129, "[" * 129 + "]" * 129)]


@in_one_item("types, text, value", TYPED)
@in_one_item("fallback", ["json", "text"])
def test_typed(types: str, text: str, value: Any, fallback: str) -> None:
    found = read_bare(text, frozenset(types.split()), fallback)
    assert found == value
    assert type(found) is type(value)


UNTYPED: list[tuple[str, Any]] = [*TABLES["UNTYPED"], ("[" * 100_000, "[" * 100_000)]


@in_one_item("text, value", UNTYPED)
def test_untyped(text: str, value: Any) -> None:
    found = read_bare(text, None, "json")
    assert found == value
    assert type(found) is type(value)
    assert read_bare(text, None, "text") == text


@pytest.mark.parametrize("digits", [4001, 5000, 100_000])
@pytest.mark.parametrize("types", ["integer", "number", "integer string", "array"])
def test_very_long_integers_stay_text(digits: int, types: str) -> None:
    for text in ("9" * digits, f"-{'9' * digits}.0", f"[{'9' * digits}]"):
        found = read_bare(text, frozenset(types.split()), "json")
        assert found == text or (types == "array" and digits < 4300 and to_json(found) == text)
        read_bare(text, None, "json")


def test_lower_integer_digit_limit_is_respected() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert read_bare("9" * 1000, frozenset({"integer"}), "json") == "9" * 1000
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize(("value", "types"), TABLES["FITS"])
def test_fits(value: Any, types: str) -> None:
    for kind in KINDS:
        assert fits(value, frozenset({kind})) == (kind in types.split())
    assert fits(value, None)
    assert not fits(value, frozenset())


@in_one_item("types, first_chars, expected", TABLES["BEGINNINGS"])
def test_beginnings(types: str | None, first_chars: str, expected: bool) -> None:
    given_types = None if types is None else frozenset(types.split())
    assert may_be_other_than_text(first_chars, given_types, "json") is expected
    assert may_be_other_than_text(first_chars, None, "text") is False


SCALARS = ["null", "None", "NONE", "true", "False", "5", "-5.0", "+7", ".5", "1e3", "007", "nan", "tr", '"a"', "Paris"]
PIECES = [*"[]{}(),:'\"\\ -+.e05\n\u00a0", "null", "true", "None", "'a'", '"b"']
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
bare = (
    st.text(max_size=10)
    | st.sampled_from(SCALARS)
    | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
    | values.flatmap(lambda value: st.sampled_from([json.dumps(value), repr(value), f" {value}\n"]))
)
type_sets = st.none() | st.sets(st.sampled_from(KINDS)).map(frozenset)


@given(bare, type_sets, st.sampled_from(["json", "text"]))
def test_coerced_value_fits_the_schema_or_is_the_text(text: str, types: frozenset[str] | None, fallback: str) -> None:
    value = read_bare(text, types, fallback)
    assert value == text or types is None or fits(value, types)
    json.loads(to_json(value))
    if types == TEXT or (types is None and fallback == "text"):
        assert value == text


@given(bare, type_sets, st.sampled_from(["json", "text"]))
@example("[1]", frozenset({"array"}), "json")
@example("\u00a05", frozenset({"integer"}), "json")
def test_text_only_schema_gives_text(text: str, types: frozenset[str] | None, fallback: str) -> None:
    head = text.lstrip()
    if any(not may_be_other_than_text(head[:end], types, fallback) for end in range(1, len(head) + 1)):
        assert read_bare(text, types, fallback) == text


@given(bare, type_sets)
def test_text_once_final_stays_text(text: str, types: frozenset[str] | None) -> None:
    head = text.strip()
    answers = [may_be_other_than_text(head[:end], types, "json") for end in range(1, len(head) + 1)]
    if types and types != TEXT:
        assert answers == sorted(answers, reverse=True)


@given(st.lists(st.text(), max_size=5))
@example(["\ud83d", "\ude00", '"\\\n\x00\x7f\u2028'])
def test_escaped_pieces_join(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert "".join(map(escape, pieces)) == escape(whole)
    assert f'"{escape(whole)}"' == to_json(whole)
    assert json.loads(to_json(whole)) == whole


@pytest.mark.parametrize(("value", "text"), TABLES["TO_JSON"])
def test_to_json(value: Any, text: str) -> None:
    assert to_json(value) == text


@pytest.mark.parametrize("value", [math.inf, [math.nan]])
def test_values_outside_json_are_rejected(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json(value)


HOSTILE = ["[" * 100_000, "{'a':" * 30_000, "['a', " * 20_000, "[" + "'" * 99_999] + [c * 100_000 for c in "9- '\"t"]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_takes_linear_work(text: str) -> None:
    def read() -> None:
        for types in (None, frozenset(KINDS), frozenset({"array"}), frozenset({"number"})):
            assert read_bare(text, types, "json") == text
            may_be_other_than_text(text, types, "json")

    assert calls_in(read) <= 5 * len(text)


# calls as JSON objects: misspelt keys, other keys, and what stands between the entries of a list


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
