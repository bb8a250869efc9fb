"""The automaton over LALR configurations, made from tables as a text needs it.

A configuration is the parser's stack of states: its whole memory. From a configuration, a terminal leads to another
one by some reductions and a shift. That is a pure function, and a grammar has few configurations, so each is made
once and kept. Parsing is then a walk from configuration to configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import Any, Literal, NamedTuple

from .tables import END, Tables, Terminal, order
from .vocabulary import CALLS, EMBEDDED_VALUES, FIELDS, FRAMES, FREE_TEXT, JSON_FIRST, TOKENS

#: What a step means: ("begin", "json tool_call"), ("token", "TOOL_NAME"), ("field", "arguments"), ("end", "tool_call"),
#: ("reopen", "tool_calls"), ("drop", ""), ("island", "").
Op = tuple[str, str]

Stack = tuple[int, ...]


class Transition:
    """What a terminal does in a configuration: reductions before its shift, the shift, reductions after it.

    `cost` is how far the reductions are from the grammar's first alternatives. `inserted` is the marker that is missing
    before this one, as it is written; "" where none is.
    """

    __slots__ = ("terminal", "target", "before", "after", "cost", "bound", "role", "inserted", "recovery_matcher")

    def __init__(
        self,
        terminal: Terminal,
        target: Config,
        before: tuple[Op, ...],
        after: tuple[Op, ...],
        cost: int,
        inserted: str = "",
    ) -> None:
        self.terminal, self.target, self.before, self.after, self.cost = terminal, target, before, after, cost
        self.inserted = inserted
        #: how recovery recognises the terminal, once it was asked for
        self.recovery_matcher: Any = None
        #: what an island that is shifted here becomes, where that is known at once
        self.role = next((arg for name, arg in after if name == "field"), "")
        #: the operations as functions, once they were bound
        self.bound: tuple[tuple[Any, str, int], ...] | None = None


class Config:
    """One configuration: what is acceptable here.

    `free` is the transition over free text, where that is acceptable; it is then taken for empty text, too. `embedded`
    are the transitions over islands, `markers` those over the other terminals, in the order in which they are tried.
    `json` holds the first characters of the JSON values that are acceptable here, each with the transition over it.
    `missing_closers` are the patterns that show, in the free text before this configuration, that its closing marker is
    missing; `may_lack_closer` searches for the places where one of them may match.

    All of these are made when they are first asked for.
    """

    free: Transition | None
    embedded: list[Transition]
    markers: list[Transition]
    json: dict[str, Transition]
    missing_closers: tuple[MissingCloser, ...]
    may_lack_closer: Any
    __slots__ = (
        "automaton",
        "stack",
        "free",
        "embedded",
        "markers",
        "json",
        "missing_closers",
        "may_lack_closer",
        "before",
        "matchers",
        "finder",
        "matcher",
        "leading_matcher",
        "_strict",
        "_linked",
        "_ends",
        "_leading",
    )

    def __init__(self, automaton: Automaton, stack: Stack) -> None:
        self.automaton = automaton
        self.stack = stack
        #: the configuration from which a value that is free text leads here; reasoning may lead here, too
        self.before: Config | None = None
        self.matchers: dict[str, Any] = {}
        #: the compiled steps for text that is all there, once they were made
        self.finder: Any = None
        self.matcher: Any = None
        self.leading_matcher: Any = None
        self._strict: tuple[Transition | None, list[Transition], list[Transition]] | None = None
        self._linked = False
        self._ends: tuple[Op, ...] | Literal[False] | None = False
        self._leading: list[Transition] | None = None

    def __getattr__(self, name: str) -> Any:
        """What was not made yet: it is made as a whole, and only then seen, so that threads may share automata."""
        if name not in _MADE:
            raise AttributeError(name)
        with _making:
            if name in ("missing_closers", "may_lack_closer"):
                self._find_missing_closers()
            elif not self._linked:
                self._link()
        return object.__getattribute__(self, name)

    def strict_transitions(self) -> tuple[Transition | None, list[Transition], list[Transition]]:
        """The transition over free text, and those over islands and markers, as the grammar has them."""
        with _making:
            if self._strict is None:
                self._strict = self._transitions()
                free = self._strict[0]
                if free is not None and free.terminal.short == "ARG_VALUE":
                    free.target.before = self
            return self._strict

    def _transitions(self) -> tuple[Transition | None, list[Transition], list[Transition]]:
        free: Transition | None = None
        embedded: list[Transition] = []
        markers: list[Transition] = []
        for name in self.automaton.tables.states[self.stack[-1]]:
            found = self.automaton.transition(self.stack, name)
            if found is None:
                continue
            if found.terminal.short in FREE_TEXT:
                free = found
            else:
                (embedded if found.terminal.short in EMBEDDED_VALUES else markers).append(found)
        markers.sort(key=lambda t: order(t.terminal))
        return free, embedded, markers

    def _link(self) -> None:
        free, embedded, markers = self.strict_transitions()
        lenient_rules = self.automaton.lenient_rules
        self.json = {c: t for t in reversed(embedded) for c in JSON_FIRST.get(t.terminal.short, ())}
        self.embedded, self.free = embedded, free
        self.markers = [*markers, *lenient_rules.insertions(self)] if lenient_rules else markers
        self._linked = True

    def _find_missing_closers(self) -> None:
        lenient_rules = self.automaton.lenient_rules
        found = lenient_rules.missing_closers(self.before) if lenient_rules and self.before else ()
        self.may_lack_closer = (
            re.compile("|".join(dict.fromkeys([s.prefilter for s in found]))).search if found else None
        )
        self.missing_closers = found

    @property
    def leading_markers(self) -> list[Transition]:
        """The markers that are acceptable here and not after the free text that is acceptable here, too."""
        if self._leading is None:
            later = {t.terminal.name for t in self.free.target.markers} if self.free else set[str]()
            self._leading = [t for t in self.markers if t.terminal.name not in later] if self.free else []
        return self._leading

    def end_operations(self) -> tuple[Op, ...] | None:
        """The operations of the end of the text; None where the text may not end here."""
        if self._ends is False:
            advanced = self.automaton.advance(self.stack, END)
            self._ends = None if advanced is None else advanced[1]
        return self._ends


class MissingCloser(NamedTuple):
    """What a value should not hold, by its `kind`.

    It is the "end" of the call that the value stands in, another "call" or "argument", or its closing marker "twice".
    Nothing that matches `regex` is without a match of `may_lack_closer`, which is found fast.
    """

    regex: str
    prefilter: str
    first: str
    kind: str


_MADE = frozenset({"free", "embedded", "markers", "json", "missing_closers", "may_lack_closer"})
_making = RLock()


class LenientRules(NamedTuple):
    """What an automaton recognises beyond its grammar: more markers of a configuration; what is suspect in its text."""

    insertions: Callable[[Config], list[Transition]]
    missing_closers: Callable[[Config], tuple[MissingCloser, ...]]


class Automaton:
    """All configurations of one grammar that have been met so far."""

    def __init__(self, tables: Tables, lenient_rules: LenientRules | None = None) -> None:
        self.tables = tables
        self.lenient_rules = lenient_rules
        self._configs: dict[Stack, Config] = {}
        #: the forced reductions of the states that were asked for
        self._known: dict[int, int | None] = {}
        #: what reading the end of the format's prompts leaves, once it was read; False where that cannot be kept
        self.prompt_state: Any = None
        self.start = self.config((tables.start,))
        #: Where parsing goes on after text: outside every segment.
        self.top_level = self.start.free.target if self.start.free else self.start
        names = {"text": "TEXT", "reasoning": "REASONING", "value": "ARG_VALUE"}
        #: the free text round which white space belongs to the markup
        self.trims = frozenset([names[t] for t in tables.header.trim])

    @property
    def top_level_markers(self) -> list[Transition]:
        """The transitions over the markers that may follow text outside every segment."""
        home = self.top_level
        return (home.free.target if home.free else home).markers

    @cached_property
    def broken(self) -> Automaton | None:
        """The automaton of what is only read where a response is damaged, where the grammar has rules for that."""
        return Automaton(self.tables.broken) if self.tables.broken is not None else None

    @property
    def configs(self) -> list[Config]:
        """All configurations, in the order in which they are met."""
        found, waiting = [self.start], [self.start]
        seen = {self.start}
        while waiting:
            free, embedded, markers = waiting.pop().strict_transitions()
            for step in (*([free] if free else []), *embedded, *markers):
                if step.target not in seen:
                    seen.add(step.target)
                    found.append(step.target)
                    waiting.append(step.target)
        return found

    def config(self, stack: Stack) -> Config:
        """The configuration of a stack of states."""
        try:
            return self._configs[stack]
        except KeyError:
            return self._configs.setdefault(stack, Config(self, stack))

    def outside_of_call(self, config: Config) -> Config:
        """The configuration in which the innermost call of a configuration began."""
        frames = self.tables.frames
        depth = max(
            [i for i, state in enumerate(config.stack) if not CALLS.isdisjoint(frames[state].split())], default=0
        )
        return self.config(config.stack[:depth]) if depth else self.top_level

    def transition(self, stack: Stack, name: str) -> Transition | None:
        """What a terminal does after a stack; None where it is not acceptable, or no terminal."""
        terminal = self.tables.terminals.get(name)
        advanced = self.advance(stack, name) if terminal else None
        if advanced is None or terminal is None:
            return None
        target, before, after, cost = advanced
        return Transition(terminal, self.config(target), before, after, cost)

    def advance(self, stack: Stack, name: str) -> tuple[Stack, tuple[Op, ...], tuple[Op, ...], int] | None:
        """The stack after a terminal, the operations before and after its shift, and what the path costs."""
        states = self.tables.states
        work = list(stack)
        before: list[Op] = []
        cost = 0
        while True:
            action = states[work[-1]].get(name)
            if action is None:
                return (tuple(work), tuple(before), (), cost) if name == END and self._accepted(work) else None
            if action >= 0:
                break
            cost += self._reduce(work, -1 - action, before)
        work.append(action)
        after: list[Op] = [("begin", kinds)] if (kinds := self.tables.frames[action]) else []
        short = self.tables.terminals[name].short
        if short in TOKENS:
            after.append(("token", short))
        while (rule := self._forced(work[-1])) is not None:
            cost += self._reduce(work, rule, after)
        return tuple(work), tuple(before), tuple(after), cost

    def _accepted(self, work: list[int]) -> bool:
        return work == [self.tables.start, self.tables.states[self.tables.start].get(self.tables.symbol)]

    def _forced(self, state: int) -> int | None:
        """The rule of the one reduction that is possible in a state, whatever comes next."""
        if state not in self._known:
            actions = set(self.tables.states[state].values())
            only = actions.pop() if len(actions) == 1 else 0
            self._known[state] = -1 - only if only < 0 else None
        return self._known[state]

    def _reduce(self, work: list[int], number: int, ops: list[Op]) -> int:
        """Reduce the stack by a rule, note what that means, and return how far it is from the first alternative."""
        rule, frames = self.tables.rules[number], self.tables.frames
        opened = bool(rule.size) and frames[work[len(work) - rule.size]]
        if rule.size:
            del work[len(work) - rule.size :]
        if rule.short in FIELDS:
            ops.append(("field", rule.short))
        target = self.tables.states[work[-1]][rule.name]
        work.append(target)
        if rule.short in FRAMES:
            ops.append(("end", rule.short))
            if frames[target]:
                ops.append(("reopen", frames[target]))
        elif opened and not frames[target]:
            ops.append(("drop", ""))
        return rule.order
