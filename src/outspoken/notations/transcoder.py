"""The common part of scanners that read another notation than JSON and write it as JSON while it arrives."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=64)
def search_mark(mark: str) -> Callable[[str], re.Match[str] | None]:
    """The search for a place where a mark may begin."""
    return re.compile(re.escape(mark[0])).search


def overlap(text: str, pos: int, mark: str) -> int:
    """How many characters at the end of a text, from `pos` on, may be the beginning of a mark."""
    at = text.find(mark[:1], max(pos, len(text) - len(mark) + 1))
    while at >= 0:
        if mark.startswith(text[at:]):
            return len(text) - at
        at = text.find(mark[0], at + 1)
    return 0


class Transcoder:
    """Collects the JSON of what was read. `value` is the value once it is complete.

    `broken` is true once what was read cannot be a value of the notation, whatever follows.
    """

    detects_errors = transcodes = True
    allow_controls = False
    held = 0

    def __init__(self) -> None:
        self._written: list[str] = []
        #: how many of these pieces were taken
        self._taken = 0
        self.broken = False
        self.value: Any = None

    @property
    def depth(self) -> int:
        """How many brackets or elements are open."""
        raise NotImplementedError

    @property
    def search_special(self) -> Callable[[str], re.Match[str] | None] | None:
        """Inside text that is written as it arrives, the search for what may end it; None elsewhere."""
        return None

    def receive(self, piece: str) -> str:
        """Read more text in which `search_special` finds nothing. Returns its JSON."""
        raise NotImplementedError

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        """Read on from `pos`. Returns where reading stopped and whether the value ended there.

        What may be the beginning of a mark, tag or escape is not read before the rest of it arrives.
        """
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The JSON of all that was read."""
        return "".join(self._written)

    def take_json(self) -> str:
        """The JSON of what was read since the last call."""
        new = "".join(self._written[self._taken :])
        self._taken = len(self._written)
        return new

    def _receive(self, json: str) -> str:
        """Write JSON that is taken at once."""
        self._written.append(json)
        self._taken += 1
        return json

    def finish(self) -> bool:
        """Is the value complete if the text ends here? Never, as its end is a mark of its own."""
        return False
