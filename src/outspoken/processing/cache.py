"""`ResponseCache`: a bounded, thread-safe cache of results."""

from __future__ import annotations

import pickle
from threading import Lock
from typing import Any, NamedTuple


class CacheInfo(NamedTuple):
    """The statistics of a cache: hits, misses, and the current and maximal number of results."""

    hits: int
    misses: int
    size: int
    max_size: int


class ResponseCache:
    """Stores results by a key that covers everything they depend on.

    Holds at most `max_size` results and drops the oldest first; with 0, it stores nothing. Results are stored pickled
    and every hit returns a new object, so that callers cannot change each other's results; this is faster than a deep
    copy. Raises ValueError for a negative `max_size`.
    """

    def __init__(self, max_size: int = 1000) -> None:
        if type(max_size) is not int or max_size < 0:
            raise ValueError(f"`max_size` is {max_size!r}; expected an integer of at least 0")
        self._max_size = max_size
        self._kept: dict[str, bytes] = {}
        self._hits = self._misses = 0
        self._lock = Lock()

    def get_parsed_response(self, response_hash: str) -> Any:
        """The result stored under a key, or None."""
        with self._lock:
            found = self._kept.get(response_hash)
            if found is None:
                self._misses += 1
                return None
            self._hits += 1
        return pickle.loads(found)

    def cache_parsed_response(self, response_hash: str, parsed: Any) -> None:
        """Store a result. It replaces a result of the same key and takes over its age.

        Raises what `pickle` raises for a result that cannot be pickled.
        """
        if not self._max_size:
            return
        kept = pickle.dumps(parsed, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if response_hash not in self._kept and len(self._kept) >= self._max_size:
                del self._kept[next(iter(self._kept))]
            self._kept[response_hash] = kept

    def info(self) -> CacheInfo:
        """The statistics since the cache was created or cleared."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._kept), self._max_size)

    def clear(self) -> None:
        """Remove all results and reset the statistics."""
        with self._lock:
            self._kept.clear()
            self._hits = self._misses = 0
