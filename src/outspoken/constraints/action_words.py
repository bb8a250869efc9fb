"""The ways in which a format writes its actions: each word with its arguments, from the header's mapping."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from outspoken.actions.decoding import build_action, with_references
from outspoken.actions.fields import JSON_TEXT, SUBMIT, FieldType, field_type
from outspoken.actions.key_names import key_pattern
from outspoken.actions.mapping import PARTS, Condition, MappingRule, mapping_of
from outspoken.actions.rule_fields import FieldSource
from outspoken.grammar.header import Header
from outspoken.notations.tools import Tools
from outspoken.results.actions.base import BaseAction, ElementRef
from outspoken.results.geometry import Point, Screen

from .automata import complement, matching
from .dfa_patterns import dfa_pattern
from .number_ranges import number_pattern
from .plain_patterns import escape
from .schema_parts import PlainPattern

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

    header: Header = field(compare=False)
    rule: MappingRule = field(compare=False)
    word: str
    name: str
    groups: tuple[Group, ...]

    @property
    def type(self) -> str:
        """The `type` of the action's model."""
        return self.rule.type

    def fields(self, *, required: bool) -> list[str]:
        """The first fields of the groups that are required, or of the others."""
        return [group.field for group in self.groups if group.field and group.required == required]

    def with_fields(self, fields: Container[str]) -> Usage:
        """The usage with the groups of these fields only, and with what conditions ask for."""
        kept = [group for group in self.groups if not group.field or group.field in fields]
        return replace(self, groups=tuple(kept))

    def sample(self, fields: Iterable[str], *, negative: bool = False) -> BaseAction | None:
        """An action with these fields, and the constants of the line; None if a field has no example."""
        values: dict[str, Any] = dict(self.rule.constants)
        for name in fields:
            if self.rule.is_path(name):
                values = {**dict(zip(("start", "end"), _places(self.header), strict=True)), **values}
                continue
            value = example(self.rule, name, self.header)
            if value is None:
                return None
            is_number = negative and isinstance(value, (int, float)) and not isinstance(value, bool)
            values[name] = -value if is_number else value
        return build_action(self.rule.model, {**with_references(values), "name": self.word})


def usages(header: Header, screen: Screen | None = None) -> list[Usage]:
    """All usages of the words of a format, except those of actions that hold other actions."""
    mapping = mapping_of(header)
    if mapping is None:
        return []
    schemas = FieldSchemas(header, screen)
    return [usage for rule in mapping.rules for usage in _usages(header, rule, schemas)]


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


def _usages(header: Header, rule: MappingRule, schemas: FieldSchemas) -> Iterator[Usage]:
    if rule.type == "batch" or any((PARTS,) in origin.sources for origin in rule.origins.values()):
        return
    groups = [*_conditions(rule), *_fields(rule, schemas)]
    for name in rule.names:
        naming = rule.conditions[0] if rule.conditions and rule.conditions[0].words else None
        if name or naming is None:
            yield Usage(header, rule, name, name, tuple(groups))
            continue
        for word in naming.words:
            own = Group((), (Argument((naming.keys[0],), {"enum": [word]}, True),), True)
            yield Usage(header, rule, word, name, (own, *[group for group in groups if group.keys != own.keys]))


def _conditions(rule: MappingRule) -> Iterator[Group]:
    """The arguments whose values the conditions of a line name."""
    written = {source[0] for origin in rule.origins.values() for source in origin.sources}
    for condition in rule.conditions:
        if condition.expected and condition.words and condition.keys[0] not in written:
            words = [_BOOLEANS.get(word, word) for word in condition.words]
            yield Group((), (Argument(tuple(condition.keys[0].split(".")), {"enum": words}, True),), True)


def _fields(rule: MappingRule, schemas: FieldSchemas) -> Iterator[Group]:
    """The arguments of the fields, as the conditions of the line limit them. Fields that are in one object are one."""
    groups: dict[str, Group] = {}
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
        if key in groups and len(arguments[0].path) > 1:
            group = groups[key]
            groups[key] = replace(
                group,
                fields=(*group.fields, name),
                arguments=(*group.arguments, *arguments),
                required=group.required or required,
            )
        else:
            groups[key] = Group((name,), tuple(arguments), required)
    yield from groups.values()


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


#: All numbers are smaller, and all coordinates in pixels without a screen.
_FARTHEST = 100000
_KEY = f"(?:{key_pattern()})"
#: A web address with a public host, which Outspoken takes for one.
_WEB_URL = (
    r"https?://[a-z][a-z0-9-]{0,40}(?:\.[a-z][a-z0-9-]{0,40}){0,3}\.(?:[a-z]{2,3}|info|name|page|shop|site|tech|online)"
    r"(?:/[a-zA-Z0-9._~%+-]{0,60}){0,8}(?:\?[a-zA-Z0-9._~%+=&-]{0,200})?"
)
_NUMBER = {"type": "number", "exclusiveMinimum": -_FARTHEST, "exclusiveMaximum": _FARTHEST}
_STRING = {"type": "string"}
_WORDS: dict[str, Any] = {"type": "array", "items": {"type": "string", "pattern": PlainPattern(_KEY)}, "minItems": 1}
#: The name of an element in one word, without what should end it, or stands behind it.
_NAME = {"type": "string", "pattern": r"^[^\s\[\]`]*[^\s\[\]`.,:;]$"}
_ELEMENT = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
#: The schemas of fields by the name of what reads them.
_SCHEMAS: dict[str, dict[str, Any]] = {
    "key": {"type": "string", "pattern": PlainPattern(_KEY)}, "keys": _WORDS, "modifiers": _WORDS, "text": _STRING,
    "texts": {"type": "array", "items": _STRING, "minItems": 1}, "integer": {"type": "integer", "minimum": 0},
    "number": _NUMBER, "seconds": {"type": "number", "minimum": 0, "exclusiveMaximum": _FARTHEST},
    "boolean": {"type": "boolean"},
    "element": _ELEMENT, "object": {"type": "object"}, "identifier": _NAME,
    "entries": {"type": "array", "items": {"anyOf": [_STRING, {"type": "object"}]}, "minItems": 1},
}  # fmt: skip


class Argument(NamedTuple):
    """An argument: its path (`a`, `b` of `{"a": {"b": …}}`), its schema, and whether the reader asks for it."""

    path: tuple[str, ...]
    schema: dict[str, Any]
    required: bool


class FieldSchemas:
    """The arguments of fields in a format. Points lie on the screen, if it is given."""

    def __init__(self, header: Header, screen: Screen | None = None) -> None:
        self._header = header
        self._space = header.space
        try:
            self._extent = (screen or Screen(_FARTHEST, _FARTHEST)).extent(self._space)
        except ValueError:  # a label or a description
            self._extent = (0.0, 0.0)
        if screen is None and self._extent[0] > 1000:
            self._extent = (_FARTHEST, _FARTHEST)

    def arguments(self, rule: MappingRule, field: str, origin: FieldSource) -> list[Argument]:
        """The arguments that a field is written in: two for a point of which each has a number."""
        info = rule.model.model_fields.get(field)
        required = origin.required or (info is not None and info.is_required())
        source = origin.sources[0]
        if len(source) > 1:
            schemas = [_between(0, self._extent[at % 2]) for at in range(len(source))]
        else:
            schemas = [self._schema(rule, field, origin)]
        return [Argument(tuple(key.split(".")), schema, required) for key, schema in zip(source, schemas, strict=True)]

    def _schema(self, rule: MappingRule, field: str, origin: FieldSource) -> dict[str, Any]:
        if rule.is_path(field):
            return {"type": "array", "items": self._place(), "minItems": 1 if "start" in rule.origins else 2}
        kind = kind_of(rule, field)
        if kind.reader == "points":
            return {"type": "array", "items": self._place(), "minItems": 1}
        if kind.reader == "point":
            return {"mark": _NAME, "desc": _STRING | {"minLength": 1}}.get(self._space) or self._point()
        schema = {"enum": list(kind.words)} if kind.reader == "word" else _SCHEMAS[kind.reader]
        if field.partition(".")[2] in ("id", "mark"):
            schema = _NAME
        if field == "confidence":
            schema = _between(0, 1)
        return _converted(schema, origin.conversion)

    def _place(self) -> dict[str, Any]:
        """A point of a list."""
        x, y = self._axes()
        named = {"type": "object", "properties": {"x": x, "y": y}, "required": ["x", "y"]}
        return {"anyOf": [named, _tuple(x, y)]}

    def _axes(self) -> list[dict[str, Any]]:
        """The two coordinates of a point."""
        return [_between(0, edge) for edge in self._extent]

    def _point(self) -> dict[str, Any]:
        """A point or a box."""
        spelling = self._header.point
        if "{x}" in spelling:
            head, _, rest = spelling.partition("{x}")
            between, _, tail = rest.partition("{y}")
            x, y = [f"(?:{number_pattern(axis)})" for axis in self._axes()]
            two = f"{x}{escape(between)}{y}"
            return {
                "type": "string",
                "pattern": PlainPattern(f"{escape(head)}{two}(?:{escape(between)}{two})?{escape(tail)}"),
            }
        axes = self._axes()
        point = {"anyOf": [_tuple(*axes), _tuple(*axes, *axes)]}
        return _tuple(point) if spelling == "nested" else point


def kind_of(rule: MappingRule, field: str) -> FieldType:
    """How a field is read."""
    name, _, part = field.partition(".")
    return field_type(ElementRef, part) if part else field_type(rule.model, name)


def example(rule: MappingRule, field: str, header: Header) -> Any:
    """A value of a field that is not its default; None if there is none."""
    kind = kind_of(rule, field)
    place = _places(header)
    if kind.reader == "word":
        info = rule.model.model_fields[field.partition(".")[0]]
        return next((word for word in reversed(kind.words) if word != info.default), None)
    if kind.reader == "point" and header.space in ("mark", "desc"):
        return None
    examples: dict[str, Any] = {
        "point": place[0], "points": place, "key": "a", "keys": ["a"], "modifiers": ["ctrl"], "text": "ab",
        "texts": ["ab"], "integer": 2, "number": 3, "seconds": 2, "boolean": True, "identifier": "12",
        "entries": [{"k": 1}], "object": {"k": 1}, "element": ElementRef.of({"id": "12"}),
    }  # fmt: skip
    sample = examples.get(kind.reader)
    is_web = "web" in (rule.origins[field].conversion if field in rule.origins else "")
    return "https://a.com/b" if is_web else 0.5 if field == "confidence" else sample


def _places(header: Header) -> list[Point]:
    space = header.space
    numbers = [[0.25, 0.5], [0.75, 0.125]] if space == "unit" else [[12.0, 34.0], [56.0, 78.0]]
    return [Point.of(pair, space) for pair in numbers]


def _between(low: float, high: float) -> dict[str, Any]:
    return {"type": "number", "minimum": low, "exclusiveMaximum" if high == _FARTHEST else "maximum": high}


def _tuple(*parts: dict[str, Any]) -> dict[str, Any]:
    """The schema of a list with these items."""
    return {"type": "array", "prefixItems": list(parts), "items": False, "minItems": len(parts)}


def _converted(schema: dict[str, Any], conversion: str) -> dict[str, Any]:
    """The schema of a field that is written in another way."""
    if conversion in ("space", "plus"):
        between = " " if conversion == "space" else r"\+"
        return {"type": "string", "pattern": PlainPattern(f"{_KEY}(?:{between}{_KEY})*")}
    if conversion == "text":
        return {"type": "string", "pattern": PlainPattern(f"(?:{number_pattern(schema)})")}
    if conversion == "list":
        return {"type": "array", "items": schema, "minItems": 1, "maxItems": 1}
    if conversion == "web":
        return {"type": "string", "pattern": PlainPattern(_WEB_URL)}
    if conversion in (JSON_TEXT, SUBMIT):
        return _STRING
    return schema
