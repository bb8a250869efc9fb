"""Actions decoded from a name and arguments by a format's mapping, and encoded as a name and arguments again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from outspoken.grammar.header import Header
from outspoken.results.actions.base import PROVENANCE, BaseAction, ElementRef
from outspoken.results.actions.models import model_of
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Severity
from outspoken.results.geometry import Point, Screen, Space
from outspoken.results.settings import DEFAULT, Settings

from .fields import (
    CONVERSIONS,
    JSON_TEXT,
    SUBMIT,
    FieldError,
    field_type,
    json_text,
    read_path,
    read_point,
    read_value,
    write_point,
    write_value,
)
from .mapping import PARTS, ActionMapping, MappingRule, find_argument, mapping_of
from .rule_fields import FieldSource

if TYPE_CHECKING:
    from outspoken.json.partial_string import PartialString
    from outspoken.results.actions.union import Action
    from outspoken.results.actions.unknown import UnknownAction

#: The fields for what a model remarks on an action, which do not affect what the action does.
_REMARKS = frozenset({"reasoning", "intention", "confidence", "sensitive"})
#: The edges of the spaces that do not depend on the screen.
_EDGES: dict[str, float] = {"rel1000": 1000, "rel999": 999, "unit": 1}
#: The words of conditions that are no text.
_BOOLEANS = {"true": True, "false": False}
#: The element fields that take the place of points in spaces without coordinates.
_ELEMENT_FIELDS = {"point": "element", "start": "start_element", "end": "end_element"}


class Finding(NamedTuple):
    """A diagnostic for an action that was checked."""

    code: str
    message: str
    severity: Severity


class DecodedAction(NamedTuple):
    """An action; what is wrong with it ("" for nothing) and in which argument; and the arguments that were clamped.

    `findings` are what a check of the action found and changed.
    """

    action: Action
    problem: str = ""
    argument: str = ""
    clamped: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def decode_action(
    header: Header, name: str, arguments: dict[str, Any], common: dict[str, Any], settings: Settings = DEFAULT
) -> DecodedAction | None:
    """The action for a name and arguments; None if the format has no such action.

    `common` holds the known fields of `BaseAction`. An action with invalid arguments is an `UnknownAction` with the
    status "invalid" and all arguments in `extra`.
    """
    mapping = mapping_of(header)
    rule = mapping.find(name, arguments) if mapping is not None else None
    if mapping is None or rule is None:
        return None
    decoder = FieldDecoder(header, settings, rule, name)
    name = mapping.name_of(name, arguments)
    try:
        fields = decoder.fields(arguments)
    except FieldError as error:
        subject = f"`{name}`" if name else "the action"
        return DecodedAction(unknown_action(name, arguments, common), f"{subject} {error}", error.argument)
    used = {key for condition in rule.conditions for key in condition.keys} | decoder.used
    extra = _as_data(_without(arguments, used))
    action = build_action(rule.model, {**common, "name": name, "extra": extra, **fields})
    return DecodedAction(action, clamped=tuple(decoder.clamped))


def _without(arguments: dict[str, Any], used: set[str]) -> dict[str, Any]:
    """Arguments without those that were used; of an object of which only `object.key` was used, the rest."""
    rest: dict[str, Any] = {}
    for key, value in arguments.items():
        inner = {path[len(key) + 1 :] for path in used if path.startswith(f"{key}.")}
        if inner and isinstance(value, dict):
            parts = {name: part for name, part in cast("dict[str, Any]", value).items() if part is not None}
            value = _without(parts, inner)
        if key not in used and not (inner and value == {}):
            rest[key] = value
    return rest


def build_action(model: type[BaseAction], values: dict[str, Any]) -> Any:
    """An action with these values, and the defaults of its model for all other fields."""
    defaults = {key: default if factory is None else factory() for key, default, factory in _defaults(model)}
    return construct(model, {**defaults, **values})


@lru_cache(maxsize=128)
def _defaults(model: type[BaseAction]) -> list[tuple[str, Any, Callable[[], Any] | None]]:
    """The name, default and default factory of each field; `FieldInfo.get_default` is slow."""
    return [(key, info.default, cast("Any", info.default_factory)) for key, info in model.model_fields.items()]


def unknown_action(name: str, arguments: dict[str, Any], common: dict[str, Any]) -> UnknownAction:
    """The invalid action that takes the place of one that cannot be decoded."""
    return build_action(
        model_of("unknown"), {**common, "name": name, "status": "invalid", "extra": _as_data(arguments)}
    )


def unfinished_action(common: dict[str, Any], arguments: dict[str, Any], partial: PartialString | None) -> Action:
    """The action for one that is truncated: the text to type as far as it came, or the arguments that are known."""
    if partial is None:
        return build_action(model_of("unknown"), {**common, "extra": _as_data(arguments)})
    known = arguments.pop(partial.key, None)
    text = known.removesuffix("\n") if isinstance(known, str) else partial.sent
    return build_action(model_of("type_text"), {**common, "text": text, "extra": _as_data(arguments)})


def _as_data(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments in which nested actions are plain data."""
    parts: Any = arguments.get(PARTS)
    if not isinstance(parts, list):
        return arguments
    dumped = [one.model_dump(mode="json") if isinstance(one, BaseAction) else one for one in cast("list[Any]", parts)]
    return {**arguments, PARTS: dumped}


class FieldDecoder:
    """Decodes the fields of one action. `used` are the arguments that fields took.

    `clamped` are those whose points were moved to the edge of the screen.
    """

    def __init__(self, header: Header, settings: Settings, rule: MappingRule, name: str) -> None:
        self.used: set[str] = set()
        self.clamped: list[str] = []
        self._header, self._settings, self._rule, self._name = header, settings, rule, name
        self._space: Space = settings.coordinates or cast("Any", header.space)

    def fields(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """All fields that the arguments set. Raises FieldError."""
        rule = self._rule
        values: dict[str, Any] = dict(rule.constants)
        for field, origin in rule.origins.items():
            key, value = self._source(origin, arguments)
            if value is None:
                info = rule.model.model_fields.get(field)
                if origin.required or (info is not None and info.is_required()):
                    raise FieldError(key, f"needs `{origin.sources[0][0]}`")
                continue
            decoded = self._decode_or_skip(field, origin, key, value, started="start" in values)
            values.update({name: one for name, one in decoded.items() if one is not None})
        fields: dict[str, Any] = {}
        references: dict[str, dict[str, Any]] = {}
        for field, value in values.items():
            name, _, part = field.partition(".")
            if part:
                references.setdefault(name, {})[part] = value
            else:
                fields[name] = value
        return {**fields, **{name: ElementRef.of(parts) for name, parts in references.items()}}

    def _source(self, origin: FieldSource, arguments: dict[str, Any]) -> tuple[str, Any]:
        """The argument that a field comes from, and its value; None if it is absent."""
        for source in origin.sources:
            found = [find_argument((key,), arguments) for key in source]
            if all(value is not None for _, value in found):
                self.used.update(source)
                return source[0], found[0][1] if len(found) == 1 else [value for _, value in found]
        return origin.sources[0][0], None

    def _decode_or_skip(
        self, field: str, origin: FieldSource, key: str, value: Any, *, started: bool
    ) -> dict[str, Any]:
        """The fields that one argument sets; none for a remark that cannot be read. Raises FieldError."""
        try:
            if self._rule.is_path(field):
                places = read_path(value, self._space, key, started=started)
                known = self._rule.model.model_fields
                return {name: self._in_pixels(place, key) for name, place in places.items() if name in known}
            return self._decode(field, origin, key, value)
        except FieldError:
            if field not in _REMARKS:
                raise
            self.used.discard(key)
            return {}

    def _decode(self, field: str, origin: FieldSource, key: str, value: Any) -> dict[str, Any]:
        """The fields that one argument sets. Raises FieldError."""
        name, _, part = field.partition(".")
        if part:
            return {field: read_value(field_type(ElementRef, part), value, key, self._space)}
        kind = field_type(self._rule.model, name)
        if kind.reader == "point" and self._space in ("mark", "desc"):
            text = str(value)
            reference = ElementRef.of({"mark" if self._space == "mark" else "description": text})
            return {_ELEMENT_FIELDS[name]: reference}
        if kind.reader == "actions":
            return {name: [self._nested(item, key) for item in read_value(kind, value, key, self._space)]}
        if kind.reader == "points":
            places = read_value(kind, value, key, self._space)
            return {name: [self._in_pixels(read_point(place, self._space, key), key) for place in places]}
        read = json_text(value) if origin.conversion == JSON_TEXT else read_value(kind, value, key, self._space)
        if origin.conversion == SUBMIT:
            submits = read.endswith("\n")
            return {name: read[:-1] if submits else read, "submit": submits}
        if origin.conversion in CONVERSIONS and read is not None:
            try:
                read = CONVERSIONS[origin.conversion].read(read)
            except ValueError as error:
                raise FieldError(key, f"has in `{key}` {error}") from None
        return {name: self._in_pixels(read, key)}

    def _nested(self, item: Any, key: str) -> Any:
        """An action of a batch, written as the arguments of the same call. Raises FieldError."""
        if isinstance(item, BaseAction) and item.status != "invalid":
            return item
        arguments = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        decoded = decode_action(self._header, self._name, arguments, {}, self._settings) if arguments else None
        if decoded is None or decoded.problem:
            written = repr(cast("object", item.raw if isinstance(item, BaseAction) else item))[:80]
            raise FieldError(key, f"contains an item that is not an action of this format: {written}")
        self.clamped += decoded.clamped
        return decoded.action

    def _in_pixels(self, value: Any, key: str) -> Any:
        """Convert points to pixels if the screen is known, and clamp them if the settings ask for it.

        Raises FieldError for a point that cannot be converted.
        """
        if isinstance(value, list):
            return [self._in_pixels(item, key) for item in cast("list[Any]", value)]
        if not isinstance(value, Point):
            return value
        screen, edges = self._settings.screen, None
        try:
            placed = value.to_pixels(screen) if screen is not None else value
        except ValueError as error:
            raise FieldError(key, f"has a point in `{key}` that cannot be placed: {error}") from None
        if screen is not None:
            edges = (screen.width - 1, screen.height - 1)
        elif value.space in _EDGES:
            edges = (_EDGES[value.space], _EDGES[value.space])
        if not self._settings.clamp or edges is None:
            return placed
        clamped = placed.clamped(*edges)
        if clamped is not placed:
            self.clamped.append(key)
        return clamped


# encoding


def encode_action(header: Header, action: BaseAction) -> tuple[str, dict[str, Any]] | None:
    """The name and arguments with which a format writes an action; None if it cannot express the action.

    Prefers the model's own word if the format has it, and then the rules in their order.
    """
    mapping = mapping_of(header)
    if mapping is None:
        return None
    for own, rule in _candidates(mapping, action):
        arguments = _arguments(header, rule, action)
        if arguments is None:
            continue
        if not own:
            return rule.names[0], arguments
        if action.name not in rule.names:
            arguments[rule.conditions[0].keys[0]] = action.name
        remarks = {key: arguments.pop(key) for key in rule.shared_sources & arguments.keys()}
        written = {**_merged(arguments, action.extra), **remarks}  # a remark may stand behind the action
        return action.name if action.name in rule.names else "", written
    return None


def _merged(arguments: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """The arguments of fields and all others; both may be parts of one object."""
    made = {**arguments, **extra}
    for key in arguments.keys() & extra.keys():
        if isinstance(arguments[key], dict) and isinstance(extra[key], dict):
            made[key] = _merged(arguments[key], extra[key])
    return made


def _candidates(mapping: ActionMapping, action: BaseAction) -> Iterator[tuple[bool, MappingRule]]:
    """The rules for the model of an action, each with whether it has the action's own name."""
    kind = getattr(action, "type", "")
    fitting = [rule for rule in mapping.rules if rule.type == kind and rule.model is type(action)]
    yield from [(True, rule) for rule in fitting if action.name and _has_name(mapping, rule, action.name)]
    yield from [(False, rule) for rule in fitting]


def _has_name(mapping: ActionMapping, rule: MappingRule, name: str) -> bool:
    """Is a rule for this word, as the name of actions or as the value of the argument that names them?"""
    if name in rule.names:
        return True
    first = rule.conditions[0] if "" in rule.names and rule.conditions else None
    return first is not None and first.expected and first.holds({first.keys[0]: name}, any_case=mapping.any_case)


def _arguments(header: Header, rule: MappingRule, action: BaseAction) -> dict[str, Any] | None:
    """The arguments with which a rule expresses an action; None if it cannot express all of it."""
    unwritten = dict(_flat_fields(action))
    found: dict[str, Any] = {}
    for condition in rule.conditions:
        if condition.expected and condition.words:
            found[condition.keys[0]] = _BOOLEANS.get(condition.words[0], condition.words[0])
    for field, value in rule.constants.items():
        if unwritten.pop(field, _default(rule.model, field)) != value:
            return None
    for field, origin in rule.origins.items():
        value = _path(unwritten, "start" in rule.origins) if rule.is_path(field) else unwritten.pop(field, None)
        if value is None:
            if origin.required:
                return None
            continue
        if origin.conversion == SUBMIT:
            submits = unwritten.get("submit") is True
            if submits:
                del unwritten["submit"]
            elif str(value).endswith("\n"):
                return None
            value = f"{value}\n" if submits else str(value)
        _put_arguments(header, rule, origin, value, found)
    if unwritten.get("submit") is False and SUBMIT in [origin.conversion for origin in rule.origins.values()]:
        del unwritten["submit"]
    return None if unwritten.keys() - _REMARKS else dict(sorted(found.items(), key=_position))


def _position(argument: tuple[str, Any]) -> int:
    """The position of an argument: unnamed arguments come first, in order."""
    name = argument[0]
    return int(name[1:]) if name.startswith("$") else sys.maxsize


def effect_of(action: BaseAction) -> dict[str, Any]:
    """What an action does, as data that can be compared, without provenance and remarks.

    A point is compared by its centre, because not every format can write a box.
    """
    fields = {
        name: _centre(value) for name, value in _flat_fields(action) if name not in _REMARKS and value is not False
    }
    if "actions" in fields:
        fields["actions"] = [effect_of(item) for item in fields["actions"]]
    return {"type": getattr(action, "type", ""), **fields}


def _centre(value: Any) -> Any:
    if isinstance(value, list):
        return [_centre(item) for item in cast("list[Any]", value)]
    return (value.x, value.y, value.space) if isinstance(value, Point) else value


def set_fields(action: BaseAction) -> Iterator[tuple[str, Any]]:
    """The fields that define what an action does and differ from their defaults."""
    for field, default, factory in _defaults(type(action)):
        value = getattr(action, field)
        if field not in PROVENANCE and field != "type" and value != (default if factory is None else factory()):
            yield field, value


def _flat_fields(action: BaseAction) -> Iterator[tuple[str, Any]]:
    """The set fields of an action, with those of its elements as `element.id` and so on."""
    for field, value in set_fields(action):
        if isinstance(value, ElementRef):
            yield from [(f"{field}.{key}", part) for key, part in value.model_dump(exclude_none=True).items()]
        else:
            yield field, value


def _default(model: type[BaseAction], field: str) -> Any:
    info = model.model_fields.get(field)
    return info.get_default(call_default_factory=True) if info is not None else None


def _path(unwritten: dict[str, Any], started: bool) -> list[Point] | None:
    """Take the points of a drag out of the fields, as one list; without the first one if another argument has it."""
    if "end" not in unwritten or not (started or "start" in unwritten):
        return None
    first = [] if started else [unwritten.pop("start")]
    return [*first, *unwritten.pop("via", []), unwritten.pop("end")]


def _put_arguments(header: Header, rule: MappingRule, origin: FieldSource, value: Any, found: dict[str, Any]) -> None:
    """Write the value of a field into the arguments that it comes from."""
    source = origin.sources[0]
    outer, _, key = source[0].rpartition(".")
    if isinstance(value, Point) and len(source) > 1:
        found.update(zip(source, [write_value(number) for number in (value.x, value.y)], strict=True))
        return
    if isinstance(value, Point):
        written: Any = write_point(value, header.point)
    elif isinstance(value, list) and value and isinstance(value[0], Point):
        written = [{"x": write_value(p.x), "y": write_value(p.y)} for p in cast("list[Point]", value)]
    elif key == PARTS:  # the grammar writes these actions
        written = cast("Any", value)
    elif isinstance(value, list) and value and isinstance(value[0], BaseAction):
        written = [_part(header, rule.names, item) for item in cast("list[BaseAction]", value)]
    else:
        written = write_value(value)
    if origin.conversion in CONVERSIONS:
        written = CONVERSIONS[origin.conversion].write(written)
    for name in outer.split(".") if outer else ():
        found = found.setdefault(name, {})
    found[key] = written


def _part(header: Header, names: tuple[str, ...], action: BaseAction) -> dict[str, Any]:
    """The arguments with which the words of a batch express an action in it; none if they cannot."""
    mapping = mapping_of(header)
    for _, rule in _candidates(mapping, action) if mapping is not None else ():
        arguments = _arguments(header, rule, action) if set(names) & set(rule.names) else None
        if arguments is not None:
            return arguments
    return {}


def convert_points(action: BaseAction, space: Space, screen: Screen | None) -> BaseAction:
    """The action with all points in a space. Raises ValueError if that requires a screen and there is none."""
    changed: dict[str, Any] = {}
    for field in type(action).model_fields:
        value = getattr(action, field)
        converted = _converted(value, space, screen)
        if converted is not value:
            changed[field] = converted
    return action.model_copy(update=changed) if changed else action


def _converted(value: Any, space: Space, screen: Screen | None) -> Any:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        converted = [_converted(item, space, screen) for item in items]
        return converted if any(a is not b for a, b in zip(converted, items, strict=True)) else items
    if isinstance(value, BaseAction):
        return convert_points(value, space, screen)
    if not isinstance(value, Point) or value.space == space:
        return value
    if screen is None:
        raise ValueError(f"converting a point from `{value.space}` to `{space}` requires the size of the screen")
    return value.to_pixels(screen).from_pixels(space, screen)
