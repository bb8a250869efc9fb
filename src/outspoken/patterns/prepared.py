"""Searches for the places where one of many patterns may match, from data that was prepared ahead of time.

`prefixes` and `prefilter` prepare it. A search for the markers of all formats would try each of them at every `<`; with
`PrefixIndex`, `<tool_call>` is tried against the few that begin with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

#: Searches a text from a position on for a place where a marker may begin; returns -1 if there is none.
Prefilter = Callable[[str, int], int]

#: How many characters of white space are passed over: behind more, any pattern with leading white space may match.
MAX_SPACES = 24

#: Searches skip words of these letters.
LOWERCASE = frozenset("abcdefghijklmnopqrstuvwxyz")

#: A node: what follows the first character of its edge, the groups of the patterns that may match a text which leaves
#: the tree here (or within the edges below) and a text which ends here, and the nodes below by their first character.
TreeNode: TypeAlias = "tuple[str, int, int, dict[str, TreeNode]]"


class PrefixData(NamedTuple):
    """A `PrefixIndex` as plain data.

    `groups` holds the numbers of the patterns that may match at one place, in order. `solid` is the tree of the
    prefixes that begin with another character than white space, `spaced` that of those behind white space.
    """

    groups: Sequence[Sequence[int]]
    solid: TreeNode
    spaced: TreeNode


class PrefixIndex:
    """Tells which of many patterns may match at a place in a text. Threads may share it.

    A pattern that begins with white space may match behind white space of any kind and length.
    """

    def __init__(self, data: PrefixData) -> None:
        self.groups, self._solid, self._spaced = data

    def at(self, text: str, pos: int) -> int:
        """The number of the group that may match at a place, or begin there if the text ends soon after it."""
        if not text[pos].isspace():
            return _walk(self._solid, text, pos)
        for at in range(pos + 1, min(pos + MAX_SPACES, len(text))):
            if not text[at].isspace():
                return _walk(self._spaced, text, at)
        return self._spaced[2]


def _walk(node: TreeNode, text: str, pos: int) -> int:
    """The group of the text from a position on, in the tree below a node."""
    length = len(text)
    while pos < length:
        char = text[pos]
        child = node[3].get(char) or (node[3].get(" ") if char.isspace() else None)
        if child is None:
            return node[1]
        pos += 1
        rest = child[0]
        if rest:
            if not text.startswith(rest, pos):
                return child[2] if length - pos < len(rest) and rest.startswith(text[pos:]) else node[1]
            pos += len(rest)
        node = child
    return node[2]


class PrefilterSource(NamedTuple):
    """What `compile_prefilter` compiles: a pattern, and whether it skips lowercase words."""

    pattern: str
    skips_words: bool


def compile_prefilter(source: PrefilterSource) -> Prefilter:
    """The search of a source. If it skips words, it misses a place at the very start, unless that is no letter a-z."""
    search = re.compile(source.pattern).search

    def prefilter(text: str, pos: int) -> int:
        found = search(text, pos)
        if found is None:
            return -1
        return found.start() if found.lastindex is None else found.start() + 1

    return prefilter
