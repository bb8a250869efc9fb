"""Converts what clients hand over to plain JSON data: dicts, and the objects of any SDK."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from datetime import date
from enum import Enum
from typing import Any, cast

from outspoken.providers.errors import ProviderFormatError

_MAX_DEPTH = 200
_SCALARS = frozenset([str, int, float, bool, type(None)])


def to_json_data(value: Any, depth: int = 0) -> Any:
    """Convert a value: objects to dicts, sequences to lists, bytes to base64, dates to ISO text, enums to values.

    Raises ProviderFormatError for an object without readable fields, or nested too deeply.
    """
    kind = cast("type[Any]", type(value))
    if kind in _SCALARS:
        return value
    if depth > _MAX_DEPTH:
        raise ProviderFormatError("", f"nested deeper than {_MAX_DEPTH} levels", "a response")
    if kind is dict:
        items = cast("dict[Any, Any]", value).items()
        return {str(key): item if type(item) in _SCALARS else to_json_data(item, depth + 1) for key, item in items}
    return _convert(value, depth)


def _convert(value: Any, depth: int) -> Any:
    """Convert a value that is neither a scalar nor a dict."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): to_json_data(item, depth + 1) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [to_json_data(item, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode("ascii")
    if isinstance(value, Enum):
        return to_json_data(value.value, depth + 1)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    return to_json_data(_fields(value), depth + 1)


def _fields(value: Any) -> Any:
    """Return the fields of an object of an SDK: of a pydantic model, a dataclass, or anything with attributes."""
    if not isinstance(value, type):
        for name in ("model_dump", "to_dict", "dict"):
            method = getattr(value, name, None)
            found = _call(name, method) if callable(method) else None
            if found is not None:
                return found
        if is_dataclass(value) and not isinstance(value, type):
            return asdict(value)
        if attributes := cast("dict[str, Any]", getattr(value, "__dict__", None)):
            return {key: item for key, item in attributes.items() if not key.startswith("_")}
    raise ProviderFormatError("", f"of type {type(value).__name__}", "a dict, JSON text, or an object of an SDK")


def _call(name: str, method: Callable[..., Any]) -> Any:
    if name == "model_dump":
        with suppress(TypeError):  # it only behaves like pydantic's
            return method(mode="json", by_alias=True, warnings=False)
    return method()
