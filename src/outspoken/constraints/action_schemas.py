"""JSON schemas of the arguments in which a format writes the fields of actions, and an example of each field."""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.actions.fields import JSON_TEXT, SUBMIT, FieldType, field_type
from outspoken.actions.mapping import MappingRule
from outspoken.actions.rule_fields import FieldSource
from outspoken.grammar.header import Header
from outspoken.results.actions.base import ElementRef
from outspoken.results.geometry import Point, Screen

from .number_ranges import number_pattern
from .plain_patterns import escape
from .schema_parts import PlainPattern

#: All numbers are smaller, and all coordinates in pixels without a screen.
_FARTHEST = 100000
_KEY = "(?:[a-zA-Z0-9_]{1,20}|[-=./;,*])"
#: A web address with a public host, which Outspoken takes for one.
_WEB_URL = (
    r"https?://[a-z][a-z0-9-]{0,40}(?:\.[a-z][a-z0-9-]{0,40}){0,3}\.(?:[a-z]{2,3}|info|name|page|shop|site|tech|online)"
    r"(?:/[a-zA-Z0-9._~%+-]{0,60}){0,8}(?:\?[a-zA-Z0-9._~%+=&-]{0,200})?"
)
_NUMBER = {"type": "number", "exclusiveMinimum": -_FARTHEST, "exclusiveMaximum": _FARTHEST}
_STRING = {"type": "string"}
_WORDS: dict[str, Any] = {"type": "array", "items": {"type": "string", "pattern": PlainPattern(_KEY)}, "minItems": 1}
_ELEMENT = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
#: The schemas of fields by the name of what reads them.
_SCHEMAS: dict[str, dict[str, Any]] = {
    "key": {"type": "string", "pattern": PlainPattern(_KEY)}, "keys": _WORDS, "modifiers": _WORDS, "text": _STRING,
    "texts": {"type": "array", "items": _STRING, "minItems": 1}, "integer": {"type": "integer", "minimum": 0},
    "number": _NUMBER, "seconds": {"type": "number", "minimum": 0, "exclusiveMaximum": _FARTHEST},
    "boolean": {"type": "boolean"},
    "element": _ELEMENT, "object": {"type": "object"}, "identifier": {"type": "string", "minLength": 1},
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
        return [Argument(_path(key), schema, required) for key, schema in zip(source, schemas, strict=True)]

    def _schema(self, rule: MappingRule, field: str, origin: FieldSource) -> dict[str, Any]:
        if rule.is_path(field):
            return {"type": "array", "items": self._place(), "minItems": 1 if "start" in rule.origins else 2}
        kind = kind_of(rule, field)
        if kind.reader == "points":
            return {"type": "array", "items": self._place(), "minItems": 1}
        if kind.reader == "point":
            return _STRING | {"minLength": 1} if self._space in ("mark", "desc") else self._point()
        schema = {"enum": list(kind.words)} if kind.reader == "word" else _SCHEMAS[kind.reader]
        if field == "confidence":
            schema = _between(0, 1)
        return _converted(schema, origin.conversion)

    def _place(self) -> dict[str, Any]:
        """A point of a list."""
        x, y = [_between(0, edge) for edge in self._extent]
        listed = {"type": "array", "prefixItems": [x, y], "items": False, "minItems": 2}
        named = {"type": "object", "properties": {"x": x, "y": y}, "required": ["x", "y"]}
        return {"anyOf": [named, listed]}

    def _point(self) -> dict[str, Any]:
        """A point or a box."""
        spelling = self._header.point
        if "{x}" in spelling:
            head, _, rest = spelling.partition("{x}")
            between, _, tail = rest.partition("{y}")
            x, y = [f"(?:{number_pattern(_between(0, edge))})" for edge in self._extent]
            two = f"{x}{escape(between)}{y}"
            return {
                "type": "string",
                "pattern": PlainPattern(f"{escape(head)}{two}(?:{escape(between)}{two})?{escape(tail)}"),
            }
        x, y = [_between(0, edge) for edge in self._extent]
        options = [
            {"type": "array", "prefixItems": [x, y] * count, "items": False, "minItems": 2 * count} for count in (1, 2)
        ]
        point = {"anyOf": options}
        if spelling == "nested":
            return {"type": "array", "prefixItems": [point], "items": False, "minItems": 1}
        return point


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
    found = examples.get(kind.reader)
    is_web = "web" in (rule.origins[field].conversion if field in rule.origins else "")
    return "https://a.com/b" if is_web else 0.5 if field == "confidence" else found


def path_example(header: Header) -> dict[str, Any]:
    """The fields of a drag along a path."""
    first, last = _places(header)
    return {"start": first, "end": last}


def _places(header: Header) -> list[Point]:
    space = header.space
    numbers = [[0.25, 0.5], [0.75, 0.125]] if space == "unit" else [[12.0, 34.0], [56.0, 78.0]]
    return [Point.of(pair, space) for pair in numbers]


def _path(key: str) -> tuple[str, ...]:
    return tuple(key.split("."))


def _between(low: float, high: float) -> dict[str, Any]:
    return {"type": "number", "minimum": low, "exclusiveMaximum" if high == _FARTHEST else "maximum": high}


def _converted(schema: dict[str, Any], conversion: str) -> dict[str, Any]:
    """The schema of a field that is written in another way."""
    if conversion in ("space", "plus"):
        between = " " if conversion == "space" else r"\+"
        return {"type": "string", "pattern": PlainPattern(f"{_KEY}(?:{between}{_KEY})*")}
    if conversion == "text":
        number = number_pattern(schema)
        return {"type": "string", "pattern": PlainPattern(f"(?:{number})")}
    if conversion == "list":
        return {"type": "array", "items": schema, "minItems": 1, "maxItems": 1}
    if conversion == "web":
        return {"type": "string", "pattern": PlainPattern(_WEB_URL)}
    if conversion in (JSON_TEXT, SUBMIT):
        return _STRING
    return schema
