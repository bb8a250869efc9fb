"""Parts of JSON schemas: schemas that are joined, patterns of strings, and keywords that no form can enforce."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from outspoken.patterns import syntax
from outspoken.results.schemas.schema import is_object, items_of, referred

#: The types of JSON.
TYPES = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})


class PlainPattern(str):
    """A pattern of whole strings, without anchors, that match it as they stand in every notation: without escapes."""

    __slots__ = ()


_DAY = "(?:0[1-9]|1[0-9]|2[0-8])"
_DATE = f"[1-9][0-9]{{3}}-(?:0[1-9]|1[0-2])-{_DAY}"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?(?:Z|[+-](?:0[0-9]|1[0-2]):00)"
_HOST = "[a-z0-9](?:[a-z0-9-]{0,12}[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]{0,12}[a-z0-9])?){0,3}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"

#: Patterns of strings by the `format` of their schema (JSON Schema Validation 2020-12, section 7.3), a little narrower.
FORMATS: dict[str, str] = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": "P(?:[0-9]{1,4}D(?:T[0-9]{1,4}H)?|T[0-9]{1,4}[HMS]|[0-9]{1,4}W)",
    "email": f"[a-zA-Z0-9_+-]{{1,30}}(?:\\.[a-zA-Z0-9_+-]{{1,20}}){{0,2}}@{_HOST}\\.[a-z]{{2,8}}",
    "hostname": _HOST,
    "ipv4": f"{_BYTE}(?:\\.{_BYTE}){{3}}",
    "ipv6": "(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "uri": f"https?://{_HOST}(?::[0-9]{{2,5}})?(?:/[a-zA-Z0-9._~+-]*)*(?:\\?[a-zA-Z0-9._~+=&-]*)?",
}

#: Keywords that say nothing about values, or that forms enforce.
_ENFORCED = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "prefixItems", "additionalItems", "minItems",
    "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "nullable", "$defs", "definitions",
})  # fmt: skip
_SILENT = frozenset({
    "description", "title", "default", "examples", "example", "$schema", "$id", "$comment", "$anchor", "deprecated",
    "readOnly", "writeOnly", "format", "discriminator", "contentEncoding", "contentMediaType", "strict",
})  # fmt: skip


def unenforced(schema: dict[str, Any]) -> list[str]:
    """The keywords of a schema that its form does not enforce."""
    keywords = [key for key in schema if key not in _ENFORCED and key not in _SILENT and not key.startswith("x-")]
    if isinstance(schema.get("format"), str) and schema["format"] not in FORMATS:
        keywords.append(f"format: {schema['format']}")
    if "uniqueItems" in keywords and (schema["uniqueItems"] is False or schema.get("maxItems", 2) <= 1):
        keywords.remove("uniqueItems")
    if "minProperties" in keywords and schema["minProperties"] <= len(schema.get("required", [])):
        keywords.remove("minProperties")
    if "maxProperties" in keywords and schema["maxProperties"] >= len(schema.get("properties", ())) > 0:
        keywords.remove("maxProperties")
    if "patternProperties" in keywords and "properties" in schema and "additionalProperties" not in schema:
        keywords.remove("patternProperties")
    if "unevaluatedProperties" in keywords and schema["unevaluatedProperties"] is False:
        keywords.remove("unevaluatedProperties")
    return keywords


def search_pattern(pattern: str) -> str:
    """The pattern of the whole strings in which a schema's pattern matches somewhere.

    Raises ValueError where an anchor stands elsewhere than at an end of the pattern.
    """
    begins = pattern.startswith("^")
    ends = pattern.endswith("$") and not pattern.endswith("\\$")
    inner = pattern[begins : len(pattern) - ends]
    return f"{'' if begins else _ANY}(?:{inner}){'' if ends else _ANY}"


_ANY = r"[\s\S]*"


def string_limits(schema: dict[str, Any]) -> tuple[int, int | None, tuple[str, ...]]:
    """The least and the greatest length of strings that a schema admits, and the patterns of its pattern and format."""
    high, pattern, format = [schema.get(key) for key in ("maxLength", "pattern", "format")]
    patterns = [search_pattern(pattern)] if isinstance(pattern, str) else []
    patterns += [FORMATS[format]] if format in FORMATS else []
    return int(schema.get("minLength", 0)), None if high is None else int(high), tuple(patterns)


def merged_schema(schema: Any, root: Any, depth: int = 0) -> dict[str, Any]:
    """A schema with what it refers to and the schemas of its `allOf` taken in; empty if it admits anything."""
    if not is_object(schema) or depth > 16:
        return {"enum": []} if schema is False else {}
    if "$ref" not in schema and "allOf" not in schema:
        return schema
    merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
    parts = [*items_of(schema, "allOf")]
    if isinstance(ref := schema.get("$ref"), str):
        parts.insert(0, referred(ref, root))
    for part in parts:
        merged = _both(merged, merged_schema(part, root, depth + 1))
    return merged


def required_keys(schema: dict[str, Any]) -> list[str]:
    """The properties that a schema requires."""
    listed: Any = schema.get("required")
    return [key for key in cast("list[Any]", listed) if isinstance(key, str)] if isinstance(listed, list) else []


def listed_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """The schemas of the properties that a schema lists, then of those that it only requires."""
    properties: dict[str, Any] = schema.get("properties") or {}
    return properties | {key: True for key in required_keys(schema) if key not in properties}


def alternatives(schema: dict[str, Any]) -> list[Any] | None:
    """The schemas of which one has to hold, each with the rest of the schema; None if there is no choice."""
    key = next((key for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), "")
    rest = {name: inner for name, inner in schema.items() if name != key}
    return [{**rest, "allOf": [option]} for option in schema[key]] if key else None


def listed_values(schema: dict[str, Any]) -> list[Any] | None:
    """The values that a schema lists; None if it lists none."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def other_properties(schema: dict[str, Any]) -> Any:
    """The schema of the properties that a schema does not list; False if there are none."""
    more: Any = schema.get("additionalProperties")
    return more if more is not None else "properties" not in schema and not required_keys(schema)


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The schema of what two schemas admit."""
    merged = dict(one)
    for key, value in other.items():
        if key not in merged:
            merged[key] = value
        elif key == "properties":
            merged[key] = {**merged[key], **{k: _joined(merged[key], k, v) for k, v in value.items()}}
        elif key == "required":
            merged[key] = list(dict.fromkeys([*merged[key], *value]))
        elif key in _SMALLEST:
            merged[key] = min(merged[key], value)
        elif key in _LARGEST:
            merged[key] = max(merged[key], value)
        elif key == "type":
            merged[key] = _both_types(merged[key], value)
        elif key == "enum":
            merged[key] = [v for v in merged[key] if v in value]
        elif key in ("anyOf", "oneOf", "not", "pattern") and value != merged[key]:
            merged.setdefault("allOf (joined)", True)
    return merged


def _joined(properties: dict[str, Any], key: str, schema: Any) -> Any:
    known = properties.get(key)
    if not isinstance(known, dict) or not isinstance(schema, dict):
        return schema
    return _both(cast("dict[str, Any]", known), cast("dict[str, Any]", schema))


_SMALLEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "additionalProperties"})
_LARGEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems"})


def _both_types(one: Any, other: Any) -> list[str]:
    first = cast("list[str]", one if isinstance(one, list) else [one])
    second = cast("list[str]", other if isinstance(other, list) else [other])
    found = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    return [*found, *[kind for kind in second if kind == "integer" and "number" in first and kind not in found]]


#: Below so many levels, a schema counts as one that admits anything.
_MAX_DEPTH = 40

#: Keywords whose values are schemas, lists of schemas, and schemas by name.
_ONE = ("items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_NAMED = ("properties", "$defs", "definitions", "patternProperties")

_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "multipleOf")


def checked(schema: dict[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """A copy of a schema without what is no JSON Schema; `warn` is told of each part that is left out.

    These are references that lead nowhere, patterns that are no regular expressions, unknown types, values of keywords
    that have the wrong type, and what is nested too deep.
    """
    return cast("dict[str, Any]", _Check(schema, warn).copy(schema, "", 0))


class _Check:
    def __init__(self, root: Any, warn: Callable[[str], None]) -> None:
        self._root, self._warn = root, warn

    def copy(self, schema: Any, path: str, depth: int) -> Any:
        """A schema that is nested so deep, without what is wrong in it."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            self._leave_out(path, "the schema", f"it is {type(schema).__name__}, no object")
            return True
        if depth > _MAX_DEPTH:
            self._leave_out(path, "the schema", f"it is nested more than {_MAX_DEPTH} levels deep")
            return True
        copied: dict[str, Any] = {}
        for key, value in cast("dict[str, Any]", schema).items():
            wrong = self._complaint(key, value)
            if wrong:
                self._leave_out(path, f"`{key}`", wrong)
            else:
                copied[key] = self._inner(key, value, path, depth)
        return copied

    def _inner(self, key: str, value: Any, path: str, depth: int) -> Any:
        """The value of a keyword, with the schemas in it copied."""
        if key in _NAMED:
            return {
                name: self.copy(inner, _below(path, name if key == "properties" else f"{key}.{name}"), depth + 1)
                for name, inner in value.items()
            }
        if key in _LISTS and isinstance(value, list):
            return [self.copy(inner, path, depth + 1) for inner in cast("list[Any]", value)]
        if key in _ONE:
            return self.copy(value, f"{path}[]" if key == "items" else path, depth + 1)
        return value

    def _complaint(self, key: str, value: Any) -> str:
        """What is wrong with the value of a keyword, or ""."""
        if key in _NAMED:
            return "" if isinstance(value, dict) else "it is no object"
        if key in ("anyOf", "oneOf", "allOf", "prefixItems", "enum", "required") and not isinstance(value, list):
            return "it is no list"
        if key in _COUNTS or key in _BOUNDS:
            return _wrong_number(key, value)
        if key == "type":
            return _wrong_types(value)
        if key == "pattern":
            return _wrong_pattern(value)
        return self._wrong_reference(value) if key == "$ref" else ""

    def _wrong_reference(self, value: Any) -> str:
        if not isinstance(value, str):
            return "it is no text"
        return "" if isinstance(referred(value, self._root), (dict, bool)) else f"{value!r} is nowhere in the schema"

    def _leave_out(self, path: str, what: str, why: str) -> None:
        self._warn(f"{path or 'the arguments'}: {what} is not enforced: {why}")


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _wrong_number(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"{value!r} is no number"
    if key in _COUNTS and (isinstance(value, float) or value < 0):
        return f"{value!r} is no whole number from 0 on"
    return f"{value!r} is not above 0" if key == "multipleOf" and value <= 0 else ""


def _wrong_types(value: Any) -> str:
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    unknown = [kind for kind in listed if kind not in TYPES]
    return f"{unknown[0]!r} is no type of JSON" if unknown else ""


def _wrong_pattern(value: Any) -> str:
    if not isinstance(value, str):
        return f"{value!r} is no text"
    try:
        syntax.parse(value)
    except (ValueError, re.error) as error:
        return f"{value!r} cannot be read: {error}"
    return ""
