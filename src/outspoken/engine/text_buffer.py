"""The window on the text of a response: the part that is still needed, and its place in the whole."""

from __future__ import annotations

import re
from typing import Any

#: How many characters stay to the left of the reading position, for patterns that look behind.
LOOKBEHIND = 32
#: How many characters a fork has before the place where it begins: what speaks against a call may stand there.
CONTEXT = 200

BLANK = " \t\r\n\f"
#: White space, or none: always matches.
BLANKS: Any = re.compile(r"[ \t\r\n\f]*")


class TextBuffer:
    """A window on a text that arrives in chunks.

    `pos` is the reading position in `text`, whose first character has the offset `base` in the response. Free text is
    searched from `scan` on: no marker begins before it. `length` is the length of the response so far, and `origin` the
    offset of its first chunk. The prompt prefix has negative offsets.
    """

    base: int
    pos: int
    scan: int
    length: int
    origin: int
    text: str
    chunks: list[str]
    #: the window, and how many chunks there were, when it was narrowed
    _left: str
    _narrowed_at: int
    __slots__ = ("_left", "_narrowed_at", "base", "chunks", "length", "origin", "pos", "scan", "text")

    def __init__(self, base: int = 0) -> None:
        self.base = self.length = self.origin = base
        self.pos = self.scan = 0
        self.text = ""
        self.chunks = []

    def fork(self, offset: int) -> TextBuffer:
        """An independent buffer that reads on from an offset. It shares the text that is there, which may be long."""
        start = max(offset - CONTEXT, self.origin)
        if start < self.base or self.base + len(self.text) != self.length:
            window = self.tail(start)
        else:
            start, window = self.base, self.text
        made = TextBuffer(start)
        made.text, made.chunks, made.length = window, [window], self.length
        made.pos = made.scan = offset - start
        return made

    def copy(self) -> TextBuffer:
        """An independent buffer at the same place."""
        made = TextBuffer()
        made.continue_from(self)
        return made

    def continue_from(self, other: TextBuffer) -> None:
        """Take the place of another buffer, with all of its text."""
        self.text, self.chunks = other.text, other.chunks[:]
        self.base, self.pos, self.scan = other.base, other.pos, other.scan
        self.length, self.origin = other.length, other.origin

    @property
    def offset(self) -> int:
        """The offset of the reading position."""
        return self.base + self.pos

    @property
    def end(self) -> int:
        """The offset behind the last character in the window."""
        return self.base + len(self.text)

    def append(self, chunk: str) -> None:
        """Add a chunk that is to be read."""
        gone = max(self.pos - LOOKBEHIND, 0)
        self.text = self.text[gone:] + chunk
        self.base += gone
        self.pos -= gone
        self.scan = max(self.scan - gone, 0)
        self.chunks.append(chunk)
        self.length += len(chunk)

    def append_read(self, chunk: str) -> int:
        """Add a chunk that is read already, and return its offset."""
        self.text = text = self.text[-LOOKBEHIND:] + chunk
        self.chunks.append(chunk)
        start = self.length
        self.length = length = start + len(chunk)
        self.pos = self.scan = pos = len(text)
        self.base = length - pos
        return start

    def narrow(self) -> None:
        """Keep nothing but what is still to be read, since more of the text is read without looking at it here."""
        self._left, self._narrowed_at = self.text, len(self.chunks)
        self.base += self.pos
        self.text = self.text[self.pos :]
        self.pos = self.scan = 0

    def widen(self) -> None:
        """Bring back what stands to the left of the reading position, for patterns that look behind."""
        offset = self.base + self.pos
        kept = LOOKBEHIND + self.length - offset
        first = max(self._narrowed_at, len(self.chunks) - kept)
        window = "".join(self.chunks[first:])
        if first == self._narrowed_at:
            window = self._left + window
        self.text = window = window[-kept:]
        self.base = self.length - len(window)
        self.pos = self.scan = offset - self.base

    def append_unseen(self, chunk: str) -> None:
        """Add a chunk outside of the window; `rewind` brings it in."""
        self.chunks.append(chunk)
        self.length += len(chunk)

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets; a fork has none before its `origin`."""
        if start >= self.base:
            return self.text[start - self.base : end - self.base]
        return self.tail(start)[: max(end - max(start, self.origin), 0)]

    def tail(self, start: int) -> str:
        """The text from an offset on, as far as it has come."""
        chunks, at = self.chunks, self.length
        start = max(start, self.origin)
        if start - self.origin < at - start:  # more of the text than stands before it
            return "".join(chunks)[start - self.origin :]
        number = len(chunks)
        while number and at > start:
            number -= 1
            at -= len(chunks[number])
        return "".join(chunks[number:])[start - at :]

    def rewind(self, offset: int) -> None:
        """Continue to read at an earlier offset, with all chunks in the window."""
        if offset < self.base or self.base + len(self.text) != self.length:
            self.text = self.tail(max(offset - LOOKBEHIND, self.origin))
            self.base = self.length - len(self.text)
        self.pos = self.scan = offset - self.base
