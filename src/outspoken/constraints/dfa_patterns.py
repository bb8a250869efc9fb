"""Automata as regular expressions without look-around, which Python, Rust and C++ engines read alike."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .automata import Dfa
from .char_sets import ANY_CHAR, CharSet, negated
from .plain_patterns import escape, in_class


def set_pattern(chars: CharSet) -> str:
    """A set of characters as a class of a regular expression."""
    if chars == ANY_CHAR:
        return r"[\s\S]"
    if len(chars) == 1 and chars[0][0] == chars[0][1]:
        return escape(chr(chars[0][0]))
    others = negated(chars)
    if len(others) < len(chars):
        return f"[^{_ranges(others)}]"
    return f"[{_ranges(chars)}]"


def _ranges(chars: CharSet) -> str:
    found = ""
    for low, high in chars:
        found += in_class(chr(low))
        if high > low:
            found += ("-" if high > low + 1 else "") + in_class(chr(high))
    return found


class _Pattern(NamedTuple):
    """An expression, and how tight it is: 0 for one character or class, 1 for a sequence, 2 for alternatives."""

    text: str
    level: int

    def within(self, level: int) -> str:
        """It as a part of an expression of some level: in a group, if it is not tight enough."""
        return self.text if self.level <= level else f"(?:{self.text})"


_EMPTY = _Pattern("", 1)


@lru_cache(maxsize=1024)
def dfa_pattern(dfa: Dfa) -> str:
    """The regular expression of an automaton, by elimination of its states, those with the fewest ways first."""
    size = len(dfa.steps)
    start, end = size, size + 1
    edges: dict[int, dict[int, _Pattern]] = {state: {} for state in range(size + 2)}
    for state, row in enumerate(dfa.steps):
        for chars, target in row:
            _add(edges[state], target, _Pattern(set_pattern(chars), 0))
        if dfa.accepts[state]:
            _add(edges[state], end, _EMPTY)
    edges[start][0] = _EMPTY
    left = set(range(size))
    while left:
        state = min(left, key=lambda one: _cost(edges, one))
        left.remove(state)
        _eliminate(edges, state)
    return edges[start][end].text if end in edges[start] else "[^\\s\\S]"


def _add(row: dict[int, _Pattern], target: int, pattern: _Pattern) -> None:
    known = row.get(target, pattern)
    if _EMPTY in (known, pattern) and known != pattern:
        optional = known if pattern == _EMPTY else pattern
        row[target] = _Pattern(f"{optional.within(0)}?", 1)
    else:
        row[target] = known if known == pattern else _Pattern(f"{known.text}|{pattern.text}", 2)


def _cost(edges: dict[int, dict[int, _Pattern]], state: int) -> int:
    into = sum([state in edges[other] for other in edges if other != state])
    return into * len([target for target in edges[state] if target != state])


def _eliminate(edges: dict[int, dict[int, _Pattern]], state: int) -> None:
    out = edges.pop(state)
    loop = out.pop(state, None)
    again = _EMPTY if loop is None else _Pattern(f"{loop.within(0)}*", 1)
    for row in edges.values():
        into = row.pop(state, None)
        for target, pattern in out.items() if into is not None else ():
            parts = [part for part in (into, again, pattern) if part and part.text]
            is_one = len(parts) == 1 and parts[0].level == 0
            _add(row, target, _Pattern("".join([part.within(1) for part in parts]), 1 - is_one))
