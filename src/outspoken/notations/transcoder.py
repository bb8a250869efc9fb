"""The common part of scanners that read another notation than JSON and write it as JSON while it arrives."""

from __future__ import annotations

from typing import Any


class Transcoder:
    """Collects the JSON of what was read. `value` is the value once it is complete.

    `broken` is true once what was read cannot be a value of the notation, whatever follows.
    """

    detects_errors = transcodes = True
    search_special = None
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

    def finish(self) -> bool:
        """Is the value complete if the text ends here? Never, as its end is a mark of its own."""
        return False
