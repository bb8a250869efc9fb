"""Automata as regular expressions without look-around, which Python, Rust and C++ engines read alike."""

from __future__ import annotations

from functools import lru_cache

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


@lru_cache(maxsize=1024)
def dfa_pattern(dfa: Dfa) -> str:
    """The regular expression of an automaton, by elimination of its states, those with the fewest ways first."""
    size = len(dfa.steps)
    start, end = size, size + 1
    edges: dict[int, dict[int, str]] = {state: {} for state in range(size + 2)}
    for state, row in enumerate(dfa.steps):
        for chars, target in row:
            _add(edges, state, target, set_pattern(chars))
        if dfa.accepts[state]:
            _add(edges, state, end, "")
    edges[start][0] = ""
    left = set(range(size))
    while left:
        state = min(left, key=lambda one: _cost(edges, one))
        left.remove(state)
        _eliminate(edges, state)
    return edges[start].get(end, "[^\\s\\S]")


def _add(edges: dict[int, dict[int, str]], state: int, target: int, pattern: str) -> None:
    known = edges[state].get(target)
    edges[state][target] = pattern if known is None else _either(known, pattern)


def _cost(edges: dict[int, dict[int, str]], state: int) -> int:
    into = sum([state in edges[other] for other in edges if other != state])
    return into * len([target for target in edges[state] if target != state])


def _eliminate(edges: dict[int, dict[int, str]], state: int) -> None:
    out = edges.pop(state)
    loop = out.pop(state, None)
    again = "" if loop is None else f"{_group(loop)}*"
    for row in edges.values():
        into = row.pop(state, None)
        if into is None:
            continue
        for target, pattern in out.items():
            joined = _in_sequence(into) + again + _in_sequence(pattern)
            known = row.get(target)
            row[target] = joined if known is None else _either(known, joined)


def _either(one: str, other: str) -> str:
    if one == other:
        return one
    if "" in (one, other):
        return f"{_group(one or other)}?"
    return f"{one}|{other}"


def _in_sequence(pattern: str) -> str:
    return f"(?:{pattern})" if _has_alternatives(pattern) else pattern


def _group(pattern: str) -> str:
    is_one = len(pattern) == 1 or (pattern[0] == "\\" and len(pattern) == 2) or _is_class(pattern)
    return pattern if is_one else f"(?:{pattern})"


def _is_class(pattern: str) -> bool:
    return pattern[0] == "[" and pattern[-1] == "]" and _end_of_class(pattern) == len(pattern)


def _end_of_class(pattern: str) -> int:
    at = 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _has_alternatives(pattern: str) -> bool:
    """Does a pattern have alternatives outside of groups?"""
    depth = at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[":
            at += _end_of_class(pattern[at:])
            continue
        if char == "\\":
            at += 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            return True
        at += 1
    return False
