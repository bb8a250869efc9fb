"""`read_json` with a type: what becomes of values that are sound, damaged, of other types and words, and of several."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Literal, TypedDict, cast

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from outspoken import read_json
from outspoken.json import Reading
from outspoken.results.schemas.convert import convert
from outspoken.results.schemas.schema import Schema


class Board(str, Enum):
    """Words of two parts."""

    FULL = "full_board"
    HALF = "half_board"
    NONE = "none"


class Deck(IntEnum):
    """Numbers."""

    LOWER = 1
    UPPER = 2


class Ferry(BaseModel):
    """A member of every plain type."""

    harbour: str
    seat_count: int
    price: float | None = None
    is_open: bool = True
    board: Board = Board.NONE
    tags: list[str] = []
    leaves: date | None = None


class Fleet(BaseModel):
    """Objects in a list, and one that may be absent."""

    name: str
    ferries: list[Ferry]
    flagship: Ferry | None = None


class Call(BaseModel):
    """One of two kinds of event, told apart by a tag."""

    kind: Literal["call"]
    number: str


class Mail(BaseModel):
    """The other one."""

    kind: Literal["mail"]
    address: str


class Inbox(BaseModel):
    """A union with tags."""

    last: Call | Mail = Field(discriminator="kind")


class Line(typing_extensions.TypedDict):
    """One that pydantic takes within other types before Python 3.12."""

    place: str
    count: int


@dataclass
class Point:
    """A dataclass."""

    x: int
    y: int


class Row(TypedDict):
    """A TypedDict."""

    place: str
    count: int


FERRY = {"harbour": "Ystad", "seat_count": 12}
#: A text, the type, what is meant as JSON (None for nothing), and the codes of the conversions.
CASES: list[tuple[str, Any, Any, list[str]]] = [
    # sound
    ('{"harbour": "Ystad", "seat_count": 12}', Ferry, FERRY, []),
    ('{"harbour": "Ystad", "seat_count": 12, "leaves": "2026-05-01"}', Ferry, {**FERRY, "leaves": "2026-05-01"}, []),
    ('{"place": "Ystad", "count": 1}', Row, {"place": "Ystad", "count": 1}, []),
    ('[{"place": "Ystad", "count": "1"}]', list[Line], [{"place": "Ystad", "count": 1}], ["number-text"]),
    ('{"x": 1, "y": 2}', Point, {"x": 1, "y": 2}, []),
    ('"half_board"', Board, "half_board", []),
    ("2", Deck, 2, []),
    ('{"a": 1, "b": 2}', dict[str, int], {"a": 1, "b": 2}, []),
    ('{"kind": "mail", "address": "a@b"}', Call | Mail, {"kind": "mail", "address": "a@b"}, []),
    ('[1, "a"]', tuple[int, str], [1, "a"], []),
    ('"2026-05-01T10:00:00"', datetime, "2026-05-01T10:00:00", []),
    ('"1.10"', Decimal, "1.10", []),
    ('"12"', int | str, "12", []),
    ("null", int | None, None, []),
    # in other text
    ('<think>{"harbour": "Oslo", "seat_count": 1}</think>{"harbour": "Ystad", "seat_count": 12}', Ferry, FERRY, []),
    ('Sure!\n```json\n{"harbour": "Ystad", "seat_count": 12}\n```\nDone.', Ferry, FERRY, []),
    ('The set {a} holds {"harbour": "Ystad", "seat_count": 12}.', Ferry, FERRY, []),
    # damaged
    ("{'harbour': 'Ystad', seat_count: 12,}", Ferry, FERRY, []),
    ('{"harbour": "Ystad" "seat_count": 12}', Ferry, FERRY, []),
    ("{'harbour': 'Ystad', seat_count: '12'}", Ferry, FERRY, ["number-text"]),
    # numbers
    ('{"harbour": "Ystad", "seat_count": "12"}', Ferry, FERRY, ["number-text"]),
    ('{"harbour": "Ystad", "seat_count": " 1,200 "}', Ferry, {**FERRY, "seat_count": 1200}, ["number-text"]),
    ('{"harbour": "Ystad", "seat_count": "1.5"}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": "twelve"}', Ferry, FERRY, ["number-word"]),
    ('{"harbour": "Ystad", "seat_count": "a dozen"}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": "forty eleven"}', Ferry, None, []),
    ('{"harbour_name": "Ystad", "seat_count": 12}', Ferry, FERRY, ["key-spelling"]),
    ('{"harbour_id": "Ystad", "seat_count": 12}', Ferry, None, []),
    ('{"hrb": "Ystad", "seat_count": 12}', Ferry, FERRY, ["key-spelling"]),
    ('{"hrb": "Ystad", "hb": "Ystad", "seat_count": 12}', Ferry, None, []),
    ('{"seat": 12, "harbour": "Ystad"}', Ferry, None, []),
    ('{"hrb": {"at": "Ystad"}, "seat_count": 12}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": 12, "price": "12,5"}', Ferry, {**FERRY, "price": 12.5}, ["number-text"]),
    ('{"harbour": "Ystad", "seat_count": 12, "price": "1,200"}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": 12, "price": "1,200.5"}', Ferry, {**FERRY, "price": 1200.5}, ["number-text"]),
    ('{"harbour": "Ystad", "seat_count": 12, "price": "0.1234567890123456789012"}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": 12, "price": "12 EUR"}', Ferry, None, []),
    ('{"harbour": 271, "seat_count": 12}', Ferry, {**FERRY, "harbour": "271"}, ["number-as-text"]),
    ('"12"', int, 12, ["number-text"]),
    ('{"x": "1", "y": "2"}', Point, {"x": 1, "y": 2}, ["number-text", "number-text"]),
    ('{"a": "1"}', dict[str, int], {"a": 1}, ["number-text"]),
    # words
    ('{"harbour": "Ystad", "seat_count": 12, "is_open": "Yes"}', Ferry, {**FERRY, "is_open": True}, ["truth-word"]),
    ('{"harbour": "Ystad", "seat_count": 12, "is_open": "False"}', Ferry, {**FERRY, "is_open": False}, ["truth-word"]),
    ('{"harbour": "Ystad", "seat_count": 12, "is_open": "maybe"}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": 12, "price": "none"}', Ferry, {**FERRY, "price": None}, ["null-word"]),
    (
        '{"harbour": "Y", "seat_count": 1, "board": "Full board"}',
        Ferry,
        {"harbour": "Y", "seat_count": 1, "board": "full_board"},
        ["listed-word"],
    ),
    ('"HALF-BOARD"', Board, "half_board", ["listed-word"]),
    ('"full_bord"', Board, "full_board", ["listed-word"]),
    ('"fulls_board"', Board, "full_board", ["listed-word"]),
    ('"board"', Board, None, []),
    ('"2"', Deck, 2, ["number-text"]),
    ('"alf"', Literal["half", "calf"], None, []),
    ('"half"', Literal["half", "calf"], "half", []),
    ('"Résumé"', Literal["resume", "letter"], "resume", ["listed-word"]),
    ('"letters"', Literal["resume", "letter"], "letter", ["listed-word"]),
    # keys
    ('{"harbour": "Ystad", "seatCount": 12}', Ferry, FERRY, ["key-spelling"]),
    ('{"Harbour": "Ystad", "Seat Count": 12}', Ferry, FERRY, ["key-spelling", "key-spelling"]),
    ('{"harbor": "Ystad", "seat_count": 12}', Ferry, FERRY, ["key-spelling"]),
    ('{"harbour": "Ystad", "seat_count": 12, "seatCount": 13}', Ferry, FERRY, []),
    ('{"port": "Ystad", "seat_count": 12}', Ferry, None, []),
    # shapes
    ('{"harbour": "Ystad", "seat_count": 12, "tags": "fast"}', Ferry, {**FERRY, "tags": ["fast"]}, ["list-of-one"]),
    ('{"harbour": "Ystad", "seat_count": 12, "tags": "[\\"a\\"]"}', Ferry, {**FERRY, "tags": ["a"]}, ["json-text"]),
    ('{"ferry": {"harbour": "Ystad", "seat_count": 12}}', Ferry, FERRY, ["wrapped"]),
    ('{"ferries": [{"harbour": "Ystad", "seat_count": 12}]}', list[Ferry], [FERRY], ["wrapped"]),
    ('{"harbour": "Ystad", "seat_count": 12}', list[Ferry], [FERRY], ["list-of-one"]),
    ('"{\\"harbour\\": \\"Ystad\\", \\"seat_count\\": 12}"', Ferry, FERRY, ["json-text"]),
    (
        '{"name": "A", "ferries": {"harbour": "Ystad", "seat_count": "12"}}',
        Fleet,
        {"name": "A", "ferries": [FERRY]},
        ["number-text", "list-of-one"],
    ),
    # unions
    ('{"kind": "mail", "address": 5}', Call | Mail, {"kind": "mail", "address": "5"}, ["number-as-text"]),
    (
        '{"last": {"kind": "call", "number": 112}}',
        Inbox,
        {"last": {"kind": "call", "number": "112"}},
        ["number-as-text"],
    ),
    ('{"kind": "fax", "number": "1"}', Call | Mail, None, []),
    ('"12"', int | bool, 12, ["number-text"]),
    ('"1"', int | list[int], None, []),
    # several values
    ('{"a": 1} {"harbour": "Ystad", "seat_count": 12}', Ferry, FERRY, []),
    (
        '{"harbour": "Ystad", "seat_count": 12}\n{"harbour": "Oslo", "seat_count": 3}',
        list[Ferry],
        [FERRY, {"harbour": "Oslo", "seat_count": 3}],
        [],
    ),
    # nothing
    ("There is no ferry.", Ferry, None, []),
    ('{"harbour": "Ystad"}', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_co', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": 12, "tags": ["fa', Ferry, None, []),
    ('{"harbour": "Ystad", "seat_count": 12, "price": 1', Ferry, None, []),
]


def read_as(text: str, type_: Any, **options: Any) -> Reading[Any]:
    """The reading of a type that type checkers do not know."""
    return cast("Reading[Any]", read_json(text, type_, **options))


@pytest.mark.parametrize(("text", "type_", "meant", "codes"), CASES)
def test_a_text_is_read_as_a_type(text: str, type_: Any, meant: Any, codes: list[str]) -> None:
    read = read_as(text, type_)
    if meant is None and text != "null" and "none" not in text:
        assert (read.value, read.is_valid) == (None, False)
        assert read.retry
        assert read.status in ("invalid", "truncated")
        return
    assert read.is_valid, read.diagnostics
    assert read.value == TypeAdapter(_pydantic(type_)).validate_json(json.dumps(meant))
    assert [one.code for one in read.conversions] == codes
    assert read.retry == ""
    assert [repair.code for repair in read.repairs if repair.level == "schema"] == codes
    assert (read.status == "ok") == (not read.repairs)


def _pydantic(type_: Any) -> Any:
    return Line if type_ is Row else type_


@pytest.mark.parametrize("case", [case for case in CASES if case[3]])
def test_without_conversion_nothing_is_converted(case: tuple[str, Any, Any, list[str]]) -> None:
    read = read_as(case[0], case[1], convert="off")
    assert (read.value, read.conversions) == (None, ())


def test_what_pydantic_alone_takes_is_recorded() -> None:
    read = read_json("1700000000", datetime)
    assert read.is_valid
    assert [one.code for one in read.conversions] == ["as-type"]


def test_places_are_those_in_the_response() -> None:
    read = read_json('Here:\n{"harbour": "Ystad",\n  "seat_count": "many"}', Ferry)
    found = [(one.code, one.line, one.column) for one in read.diagnostics if one.severity == "error"]
    assert found == [("type-mismatch", 3, 17)]
    assert "`seat_count`" in read.retry
    assert "(line 3, column 17)" in read.retry
    inner = read_json('{"name": "A", "ferries": [{"harbour": "Oslo", "seat_count": 1}, {"harbour": 3.5}]}', Fleet)
    assert [inner.raw[slice(*d.span)] for d in inner.diagnostics] == ['{"harbour": 3.5}', "3.5"]


def test_of_several_values_the_one_that_fits_counts_and_is_named() -> None:
    read = read_json('{"a": 1} {"harbour": "Ystad", "seat_count": 12}', Ferry)
    assert [d.code for d in read.diagnostics] == ["chosen-value"]
    assert read.values == ({"a": 1}, FERRY)
    assert not read.ambiguous
    both = read_json('{"harbour": "Ystad", "seat_count": 12} or {"harbour": "Oslo", "seat_count": 3}', Ferry)
    assert both.value == Ferry(harbour="Ystad", seat_count=12)
    assert both.ambiguous


def test_a_schema_gives_plain_values() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    read = read_json('{"n": "3"}', schema)
    assert (read.value, read.data, read.values) == ({"n": 3}, {"n": 3}, ({"n": "3"},))
    assert read_json('{"m": 3.5}', schema).value is None


class Named(BaseModel):
    """One of the keys of a call."""

    name: str
    age: int | None = None


TEXT = json.dumps(json.dumps(FERRY))
#: Calls, the type, and what is meant; None for the calls of other tools.
CALLS: list[tuple[str, Any, Any]] = [
    (f'{{"name": "search", "arguments": {json.dumps(FERRY)}}}', Ferry, None),
    (f'{{"name": "search", "arguments": {{"q": {TEXT}}}}}', Ferry, None),
    (f'[{{"action": "search", "action_input": {TEXT}}}]', list[Ferry], None),
    (f'{{"tool_calls": [{{"id": "c", "function": {{"name": "search", "arguments": {TEXT}}}}}]}}', Ferry, None),
    ('{"name": "search", "arguments": {"name": "Ada"}}', Named, None),
    ('[{"name": "search", "input": {"name": "Ada"}}]', list[Named], None),
    (f'{{"name": "Ferry", "arguments": {json.dumps(FERRY)}}}', Ferry, FERRY),
    (f'{{"tool": "ferry", "tool_input": {TEXT}}}', Ferry, FERRY),
    ('[{"name": "Named", "input": {"name": "Ada"}}]', list[Named], [{"name": "Ada", "age": None}]),
    ('{"name": "search", "arguments": {"a": 1}}', dict[str, Any], {"name": "search", "arguments": {"a": 1}}),
    ('{"name": "Ada", "age": 36, "params": {"a": 1}}', Named, {"name": "Ada", "age": 36}),
    ('{"name": "Ada", "input": "x"}', Named, {"name": "Ada", "age": None}),
]


@pytest.mark.parametrize(("text", "type_", "meant"), CALLS)
@pytest.mark.parametrize("convert", ["on", "off"])
def test_the_arguments_of_a_call_are_those_of_its_tool(text: str, type_: Any, meant: Any, convert: str) -> None:
    read = read_as(text, type_, convert=convert)
    if meant is None:
        assert (read.value, read.is_valid) == (None, False)
        assert convert == "off" or "tool_calls" in text or "calls `search`" in read.retry
    elif convert == "on" or type_ is dict[str, Any]:
        assert read.value == TypeAdapter(type_).validate_python(meant)


@pytest.mark.parametrize(
    ("before", "behind", "ambiguous"),
    [
        ("I would not say ", " as it is wrong.", True),
        ("It cannot be `", "`, whatever they say.", True),
        ("The ferry is ", ".", False),
        ("The ferry is ", " It is late.", False),
        ("The ferry: ", " as you asked", False),
        ("", " is my answer", False),
    ],
)
def test_a_value_in_a_sentence_that_goes_on_may_be_denied(before: str, behind: str, ambiguous: bool) -> None:
    read = read_json(f"{before}{json.dumps(FERRY)}{behind}", Ferry)
    assert read.value == Ferry.model_validate(FERRY)
    assert (read.ambiguous, "in-sentence" in [one.code for one in read.diagnostics]) == (ambiguous, ambiguous)


class Place:
    """A class that pydantic does not know."""


@pytest.mark.parametrize("wrong", [3, Place, "Ferry"])
def test_what_is_no_type_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="`schema` is"):
        read_json("{}", wrong)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="convert"):
        read_json("{}", Ferry, convert="maybe")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType,reportCallIssue]


TYPES: list[Any] = [
    Ferry,
    Fleet,
    Inbox,
    Point,
    Board,
    Deck,
    list[Ferry],
    dict[str, float],
    Call | Mail,
    int | None,
]


@pytest.mark.parametrize("type_", TYPES)
@given(data=st.data())
def test_a_value_that_validates_is_left_as_it_is(type_: Any, data: st.DataObject) -> None:
    adapter = TypeAdapter(type_)
    value = data.draw(st.from_type(type_))
    text = adapter.dump_json(value).decode()
    try:
        expected = adapter.validate_json(text)
    except ValueError:
        return  # NaN, which JSON does not have
    read = read_as(text, type_, repair="none")
    if read.values:
        assert (read.value, read.conversions) == (expected, ())


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The values, and lists and objects of them."""
    keys = st.sampled_from(["harbour", "seatCount", "kind", "x"])
    return inner | st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4)


WORDS = st.sampled_from(["12", "yes", "none", "Full board"])
JSON = nested(nested(st.none() | st.booleans() | st.integers() | st.text(max_size=5) | WORDS))


@pytest.mark.parametrize("type_", TYPES)
@given(value=JSON)
def test_a_conversion_is_final_and_changes_no_other_value(type_: Any, value: Any) -> None:
    schema, before = Schema(TypeAdapter(type_).json_schema()), json.dumps(value)
    made = convert(value, schema)
    assert json.dumps(value) == before
    assert bool(made.conversions) == (json.dumps(made.value) != before)
    again = convert(made.value, schema)
    assert json.dumps(again.value) == json.dumps(made.value)
