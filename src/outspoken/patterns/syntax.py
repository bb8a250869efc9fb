"""What the engine must know of a terminal's regular expression, found when its grammar is compiled."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any

# the parser of regular expressions has no public name, and another one since Python 3.11
_NEW = sys.version_info >= (3, 11)
c: Any = import_module("re._constants" if _NEW else "sre_constants")
sre: Any = import_module("re._parser" if _NEW else "sre_parse")

_GROUP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?!\?)", re.DOTALL)
REPEATS: tuple[Any, ...] = (c.MAX_REPEAT, c.MIN_REPEAT, getattr(c, "POSSESSIVE_REPEAT", c.MAX_REPEAT))

_SPACES = {char for char in map(chr, range(0x3001)) if char.isspace()}


class UnsafePatternError(ValueError):
    """A pattern that cannot be matched in a stream: whether it has ended depends on text that has not arrived."""


def without_groups(pattern: str) -> str:
    """The same pattern with its capturing groups made plain, so that groups can number terminals."""
    return _GROUP.sub(lambda m: "(?:" if m[0] == "(" else m[0], pattern)


def grows(pattern: str) -> bool:
    """May a match at the end of a text become longer when the text does?

    Raises UnsafePatternError where that cannot be seen from the match touching the end: an optional tail of
    several characters (`(name\\.)?` matches before its tail has arrived), an alternative that begins another, a
    negative look-ahead of several characters at the end, or `$`.
    """
    return _grows(list(sre.parse(pattern)))


def first(pattern: str) -> str:
    """The characters with which a match may begin, in order; "" where that is open."""
    try:
        flags = re.IGNORECASE if pattern.startswith("(?i:") or "(?i:" in pattern else 0
        found, empty = _first(list(sre.parse(pattern)))
    except KeyError:
        return ""
    if empty:
        return ""
    return "".join(sorted({c for char in found for c in ((char.lower(), char.upper()) if flags else (char,))}))


def _first(items: list[Any]) -> tuple[set[str], bool]:
    """The characters with which a sequence may begin, and whether it may be empty. Raises KeyError where it is open."""
    found = set[str]()
    for op, value in items:
        if op in (c.ASSERT, c.ASSERT_NOT, c.AT):
            continue
        chars, empty = _first_of(op, value)
        found |= chars
        if not empty:
            return found, False
    return found, True


def _first_of(op: Any, value: Any) -> tuple[set[str], bool]:
    if op in REPEATS:
        found, empty = _first(list(value[2]))
        return found, empty or not value[0]
    if op is c.SUBPATTERN:
        return _first(list(value[-1]))
    if op is c.BRANCH:
        branches = [_first(list(branch)) for branch in value[1]]
        return set[str]().union(*[chars for chars, _ in branches]), any(empty for _, empty in branches)
    return _chars(op, value), False


def _chars(op: Any, value: Any) -> set[str]:
    if op is c.LITERAL:
        return {chr(value)}
    if op is c.IN and all(k is c.LITERAL or (k, v) == (c.CATEGORY, c.CATEGORY_SPACE) for k, v in value):
        return set[str]().union(*[{chr(v)} if k is c.LITERAL else _SPACES for k, v in value])
    raise KeyError("any of many")


def beginning(pattern: str) -> tuple[set[str], set[str]] | None:
    """The white space with which a match may begin, and the characters that may stand first behind that.

    None where that is open, or where a match may be nothing but white space.
    """
    try:
        blank, solid, empty = _beginning(list(sre.parse(pattern)))
    except KeyError:
        return None
    return None if empty else (blank, solid)


def _beginning(items: list[Any]) -> tuple[set[str], set[str], bool]:
    """The same of a sequence, and whether it may be nothing but white space. Raises KeyError where that is open."""
    blank, solid = set[str](), set[str]()
    for op, value in items:
        if op in (c.ASSERT, c.ASSERT_NOT, c.AT):
            continue
        found, behind, empty = _beginning_of(op, value)
        blank |= found
        solid |= behind
        if not empty:
            return blank, solid, False
    return blank, solid, True


def _beginning_of(op: Any, value: Any) -> tuple[set[str], set[str], bool]:
    if op in REPEATS:
        blank, solid, empty = _beginning(list(value[2]))
        return blank, solid, empty or not value[0]
    if op is c.SUBPATTERN:
        blank, solid, empty = _beginning(list(value[-1]))
        if value[1] & re.IGNORECASE:
            solid = {case for char in solid for case in (char.lower(), char.upper())}
        return blank, solid, empty
    if op is c.BRANCH:
        parts = [_beginning(list(branch)) for branch in value[1]]
        blank, solid = set[str]().union(*[part[0] for part in parts]), set[str]().union(*[part[1] for part in parts])
        return blank, solid, any(part[2] for part in parts)
    chars = _chars(op, value)
    blank = {char for char in chars if char.isspace()}
    return blank, chars - blank, bool(blank)


def required(pattern: str) -> set[str]:
    """Characters that stand in every match, or in what it looks ahead to."""
    return _required(list(sre.parse(pattern)))


def _required(items: list[Any]) -> set[str]:
    found = set[str]()
    for op, value in items:
        if op is c.LITERAL:
            found.add(chr(value))
        elif op is c.BRANCH:
            found |= set[str].intersection(*[_required(list(branch)) for branch in value[1]])
        elif (
            (op is c.ASSERT and value[0] > 0)
            or (op in REPEATS and value[0])
            or (op is c.SUBPATTERN and not value[1] & re.IGNORECASE)
        ):
            found |= _required(list(value[-1]))
    return found


def wide(pattern: str) -> bool:
    """May the pattern still be open where a shorter or later one has matched already?

    So it is for one that spans other text (`` `[^`]*` ``), and for one that looks ahead.
    """
    return _wide(list(sre.parse(pattern)))


def _wide(items: list[Any]) -> bool:
    for op, value in items:
        if op is c.ASSERT and value[0] > 0:
            return True
        if op in REPEATS and value[1] > 1 and not _blank(value[2]):
            return True
        if op is c.SUBPATTERN and _wide(list(value[-1])):
            return True
        if op is c.BRANCH and any(_wide(list(branch)) for branch in value[1]):
            return True
        if op in REPEATS and _wide(list(value[2])):
            return True
    return False


def _blank(body: Any) -> bool:
    """Is a repeated item white space only?"""
    if len(body) != 1:
        return False
    op, value = body[0]
    items = value if op is c.IN else [(op, value)]
    return all((k is c.CATEGORY and v is c.CATEGORY_SPACE) or (k is c.LITERAL and chr(v).isspace()) for k, v in items)


#: How many texts of a pattern are looked at, and what may stand for a character that it leaves open.
_SHORTEST, _ANY_OF = 64, "x0_ <>{(\"':-"


def begins(one: str, other: str) -> bool:
    """May what one pattern matches be the beginning of what another matches? Asked of the shortest texts of the one."""
    import regex

    texts = _shortest(list(sre.parse(one)))
    opened = regex.compile(other)
    return any((found := opened.match(text, partial=True)) is not None and found.partial for text in texts if text)


def _shortest(items: list[Any]) -> list[str]:
    """The shortest texts that a sequence matches, one for each way through it, look-arounds aside."""
    texts = [""]
    for op, value in items:
        if op is c.BRANCH:
            found = [text for branch in value[1] for text in _shortest(list(branch))]
        elif op is c.SUBPATTERN:
            found = _shortest(list(value[-1]))
        elif op in REPEATS:
            found = [text * value[0] for text in _shortest(list(value[2]))] if value[0] else [""]
        else:
            found = _characters(op, value)
        texts = list(dict.fromkeys([text + more for text in texts for more in found]))[:_SHORTEST]
    return texts


def _characters(op: Any, value: Any) -> list[str]:
    """Some of the characters that an item matches; nothing for one that matches a place."""
    if op is c.LITERAL:
        return [chr(value)]
    if op is c.ANY or op is c.NOT_LITERAL:
        return [next(char for char in _ANY_OF if op is c.ANY or ord(char) != value)]
    if op is not c.IN:
        return [""]
    if value[0][0] is c.NEGATE:
        named = {chr(v) if k is c.LITERAL else " " for k, v in value}
        return [next((char for char in "~" + _ANY_OF if char not in named), "")]
    kinds = {c.CATEGORY_DIGIT: "0", c.CATEGORY_SPACE: " ", c.CATEGORY_WORD: "x"}
    return [chr(v) if k is c.LITERAL else chr(v[0]) if k is c.RANGE else kinds.get(v, "~") for k, v in value][:4]


def _grows(items: list[Any]) -> bool:
    """Does a sequence grow at its end?"""
    for op, _ in items:
        if op is c.AT and _ in (c.AT_END, c.AT_END_STRING):
            raise UnsafePatternError("`$` is true at the end of every chunk; the end of the text needs no marker")
    return _tail_grows(items)


def _tail_grows(items: list[Any]) -> bool:
    if not items:
        return False
    op, value = items[-1]
    if op in REPEATS:
        if not value[0]:
            _tail_grows(items[:-1])  # what stands before it may be the end, too, and raises
        return _repeat_grows(value)
    if op is c.SUBPATTERN:
        return _grows(list(value[-1]))
    if op is c.BRANCH:
        return _branch_grows([list(branch) for branch in value[1]])
    if op is c.ASSERT_NOT:
        if value[1].getwidth()[1] > 1:
            raise UnsafePatternError("a negative look-ahead at the end may look at one character only")
        return True
    if op is c.ASSERT:
        return False
    return False


def _repeat_grows(value: Any) -> bool:
    low, high, body = value
    if low == high:
        return _grows(list(body))
    if body.getwidth() != (1, 1):
        raise UnsafePatternError("an optional tail of several characters; make it a terminal of its own")
    return True


def _branch_grows(branches: list[list[Any]]) -> bool:
    literals = [_literal(branch) for branch in branches]
    for i, one in enumerate(literals):
        for j, other in enumerate(literals):
            if i != j and one is not None and other is not None and other.startswith(one):
                raise UnsafePatternError(
                    f"the alternative {one!r} begins {other!r}; make the rest a terminal of its own"
                )
    growing = [_grows(branch) for branch in branches]  # all of them: each may raise
    return any(growing)


def _literal(branch: list[Any]) -> str | None:
    """The text of a branch that is nothing but characters."""
    return "".join([chr(v) for _, v in branch]) if all(op is c.LITERAL for op, _ in branch) else None
