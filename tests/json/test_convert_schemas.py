"""Conversions leave what is valid as it is: for schemas of every kind, and values that are made from them."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from outspoken.results.schemas.convert import convert
from outspoken.results.schemas.schema import Schema, referred
from tests.json.typed_types import TYPES
from tests.loops import some
from tests.tables import tables

SCHEMAS: dict[str, dict[str, Any]] = {
    **tables(__file__)["SCHEMAS"],
    **{name: TypeAdapter(type_).json_schema() for name, type_ in TYPES.items()},
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
