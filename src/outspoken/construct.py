"""Results built without validation: their values come from the parser and are right by construction."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

_M = TypeVar("_M", bound=BaseModel)
_set: Any = object.__setattr__


def construct(model: type[_M], values: dict[str, Any]) -> _M:
    """An instance of a model with exactly these values: every field, in the order of the model."""
    made = model.__new__(model)
    _set(made, "__dict__", values)
    _set(made, "__pydantic_fields_set__", set(values))
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made
