"""Ids for the calls of one response."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable

#: So many digits, behind the prefix, are those of an id that is made here.
_DIGITS = 24


def is_made(id: str) -> bool:
    """Was an id made by `CallIds`, for a call that the model wrote without one?"""
    return re.fullmatch(rf"[a-z]+_[0-9a-f]{{{_DIGITS}}}", id) is not None


class CallIds:
    """Gives each call of one response an id that no other call of the response has, and none of those `taken`.

    An id that the model wrote is kept if it is free: some models count the calls of each response anew. Other ids are
    derived from the position of the call and from a `seed`, such as the id of the response, which is random by default:
    calls of different responses get different ids.
    """

    def __init__(self, seed: str | None = None, taken: Iterable[str] = (), prefix: str = "call_") -> None:
        self._prefix = prefix
        self._seed = seed or secrets.token_hex(12)
        self._given = set(taken)
        self._count = 0

    def next(self, written: str | None = None) -> str:
        """The id of the next call; `written` is the one that the model wrote, if any."""
        position, self._count = self._count, self._count + 1
        if not written or written in self._given:
            written = self._prefix + hashlib.sha256(f"{self._seed}:{position}".encode()).hexdigest()[:_DIGITS]
        self._given.add(written)
        return written
