"""Compiled steps: regular expressions that take a configuration as far as a regular expression can.

From a configuration, the markers that may follow each other form a tree. `whole` compiles the tree into one
expression, so that a tool call costs a few matches; each branch may stop anywhere, and which branch was taken is read
off an empty group at its end. `partial` compiles single markers, for text of which more may come. Both take the same
transitions, so both read the same.
"""

from __future__ import annotations

import re
from typing import Any

from .automaton import Automaton, Config, Transition

#: A step of this many branches or of this depth is long enough.
_MAX_BRANCHES = 14
_MAX_DEPTH = 9

#: A JSON string without escapes is read as part of a step; any other is left to its scanner.
_PLAIN_STRING = r'"[^"\\\x00-\x1f\ud800-\udfff]*"'


class Path:
    """One way through a step: the operations with the groups they speak of, and where it leads.

    An operation is `(function, argument, group)` and is called as `function(builder, argument, match, group, base)`.
    """

    __slots__ = ("ops", "target", "grows")

    def __init__(self, ops: tuple[tuple[Any, str, int], ...], target: Config, grows: bool) -> None:
        self.ops, self.target, self.grows = ops, target, grows


class Step:
    """A compiled step of a configuration: `find` searches, `match` matches at a place, `paths` by group number.

    `rivals` are the terminals of a partial step that may be open where another one has matched; each is a compiled
    pattern with the group that its own match would have.
    """

    __slots__ = ("source", "find", "match", "paths", "rivals")

    def __init__(self, source: str, paths: dict[int, Path], lead: str, module: Any, rivals: list[tuple[Any, int]]) -> None:
        self.source = source
        self.paths = paths
        self.rivals = rivals
        self.find: Any = module.compile(source).search if source else _nothing
        self.match: Any = module.compile(f"{lead}(?:{source})").match if source else _nothing


def still_open(step: Any, buffer: str, at: int, match: Any) -> int | None:
    """Where a terminal is still open that would count before a match of a partial step; None for nowhere."""
    first = None
    start, group = match.start(), match.lastindex
    for rival, own in step.rivals:
        found = rival.search(buffer, at, partial=True)
        if found is not None and found.partial and (found.start(), own) < (start if first is None else first, group):
            first = found.start()
    return first


def _nothing(text: str, pos: int = 0, **_: bool) -> None:
    """Finds nothing, where no marker is acceptable."""


def step(config: Config, which: str, handlers: dict[str, Any]) -> Step:
    """The compiled step of a configuration.

    `which` is "whole" for text that is all there, "long" for the same where the text is long (another engine is faster
    there), "partial" for text of which more may come; "ahead whole" and "ahead partial" are for the markers that are
    acceptable before free text only.
    """
    try:
        return config.engines[which]
    except KeyError:
        partial = which.endswith("partial")
        compiler = _Compiler(config.automaton, handlers, fuse=not partial)
        markers = config.before_free if which.startswith("ahead") else config.markers
        branches = [compiler.branch(t, (), 0) for t in markers]
        if partial or which == "long":
            import regex as module
        else:
            module: Any = re
        groups = sorted(compiler.paths)
        rivals = [(module.compile(t.terminal.regex), g) for t, g in zip(markers, groups) if t.terminal.wide] if partial else []
        found = config.engines[which] = Step("|".join(branches), compiler.paths, compiler.blank, module, rivals)
        return found


class _Compiler:
    """Writes the expression of one step and keeps what its groups mean."""

    def __init__(self, automaton: Automaton, handlers: dict[str, Any], *, fuse: bool) -> None:
        self._automaton = automaton
        self._handlers = handlers
        self._fuse = fuse
        self._groups = 0
        self.paths: dict[int, Path] = {}
        ignore = automaton.tables.ignore
        self.blank = f"(?:{ignore})?" if ignore else ""

    def branch(self, step: Transition, taken: tuple[tuple[Any, str, int], ...], depth: int) -> str:
        """The expression of a transition and all that may follow it."""
        inline = step.terminal.short == "JSON_STRING"
        regex = _PLAIN_STRING if inline else step.terminal.regex
        ops: tuple[tuple[str, str], ...] = ((("island", ""),) if inline else ()) + step.after
        group = 0
        if ops or step.before:
            self._groups += 1
            group = self._groups
            regex = f"({regex})"
        elif "|" in regex:
            regex = f"(?:{regex})"
        done = taken + tuple([bind(op, group, "before_", self._handlers) for op in step.before])
        done += tuple([bind(op, group, "", self._handlers) for op in ops])
        onward = [self.branch(t, done, depth + 1) for t in self._onward(step.target, depth)]
        self._groups += 1
        self.paths[self._groups] = Path(done, step.target, step.terminal.grows)
        return f"{regex}(?:{self.blank}(?:{'|'.join(onward)})|())" if onward else f"{regex}()"

    def _onward(self, config: Config, depth: int) -> list[Transition]:
        """The transitions with which a step goes on; none where it ends."""
        home = config in (self._automaton.home, self._automaton.start)
        if not self._fuse or home or config.free or depth >= _MAX_DEPTH or len(self.paths) >= _MAX_BRANCHES:
            return []
        strings = [t for t in config.islands if t.terminal.short == "JSON_STRING"]
        return [*config.markers, *strings]


def bind(op: tuple[str, str], group: int, when: str, handlers: dict[str, Any]) -> tuple[Any, str, int]:
    """The function, argument and group of an operation; `when` is "before_" for one that precedes a shift."""
    name, arg = op
    key = f"{name}_{arg}" if name in ("end", "field", "token") else name
    return handlers[(when if name in ("end", "reopen") else "") + key], arg, group
