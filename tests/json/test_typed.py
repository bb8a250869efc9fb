"""`read_json` with a type: what becomes of values that are sound, damaged, of other types; conversions by schema."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any, Literal, TypedDict, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, TypeAdapter

from outspoken import read_json
from outspoken.json import Reading
from outspoken.results.schemas.convert import CONVERSIONS, convert
from outspoken.results.schemas.schema import Schema, referred
from tests.json import typed_types
from tests.json.typed_types import TYPES as NAMED
from tests.json.typed_types import Answer, Board, Deck, Point, answers, misses
from tests.loops import some
from tests.tables import tables


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


class Row(TypedDict):
    """One that pydantic takes within other types from Python 3.12 on."""

    place: str
    count: int


TABLES = tables(__file__)
FERRY = {"harbour": "Ystad", "seat_count": 12}


def read_as(text: str, type_: Any, **options: Any) -> Reading[Any]:
    """The reading of a type that type checkers do not know."""
    return cast("Reading[Any]", read_json(text, type_, **options))


def type_of(name: str) -> Any:
    """A type by the name that the tables have."""
    return eval(name, {**vars(typed_types), **globals()})


@pytest.mark.parametrize(("text", "name", "meant", "codes"), TABLES["CASES"])
def test_a_text_is_read_as_a_type(text: str, name: str, meant: Any, codes: list[str]) -> None:
    type_ = type_of(name)
    read = read_as(text, type_)
    if meant is None and text != "null" and "none" not in text:
        assert (read.value, read.is_valid) == (None, False)
        assert read.retry
        assert read.status in ("invalid", "truncated")
        return
    assert read.is_valid, read.diagnostics
    assert read.value == TypeAdapter(typed_types.Row if type_ is Row else type_).validate_json(json.dumps(meant))
    assert [one.code for one in read.conversions] == codes
    assert read.retry == ""
    assert [repair.code for repair in read.repairs if repair.level == "schema"] == codes
    assert (read.status == "ok") == (not read.repairs)


@pytest.mark.parametrize("case", [case for case in TABLES["CASES"] if case[3]])
def test_without_conversion_nothing_is_converted(case: list[Any]) -> None:
    read = read_as(case[0], type_of(case[1]), convert="off")
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


@pytest.mark.parametrize(("text", "name", "meant"), TABLES["CALLS"])
@pytest.mark.parametrize("convert", ["on", "off"])
def test_the_arguments_of_a_call_are_those_of_its_tool(text: str, name: str, meant: Any, convert: str) -> None:
    type_ = type_of(name)
    read = read_as(text, type_, convert=convert)
    if meant is None:
        assert (read.value, read.is_valid) == (None, False)
        assert convert == "off" or "tool_calls" in text or "calls `search`" in read.retry
    elif convert == "on" or type_ is dict[str, Any]:
        assert read.value == TypeAdapter(type_).validate_python(meant)


@pytest.mark.parametrize(("before", "behind", "ambiguous"), TABLES["SENTENCES"])
def test_a_value_in_a_sentence_that_goes_on_may_be_denied(before: str, behind: str, ambiguous: bool) -> None:
    read = read_json(f"{before}{json.dumps(FERRY)}{behind}", Ferry)
    assert read.value == Ferry.model_validate(FERRY)
    assert (read.ambiguous, "in-sentence" in [one.code for one in read.diagnostics]) == (ambiguous, ambiguous)


TYPES: list[Any] = [
    Ferry, Fleet, Inbox, Point, Board, Deck, list[Ferry], dict[str, float], Call | Mail, int | None,
]  # fmt: skip


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


# answers such as models give: what they mean is in typed_texts.yaml


ANSWERS, MISSES = answers(), misses()


def read(answer: Answer) -> Reading[Any]:
    """The reading of an answer."""
    return cast("Reading[Any]", read_json(answer.text, NAMED[answer.type]))


def as_meant(answer: Answer, found: Reading[Any]) -> bool:
    """Is the value the one that is meant? Where none is, there is none, or it is said that it may be another one."""
    if answer.meant is None:
        return not found.is_valid or found.ambiguous
    return found.is_valid and found.value == TypeAdapter(NAMED[answer.type]).validate_json(answer.meant)


@pytest.mark.parametrize("name", NAMED)
def test_answers_are_read_as_they_are_meant(name: str) -> None:
    of_type = [answer for answer in ANSWERS if answer.type == name]
    assert of_type
    wrong = {answer.text for answer in of_type if not as_meant(answer, read(answer))}
    assert wrong == {answer.text for answer in of_type if answer.text in MISSES}


def test_few_are_missed_and_none_is_wrong_in_silence() -> None:
    assert len(ANSWERS) >= 600
    missed = [answer for answer in ANSWERS if answer.text in MISSES]
    assert len(missed) <= 18
    assert [one.text for one in missed if (found := read(one)).is_valid and not found.ambiguous] == []


def test_every_conversion_is_in_an_answer() -> None:
    assert {one.code for answer in ANSWERS for one in read(answer).conversions} == {*CONVERSIONS}


def test_what_is_meant_is_left_as_it_is() -> None:
    for answer in ANSWERS:
        if answer.meant is not None:
            found = read(answer._replace(text=answer.meant))
            assert (found.status, found.conversions) == ("ok", ()) or json.loads(answer.meant) is None, answer


# conversions leave what is valid as it is: for schemas of every kind, and values that are made from them


SCHEMAS: dict[str, dict[str, Any]] = {
    **tables(__file__)["SCHEMAS"],
    **{name: TypeAdapter(type_).json_schema() for name, type_ in NAMED.items()},
}
WORDS = st.sampled_from(
    ["", "1", "1,200", "-", "yes", "none", "high", "2026-05-01", "May 1, 2026", "10:00:00", "XY", "x"]
)
FORMATS = {"date": "2026-05-01", "time": "10:00:00Z", "date-time": "2026-05-01T10:00:00Z"}
assert len(SCHEMAS) >= 50
KEYS = st.sampled_from(["name", "names", "Name", "a", "A", "ab", "kind", "is_a", "is_open", "isOpen", "0", "1", "x"])
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "string": WORDS | st.text(max_size=6),
    "integer": st.integers(-3, 2000),
    "number": st.integers(-3, 2000) | st.floats(-10, 10),
    "boolean": st.booleans(),
    "null": st.none(),
}
ANY = st.recursive(
    st.one_of(*PLAIN.values()), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)

_NO_MORE: dict[str, Any] = {}


def _merged(parts: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}


def values(node: dict[str, Any], root: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that may be valid: the types, members and words of a schema, and at times other members."""
    if depth > 6:
        return cast("st.SearchStrategy[Any]", st.nothing())  # pyright: ignore[reportUnknownMemberType]
    if "$ref" in node:
        return values(referred(node["$ref"], root), root, depth + 1)
    for key in ("anyOf", "oneOf"):
        if key in node:
            return st.one_of(*[values(option, root, depth + 1) for option in node[key]])
    if "allOf" in node:
        parts = [values(part, root, depth + 1) for part in node["allOf"]]
        return st.tuples(*parts).map(_merged)
    if "enum" in node or "const" in node:
        return st.sampled_from(node.get("enum", [node.get("const")]))
    kinds = [node["type"]] if isinstance(node.get("type"), str) else node.get("type", [])
    return st.one_of(*[_of_kind(kind, node, root, depth) for kind in kinds]) if kinds else ANY


def _of_kind(kind: str, node: dict[str, Any], root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    if kind == "array":
        inner = values(node["items"], root, depth + 1) if "items" in node else ANY
        return st.just([]) if inner.is_empty else st.lists(inner, max_size=3)
    if kind == "object":
        known = {key: values(member, root, depth + 1) for key, member in node.get("properties", {}).items()}
        needed = {key: known[key] for key in known if key in node.get("required", [])}
        optional = {key: member for key, member in known.items() if key not in needed and not member.is_empty}
        others: Any = node.get("additionalProperties", True)
        inner = ANY if isinstance(others, bool) else values(others, root, depth + 1)
        more = st.dictionaries(KEYS, inner, max_size=2) if others else st.just(_NO_MORE)
        return st.tuples(more, st.fixed_dictionaries(needed, optional=optional)).map(_merged)
    is_moment = kind == "string" and node.get("format") in FORMATS
    return st.just(FORMATS[node["format"]]) if is_moment else PLAIN[kind]


@pytest.mark.parametrize("name", some(SCHEMAS, "schemas", 0.17))
@given(data=st.data())
def test_what_is_valid_stays_valid_and_known_members_stay_as_they_are(name: str, data: st.DataObject) -> None:
    schema = SCHEMAS[name]
    value = data.draw(values(schema, schema))
    validator: Any = Draft202012Validator(schema)
    if not validator.is_valid(value):
        return
    view = Schema(schema)
    made = convert(value, view)
    assert validator.is_valid(made.value)
    if not view.unknown_names(value):
        assert json.dumps(made.value) == json.dumps(value)
        assert made.conversions == ()
    assert json.dumps(convert(made.value, view).value) == json.dumps(made.value)


@pytest.mark.parametrize("name", some(SCHEMAS, "schemas of any value", 0.34))
@given(value=ANY)
def test_a_conversion_is_final_and_changes_no_other_value(name: str, value: Any) -> None:
    schema, before = Schema(SCHEMAS[name]), json.dumps(value)
    made = convert(value, schema)
    assert json.dumps(value) == before
    assert bool(made.conversions) == (json.dumps(made.value) != before)
    assert json.dumps(convert(made.value, schema).value) == json.dumps(made.value)


def test_types_that_hold_themselves_and_deep_values_take_few_steps() -> None:
    value: Any = "x"
    for number in range(20):
        value = {f"key{number}": [value]}
    itself = {"$defs": {"t": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/t"}}]}}}
    for schema in (itself | {"$ref": "#/$defs/t"}, *SCHEMAS.values()):
        made = convert(value, Schema(schema))
        assert made.conversions or made.value == value
