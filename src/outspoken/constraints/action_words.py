"""The ways in which a format writes its actions: each word with its arguments, from the header's mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from outspoken.actions.decoding import build_action
from outspoken.actions.mapping import PARTS, ActionMapping, Condition, MappingRule, mapping_of
from outspoken.grammar.header import Header
from outspoken.notations.tools import Tools
from outspoken.results.actions.base import BaseAction, ElementRef
from outspoken.results.geometry import Screen

from .action_schemas import Argument, FieldSchemas, example, path_example
from .automata import complement, matching
from .dfa_patterns import dfa_pattern
from .plain_patterns import escape

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Group:
    """The arguments of one field, or of several that are parts of one object, which are written together.

    There are no fields if a condition asks for the arguments.
    """

    fields: tuple[str, ...]
    arguments: tuple[Argument, ...]
    required: bool

    @property
    def field(self) -> str:
        """The first field; "" if a condition asks for the arguments."""
        return self.fields[0] if self.fields else ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the arguments of the action, without those inside of objects."""
        return tuple(dict.fromkeys([argument.path[0] for argument in self.arguments]))


@dataclass(frozen=True)
class Usage:
    """A line of the mapping with one of its words: the type of the action, its name, and its arguments.

    `word` is what a caller calls it: the name, or the value of the argument that names the action.
    """

    rule: MappingRule = field(compare=False)
    word: str
    name: str
    groups: tuple[Group, ...]

    @property
    def type(self) -> str:
        """The `type` of the action's model."""
        return self.rule.type

    def sample(self, header: Header, fields: Iterable[str], *, negative: bool = False) -> BaseAction | None:
        """An action with these fields, and the constants of the line; None if a field has no example."""
        values: dict[str, Any] = dict(self.rule.constants)
        for name in fields:
            if self.rule.is_path(name):
                values |= {key: one for key, one in path_example(header).items() if key not in values}
                continue
            value = example(self.rule, name, header)
            if value is None:
                return None
            is_number = negative and isinstance(value, (int, float)) and not isinstance(value, bool)
            values[name] = -value if is_number else value
        plain: dict[str, Any] = {}
        elements: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            outer, _, part = name.partition(".")
            if part:
                elements.setdefault(outer, {})[part] = value
            else:
                plain[name] = value
        found = {key: ElementRef.of(parts) for key, parts in elements.items()}
        return build_action(self.rule.model, {**plain, **found, "name": self.word})


def usages(header: Header, screen: Screen | None = None) -> list[Usage]:
    """All usages of the words of a format, except those of actions that hold other actions."""
    mapping = mapping_of(header)
    if mapping is None:
        return []
    schemas = FieldSchemas(header, screen)
    return [usage for rule in mapping.rules for usage in _usages(mapping, rule, schemas)]


def nested_words(header: Header) -> tuple[str, ...]:
    """The words of actions that hold other actions."""
    mapping = mapping_of(header)
    rules = mapping.rules if mapping is not None else ()
    return tuple([name or rule.type for rule in rules if rule.type == "batch" for name in rule.names])


def acting_tools(header: Header, tools: Tools | None) -> frozenset[str]:
    """The names of given tools whose calls are actions of the format."""
    mapping = mapping_of(header)
    if mapping is None or tools is None:
        return frozenset()
    return frozenset([name for name in tools.names if mapping.is_name(name) and not mapping.is_taken(name, tools)])


def _usages(mapping: ActionMapping, rule: MappingRule, schemas: FieldSchemas) -> Iterator[Usage]:
    if rule.type == "batch" or any((PARTS,) in origin.sources for origin in rule.origins.values()):
        return
    groups = [*_conditions(rule), *_fields(rule, schemas)]
    for name in rule.names:
        naming = rule.conditions[0] if rule.conditions and rule.conditions[0].words else None
        if name or naming is None:
            yield Usage(rule, name, name, tuple(groups))
            continue
        for word in naming.words:
            own = Group((), (Argument((naming.keys[0],), {"enum": [word]}, True),), True)
            yield Usage(rule, word, name, (own, *[group for group in groups if group.keys != own.keys]))


def _conditions(rule: MappingRule) -> Iterator[Group]:
    """The arguments whose values the conditions of a line name."""
    written = {source[0] for origin in rule.origins.values() for source in origin.sources}
    for condition in rule.conditions:
        if condition.expected and condition.words and condition.keys[0] not in written:
            words = [_BOOLEANS.get(word, word) for word in condition.words]
            yield Group((), (Argument(tuple(condition.keys[0].split(".")), {"enum": words}, True),), True)


def _fields(rule: MappingRule, schemas: FieldSchemas) -> Iterator[Group]:
    """The arguments of the fields, as the conditions of the line limit them. Fields that are in one object are one."""
    found: dict[str, Group] = {}
    for name, origin in rule.origins.items():
        arguments = schemas.arguments(rule, name, origin)
        required = arguments[0].required
        for condition in rule.conditions:
            keys = {".".join(argument.path) for argument in arguments} & {*condition.keys}
            if keys and condition.expected and condition.below is None:
                required = True
            arguments = [_limited(argument, condition) for argument in arguments]
        if any(argument.schema == {"enum": []} for argument in arguments):
            continue
        key = arguments[0].path[0]
        if key in found and len(arguments[0].path) > 1:
            known = found[key]
            found[key] = replace(
                known,
                fields=(*known.fields, name),
                arguments=(*known.arguments, *arguments),
                required=known.required or required,
            )
        else:
            found[key] = Group((name,), tuple(arguments), required)
    yield from found.values()


def _limited(argument: Argument, condition: Condition) -> Argument:
    """An argument with what a condition says of its value."""
    if ".".join(argument.path) not in condition.keys:
        return argument
    schema: dict[str, Any] = argument.schema
    if condition.below is not None:
        schema = {**schema, "exclusiveMaximum": condition.below}
    elif condition.words and condition.expected:
        schema = {"enum": [_BOOLEANS.get(word, word) for word in condition.words]}
    elif condition.words and schema.get("type") == "string" and "pattern" not in schema:
        others = "|".join([escape(word) for word in condition.words])
        schema = {**schema, "pattern": f"^{dfa_pattern(complement(matching(others)))}$"}
    elif not condition.words and not condition.expected:
        schema = {"enum": []}
    return argument._replace(schema=schema)
