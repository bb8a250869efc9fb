"""How the notations write values: the parts from which `schema_forms` builds the form of a schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from outspoken.notations.braced import BracedNotation
from outspoken.notations.coerce import to_json
from outspoken.patterns.near_miss import fragments

from .automata import without
from .forms import EMPTY, NOTHING, Form, FreeText, Literal, Pattern, choice, seq, times
from .plain_patterns import escape

_ANY_TEXT = FreeText()
_HEX = "[0-9a-fA-F]"
#: A character of a JSON string: as it is, or as an escape. Halves of surrogate pairs are no characters.
JSON_CHAR = r'(?:[^"\\\x00-\x1f\x7f]|\\["\\/bfnrt]|\\u(?:[0-9a-ce-fA-CE-F]' + _HEX + r"{3}|[dD][0-7]" + _HEX + "{2}))"
INTEGER = "-?(?:0|[1-9][0-9]{0,14})"
NUMBER = rf"{INTEGER}(?:\.[0-9]{{1,12}})?(?:[eE][+-]?[0-9]{{1,2}})?"


class Style:
    """JSON, and what other notations write in another way.

    `held` is the text that each string has to be, if the value stands in a text that something in it might end.
    """

    #: what stands round strings, and round objects and lists
    mark = '"'
    braces, brackets = ("{", "}"), ("[", "]")
    null, true, false = "null", "true", "false"
    #: what strings hold without escapes, and whether strings of the known formats have none
    text = FreeText((r'["\\\x00-\x1f\x7f]',))
    has_formats = True
    #: white space that may stand beside punctuation, and behind the first bracket of an argument
    gap: Form = Pattern(r"[ \t\n]{0,40}")
    first_gap: Form = Pattern(r"[ \t\n]{0,9}")
    #: what stands between two entries, and between a key and its value
    separator: Form = seq(gap, Literal(","), gap)
    colon: Form = seq(gap, Literal(":"), gap)

    def __init__(self, held: FreeText = _ANY_TEXT) -> None:
        self._held = held
        self.text = FreeText((*self.text.excluded, *held.excluded), patterns=held.patterns)

    def key(self, name: str) -> Form:
        """A key of an object."""
        return self.value(name)

    def value(self, value: Any) -> Form:
        """A value that a schema names; NOTHING if the notation cannot write it."""
        is_nested = isinstance(value, (dict, list))
        return self._written(json.dumps(value, ensure_ascii=False) if is_nested else to_json(value))

    def _written(self, text: str) -> Form:
        return Literal(text) if without(self._held.excluded).reads(text) else NOTHING

    def _between(self, mark: str, regex: str) -> Form:
        """What matches a pattern between marks."""
        if self._held != _ANY_TEXT:
            return seq(Literal(mark), replace(self._held, patterns=(*self._held.patterns, regex)), Literal(mark))
        return Pattern(f"{mark}{regex}{mark}")

    def string(self, low: int, high: int | None) -> Form:
        """Any string of so many characters."""
        return self._between(self.mark, f"{JSON_CHAR}{times(low, high)}")

    def string_of(self, regex: str) -> Form:
        """A string that matches a pattern, which holds no quotes, escapes and control characters."""
        return self._between(self.mark, f"(?:{regex})") if self._held != _ANY_TEXT else self.quoted(Pattern(regex))

    def quoted(self, text: Form) -> Form:
        """A string without escapes."""
        return seq(Literal(self.mark), text, Literal(self.mark))


class PythonStyle(Style):
    """Python literals as `repr` writes them."""

    mark, null, true, false = "'", "None", "True", "False"
    text = FreeText((r"['\\\x00-\x1f\x7f-\xa0]",))
    gap = first_gap = EMPTY
    separator, colon = Literal(", "), Literal(": ")

    def value(self, value: Any) -> Form:
        return self._written(repr(value))

    def string(self, low: int, high: int | None) -> Form:
        escape = r"\\(?:['\"\\nrt]|x[0-9a-f]{2}|u(?:[0-9a-ce-f][0-9a-f]{3}|d[0-7][0-9a-f]{2}))"
        single = rf"(?:[^'\\\x00-\x1f\x7f]|{escape}){times(low, high)}"
        double = rf"(?:[^\"\\\x00-\x1f\x7f]|{escape}){times(low, high)}"
        return choice([self._between("'", single), self._between('"', double)])


class BracedStyle(Style):
    """Objects in braces with a mark round strings."""

    has_formats = False
    gap = first_gap = EMPTY
    separator, colon = Literal(","), Literal(":")

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark, self._write = mark, BracedNotation(mark).write
        self.text = FreeText((*_not_in(mark), r"[\x00-\x1f\x7f]"))

    def key(self, name: str) -> Form:
        written = self._write({name: None})
        return Literal(written[1:-6]) if written is not None else NOTHING

    def value(self, value: Any) -> Form:
        written = self._write(value)
        return NOTHING if written is None else Literal(written)

    def string(self, low: int, high: int | None) -> Form:
        return self.quoted(FreeText(_not_in(self.mark), low=low, high=high))


def _not_in(mark: str) -> tuple[str, ...]:
    """What text between marks may not hold: parts of the mark, since it is recognised with a mistake."""
    return tuple(sorted({escape(part) for part in fragments(mark) if part}))
