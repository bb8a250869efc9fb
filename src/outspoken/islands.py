"""Islands: JSON values inside other notations. They are found by a scanner and read by the standard decoder.

The scanner finds where a value ends by brackets and quotes alone, piece by piece; whether it is JSON is decided when
all of it is there. Read at once or in pieces, a value has the same extent and the same fate.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, cast

from .vocabulary import JSON_FIRST

_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')
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
_scan_once: Any = _DECODER.scan_once


class NotJson(ValueError):
    """An island that is not a JSON value."""


def read_at(text: str, pos: int, max_depth: int) -> tuple[Any, int, str] | None:
    """The JSON value that begins at `pos`, its end and its text, in one step; None where no sound one begins."""
    try:
        value, end = _scan_once(text, pos)
    except (StopIteration, ValueError, RecursionError):
        return None
    piece = text[pos:end]
    if piece[0] not in '{["' and _SCALAR.match(text, end).end() > end:
        return None
    if (piece.find("{", 1) > 0 or piece.find("[", 1) > 0) and piece[0] in "{[" and _too_deep(piece, max_depth):
        return None
    if "\\" in piece and "\\u" in piece:
        value = encodable(value)
    return value, end, piece


def _too_deep(piece: str, max_depth: int) -> bool:
    return piece.count("{") + piece.count("[") > max_depth and depth_of(piece) > max_depth


def decode(text: str, max_depth: int) -> Any:
    """The value of a text that is one JSON value. Raises NotJson."""
    stripped = text.lstrip(" \t\r\n")
    found = read_at(stripped, 0, max_depth) if stripped else None
    if found is None or stripped[found[1] :].strip(" \t\r\n"):
        raise NotJson(text[:80])
    return found[0]


def depth_of(text: str) -> int:
    """How deep the brackets of a sound JSON value nest."""
    depth = deepest = pos = 0
    end = len(text)
    scan = _OUTSIDE.search
    while (match := scan(text, pos, end)) is not None:
        pos = match.end()
        if match[0] == '"':
            while (match := _INSIDE.search(text, pos, end)) is not None and match[0] == "\\":
                pos = match.end() + 1
            pos = match.end() if match else end
        elif match[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def encodable(value: Any) -> Any:
    """The value with every lone surrogate replaced by U+FFFD, so that it can be encoded."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [encodable(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {encodable(k): encodable(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


class JsonScanner:
    """Finds the end of one JSON value in text that arrives in pieces.

    `depth` is how many brackets are open. `too_deep` says that the limit was passed; the value is then scanned to
    its end all the same, but not read.
    """

    __slots__ = ("_max", "_started", "_string", "_escaped", "_scalar", "depth", "too_deep")

    def __init__(self, max_depth: int) -> None:
        self._max = max_depth
        self._started = self._string = self._escaped = self._scalar = False
        self.depth = 0
        self.too_deep = False

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        """Read on from `pos`. Returns where reading stopped, and whether the value ended there."""
        length = len(text)
        if not self._started and pos < length:
            self._started = True
            self._scalar = text[pos] not in '"{['
        if self._scalar:
            end = _SCALAR.match(text, pos).end()
            return end, end < length
        while pos < length:
            if self._escaped:
                self._escaped = False
                pos += 1
            elif self._string:
                match = _INSIDE.search(text, pos)
                if match is None:
                    return length, False
                pos = match.end()
                if match[0] == "\\":
                    self._escaped = True
                else:
                    self._string = False
                    if not self.depth:
                        return pos, True
            else:
                match = _OUTSIDE.search(text, pos)
                if match is None:
                    return length, False
                pos = match.end()
                if self._bracket(match[0]):
                    return pos, True
        return pos, False

    def finish(self) -> bool:
        """The text has ended: is the value complete? Only a number or a literal can be."""
        return self._scalar

    def _bracket(self, char: str) -> bool:
        """Note a quote or bracket outside strings. Returns whether it ends the value."""
        if char == '"':
            self._string = True
            return False
        if char in "{[":
            self.depth += 1
            self.too_deep = self.too_deep or self.depth > self._max
            return False
        self.depth -= 1
        return self.depth <= 0


class JsonNotation:
    """How JSON islands are read."""

    scanner = JsonScanner

    def __init__(self, name: str) -> None:
        self._first = JSON_FIRST[name]

    def may_begin(self, char: str) -> bool:
        """May a value of this island begin with the character?"""
        return char in self._first

    def read_at(self, text: str, pos: int, max_depth: int, final: bool) -> tuple[Any, int, str] | None:
        """A value that is all there: the value, its end, its JSON text."""
        found = read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text) and text[pos] not in '{["'):
            return None
        return found

    def decode(self, text: str, max_depth: int) -> Any:
        """The value of a text that the scanner found. Raises NotJson."""
        return decode(text, max_depth)

    def as_json(self, text: str, value: Any) -> str:
        """The JSON text of a value that was read from `text`."""
        return text


@lru_cache(maxsize=1)
def _python() -> tuple[Any, Any]:
    """The modules that read Python literals, which few formats need."""
    from . import python_literals, values

    return python_literals, values.to_json


class PythonNotation:
    """How islands of Python literals are read."""

    def scanner(self, max_depth: int) -> Any:
        """A scanner for a value that arrives in pieces."""
        return _python()[0].PythonScanner(max_depth)

    def may_begin(self, char: str) -> bool:
        """May a literal begin with the character?"""
        return char != "" and char not in ",)]}=:"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool) -> tuple[Any, int, str] | None:
        """A value that is all there: the value, its end, its JSON text."""
        literals, to_json = _python()
        found = literals.read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text)):
            return None
        return found[0], found[1], to_json(found[0])

    def decode(self, text: str, max_depth: int) -> Any:
        """The value of a text that the scanner found. Raises NotJson."""
        return _python()[0].decode(text, max_depth)

    def as_json(self, text: str, value: Any) -> str:
        """The JSON text of a value that was read from `text`."""
        return _python()[1](value)


NOTATIONS: dict[str, Any] = {**{name: JsonNotation(name) for name in JSON_FIRST}, "PYTHON_VALUE": PythonNotation()}
