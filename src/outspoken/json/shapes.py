"""How the parts of a type are shown while their JSON arrives: records with absent fields, growing lists and texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import cached_property, lru_cache
from inspect import isclass
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Union, cast, get_args, get_origin

from pydantic import AliasChoices, BaseModel, PydanticSchemaGenerationError, TypeAdapter
from typing_extensions import NotRequired, ReadOnly, Required, get_type_hints, is_typeddict

from outspoken.results.schemas.convert import convert, is_valid
from outspoken.results.schemas.schema import Schema
from outspoken.results.signatures import has_fields, kept

#: What says something of a key rather than of its type.
_MARKS = (NotRequired, Required, ReadOnly)
_LISTS = frozenset({list, Sequence, Iterable, MutableSequence})
_MAPPINGS = frozenset({dict, Mapping, MutableMapping})


class Partial(SimpleNamespace):
    """What has arrived of an object with fields: all fields of its class, None where nothing has arrived yet."""


#: What a part is that is complete and not valid. It is not shown.
INVALID: Any = object()


class Holder(NamedTuple):
    """The parts of an object or a list, where they are set, and the value that shows them."""

    parts: dict[str, Any] | list[Any]
    shown: Any


class Shape:
    """A part that is shown when it is complete, and only if it is valid. The base of all others."""

    #: does it show a text while it grows?
    grows: ClassVar[bool] = False

    def __init__(self, hint: Any) -> None:
        self.hint = hint

    def shows_text(self, schema: Schema) -> bool:
        """Is a text shown while it grows?"""
        return self.grows

    def opened(self, bracket: str) -> Holder | None:
        """What shows the parts of an object or a list; None if they are shown when all of it is complete."""
        return None

    def child(self, key: str | int) -> tuple[str | None, Shape]:
        """The name under which a part is held, None if it is not shown, and its shape."""
        return str(key), ANY

    def complete(self, value: Any, schema: Schema) -> Any:
        """The value of a part of which all is read, as JSON; INVALID if it does not fit."""
        if value.__class__ is self.hint:
            return value
        data = convert(value, schema).value
        validate = _adapter(self.hint)
        if validate is None or not is_valid(data, schema):
            return INVALID
        try:
            return validate(json.dumps(data))
        except ValueError:
            return INVALID


class _Text(Shape):
    grows = True

    def complete(self, value: Any, schema: Schema) -> Any:
        made = super().complete(value, schema)
        return value if made is INVALID and isinstance(value, str) else made


class _Any(Shape):
    """Plain JSON; a schema says which texts are none."""

    def shows_text(self, schema: Schema) -> bool:
        return schema.types is None or (schema.values is None and schema.types == frozenset({"string"}))

    def opened(self, bracket: str) -> Holder:
        parts: Any = {} if bracket == "{" else []
        return Holder(parts, parts)

    def complete(self, value: Any, schema: Schema) -> Any:
        return convert(value, schema).value


class _Items(Shape):
    """A list or a mapping, of which all parts have one type."""

    def __init__(self, hint: Any, bracket: str) -> None:
        super().__init__(hint)
        self._bracket = bracket

    def opened(self, bracket: str) -> Holder | None:
        return ANY.opened(bracket) if bracket == self._bracket else None

    @cached_property
    def _item(self) -> Shape:
        return shape_of(get_args(self.hint)[-1])

    def child(self, key: str | int) -> tuple[str | None, Shape]:
        return str(key), self._item


class _Record(Shape):
    """A model, a dataclass or a TypedDict."""

    def opened(self, bracket: str) -> Holder | None:
        if bracket != "{":
            return None
        if is_typeddict(self.hint):
            parts: dict[str, Any] = {}
            return Holder(parts, parts)
        shown = Partial(**dict.fromkeys(name for name, _ in self._hints.values()))
        return Holder(vars(shown), shown)

    @cached_property
    def _hints(self) -> dict[str, tuple[str, Any]]:
        """The name and the type of each field, by its key in JSON."""
        if isclass(self.hint) and issubclass(self.hint, BaseModel):
            fields = self.hint.model_fields.items()
            return {_alias(name, field): (name, field.rebuild_annotation()) for name, field in fields}
        hints = get_type_hints(self.hint, include_extras=True)
        names = [one.name for one in dataclass_fields(self.hint)] if is_dataclass(self.hint) else list(hints)
        return {name: (name, hints[name]) for name in names}

    @cached_property
    def _children(self) -> dict[str, tuple[str, Shape]]:
        return {key: (name, shape_of(hint)) for key, (name, hint) in self._hints.items()}

    def child(self, key: str | int) -> tuple[str | None, Shape]:
        return self._children.get(str(key)) or (None, ANY)


ANY = _Any(Any)


@kept
def shape_of(hint: Any) -> Shape:
    """How a type is shown while its JSON arrives."""
    bare = _bare(hint)
    origin = get_origin(bare)
    if bare is Any or bare is object:
        return ANY
    if bare is str:
        return _Text(hint)
    if origin in _LISTS:
        return _Items(bare, "[")
    if origin in _MAPPINGS and get_args(bare)[0] is str:
        return _Items(bare, "{")
    return _Record(bare) if _has_fields(bare) else ANY if bare in _LISTS | _MAPPINGS else Shape(hint)


def _has_fields(made: Any) -> bool:
    """Is it a model, a dataclass or a TypedDict, of which each field is a key?"""
    return isclass(made) and has_fields(made) and not getattr(made, "__pydantic_root_model__", False)


def _bare(hint: Any) -> Any:
    """A type without what is written around it, and without the None that it may be."""
    while True:
        origin = get_origin(hint)
        options = [option for option in get_args(hint) if option is not NoneType]
        if origin is Annotated or origin in _MARKS:
            hint = get_args(hint)[0]
        elif origin in (Union, UnionType) and len(options) == 1:
            hint = options[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint


def _alias(name: str, field: Any) -> str:
    """The key of a field in JSON."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        alias = next((one for one in alias.choices if isinstance(one, str)), None)
    return alias if isinstance(alias, str) else cast("str", field.alias or name)


@lru_cache(maxsize=512)
def _adapter(hint: Any) -> Callable[[str], Any] | None:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
    except PydanticSchemaGenerationError:
        return None
    return adapter.validate_json
