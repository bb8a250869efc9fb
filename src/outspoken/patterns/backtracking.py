"""Patterns that backtrack without bound: `(a+)+b` tries every way to split a run of `a`, and their number doubles with
each character. Grammars come with checkpoints of models, so such a pattern is refused when it is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .syntax import Alternatives, Chars, Group, Look, Node, Repeat, Sequence, parse

#: A repeat of at least so many times counts as one without bound.
_MANY = 16
#: Characters that are tried beside those of the pattern, one for each category.
_SAMPLES = ("a", "0", " ", "-", "\n")


def backtracks(pattern: str) -> bool:
    """May a search for a pattern take exponential time?

    It may if a repeat can read a run of one character in several ways: since what it repeats holds a repeat itself, or
    alternatives of which more than one reads it. Raises what `parse` raises.
    """
    nodes = list(_nodes(parse(pattern)))
    chars = {char for node in nodes if isinstance(node, Chars) for char in _chars(node)} | set(_SAMPLES)
    repeats = [node for node in nodes if isinstance(node, Repeat) and node.high >= _MANY]
    return any(_is_repeat(node.body) or any(_ways(node.body, char) > 1 for char in chars) for node in repeats)


def _nodes(items: Sequence) -> Iterator[Node]:
    """All nodes of a pattern."""
    for item in items:
        yield item
        for body in _bodies(item):
            yield from _nodes(body)


def _is_repeat(items: Sequence) -> bool:
    """May a sequence be nothing but a repeat?"""
    for at, item in enumerate(items):
        if all(map(_may_be_empty, items[:at] + items[at + 1 :])):
            if isinstance(item, Repeat) and item.width[1] and (item.high >= _MANY or _is_repeat(item.body)):
                return True
            if isinstance(item, (Alternatives, Group)) and any(map(_is_repeat, _bodies(item))):
                return True
    return False


def _bodies(item: Node) -> tuple[Sequence, ...]:
    if isinstance(item, Alternatives):
        return item.branches
    return (item.body,) if isinstance(item, (Repeat, Group, Look)) else ()


def _chars(item: Chars) -> set[str]:
    return {*item.literals, *[low for low, _ in item.ranges]}


def _ways(items: Sequence, char: str) -> int:
    """In how many ways a sequence reads a run of a character at least (2 for any more): 0 if it does not, or only
    without a character."""
    found = 0
    for item in items:
        ways = _ways_of(item, char)
        if not ways and not _may_be_empty(item):
            return 0
        found = max(found, ways)
    return found


def _ways_of(item: Node, char: str) -> int:
    if isinstance(item, Chars):
        return int(re.match(item.pattern() or r"[\s\S]", char) is not None)
    if isinstance(item, Alternatives):
        return min(sum(_ways(branch, char) for branch in item.branches), 2)
    if isinstance(item, Repeat):
        return 2 * bool(_ways(item.body, char)) if item.high >= _MANY else _ways(item.body, char)
    return _ways(item.body, char) if isinstance(item, Group) else 0


def _may_be_empty(item: Node) -> bool:
    """May a node read nothing? Conditions do."""
    if isinstance(item, Repeat):
        return item.low == 0 or all(map(_may_be_empty, item.body))
    if isinstance(item, Alternatives):
        return any(all(map(_may_be_empty, branch)) for branch in item.branches)
    return all(map(_may_be_empty, item.body)) if isinstance(item, Group) else not isinstance(item, Chars)
