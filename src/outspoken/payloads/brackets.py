"""Where JSON that cannot be read ends: at the bracket that closes its first one."""

from __future__ import annotations

import re

_STOP = re.compile(r"""["'{}\[\]\\]""")
_BEFORE_STRING = "{[,:"


class Brackets:
    """Counts brackets outside of strings, in text that arrives in pieces from the offset `at` on.

    `at` is how far the text was read, `end` the offset behind the last bracket, once it has come. `quote` is the one
    that opened the string which is being read. A single quote opens a string only where a value may begin, so that an
    apostrophe is none.
    """

    def __init__(self, at: int) -> None:
        self.at = at
        self.end: int | None = None
        self.quote = ""
        self._open: list[str] = []
        self._kinds = {"{": 0, "[": 0}
        self._escaped = False
        self._last = ""

    def run(self, text: str) -> None:
        """Read more text, up to the end at most."""
        pos = 0
        while pos < len(text) and self.end is None:
            if self._escaped:
                self._escaped, pos = False, pos + 1
                continue
            match = _STOP.search(text, pos)
            between = text[pos : match.start() if match else len(text)].rstrip()
            self._last = between[-1] if between else self._last
            if match is None:
                break
            self._take(match[0], self.at + match.end())
            pos = match.end()
        self.at += len(text)

    def _take(self, char: str, behind: int) -> None:
        if self.quote:
            if char == "\\":
                self._escaped = True
            elif char == self.quote:
                self.quote = ""
        elif char == '"' or (char == "'" and self._last in _BEFORE_STRING):
            self.quote = char
        elif char in "{[":
            self._open.append(char)
            self._kinds[char] += 1
        elif char in "}]":
            self._close("{" if char == "}" else "[")
            self.end = None if self._open else behind
        self._last = char

    def _close(self, opener: str) -> None:
        """A bracket closes its own kind, and all that was left open in it; or else nothing."""
        if not self._kinds[opener]:
            return
        while self._open:
            last = self._open.pop()
            self._kinds[last] -= 1
            if last == opener:
                return
