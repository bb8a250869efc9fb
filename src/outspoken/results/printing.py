"""How results print: on one line with long texts shortened, or in full over several lines.

The `repr` of a result is in its model, with the hooks of pydantic (`__repr_args__`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

if TYPE_CHECKING:
    from .diagnostics import Diagnostic

#: The longest text on one line, and how much of a longer one stays at its beginning and its end.
_LONGEST, _BEGINNING, _END = 80, 40, 20
#: The longest line.
_LINE = 240
#: The most segments and the most diagnostics of a reply that are printed.
_MOST = 20
#: Values nest no deeper over several lines.
_DEEPEST = 20
_INDENT = "  "
_WORD = re.compile(r"[\w.:/-]+")


class Word:
    """A text that prints without quotes if it is one word: the name of a tool, the type of a payload."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text if _WORD.fullmatch(self._text) else repr(self._text)


def one_line(value: object) -> str:
    """The `repr` of a value on one line, with long texts shortened. Of a reply, only what its first line has."""
    if isinstance(value, str):
        return _shorten_text(value)
    parts = _parts(value)
    if parts is None:
        return _shorten(repr(value))
    opening, items, closing = parts
    return _shorten(f"{opening}{', '.join([label + one_line(item) for label, item in items])}{closing}")


def several_lines(value: object, width: int = 100, depth: int = 0) -> str:
    """The `repr` of a value; with one item on each line if it is longer than `width`."""
    text = repr(value)
    parts = _parts(value) if len(text) + len(_INDENT) * depth > width and depth < _DEEPEST else None
    if parts is None or not parts[1]:
        return text
    opening, items, closing = parts
    lines = [f"{_INDENT * (depth + 1)}{label}{several_lines(item, width, depth + 1)},\n" for label, item in items]
    return f"{opening}\n{''.join(lines)}{_INDENT * depth}{closing}"


def reply_lines(reply: BaseModel, segments: Sequence[object], diagnostics: Sequence[Diagnostic]) -> str:
    """A reply on a few lines: its format, status and the like, each segment, and each diagnostic."""
    lines = [one_line(reply), *[one_line(segment) for segment in segments[:_MOST]]]
    if len(segments) > _MOST:
        lines.append(f"… {len(segments) - _MOST:,} more segments")
    lines += [f"{found.severity} {found}" for found in diagnostics[:_MOST]]
    if len(diagnostics) > _MOST:
        lines.append(f"… {len(diagnostics) - _MOST:,} more diagnostics")
    return f"\n{_INDENT}".join(lines)


def _parts(value: object) -> tuple[str, list[tuple[str, Any]], str] | None:
    """The brackets and the labelled items that the `repr` of a value has; None if it has no items."""
    if isinstance(value, BaseModel):
        lists = ("segments", "diagnostics") if "segments" in type(value).model_fields else ()
        args = [(name, item) for name, item in value.__repr_args__() if name not in lists]
        return f"{value.__repr_name__()}(", [(f"{name}=" if name else "", item) for name, item in args], ")"
    if is_dataclass(value) and not isinstance(value, type):
        return (
            f"{type(value).__name__}(",
            [("", getattr(value, field.name)) for field in fields(value) if field.repr],
            ")",
        )
    if type(value) is dict:
        return "{", [(f"{key!r}: ", item) for key, item in cast("dict[Any, Any]", value).items()], "}"
    if type(value) is list:
        return "[", [("", item) for item in cast("list[Any]", value)], "]"
    return None


def _shorten_text(text: str) -> str:
    if len(text) <= _LONGEST:
        return repr(text)
    return f"{text[:_BEGINNING] + ' … ' + text[-_END:]!r} ({len(text):,} characters)"


def _shorten(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[: _LINE - _END]} … {line[-_END:]}"
