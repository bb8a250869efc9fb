"""Actions encoded as the name and arguments with which a format writes them, and what actions do, for comparisons."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, cast

from outspoken.grammar.header import Header
from outspoken.results.actions.base import BaseAction, ElementRef
from outspoken.results.geometry import Point, Screen, Space

from .decoding import REMARKS, set_fields
from .fields import CONVERSIONS, SUBMIT, write_point, write_value
from .mapping import PARTS, ActionMapping, MappingRule, mapping_of
from .rule_fields import FieldSource

#: The words of conditions that are no text.
_BOOLEANS = {"true": True, "false": False}


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
        remarks = {key: arguments.pop(key) for key in [*arguments] if key in rule.shared_sources}
        written = {**_merged(arguments, action.extra), **remarks}  # a remark may stand behind the action
        return action.name if action.name in rule.names else "", written
    return None


def lacks(header: Header, action: BaseAction) -> str:
    """What a format that cannot express an action does not have, in words for an error."""
    mapping = mapping_of(header)
    kind: str = getattr(action, "type", "?")
    if mapping is None or not any(_candidates(mapping, action)):
        return f"no action that means `{kind}`"
    given = ", ".join([f"`{name}={value!r}`" for name, value in _flat_fields(action)])
    return f"no action that means `{kind}` with all of {given}"


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
    arguments: dict[str, Any] = {}
    for condition in rule.conditions:
        if condition.expected and condition.words:
            arguments[condition.keys[0]] = _BOOLEANS.get(condition.words[0], condition.words[0])
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
        _put_arguments(header, rule, origin, value, arguments)
    if unwritten.get("submit") is False and SUBMIT in [origin.conversion for origin in rule.origins.values()]:
        del unwritten["submit"]
    return None if unwritten.keys() - REMARKS else dict(sorted(arguments.items(), key=_position))


def _position(argument: tuple[str, Any]) -> int:
    """The position of an argument: unnamed arguments come first, in order."""
    name = argument[0]
    return int(name[1:]) if name.startswith("$") else sys.maxsize


def effect_of(action: BaseAction) -> dict[str, Any]:
    """What an action does, as data that can be compared, without provenance and remarks.

    A point is compared by its centre, because not every format can write a box.
    """
    fields = {
        name: _centre(value) for name, value in _flat_fields(action) if name not in REMARKS and value is not False
    }
    if "actions" in fields:
        fields["actions"] = [effect_of(item) for item in fields["actions"]]
    return {"type": getattr(action, "type", ""), **fields}


def _centre(value: Any) -> Any:
    if isinstance(value, list):
        return [_centre(item) for item in cast("list[Any]", value)]
    return (value.x, value.y, value.space) if isinstance(value, Point) else value


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
