"""A short text that matches a regular expression.

Look-arounds are ignored: match a text in its place before you rely on it.
"""

from __future__ import annotations

import re
from functools import cache

from outspoken.patterns.syntax import Alternatives, Chars, Group, Node, Reference, Repeat, Sequence, parse

#: The characters for an example, the most readable ones first.
_READABLE = "ax1 _-\n:=,.<>{}[]()\"'/|`" + "".join(map(chr, range(33, 127)))


def example(pattern: str) -> str:
    """A short text that matches; "" for a pattern that is not valid."""
    try:
        return _shortest(parse(pattern), {})
    except re.error:
        return ""


def _shortest(items: Sequence, groups: dict[int, str]) -> str:
    return "".join([_shortest_of(node, groups) for node in items])


def _shortest_of(node: Node, groups: dict[int, str]) -> str:
    if isinstance(node, Chars):
        return next(iter(_matching(node, (*_READABLE, *node.literals, *[low for low, _ in node.ranges]))), "")
    if isinstance(node, Alternatives):
        return min([_shortest(branch, groups) for branch in node.branches], key=len)
    if isinstance(node, Repeat):
        return _shortest(node.body, groups) * node.low
    if isinstance(node, Group):
        text = _shortest(node.body, groups)
        groups |= {} if node.number is None else {node.number: text}
        return text
    return groups.get(node.group, "") if isinstance(node, Reference) else ""


@cache
def _matching(chars: Chars, choices: tuple[str, ...]) -> list[str]:
    """The characters of a class among some."""
    matches = re.compile(chars.pattern() or ".").fullmatch
    return [char for char in choices if matches(char)]
