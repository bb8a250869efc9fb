"""Results built without validation: their values come from the parser and are right by construction."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

_M = TypeVar("_M", bound=BaseModel)
#: what instances of a model say of which fields were given: all of them
_fields: dict[type[BaseModel], set[str]] = {}

# The writers of an instance's parts, which is what `BaseModel.model_construct` sets, too.
make: Any = object.__new__
set_values: Any = vars(BaseModel)["__dict__"].__set__
set_given: Any = vars(BaseModel)["__pydantic_fields_set__"].__set__
set_extra: Any = vars(BaseModel)["__pydantic_extra__"].__set__
set_private: Any = vars(BaseModel)["__pydantic_private__"].__set__


def given(model: type[BaseModel]) -> set[str]:
    """The names of a model's fields, as one set that all instances share."""
    return _fields.get(model) or _fields.setdefault(model, set(model.model_fields))


def construct(model: type[_M], values: dict[str, Any]) -> _M:
    """An instance of a model with exactly these values: every field, in the order of the model."""
    made = make(model)
    set_values(made, values)
    set_given(made, _fields.get(model) or given(model))
    set_extra(made, None)
    set_private(made, None)
    return made
