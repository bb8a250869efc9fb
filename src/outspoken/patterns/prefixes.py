"""The prefixes of a pattern: short texts, one of which every match begins with.

A search for the markers of all formats would try each of them at every `<`. With `PrefixIndex`, `<tool_call>` is tried
against the few that begin with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any

from .syntax import SPACE, Alternatives, Chars, Group, Look, Node, Position, Repeat, Sequence, parse

#: The length of prefixes, and how many a pattern may have.
PREFIX_LENGTH, _MAX_PREFIXES = 24, 40
#: A class of more characters counts as any character.
_MAX_CHARS = 4

#: Look-behinds of one place: whether each is negative, and the pattern of the characters that it looks for.
Lookbehinds = tuple[tuple[bool, str], ...]

#: A prefix, whether the next node of the pattern continues it (otherwise anything may follow), and its look-behinds.
_Prefix = tuple[str, bool, Lookbehinds]
_EMPTY: _Prefix = ("", True, ())


@lru_cache(maxsize=4096)
def prefixes(pattern: str, length: int = PREFIX_LENGTH) -> frozenset[str]:
    """Texts, one of which every match begins with; anything may follow those shorter than `length` characters.

    A space stands for white space of any kind. The prefixes get shorter until there are few enough of them.
    """
    items = parse(pattern)
    found = frozenset[str]([""])
    while "" in found and length:
        found = frozenset([text for text, _, _ in _extend_all(items, {_EMPTY}, length, False)])
        length //= 2
    return found


def leading_prefixes(pattern: str, length: int) -> frozenset[tuple[bool, str, Lookbehinds]]:
    """For every match: whether it begins with white space, the prefix behind that, and the look-behinds before both.

    For a match that is nothing but white space, the white space is the prefix.
    """
    found = set[tuple[bool, str, Lookbehinds]]()
    for items, folds in _branches(parse(pattern), False):
        for text, _, behind in _extend_all(items, {_EMPTY}, length, folds, skips_space=True):
            if text == " ":
                known = _extend_all(items, {_EMPTY}, length, folds)
                found |= {(False, start, other) for start, _, other in known if start.isspace() or not start}
            else:
                found.add((text.startswith(" "), text.lstrip(" "), behind))
    return frozenset(found)


def prefix_pattern(text: str) -> str:
    """A pattern for a prefix."""
    return re.escape(text).replace("\\ ", r"\s")


def _branches(items: Sequence, folds: bool) -> list[tuple[Sequence, bool]]:
    """The outermost alternatives of a pattern, and whether each ignores case."""
    item = items[0] if len(items) == 1 else None
    if isinstance(item, Group):
        return _branches(item.body, folds or item.ignores_case)
    if isinstance(item, Alternatives):
        return [found for branch in item.branches for found in _branches(branch, folds)]
    return [(items, folds)]


def _extend_all(
    items: Sequence, starts: set[_Prefix], length: int, folds: bool, *, skips_space: bool = False
) -> set[_Prefix]:
    """The prefixes extended by a sequence. With `skips_space`, leading white space counts as one space."""
    for number, item in enumerate(items, 1):
        growing = {start for start in starts if start[1] and len(start[0]) < length}
        if not growing:
            break
        if isinstance(item, Look) and item.is_ahead and not item.is_negative and number == len(items):
            ahead = _extend_all(item.body, growing, length, folds, skips_space=skips_space)
            return (starts - growing) | {(text, False, behind) for text, _, behind in ahead}
        if isinstance(item, (Look, Position)):
            starts = {(text, on, behind + _lookbehinds(item) * (on and not text)) for text, on, behind in starts}
            continue
        longer = (starts - growing) | _extend(item, growing, length, folds, skips_space=skips_space)
        if len(longer) > _MAX_PREFIXES:
            return {(text, False, behind) for text, _, behind in starts}
        starts = longer
    return starts


def _lookbehinds(item: Look | Position) -> Lookbehinds:
    """A look-behind at single characters; nothing for any other assertion, which is ignored."""
    if isinstance(item, Position) or item.is_ahead:
        return ()
    classes = [part.pattern() if isinstance(part, Chars) else "" for part in item.body]
    return ((item.is_negative, "".join(classes)),) if all(classes) else ()


def _extend(item: Node, starts: set[_Prefix], length: int, folds: bool, *, skips_space: bool = False) -> set[_Prefix]:
    """The prefixes extended by one node."""
    if isinstance(item, Group):
        return _extend_all(item.body, starts, length, folds or item.ignores_case, skips_space=skips_space)
    if isinstance(item, Alternatives):
        found = [_extend_all(branch, starts, length, folds, skips_space=skips_space) for branch in item.branches]
        return set[_Prefix]().union(*found)
    if isinstance(item, Repeat):
        once = _extend_all(item.body, starts, length, folds, skips_space=skips_space)
        is_space = skips_space and all(isinstance(part, Chars) and part.is_space for part in item.body)
        again = once if item.high == 1 else {(text, is_space and text == " ", behind) for text, _, behind in once}
        return again if item.low else starts | again
    if not isinstance(item, Chars):
        return {(text, False, behind) for text, _, behind in starts}
    if skips_space and item.is_space:
        begun = {start for start in starts if start[0].strip()}
        spaced = {(" ", True, behind) for _, _, behind in starts - begun}
        return spaced | (_extend(item, begun, length, folds) if begun else set())
    chars = _listed(item, folds)
    if chars is None:
        return {(text, False, behind) for text, _, behind in starts}
    return {(text + char, True, behind) for text, _, behind in starts for char in chars}


def _listed(chars: Chars, folds: bool) -> set[str] | None:
    """The characters of a class; None if they are many."""
    if chars == Chars(categories=(SPACE,)):
        return {" "}
    if not chars.only_literals or len(chars.literals) > _MAX_CHARS:
        return None
    if folds:
        return {form for char in chars.literals for form in (char.lower(), char.upper())}
    return set(chars.literals)


#: All characters of white space, which lie below U+3001, as spaces.
_SPACES = {code: " " for code in range(0x3001) if chr(code).isspace()}


class PrefixIndex:
    """Tells which of many patterns may match at a place in a text. Threads may share it.

    `groups` holds the numbers of the patterns that may match at one place, in order. It depends on the patterns alone,
    so no text can make it grow without bound.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
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

    def __init__(self, parent: _TrieNode | None = None) -> None:
        self.children: dict[str, _TrieNode] = {}
        self.ends, self._parent = set[int](), parent

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

    @cached_property
    def complete(self) -> tuple[int, ...]:
        """The patterns with a prefix that ends here or above: anything may follow it."""
        return tuple(sorted({*self.ends, *(self._parent.complete if self._parent else ())}))

    @cached_property
    def possible(self) -> tuple[int, ...]:
        """The patterns with a prefix that ends here, above or below."""
        return tuple(sorted({*self.complete, *[n for child in self.children.values() for n in child.possible]}))
