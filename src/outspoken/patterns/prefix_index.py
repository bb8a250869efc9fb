"""An index of patterns by their prefixes: it tells which of many patterns may match at a place.

A search for the markers of all formats would try each of them at every `<`. With the index, `<tool_call>` is tried
against the few that begin with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from typing import Any

from .prefixes import PREFIX_LENGTH, prefix_pattern, prefixes

#: All characters of white space, which lie below U+3001, as spaces.
_SPACES = {code: " " for code in range(0x3001) if chr(code).isspace()}


class PrefixIndex:
    """Tells which of many patterns may match at a place in a text. Threads may share it.

    `groups` holds the numbers of the patterns that may match at one place, in order. It depends on the patterns alone,
    so no text can make it grow without bound.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.groups: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._lock = Lock()
        self._root = _TrieNode()
        for number, pattern in enumerate(patterns):
            for prefix in prefixes(pattern):
                self._root.add(number, prefix)
        self._by_prefix: dict[str, int] = {}
        self._match = re.compile(self._longest_prefix(self._root, "")).match

    def at(self, text: str, pos: int) -> int:
        """The number of the group that may match at a place, or begin there if the text ends soon after it."""
        if len(text) - pos < PREFIX_LENGTH:
            return self._number(self._root.candidates(text[pos:]))
        found: Any = self._match(text, pos)
        number = self._by_prefix.get(found[0])
        return self._by_prefix[found[0].translate(_SPACES)] if number is None else number

    def _number(self, group: tuple[int, ...]) -> int:
        number = self._numbers.get(group)
        if number is not None:
            return number
        with self._lock:
            if group not in self._numbers:
                self.groups.append(group)
                self._numbers[group] = len(self.groups) - 1
            return self._numbers[group]

    def _longest_prefix(self, node: _TrieNode, prefix: str) -> str:
        """A pattern for the longest prefix in the trie below a node; notes the group of each prefix it may match."""
        self._by_prefix[prefix] = self._number(node.complete)
        branches: list[str] = []
        for char, child in sorted(node.children.items()):
            edge = char
            while len(child.children) == 1 and not child.ends:
                ((char, child),) = child.children.items()
                edge += char
            branches.append(prefix_pattern(edge) + self._longest_prefix(child, prefix + edge))
        return f"(?:{'|'.join(branches)}|)" if branches else ""


class _TrieNode:
    """A node of a trie of prefixes. `ends` are the patterns of which a prefix ends here."""

    __slots__ = ("children", "ends", "_parent", "_complete", "_possible")

    def __init__(self, parent: _TrieNode | None = None) -> None:
        self.children: dict[str, _TrieNode] = {}
        self.ends, self._parent = set[int](), parent
        self._complete: tuple[int, ...] | None = None
        self._possible: tuple[int, ...] | None = None

    def add(self, number: int, prefix: str) -> None:
        """Add a prefix of a pattern below this node."""
        node = self
        for char in prefix.translate(_SPACES):
            node = node.children.setdefault(char, _TrieNode(node))
        node.ends.add(number)

    def candidates(self, text: str) -> tuple[int, ...]:
        """The patterns that may match a text from its start, or have it as their beginning, in order."""
        node = self
        for char in text.translate(_SPACES):
            child = node.children.get(char)
            if child is None:
                return node.complete
            node = child
        return node.possible

    @property
    def complete(self) -> tuple[int, ...]:
        """The patterns with a prefix that ends here or above: anything may follow it."""
        if self._complete is None:
            self._complete = tuple(sorted({*self.ends, *(self._parent.complete if self._parent else ())}))
        return self._complete

    @property
    def possible(self) -> tuple[int, ...]:
        """The patterns with a prefix that ends here, above or below."""
        if self._possible is None:
            below = [number for child in self.children.values() for number in child.possible]
            self._possible = tuple(sorted({*self.complete, *below}))
        return self._possible
