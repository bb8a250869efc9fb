"""Capturing groups: patterns with fewer of them, since every group costs time in a match."""

from __future__ import annotations

import re
from functools import lru_cache

#: An escape, a class, an empty group or the parenthesis of a capturing group.
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\)|\((?!\?)", re.DOTALL)


def without_groups(pattern: str) -> str:
    """The pattern with its capturing groups made plain, so that those of a pattern round it keep their numbers."""
    return _TOKEN.sub(lambda found: "(?:" + found[0][1:] if found[0][0] == "(" else found[0], pattern)


@lru_cache(maxsize=256)
def with_groups(source: str, kept: frozenset[int]) -> tuple[re.Pattern[str], dict[int, int]]:
    """A pattern that matches the same and has only the groups `kept`; and their new numbers, by the old ones.

    The groups of `source` have no names.
    """
    count, numbers = 0, dict[int, int]()

    def keep(found: re.Match[str]) -> str:
        nonlocal count
        token = found[0]
        if token[0] != "(":
            return token
        count += 1
        if count in kept:
            numbers[count] = len(numbers) + 1
            return token
        return "" if token == "()" else "(?:"

    return re.compile(_TOKEN.sub(keep, source)), numbers
