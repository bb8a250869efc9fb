"""The form of the values that a JSON schema admits, in a style."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

from outspoken.results.schemas.schema import KINDS, referred

from . import schema_parts
from .automata import complement, intersection, matching
from .dfa_patterns import dfa_pattern
from .forms import EMPTY, NOTHING, Form, Grammar, Literal, Pattern, Repeat, Rule, choice, optional, seq
from .free_text import text_automaton
from .number_ranges import integer_pattern, number_pattern
from .plain_patterns import escape
from .styles import INTEGER, NUMBER, Style

#: Objects and lists without a schema of their own nest no deeper.
_ANY_DEPTH = 4
#: Keys that no schema names.
_KEY = "[a-zA-Z_][a-zA-Z0-9_]{0,30}"
_SCALARS: dict[str, dict[str, Any]] = {kind: {"type": kind} for kind in ("string", "number", "boolean", "null")}


class SchemaForms:
    """Builds forms. `root` is the schema that references point into; recursive ones become rules of the grammar."""

    def __init__(self, style: Style, grammar: Grammar, root: Any, warn: Callable[[str], None]) -> None:
        self._style, self._grammar, self._root, self._warn = style, grammar, root, warn
        self._references: dict[str, Rule] = {}
        #: how many brackets are open; the arguments as a whole count as one
        self._depth = self._least_depth = 0
        self._anything: list[Rule] = []

    def value(self, schema: Any, path: str = "", kinds: frozenset[str] = schema_parts.TYPES) -> Form:
        """The form of a value. Only values of the JSON types `kinds` count."""
        if schema is False:
            return NOTHING
        if not isinstance(schema, dict):
            return self._any(kinds)
        return self._of(cast("dict[str, Any]", schema), path, kinds)

    def _of(self, schema: dict[str, Any], path: str, kinds: frozenset[str]) -> Form:
        if isinstance(ref := schema.get("$ref"), str):
            return self._referred(ref, schema, path, kinds)
        merged = schema_parts.merged_schema(schema, self._root)
        for keyword in schema_parts.unenforced(merged):
            self._warn(f"{path or 'the arguments'}: `{keyword}` is not enforced")
        if (values := schema_parts.listed_values(merged)) is not None:
            return self._listed(values, merged, kinds)
        if (options := schema_parts.alternatives(merged)) is not None:
            parts = [schema_parts.merged_schema(option, self._root) for option in options]
            return choice([self.value(part, path, kinds) for part in parts])
        return choice([self._of_kind(kind, merged, path) for kind in self._kinds(merged, kinds)])

    def _kinds(self, schema: dict[str, Any], kinds: frozenset[str]) -> list[str]:
        declared: Any = schema.get("type")
        listed: list[str] = [declared] if isinstance(declared, str) else declared or _implied(schema)
        if schema.get("nullable") is True and "null" not in listed:
            listed = [*listed, "null"]
        return [kind for kind in listed if kind in kinds or (kind == "integer" and "number" in kinds)]

    def _referred(self, ref: str, schema: dict[str, Any], path: str, kinds: frozenset[str]) -> Form:
        others = {key: inner for key, inner in schema.items() if key != "$ref"}
        if others.keys() - {"description", "title", "default", "examples"}:
            return self._of({**others, "allOf": [referred(ref, self._root), *others.get("allOf", [])]}, path, kinds)
        if kinds != schema_parts.TYPES:
            return self.value(referred(ref, self._root), path, kinds)
        if ref not in self._references:
            name = ref.rpartition("/")[2] or "root"
            rule = self._references[ref] = self._grammar.rule(f"ref_{name}", NOTHING)
            depth, self._depth = self._depth, self._least_depth
            self._grammar.rules[rule.name] = self.value(referred(ref, self._root), path)
            self._depth = depth
        return self._references[ref]

    def _listed(self, values: list[Any], schema: dict[str, Any], kinds: frozenset[str]) -> Form:
        """One of the values that a schema lists."""
        declared = set(self._kinds(schema, schema_parts.TYPES)) if "type" in schema else schema_parts.TYPES
        fitting = [v for v in values if _kind(v) in declared or (_kind(v) == "integer" and "number" in declared)]
        return choice([self._style.value(v) for v in fitting if _kind(v) in kinds or _kind(v) == "integer" in kinds])

    def _of_kind(self, kind: str, schema: dict[str, Any], path: str) -> Form:
        if kind == "object":
            return self.object(schema, path)
        if kind == "array":
            return self.array(schema, path)
        if kind == "string":
            return self._string(schema, path)
        if kind == "integer":
            return self._number(schema, path, integer_pattern, INTEGER)
        if kind == "number":
            return self._number(schema, path, number_pattern, NUMBER)
        if kind == "boolean":
            return choice([Literal(self._style.true), Literal(self._style.false)])
        return Literal(self._style.null)

    def _number(
        self, schema: dict[str, Any], path: str, ranged: Callable[[dict[str, Any]], str | None], any_number: str
    ) -> Form:
        pattern = ranged(schema)
        if pattern is None:
            self._warn(f"{path}: the range of the number is not enforced")
            pattern = any_number
        return NOTHING if not pattern else Pattern(pattern)

    # strings

    def _string(self, schema: dict[str, Any], path: str) -> Form:
        if isinstance(plain := schema.get("pattern"), schema_parts.PlainPattern):
            return self._style.string_of(plain)
        style, (low, high, patterns) = self._style, schema_parts.string_limits(schema)
        if not patterns:
            return style.string(low, high)
        if style.has_formats and not isinstance(schema.get("pattern"), str) and not low and high is None:
            return style.string_of(patterns[0])
        text = replace(style.text, low=low, high=high, patterns=(*style.text.patterns, *patterns))
        try:
            return style.quoted(text) if any(text_automaton(text).accepts) else NOTHING
        except ValueError:
            self._warn(f"{path}: the pattern of the string is not enforced")
            return style.string(low, high)

    # objects and lists

    def whole(self, schema: dict[str, Any]) -> Form:
        """The arguments of a call as one object."""
        self._depth = self._least_depth = 1
        return self.object(schema, "")

    def object(self, schema: dict[str, Any], path: str) -> Form:
        """An object: the properties in the order of the schema, then others, if the schema says that there are any."""
        required, listed = schema_parts.required_keys(schema), schema_parts.listed_properties(schema)
        style = self._style
        if any(listed[key] is False for key in required):
            return NOTHING
        gap = self._gap(is_inner=not path)
        self._depth += 1
        entries = [
            (seq(style.key(key), style.colon, self.value(inner, f"{path}.{key}" if path else key)), key in required)
            for key, inner in listed.items()
            if inner is not False
        ]
        others = self._others(schema, listed, path)
        self._depth -= 1
        return self._within(style.braces, gap, self._entries(entries, others))

    def _gap(self, *, is_inner: bool) -> Form:
        """White space behind the first bracket of an object or a list, which shows what an argument is."""
        return self._style.gap if self._depth or is_inner else self._style.first_gap

    def _within(self, brackets: tuple[str, str], gap: Form, body: Form) -> Form:
        return seq(Literal(brackets[0]), gap, body, self._style.gap, Literal(brackets[1]))

    def _others(self, schema: dict[str, Any], listed: Iterable[str], path: str) -> Form:
        """An entry with a key that is not listed; NOTHING if there is none."""
        more = schema_parts.other_properties(schema)
        if more is False:
            return NOTHING
        known = "|".join([f"(?:{escape(key)})" for key in listed])
        free = dfa_pattern(intersection(matching(_KEY), complement(matching(known)))) if known else _KEY
        names = self._style.string_of(free)
        return seq(names, self._style.colon, self.value(more, f"{path}.*"))

    def _entries(self, entries: list[tuple[Form, bool]], others: Form) -> Form:
        """Entries in order, with separators between those that are there."""
        separator = self._style.separator
        rest: Form = EMPTY if others == NOTHING else Repeat(seq(separator, others))
        options: list[Form] = []
        for number, (form, required) in reversed(list(enumerate(entries))):
            options = [] if required else options
            options.append(seq(form, rest))
            more = seq(separator, form)
            rest = seq(more if required else optional(more), rest)
            if number % 8 == 7:
                rest = self._grammar.rule("entries", rest)
        if not any(required for _, required in entries):
            options.insert(0, EMPTY)
            if others != NOTHING:
                options.insert(1, seq(others, Repeat(seq(separator, others))))
        return choice(reversed(options))

    def array(self, schema: dict[str, Any], path: str) -> Form:
        """A list."""
        prefix: list[Any] = schema.get("prefixItems") or (
            schema["items"] if isinstance(schema.get("items"), list) else []
        )
        items: Any = schema.get("items", True)
        if isinstance(items, list):
            items = schema.get("additionalItems", True)
        low, high = int(schema.get("minItems", 0)), schema.get("maxItems")
        high = None if high is None else int(high)
        gap = self._gap(is_inner=not path)
        self._depth += 1
        first = [self.value(part, f"{path}[{number}]") for number, part in enumerate(prefix)]
        item = self.value(items, f"{path}[]")
        self._depth -= 1
        if item == NOTHING:
            high = len(first) if high is None else min(high, len(first))
        return self._within(self._style.brackets, gap, self._items(first, item, low, high))

    def _items(self, first: list[Form], item: Form, low: int, high: int | None) -> Form:
        separator = self._style.separator
        if high is not None and (high < low or high == 0):
            return EMPTY if high == 0 and low == 0 else NOTHING
        first = first[:high]
        written = max(len(first), 1)
        rest: Form = EMPTY
        if high != len(first):
            rest = Repeat(seq(separator, item), max(low - written, 0), None if high is None else high - written)
        for number in range(len(first) - 1, 0, -1):
            more = seq(separator, first[number], rest)
            rest = more if number < low else optional(more)
        whole = seq(first[0] if first else item, rest)
        return whole if low else optional(whole)

    # anything

    def _any(self, kinds: frozenset[str]) -> Form:
        """Any JSON of some types, to a certain depth."""
        scalars = [self._of_kind(kind, {}, "") for kind in _SCALARS if kind in kinds]
        nested = [kind for kind in ("object", "array") if kind in kinds]
        return choice([*scalars, *[self._nested(kind, 0) for kind in nested]])

    def _nested(self, kind: str, depth: int) -> Form:
        style, entry, brackets = self._style, self._anything_below(depth), self._style.brackets
        if kind == "object":
            entry, brackets = seq(style.string_of(_KEY), style.colon, entry), style.braces
        body = optional(seq(entry, Repeat(seq(style.separator, entry))))
        return self._within(brackets, self._gap(is_inner=depth > 0), body)

    def _anything_below(self, depth: int) -> Form:
        while len(self._anything) <= _ANY_DEPTH:
            self._anything.append(self._grammar.rule(f"any{len(self._anything)}", NOTHING))
            number = len(self._anything) - 1
            scalars = [self._of_kind(kind, {}, "") for kind in _SCALARS]
            below = [self._nested(kind, number + 1) for kind in ("object", "array")] if number < _ANY_DEPTH else []
            self._grammar.rules[self._anything[number].name] = choice([*scalars, *below])
        return self._anything[depth]


def _kind(value: Any) -> str:
    return next((kind for made, kind in KINDS.items() if isinstance(value, made)), "object")


def _implied(schema: dict[str, Any]) -> list[str]:
    """The types that a schema without `type` is about; all if it does not say."""
    if schema.keys() & {"properties", "required", "additionalProperties"}:
        return ["object"]
    if schema.keys() & {"items", "prefixItems", "minItems", "maxItems"}:
        return ["array"]
    if schema.keys() & {"pattern", "minLength", "maxLength", "format"}:
        return ["string"]
    return ["string", "number", "boolean", "null", "object", "array"]
