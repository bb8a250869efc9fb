"""The base of result models, and instances built without validation, for values that the parser has already typed.

`BaseModel.model_construct` does the same several times slower, so this module writes the four attributes that make up
an instance itself. `tests/results/test_result_values.py` fails if pydantic stores them elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """The base of result models: frozen, printed without defaults. Validators are built when they are first used."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields that differ from their defaults."""
        fields = type(self).model_fields
        for name, value in super().__repr_args__():
            if name is None or name not in fields or value != fields[name].get_default(call_default_factory=True):
                yield name, value

    def __str__(self) -> str:
        return repr(self)

    def __hash__(self) -> int:
        """The hash of the texts among the fields: dicts and lists, such as arguments and segments, have none."""
        return hash((type(self), *[value for value in self.__dict__.values() if isinstance(value, str)]))


_M = TypeVar("_M", bound=BaseModel)
_fields: dict[type[BaseModel], set[str]] = {}

# The callers on the hot path call these five functions directly.
make: Any = object.__new__
set_values: Any = vars(BaseModel)["__dict__"].__set__
set_given: Any = vars(BaseModel)["__pydantic_fields_set__"].__set__
set_extra: Any = vars(BaseModel)["__pydantic_extra__"].__set__
set_private: Any = vars(BaseModel)["__pydantic_private__"].__set__


def given(model: type[BaseModel]) -> set[str]:
    """The names of all fields of a model, as one set that its instances share as their `model_fields_set`."""
    return _fields.get(model) or _fields.setdefault(model, set(model.model_fields))


def construct(model: type[_M], values: dict[str, Any]) -> _M:
    """An instance of a model with exactly these values: every field, in the order of the model."""
    made = make(model)
    set_values(made, values)
    set_given(made, _fields.get(model) or given(model))
    set_extra(made, None)
    set_private(made, None)
    return made
