"""A short text for each terminal of a grammar, to show what the grammar reads."""

from __future__ import annotations

import re
from typing import Any

from outspoken.grammar.tables import END
from outspoken.grammar.vocabulary import SPELLED_VALUES, short
from outspoken.patterns.syntax import sre_constants as c
from outspoken.patterns.syntax import sre_parser as sre

_KNOWN = {
    "TEXT": "text", "CODE": "code", "REASONING": "text", "ARG_VALUE": "1", "JSON_VALUE": "1", "JSON_OBJECT": "{}",
    "JSON_ARRAY": "[]", "JSON_STRING": '"a"',
    "JSON_NUMBER": "1", "JSON_BOOLEAN": "true", "JSON_NULL": "null",
    "PYTHON_VALUE": "1", "TOOL_NAME": "f", "ARG_NAME": "a",
    "BRACED_OBJECT": "{}", "TAGGED_OBJECT": "",
}  # fmt: skip
_KINDS = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
#: The characters to show, the best first.
_CHARACTERS = "ax1 _-\n:=,.<>{}[]()\"'/|`" + "".join(map(chr, range(33, 127)))


def sample(name: str, pattern: str, canonical: str = "") -> str:
    """A text for a terminal: what is written, a value that is known by its name, else an example of its pattern."""
    if short(name) in SPELLED_VALUES:
        return _KNOWN[short(name)]
    return canonical or _KNOWN.get(short(name)) or example(pattern)


def samples(terminals: dict[str, tuple[str, str]]) -> dict[str, str]:
    """A text for each terminal, of which the pattern and the canonical text is given; empty for the end of the text."""
    found = {name: sample(name, pattern, canonical) for name, (pattern, canonical) in terminals.items()}
    return {**found, END: ""}


def example(pattern: str) -> str:
    """A short text that a regular expression matches, but for what it asks of the text round it."""
    try:
        return _sequence(list(sre.parse(pattern)), {})
    except (re.error, ValueError):
        return ""


def _sequence(items: list[Any], groups: dict[int, str]) -> str:
    return "".join([_one(op, value, groups) for op, value in items])


def _one(op: Any, value: Any, groups: dict[int, str]) -> str:
    if op is c.LITERAL:
        return chr(value)
    if op in (c.IN, c.NOT_LITERAL, c.ANY):
        return _character(op, value)
    if op is c.SUBPATTERN:
        text = _sequence(list(value[-1]), groups)
        groups[value[0]] = text
        return text
    if op is c.GROUPREF:
        return groups.get(value, "")
    if op is c.BRANCH:
        return min([_sequence(list(branch), groups) for branch in value[1]], key=len)
    if str(op) in _REPEATS:
        low, _, body = value
        return _sequence(list(body), groups) * int(low)
    return ""


def _character(op: Any, value: Any) -> str:
    """The nicest character of a class of them."""
    if op is c.ANY:
        return "a"
    if op is c.NOT_LITERAL:
        return next(char for char in _CHARACTERS if ord(char) != value)
    negated = value[0][0] is c.NEGATE
    known = [one for one in value if one[0] is not c.NEGATE]
    for char in [*_CHARACTERS, *[chr(v if op is c.LITERAL else v[0]) for op, v in known if op is not c.CATEGORY]]:
        if any(_holds(char, op, v) for op, v in known) != negated:
            return char
    return ""


def _holds(char: str, op: Any, value: Any) -> bool:
    if op is c.LITERAL:
        return ord(char) == value
    if op is c.RANGE:
        return value[0] <= ord(char) <= value[1]
    name = str(value).removeprefix("CATEGORY_")
    return bool(re.fullmatch(_KINDS[name.removeprefix("NOT_")], char)) != name.startswith("NOT_")
