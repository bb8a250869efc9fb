"""Sets of tools for the tests of constraints, arguments that their schemas admit, and schemas that are changed."""

import copy
import json
import random
from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias, cast

from pydantic import BaseModel, Field

from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.schemas.schema import referred
from tests.tables import tables

TABLES = tables(__file__)

Schema: TypeAlias = dict[str, Any]


def _object(properties: Schema, required: Sequence[str] = (), **more: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def _tool(name: str, properties: Schema, required: Sequence[str] = (), **more: Any) -> Schema:
    return {"name": name, "description": f"Does {name}.", "parameters": _object(properties, required, **more)}


_TEXT: Schema = {"type": "string"}


class Priority(str, Enum):
    """How urgent a ticket is."""

    LOW = "low"
    HIGH = "high"


class Person(BaseModel):
    """Someone who works on a ticket."""

    name: str
    age: int | None = None


class OpenTicket(BaseModel):
    """Opens a ticket."""

    title: str = Field(min_length=1, max_length=40)
    priority: Priority
    people: list[Person] = Field(default_factory=list[Person], max_length=3)
    kind: Literal["bug", "wish"] = "bug"


def set_alarm(hour: int, minute: int = 0, label: str | None = None, *, loud: bool = False) -> None:
    """Sets an alarm."""


#: Twenty sets of tools by what is special about them.
TOOL_SETS: dict[str, Sequence[ToolLike]] = {
    **TABLES["TOOL_SETS"],
    "ten tools": [
        _tool(f"tool_{number}", {"first": _TEXT, f"value_{number}": {"type": "integer"}}, ["first"])
        for number in range(10)
    ],
    "models and functions": [OpenTicket, set_alarm],
}

_STRINGS = ("Paris", "a b", "line 1\n\nline 2", 'say "hi"', "<b>é</b>", "3", "x = [1, 2]", "中文")


def arguments(schema: Schema, seed: int) -> dict[str, Any]:
    """Arguments that a tool's schema admits, in the order of its properties."""
    value = _value(schema, schema, random.Random(seed), 0)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _value(schema: Any, root: Schema, draw: random.Random, depth: int) -> Any:
    """A value that a schema admits. Strings with a pattern or a format need `examples`."""
    if not isinstance(schema, dict):
        return draw.choice([1, "a", True])
    schema = cast("Schema", schema)
    if isinstance(ref := schema.get("$ref"), str):
        return _value(referred(ref, root), root, draw, depth + 1)
    for key in ("enum", "examples"):
        if key in schema:
            return draw.choice(schema[key])
    if "const" in schema:
        return schema["const"]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _value(draw.choice(schema[key]), root, draw, depth + 1)
    if "allOf" in schema:
        return _value({name: inner for part in schema["allOf"] for name, inner in part.items()}, root, draw, depth)
    declared: Any = schema.get("type", "object" if "properties" in schema else "string")
    kind: str = draw.choice(cast("list[str]", declared) if isinstance(declared, list) else [declared])
    if kind == "object":
        return _object_value(schema, root, draw, depth)
    if kind == "array":
        return _list_value(schema, root, draw, depth)
    return _scalar(kind, schema, draw)


def _object_value(schema: Schema, root: Schema, draw: random.Random, depth: int) -> dict[str, Any]:
    required = schema.get("required", ())
    listed = cast("Schema", schema.get("properties") or {})
    chosen = [key for key in listed if key in required or (depth < 4 and draw.random() < 0.5)]
    return {key: _value(listed[key], root, draw, depth + 1) for key in chosen}


def _list_value(schema: Schema, root: Schema, draw: random.Random, depth: int) -> list[Any]:
    if "prefixItems" in schema:
        return [_value(inner, root, draw, depth + 1) for inner in schema["prefixItems"]]
    low = schema.get("minItems", 0)
    high = min(schema.get("maxItems", 2), 2) if depth < 4 else low
    return [_value(schema.get("items", _TEXT), root, draw, depth + 1) for _ in range(draw.randint(low, max(low, high)))]


def _scalar(kind: str, schema: Schema, draw: random.Random) -> Any:
    if kind == "string":
        return draw.choice(_STRINGS)
    if kind in ("boolean", "null"):
        return draw.choice([True, False]) if kind == "boolean" else None
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1000))
    high = schema.get("maximum", schema.get("exclusiveMaximum", 1000))
    if kind == "integer" or draw.random() < 0.5:
        step = schema.get("multipleOf", 1)
        fitting = range(int(low) + ("exclusiveMinimum" in schema), int(high) + 1 - ("exclusiveMaximum" in schema))
        return draw.choice([number for number in fitting if number % step == 0])
    return round(low + (high - low) * draw.choice([0.25, 0.5, 0.75]), 3)


def mutated(tools: Sequence[ToolLike], seed: str) -> list[Schema]:
    """A set of tools with changed schemas: some of what `_MUTATIONS` does, in places that `seed` chooses."""
    draw = random.Random(seed)
    known = Tools.of(tools)
    assert known is not None
    found = [{"name": name, "parameters": copy.deepcopy(known.schema(name) or _object({}))} for name in known.names]
    for _ in range(draw.randint(1, 4)):
        schemas = [schema for tool in found for schema in _inner(cast("Schema", tool["parameters"]))]
        objects = [schema for schema in schemas if isinstance(schema.get("properties"), dict)]
        if objects:
            draw.choice(_MUTATIONS)(draw.choice(objects), draw)
    return cast("list[Schema]", json.loads(json.dumps(found)))


def _inner(schema: Schema) -> list[Schema]:
    """A schema and the schemas within it."""
    found = [schema]
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for part in cast("Schema", value).values():
                found += _inner(cast("Schema", part)) if isinstance(part, dict) else []
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            found += _inner(cast("Schema", value))
    return found


_PARTS: Sequence[Schema] = TABLES["PARTS"]


def _add(schema: Schema, draw: random.Random) -> None:
    schema["properties"][draw.choice(["extra", "option", "valueTwo"])] = copy.deepcopy(draw.choice(_PARTS))


def _replace(schema: Schema, draw: random.Random) -> None:
    if schema["properties"]:
        schema["properties"][draw.choice(list(schema["properties"]))] = copy.deepcopy(draw.choice(_PARTS))


def _require(schema: Schema, draw: random.Random) -> None:
    schema["required"] = [key for key in schema["properties"] if draw.random() < 0.5]


def _close(schema: Schema, draw: random.Random) -> None:
    schema["additionalProperties"] = draw.choice([True, False, {"type": "integer"}, {"type": "string"}])


def _nest(schema: Schema, draw: random.Random) -> None:
    if schema["properties"]:
        key = draw.choice(list(schema["properties"]))
        schema["properties"][key] = _object({"inner": schema["properties"][key]}, ["inner"][: draw.randint(0, 1)])


def _may_be_null(schema: Schema, draw: random.Random) -> None:
    if schema["properties"]:
        key = draw.choice(list(schema["properties"]))
        schema["properties"][key] = {"anyOf": [schema["properties"][key], {"type": "null"}]}


def _list_of(schema: Schema, draw: random.Random) -> None:
    if schema["properties"]:
        key = draw.choice(list(schema["properties"]))
        schema["properties"][key] = {"type": "array", "items": schema["properties"][key], "maxItems": 2}


_MUTATIONS = (_add, _add, _replace, _require, _close, _nest, _may_be_null, _list_of)
