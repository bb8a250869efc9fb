"""Compiled steps: regular expressions that take a configuration as far as a regular expression can.

From a configuration, the markers that may follow each other form a tree. `whole` compiles the tree into one
expression, so that a tool call costs a few matches; each branch may stop anywhere, and which branch was taken is read
off an empty group at its end. `partial` compiles single markers, for text of which more may come. Both take the same
transitions, so both read the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from outspoken.patterns.analysis import leading_chars
from outspoken.patterns.prefilter import prefilter_pattern

from .automaton import Automaton, Config, MissingCloser, Transition
from .tables import Terminal

#: An operation: the name of its handler, its argument, the group of a match that it speaks of.
NamedOp = tuple[str, str, int]

#: Called as `operation(builder, argument, match, group, base)`.
Operation = Callable[[Any, str, Any, Any, int], None]

#: How many ways a step may branch, and how many terminals it may take one after another.
_MAX_BRANCHES = 72
_MAX_DEPTH = 12

#: what is text for the user when it ends, so that a bare marker behind it is the end of that
_SHOWN = ("end_code", "end_json", "end_mention", "end_answer")

#: A JSON string without escapes is read as part of a step; any other is left to its scanner.
_PLAIN_STRING = r'"[^"\\\x00-\x1f\ud800-\udfff]*"'


class Handlers:
    """The functions that carry out operations, by name.

    `folds` are sequences of operations that occur often, each with one function that does what they do; the group of
    that function is a tuple of theirs.
    """

    __slots__ = ("_by_name", "folds")

    def __init__(self, by_name: dict[str, Operation], folds: tuple[tuple[tuple[Operation, ...], Any], ...]) -> None:
        self._by_name, self.folds = by_name, folds

    def __getitem__(self, name: str) -> Operation:
        return self._by_name[name]


def folded(ops: tuple[tuple[Any, str, Any], ...], handlers: Handlers) -> tuple[tuple[Any, str, Any], ...]:
    """The same operations, with those that often follow each other made one."""
    made: list[tuple[Any, str, Any]] = []
    at = 0
    while at < len(ops):
        for pattern, function in handlers.folds:
            part = ops[at : at + len(pattern)]
            if tuple([op[0] for op in part]) == pattern:
                made.append((function, part[0][1], tuple([op[2] for op in part])))
                at += len(pattern)
                break
        else:
            made.append(ops[at])
            at += 1
    return tuple(made)


class Branch:
    """One way through a step: the operations with the groups they speak of, and where it leads.

    `named` are the same operations, each by its name. `suspect` is set where the path leads nowhere, since a closing
    marker seems to be missing.

    An operation is `(function, argument, group)` and is called as `function(builder, argument, match, group, base)`.
    """

    __slots__ = ("operations", "named_operations", "target", "grows", "missing_closer")

    def __init__(
        self,
        named: tuple[NamedOp, ...],
        handlers: Handlers,
        target: Config,
        grows: bool,
        suspect: MissingCloser | None = None,
    ) -> None:
        self.operations = folded(tuple([(handlers[name], arg, group) for name, arg, group in named]), handlers)
        self.named_operations, self.target, self.grows, self.missing_closer = named, target, grows, suspect


class OpenMarkers:
    """Markers of which one may be open where another one has matched: compiled patterns, with the group of each."""

    __slots__ = ("found",)

    def __init__(self, found: list[tuple[Any, int]]) -> None:
        self.found = found

    def find_open(self, buffer: str, at: int, start: int, group: int) -> int | None:
        """Where one is still open, from `at` on, that would count before the match of a group at `start`.

        None where there is none.
        """
        first = None
        for rival, own in self.found:
            # a search would rather find a whole match further on
            found = (rival.match if at == start else rival.search)(buffer, at, partial=True)
            if (
                found is not None
                and found.partial
                and (found.start(), own) < (start if first is None else first, group)
            ):
                first = found.start()
        return first


class Matcher:
    """A compiled step of a configuration: `find` searches or `match` matches at a place; `paths` by group number.

    `quick` finds the first character that may begin a marker; None where any may.
    `solid` is what `find` looks for, where it looks for single characters first: the white space with which a match may
    begin, and the characters that then stand first. `guard` is what stands before `source` in a search, otherwise.
    `rivals` are the terminals of a partial step that may be open where another one has matched.
    """

    __slots__ = ("source", "find", "match", "branches", "open_markers", "quick", "solid", "guard")

    def __init__(
        self,
        source: str,
        paths: dict[int, Branch],
        lead: str | None,
        module: Any,
        rivals: OpenMarkers | None,
        terminals: Sequence[Terminal | MissingCloser],
    ) -> None:
        self.source = source
        self.branches = paths
        self.open_markers = rivals
        self.quick: Any = None
        self.solid: tuple[str, str] | None = None
        self.guard = ""
        self.find: Any = _nothing
        self.match: Any = _nothing
        if source and lead is None:
            self.find, self.match, self.solid = (
                searched(source, terminals) if module is re else (*_both(module.compile(source)), None)
            )
            self.guard = lookahead(terminals) if module is re and self.solid is None else ""
        elif source:
            self.source = f"{lead}(?:{source})"
            self.match = module.compile(self.source).match


def _nothing(text: str, pos: int = 0, **_: bool) -> None:
    """Finds nothing, where no marker is acceptable."""


def matcher_of(config: Config, which: str, handlers: Handlers) -> Matcher:
    """The compiled step of a configuration.

    `which` begins with "find" for the markers that end free text, with "match" for what stands at a place where free
    text may not, with "ahead" for the markers that are acceptable before free text only. It ends in "whole" for text
    that is all there, in "long" for the same where the text is long (another engine is faster there), in "partial" for
    text of which more may come, in "lane" for text that is all there and sound: it goes on with nothing that is only
    there for damage. "watch" is "find" that also finds what shows that a closing marker is missing.
    """
    try:
        return config.matchers[which]
    except KeyError:
        kind, mode = which.split()
        finds = kind in ("find", "find_checked")
        compiler = _Compiler(config.automaton, handlers, anchored=not finds, sound=mode == "lane")
        markers = config.leading_markers if kind == "leading" else config.markers
        if mode == "lane" and not finds:
            markers = [t for t in markers if not t.inserted]
        counted = [t for t in markers if not t.inserted] if mode == "lane" else markers
        room = 0 if mode == "partial" else _MAX_BRANCHES // max(len(counted), 1)
        branches = [compiler.branch(t, (), room, _MAX_DEPTH) for t in markers]
        if kind == "find_checked":
            branches += [compiler.missing_closer(s, config) for s in config.missing_closers]
        if mode in ("whole", "lane"):
            module: Any = re
        else:
            import regex as module
        lead = None if finds else compiler.blank
        groups = sorted(compiler.branches)
        wide = [(t, g) for t, g in zip(markers, groups, strict=False) if t.terminal.may_stay_open and mode == "partial"]
        rivals = OpenMarkers([(module.compile(t.terminal.regex), group) for t, group in wide]) if wide else None
        terminals = [*[t.terminal for t in markers], *(config.missing_closers if kind == "find_checked" else ())]
        found = config.matchers[which] = Matcher("|".join(branches), compiler.branches, lead, module, rivals, terminals)
        if mode == "partial" and finds:
            found.quick = quick(terminals)
        return found


def quick(terminals: Sequence[Terminal | MissingCloser]) -> Any:
    """A search for where one of the terminals may begin, in a piece behind which more may come; None where anywhere."""
    chars = first(terminals)
    if not chars:
        return None if chars is None else _nothing
    begun = _beginnings(terminals)
    if begun is None or not begun[0]:
        return re.compile(chars).search
    blank, solid = [re.escape("".join(sorted(part))) for part in begun]
    direct = re.escape("".join(sorted({c for t in terminals for c in t.first} - begun[0])))
    # a class of characters stands first, since those are found very fast
    led = f"(?<![{blank}][{blank}])[{blank}]*(?:[{solid}]|\\Z)"
    return re.compile(f"[{direct}{blank}](?:(?<=[{direct}])|{led})" if direct else f"[{blank}]{led}").search


def _beginnings(terminals: Sequence[Terminal | MissingCloser]) -> tuple[set[str], set[str]] | None:
    """The white space with which one of the terminals may begin, and what may stand behind that; None where unknown."""
    blank, solid = set[str](), set[str]()
    for terminal in terminals:
        found = _beginning(terminal.regex)
        if found is None:
            return None
        blank |= found[0]
        solid |= found[1]
    return blank, solid


def _both(compiled: Any) -> tuple[Any, Any]:
    return compiled.search, compiled.match


def searched(source: str, terminals: Sequence[Terminal | MissingCloser]) -> tuple[Any, Any, tuple[str, str] | None]:
    """What finds one of the terminals in text that is not long, and what matches one, both made fast; see `Step`."""
    begun = _beginnings(terminals)
    if begun is None or not begun[1] or any(char.isalnum() for char in begun[1]):
        return *_both(re.compile(guarded(source, terminals))), None
    match = re.compile(source).match
    blank, solid = ["".join(sorted(part)) for part in begun]
    return search(match, blank, solid), match, (blank, solid)


def search(match: Any, blank: str, solid: str) -> Any:
    """A search for a match by the characters that stand first in one, white space aside: those are found very fast."""
    first = re.compile(f"[{re.escape(solid)}]").search

    def find(text: str, pos: int) -> Any:
        while (found := first(text, pos)) is not None:
            start = at = found.start()
            while start > pos and text[start - 1] in blank:
                start -= 1
            while start < at:
                found = match(text, start)
                if found is not None:
                    return found
                start += 1
            found = match(text, at)
            if found is not None:
                return found
            pos = at + 1
        return None

    return find


@lru_cache(maxsize=4096)
def _beginning(regex: str) -> tuple[frozenset[str], frozenset[str]] | None:
    return leading_chars(regex)


def guarded(source: str, terminals: Sequence[Terminal | MissingCloser]) -> str:
    """The expression that finds one of the terminals, made fast where only some characters may begin one."""
    ahead = lookahead(terminals)
    return f"{ahead}(?:{source})" if ahead else source


def lookahead(terminals: Sequence[Terminal | MissingCloser]) -> str:
    """What can be said of where one of the terminals begins, as an expression that takes nothing."""
    chars = first(terminals)
    if not chars:
        return ""
    more = prefilter_pattern([t.regex for t in terminals])
    return f"(?={chars})(?={more})" if more else f"(?={chars})"


def first(terminals: Sequence[Terminal | MissingCloser]) -> str | None:
    """The class of the characters that may begin one of the terminals; None where any may, "" where there are none."""
    if not all(t.first for t in terminals):
        return None
    chars = sorted({c for t in terminals for c in t.first})
    return f"[{re.escape(''.join(chars))}]" if chars else ""


class _Compiler:
    """Writes the expression of one step and keeps what its groups mean."""

    def __init__(self, automaton: Automaton, handlers: Handlers, *, anchored: bool, sound: bool) -> None:
        self._automaton, self._sound = automaton, sound
        self._anchored = anchored
        self._handlers = handlers
        self._groups = 0
        self.branches: dict[int, Branch] = {}
        self.blank = automaton.tables.ignore

    def branch(self, step: Transition, taken: tuple[NamedOp, ...], room: int, depth: int) -> str:
        """The expression of a transition and of what may follow it, as far as there is room for it."""
        inline = step.terminal.short == "JSON_STRING"
        regex = _PLAIN_STRING if inline else step.terminal.regex
        ops: tuple[tuple[str, str], ...] = ((("island", ""),) if inline else ()) + step.after
        following = [] if self._sound and step.inserted else self._onward(step.target, room, depth)
        group = 0
        if (ops or step.before) and not self._is_whole_match(ops, depth, bool(following)):
            self._groups += 1
            group = self._groups
            regex = f"({regex})"
        elif "|" in regex:
            regex = f"(?:{regex})"
        done = taken + tuple([named_operation(op, group, "before_") for op in step.before])
        done += tuple([named_operation(op, group, "") for op in ops])
        if not ops and self._is_outside(step.target) and (not done or done[-1][0].endswith(_SHOWN)):
            done += (named_operation(("markup", ""), 0, ""),)
        share = room // len(following) if following else 0
        onward = [self.branch(t, done, share, depth - 1) for t in following]
        self._groups += 1
        self.branches[self._groups] = Branch(done, self._handlers, step.target, step.terminal.grows)
        if onward:
            return f"{regex}(?:{self.blank}(?:{'|'.join(onward)})|())"
        spans = not group and any(name == "end" for name, _ in ops)
        ends = bool(room) and step.target.free is None and not spans and not _needs_blank(step.target)
        return f"{regex}{self.blank if ends else ''}()"

    def _is_outside(self, config: Config) -> bool:
        """May text for the user stand here, so that a marker before it belongs to nothing?"""
        return config is self._automaton.top_level or (config.free is not None and config.free.terminal.short == "TEXT")

    def missing_closer(self, closer: MissingCloser, config: Config) -> str:
        """The expression of something that shows that a closing marker is missing."""
        if closer.kind == "argument":
            self._groups += 1  # its name
        self._groups += 1
        self.branches[self._groups] = Branch((), self._handlers, config, False, closer)
        return f"(?:{closer.regex})()"

    def _is_whole_match(self, ops: tuple[tuple[str, str], ...], depth: int, goes_on: bool) -> bool:
        """Can the operations of a token take the whole match for it? That keeps the expression's beginning plain."""
        if self._anchored or depth < _MAX_DEPTH:
            return False
        return not goes_on or all(name in ("begin", "field") for name, _ in ops)

    def _onward(self, config: Config, room: int, depth: int) -> list[Transition]:
        """The transitions with which a step goes on; none where it ends."""
        if depth <= 1 or config.free or config in (self._automaton.top_level, self._automaton.start):
            return []
        markers = [t for t in config.markers if not (self._sound and t.inserted)]
        following = [*markers, *[t for t in config.embedded if t.terminal.short == "JSON_STRING"]]
        return following if room >= len(following) else []


def _needs_blank(config: Config) -> bool:
    """May white space be a part of a marker that stands here, so that it is not to be skipped?"""
    firsts = [step.terminal.first for step in config.markers]
    return not all(firsts) or any(char.isspace() for char in "".join(firsts))


def bound_operations(step: Transition, handlers: Handlers) -> tuple[tuple[Any, str, int], ...]:
    """The operations of a transition that no expression takes, as functions."""
    if step.bound is None:
        before = [bind_operation(op, 0, "before_", handlers) for op in step.before]
        step.bound = tuple(before + [bind_operation(op, 0, "", handlers) for op in step.after])
    return step.bound


def named_operation(op: tuple[str, str], group: int, when: str) -> NamedOp:
    """The handler's name, the argument and the group of an operation; `when` is "before_" if it precedes a shift."""
    name, arg = op
    key = f"{name}_{arg}" if name in ("end", "field", "token") else name
    return (when if name in ("end", "reopen") else "") + key, arg, group


def bind_operation(op: tuple[str, str], group: int, when: str, handlers: Handlers) -> tuple[Any, str, int]:
    """The function, argument and group of an operation."""
    name, arg, group = named_operation(op, group, when)
    return handlers[name], arg, group
