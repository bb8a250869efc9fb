"""The form of values that are written as bare text up to a marker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .forms import NOTHING, Form, Grammar, Literal, Pattern, choice
from .free_text import BareText, text_automaton
from .schema_forms import SchemaForms
from .schema_parts import TYPES, PlainPattern, alternatives, listed_values, merged_schema, string_limits
from .styles import PythonStyle, Style

#: White space at the ends of text may belong to the markers, so strings of a certain length have none.
EDGE = "[^\\t-\\r \x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"


class _WordStyle(Style):
    """JSON with Python's words."""

    null, true, false = "None", "True", "False"

    def value(self, value: Any) -> Form:
        return self._written(repr(value)) if value is None or isinstance(value, bool) else super().value(value)


class BareForms:
    """Builds forms of bare text: strings as they are, other values in the words of the format."""

    def __init__(self, text: BareText, written: str, grammar: Grammar, root: Any, warn: Callable[[str], None]) -> None:
        (self._text, held), self._root, self._warn = text, root, warn
        self._json = SchemaForms(Style(held), grammar, root, warn)
        self._words = SchemaForms(_WordStyle(held), grammar, root, warn) if written != "json" else self._json
        self._python = SchemaForms(PythonStyle(held), grammar, root, warn) if written == "python" else self._json

    def value(self, schema: Any, path: str, kinds: frozenset[str] = TYPES, *, beside_string: bool = False) -> Form:
        """The form of a value of one of the JSON types `kinds`; `beside_string` if it may be a string as well."""
        merged = merged_schema(schema if isinstance(schema, dict) else {}, self._root)
        if (parts := alternatives(merged)) is not None:
            may_be_string = [self._may_be_string(part["allOf"][0]) for part in parts]
            beside = beside_string or ("string" in kinds and any(may_be_string))
            return choice([self.value(part, path, kinds, beside_string=beside) for part in parts])
        options: list[Form] = []
        if (listed := listed_values(merged)) is not None:
            strings = [value for value in listed if isinstance(value, str)]
            options += [Literal(value) for value in strings if "string" in kinds and self._may_stand(value)]
            if len(strings) < len(listed):
                others = {**merged, "enum": [value for value in listed if not isinstance(value, str)]}
                others.pop("const", None)
                for words in dict.fromkeys([self._json, self._words]):
                    options.append(words.value(others, path, kinds - {"string"}))
            return choice(options)
        declared = merged.get("type")
        is_string = "string" in declared if declared is not None else not merged.keys() & {"properties", "items"}
        if "string" in kinds and is_string:
            options.append(self._string(merged, path))
        # beside a string, only JSON's own words are read as other values
        scalars = self._json if options or beside_string else self._words
        options.append(scalars.value(merged, path, kinds & {"integer", "number", "boolean", "null"}))
        for nested in dict.fromkeys([self._json, self._python]):
            options.append(nested.value(merged, path, kinds & {"object", "array"}))
        return choice(options)

    def _may_be_string(self, schema: Any) -> bool:
        if not isinstance(schema, dict):
            return schema is True
        return "string" in merged_schema(schema, self._root).get("type", "string")

    def _may_stand(self, text: str) -> bool:
        return text.strip() == text and text_automaton(self._text).reads(text)

    def _string(self, schema: dict[str, Any], path: str) -> Form:
        if isinstance(plain := schema.get("pattern"), PlainPattern):
            return Pattern(plain)
        low, high, patterns = string_limits(schema)
        edge = EDGE if low or high is not None or patterns else ""
        for text in (self._text, replace(self._text, patterns=())):
            bound = replace(text, begins=edge, ends=edge, low=low, high=high, patterns=(*text.patterns, *patterns))
            try:
                return bound if any(text_automaton(bound).accepts) else NOTHING
            except ValueError:
                continue
        self._warn(f"{path}: the pattern or the length of the string is not enforced")
        return self._text
