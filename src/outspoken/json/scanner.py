"""Islands: JSON values inside other notations. They are found by a scanner and read by the standard decoder.

The scanner reads a value piece by piece and says at once where it can be JSON no longer. Read at once or in pieces, a
value has the same extent and the same fate.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

_OUTSIDE = re.compile(r'["{}\[\]]')
_QUOTED = re.compile(r'["\\]')
_INSIDE = re.compile(r'["\\\x00-\x1f]')
#: an escape sequence; its group takes part once the sequence is complete
_ESCAPE: Any = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|u[0-9a-fA-F]{0,3})')
_BLANK = " \t\r\n"
_BLANKS: Any = re.compile(r"[ \t\r\n]*")
_SOUND_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
#: From where on a value is read from a piece of the text first, and how long that is; how much of JSON, at most, may be
#: refused only because the piece ends in it.
_FAR, _TOKEN = 8192, 16
_OPENER = {"}": "{", "]": "["}

#: What a scanner may meet next.
_VALUE, _FIRST, _KEY, _FIRST_KEY, _COLON, _AFTER = range(6)
#: may be empty: it always matches
_SCALAR: Any = re.compile(r"[A-Za-z0-9+.\-]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (_INFINITY, -_INFINITY):
        raise ValueError(f"{text} is too large a number")
    return value


_INFINITY = float("inf")
_DECODER = cast(Any, json.JSONDecoder(parse_constant=_refuse, parse_float=_finite))
#: The standard decoder: the value that begins at a place, and its end.
scan_once: Any = _DECODER.scan_once


class NotJsonError(ValueError):
    """An island that is not a JSON value."""


def read_at(text: str, pos: int, max_depth: int) -> tuple[Any, int, str] | None:
    """The JSON value that begins at `pos`, its end and its text, in one step; None where no sound one begins."""
    try:
        value, end = scan_once(text, pos) if pos < _FAR else _scan_far(text, pos)
    except (StopIteration, ValueError, RecursionError):
        return None
    piece = text[pos:end]
    if piece[0] not in '{["' and _SCALAR.match(text, end).end() > end:
        return None
    if (piece.find("{", 1) > 0 or piece.find("[", 1) > 0) and piece[0] in "{[" and too_deep(piece, max_depth):
        return None
    if "\\" in piece and "\\u" in piece:
        value = encodable_value(value)
    return value, end, piece


def _scan_far(text: str, pos: int) -> tuple[Any, int]:
    """`scan_once` far into a text: a piece of it alone, if that decides.

    Where the decoder fails, it counts the lines of all that it was given, so that many broken values in one long text
    would cost the square of its length.
    """
    piece = text[pos : pos + _FAR]
    try:
        value, end = scan_once(piece, 0)
    except json.JSONDecodeError as error:
        if error.pos < len(piece) - _TOKEN and not error.msg.startswith("Unterminated string"):
            raise
    except StopIteration as stop:
        if stop.value < len(piece) - _TOKEN:
            raise
    else:
        if end < len(piece):
            return value, pos + end
    return scan_once(text, pos)


def too_deep(piece: str, max_depth: int) -> bool:
    return piece.count("{") + piece.count("[") > max_depth and depth_of(piece) > max_depth


def decode(text: str, max_depth: int) -> Any:
    """The value of a text that is one JSON value. Raises NotJsonError."""
    stripped = text.lstrip(" \t\r\n")
    found = read_at(stripped, 0, max_depth) if stripped else None
    if found is None or stripped[found[1] :].strip(" \t\r\n"):
        raise NotJsonError(text[:80])
    return found[0]


def depth_of(text: str) -> int:
    """How deep the brackets of a sound JSON value nest."""
    depth = deepest = pos = 0
    end = len(text)
    scan = _OUTSIDE.search
    while (match := scan(text, pos, end)) is not None:
        pos = match.end()
        if match[0] == '"':
            while (match := _QUOTED.search(text, pos, end)) is not None and match[0] == "\\":
                pos = match.end() + 1
            pos = match.end() if match else end
        elif match[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def balanced(text: str, start: int, end: int) -> int:
    """Where the bracket that opens at `start` is closed, by brackets and sound strings alone; -1 where it is not."""
    depth, pos = 0, start
    while (match := _OUTSIDE.search(text, pos, end)) is not None:
        pos = match.end()
        if match[0] == '"':
            while (match := _QUOTED.search(text, pos, end)) is not None and match[0] == "\\":
                pos = match.end() + 1
            if match is None:
                return -1
            pos = match.end()
        elif match[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                return pos
    return -1


def encodable_value(value: Any) -> Any:
    """The value with every lone surrogate replaced by U+FFFD, so that it can be encoded."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [encodable_value(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {encodable_value(k): encodable_value(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


class JsonScanner:
    """Reads one JSON value that arrives in pieces, as far as it is sound.

    `depth` is how many brackets are open. `held` is how many of the last characters that were read may still turn out
    to stand otherwise if the value breaks further on: a comma that nothing follows, the quote that ended a string, a
    number that goes on. `broken` says that what was read last can be no JSON, whatever follows.
    """

    __slots__ = ("_want", "_stack", "_string", "_escape", "_scalar", "_keep", "held", "broken", "lenient")

    #: it tells at once where it can be JSON no longer
    tells = True
    #: what it reads is handed on as it stands
    transcodes = False

    def __init__(self, max_depth: int) -> None:
        #: control characters in strings do not break the value; what it says is refused when all of it is there
        self.lenient = False
        del max_depth  # what nests too deeply is refused when all of it is there
        self._want = _VALUE
        self._stack: list[str] = []
        self._string = self.broken = False
        self._escape = ""
        self._scalar: str | None = None
        self._keep = self.held = 0

    @property
    def depth(self) -> int:
        """How many brackets are open."""
        return len(self._stack)

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        """Read on from `pos`. Returns where reading stopped, and whether the value ended there."""
        begun, length, done = pos, len(text), False
        self._keep = pos - self.held
        while pos < length and not done and not self.broken:
            if self._string:
                pos, done = self._in_string(text, pos)
            elif self._scalar is not None:
                pos, done = self._in_scalar(text, pos)
            elif text[pos] in _BLANK:
                pos = _BLANKS.match(text, pos).end()
            else:
                pos, done = self._token(text, pos)
        self.held = 0 if done else max(pos - self._keep, 0)
        return max(pos, begun), done

    @property
    def plain(self) -> Any:
        """What finds a character that may not stand in what is being read; None where that is no string."""
        return _INSIDE.search if self._string and not self._escape else None

    def finish(self) -> bool:
        """The text has ended: is the value complete? Only a number or a literal can be."""
        return self._scalar is not None and not self._stack

    def _in_string(self, text: str, pos: int) -> tuple[int, bool]:
        if self._escape:
            return self._in_escape(text, pos), False
        match = _INSIDE.search(text, pos)
        if match is None:
            self._keep = len(text)
            return len(text), False
        pos, char = match.end(), match[0]
        self._keep = pos - 1
        if char == "\\":
            self._escape = char
        elif char == '"':
            self._string = False
            self._want = _COLON if self._want in (_KEY, _FIRST_KEY) else _AFTER
            return pos, not self._stack
        elif not self.lenient:
            self.broken = True
            return pos - 1, False
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
            self._escape = ""
            self._keep = pos
        return pos

    def _in_scalar(self, text: str, pos: int) -> tuple[int, bool]:
        end = _SCALAR.match(text, pos).end()
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
        elif want in (_VALUE, _FIRST) and _SCALAR.match(text, pos).end() > pos:
            self._scalar = ""
            return pos, False
        else:
            self.broken = True
            return pos, False
        return pos + 1, False
