"""The form of objects as elements named after their keys, with a prefix before each tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .bare_values import BareForms
from .forms import EMPTY, NOTHING, Form, Grammar, Literal, Repeat, choice, optional, seq
from .plain_patterns import escape
from .schema_parts import TYPES, merged_schema, required_keys

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


class TaggedForms:
    """Builds forms of tagged objects. A list is an element `item` for each item."""

    def __init__(self, prefix: str, grammar: Grammar, root: Any, warn: Callable[[str], None]) -> None:
        self._prefix, self._root = prefix, root
        self._bare = BareForms((escape(prefix[:1]) if prefix else "<",), "json", grammar, root, warn)
        self._depth = 0

    def object(self, schema: dict[str, Any], path: str) -> Form:
        """The elements of an object, in the order of the schema."""
        required = required_keys(schema)
        properties: dict[str, Any] = {**(schema.get("properties") or {})}
        properties |= {key: True for key in required if key not in properties}
        found: Form = EMPTY
        for key, inner in properties.items():
            form = self._element(key, inner, f"{path}.{key}" if path else key)
            found = seq(found, form if key in required else optional(form))
        return found

    def _some(self, schema: dict[str, Any], path: str) -> Form:
        """The elements of an object that has at least one: without any, it would be a text."""
        if required_keys(schema):
            return self.object(schema, path)
        properties: dict[str, Any] = {**(schema.get("properties") or {})}
        elements = [self._element(key, inner, f"{path}.{key}") for key, inner in properties.items()]
        return choice([seq(one, *map(optional, elements[at + 1 :])) for at, one in enumerate(elements)])

    def _element(self, name: str, schema: Any, path: str) -> Form:
        value = self.value(schema, path)
        return seq(Literal(f"{self._prefix}<{name}>"), value, Literal(f"{self._prefix}</{name}>"))

    def value(self, schema: Any, path: str, kinds: frozenset[str] = TYPES) -> Form:
        """The text or the elements of an element."""
        known = merged_schema(schema, self._root)
        if self._depth > 8:
            return NOTHING
        self._depth += 1
        options = [self._bare.value(schema, path, kinds & _SCALARS)]
        declared = known.get("type", [])
        listed = [declared] if isinstance(declared, str) else declared
        if "object" in listed:
            options.append(self._some(known, path))
        if "array" in listed:
            item = self._element("item", known.get("items", True), f"{path}[]")
            options.append(Repeat(item, max(int(known.get("minItems", 0)), 1), known.get("maxItems")))
        self._depth -= 1
        return choice(options)
