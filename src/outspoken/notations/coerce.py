"""Bare text as a typed value, by the schema of the argument (`SchemaView`) or by the format's rule; values as JSON."""

from __future__ import annotations

import json
from functools import cached_property
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

from typing_extensions import Self, override

from outspoken.json.decoder import NotJsonError, decode, has_more_keys, repeated_keys
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.schemas.schema import Schema, fits

_MAX_DEPTH = 128
_MAX_DIGITS = 4000

_INTEGER = lazy_pattern(r"[+-]?[0-9]+")
_INTEGRAL = lazy_pattern(r"([+-]?[0-9]+)\.0+")
#: `010` is none: it is a number in another base, or a code that is made of digits
_NUMBER = lazy_pattern(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_JSON_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = lazy_pattern(r"[+-]?[0-9.]*(?:[eE][+-]?[0-9]*)?")

_BOOLEANS = {"true": True, "false": False}
_NULLS = frozenset({"null", "none"})
_PYTHON = {"True": True, "False": False, "None": None}


def _beginnings(*words: str) -> frozenset[str]:
    return frozenset([word[:end] for word in words for end in range(len(word) + 1)])


_BOOLEAN_BEGUN = _beginnings(*_BOOLEANS)
_NULL_BEGUN = _beginnings(*_NULLS)
_WORD_BEGUN = _beginnings(*_BOOLEANS, *_PYTHON, "null")

_STRING = frozenset({"string"})
_NUMERIC = frozenset({"integer", "number"})
_NESTED = frozenset({"object", "array"})

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def read_bare(text: str, types: frozenset[str] | None, fallback: str) -> Any:
    """The value of an argument that is written as bare text.

    `types` are the JSON types that its schema allows. If they are not known (None), `fallback` decides: "json" reads
    the text as JSON, or as a string if it is not JSON; "text" reads it as a string. Text of no allowed type is returned
    as it is; see `fits`. If a string is allowed, too, only JSON spelling makes null, a number or a list.
    """
    if types is None:
        return text if fallback == "text" else _untyped(text)
    if (
        len(text) < 19
        and text.isdigit()
        and text.isascii()
        and (text[0] != "0" or text == "0")
        and "string" not in types
        and not _NUMERIC.isdisjoint(types)
    ):
        return int(text)  # the most usual case, so it is tested first
    bare = text.strip()
    if not bare or types <= _STRING:
        return text
    loose = "string" not in types
    if "null" in types and (bare.lower() in _NULLS if loose else text == "null"):
        return None
    if not _NUMERIC.isdisjoint(types) and (number := _number(bare, types, loose)) is not None:
        return number
    if "boolean" in types and (truth := _BOOLEANS.get(bare.lower())) is not None:
        return truth
    if not _NESTED.isdisjoint(types) and (nested := _nested(bare, loose)) is not None and fits(nested, types):
        return nested
    return text


def may_be_other_than_text(first_chars: str, types: frozenset[str] | None, fallback: str) -> bool:
    """Can text that begins so, white space aside, still become another value than a string?

    If not, it can be sent as pieces of a string while it arrives.
    """
    bare = first_chars.strip()
    if types is None:
        if fallback == "text":
            return False
        return not bare or bare[0] in '"[{' or bare in _WORD_BEGUN or _NUMBER_BEGUN.fullmatch(bare) is not None
    if types <= _STRING:
        return False
    lower = bare.lower()
    return (
        not bare
        or ("null" in types and lower in _NULL_BEGUN)
        or ("boolean" in types and lower in _BOOLEAN_BEGUN)
        or (bare[0] in "[{(" and not _NESTED.isdisjoint(types))
        or (not _NUMERIC.isdisjoint(types) and _NUMBER_BEGUN.fullmatch(bare) is not None)
    )


def to_json(value: Any) -> str:
    """The value as JSON text. Raises ValueError for infinity and NaN."""
    if isinstance(value, str):
        return encode_basestring(value)
    return repr(value) if value.__class__ is int else _ENCODER.encode(value)


def escape(piece: str) -> str:
    """A piece of a string as in JSON, without quotes. Escaped pieces may be joined."""
    return encode_basestring(piece)[1:-1]


def _untyped(text: str) -> Any:
    """The value of a text that is JSON or a Python literal; else the text itself."""
    bare = text.strip()
    if not bare or bare[0] not in '"[{-0123456789tfnTFN':
        return text
    if bare[0] in "[{":
        nested = _nested(bare, False)
        return text if nested is None else nested
    if bare in _PYTHON:
        return _PYTHON[bare]
    try:
        value = decode(bare, _MAX_DEPTH)
    except NotJsonError:
        return text
    return value if not isinstance(value, float) or isfinite(value) else text


def _number(text: str, types: frozenset[str], loose: bool) -> int | float | None:
    """The text as a number: an integer if it is spelled as one, or if no other is allowed; None if it is none."""
    if not (_NUMBER if loose else _JSON_NUMBER).fullmatch(text):
        return None
    if "number" not in types and loose and (integral := _INTEGRAL.fullmatch(text)):
        text = integral[1]
    if _INTEGER.fullmatch(text):
        try:
            return int(text) if len(text) <= _MAX_DIGITS else None
        except ValueError:
            return None
    value = float(text) if "number" in types else float("nan")
    return value if isfinite(value) else None


def _escaped(text: str) -> Any:
    """The value of JSON whose quotes are escaped as if it were inside a string; None if it is not JSON."""
    try:
        return decode(decode(f'"{text}"', 1), _MAX_DEPTH) if '\\"' in text else None
    except NotJsonError:
        return None


def _nested(text: str, loose: bool) -> list[Any] | dict[str, Any] | None:
    """The text as a list or object; None if it is none. `loose` allows tuples, sets and escaped JSON."""
    if not text.startswith(("[", "{", "(") if loose else ("[", "{")):
        return None
    if has_more_keys(text, 1) and repeated_keys(text, contradict=True):
        return None
    try:
        value = decode(text, _MAX_DEPTH)
    except NotJsonError:
        from .python_literals import decode as decode_python

        try:
            value = decode_python(text, _MAX_DEPTH, joins="none")
        except NotJsonError:
            value = _escaped(text) if loose else None
    if not isinstance(value, dict if text[0] == "{" and not loose else (dict, list)):
        return None
    try:
        _ENCODER.encode(value)
    except ValueError:
        return None
    return value  # pyright: ignore[reportUnknownVariableType]


class SchemaView(Schema):
    """One place of a schema, with `fallback`: how bare text is read if the schema gives no type, "json" or "text"."""

    def __init__(self, node: Any, root: Any, fallback: str) -> None:
        super().__init__(node, root)
        self._fallback = fallback

    @override
    def _at(self, node: Any) -> Self:
        return type(self)(node, self._root, self._fallback)

    @cached_property
    def is_text(self) -> bool:
        """Can the value only be a string?"""
        return self.types is not None and self.types <= {"string"}

    @cached_property
    def may_be_text(self) -> bool:
        """Can the value be a string?"""
        return self.types is None or "string" in self.types

    def may_be(self, kind: str) -> bool:
        """Can the value be of a JSON type?"""
        return self.types is None or kind in self.types

    def bare(self, text: str) -> Any:
        """The value of bare text."""
        return read_bare(text, self.types, self._fallback)

    def quoted(self, text: str) -> Any:
        """The value of text that is marked as a string. It is read as bare text only if no string is allowed."""
        return text if self.may_be_text else read_bare(text, self.types, "text")


#: The view of a value of which nothing is known.
ANY = SchemaView(None, None, "json")
