"""The form of one call: each tool's name tied to its own schema, in the notation of the format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.notations.coerce import to_json
from outspoken.notations.tagged import TaggedNotation
from outspoken.notations.tools import Tools
from outspoken.patterns.spellings import without_conditions

from .bare_values import BareForms
from .forms import EMPTY, NOTHING, Form, FreeText, Grammar, Literal, Pattern, Repeat, choice, optional, seq
from .free_text import BareText, bare_text
from .plain_patterns import escape, plain_pattern
from .schema_forms import SchemaForms
from .schema_parts import TYPES, checked, listed_properties, merged_schema, other_properties, required_keys
from .skeleton import Hole, Skeleton
from .styles import BracedStyle, PythonStyle, Style

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


class TaggedForms:
    """Builds forms of tagged objects. A list is an element `item` for each item."""

    def __init__(self, prefix: str, grammar: Grammar, root: Any, warn: Callable[[str], None]) -> None:
        self._prefix, self._root = prefix, root
        held = FreeText((escape(prefix[:1]) if prefix else "<",))
        self._bare = BareForms(BareText(held, held), "json", grammar, root, warn)
        self._depth = 0

    def object(self, schema: dict[str, Any], path: str) -> Form:
        """The elements of an object, in the order of the schema."""
        required = required_keys(schema)
        found: Form = EMPTY
        for key, inner in listed_properties(schema).items():
            form = self._element(key, inner, f"{path}.{key}" if path else key)
            found = seq(found, form if key in required else optional(form))
        return found

    def _some(self, schema: dict[str, Any], path: str) -> Form:
        """The elements of an object that has at least one: without any, it would be a text."""
        if required_keys(schema):
            return self.object(schema, path)
        elements = [self._element(key, inner, f"{path}.{key}") for key, inner in listed_properties(schema).items()]
        return choice([seq(one, *map(optional, elements[at + 1 :])) for at, one in enumerate(elements)])

    def _element(self, name: str, schema: Any, path: str) -> Form:
        value = self.value(schema, path)
        return seq(Literal(f"{self._prefix}<{name}>"), value, Literal(f"{self._prefix}</{name}>"))

    def value(self, schema: Any, path: str, kinds: frozenset[str] = TYPES) -> Form:
        """The text or the elements of an element."""
        merged = merged_schema(schema, self._root)
        if self._depth > 8:
            return NOTHING
        self._depth += 1
        options = [self._bare.value(schema, path, kinds & _SCALARS)]
        declared = merged.get("type", [])
        listed = [declared] if isinstance(declared, str) else declared
        if "object" in listed:
            options.append(self._some(merged, path))
        if "array" in listed:
            item = self._element("item", merged.get("items", True), f"{path}[]")
            options.append(Repeat(item, max(int(merged.get("minItems", 0)), 1), merged.get("maxItems")))
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
                calls = _Call(self, name).from_hole(entry, (0, True))
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

    def number(self, hole: Hole) -> Form:
        """An id or an index of a call."""
        terminal = self.terminal(hole)
        if terminal.short == "JSON_STRING":
            return Pattern('"[a-zA-Z0-9_-]{1,40}"')
        if hole.role != "index":
            return Pattern(plain_pattern(terminal.regex))
        has_zero = re.fullmatch(without_conditions(terminal.regex), "0") is not None
        return Pattern("0|[1-9][0-9]?" if has_zero else "[1-9][0-9]?")

    def forms(self, hole: Hole, root: Any, name: str) -> SchemaForms | BareForms | TaggedForms:
        """What builds the forms of a hole's values."""
        terminal = self.terminal(hole)

        def warn(message: str) -> None:
            self.grammar.warn(f"{name}: {message}")

        short = terminal.short
        if short == "ARG_VALUE":
            text = bare_text(self._automaton, self.skeleton.configs[hole], is_action=self._tools is None)
            return BareForms(text, self._automaton.tables.header.written, self.grammar, root, warn)
        if short == "TAGGED_OBJECT":
            return TaggedForms(TaggedNotation(terminal.canonical).mark, self.grammar, root, warn)
        style: Style = Style()
        if short == "PYTHON_VALUE":
            style = PythonStyle()
        elif short == "BRACED_OBJECT":
            style = BracedStyle(terminal.canonical)
        return SchemaForms(style, self.grammar, root, warn)


#: How far the arguments are written: the number of the next one, and whether one of those is there that must be.
Progress: TypeAlias = tuple[int, bool]


class Arguments:
    """Builds what a call or an action holds from one of its holes on, by the last hole."""

    def __init__(self, grammar: Grammar, inner: Mapping[Hole, Mapping[Hole, str]]) -> None:
        self.grammar, self.inner = grammar, inner
        self._known: dict[tuple[Hole, Progress], dict[Hole, Form]] = {}

    def written(self, hole: Hole, at: Progress) -> Iterator[tuple[Form, Hole, Progress]]:
        """What may be written in a hole: its form, the last hole of it, and how far the arguments are written then."""
        raise NotImplementedError

    def end(self, hole: Hole, at: Progress) -> Form:
        """What ends it behind a hole; NOTHING if it may not end there."""
        raise NotImplementedError

    def is_shared(self, hole: Hole, at: Progress) -> bool:
        """Does what follows a hole become a rule?"""
        raise NotImplementedError

    def from_hole(self, hole: Hole, at: Progress) -> dict[Hole, Form]:
        """All of it from a hole on."""
        found: dict[Hole, list[Form]] = {}
        self._step(hole, "", at, found)
        return {last: choice(options) for last, options in found.items()}

    def _step(self, hole: Hole, literal: str, at: Progress, found: dict[Hole, list[Form]]) -> None:
        """Add what a hole holds, behind a literal, and what follows it."""
        for form, last, after in self.written(hole, at):
            for end, rest in self._behind(last, after).items():
                found.setdefault(end, []).append(seq(Literal(literal), form, rest))

    def _behind(self, hole: Hole, at: Progress) -> dict[Hole, Form]:
        """What may follow a hole."""
        if (hole, at) not in self._known:
            by_hole: dict[Hole, list[Form]] = {}
            if (end := self.end(hole, at)) != NOTHING:
                by_hole[hole] = [end]
            for target, literal in self.inner.get(hole, {}).items():
                if target.role != "value" or hole.role != "key":
                    self._step(target, literal, at, by_hole)
            joined: dict[Hole, Form] = {last: choice(options) for last, options in by_hole.items()}
            if self.is_shared(hole, at):
                joined = {last: self.grammar.rule("rest", form) for last, form in joined.items()}
            self._known[hole, at] = joined
        return self._known[hole, at]


class _Call(Arguments):
    """The calls of one tool."""

    def __init__(self, calls: CallForms, name: str) -> None:
        super().__init__(calls.grammar, calls.skeleton.inner)
        self._calls, self._name = calls, name
        self._root = calls.schema(name)
        self._schema = merged_schema(self._root, self._root)
        self._required = required_keys(self._schema)
        listed = listed_properties(self._schema).items()
        self._properties = [(key, value) for key, value in listed if value is not False or key in self._required]

    def end(self, hole: Hole, at: Progress) -> Form:
        is_left = any(key in self._required for key, _ in self._properties[at[0] :])
        may_end = self._calls.skeleton.outer.get(hole) and (hole.role == "arguments" or not is_left)
        return Literal(self._calls.end_of(hole)) if may_end else NOTHING

    def is_shared(self, hole: Hole, at: Progress) -> bool:
        return hole.role == "value" and len(self._properties) - at[0] > 1

    def written(self, hole: Hole, at: Progress) -> Iterator[tuple[Form, Hole, Progress]]:
        if hole.role == "key":
            yield from self._pairs(hole, at[0])
        elif (form := self._own(hole)) != NOTHING:
            yield form, hole, at

    def _own(self, hole: Hole) -> Form:
        """What stands in a hole that is no value."""
        terminal = self._calls.terminal(hole)
        if hole.role == "name":
            if terminal.short == "JSON_STRING":
                return Literal(to_json(self._name))
            if re.fullmatch(without_conditions(terminal.regex), self._name):
                return Literal(self._name)
            self.grammar.warn(f"{self._name}: {_UNWRITABLE}")
            return NOTHING
        if hole.role in ("id", "index"):
            return self._calls.number(hole)
        if hole.role == "arguments":
            forms = self._calls.forms(hole, self._root, self._name)
            if isinstance(forms, BareForms):
                return NOTHING
            if isinstance(forms, SchemaForms) and other_properties(self._schema) is not False:
                self.grammar.warn(f"{self._name}: the arguments: that each has another name is not enforced")
            form = forms.whole(self._schema) if isinstance(forms, SchemaForms) else forms.object(self._schema, "")
            is_rule = terminal.short in JSON_FIRST and form != NOTHING
            return self.grammar.rule("arguments", form) if is_rule else form
        return EMPTY

    def _pairs(self, hole: Hole, number: int) -> Iterator[tuple[Form, Hole, Progress]]:
        """One of the next properties with its value."""
        name = re.compile(without_conditions(self._calls.terminal(hole).regex))
        for at, (key, schema) in enumerate(self._properties[number:], number + 1):
            is_writable = name.fullmatch(key) is not None
            if not is_writable:
                self.grammar.warn(f"{self._name}: {key}: {_UNWRITABLE}")
            for target, between in self.inner.get(hole, {}).items() if is_writable else ():
                if target.role == "value" and (value := self._value(target, schema, key)) != NOTHING:
                    yield seq(Literal(key + between), value), target, (at, True)
            if key in self._required:
                break

    def _value(self, hole: Hole, schema: Any, key: str) -> Form:
        kinds = self._calls.skeleton.kinds.get(hole, set())
        types = TYPES & ({*kinds, "boolean"} if {"true", "false"} <= kinds else kinds)
        return self._calls.forms(hole, self._root, self._name).value(schema, key, types)
