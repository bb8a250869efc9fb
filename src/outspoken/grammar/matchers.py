"""Matchers: the markers that may follow a configuration, compiled to one regular expression.

Each marker is a group of the expression, and the empty group behind it tells which one was taken. For text that is
still arriving, `regex` finds where a marker may be incomplete; for complete text, `re` does the same in less time. Both
take the same transitions, so both read the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from outspoken.patterns.alike import compile_alike
from outspoken.patterns.arriving import while_arriving

from .automaton import BoundOperation, Config, Handler, MissingCloser, Operation, Transition
from .marker_search import Find, compile_search, compile_start_search, find_nothing

#: The ends of nodes that the user sees as text, so that a lone marker behind one belongs to the node.
_SHOWN = ("end_code", "end_json", "end_mention", "end_answer")

#: What may precede a marker: patterns look at no more than whether it is a word, white space, a sign or nothing.
_LEADS = ("", "\n", " ", ". ", "a", "<", '"')

#: An operation: the name of its handler, its argument, and the group of the match that is its token.
NamedOperation = tuple[str, str, int]

#: The handlers of operations, by name.
Handlers = Mapping[str, Handler]


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


class Branch(NamedTuple):
    """One way through a matcher: its operations, and the configuration that it leads to.

    `grows` says that the match may become longer with more input. `transition` is what the branch takes;
    `missing_closer` is set instead if the match is no marker, but a sign that a closing marker is missing.
    """

    operations: tuple[BoundOperation, ...]
    target: Config
    grows: bool
    missing_closer: MissingCloser | None = None
    transition: Transition | None = None


@dataclass(slots=True, eq=False)
class OpenMarkers:
    """Markers that may be incomplete where another one has matched: their `regex` patterns, with the group of each.

    Where a marker with a mistake has matched, whose groups are `mistaken`, any of the `others` may be incomplete.
    """

    found: list[tuple[Any, int]]
    others: Sequence[tuple[Any, int]] = ()
    mistaken: frozenset[int] = frozenset()

    def find_open(self, buffer: str, at: int, start: int, group: int) -> int | None:
        """The first place from `at` on where a marker is incomplete that would win over a match; None if there is none.

        The match begins at `start` and is of `group`.
        """
        first = None
        for pattern, own in self.found:
            open_at = _first_open(pattern, buffer, at, start)
            if open_at is not None and (open_at, own) < (start if first is None else first, group):
                first = open_at
        if first is None and group in self.mistaken:
            for pattern, own in self.others:
                open_at = pattern.match(buffer, start, partial=True) if own < group else None
                if open_at is not None and open_at.partial:
                    return start
        return first


def _first_open(pattern: Any, buffer: str, at: int, start: int) -> int | None:
    """The first place from `at` to `start` where a marker is incomplete at the end of the buffer.

    A marker that is incomplete there is incomplete in each shorter buffer, too, so that what has arrived behind `start`
    is not searched. A search prefers a complete match to an incomplete one before it: the buffer is then cut within it.
    """
    while at < start:
        end = start + 1
        while (begun := pattern.search(buffer, at, end, partial=True)) is not None and not begun.partial:
            end = begun.end() - 1
        at = start if begun is None else begun.start()
        partial_match = pattern.match(buffer, at, partial=True)
        if partial_match is not None and partial_match.partial:
            return at
        at += 1
    partial_match = pattern.match(buffer, start, partial=True) if at == start else None
    return start if partial_match is not None and partial_match.partial else None


class Matcher:
    """The compiled markers of a configuration.

    `find` searches, `match` matches at a place; both give a match of `re` or `regex`. Its `lastindex` is the key of the
    branch that was taken. In input that is still arriving, `open_markers` are the markers that may be incomplete where
    another one has matched, `start_search` finds the first place where a marker may begin (None if that is anywhere),
    and `holds` tells at once what a marker begins with.
    """

    __slots__ = ("find", "match", "branches", "open_markers", "start_search", "_begun")

    def __init__(self, find: Find, match: Find, branches: dict[int, Branch]) -> None:
        self.find, self.match, self.branches = find, match, branches
        self.open_markers: OpenMarkers | None = None
        self.start_search: Find | None = None
        #: the beginnings of markers as they are written, and whether each can be nothing else; None if nobody has tried
        self._begun: dict[str, bool | None] = {}

    def expect(self, markers: Iterable[Transition]) -> None:
        """Input that is still arriving may hold these markers, and what follows one that may look ahead to it."""
        steps = [(step, end) for step in markers for end in (None, *step.target.markers * step.terminal.may_stay_open)]
        texts = [step.terminal.canonical + (end.terminal.canonical if end else "") for step, end in steps]
        forms = {form for text in texts for form in (text, text.strip())}
        self._begun = {form[:end]: None for form in forms for end in range(1, len(form))}

    def holds(self, piece: str, *, finds: bool) -> bool:
        """Is a piece of input that ends with what has arrived the beginning of a marker, whatever precedes it?

        If it is another beginning than the grammar writes, or is not known to be one, False.
        """
        is_begun = self._begun.get(piece)
        if is_begun is None and piece in self._begun:
            find = self.find if finds else self.match
            matches = [(find(lead + piece, len(lead), partial=True), len(lead)) for lead in _LEADS]
            is_begun = all(match is not None and match.partial and match.start() == at for match, at in matches)
            self._begun[piece] = is_begun
        return bool(is_begun)

    def stays_open(self, buffer: str, at: int) -> bool:
        """Is the marker that begins at a place of what has arrived still incomplete?

        No marker behind it counts then: those that may hold others are among the `open_markers`.
        """
        found = self.match(buffer, at, partial=True)
        return found is not None and found.partial


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
    matcher: Matcher | None = config.matchers.get(key)
    if matcher is None:
        possible = config.leading_markers if kind == "leading" else config.markers
        markers = [step for step in possible if step not in without]
        matcher = config.matchers[key] = _compile(config, kind, handlers, markers, closers, final=final)
        if kind == "find" and not final:
            sound = [*[step.terminal for step in possible if not step.nearly], *config.missing_closers]
            matcher.start_search = compile_start_search(sound, [step.nearly for step in possible if step.nearly])
    return matcher


def _compile(
    config: Config,
    kind: str,
    handlers: Handlers,
    markers: list[Transition],
    closers: tuple[MissingCloser, ...],
    *,
    final: bool,
) -> Matcher:
    finds, ignored = kind == "find", config.automaton.tables.ignore
    searched = [*[step.terminal for step in markers], *closers]
    pattern_of = str if final else while_arriving
    patterns = [pattern_of(marker.regex) for marker in searched]
    branches = {2 * number: _branch(step, 2 * number - 1, handlers) for number, step in enumerate(markers, 1)}
    groups = 2 * len(markers)
    for closer in closers:
        groups += 1 + (closer.kind == "argument")  # its name is a group
        branches[groups] = Branch((), config, True, closer)
    ends = [f"({pattern})()" for pattern in patterns[: len(markers)]]
    source = "|".join([*ends, *[f"(?:{pattern})()" for pattern in patterns[len(markers) :]]])
    if final and finds and source:
        return Matcher(*compile_search(source, searched), branches)
    matcher = Matcher(find_nothing, find_nothing, branches)
    if source:
        compiled = (re.compile if final else compile_alike)(source if finds else f"{ignored}(?:{source})")
        matcher.find, matcher.match = compiled.search, compiled.match
    if not final:
        matcher.open_markers = _open_markers(markers, patterns)
        matcher.expect(markers)
    return matcher


def _branch(step: Transition, token: int, handlers: Handlers) -> Branch:
    """The branch of a marker; `token` is its group."""
    operations = tuple([(handlers[name], arg, group) for name, arg, group in branch_operations(step, token)])
    return Branch(operations, step.target, step.terminal.grows, transition=step)


def branch_operations(step: Transition, token: int) -> list[NamedOperation]:
    """The operations of a marker that is matched by a group."""
    done = [named_operation(op, token, before=True) for op in step.before]
    done += [named_operation(op, token) for op in step.after]
    if is_lone(step, done):
        done.append(named_operation(("markup", ""), 0))
    return done


def _open_markers(markers: Sequence[Transition], patterns: Sequence[str]) -> OpenMarkers | None:
    """The markers that may be incomplete where another one has matched; None if there are none."""
    known = [
        (step.terminal, pattern, 2 * n) for n, (step, pattern) in enumerate(zip(markers, patterns, strict=False), 1)
    ]
    may_stay_open = [(compile_alike(pattern), group) for t, pattern, group in known if t.may_stay_open]
    mistaken = frozenset([group for t, _, group in known if t.priority < 0])
    sound = [item for item in known if mistaken and item[0].priority >= 0 and not item[0].may_stay_open]
    others = [(compile_alike(pattern), group) for _, pattern, group in sound]
    return OpenMarkers(may_stay_open, others, mistaken) if may_stay_open else None


def named_operations(step: Transition) -> list[NamedOperation]:
    """The operations of a transition that was not matched by an expression."""
    before = [named_operation(op, 0, before=True) for op in step.before]
    return [*before, *[named_operation(op, 0) for op in step.after]]


def bound_operations(step: Transition, handlers: Handlers) -> tuple[BoundOperation, ...]:
    """The handlers for the operations of a transition that was not matched by an expression."""
    if step.bound is None:
        step.bound = tuple([(handlers[name], arg, group) for name, arg, group in named_operations(step)])
    return step.bound
