"""What a JSON schema says of values: one reading of references, alternatives and members for everything that asks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.json.read import read_json
from outspoken.results.schemas.schema import Schema
from tests.tables import tables

TABLES = tables(__file__)
TEXT = {"type": "string"}
#: a value, and how many of its parts do not fit
VALUES: list[tuple[Any, int]] = TABLES["VALUES"]


@pytest.mark.parametrize("schema", TABLES["ALIKE"])
def test_members_are_found_however_they_are_written(schema: dict[str, Any]) -> None:
    view = Schema(schema)
    assert {"a", "b"} <= view.properties.keys() <= {"a", "b", "c"}
    assert (view.member("a").types, view.member("b").types) == ({"string"}, {"integer"})
    assert [view.misfits(value) for value, _ in VALUES] == [count for _, count in VALUES]
    assert [view.may_have(key) for key in ("a", "b", "d")] == [True, True, False]
    assert view.unknown_names({"a": "x", "d": 1, "e": 2}) == 2


@pytest.mark.parametrize(("schema", "fits", "misfits"), TABLES["FITS"])
def test_what_fits(schema: dict[str, Any], fits: Any, misfits: Any) -> None:
    assert (Schema(schema).misfits(fits), Schema(schema).misfits(misfits)) == (0, 1)


@pytest.mark.parametrize("values", [{"enum": ["a", 1]}, {"$ref": "#/$defs/K", "$defs": {"K": {"enum": ["a", 1]}}}])
def test_values_that_are_listed(values: dict[str, Any]) -> None:
    assert Schema(values).values == ["a", 1]
    assert Schema({"const": 0}).values == [0]
    assert Schema({"anyOf": [values]}).values is None


def test_members_that_a_schema_admits_tell_readings_apart() -> None:
    schema = {"properties": {"cmd": TEXT}, "additionalProperties": TEXT}
    assert read_json('{"cmd": "a" "note": "b"}', schema=schema).value == {"cmd": "a", "note": "b"}


NAMES = ["type", "enum", "anyOf", "allOf", "$ref", "properties", "items", "required", "additionalProperties", "a"]
LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "object", "#", "#/properties/a", "a"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=14,
)


@given(JSON, JSON)
def test_no_schema_raises(schema: Any, value: Any) -> None:
    view = Schema(schema)
    assert view.unknown_names(value) <= view.misfits(value)
    assert view.all_names >= view.properties.keys() or "$ref" in str(schema)
    assert view.member("a").item.may_have("b") in (True, False)
