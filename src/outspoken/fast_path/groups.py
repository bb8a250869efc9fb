"""Expressions with the groups that are needed, and no more: each group that stands by costs a match time."""

from __future__ import annotations

import re
from functools import lru_cache

#: What may hold a parenthesis that opens nothing, one that opens a group, or the mark of an end.
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\)|\((?!\?)", re.DOTALL)


@lru_cache(maxsize=256)
def lean(source: str, needed: frozenset[int]) -> tuple[re.Pattern[str], dict[int, int]]:
    """An expression that matches the same and has only the groups that are `needed`; and their new numbers.

    The groups of `source` are those that its parentheses open; none has a name.
    """
    seen, numbers = 0, dict[int, int]()

    def keep(found: re.Match[str]) -> str:
        nonlocal seen
        token = found[0]
        if token[0] != "(":
            return token
        seen += 1
        if seen in needed:
            numbers[seen] = len(numbers) + 1
            return token
        return "" if token == "()" else "(?:"

    return re.compile(_TOKEN.sub(keep, source)), numbers
