"""The text that is being read: what is still needed of it, and where that stands in the whole."""

from __future__ import annotations

#: How many characters stay to the left of the reading position, for patterns that look behind.
LEFT = 32


class Buffer:
    """A window on a text that arrives in chunks.

    `pos` is the reading position in `buffer`, whose first character is at `base` of the raw text; `length` is the
    length of the raw text so far. What the prompt had opened is read at negative offsets.
    """

    base: int = 0
    pos: int = 0
    buffer: str = ""
    #: from where on free text is searched: before it, nothing can begin
    scan: int = 0
    length: int
    origin: int

    def __init__(self, base: int) -> None:
        self.base = self.length = self.origin = base
        self.chunks: list[str] = []

    def add(self, chunk: str) -> None:
        """A chunk has arrived."""
        gone = max(self.pos - LEFT, 0)
        self.buffer = self.buffer[gone:] + chunk
        self.base += gone
        self.pos -= gone
        self.scan = max(self.scan - gone, 0)
        self.chunks.append(chunk)
        self.length += len(chunk)

    def add_read(self, chunk: str) -> int:
        """A chunk has arrived and is read; returns its offset."""
        self.buffer = self.buffer[-LEFT:] + chunk
        self.chunks.append(chunk)
        start, self.length = self.length, self.length + len(chunk)
        self.pos = self.scan = len(self.buffer)
        self.base = self.length - self.pos
        return start

    def slice(self, start: int, end: int) -> str:
        """The raw text between two offsets."""
        if start >= self.base:
            return self.buffer[start - self.base : end - self.base]
        return self.tail(start)[: end - start]

    def tail(self, start: int) -> str:
        """The raw text from an offset on, as far as it has come."""
        parts: list[str] = []
        at = self.length
        for chunk in reversed(self.chunks):
            parts.append(chunk)
            at -= len(chunk)
            if at <= start:
                break
        return "".join(reversed(parts))[start - at :]

    def rewind(self, offset: int) -> None:
        """Go on reading at an offset that was read before."""
        if offset < self.base or self.base + len(self.buffer) != self.length:
            self.buffer = self.tail(max(offset - LEFT, self.origin))
            self.base = self.length - len(self.buffer)
        self.pos = self.scan = offset - self.base
