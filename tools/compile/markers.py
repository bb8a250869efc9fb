"""The regular expressions of a fast path: trees of markers, cut down to the branches that are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from outspoken.grammar.automaton import Config
from outspoken.grammar.marker_search import Marker, first_char_class, searched_chars
from outspoken.grammar.matchers import Branch, MarkerTree, sound_trees
from outspoken.patterns.prefilter import prefilter_pattern
from outspoken.semantics.handlers import HANDLERS

#: What no string may contain. The fast path reads no text with lone surrogates, and this class takes long to compile.
_SURROGATES = r"\ud800-\udfff"
#: A branch of the trees of a configuration: which of the markers that may follow is taken, again and again.
Path = tuple[int, ...]


class Markers:
    """The markers of a configuration, of one kind (see `matchers.matcher_of`), with all that may follow them.

    `chars` are the white space and the characters that a search looks for first, or None; `lookahead` precedes the
    expression in a search then.
    """

    def __init__(self, config: Config, kind: str) -> None:
        self.trees = sound_trees(config, kind, HANDLERS)
        self._ignored = config.automaton.tables.ignore
        self._lead = "" if kind == "find" else self._ignored
        self.branches: dict[Path, Branch] = {}
        #: the paths by the groups of the whole expression
        self.paths: dict[int, Path] = {}
        self._list(self.trees, ())
        searched = [tree.terminal for tree in self.trees]
        self.chars = searched_chars(searched) if kind == "find" else None
        self.lookahead = _lookahead(searched) if kind == "find" and self.chars is None else ""
        #: equal for markers that read the same
        self.source = self._enclosed("|".join([tree.source(self._ignored) for tree in self.trees]))

    def _enclosed(self, source: str) -> str:
        return f"{self._lead}(?:{source})" if self._lead else source

    def _list(self, trees: list[MarkerTree], above: Path) -> None:
        for index, tree in enumerate(trees):
            path = (*above, index)
            self.branches[path], self.paths[tree.group] = tree.branch, path
            self._list(tree.following, path)

    def whole(self) -> Expression:
        """The expression with all branches."""
        groups = {group: group for branch in self.branches.values() for _, _, group in branch.named_operations}
        return Expression(self.source, {path: group for group, path in self.paths.items()}, {**groups, 0: 0})

    def cut(self, taken: frozenset[Path]) -> Expression:
        """The expression with some branches only. It matches the same markers in a row, or fewer.

        Markers that may be taken in place of others are kept, so that they are recognised.
        """
        kept = {path[:length] for path in taken for length in range(1, len(path) + 1)}
        writer = _Cut(kept, taken, self._ignored)
        found = "|".join([writer.source(tree, (index,)) for index, tree in enumerate(self.trees)])
        return Expression(self._enclosed(found.replace(_SURROGATES, "")), writer.groups, writer.tokens)


class Expression(NamedTuple):
    """A regular expression: the group of each branch, and the groups of tokens by those of the whole expression."""

    source: str
    groups: dict[Path, int]
    tokens: dict[int, int]


@dataclass
class _Cut:
    """Writes an expression with some branches of trees. `kept` are the paths to the branches that are `taken`."""

    kept: set[Path]
    taken: frozenset[Path]
    ignored: str
    groups: dict[Path, int] = field(default_factory=dict[Path, int])
    tokens: dict[int, int] = field(default_factory=lambda: {0: 0})
    count: int = 0

    def source(self, tree: MarkerTree, path: Path) -> str:
        """The expression of a tree."""
        if path not in self.kept:
            return f"(?:{tree.regex})" if "|" in tree.regex else tree.regex
        if tree.token:
            self.count += 1
            self.tokens[tree.token] = self.count
        more = [self.source(after, (*path, index)) for index, after in self._following(tree, path)]
        ends = "()" if path in self.taken else ""
        if ends:
            self.count += 1
            self.groups[path] = self.count
        if more:
            return f"{tree.marker}(?:{self.ignored}(?:{'|'.join(more)})|{ends})"
        return f"{tree.marker}{'' if tree.following else tree.tail}{ends}"

    def _following(self, tree: MarkerTree, path: Path) -> list[tuple[int, MarkerTree]]:
        """The trees that follow a marker: those that are taken, and those that might match in their place."""
        found: list[tuple[int, MarkerTree]] = []
        later: list[MarkerTree] = []
        for index, tree_after in reversed(list(enumerate(tree.following))):
            if (*path, index) in self.kept:
                found.append((index, tree_after))
                later.append(tree_after)
            elif any(_may_both_match(tree_after, other) for other in later):
                found.append((index, tree_after))
        return found[::-1]


def _lookahead(markers: Sequence[Marker]) -> str:
    """A look-ahead that refuses most places where no marker begins; "" if one may begin with any character."""
    chars = first_char_class(markers)
    if not chars:
        return ""
    more = prefilter_pattern([marker.regex for marker in markers])
    return f"(?={chars})(?={more})" if more else f"(?={chars})"


def _may_both_match(one: MarkerTree, other: MarkerTree) -> bool:
    """May two markers begin at the same place?"""
    first, second = one.terminal.first, other.terminal.first
    return not first or not second or not set(first).isdisjoint(second)
