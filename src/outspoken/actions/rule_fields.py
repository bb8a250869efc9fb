"""The right side of a line of a mapping: the constants and sources of the fields of an action."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from outspoken.results.actions.base import PROVENANCE, BaseAction, ElementRef

from .fields import CONVERSIONS, JSON_TEXT, SUBMIT, field_type

#: A pattern for a word in quotes.
STRING = r'"(?:[^"\\]|\\.)*"'
#: A field that is in no model: the points of a drag as one list.
PATH = "path"

#: Named groups of arguments, from the header's `arguments`.
Groups = dict[str, tuple[str, ...]]


def unquoted(word: str) -> str:
    """A word without its quotes and escapes."""
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word


_FIELD = re.compile(rf'\s*([\w.]+)\s*=\s*({STRING}|[^\s,"()]+)\s*(?:,|$)')
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SOURCE = re.compile(r"([\w.$+|*]+?)(?::(\w+))?(!?)")
_BOOLEANS = {"true": True, "false": False}


class FieldSource(NamedTuple):
    """The arguments that a field is read from: the first source that is present. A source of two forms one point."""

    sources: tuple[tuple[str, ...], ...]
    conversion: str
    required: bool


def read_fields(
    text: str, type: str, model: type[BaseAction], named: Groups
) -> tuple[dict[str, Any], dict[str, FieldSource]]:
    """The constants and the sources of fields. Raises ValueError for an invalid field."""
    constants: dict[str, Any] = {}
    origins: dict[str, FieldSource] = {}
    expected = f"`field=source|source` or `field=constant` of `{type}`"
    for match in matches(_FIELD, text, expected):
        field, value = match[1], match[2]
        name, _, part = field.partition(".")
        is_known = name in model.model_fields and name not in PROVENANCE - {"id", "order"}
        is_path = field == PATH and field not in model.model_fields
        if not is_path and (not is_known or (part and part not in ElementRef.model_fields)):
            raise ValueError(f"`{field}={value}` is not {expected}")
        if value.startswith('"') or value in _BOOLEANS or _NUMBER.fullmatch(value):
            constants[field] = _constant(value, model, field)
        else:
            origins[field] = _origin(value, named)
    return constants, origins


def matches(pattern: re.Pattern[str], text: str, expected: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern that a text consists of. Raises ValueError where it holds something else."""
    pos = 0
    while text[pos:].strip():
        match = pattern.match(text, pos)
        if match is None:
            raise ValueError(f"`{text[pos:].strip()}` is not {expected}")
        yield match
        pos = match.end()


def _origin(value: str, named: Groups) -> FieldSource:
    """The arguments that a field is read from."""
    match = _SOURCE.fullmatch(value)
    conversion_names = {*CONVERSIONS, SUBMIT, JSON_TEXT}
    if match is None or (match[2] and match[2] not in conversion_names):
        conversions = ", ".join(sorted(conversion_names))
        raise ValueError(f"`{value}` is not `source|source`, `x+y` or `source:conversion`; conversions: {conversions}")
    sources: list[tuple[str, ...]] = []
    for source in match[1].split("|"):
        parts = tuple(source.split("+"))
        sources += [(s,) for s in named.get(source, (source,))] if len(parts) == 1 else [parts]
    return FieldSource(tuple(sources), match[2] or "", bool(match[3]))


def _constant(value: str, model: type[BaseAction], field: str) -> Any:
    if value.startswith('"'):
        text = unquoted(value)
        reader = field_type(model, field).reader if "." not in field else ""
        return text.split() if reader in ("keys", "modifiers", "texts") else text
    if value in _BOOLEANS:
        return _BOOLEANS[value]
    return float(value) if "." in value else int(value)
