"""Signs at the edge of a value that may stand for one of the marker or the quotation mark beside it."""

from __future__ import annotations

#: No value begins, or ends, with one of these where a marker beside it lacks a sign: it stands for that.
_NO_START, _NO_END = frozenset(" \t<>|}]),:;="), frozenset(" \t<>|([{,:;=")
_QUOTES = frozenset("\"'")
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def has_odd_start(line: str) -> bool:
    """Does a line begin with a sign that begins no value, or with a quotation mark that has no other one?"""
    return line[:1] in _NO_START or (line[:1] in _QUOTES and line.count(line[:1]) % 2 == 1)


def has_odd_end(text: str) -> bool:
    """Does a text end with a sign that ends no value, or with a bracket or a quotation mark alone in its last line?"""
    last, line = text[-1:], text.rpartition("\n")[2]
    opener = _BRACKETS.get(last)
    if opener is not None:
        return line.count(opener) < line.count(last)
    return last in _NO_END or (last in _QUOTES and line.count(last) % 2 == 1)
