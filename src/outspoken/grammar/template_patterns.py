"""Regular expressions of response templates as terminals: split at their groups, bounded, and with a spelling."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from outspoken.patterns.syntax import Alternatives, Chars, Group, Look, Position, Repeat, Sequence, parse

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?[:=!]|\(\?<[=!]|\{\d*,?\d*\}|.", re.DOTALL)
#: The most characters of an unbounded repetition.
_MAX_REPEAT = 200
_BLANKS = frozenset({r"\s", r"[ \t]", " ", r"\n"})


class Split(NamedTuple):
    """An expression split at a named group: what precedes it, the group, and what follows."""

    before: str
    group: str
    after: str


def parts_of(source: Any, group: str) -> Split | None:
    """Split an expression at a group; None if the group is not in its outermost sequence."""
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
    """The tokens outside of all groups."""
    depth, found = 0, list[str]()
    for match in _TOKEN.finditer(source):
        depth += match[0].startswith("(")
        if depth == 0:
            found.append(match[0])
        depth -= match[0] == ")"
    return found


def bounded(source: str) -> str:
    """The expression with bounded repetitions, since a stream holds a match back until it has ended."""
    parts: list[str] = []
    before = ""
    for match in _TOKEN.finditer(source):
        token = match[0]
        if token in ("*", "+") and before:
            token = f"{{{int(token == '+')},{99 if before in _BLANKS else _MAX_REPEAT}}}"
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
            raise ValueError("the expression leaves a character open")
    return "".join(found)


def literal(text: str) -> str:
    """A text as a string of a grammar file."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join([escapes.get(char, char) for char in text]) + '"'


def pattern(source: str, spelled: str | None) -> str:
    """An expression as the definition of a terminal, behind its spelling. Raises re.error, ValueError for `^`, `$`."""
    re.compile(source)
    if "^" in _outermost(source) or "$" in _outermost(source):
        raise ValueError("`^` and `$` stand for places, not for text")
    escapes = {"/": r"\/", "\n": r"\n", "\\\n": r"\n"}
    safe = re.sub(r"\\.|/|\n", lambda m: escapes.get(m[0], m[0]), source, flags=re.DOTALL)
    read = f"/{safe}/s" if "." in _outermost(source) else f"/{safe}/"
    return f"{literal(spelled)} | {read}" if spelled else read
