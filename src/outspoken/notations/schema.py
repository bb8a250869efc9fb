"""What a tool's JSON schema says of a value and its parts, for values that are written without types."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from .coerce import read_bare
from .tools import Tools, Types, items_of, referred, types_of

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


def schema_view_of(tools: Tools | None, name: str | None, key: str | None, fallback: str) -> SchemaView:
    """The view of the arguments of a tool, or of one argument; `name` and `key` may be unknown."""
    if tools is None or name is None or name not in tools:
        return ANY if fallback == "json" else SchemaView(None, None, fallback)
    whole = tools.schema_views.get((name, fallback))
    if whole is None:
        schema = tools.schema(name)
        whole = tools.schema_views[name, fallback] = SchemaView(schema, schema, fallback)
    return whole.member(key) if key else whole


#: The view of a value of which nothing is known.
ANY = SchemaView(None, None, "json")
