"""Finds and reads sound JSON values inside other text, whole or in pieces.

`read_at` reads a value that is complete, with the standard decoder. `JsonScanner` reads one that arrives in pieces, and
stops at the first character that cannot be JSON. Both find the same extent. `BracketCounter` finds the end of JSON by
its brackets alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import accumulate
from math import isfinite
from typing import Any, Protocol, cast

from pydantic_core import from_json, to_json

from outspoken.results.encoding import replace_surrogates


class TotalPattern(Protocol):
    """A pattern that matches at every place, if only an empty string."""

    def match(self, string: str, pos: int = 0, /) -> re.Match[str]: ...


def total_pattern(pattern: str) -> TotalPattern:
    """Compile a pattern that matches at every place."""
    return cast("TotalPattern", re.compile(pattern))


_INSIDE = re.compile(r'["\\\x00-\x1f]')
#: an escape sequence; its group matches only a complete one
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|u[0-9a-fA-F]{0,3})')
#: the escape of a half of a surrogate pair
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_BLANK = " \t\r\n"
BLANKS = total_pattern(r"[ \t\r\n]*")
_SOUND_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
#: Values behind this offset are first read from a window of this length. An error in its last `_TOKEN` characters may
#: be due to the end of the window.
_FAR, _TOKEN = 8192, 16
#: The decoder of pydantic reads values that are nested so deeply. A text so long is read with it first.
_PYDANTIC_DEPTH, _LONG = 200, 2000
_OPENER = {"}": "{", "]": "["}

#: What a scanner expects next.
_VALUE, _FIRST, _KEY, _FIRST_KEY, _COLON, _AFTER = range(6)
#: what is wanted where a key may begin
KEYS = (_KEY, _FIRST_KEY)
#: a number or literal, or nothing
_SCALAR = total_pattern(r"[A-Za-z0-9+.\-]*")

_NOT_BRACKETS = re.compile(r'[^"{}\[\]]+|"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
#: a complete string, a quote or a bracket
_NOT_QUOTED = re.compile(r"""["][^"\\]*(?:\\.[^"\\]*)*"|["'{}\[\]]""", re.DOTALL)
_QUOTED = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}


class NotJsonError(ValueError):
    """The text is not one JSON value."""


def finite(text: str) -> float:
    """The text as a float. Raises NotJsonError for infinity, NaN and numbers that are too large."""
    value = float(text)
    if not isfinite(value):
        raise NotJsonError(text[:80])
    return value


#: Finds the ends of keys.
_KEY_ENDS = re.compile(r'"[ \t\r\n]*:').findall

_DECODER = cast(Any, json.JSONDecoder(parse_constant=finite, parse_float=finite))
#: The standard decoder: takes a text and an offset, returns the value that begins there and its end.
scan_once: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once

#: What the decoder raises for a value that is not sound.
UNSOUND = (StopIteration, ValueError, RecursionError)


def read_at(text: str, pos: int, max_depth: int) -> tuple[Any, int, str] | None:
    """Read the JSON value that begins at `pos`. Returns the value, its end and its text; None if it is not sound."""
    try:
        return read_value(text, pos, max_depth)
    except UNSOUND:
        return None


def read_value(text: str, pos: int, max_depth: int) -> tuple[Any, int, str]:
    """The same. Raises one of `UNSOUND` if the value is not sound."""
    value, end = scan_once(text, pos) if pos < _FAR else _scan_far(text, pos)
    piece = text[pos:end]
    if len(piece) > max_depth or "\\" in piece:
        value = checked(value, piece, max_depth)
    if piece[0] not in '{["' and _SCALAR.match(text, end).end() > end:
        raise NotJsonError(piece)
    return value, end, piece


def place_of_damage(error: Exception) -> int:
    """Where a value is damaged, or cut, by the error that was raised; 0 if it does not say."""
    if isinstance(error, StopIteration):
        return error.value
    return error.pos if isinstance(error, json.JSONDecodeError) else 0


def checked(value: Any, piece: str, max_depth: int) -> Any:
    """What the decoder has read, without lone surrogates. Raises NotJsonError if it is nested too deeply.

    Text that is not longer than `max_depth` and has no backslash needs no check.
    """
    if piece.count("{") + piece.count("[") > max_depth and nests(value, max_depth):
        raise NotJsonError(piece[:80])
    return encodable_value(value) if "\\u" in piece and _HALF.search(piece) else value


def _scan_far(text: str, pos: int) -> tuple[Any, int]:
    """Call `scan_once` on a window of the text first, and on the text only if the window is too short.

    An error of the decoder counts the lines of all the text it was given, so that many broken values in one long text
    would take quadratic time.
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


def read_strictly(text: str, max_depth: int) -> Any:
    """The same as `decode` for a list or object, by the decoder of pydantic. Raises ValueError.

    It does not read lone surrogates, and reads numbers that are too large as infinity.
    """
    around = max(_PYDANTIC_DEPTH - max_depth, 0)
    value = from_json("[" * around + text + "]" * around, allow_inf_nan=False)
    for _ in range(around):
        (value,) = value
    return value


def decode(text: str, max_depth: int) -> Any:
    """Read a text that is one JSON value. Raises NotJsonError."""
    if len(text) > _LONG and text[0] in "{[":
        with suppress(ValueError):
            value = read_strictly(text, max_depth)
            if b"Infinity" not in to_json(value):
                return value
    stripped = text.lstrip(" \t\r\n")
    found = read_at(stripped, 0, max_depth) if stripped else None
    if found is None or stripped[found[1] :].strip(" \t\r\n"):
        raise NotJsonError(text[:80])
    return found[0]


def first_bracket(text: str) -> int:
    """Where the first opening bracket is; the end of the text if there is none."""
    return min([at for at in (text.find("{"), text.find("[")) if at >= 0], default=len(text))


def has_more_keys(text: str, count: int) -> bool:
    """May JSON have more keys than so many, so that one may be repeated? This is fast."""
    return text.count(":") > count and len(_KEY_ENDS(text)) > count


def may_repeat_keys(text: str, value: Any) -> bool:
    """May a key be repeated in the JSON text of a value? The value, written again, has fewer colons then. Fast."""
    try:
        return text.count(":") != to_json(value).count(b":")
    except ValueError:  # nested too deeply for the serializer
        return True


def repeated_keys(text: str, *, contradict: bool = False) -> list[str]:
    """The keys that objects repeat, in the JSON that begins with the first bracket of a text; none if it is damaged.

    Only those that `contradict`, if that is asked: with two values of which decoders keep the last without a word.
    """
    repeated: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: dict[str, str] = {}
            for key, value in pairs:
                if key in seen and not (contradict and seen[key] == repr(value)):
                    repeated[key] = None
                seen[key] = repr(value)
        return made

    with suppress(ValueError, RecursionError):
        json.JSONDecoder(object_pairs_hook=note, strict=False).raw_decode(text, first_bracket(text))
    return list(repeated)


def encodable_value(value: Any) -> Any:
    """The value with every lone surrogate replaced by U+FFFD, so that it can be encoded."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [encodable_value(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {encodable_value(k): encodable_value(v) for k, v in cast("dict[str, Any]", value).items()}
    return value


def nests(value: Any, limit: int) -> bool:
    """Is a value nested deeper than the limit?"""
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        parts = [inner for outer in level for inner in (outer.values() if outer.__class__ is dict else outer)]
        level = [inner for inner in parts if inner.__class__ is dict or inner.__class__ is list]
        if not level:
            return False
    return True


def too_deep(piece: str, max_depth: int) -> bool:
    """Do the brackets of a sound value nest deeper than the limit?"""
    return piece.count("{") + piece.count("[") > max_depth and depth_of(piece) > max_depth


def depth_of(text: str) -> int:
    """How deep the brackets of a sound JSON value nest."""
    return max(accumulate([1 if char in "{[" else -1 for char in _NOT_BRACKETS.sub("", text)]), default=0)


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
    value breaks later: a comma that nothing follows yet, the quote that ended a string, a number that may go on.
    `broken` is true once what was read cannot be JSON, whatever follows. With `allow_controls`, control characters in
    strings do not break the value. The nesting limit is checked when the complete value is read.
    """

    __slots__ = ("_want", "_stack", "_string", "_escape", "_scalar", "_keep", "held", "broken", "allow_controls")

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
        return piece

    def finish(self) -> bool:
        """Is the value complete if the text ends here? Only a number or a literal can be."""
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
            self._want = _COLON if self._want in KEYS else _AFTER
            return pos, not self._stack
        elif not self.allow_controls:
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
