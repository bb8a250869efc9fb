"""The prefixes of a pattern: short texts, one of which every match begins with.

A search for the markers of all formats would try each of them at every `<`. With `PrefixIndex`, `<tool_call>` is tried
against the few that begin with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .prepared import PrefixData, TreeNode
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
    leading = set[tuple[bool, str, Lookbehinds]]()
    for items, folds in _branches(parse(pattern), False):
        for text, _, behind in _extend_all(items, {_EMPTY}, length, folds, skips_space=True):
            if text == " ":
                extended = _extend_all(items, {_EMPTY}, length, folds)
                leading |= {(False, start, other) for start, _, other in extended if start.isspace() or not start}
            else:
                leading.add((text.startswith(" "), text.lstrip(" "), behind))
    return frozenset(leading)


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
        extended = [_extend_all(branch, starts, length, folds, skips_space=skips_space) for branch in item.branches]
        return set[_Prefix]().union(*extended)
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


def index_prefixes(patterns: Iterable[str]) -> PrefixData:
    """The data of a `PrefixIndex` of patterns."""
    solid, spaced = _TrieNode(), _TrieNode()
    for number, pattern in enumerate(patterns):
        for is_spaced, text, _ in _known_prefixes(pattern):
            bare = text.lstrip()
            if is_spaced or bare != text or not bare:
                spaced.add(number, bare)
            if not (is_spaced or bare != text):
                solid.add(number, bare)
    groups: dict[tuple[int, ...], int] = {}
    trees = [node.compressed("", (), groups) for node in (solid, spaced)]
    return PrefixData(list(groups), trees[0], trees[1])


@lru_cache(maxsize=4096)
def _known_prefixes(pattern: str) -> frozenset[tuple[bool, str, Lookbehinds]]:
    """The leading prefixes of a pattern, as long as they can be."""
    found, length = leading_prefixes(pattern, PREFIX_LENGTH), PREFIX_LENGTH
    while length > 1 and any(not text.strip() for _, text, _ in found):
        length //= 2
        found = leading_prefixes(pattern, length)
    return found


class _TrieNode:
    """A node of a trie of prefixes. `ends` are the patterns of which a prefix ends here."""

    def __init__(self) -> None:
        self.children: dict[str, _TrieNode] = {}
        self.ends = set[int]()

    def add(self, number: int, prefix: str) -> None:
        """Add a prefix of a pattern below this node."""
        node = self
        for char in prefix:
            node = node.children.setdefault(" " if char.isspace() else char, _TrieNode())
        node.ends.add(number)

    def below(self) -> set[int]:
        """The patterns of which a prefix ends here or below."""
        return self.ends.union(*[child.below() for child in self.children.values()])

    def compressed(self, rest: str, above: tuple[int, ...], groups: dict[tuple[int, ...], int]) -> TreeNode:
        """The tree from here on, with edges of several characters (white space has an edge of its own).

        `above` are the patterns with a prefix that ends above.
        """
        complete = tuple(sorted({*above, *self.ends}))
        possible = tuple(sorted({*complete, *self.below()}))
        children: dict[str, TreeNode] = {}
        for char, child in sorted(self.children.items()):
            edge, node = "", child
            while char != " " and len(node.children) == 1 and not node.ends and " " not in node.children:
                ((more, node),) = node.children.items()
                edge += more
            children[char] = node.compressed(edge, complete, groups)
        numbers = [groups.setdefault(group, len(groups)) for group in (complete, possible)]
        return rest, numbers[0], numbers[1], children
