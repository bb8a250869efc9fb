"""`describe`: a type as a prompt shows it to a model: as in TypeScript, which is shorter than a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from outspoken.results.schemas.fitting import target_of
from outspoken.results.schemas.schema import is_list, is_object, items_of, referred

_Schema = dict[str, Any]
#: What is said of a value behind its type.
_BOUNDS = {
    "minimum": "at least {}", "exclusiveMinimum": "more than {}", "maximum": "at most {}",
    "exclusiveMaximum": "less than {}", "multipleOf": "a multiple of {}", "minItems": "at least {} items",
    "maxItems": "at most {} items", "minLength": "at least {} characters", "maxLength": "at most {} characters",
    "format": "{}", "pattern": "as `{}`",
}  # fmt: skip
_NOT_EMPTY = frozenset({("minItems", 1), ("minLength", 1)})
_SIMPLE = frozenset({"string", "integer", "number", "boolean", "null", "object"})
_MAX_DEPTH = 32
#: Texts of a format.
_TEXTS = {"date": "2026-03-01", "time": "12:30:00", "date-time": "2026-03-01T12:30:00Z", "uri": "https://example.org"}


def describe(type_: Any) -> str:
    """What a type or a JSON schema asks for, as a prompt shows it to a model.

    Each field has its type, `?` if it may be absent, and its description and bounds as a comment. A type that contains
    itself is given by its name, which is defined below. Raises TypeError for what pydantic has no schema for.
    """
    return describe_schema(target_of(type_).schema)


def describe_schema(schema: _Schema, indent: str = "") -> str:
    """The same for a JSON schema; lines behind the first begin with `indent`."""
    writer = _Writer(schema)
    parts = [writer.type(schema, indent, ())]
    _, name = writer.resolved(schema)
    if name in writer.named:
        parts = [name]
    done: set[str] = set()
    while named := [name for name in writer.named if name not in done]:
        for name in named:
            done.add(name)
            parts.append(f"{indent}{name} = {writer.type(writer.named[name], indent, (id(writer.named[name]),))}")
    return "\n".join(parts)


class _Writer:
    """Writes the types of one schema; `named` are those that contain themselves."""

    def __init__(self, root: _Schema) -> None:
        self._root = root
        self.named: dict[str, _Schema] = {}

    def type(self, schema: Any, indent: str, within: tuple[int, ...]) -> str:
        """The type of a value. `within` are the objects that contain it."""
        resolved, name = self.resolved(schema)
        if not resolved or len(within) > _MAX_DEPTH:
            return "any"
        if id(resolved) in within and name:
            self.named[name] = resolved
            return name
        within = (*within, id(resolved)) if name else within
        if "const" in resolved:
            return json.dumps(resolved["const"], ensure_ascii=False)
        if values := items_of(resolved, "enum"):
            return " | ".join([json.dumps(value, ensure_ascii=False) for value in values])
        options = items_of(resolved, "anyOf") or items_of(resolved, "oneOf")
        if options:
            return " | ".join(dict.fromkeys([self._option(option, indent, within) for option in options]))
        if len(parts := items_of(resolved, "allOf")) == 1:
            return self.type(parts[0], indent, within)
        kinds: Any = resolved.get("type")
        kinds = kinds if is_list(kinds) else ["object" if "properties" in resolved else kinds]
        return " | ".join([self._of_kind(kind, resolved, indent, within) for kind in kinds])

    def _option(self, schema: Any, indent: str, within: tuple[int, ...]) -> str:
        """One of several types, with the first line of its description if it is an object."""
        text, said = self.type(schema, indent, within), self.resolved(schema)[0].get("description")
        is_said = isinstance(said, str) and said.strip() and text.startswith("{\n")
        return f"{{  // {said.strip().partition(chr(10))[0]}{text[1:]}" if is_said and isinstance(said, str) else text

    def _of_kind(self, kind: Any, found: _Schema, indent: str, within: tuple[int, ...]) -> str:
        if kind == "array":
            if items := items_of(found, "prefixItems"):
                return f"[{', '.join([self.type(item, indent, within) for item in items])}]"
            item = self.type(found.get("items", {}), indent, within)
            is_union = any(" | " in line for line in item.split("\n") if not line.startswith(f"{indent}  "))
            return f"({item})[]" if is_union else f"{item}[]"
        if kind == "object" and is_object(properties := found.get("properties")) and properties:
            lines = self._fields(properties, items_of(found, "required"), f"{indent}  ", within)
            return "\n".join(["{", *lines, f"{indent}}}"])
        if kind == "object" and is_object(others := found.get("additionalProperties")):
            return f"{{[key: string]: {self.type(others, indent, within)}}}"
        return kind if kind in _SIMPLE else "any"

    def _fields(self, properties: _Schema, required: Any, indent: str, within: tuple[int, ...]) -> Iterator[str]:
        for key, schema in properties.items():
            name = key if key.isidentifier() else json.dumps(key, ensure_ascii=False)
            found, _ = self.resolved(schema)
            said = [schema.get("description") if is_object(schema) else None, *_bounds(found)]
            comment = "; ".join([" ".join(one.split()) for one in said if isinstance(one, str)])
            must = "" if key in required else "?"
            type_ = self.type(schema, indent, within)
            yield f"{indent}{name}{must}: {type_}," + (f"  // {comment}" if comment else "")

    def resolved(self, schema: Any) -> tuple[_Schema, str]:
        """A schema behind its references, and the name of the last one."""
        name = ""
        for _ in range(_MAX_DEPTH):
            reference = schema.get("$ref") if is_object(schema) else None
            if not isinstance(reference, str):
                break
            schema, name = referred(reference, self._root), reference.rpartition("/")[2]
        return (schema if is_object(schema) else {}), name


def _bounds(schema: _Schema) -> Iterator[str]:
    """What a schema says of a value beside its type; of one that may be null, what holds otherwise."""
    options = [one for one in items_of(schema, "anyOf") if is_object(one) and one.get("type") != "null"]
    for part in (schema, *(options if len(options) == 1 else ())):
        for key, text in _BOUNDS.items():
            is_shown = "prefixItems" in part and key in ("minItems", "maxItems")
            if isinstance(part.get(key), (int, float, str)) and not is_shown:
                yield "not empty" if (key, part[key]) in _NOT_EMPTY else text.format(part[key])


def sample_of(schema: _Schema, root: Any = None, key: str = "value", depth: int = 0) -> Any:
    """A value of a schema, with what it requires alone: an example of its form."""
    root = schema if root is None else root
    resolved, _ = _Writer(root).resolved(schema)
    options = [*items_of(resolved, "anyOf"), *items_of(resolved, "oneOf"), *items_of(resolved, "allOf")]
    for part in (resolved, *options):
        for keyword in ("const", "default"):
            if is_object(part) and part.get(keyword) is not None:
                return part[keyword]
        for keyword in ("enum", "examples"):
            if is_object(part) and items_of(part, keyword):
                return items_of(part, keyword)[0]
    if options:
        return sample_of(options[0], root, key, depth + 1)
    kinds: Any = resolved.get("type", "object" if "properties" in resolved else "string")
    kind: Any = kinds[0] if is_list(kinds) and kinds else kinds
    if kind == "array":
        items = items_of(resolved, "prefixItems") or [resolved.get("items", {})]
        return [] if depth > _MAX_DEPTH else [sample_of(item, root, key, depth + 1) for item in items]
    if kind == "object":
        members: Any = resolved.get("properties", {}) if depth <= _MAX_DEPTH else {}
        return {k: sample_of(members[k], root, k, depth + 1) for k in items_of(resolved, "required") if k in members}
    text = _TEXTS.get(str(resolved.get("format")), key)
    return {"integer": 1, "number": 1.5, "boolean": True, "null": None}.get(str(kind), text)
