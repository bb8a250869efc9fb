"""The regular expressions of a fast path: trees of markers, cut down to the branches that are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from outspoken.grammar.automaton import Config, MissingCloser, Operation, Transition
from outspoken.grammar.marker_search import first_char_class, searched_chars
from outspoken.grammar.matchers import NamedOperation, is_lone, named_operation
from outspoken.grammar.tables import Terminal
from outspoken.patterns.prefilter import prefilter_pattern

#: The most branches of one expression, and the most terminals in a row.
_MAX_BRANCHES, _MAX_DEPTH = 72, 12
#: A JSON string without escapes is matched as a part of an expression; any other is left to its scanner.
_PLAIN_STRING = r'"[^"\\\x00-\x1f\ud800-\udfff]*"'
#: What no string may contain. The fast path reads no text with lone surrogates, and this class takes long to compile.
SURROGATES = r"\ud800-\udfff"
#: A branch of the trees of a configuration: which of the markers that may follow is taken, again and again.
Path = tuple[int, ...]


class Markers:
    """The markers of a configuration, of one kind (see `matchers.matcher_of`), with all that may follow them.

    `chars` are the white space and the characters that a search looks for first, or None; `lookahead` precedes the
    expression in a search then.
    """

    def __init__(self, config: Config, kind: str) -> None:
        self.trees = _TreeWriter(config, kind).trees
        self._ignored = config.automaton.tables.ignore
        #: what may stand before the markers
        self.lead = "" if kind == "find" else self._ignored
        self.branches: dict[Path, Branch] = {}
        self.terminals: dict[Path, Terminal] = {}
        #: the paths by the groups of the whole expression
        self.paths: dict[int, Path] = {}
        self._list(self.trees, ())
        searched = [tree.terminal for tree in self.trees]
        self.chars = searched_chars(searched) if kind == "find" else None
        self.lookahead = _lookahead(searched) if kind == "find" and self.chars is None else ""
        #: equal for markers that read the same
        self.source = self._enclosed("|".join([tree.source(self._ignored) for tree in self.trees]))

    def _enclosed(self, source: str) -> str:
        return f"{self.lead}(?:{source})" if self.lead else source

    def _list(self, trees: list[MarkerTree], above: Path) -> None:
        for index, tree in enumerate(trees):
            path = (*above, index)
            self.branches[path], self.terminals[path], self.paths[tree.group] = tree.branch, tree.terminal, path
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
        return Expression(self._enclosed(found.replace(SURROGATES, "")), writer.groups, writer.tokens)


class Branch(NamedTuple):
    """One way through a tree: its operations, and the configuration that it leads to."""

    named_operations: tuple[NamedOperation, ...]
    target: Config


class MarkerTree(NamedTuple):
    """A marker, and the markers that may follow it.

    `group` is the group that tells that the match ended behind the marker, `token` that of the marker itself; 0 for
    none. `tail` matches what may stand between this marker and the next if the expression ends here.
    """

    terminal: Terminal
    regex: str
    token: int
    group: int
    tail: str
    branch: Branch
    following: list[MarkerTree]

    def source(self, ignored: str) -> str:
        """The expression; `ignored` may stand between markers."""
        if not self.following:
            return f"{self.marker}{self.tail}()"
        return f"{self.marker}(?:{ignored}(?:{'|'.join([tree.source(ignored) for tree in self.following])})|())"

    @property
    def marker(self) -> str:
        """The expression of the marker alone."""
        return f"({self.regex})" if self.token else f"(?:{self.regex})" if "|" in self.regex else self.regex


class _TreeWriter:
    """Makes the trees of the markers of a configuration for complete, sound text, and numbers their groups.

    What only damaged text takes is left out, except among the markers that end free text: they are looked for.
    """

    def __init__(self, config: Config, kind: str) -> None:
        self._automaton, self._finds = config.automaton, kind == "find"
        self._ignored = config.automaton.tables.ignore
        self._groups = 0
        markers = config.leading_markers if kind == "leading" else config.markers
        sound = [t for t in markers if not t.inserted]
        #: how many branches each of the markers may have
        room = _MAX_BRANCHES // max(len(sound), 1)
        searched = [t for t in config.markers if not t.replaces] if self._finds else sound
        self.trees = [self._tree(t, (), room, _MAX_DEPTH) for t in searched]

    def _tree(self, step: Transition, taken: tuple[NamedOperation, ...], room: int, depth: int) -> MarkerTree:
        """The tree of a transition and of the markers that may follow it, as far as there is room for them.

        `taken` are the operations before it, `room` the number of branches and `depth` the number of terminals that may
        follow.
        """
        inline = step.terminal.short == "JSON_STRING"
        ops: tuple[Operation, ...] = ((("embedded_string", ""),) if inline else ()) + step.after
        following = [] if step.inserted else self._following(step.target, room, depth)
        token = 0
        if (ops or step.before) and not self._is_whole_match(ops, depth, bool(following)):
            self._groups += 1
            token = self._groups
        done = (*taken, *[named_operation(op, token, before=True) for op in step.before])
        done += tuple([named_operation(op, token) for op in ops])
        if not inline and is_lone(step, done):
            done += (named_operation(("markup", ""), 0),)
        share = room // len(following) if following else 0
        onward = [self._tree(t, done, share, depth - 1) for t in following]
        self._groups += 1
        spans = not token and any(name == "end" for name, _ in ops)
        ends = bool(room) and step.target.free is None and not spans and not _may_begin_with_space(step.target)
        regex, tail = _PLAIN_STRING if inline else step.terminal.regex, self._ignored if ends else ""
        return MarkerTree(step.terminal, regex, token, self._groups, tail, Branch(done, step.target), onward)

    def _is_whole_match(self, ops: tuple[Operation, ...], depth: int, goes_on: bool) -> bool:
        """Can the operations take the whole match as their token? The search is faster without a group."""
        if not self._finds or depth < _MAX_DEPTH or any(name in ("replace", "stray", "odd") for name, _ in ops):
            return False  # the place of a damaged marker ends before white space that is skipped behind it
        return not goes_on or all(name in ("begin", "field") for name, _ in ops)

    def _following(self, config: Config, room: int, depth: int) -> list[Transition]:
        """The transitions that continue the expression; none where it ends."""
        if depth <= 1 or config.free or config in (self._automaton.top_level, self._automaton.start):
            return []
        markers = [t for t in config.markers if not t.inserted]
        following = [*markers, *[t for t in config.embedded if t.terminal.short == "JSON_STRING"]]
        return following if room >= len(following) else []


def _may_begin_with_space(config: Config) -> bool:
    """May a marker begin with white space here? Then the white space before it must not be skipped."""
    firsts = [step.terminal.first for step in config.markers]
    return not all(firsts) or any(char.isspace() for char in "".join(firsts))


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
            elif any(may_both_match(tree_after, other) for other in later):
                found.append((index, tree_after))
        return found[::-1]


def _lookahead(markers: Sequence[Terminal | MissingCloser]) -> str:
    """A look-ahead that refuses most places where no marker begins; "" if one may begin with any character."""
    chars = first_char_class(markers)
    if not chars:
        return ""
    more = prefilter_pattern([marker.regex for marker in markers])
    return f"(?={chars})(?={more})" if more else f"(?={chars})"


def may_both_match(one: MarkerTree, other: MarkerTree) -> bool:
    """May two markers begin at the same place?"""
    first, second = one.terminal.first, other.terminal.first
    return not first or not second or not set(first).isdisjoint(second)
