"""Schemas and options of constraints that are unusual or wrong: what is enforced, and what is said of the rest."""

import json
from functools import reduce
from typing import Any

import pytest

from outspoken.constraints import constraint
from outspoken.constraints.schema_parts import search_pattern
from outspoken.results.errors import ConstraintError
from tests.tables import tables

TABLES = tables(__file__)

_NAME = "act"


def _tool(schema: Any, name: str = _NAME, *, required: bool = True) -> dict[str, Any]:
    listed = ["x"] if required else []
    return {"name": name, "parameters": {"type": "object", "properties": {"x": schema}, "required": listed}}


def _call(value: Any) -> str:
    arguments = json.dumps({"name": _NAME, "arguments": {"x": value}}, ensure_ascii=False)
    return f"<tool_call>\n{arguments}\n</tool_call>"


#: A schema, values that it admits, and values that it does not.
_ENFORCED: list[tuple[dict[str, Any], list[Any], list[Any]]] = TABLES["_ENFORCED"]


def test_values_by_schema() -> None:
    for schema, admitted, refused in _ENFORCED:
        made = constraint("hermes", tools=[_tool(schema)], tool_choice="required")
        assert not made.warnings, schema
        for value in admitted:
            assert made.accepts(_call(value)), (schema, value)
        for value in refused:
            assert not made.accepts(_call(value)), (schema, value)


_DEEP: dict[str, Any] = reduce(
    lambda inner, _: {"type": "object", "properties": {"k": inner}}, range(200), {"type": "string"}
)


@pytest.mark.parametrize(
    ("schema", "warning"),
    [
        ({"$ref": "#/$defs/none"}, "x: `$ref` is not enforced: '#/$defs/none' is nowhere in the schema"),
        ({"$ref": 3}, "x: `$ref` is not enforced: it is no text"),
        ({"type": "strange"}, "x: `type` is not enforced: 'strange' is no type of JSON"),
        ({"type": "string", "pattern": "(["}, "x: `pattern` is not enforced: '([' cannot be read"),
        ({"type": "string", "pattern": "^(?!a)b$"}, "x: the pattern of the string is not enforced"),
        ({"type": "string", "minLength": "2"}, "x: `minLength` is not enforced: '2' is no number"),
        ({"type": "array", "maxItems": -1}, "x: `maxItems` is not enforced: -1 is no whole number from 0 on"),
        ({"type": "integer", "multipleOf": 0}, "x: `multipleOf` is not enforced: 0 is not above 0"),
        ({"anyOf": {"type": "string"}}, "x: `anyOf` is not enforced: it is no list"),
        ({"type": "object", "properties": {"y": 3}}, "x.y: the schema is not enforced: it is int, no object"),
        ({"type": "array", "uniqueItems": True}, "x: `uniqueItems` is not enforced"),
        ({"type": "object", "propertyNames": {"pattern": "^a"}}, "x: `propertyNames` is not enforced"),
        (_DEEP, ".k: the schema is not enforced: it is nested more than 40 levels deep"),
    ],
)
def test_what_is_not_enforced_is_named(schema: Any, warning: str) -> None:
    made = constraint("hermes", tools=[_tool(schema)], tool_choice="required")
    assert len(made.warnings) == 1, made.warnings
    assert warning in made.warnings[0], made.warnings
    with pytest.raises(ConstraintError, match="is not enforced"):
        constraint("hermes", tools=[_tool(schema)], tool_choice="required", strict=True)


@pytest.mark.parametrize("schema", [False, {"enum": []}, {"type": "integer", "minimum": 5, "maximum": 3}])
def test_a_tool_that_cannot_be_called(schema: Any) -> None:
    words = f"{_NAME}: it cannot be called: there are no arguments that fit its schema"
    other: dict[str, Any] = {"name": "other", "parameters": {}}
    made = constraint("hermes", tools=[_tool(schema), other])
    assert made.warnings == (words,)
    assert made.accepts('<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>')
    assert not made.accepts(f'<tool_call>\n{{"name": "{_NAME}", "arguments": {{}}}}\n</tool_call>')
    with pytest.raises(ConstraintError, match=words):
        constraint("hermes", tools=[_tool(schema)], tool_choice="required")
    assert not constraint("hermes", tools=[_tool(schema, required=False)], tool_choice="required").warnings


def test_names_that_a_format_cannot_write() -> None:
    for format, key in (("qwen3_coder", "x>y"), ("pythonic", "not valid"), ("glm_4_5", "a</arg_key>b")):
        tool: dict[str, Any] = {
            "name": _NAME,
            "parameters": {"properties": {key: {"type": "string"}, "z": {"type": "string"}}},
        }
        made = constraint(format, tools=[tool], tool_choice="required")
        assert made.warnings == (f"{_NAME}: {key}: the format cannot write this name",)
        tool["parameters"]["required"] = [key]
        with pytest.raises(ConstraintError, match="cannot write this name"):
            constraint(format, tools=[tool], tool_choice="required")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tool_choice": "nothing"}, ValueError, "`tool_choice` is 'nothing'; expected one of"),
        ({"tool_choice": {"type": "function"}}, TypeError, "`tool_choice` is a dict; expected str"),
        ({"max_calls": "2"}, TypeError, "`max_calls` is a str; expected int or None"),
        ({"max_calls": 0}, ValueError, "`max_calls` is 0; expected a number from 1 on"),
        ({"reasoning": "yes"}, ValueError, "`reasoning` is 'yes'; expected one of"),
        ({"special_tokens": "<tool_call>"}, TypeError, "`special_tokens` is a str; expected a list of markers"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        constraint("hermes", tools=[_tool({"type": "string"})], **options)


def test_a_server_has_one_of_two_engines() -> None:
    made = constraint("hermes", tools=[_tool({"type": "string"})])
    for fields in (made.to_vllm, made.to_sglang):
        with pytest.raises(ValueError, match="`backend` is 'outlines'; expected"):
            fields("outlines")  # pyright: ignore[reportArgumentType]


def test_a_dollar_that_is_escaped_is_no_anchor() -> None:
    assert search_pattern(r"cost\$") == r"[\s\S]*(?:cost\$)[\s\S]*"
    assert search_pattern(r"cost$") == r"[\s\S]*(?:cost)"
