"""A cache of what was read, bounded and safe to share between threads."""

from __future__ import annotations

import pickle
from threading import Lock
from typing import Any, NamedTuple


class CacheInfo(NamedTuple):
    """What a cache has done: how often it had what was asked for, how often not; how much it holds, and may hold."""

    hits: int
    misses: int
    size: int
    max_size: int


class ResponseCache:
    """Keeps what was read, by a key that says all that it depends on.

    It holds `max_size` results at most; for another one, the oldest is dropped (first in, first out). With 0, nothing
    is kept. Results are kept pickled, and each one that is given out is made anew: nobody can change what others get,
    and that takes less time than a deep copy.
    """

    def __init__(self, max_size: int = 1000) -> None:
        if type(max_size) is not int or max_size < 0:
            raise ValueError(f"`max_size` is {max_size!r}; expected an integer of at least 0")
        self._max_size = max_size
        self._kept: dict[str, bytes] = {}
        self._hits = self._misses = 0
        self._lock = Lock()

    def get_parsed_response(self, response_hash: str) -> Any:
        """What is kept under a key; None where nothing is."""
        with self._lock:
            found = self._kept.get(response_hash)
            if found is None:
                self._misses += 1
                return None
            self._hits += 1
        return pickle.loads(found)

    def cache_parsed_response(self, response_hash: str, parsed: Any) -> None:
        """Keep a result. Under a key that is there already it takes the place of the old one, in the order, too.

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
        """What the cache has done since it was made or cleared."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._kept), self._max_size)

    def clear(self) -> None:
        """Forget everything, the counts included."""
        with self._lock:
            self._kept.clear()
            self._hits = self._misses = 0
