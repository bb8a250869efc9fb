"""From a name and arguments to an action, by a format's mapping, and from an action back to a name and arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from outspoken.grammar.header import Header
from outspoken.json.partial_string import PartialString
from outspoken.results.actions.union import PROVENANCE, BaseAction, ElementRef, TypeText, UnknownAction
from outspoken.results.construct import construct
from outspoken.results.geometry import Point, Screen, Space
from outspoken.results.settings import DEFAULT, Settings

from .fields import CONVERSIONS, SUBMIT, Misfit, kind_of, read_path, read_point, read_value, write_point, write_value
from .mapping import PARTS, Mapping, Meaning, Origin, find_argument, mapping_of

#: What a model says of an action, and not what is to be done.
_COMMENTS = frozenset({"reasoning", "intention", "confidence", "sensitive"})
#: The edges of the spaces that have the same ones on every screen.
_EDGES: dict[str, float] = {"rel1000": 1000, "rel999": 999, "unit": 1}


class Made(NamedTuple):
    """An action, what is wrong with it ("" for nothing) and with which argument; arguments that were clamped."""

    action: Any
    problem: str = ""
    argument: str = ""
    clamped: tuple[str, ...] = ()


def make_action(
    header: Header, name: str, arguments: dict[str, Any], common: dict[str, Any], settings: Settings = DEFAULT
) -> Made | None:
    """The action that a name and arguments mean; None where the format has no such action.

    `common` holds the fields of `BaseAction` that are known. An action whose arguments do not fit is an
    `UnknownAction` with the status "invalid" and all arguments in `extra`.
    """
    mapping = mapping_of(header)
    meaning = mapping.find(name, arguments) if mapping is not None else None
    if mapping is None or meaning is None:
        return None
    reader = Reader(header, settings, meaning, name)
    name = mapping.called(name, arguments)
    try:
        fields = reader.fields(arguments)
    except Misfit as misfit:
        said = f"`{name}`" if name else "the action"
        return Made(unknown_action(name, arguments, common), f"{said} {misfit}", misfit.argument)
    used = {key for condition in meaning.conditions for key in condition.keys} | reader.used
    extra = _as_data({key: value for key, value in arguments.items() if key not in used})
    return Made(built(meaning.model, {**common, "name": name, "extra": extra, **fields}), clamped=tuple(reader.clamped))


def built(model: type[BaseAction], values: dict[str, Any]) -> Any:
    """An action with these values, and the defaults of its model for all others."""
    defaults = {key: info.get_default(call_default_factory=True) for key, info in model.model_fields.items()}
    return construct(model, {**defaults, **values})


def unknown_action(name: str, arguments: dict[str, Any], common: dict[str, Any]) -> Any:
    """What stands for an action that cannot be read."""
    return built(UnknownAction, {**common, "name": name, "status": "invalid", "extra": _as_data(arguments)})


def unfinished_action(common: dict[str, Any], arguments: dict[str, Any], typed: PartialString | None) -> Any:
    """What stands for an action that never ended: what it types, as far as it came, or what is known of it."""
    if typed is None:
        return built(UnknownAction, {**common, "extra": _as_data(arguments)})
    known = arguments.pop(typed.key, None)
    text = known.removesuffix("\n") if isinstance(known, str) else typed.sent
    return built(TypeText, {**common, "text": text, "extra": _as_data(arguments)})


def _as_data(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments with the actions that were read among them as data."""
    parts: Any = arguments.get(PARTS)
    if not isinstance(parts, list):
        return arguments
    shown = [
        part.model_dump(mode="json") if isinstance(part, BaseAction) else part for part in cast("list[Any]", parts)
    ]
    return {**arguments, PARTS: shown}


class Reader:
    """Reads the fields of one action. `used` are the arguments that were taken, `clamped` those that were changed."""

    def __init__(self, header: Header, settings: Settings, meaning: Meaning, name: str) -> None:
        self.used: set[str] = set()
        self.clamped: list[str] = []
        self._header, self._settings, self._meaning, self._name = header, settings, meaning, name
        self._space: Space = settings.coordinates or cast("Any", header.space)

    def fields(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """All fields that the arguments say. Raises Misfit."""
        meaning = self._meaning
        fields: dict[str, Any] = {}
        references: dict[str, dict[str, Any]] = {}
        for field, value in meaning.constants.items():
            self._put(field, value, fields, references)
        for field, origin in meaning.origins.items():
            key, value = self._source(origin, arguments)
            if value is None:
                needed = origin.needed or (field in meaning.model.model_fields and _required(meaning.model, field))
                if needed:
                    raise Misfit(key, f"needs `{origin.sources[0][0]}`")
                continue
            for name, read in self._read_or_skip(field, origin, key, value, fields).items():
                if read is not None:
                    self._put(name, read, fields, references)
        return {**fields, **{name: ElementRef(**parts) for name, parts in references.items()}}

    def _read_or_skip(self, field: str, origin: Origin, key: str, value: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields that one argument says; none where it only says something of the action, and cannot be read."""
        try:
            if self._meaning.is_path(field):
                places = read_path(value, self._space, key, begun="start" in fields)
                known = self._meaning.model.model_fields
                return {name: self._placed(place, key) for name, place in places.items() if name in known}
            return self._read(field, origin, key, value)
        except Misfit:
            if field not in _COMMENTS:
                raise
            self.used.discard(key.partition(".")[0])
            return {}

    def _put(self, field: str, value: Any, fields: dict[str, Any], references: dict[str, dict[str, Any]]) -> None:
        name, _, part = field.partition(".")
        if part:
            references.setdefault(name, {})[part] = value
        else:
            fields[name] = value

    def _source(self, origin: Origin, arguments: dict[str, Any]) -> tuple[str, Any]:
        """The argument that a field comes from, and its value; None where there is none."""
        for source in origin.sources:
            found = [find_argument((key,), arguments) for key in source]
            if all(value is not None for _, value in found):
                self.used.update([key.partition(".")[0] for key in source])
                return source[0], found[0][1] if len(found) == 1 else [value for _, value in found]
        return origin.sources[0][0], None

    def _read(self, field: str, origin: Origin, key: str, value: Any) -> dict[str, Any]:
        """The fields that one argument says. Raises Misfit."""
        name, _, part = field.partition(".")
        if part:
            return {field: read_value(kind_of(cast("Any", ElementRef), part), value, key, self._space)}
        kind = kind_of(self._meaning.model, name)
        if kind.reader == "point" and self._space in ("mark", "desc"):
            return self._marked(name, str(value))
        if kind.reader == "actions":
            return {name: [self._nested(item, key) for item in read_value(kind, value, key, self._space)]}
        if kind.reader == "points":
            places = read_value(kind, value, key, self._space)
            return {name: [self._placed(read_point(place, self._space, key), key) for place in places]}
        read = read_value(kind, value, key, self._space)
        if origin.conversion == SUBMIT:
            submits = read.endswith("\n")
            return {name: read[:-1] if submits else read, "submit": submits}
        if origin.conversion and read is not None:
            read = self._converted(origin.conversion, read, key)
        return {name: self._placed(read, key)}

    def _converted(self, conversion: str, value: Any, key: str) -> Any:
        """A value that the format writes in a way of its own. Raises Misfit."""
        try:
            return CONVERSIONS[conversion].read(value)
        except ValueError as error:
            raise Misfit(key, f"has in `{key}` {error}") from None

    def _marked(self, name: str, said: str) -> dict[str, Any]:
        """A target that has no coordinates: the element of a mark, or of a description."""
        field = {"point": "element", "start": "start_element", "end": "end_element"}[name]
        return {field: ElementRef(mark=said) if self._space == "mark" else ElementRef(description=said)}

    def _nested(self, item: Any, key: str) -> Any:
        """An action in a batch, which was written as the arguments of the same call."""
        if isinstance(item, BaseAction) and item.status != "invalid":
            return item
        arguments = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        made = make_action(self._header, self._name, arguments, {}, self._settings) if arguments else None
        if made is None or made.problem:
            raise Misfit(key, f"holds what is no action of this format: {_shown(item)}")
        self.clamped += made.clamped
        return made.action

    def _placed(self, value: Any, key: str) -> Any:
        """A point in pixels, where the screen is known, and on the screen, where that is asked for. Raises Misfit."""
        if isinstance(value, list):
            return [self._placed(item, key) for item in cast("list[Any]", value)]
        if not isinstance(value, Point):
            return value
        screen, clamp = self._settings.screen, self._settings.clamp
        try:
            placed = value.to_pixels(screen) if screen is not None else value
        except ValueError as error:
            raise Misfit(key, f"has a point in `{key}` that cannot be placed: {error}") from None
        edges = (screen.width - 1, screen.height - 1) if screen is not None else _edges(value.space)
        if not clamp or edges is None:
            return placed
        kept = placed.clamped(*edges)
        if kept is not placed:
            self.clamped.append(key)
        return kept


def _shown(item: Any) -> str:
    return repr(cast("object", item.raw if isinstance(item, BaseAction) else item))[:80]


def _edges(space: str) -> tuple[float, float] | None:
    return (_EDGES[space], _EDGES[space]) if space in _EDGES else None


def _required(model: type[BaseAction], field: str) -> bool:
    return model.model_fields[field].is_required()


# back to a name and arguments


def action_arguments(header: Header, action: BaseAction) -> tuple[str, dict[str, Any]] | None:
    """The name and arguments with which a format says an action; None where it has no words for it.

    The model's own word comes first, where the format has it; then the mapping's lines, in order.
    """
    mapping = mapping_of(header)
    if mapping is None:
        return None
    for own, meaning in _candidates(mapping, action):
        arguments = _arguments(header, meaning, action)
        if arguments is not None:
            return action.name if own else meaning.names[0], {**arguments, **(action.extra if own else {})}
    return None


def _candidates(mapping: Mapping, action: BaseAction) -> Iterator[tuple[bool, Meaning]]:
    fitting = [meaning for meaning in mapping.meanings if meaning.model is type(action)]
    yield from [(True, meaning) for meaning in fitting if action.name and action.name in meaning.names]
    yield from [(False, meaning) for meaning in fitting]


def _arguments(header: Header, meaning: Meaning, action: BaseAction) -> dict[str, Any] | None:
    """The arguments by which a meaning says an action; None where it cannot say all of it."""
    unsaid = dict(_said(action))
    found: dict[str, Any] = {}
    for condition in meaning.conditions:
        if condition.wanted and condition.words:
            found[condition.keys[0]] = condition.words[0]
    for field, value in meaning.constants.items():
        if unsaid.pop(field, _default(meaning.model, field)) != value:
            return None
    for field, origin in meaning.origins.items():
        value = _path(unsaid, "start" in meaning.origins) if meaning.is_path(field) else unsaid.pop(field, None)
        if value is None:
            if origin.needed:
                return None
            continue
        if origin.conversion == SUBMIT:
            value = str(value)
            submits = unsaid.get("submit") is True
            value += "\n" if submits and unsaid.pop("submit") else ""
            if not submits and value.endswith("\n"):
                return None
        _put_arguments(header, meaning, origin, value, found)
    if unsaid.get("submit") is False and SUBMIT in [origin.conversion for origin in meaning.origins.values()]:
        del unsaid["submit"]
    return None if unsaid.keys() - _COMMENTS else dict(sorted(found.items(), key=_place_of))


def _place_of(argument: tuple[str, Any]) -> int:
    """Where an argument stands: those without a name at their places, all others behind them."""
    name = argument[0]
    return int(name[1:]) if name.startswith("$") else sys.maxsize


def meant_by(action: BaseAction) -> dict[str, Any]:
    """What is to be done, as data that can be compared: all that an action says but for what it says of itself.

    Of a point it is the place that counts; not every format can write a box.
    """
    said = {field: _place(value) for field, value in _said(action) if field not in _COMMENTS and value is not False}
    if "actions" in said:
        said["actions"] = [meant_by(item) for item in said["actions"]]
    return {"type": getattr(action, "type", ""), **said}


def _place(value: Any) -> Any:
    if isinstance(value, list):
        return [_place(item) for item in cast("list[Any]", value)]
    return (value.x, value.y, value.space) if isinstance(value, Point) else value


def _said(action: BaseAction) -> Iterator[tuple[str, Any]]:
    """The fields of an action that say something, those of its elements one by one."""
    for field, info in type(action).model_fields.items():
        value = getattr(action, field)
        if field in PROVENANCE or field == "type" or value == info.get_default(call_default_factory=True):
            continue
        if isinstance(value, ElementRef):
            yield from [(f"{field}.{k}", v) for k, v in value.model_dump(exclude_none=True).items()]
        else:
            yield field, value


def _default(model: type[BaseAction], field: str) -> Any:
    info = model.model_fields.get(field)
    return info.get_default(call_default_factory=True) if info is not None else None


def _path(unsaid: dict[str, Any], begun: bool) -> list[Point] | None:
    """The points of a drag as one list, taken from the fields that hold them; without the first, if that is `begun`."""
    if "end" not in unsaid or not (begun or "start" in unsaid):
        return None
    first = [] if begun else [unsaid.pop("start")]
    return [*first, *unsaid.pop("via", []), unsaid.pop("end")]


def _put_arguments(header: Header, meaning: Meaning, origin: Origin, value: Any, found: dict[str, Any]) -> None:
    """Write a field's value as the arguments that it comes from. Actions that the grammar writes stay what they are."""
    source = origin.sources[0]
    outer, _, key = source[0].rpartition(".")
    if isinstance(value, Point) and len(source) > 1:
        found.update(zip(source, [write_value(number) for number in (value.x, value.y)], strict=True))
        return
    if isinstance(value, Point):
        written: Any = write_point(value, header.point)
    elif isinstance(value, list) and value and isinstance(value[0], Point):
        written = [{"x": write_value(p.x), "y": write_value(p.y)} for p in cast("list[Point]", value)]
    elif key == PARTS:
        written = cast("Any", value)
    elif isinstance(value, list) and value and isinstance(value[0], BaseAction):
        written = [_part(header, meaning.names, item) for item in cast("list[BaseAction]", value)]
    else:
        written = write_value(value)
    if origin.conversion in CONVERSIONS:
        written = CONVERSIONS[origin.conversion].write(written)
    for name in outer.split(".") if outer else ():
        found = found.setdefault(name, {})
    found[key] = written


def _part(header: Header, names: tuple[str, ...], action: BaseAction) -> dict[str, Any]:
    """The arguments by which a batch's own word says an action in it; none where it cannot."""
    mapping = mapping_of(header)
    meanings = [meaning for _, meaning in _candidates(mapping, action)] if mapping is not None else []
    for meaning in meanings:
        arguments = _arguments(header, meaning, action) if set(names) & set(meaning.names) else None
        if arguments is not None:
            return arguments
    return {}


def in_space(action: BaseAction, space: Space, screen: Screen | None) -> BaseAction:
    """The action with all its points in a space. Raises ValueError where that takes a screen, and none is given."""
    changed: dict[str, Any] = {}
    for field in type(action).model_fields:
        value = getattr(action, field)
        moved = _moved(value, space, screen)
        if moved is not value:
            changed[field] = moved
    return action.model_copy(update=changed) if changed else action


def _moved(value: Any, space: Space, screen: Screen | None) -> Any:
    if isinstance(value, list):
        moved = [_moved(item, space, screen) for item in cast("list[Any]", value)]
        return moved if any(a is not b for a, b in zip(moved, cast("list[Any]", value), strict=True)) else value  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, BaseAction):
        return in_space(value, space, screen)
    if not isinstance(value, Point) or value.space == space:
        return value
    if screen is None:
        raise ValueError(f"a point in `{value.space}` has to be said in `{space}`, which takes the size of the screen")
    return value.to_pixels(screen).from_pixels(space, screen)
