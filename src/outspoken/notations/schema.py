"""What a tool's JSON schema says of a value and its parts, for values that are written without types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeGuard, cast
from urllib.parse import unquote

from .coerce import KINDS, read_bare

Types = frozenset[str]

#: each JSON type alone
SINGLE_TYPES: dict[str, Types] = {name: frozenset({name}) for name in KINDS.values()}
#: the keywords of a schema that restrict its types besides `type`
RESTRICTING = frozenset({"const", "enum", "anyOf", "oneOf", "allOf", "$ref", "nullable"})
_MAX_DEPTH = 64
_MAX_PARTS = 64


class SchemaView:
    """A view of one place in a schema. Nothing is known of its value if it has no schema.

    `fallback` is how bare text is read if the schema gives no type: "json" or "text".
    """

    def __init__(self, schema: Any, root: Any, fallback: str) -> None:
        self._schema, self._root, self._fallback = schema, root, fallback
        #: the members that were asked for; only kept for the whole schema
        self._members: dict[str, SchemaView] = {}

    @cached_property
    def types(self) -> Types | None:
        """The JSON types that the value may have; None if they are not known."""
        return types_of(self._schema, self._root, {}, 0) or None

    @cached_property
    def is_text(self) -> bool:
        """Can the value only be a string?"""
        return self.types is not None and self.types <= {"string"}

    @cached_property
    def may_be_text(self) -> bool:
        """Can the value be a string?"""
        return self.types is None or "string" in self.types

    def may_be(self, kind: str) -> bool:
        """Can the value be of a JSON type?"""
        return self.types is None or kind in self.types

    def member(self, key: str) -> SchemaView:
        """The view of the value of a key."""
        known = self._members.get(key)
        if known is not None:
            return known
        for schema in self._parts:
            properties = schema.get("properties")
            if isinstance(properties, dict) and key in properties:
                known = SchemaView(properties[key], self._root, self._fallback)
                if self._schema is self._root:
                    self._members[key] = known
                return known
        return self._first("additionalProperties")

    @cached_property
    def item(self) -> SchemaView:
        """The view of the items of a list."""
        return self._first("items")

    def _first(self, keyword: str) -> SchemaView:
        """The view of the first schema under a keyword."""
        found = (part.get(keyword) for part in self._parts)
        return SchemaView(next((f for f in found if isinstance(f, dict)), None), self._root, self._fallback)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def bare(self, text: str) -> Any:
        """The value of bare text."""
        return read_bare(text, self.types, self._fallback)

    def quoted(self, text: str) -> Any:
        """The value of text that is marked as a string. It is read as bare text only if no string is allowed."""
        return text if self.may_be_text else read_bare(text, self.types, "text")

    @cached_property
    def _parts(self) -> list[dict[str, Any]]:
        """The schema, and the schemas that it refers to or combines."""
        found: list[dict[str, Any]] = []
        waiting: list[Any] = [self._schema]
        seen: set[int] = set()
        while waiting and len(seen) < _MAX_PARTS:
            schema = waiting.pop(0)
            if not isinstance(schema, dict) or id(cast("object", schema)) in seen:
                continue
            known = cast("dict[str, Any]", schema)
            seen.add(id(known))
            found.append(known)
            if isinstance(ref := known.get("$ref"), str):
                waiting.append(referred(ref, self._root))
            waiting += [option for key in ("anyOf", "oneOf", "allOf") for option in items_of(known, key)]
        return found


#: The view of a value of which nothing is known.
ANY = SchemaView(None, None, "json")


# -- the types that a schema allows


def types_of(schema: Any, root: Any, seen: dict[str, Types | None], depth: int) -> Types | None:
    """The types that a schema allows; None if it does not say. `seen` holds those of references."""
    if not is_object(schema) or depth > _MAX_DEPTH:
        return None
    known = _declared(schema.get("type"))
    if RESTRICTING.isdisjoint(schema):
        return known
    if "const" in schema:
        known = _both(known, _kinds([schema["const"]]))
    if values := items_of(schema, "enum"):
        known = _both(known, _kinds(values))
    for key in ("anyOf", "oneOf"):
        if options := items_of(schema, key):
            known = _both(known, _either([types_of(option, root, seen, depth + 1) for option in options]))
    for part in items_of(schema, "allOf"):
        known = _both(known, types_of(part, root, seen, depth + 1))
    if isinstance(ref := schema.get("$ref"), str):
        if ref not in seen:
            seen[ref] = None
            seen[ref] = types_of(referred(ref, root), root, seen, depth + 1)
        known = _both(known, seen[ref])
    return known | {"null"} if known is not None and schema.get("nullable") is True else known


def items_of(schema: dict[str, Any], key: str) -> Sequence[Any]:
    """The list that a schema has under a key; empty if there is none."""
    items = schema.get(key)
    return items if is_list(items) else ()


def _declared(declared: Any) -> Types | None:
    """The types that `type` names."""
    if isinstance(declared, str):
        return SINGLE_TYPES.get(declared)
    if not is_list(declared) or not all(isinstance(name, str) for name in declared):
        return None
    return frozenset(declared) if SINGLE_TYPES.keys() >= set(declared) else None


def _kinds(values: Iterable[Any]) -> Types | None:
    """The types of the values of an enumeration."""
    return frozenset([KINDS[type(value)] for value in values if type(value) in KINDS]) or None


def _either(options: list[Types | None]) -> Types | None:
    """The types that at least one of several schemas allows."""
    known = [option for option in options if option is not None]
    return frozenset[str]().union(*known) if len(known) == len(options) else None


def _both(one: Types | None, other: Types | None) -> Types | None:
    """The types that two schemas both allow. Every integer is a number."""
    if one is None or other is None:
        return one if other is None else other
    whole = one | other
    shared = (one | {"integer"} if "number" in one else one) & (other | {"integer"} if "number" in other else other)
    return shared & whole


def referred(ref: str, root: Any) -> Any:
    """The part of the schema that a reference names; None if there is none."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    node = root
    for part in ref.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if is_object(node):
            node = node.get(key)
        elif is_list(node) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple)) or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
