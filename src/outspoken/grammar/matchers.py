"""Matchers: the markers that may follow a configuration, compiled to one regular expression.

The expression holds single markers; an empty group at the end of each branch tells which one was taken, and the group
before it is the marker. For text that is still arriving, `regex` finds where a marker may be incomplete; for complete
text, `re` does the same in less time. For the generated readers of sound text, the markers that may follow each other
form a tree (`sound_trees`), which becomes one expression. All take the same transitions, so all read the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from outspoken.patterns.alike import compile_alike
from outspoken.patterns.arriving import while_arriving

from .automaton import Automaton, BoundOperation, Config, Handler, MissingCloser, Operation, Transition
from .marker_search import Find, compile_search, compile_start_search, find_nothing
from .tables import Terminal

#: The most branches of one expression, and the most terminals in a row.
_MAX_BRANCHES = 72
_MAX_DEPTH = 12
#: The ends of nodes that the user sees as text, so that a lone marker behind one belongs to the node.
_SHOWN = ("end_code", "end_json", "end_mention", "end_answer")

#: A JSON string without escapes is matched as a part of an expression; any other is left to its scanner.
_PLAIN_STRING = r'"[^"\\\x00-\x1f\ud800-\udfff]*"'


#: What may precede a marker: patterns look at no more than whether it is a word, white space, a sign or nothing.
_LEADS = ("", "\n", " ", ". ", "a", "<", '"')

#: An operation: the name of its handler, its argument, and the group of the match that is its token.
NamedOperation = tuple[str, str, int]


class Handlers:
    """The handlers of operations, by name.

    `fused` lists sequences of handlers that occur often, each with one handler that does what they do.
    """

    __slots__ = ("_by_name", "fused")

    def __init__(self, by_name: dict[str, Handler], fused: tuple[tuple[tuple[Handler, ...], Handler], ...]) -> None:
        self._by_name, self.fused = by_name, fused

    def __getitem__(self, name: str) -> Handler:
        return self._by_name[name]

    def bind(self, operations: Sequence[NamedOperation]) -> tuple[BoundOperation, ...]:
        """The handlers of operations in order, fused where they can be."""
        bound: list[tuple[Handler, str, int]] = [(self[name], arg, group) for name, arg, group in operations]
        found: list[BoundOperation] = []
        at = 0
        while at < len(bound):
            for pattern, handler in self.fused:
                part = bound[at : at + len(pattern)]
                if tuple([op[0] for op in part]) == pattern:
                    found.append((handler, part[0][1], tuple([op[2] for op in part])))
                    at += len(pattern)
                    break
            else:
                found.append(bound[at])
                at += 1
        return tuple(found)


def named_operation(operation: Operation, group: int, *, before: bool = False) -> NamedOperation:
    """An operation by the name of its handler; `before` tells that it precedes the shift of its terminal."""
    name, arg = operation
    key = f"{name}_{arg}" if name in ("end", "field", "token") else name
    return ("before_" if before and name in ("end", "reopen") else "") + key, arg, group


def is_lone(step: Transition, done: Sequence[NamedOperation]) -> bool:
    """Does a marker in text for the user belong to no node? `done` are the operations before it."""
    target = step.target
    is_text = target is target.automaton.top_level or (target.free is not None and target.free.terminal.short == "TEXT")
    return is_text and not step.after and (not done or done[-1][0].endswith(_SHOWN))


class Branch:
    """One way through a matcher: its operations, and the configuration that it leads to.

    `named_operations` are the operations by name. `grows` says that the match may become longer with more input.
    `missing_closer` is set if the match is no marker, but a sign that a closing marker is missing. `transition` is the
    last one that the branch takes.
    """

    __slots__ = ("operations", "named_operations", "target", "grows", "missing_closer", "transition")

    def __init__(
        self,
        named: tuple[NamedOperation, ...],
        handlers: Handlers,
        target: Config,
        grows: bool,
        missing_closer: MissingCloser | None = None,
        transition: Transition | None = None,
    ) -> None:
        self.operations = handlers.bind(named)
        self.transition = transition
        self.named_operations, self.target, self.grows, self.missing_closer = named, target, grows, missing_closer


class OpenMarkers:
    """Markers that may be incomplete where another one has matched: their `regex` patterns, with the group of each.

    Where a marker with a mistake has matched, whose groups are `mistaken`, any of the `others` may be incomplete.
    """

    __slots__ = ("found", "mistaken", "others")

    def __init__(
        self,
        found: list[tuple[Any, int]],
        others: Sequence[tuple[Any, int]] = (),
        mistaken: frozenset[int] = frozenset(),
    ) -> None:
        self.found, self.others, self.mistaken = found, others, mistaken

    def find_open(self, buffer: str, at: int, start: int, group: int) -> int | None:
        """The first place from `at` on where a marker is incomplete that would win over a match; None if there is none.

        The match begins at `start` and is of `group`.
        """
        first = None
        for pattern, own in self.found:
            # A search would prefer a complete match further on.
            found = (pattern.match if at == start else pattern.search)(buffer, at, partial=True)
            if (
                found is not None
                and found.partial
                and (found.start(), own) < (start if first is None else first, group)
            ):
                first = found.start()
        if first is None and group in self.mistaken:
            for pattern, own in self.others:
                found = pattern.match(buffer, start, partial=True) if own < group else None
                if found is not None and found.partial:
                    return start
        return first


class Matcher:
    """The compiled markers of a configuration.

    `find` searches, `match` matches at a place; both give a match of `re` or `regex`. Its `lastindex` is the key of the
    branch that was taken. `source` is the expression, `open_markers` the markers that may be incomplete where another
    one has matched, in input that is still arriving. `start_search` finds the first place where a marker may begin, in
    input that is still arriving; it is None if that is anywhere. `holds` tells at once what a marker begins with.
    """

    __slots__ = ("source", "find", "match", "branches", "open_markers", "start_search", "_begun")

    def __init__(self, source: str, branches: dict[int, Branch]) -> None:
        self.source, self.branches = source, branches
        self.open_markers: OpenMarkers | None = None
        self.start_search: Find | None = None
        self.find: Find = find_nothing
        self.match: Find = find_nothing
        #: the beginnings of markers as they are written, and whether each can be nothing else; None if nobody has tried
        self._begun: dict[str, bool | None] = {}

    def expect(self, written: Iterable[str]) -> None:
        """Input that is still arriving may hold these markers."""
        forms = {form for text in written for form in (text, text.strip())}
        self._begun = {form[:end]: None for form in forms for end in range(1, len(form))}

    def holds(self, piece: str, *, finds: bool) -> bool:
        """Is a piece of input that ends with what has arrived the beginning of a marker, whatever precedes it?

        If it is another beginning than the grammar writes, or is not known to be one, False.
        """
        known = self._begun.get(piece)
        if known is None and piece in self._begun:
            find = self.find if finds else self.match
            matches = [(find(lead + piece, len(lead), partial=True), len(lead)) for lead in _LEADS]
            known = all(match is not None and match.partial and match.start() == at for match, at in matches)
            self._begun[piece] = known
        return bool(known)


def matcher_of(
    config: Config,
    kind: str,
    handlers: Handlers,
    *,
    final: bool,
    closers: tuple[MissingCloser, ...] = (),
    without: tuple[Transition, ...] = (),
) -> Matcher:
    """The matcher of a configuration, compiled when it is first asked for.

    The markers of the `kind` are those that end free text ("find"), with the patterns of `closers` that are missing,
    those at a place where no free text may stand ("match"), or those that may stand before free text only ("leading").
    The input is complete if it is `final`; else it is still arriving. Markers are left `without` some of them.
    """
    key = (kind, final, closers, without) if closers or without else (kind, final)
    found: Matcher | None = config.matchers.get(key)
    if found is None:
        markers = [step for step in _markers(config, kind) if step not in without]
        found = config.matchers[key] = _compile(config, kind, handlers, markers, closers, final=final)
    return found


def _compile(
    config: Config,
    kind: str,
    handlers: Handlers,
    markers: list[Transition],
    closers: tuple[MissingCloser, ...],
    *,
    final: bool,
) -> Matcher:
    finds = kind == "find"
    writer = _Writer(config.automaton, handlers, anchored=not finds, sound=False, arriving=not final)
    trees = [writer.tree(t, (), 0, _MAX_DEPTH) for t in markers]
    branches = [tree.source(writer.ignored) for tree in trees]
    branches += [writer.missing_closer(closer, config) for closer in closers]
    source = "|".join(branches)
    found = Matcher(source if finds or not source else f"{writer.ignored}(?:{source})", writer.branches)
    searched = [*[t.terminal for t in markers], *closers]
    if source and finds and final:
        found.find, found.match = compile_search(source, searched)
    elif source:
        compiled = (re.compile if final else compile_alike)(found.source)
        found.find, found.match = compiled.search, compiled.match
    if not final:
        may_stay_open = [(compile_alike(t.regex), t.group) for t in trees if t.terminal.may_stay_open]
        mistaken = frozenset([t.group for t in trees if t.terminal.priority < 0])
        sound = [t for t in trees if mistaken and t.terminal.priority >= 0 and not t.terminal.may_stay_open]
        others = [(compile_alike(t.regex), t.group) for t in sound]
        found.open_markers = OpenMarkers(may_stay_open, others, mistaken) if may_stay_open else None
    if not final:
        found.expect([step.terminal.canonical for step in markers])
    if finds and not final:
        sound = [*[step.terminal for step in markers if not step.nearly], *closers]
        found.start_search = compile_start_search(sound, [step.nearly for step in markers if step.nearly])
    return found


def _markers(config: Config, kind: str) -> list[Transition]:
    return config.leading_markers if kind == "leading" else config.markers


def _room(markers: Sequence[Transition]) -> int:
    """How many branches each of the markers may have."""
    return _MAX_BRANCHES // max(len(markers), 1)


def sound_trees(config: Config, kind: str, handlers: Handlers) -> list[MarkerTree]:
    """The trees of the markers of a configuration for complete, sound text; see `matcher_of` for the kind.

    What only damaged text takes is left out, except among the markers that end free text: they are looked for.
    """
    sound = [t for t in _markers(config, kind) if not t.inserted]
    writer = _Writer(config.automaton, handlers, anchored=kind != "find", sound=True)
    markers = [t for t in config.markers if not t.replaces] if kind == "find" else sound
    return [writer.tree(t, (), _room(sound), _MAX_DEPTH) for t in markers]


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


class _Writer:
    """Writes the expression of one matcher and records what its groups mean."""

    def __init__(
        self, automaton: Automaton, handlers: Handlers, *, anchored: bool, sound: bool, arriving: bool = False
    ) -> None:
        self._automaton, self._handlers = automaton, handlers
        self._anchored, self._sound, self._is_arriving = anchored, sound, arriving
        self._groups = 0
        self.branches: dict[int, Branch] = {}
        #: what may stand between tokens
        self.ignored = automaton.tables.ignore

    def tree(self, step: Transition, taken: tuple[NamedOperation, ...], room: int, depth: int) -> MarkerTree:
        """The tree of a transition and of the markers that may follow it, as far as there is room for them.

        `taken` are the operations before it, `room` the number of branches and `depth` the number of terminals that may
        follow.
        """
        inline = step.terminal.short == "JSON_STRING"
        regex = _PLAIN_STRING if inline else self._pattern_of(step.terminal.regex)
        ops: tuple[Operation, ...] = ((("embedded_string", ""),) if inline else ()) + step.after
        following = [] if self._sound and step.inserted else self._following(step.target, room, depth)
        token = 0
        if not self._sound or ((ops or step.before) and not self._is_whole_match(ops, depth, bool(following))):
            self._groups += 1
            token = self._groups
        done = (*taken, *[named_operation(op, token, before=True) for op in step.before])
        done += tuple([named_operation(op, token) for op in ops])
        if not inline and is_lone(step, done):
            done += (named_operation(("markup", ""), 0),)
        share = room // len(following) if following else 0
        onward = [self.tree(t, done, share, depth - 1) for t in following]
        self._groups += 1
        branch = self.branches[self._groups] = Branch(
            done, self._handlers, step.target, step.terminal.grows, transition=step
        )
        spans = not token and any(name == "end" for name, _ in ops)
        ends = bool(room) and step.target.free is None and not spans and not _may_begin_with_space(step.target)
        return MarkerTree(step.terminal, regex, token, self._groups, self.ignored if ends else "", branch, onward)

    def missing_closer(self, closer: MissingCloser, config: Config) -> str:
        """The expression of a pattern that shows that a closing marker is missing."""
        if closer.kind == "argument":
            self._groups += 1  # its name
        self._groups += 1
        self.branches[self._groups] = Branch((), self._handlers, config, closer.kind == "end", closer)
        return f"(?:{self._pattern_of(closer.regex)})()"

    def _pattern_of(self, regex: str) -> str:
        return while_arriving(regex) if self._is_arriving else regex

    def _is_whole_match(self, ops: tuple[Operation, ...], depth: int, goes_on: bool) -> bool:
        """Can the operations take the whole match as their token? The search is faster without a group."""
        if self._anchored or depth < _MAX_DEPTH or any(name in ("replace", "stray", "odd") for name, _ in ops):
            return False  # the place of a damaged marker ends before white space that is skipped behind it
        return not goes_on or all(name in ("begin", "field") for name, _ in ops)

    def _following(self, config: Config, room: int, depth: int) -> list[Transition]:
        """The transitions that continue the expression; none where it ends."""
        if depth <= 1 or config.free or config in (self._automaton.top_level, self._automaton.start):
            return []
        markers = [t for t in config.markers if not (self._sound and t.inserted)]
        following = [*markers, *[t for t in config.embedded if t.terminal.short == "JSON_STRING"]]
        return following if room >= len(following) else []


def _may_begin_with_space(config: Config) -> bool:
    """May a marker begin with white space here? Then the white space before it must not be skipped."""
    firsts = [step.terminal.first for step in config.markers]
    return not all(firsts) or any(char.isspace() for char in "".join(firsts))


def named_operations(step: Transition) -> list[NamedOperation]:
    """The operations of a transition that was not matched by an expression."""
    before = [named_operation(op, 0, before=True) for op in step.before]
    return [*before, *[named_operation(op, 0) for op in step.after]]


def bound_operations(step: Transition, handlers: Handlers) -> tuple[BoundOperation, ...]:
    """The handlers for the operations of a transition that was not matched by an expression."""
    if step.bound is None:
        step.bound = tuple([(handlers[name], arg, group) for name, arg, group in named_operations(step)])
    return step.bound
