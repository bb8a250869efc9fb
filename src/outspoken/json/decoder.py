"""Reads complete JSON values that are sound, with the standard decoder or that of pydantic, and looks at their text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from typing import Any, Protocol, cast

from pydantic_core import from_json, to_json

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.encoding import replace_surrogates

from .tokens import LONE_ESCAPE


class TotalPattern(Protocol):
    """A pattern that matches at every place, if only an empty string."""

    def match(self, string: str, pos: int = 0, /) -> re.Match[str]: ...


def total_pattern(pattern: str) -> TotalPattern:
    """A pattern that matches at every place, compiled when it is first used."""
    return cast("TotalPattern", lazy_pattern(pattern))


BLANKS = total_pattern(r"[ \t\r\n]*")
#: Values behind this offset are first read from a window of this length. An error in its last `_TOKEN` characters may
#: be due to the end of the window.
_FAR, _TOKEN = 8192, 16
#: The decoder of pydantic reads values that are nested so deeply, and empty ones one deeper. A text that is so long is
#: read with it first.
_PYDANTIC_DEPTH, _LONG = 200, 2000
#: a number or literal, or nothing
SCALAR = total_pattern(r"[A-Za-z0-9+.\-]*")


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
    if piece[0] not in '{["' and SCALAR.match(text, end).end() > end:
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
    if too_deep(value, piece, max_depth):
        raise NotJsonError(piece[:80])
    return encodable_value(value) if "\\u" in piece and LONE_ESCAPE.search(piece) else value


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

    It does not read lone surrogates, nor what is nested exactly so deeply, and reads numbers that are too large as
    infinity. The brackets round the text make its limit of nesting ours.
    """
    may_nest = len(text) > _LONG or text.count("{") + text.count("[") > max_depth
    around = max(_PYDANTIC_DEPTH + 1 - max_depth, 0) if may_nest else 0
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
    value_read = read_at(stripped, 0, max_depth) if stripped else None
    if value_read is None or stripped[value_read[1] :].strip(" \t\r\n"):
        raise NotJsonError(text[:80])
    return value_read[0]


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
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: dict[str, str] = {}
            for key, value in pairs:
                if key in seen and not (contradict and seen[key] == repr(value)):
                    repeated[key] = None
                seen[key] = repr(value)
        return members

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


def too_deep(value: Any, piece: str, max_depth: int) -> bool:
    """Is a value nested deeper than the limit? What has no more brackets in its text is not looked into."""
    return piece.count("{") + piece.count("[") > max_depth and nests(value, max_depth)
