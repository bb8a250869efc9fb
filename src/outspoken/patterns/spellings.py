"""What a pattern spells: the texts that it stands for, if those are few, one of them, and it without its conditions."""

from __future__ import annotations

import re
from functools import lru_cache

from .syntax import Alternatives, Chars, Group, Look, Node, Position, Reference, Repeat, Sequence, parse

#: A pattern of more spellings is not spelled out; of a class of characters only the first few are.
_MAX_SPELLINGS, _MAX_CHARS = 12, 2
#: The characters for an example, the most readable ones first.
_READABLE = "ax1 _-\n:=,.<>{}[]()\"'/|`" + "".join(map(chr, range(33, 127)))


@lru_cache(maxsize=4096)
def spellings(pattern: str) -> tuple[str, ...]:
    """The texts that a pattern matches, with the least white space; none if they are not known or too many.

    Look-arounds are left out, and an optional part is there or not.
    """
    found = _extended(parse(pattern), ("",))
    return tuple(dict.fromkeys([text for text in found or () if text]))


def _extended(items: Sequence, starts: tuple[str, ...]) -> tuple[str, ...] | None:
    """The texts with each spelling of a sequence behind them."""
    for item in items:
        ends = _spellings_of(item)
        if ends is None:
            return None
        starts = tuple(dict.fromkeys([start + end for start in starts for end in ends]))
        if len(starts) > _MAX_SPELLINGS:
            return None
    return starts


def _spellings_of(item: Node) -> tuple[str, ...] | None:
    if isinstance(item, (Look, Position)):
        return ("",)
    if isinstance(item, Group):
        return _extended(item.body, ("",))
    if isinstance(item, Alternatives):
        branches = [_extended(branch, ("",)) for branch in item.branches]
        return None if None in branches else tuple([text for branch in branches for text in branch or ()])
    if isinstance(item, Chars):
        if item.is_space and len(item.literals) != 1:
            return (" ",)
        return item.literals[:_MAX_CHARS] if item.only_literals else None
    if isinstance(item, Repeat):
        return _repeated(item)
    return None


def _repeated(item: Repeat) -> tuple[str, ...] | None:
    if all(isinstance(part, Chars) and part.is_space for part in item.body):
        return (" " * item.low,)
    once = _extended(item.body, ("",))
    if item.low == 0:
        return ("", *(once or ())) if item.high == 1 else ("",)
    return once if item.low == item.high == 1 else None


def example(pattern: str) -> str:
    """A short text that matches, look-arounds aside: match it in its place; "" for a pattern that is not valid."""
    try:
        return _example_of(parse(pattern), {})
    except re.error:
        return ""


def _example_of(items: Sequence, groups: dict[int, str]) -> str:
    text = ""
    for node in items:
        if isinstance(node, Chars):
            matches = re.compile(node.pattern() or ".").fullmatch
            text += next(filter(matches, (*_READABLE, *node.literals, *[low for low, _ in node.ranges])), "")
        elif isinstance(node, Alternatives):
            text += min([_example_of(branch, groups) for branch in node.branches], key=len)
        elif isinstance(node, Repeat):
            text += _example_of(node.body, groups) * node.low
        elif isinstance(node, Group):
            inner = _example_of(node.body, groups)
            groups |= {} if node.number is None else {node.number: inner}
            text += inner
        elif isinstance(node, Reference):
            text += groups.get(node.group, "")
    return text


@lru_cache(maxsize=1024)
def without_conditions(pattern: str, *, negative: bool = False) -> str:
    """The pattern without the positive look-arounds in it: what it matches, whatever stands beside it.

    Without the negative ones, too, if that is asked.
    """
    conditions = ("(?=", "(?<=", "(?!", "(?<!") if negative else ("(?=", "(?<=")
    kept, at = "", 0
    while at < len(pattern):
        is_condition = pattern.startswith(conditions, at)
        end = at + 1 if pattern[at] == "(" and not is_condition else end_of(pattern, at)
        if not is_condition:
            kept += pattern[at:end]
        at = end
    return kept


@lru_cache(maxsize=1024)
def look_ahead(pattern: str) -> str:
    """What the last positive look-ahead of a pattern asks for; "" if it has none."""
    at = pattern.rfind("(?=")
    return pattern[at + 3 : end_of(pattern, at) - 1] if at >= 0 else ""


def end_of(pattern: str, at: int) -> int:
    """The end of the escape, class, group or character at a place."""
    if pattern[at] == "\\":
        return at + 2
    if pattern[at] == "[":
        end = at + 1 + pattern.startswith("^", at + 1)
        end += pattern.startswith("]", end)
        while pattern[end] != "]":
            end += 2 if pattern[end] == "\\" else 1
        return end + 1
    if pattern[at] == "(":
        end = at + 1
        while pattern[end] != ")":
            end = end_of(pattern, end)
        return end + 1
    return at + 1
