"""No repair changes a value: the digits that a model wrote are the digits that a call gets, and nothing is computed.

A repair may add signs round a number (quotes, brackets, commas), or take off signs that carry nothing. What is no
number as written (`12,5`, `1/2`, `010`, `NaN`) is not made one: at most it becomes a text. `"a" + "b"` is no string.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from outspoken.patterns.lazy import lazy_pattern

#: The repairs that may touch a number; the others change strings, white space or what the text cuts off.
_TOUCHING = frozenset(
    {
        "extra-comma", "extra-colon", "extra-closer", "other-separator", "wrong-closer", "stray-quote", "missing-colon",
        "dropped-text",
    }
)  # fmt: skip
#: What a number may be made of, also where it is written as people write it.
_WRITTEN = lazy_pattern(r"[-+]?[\d.][\d.,_/%eE+\-]*")
_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def changes_number(text: str, start: int, end: int, after: str, code: str) -> bool:
    """Does a repair of a kind, which replaces text[start:end], change, join or drop digits, or compute a string?"""
    before = text[start:end]
    if code == "heuristic":
        if _JOINED.search(before) is not None:
            return True
        written = {found.rstrip(",.") for found in _WRITTEN.findall(before)}
        return any(number not in written for number in _WRITTEN.findall(_STRING.sub('""', after)))
    if code not in _TOUCHING:
        return False
    if any(char.isdigit() for char in before):
        return True
    beside = text[max(start - 1, 0) : start] + text[end : end + 1]
    return not after and len(beside) == 2 and all(char.isdigit() or char == "." for char in beside)


def changes_any_number(text: str, changes: Sequence[tuple[int, int, str, str]]) -> bool:
    """Does one of some repairs?"""
    return any(
        changes_number(text, *change)
        for change in changes
        if change[3] in _TOUCHING or (change[3] == "heuristic" and change[2] != '\\"')
    )


#: What joins a string with another one, or with a name, in a program.
_JOINED = lazy_pattern(r"""["']\s*[+&]\s*["']""")
_OPERATOR = lazy_pattern(r"\s*[+&]\s*")
_OPERATION = lazy_pattern(r"\s*[+&]\s*[\w.()\[\]]+")


def computes_string(text: str, changes: Sequence[tuple[int, int, str, str]]) -> bool:
    """Do repairs make one string of what is to be joined, and of the signs between?"""
    quotes = [(start, code) for start, _, _, code in changes if code in ("bare-quote", "lost-quote", "heuristic")]
    for (first, code), (second, other) in zip(quotes[::2], quotes[1::2], strict=False):
        regex = _OPERATION if other == "lost-quote" else _OPERATOR
        if code != "lost-quote" and regex.fullmatch(text, first + 1, second) is not None:
            return True
    return False
