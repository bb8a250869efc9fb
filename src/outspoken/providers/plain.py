"""From what a client hands over to plain JSON values: the objects of SDKs, told by what they can do."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import date
from enum import Enum
from typing import Any, cast

from .errors import ProviderFormatError

_DEPTH = 200
_LEAVES = frozenset([str, int, float, bool, type(None)])


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON has it: objects of SDKs as dicts, bytes in base64, times as text, other sequences as lists."""
    kind = cast("type[Any]", type(value))
    if kind in _LEAVES:
        return value
    if depth > _DEPTH:
        raise ProviderFormatError("", f"nested deeper than {_DEPTH} levels", "a response")
    if kind is dict:
        known = cast("dict[Any, Any]", value)
        return {str(key): item if type(item) in _LEAVES else plain(item, depth + 1) for key, item in known.items()}
    return _odd(value, depth)


def _odd(value: Any, depth: int) -> Any:
    """The same for what is no plain dict."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): plain(item, depth + 1) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode("ascii")
    if isinstance(value, Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    return plain(_fields(value), depth + 1)


def _fields(value: Any) -> Any:
    """The fields of an object of an SDK."""
    if not isinstance(value, type):
        for way in (_dumped, _as_dict, _as_dataclass, _attributes):
            found = way(value)
            if found is not None:
                return found
    raise ProviderFormatError("", f"of type {type(value).__name__}", "a dict, JSON text, or an object of an SDK")


def _dumped(value: Any) -> Any:
    """A model of pydantic, or what behaves like one."""
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return None
    try:
        return dump(mode="json", by_alias=True, warnings=False)
    except TypeError:
        return dump()


def _as_dict(value: Any) -> Any:
    for name in ("to_dict", "dict"):
        method = getattr(value, name, None)
        if callable(method):
            return method()
    return None


def _as_dataclass(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else None


def _attributes(value: Any) -> Any:
    found: dict[str, Any] | None = getattr(value, "__dict__", None)
    return {key: item for key, item in found.items() if not key.startswith("_")} if found else None
