"""JSON values as types: whether one fits, what has to be converted, and what is wrong with it.

A value counts only if it validates. What pydantic takes without its strict mode is a conversion, too, and none that
loses digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from outspoken.results.arguments import kind_of
from outspoken.results.signatures import is_function, kept, model, readable, takes_others

from .convert import Conversion, Path, calls_within, convert, is_valid
from .schema import FIELDS, NAMES, Schema, fits, is_object

ConvertMode = Literal["on", "off"]
#: A JSON schema, or what `pydantic.TypeAdapter` takes, or an adapter.
SchemaLike: TypeAlias = Mapping[str, Any] | type[Any] | TypeAdapter[Any]


class Target(NamedTuple):
    """A type that JSON is read as: its schema and a view of it, and what validates a value; None for a plain schema."""

    schema: dict[str, Any]
    adapter: TypeAdapter[Any] | None
    view: Schema

    @classmethod
    def of(cls, schema: dict[str, Any], adapter: TypeAdapter[Any] | None) -> Target:
        """The target of a schema."""
        return cls(schema, adapter, Schema(schema))


class _Schemas(GenerateJsonSchema):
    """Schemas with what conversions have to know: the names of enumerations, and which texts are decimal numbers."""

    def enum_schema(self, schema: Any) -> dict[str, Any]:
        return {**super().enum_schema(schema), NAMES: [one.name for one in schema["members"]]}

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        found = super().decimal_schema(schema)
        texts = [option for option in found.get("anyOf", ()) if option.get("type") == "string"]
        for option in texts:
            option.setdefault("pattern", r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$")
        return found


class _TypeSchemas(_Schemas):
    """The same with the names of fields that have aliases."""

    def _named_required_fields_schema(self, named_required_fields: Sequence[tuple[str, bool, Any]]) -> dict[str, Any]:
        found = super()._named_required_fields_schema(named_required_fields)
        keys = {name: self._get_alias_name(field, name) for name, _, field in named_required_fields}
        others = {name: key for name, key in keys.items() if name != key}
        return {**found, FIELDS: others} if others else found


class LenientSchemas(GenerateJsonSchema):
    """Schemas without what JSON schema cannot express."""

    def handle_invalid_for_json_schema(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}

    def emit_warning(self, *_: Any, **__: Any) -> None:
        pass


class _CallSchemas(LenientSchemas, _Schemas):
    """Both."""


def target_of(type_: Any) -> Target:
    """What is read for a type or a JSON schema. Raises TypeError for what pydantic has no schema for."""
    if isinstance(type_, TypeAdapter):
        return Target.of(type_.json_schema(schema_generator=_TypeSchemas), cast("TypeAdapter[Any]", type_))
    if isinstance(type_, Mapping):
        schema = dict(cast("Mapping[str, Any]", type_))
        try:
            return _target_of_json(json.dumps(schema))
        except (TypeError, ValueError, RecursionError):
            return Target.of(schema, None)
    return _target(type_)


@kept
def _target(type_: Any) -> Target:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(readable(type_))
        return Target.of(adapter.json_schema(schema_generator=_TypeSchemas), adapter)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        why = str(error).partition("\n")[0]
        expected = "a JSON schema as a dict, or a type that pydantic reads from JSON"
        raise TypeError(f"`schema` is {kind_of(type_)}; expected {expected} ({why})") from error


@lru_cache(maxsize=256)
def _target_of_json(text: str) -> Target:
    """The target of a schema by its text: one that was changed has another."""
    return Target.of(json.loads(text), None)


@kept
def target_of_call(type_: Any) -> Target:
    """What the arguments of a call are read as: a type, or the parameters of a function.

    What JSON schema cannot express is allowed; pydantic validates it.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(model(type_) if is_function(type_) else readable(type_))
    schema = adapter.json_schema(schema_generator=_CallSchemas)
    if is_function(type_) and takes_others(type_):
        schema["additionalProperties"] = True
    return Target.of(schema, adapter)


class Fit(NamedTuple):
    """What becomes of one value of the text: `error` says why it is not valid; None if it is.

    `ignored` are the keys of an object that a class does not have, and leaves out.
    """

    data: Any
    typed: Any
    conversions: tuple[Conversion, ...]
    error: list[tuple[Path, str]] | None
    ignored: list[str]

    @property
    def rank(self) -> tuple[bool, int, bool, int]:
        """The less, the better it fits."""
        return self.error is not None, len(self.error or ()), bool(self.ignored), len(self.conversions)


def fit_to(target: Target, value: Any, mode: ConvertMode = "on", text: str | None = None) -> Fit:
    """Validate a value, of which the JSON text may be given, as it stands, or else after conversions."""
    schema = target.view
    text = json.dumps(value) if text is None else text
    typed, error = _validated(text, value, target, schema, strict=True)
    if error is None and not _has_unknown_keys(value, schema):
        return Fit(value, typed, (), error, _ignored(value, schema))
    data, conversions = (value, ()) if mode == "off" else convert(value, schema)
    if calls := [(path, f"this calls `{name}`, and is no value") for path, name in calls_within(data, schema)]:
        return Fit(data, None, conversions, calls, _ignored(data, schema))
    if mode == "off" or (error is None and not conversions):
        return Fit(value, typed, (), error, _ignored(value, schema))
    ignored = _ignored(data, schema)
    text = json.dumps(data)
    typed, strict_error = _validated(text, data, target, schema, strict=True)
    if strict_error is None:
        return Fit(data, typed, conversions, None, ignored)
    typed, error = _validated(text, data, target, schema, strict=False)
    texts = [path for path, _ in strict_error if isinstance(_at(data, path), (str, bool)) and _is_number(schema, path)]
    if error is None and not texts:
        taken = [Conversion("as-type", path, json.dumps(_at(data, path)), "") for path, _ in strict_error]
        return Fit(data, typed, (*conversions, *taken), None, ignored)
    error = error or [(path, "this is no number") for path in texts]
    return Fit(data, None, conversions, error, ignored)


def _has_unknown_keys(value: Any, schema: Schema) -> bool:
    """Has an object anywhere in a value a key that the schema does not have there?"""
    names, waiting = set[str](), [[value]]
    while waiting:
        for part in waiting.pop():
            if part.__class__ is dict:
                names.update(part)
                waiting.append(part.values())
            elif part.__class__ is list:
                waiting.append(part)
    return not names <= schema.all_names and schema.unknown_names(value) > 0


def _ignored(value: Any, schema: Schema) -> list[str]:
    """The keys of an object that its type does not have."""
    if not is_object(value) or not schema.properties or schema.allows_others:
        return []
    return [key for key in value if key not in schema.properties]


def _is_number(schema: Schema, path: Path) -> bool:
    """Is a number due at a path, and no text?"""
    for part in path:
        schema = schema.member(part) if isinstance(part, str) else schema.item
    types = schema.types or frozenset[str]()
    return not types.isdisjoint(("integer", "number")) and "string" not in types


def _validated(
    text: str, value: Any, target: Target, schema: Schema, *, strict: bool
) -> tuple[Any, list[tuple[Path, str]] | None]:
    """The value as the type, and what is wrong with it; None if nothing is."""
    if target.adapter is None:
        return (value, None) if is_valid(value, schema) else (None, [((), "this does not fit the schema")])
    if isinstance(value, bool) and not fits(value, schema.types):
        return None, [((), "a truth value is no number")]  # to pydantic, true is 1 in an enumeration
    try:
        return target.adapter.validate_json(text, strict=strict), None
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        return None, [(_path(value, detail["loc"]), detail["msg"]) for detail in errors]
    except ValueError as error:  # of a validator that is not pydantic's
        return None, [((), str(error))]


def _path(value: Any, loc: Sequence[str | int]) -> Path:
    """The keys of a place that pydantic names, without the names of the alternatives of unions."""
    path: list[str | int] = []
    for part in loc:
        if isinstance(value, dict) and part in value:
            value = cast("dict[str, Any]", value)[cast("str", part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[part]
        elif part == loc[-1] and isinstance(value, dict):
            path.append(part)  # what is missing
            break
        else:
            continue
        path.append(part)
    return tuple(path)


def _at(value: Any, path: Path) -> Any:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
