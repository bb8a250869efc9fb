"""What a JSON schema says of a value that was read from damaged text. It tells readings apart; it never changes one."""

from __future__ import annotations

from typing import Any, cast

_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int,), "number": (int, float),
}  # fmt: skip
_MAX_PARTS = 2_000


def names_of(schema: dict[str, Any] | None) -> frozenset[str]:
    """The names of all properties that a schema speaks of."""
    if not schema:
        return frozenset()
    names: set[str] = set()
    todo: list[Any] = [schema]
    for _ in range(_MAX_PARTS):
        if not todo:
            break
        part = todo.pop()
        if isinstance(part, list):
            todo += cast("list[Any]", part)
        elif isinstance(part, dict):
            members = cast("dict[str, Any]", part)
            properties = _properties(members)
            names.update(properties)
            todo += properties.values()
            todo += [value for key, value in members.items() if key not in ("properties", "enum", "const", "default")]
    return frozenset(names)


def misfits(value: Any, schema: dict[str, Any]) -> int:
    """How many things in a value are not as the schema says: names that it does not know, types, what is missing."""
    count = 0
    todo: list[tuple[Any, Any]] = [(value, schema)]
    for _ in range(_MAX_PARTS):
        if not todo:
            break
        part, known = todo.pop()
        if not isinstance(known, dict):
            continue
        rules = _resolved(cast("dict[str, Any]", known), schema)
        count += not _fits(part, rules.get("type"))
        if isinstance(part, dict):
            members, properties = cast("dict[str, Any]", part), _properties(rules)
            required: Any = rules.get("required")
            count += sum(name not in members for name in cast("list[Any]", required)) if type(required) is list else 0
            if properties:
                count += sum(key not in properties for key in members)
                todo += [(item, properties[key]) for key, item in members.items() if key in properties]
        elif isinstance(part, list):
            todo += [(item, rules.get("items")) for item in cast("list[Any]", part)]
    return count


def _properties(rules: dict[str, Any]) -> dict[str, Any]:
    found: Any = rules.get("properties")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _resolved(rules: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The rules that a reference of a schema to a part of itself leads to."""
    for _ in range(8):
        reference: Any = rules.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = schema
        for name in reference[2:].split("/"):
            target = cast("dict[str, Any]", target).get(name) if isinstance(target, dict) else None
        rules = cast("dict[str, Any]", target) if isinstance(target, dict) else {}
    return rules


def _fits(value: Any, types: Any) -> bool:
    """Is a value of one of the types that a schema names? Where it names none, it is."""
    names = cast("list[Any]", types) if isinstance(types, list) else [types] if isinstance(types, str) else []
    kinds = [_KINDS[name] for name in names if isinstance(name, str) and name in _KINDS]
    if not kinds:
        return True
    return any(isinstance(value, kind) and (kind == (bool,) or not isinstance(value, bool)) for kind in kinds)
