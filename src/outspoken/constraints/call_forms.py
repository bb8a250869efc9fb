"""The form of one call: each tool's name tied to its own schema, in the notation of the format."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.notations.coerce import to_json
from outspoken.notations.tagged import TaggedNotation
from outspoken.notations.tools import Tools
from outspoken.patterns.spellings import without_conditions

from .bare_values import BareForms
from .forms import EMPTY, NOTHING, Form, Grammar, Literal, Pattern, Repeat, choice, optional, seq
from .free_text import excluded_patterns
from .plain_patterns import escape, plain_pattern
from .schema_forms import SchemaForms
from .schema_parts import TYPES, checked, merged_schema, other_properties, required_keys
from .skeleton import Hole, Skeleton
from .styles import BracedStyle, PythonStyle, Style

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


_ANYTHING: dict[str, Any] = {"type": "object"}
#: A tool whose schema has only these keywords takes no arguments.
_ABOUT_NOTHING = frozenset({"type", "description", "title", "$schema", "strict", "required"})
_UNWRITABLE = "the format cannot write this name"


class CallForms:
    """Builds the forms of calls, from the hole that a call begins with to the last one of it."""

    def __init__(
        self,
        skeleton: Skeleton,
        automaton: Automaton,
        tools: Tools | None,
        grammar: Grammar,
        end_of: Callable[[Hole], str],
    ) -> None:
        self.skeleton, self._automaton, self.grammar = skeleton, automaton, grammar
        self.end_of = end_of
        self._tools = tools
        self._known: dict[Hole, dict[Hole, Form]] = {}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._by_tool: dict[str, list[Form]] = {}

    def calls(self, entry: Hole) -> dict[Hole, Form]:
        """The calls of all tools that begin with a hole, by the last hole."""
        if entry not in self._known:
            found: dict[Hole, list[Form]] = {}
            for name in self._tools.names if self._tools is not None else ():
                calls = _Call(self, name).from_hole(entry)
                self._by_tool.setdefault(name, []).extend(calls.values())
                for last, form in calls.items():
                    found.setdefault(last, []).append(form)
            self._known[entry] = {last: self.grammar.rule("call", choice(options)) for last, options in found.items()}
        return self._known[entry]

    def schema(self, name: str) -> dict[str, Any]:
        """The schema of a tool's arguments."""
        assert self._tools is not None
        if name not in self._schemas:
            given = self._tools.schema(name) or _ANYTHING
            if given.keys() <= _ABOUT_NOTHING:
                given = {**given, "additionalProperties": False}  # as the interfaces of providers define it
            self._schemas[name] = checked(given, lambda message: self.grammar.warn(f"{name}: {message}"))
        return self._schemas[name]

    def warn_of_uncallable(self) -> None:
        """Warn of each tool of which no call can be written."""
        for name, forms in self._by_tool.items():
            if not self.grammar.has_texts(forms) and f"{name}: {_UNWRITABLE}" not in self.grammar.warnings:
                self.grammar.warn(f"{name}: it cannot be called: there are no arguments that fit its schema")

    def terminal(self, hole: Hole) -> Terminal:
        """The terminal of a hole."""
        return self.skeleton.terminals[hole.terminal]

    def excluded(self, hole: Hole) -> tuple[str, ...]:
        """What free text in a hole may not hold."""
        return excluded_patterns(self._automaton, self.skeleton.configs[hole], is_text=False, is_value=True)

    def forms(self, hole: Hole, root: Any, name: str) -> SchemaForms | BareForms | TaggedForms:
        """What builds the forms of a hole's values."""
        terminal = self.terminal(hole)

        def warn(message: str) -> None:
            self.grammar.warn(f"{name}: {message}")

        short = terminal.short
        if short == "ARG_VALUE":
            header = self._automaton.tables.header
            return BareForms(self.excluded(hole), header.written, self.grammar, root, warn)
        if short == "TAGGED_OBJECT":
            return TaggedForms(TaggedNotation(terminal.canonical).mark, self.grammar, root, warn)
        style: Style = Style()
        if short == "PYTHON_VALUE":
            style = PythonStyle()
        elif short == "BRACED_OBJECT":
            style = BracedStyle(terminal.canonical)
        return SchemaForms(style, self.grammar, root, warn)


class _Call:
    """The calls of one tool."""

    def __init__(self, calls: CallForms, name: str) -> None:
        self._calls, self._name = calls, name
        self._root = calls.schema(name)
        schema = merged_schema(self._root, self._root)
        self._schema = schema
        properties = cast("dict[str, Any]", schema.get("properties") or {})
        self._required = required_keys(schema)
        listed = {**properties, **{key: True for key in self._required if key not in properties}}
        self._properties = [
            (key, value) for key, value in listed.items() if value is not False or key in self._required
        ]
        self._known: dict[tuple[Hole, int], dict[Hole, Form]] = {}

    def from_hole(self, hole: Hole, number: int = 0) -> dict[Hole, Form]:
        """The rest of a call from a hole on, by the last hole; `number` is that of the next property."""
        own = self._own(hole)
        if own == NOTHING:
            return {}
        return {last: seq(own, form) for last, form in self._behind(hole, number).items()}

    def _own(self, hole: Hole) -> Form:
        """What stands in a hole that is no value."""
        terminal = self._calls.terminal(hole)
        if hole.role == "name":
            if terminal.short == "JSON_STRING":
                return Literal(to_json(self._name))
            if re.fullmatch(without_conditions(terminal.regex), self._name):
                return Literal(self._name)
            self._calls.grammar.warn(f"{self._name}: {_UNWRITABLE}")
            return NOTHING
        if hole.role in ("id", "index"):
            if terminal.short == "JSON_STRING":
                return Pattern('"[a-zA-Z0-9_-]{1,40}"')
            if hole.role == "index":
                has_zero = re.fullmatch(without_conditions(terminal.regex), "0") is not None
                return Pattern("0|[1-9][0-9]?" if has_zero else "[1-9][0-9]?")
            return Pattern(plain_pattern(terminal.regex))
        if hole.role == "arguments":
            forms = self._calls.forms(hole, self._root, self._name)
            if isinstance(forms, BareForms):
                return NOTHING
            if isinstance(forms, SchemaForms) and other_properties(self._schema) is not False:
                self._calls.grammar.warn(f"{self._name}: the arguments: that each has another name is not enforced")
            form = forms.whole(self._schema) if isinstance(forms, SchemaForms) else forms.object(self._schema, "")
            is_rule = terminal.short in JSON_FIRST and form != NOTHING
            return self._calls.grammar.rule("arguments", form) if is_rule else form
        return EMPTY

    def _behind(self, hole: Hole, number: int) -> dict[Hole, Form]:
        """What may follow a hole within the call, by the last hole."""
        if (hole, number) in self._known:
            return self._known[hole, number]
        skeleton = self._calls.skeleton
        found: dict[Hole, list[Form]] = {}
        is_complete = hole.role == "arguments" or not self._left(number)
        if is_complete and hole.role != "key" and skeleton.outer.get(hole):
            found.setdefault(hole, []).append(Literal(self._calls.end_of(hole)))
        for target, literal in skeleton.inner.get(hole, {}).items():
            if target.role == "key":
                self._keys(target, literal, number, found)
            elif hole.role != "key":
                for last, form in self.from_hole(target, number).items():
                    found.setdefault(last, []).append(seq(Literal(literal), form))
        grammar = self._calls.grammar
        joined: dict[Hole, Form] = {last: choice(options) for last, options in found.items()}
        if hole.role == "value" and len(self._properties) - number > 1:
            joined = {last: grammar.rule("rest", form) for last, form in joined.items()}
        self._known[hole, number] = joined
        return joined

    def _left(self, number: int) -> bool:
        """Is a required property left?"""
        return any(key in self._required for key, _ in self._properties[number:])

    def _keys(self, hole: Hole, literal: str, number: int, found: dict[Hole, list[Form]]) -> None:
        """Add the ways to go on with one of the next properties."""
        name = re.compile(without_conditions(self._calls.terminal(hole).regex))
        for at in range(number, len(self._properties)):
            key, schema = self._properties[at]
            if name.fullmatch(key) is None:
                self._calls.grammar.warn(f"{self._name}: {key}: {_UNWRITABLE}")
                if key in self._required:
                    break
                continue
            for target, between in self._calls.skeleton.inner.get(hole, {}).items():
                if target.role != "value":
                    continue
                value = self._value(target, schema, key)
                if value == NOTHING:
                    continue
                for last, form in self._behind(target, at + 1).items():
                    written = seq(Literal(literal + key + between), value, form)
                    found.setdefault(last, []).append(written)
            if key in self._required:
                break

    def _value(self, hole: Hole, schema: Any, key: str) -> Form:
        kinds = self._calls.skeleton.kinds.get(hole, set())
        types = TYPES & ({*kinds, "boolean"} if {"true", "false"} <= kinds else kinds)
        return self._calls.forms(hole, self._root, self._name).value(schema, key, types)
