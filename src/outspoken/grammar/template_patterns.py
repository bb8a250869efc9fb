"""Regular expressions of response templates as terminals: taken apart at their groups, bounded, with a spelling."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from outspoken.patterns.syntax import Alternatives, Chars, Group, Look, Position, Repeat, Sequence, parse

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?[:=!]|\(\?<[=!]|\{\d*,?\d*\}|.", re.DOTALL)
#: no delimiter spans more than this
_MOST = 200
_BLANKS = frozenset({r"\s", r"[ \t]", " ", r"\n"})


class Split(NamedTuple):
    """An expression taken apart at a named group: what stands before it, in it, and behind it."""

    before: str
    group: str
    after: str


def parts_of(source: Any, group: str) -> Split | None:
    """The parts of an expression; None where the group does not stand in its outermost sequence."""
    if not isinstance(source, str):
        return None
    depth, start, inside = 0, -1, -1
    for match in _TOKEN.finditer(source):
        token = match[0]
        if token == f"(?P<{group}>" and depth == 0:
            start, inside = match.start(), match.end()
        if token.startswith("("):
            depth += 1
        elif token == ")":
            depth -= 1
            if depth == 0 and start >= 0:
                before, after = source[:start], source[match.end() :]
                top = "|" in _outermost(before + after)
                return None if top else Split(before, source[inside : match.start()], after)
    return None


def _outermost(source: str) -> list[str]:
    """The tokens that stand in no group."""
    depth, found = 0, list[str]()
    for match in _TOKEN.finditer(source):
        depth += match[0].startswith("(")
        if depth == 0:
            found.append(match[0])
        depth -= match[0] == ")"
    return found


def bounded(source: str) -> str:
    """The same expression, with no repetition without an end: what may be long is held until its end has come."""
    parts: list[str] = []
    before = ""
    for match in _TOKEN.finditer(source):
        token = match[0]
        if token in ("*", "+") and before:
            token = f"{{{int(token == '+')},{99 if before in _BLANKS else _MOST}}}"
        parts.append("(?:" if token.startswith("(?P<") else token)
        before = match[0]
    return "".join(parts)


def written(source: str) -> str | None:
    """The shortest text that an expression matches by its first alternatives; None if a character is left open."""
    try:
        return _shortest(parse(bounded(source)))
    except (ValueError, re.error):
        return None


def _shortest(items: Sequence) -> str:
    found: list[str] = []
    for item in items:
        if isinstance(item, Chars) and item.only_literals and len(item.literals) == 1:
            found += item.literals
        elif isinstance(item, Group):
            found.append(_shortest(item.body))
        elif isinstance(item, Alternatives):
            found.append(_shortest(item.branches[0]))
        elif isinstance(item, Repeat):
            found.append(_shortest(item.body) * item.low if item.low else "")
        elif not isinstance(item, (Look, Position)) or (isinstance(item, Look) and item.is_negative):
            raise ValueError("any of many")
    return "".join(found)


def literal(text: str) -> str:
    """A text as a string of a grammar."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join([escapes.get(char, char) for char in text]) + '"'


def pattern(source: str, spelled: str | None) -> str:
    """An expression as an alternative of a terminal, behind how that is written. Raises re.error, ValueError."""
    re.compile(source)
    if "^" in _outermost(source) or "$" in _outermost(source):
        raise ValueError("`^` and `$` stand for places, not for text")
    escapes = {"/": r"\/", "\n": r"\n", "\\\n": r"\n"}
    safe = re.sub(r"\\.|/|\n", lambda m: escapes.get(m[0], m[0]), source, flags=re.DOTALL)
    read = f"/{safe}/s" if "." in _outermost(source) else f"/{safe}/"
    return f"{literal(spelled)} | {read}" if spelled else read
