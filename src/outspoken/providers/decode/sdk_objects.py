"""Converts what clients hand over to plain JSON data: dicts, and the objects of any SDK."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from datetime import date
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeAlias, cast

from outspoken.providers.errors import ProviderFormatError
from outspoken.results.arguments import kind_of


class SdkModel(Protocol):
    """An object of an SDK that is built on pydantic."""

    def model_dump(self, *, mode: str, by_alias: bool, warnings: bool) -> dict[str, Any]:
        """Its fields as JSON data."""
        ...


class SdkMessage(Protocol):
    """An object of an SDK that converts itself."""

    def to_dict(self) -> dict[str, Any]:
        """Its fields."""
        ...


class SdkDataclass(Protocol):
    """An object of an SDK that is a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


#: A chunk or a whole response of a provider: a dict, an object of an SDK, or a piece of the body as bytes or text.
#: Other objects with attributes are read, too.
ChunkLike: TypeAlias = (
    Mapping[str, Any] | Sequence[Mapping[str, Any]] | SdkModel | SdkMessage | SdkDataclass | str | bytes | bytearray
)

_MAX_DEPTH = 200
#: the methods that give the fields of an object, in the order in which they are tried
_DUMPS = ("model_dump", "to_dict", "dict")
_SCALARS = frozenset([str, int, float, bool, type(None)])


def chunk_data(chunk: object, name: str) -> Any:
    """Convert a chunk that is neither text nor bytes. Raises TypeError, with the name of the argument, for no chunk."""
    if not isinstance(chunk, (Mapping, list, tuple)) and not _has_fields(chunk):
        raise TypeError(f"`{name}` is {kind_of(chunk)}; expected a dict, an object of an SDK, str or bytes")
    return to_json_data(chunk)


def to_json_data(value: Any, depth: int = 0) -> Any:
    """Convert a value: objects to dicts, sequences to lists, bytes to base64, dates to ISO text, enums to values.

    Raises ProviderFormatError for an object without readable fields, or nested too deeply.
    """
    kind = cast("type[Any]", type(value))
    if kind in _SCALARS:
        return value
    if depth > _MAX_DEPTH:
        raise ProviderFormatError("", f"nested deeper than {_MAX_DEPTH} levels", "a response")
    if kind is dict or isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): item if type(item) in _SCALARS else to_json_data(item, depth + 1) for key, item in items}
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_json_data(item, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode("ascii")
    if isinstance(value, Enum):
        return to_json_data(value.value, depth + 1)
    if isinstance(value, str):
        return str(value)
    return value.isoformat() if isinstance(value, date) else to_json_data(_fields(value), depth + 1)


def _has_fields(value: object) -> bool:
    """Is this an object of an SDK?"""
    if isinstance(value, type):
        return False
    return any(callable(getattr(value, name, None)) for name in _DUMPS) or hasattr(value, "__dict__")


def _fields(value: Any) -> Any:
    """Return the fields of an object of an SDK: of a pydantic model, a dataclass, or anything with attributes."""
    if not isinstance(value, type):
        for name in _DUMPS:
            method = getattr(value, name, None)
            fields = None
            if callable(method) and name == "model_dump":
                with suppress(TypeError):  # it only behaves like pydantic's
                    fields = method(mode="json", by_alias=True, warnings=False)
            if callable(method) and fields is None:
                fields = method()
            if fields is not None:
                return fields
        if is_dataclass(value) and not isinstance(value, type):
            return asdict(value)
        if attributes := cast("dict[str, Any]", getattr(value, "__dict__", None)):
            return {key: item for key, item in attributes.items() if not key.startswith("_")}
    raise ProviderFormatError("", f"of type {type(value).__name__}", "a dict, JSON text, or an object of an SDK")
