"""`ResponseCache`: a bounded, thread-safe cache of results; and the fingerprints of values, which are its keys."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple, cast

from pydantic import BaseModel

from outspoken.notations.tools import Tools
from outspoken.results.arguments import check_count
from outspoken.results.old_names import with_old_names

_MAX_DEPTH = 100
_PLAIN = (str, int, float, bool, type(None))


class FingerprintError(TypeError):
    """A value has no digest, because its state is not fully visible."""


def fingerprint(*values: Any) -> str:
    """The digest of values: 32 hexadecimal digits.

    Accepts plain values, bytes, lists, tuples, dicts, sets, enumerations, dataclasses, pydantic models and model
    classes, and `Tools`. The order of a dict matters. Raises FingerprintError for everything else, such as functions.
    """
    digest = blake2b(digest_size=16)
    _write(values, digest.update, 0)
    return digest.hexdigest()


def _write(value: Any, put: Callable[[bytes], None], depth: int) -> None:
    """Write a value unambiguously: its type, its length, and its content."""
    kind = cast("type[Any]", type(value))
    if depth > _MAX_DEPTH:
        raise FingerprintError(f"a value nests deeper than {_MAX_DEPTH} levels")
    if kind in _PLAIN:
        _put(put, kind.__name__, value if kind is str else repr(value))
    elif kind is bytes:
        put(b"bytes %d:" % len(value))
        put(value)
    elif kind in (list, tuple):
        _write_all(kind.__name__, cast("list[Any]", value), put, depth)
    elif kind is dict:
        _write_all("dict", [part for item in cast("dict[Any, Any]", value).items() for part in item], put, depth)
    elif kind in (set, frozenset):
        _write_all(kind.__name__, sorted([fingerprint(item) for item in cast("set[Any]", value)]), put, depth)
    else:
        _write_object(value, put, depth)


def _write_object(value: Any, put: Callable[[bytes], None], depth: int) -> None:
    kind = cast("type[Any]", type(value))
    name = f"{kind.__module__}.{kind.__qualname__}"
    parts: list[Any]
    if isinstance(value, tuple):  # a named tuple
        parts = list(cast("tuple[Any, ...]", value))
    elif isinstance(value, Tools):
        types = {name: holder.type for name, holder in value.types_by_name.items()}
        parts = [part for tool in value.names for part in (tool, value.schema(tool), _identity(types.get(tool)))]
    elif isinstance(value, BaseModel) and not value.__pydantic_private__:
        # only fields: `__dict__` also has the cached properties that were read
        field_values = {field: getattr(value, field) for field in kind.model_fields} | (value.model_extra or {})
        parts = [part for item in field_values.items() for part in item]
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [part for field in fields(value) for part in (field.name, getattr(value, field.name))]
    elif isinstance(value, type) and issubclass(value, BaseModel):
        name, parts = f"class {value.__module__}.{value.__qualname__}", [value.model_json_schema()]
    elif isinstance(value, Enum):
        parts = [value.name]
    else:
        raise FingerprintError(f"a value of type {name} has no fingerprint")
    _write_all(name, parts, put, depth)


def _identity(type_: Any) -> str:
    """What tells a type from others of the same schema."""
    return f"{getattr(type_, '__qualname__', '')} {id(type_)}"


def _write_all(name: str, parts: list[Any], put: Callable[[bytes], None], depth: int) -> None:
    _put(put, name, str(len(parts)))
    for part in parts:
        _write(part, put, depth + 1)


def _put(put: Callable[[bytes], None], name: str, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    put(b"%s %d:" % (name.encode(), len(data)))
    put(data)


class CacheInfo(NamedTuple):
    """The statistics of a cache: hits, misses, and the current and maximal number of results."""

    hits: int
    misses: int
    size: int
    max_size: int


@with_old_names
class ResponseCache:
    """Stores results by a key that covers everything they depend on.

    Holds at most `max_size` results and drops the oldest first; with 0, it stores nothing. Results are stored pickled
    and every hit returns a new object, so that callers cannot change each other's results; this is faster than a deep
    copy. Raises ValueError for a negative `max_size`.
    """

    def __init__(self, max_size: int = 1000) -> None:
        check_count(max_size, "max_size")
        self._max_size = max_size
        self._kept: dict[str, bytes] = {}
        self._hits = self._misses = 0
        self._lock = Lock()

    def get(self, key: str) -> Any:
        """The result stored under a key, or None."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                self._misses += 1
                return None
            self._hits += 1
        return pickle.loads(found)

    def put(self, key: str, value: Any) -> None:
        """Store a result. It replaces a result of the same key and takes over its age.

        Raises what `pickle` raises for a result that cannot be pickled.
        """
        if not self._max_size:
            return
        kept = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if key not in self._kept and len(self._kept) >= self._max_size:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = kept

    def info(self) -> CacheInfo:
        """The statistics since the cache was created or cleared."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._kept), self._max_size)

    def clear(self) -> None:
        """Remove all results and reset the statistics."""
        with self._lock:
            self._kept.clear()
            self._hits = self._misses = 0
