"""Actions decoded from a name and arguments by a format's mapping, and the arguments that no field took."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from outspoken.grammar.header import Header
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.actions.base import PROVENANCE, BaseAction, ElementRef, UnknownAction
from outspoken.results.actions.models import model_of
from outspoken.results.codes import NEEDS
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Severity
from outspoken.results.edits import shown
from outspoken.results.geometry import Point, Space
from outspoken.results.schemas.schema import is_object
from outspoken.results.settings import DEFAULT, Settings

from .fields import CONVERSIONS, JSON_TEXT, SUBMIT, FieldError, field_type, json_text, read_path, read_point, read_value
from .key_names import is_key
from .mapping import PARTS, MappingRule, find_argument, is_alike, mapping_of
from .rule_fields import FieldSource

if TYPE_CHECKING:
    from outspoken.json.partial_string import PartialString
    from outspoken.results.actions.union import Action

#: The fields for what a model remarks on an action, which do not affect what the action does.
REMARKS = frozenset({"reasoning", "intention", "confidence", "sensitive"})
#: The edges of the spaces that do not depend on the screen.
_EDGES: dict[str, float] = {"rel1000": 1000, "rel999": 999, "unit": 1}
#: What names an element in one word, and what no such word holds: the brackets and quotes that should end it,
#: or punctuation that stood behind it.
_WORDS_OF_ELEMENTS, _NO_WORD = frozenset({"id", "mark"}), lazy_pattern(r"[\s\[\]`]|[.,:;]\Z")
#: The readers of lists of keys.
_KEYS = frozenset({"keys", "modifiers"})
#: The element fields that take the place of points in spaces without coordinates.
_ELEMENT_FIELDS = {"point": "element", "start": "start_element", "end": "end_element"}


class ActionFinding(NamedTuple):
    """A diagnostic for an action that was checked."""

    code: str
    message: str
    severity: Severity


class DecodedAction(NamedTuple):
    """An action; what is wrong with it ("" for nothing) and in which argument; and the arguments with points outside.

    `findings` are what a check of the action found and changed.
    """

    action: Action
    problem: str = ""
    argument: str = ""
    outside: tuple[str, ...] = ()
    findings: tuple[ActionFinding, ...] = ()


def _one_word(value: Any, key: str) -> Any:
    """The word that names an element, without white space around it. Raises FieldError."""
    word = value.strip() if isinstance(value, str) else value
    if isinstance(word, str) and (not word or _NO_WORD.search(word) is not None):
        raise FieldError(key, f"needs the name of an element in `{key}`, got {shown(word)}")
    return word


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
    deciding = mapping.keys_of_conditions(name) - arguments.keys()
    word = mapping.name_of(name, arguments)
    subject = f"`{word}`" if word else "the action"
    try:
        fields = decoder.fields(arguments)
    except FieldError as error:
        return DecodedAction(unknown_action(word, arguments, common), f"{subject} {error}", error.argument)
    used = {key for condition in rule.conditions for key in condition.keys} | decoder.used
    extra = _as_data(_without(arguments, used))
    lost = lost_argument(rule, extra, fields, deciding) or mapping.undecided(rule, name, arguments, extra)
    if lost:
        return DecodedAction(unknown_action(word, arguments, common), f"{subject} {lost}")
    action = build_action(rule.model, {**common, "name": word, "extra": extra, **fields})
    return DecodedAction(action, outside=tuple(decoder.outside), findings=tuple(decoder.findings))


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
    defaults = {key: default if factory is None else factory() for key, default, factory in field_defaults(model)}
    return construct(model, {**defaults, **values})


@lru_cache(maxsize=128)
def field_defaults(model: type[BaseAction]) -> list[tuple[str, Any, Callable[[], Any] | None]]:
    """The name, default and default factory of each field; `FieldInfo.get_default` is slow."""
    return [(key, info.default, cast("Any", info.default_factory)) for key, info in model.model_fields.items()]


def set_fields(action: BaseAction) -> Iterator[tuple[str, Any]]:
    """The fields that define what an action does and differ from their defaults."""
    for field, default, factory in field_defaults(type(action)):
        value = getattr(action, field)
        if field not in PROVENANCE and field != "type" and value != (default if factory is None else factory()):
            yield field, value


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

    `outside` are those whose points are beyond the edge of the screen, or of their space.
    """

    def __init__(self, header: Header, settings: Settings, rule: MappingRule, name: str) -> None:
        self.used: set[str] = set()
        self.outside: list[str] = []
        self.findings: list[ActionFinding] = []
        self._header, self._settings, self._rule, self._name = header, settings, rule, name
        self._space: Space = settings.coordinates or header.space

    def fields(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """All fields that the arguments set. Raises FieldError."""
        rule = self._rule
        values: dict[str, Any] = dict(rule.constants)
        for field, origin in rule.origins.items():
            key, value = self._source(origin, arguments)
            if value is None:
                info = rule.model.model_fields.get(field)
                if origin.required or (info is not None and info.is_required()):
                    raise FieldError(key, NEEDS.format(key=origin.sources[0][0]))
                continue
            decoded = self._decode_or_skip(field, origin, key, value, started="start" in values)
            values.update({name: field_value for name, field_value in decoded.items() if field_value is not None})
        return with_references(values)

    def _source(self, origin: FieldSource, arguments: dict[str, Any]) -> tuple[str, Any]:
        """The argument that a field comes from, and its value; None if it is absent. Half a point is an error."""
        missing = ""
        for source in origin.sources:
            parts = [find_argument((key,), arguments) for key in source]
            if all(value is not None for _, value in parts):
                self.used.update(source)
                return source[0], parts[0][1] if len(parts) == 1 else [value for _, value in parts]
            if any(value is not None for _, value in parts):
                missing = missing or next(key for key, value in parts if value is None)
        if missing:
            raise FieldError(missing, NEEDS.format(key=missing))
        return origin.sources[0][0], None

    def _decode_or_skip(
        self, field: str, origin: FieldSource, key: str, value: Any, *, started: bool
    ) -> dict[str, Any]:
        """The fields that one argument sets; none for a remark that cannot be read. Raises FieldError."""
        try:
            if self._rule.is_path(field):
                places = read_path(value, self._space, key, started=started)
                model_fields = self._rule.model.model_fields
                return {name: self._in_pixels(place, key) for name, place in places.items() if name in model_fields}
            return self._decode(field, origin, key, value)
        except FieldError:
            if field not in REMARKS:
                raise
            self.used.discard(key)
            return {}

    def _decode(self, field: str, origin: FieldSource, key: str, value: Any) -> dict[str, Any]:
        """The fields that one argument sets. Raises FieldError."""
        name, _, part = field.partition(".")
        if part:
            read = read_value(field_type(ElementRef, part), value, key, self._space)
            return {field: _one_word(read, key) if part in _WORDS_OF_ELEMENTS else read}
        kind = field_type(self._rule.model, name)
        if kind.reader == "point" and self._space in ("mark", "desc"):
            is_mark = self._space == "mark"
            reference = ElementRef.of({"mark": _one_word(str(value), key)} if is_mark else {"description": str(value)})
            return {_ELEMENT_FIELDS[name]: reference}
        if kind.reader == "actions":
            return {name: [self._nested(item, key) for item in read_value(kind, value, key, self._space)]}
        if kind.reader == "points":
            places = read_value(kind, value, key, self._space)
            return {name: [self._in_pixels(read_point(place, self._space, key), key) for place in places]}
        read = json_text(value) if origin.conversion == JSON_TEXT else read_value(kind, value, key, self._space)
        for word in [read] if kind.reader == "key" else read if kind.reader in _KEYS else ():
            if not is_key(word):
                message = f"`{self._name}` has in `{key}` {shown(word)}, which is no known key"
                self.findings.append(ActionFinding("unlisted-key", message, "warning"))
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
        self.outside += decoded.outside
        self.findings += decoded.findings
        return decoded.action

    def _in_pixels(self, value: Any, key: str) -> Any:
        """Convert points to pixels if the screen is known. Note those outside; clamp them if the settings ask for it.

        Raises FieldError for a point that cannot be converted.
        """
        if isinstance(value, list):
            return [self._in_pixels(item, key) for item in cast("list[Any]", value)]
        if not isinstance(value, Point):
            return value
        screen, edges, clamps = self._settings.screen, None, self._settings.clamp
        try:
            placed = value.to_pixels(screen) if screen is not None else value
        except ValueError as error:
            raise FieldError(key, f"has a point in `{key}` that cannot be placed: {error}") from None
        if screen is not None:
            edges = (screen.width - clamps, screen.height - clamps)
        elif value.space in _EDGES:
            edges = (_EDGES[value.space], _EDGES[value.space])
        inside = placed.clamped(*edges) if edges is not None else placed
        if inside is not placed:
            self.outside.append(key)
        return inside if clamps else placed


def with_references(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an action, with the parts of each element, such as `element.id`, as one reference."""
    fields: dict[str, Any] = {}
    references: dict[str, dict[str, Any]] = {}
    for field, value in values.items():
        name, _, part = field.partition(".")
        if part:
            references.setdefault(name, {})[part] = value
        else:
            fields[name] = value
    return {**fields, **{name: ElementRef.of(parts) for name, parts in references.items()}}


def lost_argument(
    rule: MappingRule, extra: Mapping[str, Any], fields: Mapping[str, Any], deciding: Collection[str] = ()
) -> str:
    """What is wrong with an action that has `extra` arguments beside its `fields`; "" for nothing.

    It lacks the arguments `deciding` which action it is, unless it needs none.

    An argument without a name, one whose name is that of an absent argument with a mistake, and a point in an action
    that lacks one say what the action does, and nothing tells how.
    """
    if not extra:
        return ""
    absent = {field: origin for field, origin in rule.origins.items() if field not in fields}
    sources = [key for origin in absent.values() for source in origin.sources for key in source]
    words = dict.fromkeys([*sources, *sorted(deciding)])
    lacks_point = any("." not in field and _is_point_field(rule, field) for field in absent)
    # `$.name` is a path into an object that was used in part
    paths = {f"{key}.": key for key in extra if any(word.startswith(f"{key}.") for word in words)}
    opened = {path: held for path, key in paths.items() if is_object(held := extra[key])}
    inner = {f"{path}{name}": value for path, held in opened.items() for name, value in held.items()}
    for key, value in [*extra.items(), *inner.items()]:
        if key == PARTS or key in words or value is None:
            continue
        if not key.strip() or key in opened or (key[:1] == "$" and key[1:].isdigit()):
            return "has a value without a name"
        if meant := next((word for word in words if is_alike(key, word)), ""):
            return f"has `{key}`, which may stand for `{meant}`"
        if lacks_point and isinstance(value, str | list | dict) and _is_point(value):
            return f"has a point in `{key}`, which is none of its arguments"
    return ""


def _is_point_field(rule: MappingRule, field: str) -> bool:
    return not rule.is_path(field) and field_type(rule.model, field).reader == "point"


def _is_point(value: Any) -> bool:
    try:
        read_point(value, "px")
    except FieldError:
        return False
    return True
