"""What is wrong in the schemas that callers give: it is left out, with a warning, before forms are made of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from outspoken.json.schema import referred
from outspoken.patterns import syntax

from .schema_parts import TYPES

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
        found: dict[str, Any] = {}
        for key, value in cast("dict[str, Any]", schema).items():
            wrong = self._complaint(key, value)
            if wrong:
                self._leave_out(path, f"`{key}`", wrong)
            else:
                found[key] = self._inner(key, value, path, depth)
        return found

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
