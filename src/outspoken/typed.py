"""The text that an action types, as far as it is certain while its call is still being written."""

from __future__ import annotations

import re

_STOP = re.compile(r"['\"\\]")
_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


class TypedText:
    """What is certain of a text that is being read.

    `sent` is what was certain so far. The last line break is held, since at the end it may stand for Enter. Of a
    quoted string, what comes before anything that is not plain is certain: a quote that may or may not end it, an
    escape that few write. `key` is the argument that holds it, `again` says that it was given twice.
    """

    __slots__ = ("_held", "_over", "_quote", "again", "key", "sent")

    def __init__(self, key: str) -> None:
        self.key, self.again = key, False
        self.sent = self._held = self._quote = ""
        self._over = False

    def bare(self, piece: str) -> str:
        """More of a text without quotes. Returns what became certain."""
        return "" if self._over else self._certain(piece)

    def end(self) -> None:
        """The argument that held it is over; another one begins."""
        self._over = True

    def _certain(self, piece: str) -> str:
        text = self._held + piece
        self._held = "\n" if text.endswith("\n") else ""
        text = text[: len(text) - len(self._held)]
        self.sent += text
        return text

    def quoted(self, piece: str) -> str:
        """More of a literal, from its first character on, or the blanks before it. Returns what became certain."""
        if self._over:
            return ""
        if not self._quote:
            piece = piece.lstrip(" \t\r\n")
            self._quote, piece = piece[:1], piece[1:]
            self._over = self._quote not in ("", "'", '"')
        certain: list[str] = []
        pos = 0
        if self._quote.endswith("\\") and piece and not self._over:
            self._quote, pos = self._quote[0], self._escape(piece, 0, certain)
        while not self._over and pos < len(piece):
            match = _STOP.search(piece, pos)
            certain.append(piece[pos : match.start() if match else len(piece)])
            pos = match.end() if match else len(piece)
            if match is None:
                break
            if match[0] == "\\" and pos == len(piece):
                self._quote += "\\"
            elif match[0] == "\\":
                pos = self._escape(piece, pos, certain)
            elif match[0] == self._quote:
                self._over = True
            else:
                certain.append(match[0])
        return self._certain("".join(certain))

    def _escape(self, piece: str, pos: int, certain: list[str]) -> int:
        """Read the character behind a backslash."""
        char = _ESCAPED.get(piece[pos])
        if char is None:
            self._over = True
        else:
            certain.append(char)
        return pos + 1
