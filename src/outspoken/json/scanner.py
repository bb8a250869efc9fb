"""Reads one JSON value that arrives in pieces.

`JsonScanner` stops at the first character that cannot be JSON; it finds the same extent as the decoder does.
`BracketCounter` finds the end of JSON by its brackets alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .decoder import BLANKS, SCALAR

_INSIDE = re.compile(r'["\\\x00-\x1f]')
#: where a string may have ended whose closing quote is missing, and so far before its end that is looked for
_STRING_END = re.compile(r"[,:}\]]")
_FAR = 64
#: an escape sequence; its group matches only a complete one
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|u[0-9a-fA-F]{0,3})')
_BLANK = " \t\r\n"
_SOUND_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_OPENER = {"}": "{", "]": "["}

#: What a scanner expects next.
_VALUE, _FIRST, _KEY, _FIRST_KEY, _COLON, _AFTER = range(6)
#: what is wanted where a key may begin
KEYS = (_KEY, _FIRST_KEY)

#: a complete string, a quote or a bracket
_NOT_QUOTED = re.compile(r"""["][^"\\]*(?:\\.[^"\\]*)*"|["'{}\[\]]""", re.DOTALL)
_QUOTED = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}


class BracketCounter:
    """Counts the brackets outside of strings in text that arrives in pieces, until the first bracket is closed.

    `at` is the offset up to which the text was read. `end` is the offset behind the bracket that closes the first one,
    None before it was read. `quote` is the quote that opened the string being read, "" outside of strings.

    With `tolerant`, the JSON may be damaged: a single quote opens a string where a value may begin (elsewhere it is an
    apostrophe), and a closing bracket closes the last open bracket of its kind, with all that is open inside, or
    nothing. Without it, any closing bracket closes the last open one.
    """

    __slots__ = ("_escaped", "_kinds", "_last", "_open", "_tolerant", "at", "end", "quote")

    def __init__(self, at: int = 0, *, tolerant: bool = False) -> None:
        self.at = at
        self.end: int | None = None
        self.quote = ""
        self._tolerant = tolerant
        self._open: list[str] = []
        self._kinds = {"{": 0, "[": 0}
        self._escaped = False
        #: the last character outside of strings that is not white space
        self._last = ""

    def feed(self, text: str, pos: int = 0, stop: int | None = None) -> None:
        """Read text[pos:stop], which follows what was read before, up to the end of the value at most."""
        begun, stop = pos, len(text) if stop is None else stop
        if self._escaped and pos < stop:
            self._escaped, pos = False, pos + 1
        while pos < stop and self.end is None:
            match = (_QUOTED[self.quote] if self.quote else _NOT_QUOTED).search(text, pos, stop)
            if self._tolerant and not self.quote:
                between = text[pos : match.start() if match else stop].rstrip()
                self._last = between[-1] if between else self._last
            if match is None:
                break
            char, pos = match[0], match.end()
            if char == "\\":
                self._escaped = pos == stop
                pos += 1
            elif self.quote:
                self.quote = ""
            elif char in "{[":
                self._open.append(char)
                self._kinds[char] += 1
            elif char in "}]":
                self._close(_OPENER[char])
                self.end = None if self._open else self.at + pos - begun
            elif char == '"' or (char == "'" and self._tolerant and self._last in "{[,:"):
                self.quote = char
            self._last = char[0]
        self.at += stop - begun

    def _close(self, opener: str) -> None:
        if not self._tolerant:
            del self._open[-1:]
        elif self._kinds[opener]:
            while (last := self._open.pop()) != opener:
                self._kinds[last] -= 1
            self._kinds[opener] -= 1


class JsonScanner:
    """Reads one JSON value that arrives in pieces, as far as it is sound.

    `depth` is how many brackets are open. `held` is how many of the last characters read may get another meaning if the
    value breaks later: a comma that nothing follows yet, the quote that ended a string, a number that may go on, and
    the end of a string from the first of the last characters where it may have ended without a quote.
    `broken` is true once what was read cannot be JSON, whatever follows. With `allow_controls`, control characters in
    strings do not break the value. The nesting limit is checked when the complete value is read.
    """

    __slots__ = (
        "_want", "_stack", "_string", "_escape", "_scalar", "_keep", "_doubtful", "held", "broken", "allow_controls",
    )  # fmt: skip

    #: `broken` is set at the first character that cannot be read
    detects_errors = True
    #: the text itself is JSON
    transcodes = False

    def __init__(self) -> None:
        self.allow_controls = False
        self._want = _VALUE
        self._stack: list[str] = []
        self._string = self.broken = False
        self._escape = ""
        self._scalar: str | None = None
        #: the end of a string that is held
        self._doubtful = ""
        self._keep = self.held = 0

    @property
    def depth(self) -> int:
        """How many brackets are open."""
        return len(self._stack)

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        """Read on from `pos`. Returns where reading stopped and whether the value ended there."""
        begun, length, done = pos, len(text), False
        self._keep = pos - self.held
        while pos < length and not done and not self.broken:
            if self._string:
                pos, done = self._in_string(text, pos)
            elif self._scalar is not None:
                pos, done = self._in_scalar(text, pos)
            elif text[pos] in _BLANK:
                pos = BLANKS.match(text, pos).end()
            else:
                pos, done = self._token(text, pos)
        self.held = 0 if done else max(pos - self._keep, 0)
        return max(pos, begun), done

    def take_json(self) -> str:
        """Nothing: see `transcodes`."""
        return ""

    @property
    def search_special(self) -> Callable[[str], re.Match[str] | None] | None:
        """Inside a string, the search for the next character that is not plain text; None elsewhere."""
        return _INSIDE.search if self._string and not self._escape else None

    def receive(self, piece: str) -> str:
        """Read more of a string in which `search_special` finds nothing. Returns its JSON."""
        if self._doubtful or _STRING_END.search(piece) is not None:
            self._hold(piece)
            self.held = len(self._doubtful)
        return piece

    def release(self) -> int:
        """The text is cut here, so that a string does not end before: how many held characters are certain now."""
        released = len(self._doubtful)
        self.held -= released
        self._doubtful = ""
        return released

    def _hold(self, piece: str) -> None:
        """Hold the end of a string, of which a piece was read."""
        near = self._doubtful + piece
        if not self._doubtful or len(near) > _FAR:
            near = near[-_FAR:]
            sign = _STRING_END.search(near)
            near = "" if sign is None else near[sign.start() :]
        self._doubtful = near

    def finish(self) -> bool:
        """Is the value complete if the text ends here? Only a number or a literal can be."""
        return self._scalar is not None and not self._stack

    def _in_string(self, text: str, pos: int) -> tuple[int, bool]:
        if self._escape:
            return self._in_escape(text, pos), False
        match = _INSIDE.search(text, pos)
        end = len(text) if match is None else match.start()
        self._hold(text[max(pos, end - _FAR) : end])
        self._keep = end - len(self._doubtful)
        if match is None:
            return end, False
        pos, char = match.end(), match[0]
        if char == "\\":
            self._escape = char
        elif char == '"':
            self._string = False
            self._want = _COLON if self._want in KEYS else _AFTER
            return pos, not self._stack
        elif not self.allow_controls:
            self.broken = True
            return pos - 1, False
        else:
            self._hold(char)
        return pos, False

    def _in_escape(self, text: str, pos: int) -> int:
        begun = self._escape
        self._escape += text[pos : pos + (6 if begun[1:] == "u" or len(begun) > 2 else 2) - len(begun)]
        if self._escape == "\\u":
            self._escape += text[pos + 1 : pos + 5]
        match = _ESCAPE.fullmatch(self._escape)
        if match is None:
            self.broken = True
            sound = next(n for n in range(len(begun), 6) if _ESCAPE.fullmatch(self._escape[: n + 1]) is None)
            return pos + sound - len(begun)
        pos += len(self._escape) - len(begun)
        if match.lastindex:
            self._hold(self._escape)
            self._escape = ""
            self._keep = pos - len(self._doubtful)
        return pos

    def _in_scalar(self, text: str, pos: int) -> tuple[int, bool]:
        end = SCALAR.match(text, pos).end()
        self._scalar = f"{self._scalar}{text[pos:end]}"
        if end == len(text):
            return end, False
        scalar, self._scalar = self._scalar, None
        self.broken = _SOUND_SCALAR.fullmatch(scalar) is None
        self._want = _AFTER
        return end, not self._stack and not self.broken

    def _token(self, text: str, pos: int) -> tuple[int, bool]:
        """A bracket, a comma, a colon, or the first character of a string, a number or a literal."""
        char, want = text[pos], self._want
        self._doubtful = ""
        if char == '"' and want != _COLON and want != _AFTER:
            self._string = True
            self._keep = pos + 1
        elif char in "{[" and want in (_VALUE, _FIRST):
            self._stack.append(char)
            self._want = _FIRST_KEY if char == "{" else _FIRST
            self._keep = pos + 1
        elif char in "}]" and want in (_AFTER, _FIRST_KEY, _FIRST) and self._stack[-1:] == [_OPENER[char]]:
            self._stack.pop()
            self._want = _AFTER
            self._keep = pos + 1
            return pos + 1, not self._stack
        elif char == "," and want == _AFTER:
            self._want = _KEY if self._stack[-1] == "{" else _VALUE
            self._keep = pos
        elif char == ":" and want == _COLON:
            self._want = _VALUE
            self._keep = pos + 1
        elif want in (_VALUE, _FIRST) and SCALAR.match(text, pos).end() > pos:
            self._scalar = ""
            return pos, False
        else:
            self.broken = True
            return pos, False
        return pos + 1, False
