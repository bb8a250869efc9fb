"""A short text that matches a regular expression.

Look-arounds are ignored: match a text in its place before you rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from outspoken.patterns.syntax import Alternatives, Chars, Group, Node, Reference, Repeat, parse

#: The characters for an example, the most readable ones first.
_READABLE = "ax1 _-\n:=,.<>{}[]()\"'/|`" + "".join(map(chr, range(33, 127)))


def example(pattern: str) -> str:
    """A short text that matches; "" for a pattern that is not valid."""
    try:
        return _shortest(parse(pattern), {})
    except re.error:
        return ""


def _shortest(items: Iterable[Node], groups: dict[int, str]) -> str:
    text = ""
    for node in items:
        if isinstance(node, Chars):
            matches = re.compile(node.pattern() or ".").fullmatch
            text += next(filter(matches, (*_READABLE, *node.literals, *[low for low, _ in node.ranges])), "")
        elif isinstance(node, Alternatives):
            text += min([_shortest(branch, groups) for branch in node.branches], key=len)
        elif isinstance(node, Repeat):
            text += _shortest(node.body, groups) * node.low
        elif isinstance(node, Group):
            inner = _shortest(node.body, groups)
            groups |= {} if node.number is None else {node.number: inner}
            text += inner
        elif isinstance(node, Reference):
            text += groups.get(node.group, "")
    return text
