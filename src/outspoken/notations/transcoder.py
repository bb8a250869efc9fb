"""What scanners of islands in other notations than JSON have in common: what they read is said in JSON as it comes."""

from __future__ import annotations


class Transcoder:
    """What was said so far, as JSON. `broken` says that what was read last can be no such island, whatever follows."""

    #: it tells at once where it can be read no longer, and what it hands on is JSON
    detects_errors = transcodes = True
    search_special = None
    allow_controls = False
    held = 0

    def __init__(self) -> None:
        self._said: list[str] = []
        self._taken = 0
        self.broken = False

    @property
    def text(self) -> str:
        """All that was said, as JSON."""
        return "".join(self._said)

    def take_json(self) -> str:
        """What is said since it was last asked for."""
        new = "".join(self._said[self._taken :])
        self._taken = len(self._said)
        return new

    def finish(self) -> bool:
        """The text has ended: is the island complete? It never is without what closes it."""
        return False
