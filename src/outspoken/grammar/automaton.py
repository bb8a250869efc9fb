"""The automaton over LALR configurations, built from the tables of a grammar as texts need it.

A configuration is the parser's stack of states, which is all that the parser remembers. A terminal leads from one
configuration to another by some reductions and a shift. This depends on nothing else, and a grammar has few
configurations, so each is built once and kept. Parsing is a walk from configuration to configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from threading import RLock
from typing import Any, Literal, NamedTuple

from .tables import END, Tables, Terminal, order
from .vocabulary import CALLS, EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS

Stack = tuple[int, ...]

#: What a step means, and of what: ("begin", "json tool_call"), ("token", "TOOL_NAME"), ("field", "arguments"),
#: ("end", "tool_call"), ("reopen", "tool_calls"), ("drop", ""), ("insert", "<tool_call>"), ("replace", "<tool_call>"),
#: ("stray", ""), ("odd", "").
Operation = tuple[str, str]
Operations = tuple[Operation, ...]

#: Carries out an operation. It is called as `handler(builder, argument, match, group, base)`; only the rooms above know
#: the builder.
Handler = Callable[..., None]
BoundOperation = tuple[Handler, str, int]


@dataclass(slots=True, eq=False)
class Transition:
    """What a terminal does in a configuration: reductions before its shift, the shift, reductions after it.

    `before` and `after` are the operations of these reductions. `cost` is how far they are from the grammar's first
    alternatives. `inserted` is the spelling of a missing marker that is inserted before this one, or that this one
    `replaces` since it is the same with a mistake; otherwise "". Where that is certain, every match begins with one of
    `prefilter`, or it is `nearly` a text, with one mistake; otherwise both are "".
    """

    terminal: Terminal
    target: Config
    before: Operations
    after: Operations
    cost: int
    inserted: str = ""
    _: KW_ONLY
    replaces: bool = False
    nearly: str = ""
    prefilter: str = ""
    #: the operations with their handlers; set by `matchers.bound_operations`
    bound: tuple[BoundOperation, ...] | None = None
    #: how the room `recovery` recognises the terminal; set there
    recovery_matcher: Any = None
    #: the field of a call that an embedded value becomes when it is shifted; "" if that is not known yet
    role: str = field(init=False)

    def __post_init__(self) -> None:
        self.role = next((arg for name, arg in self.after if name == "field"), "")


class Config:
    """One configuration of the parser, and the terminals that it accepts.

    `free` is the transition over free text, or None; the parser takes it even if the text is empty. `embedded` are the
    transitions over embedded values, `markers` those over all other terminals, in the order in which they are tried.
    Of them, `mistaken` are those with a mistake that a cheap search tells to be absent. `missing_closers` are the
    patterns that show, in the value that leads to this configuration, that it lacks its closing marker.

    All of these are computed on first access.
    """

    free: Transition | None
    embedded: list[Transition]
    markers: list[Transition]
    mistaken: tuple[Transition, ...]
    missing_closers: tuple[MissingCloser, ...]
    __slots__ = (
        "automaton", "stack", "free", "embedded", "markers", "mistaken", "missing_closers",
        "value_config", "ends_reasoning", "matchers", "_strict", "_is_linked", "_end", "_leading",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, stack: Stack) -> None:
        self.automaton = automaton
        self.stack = stack
        #: the configuration from which a value that is free text leads here
        self.value_config: Config | None = None
        #: is this the configuration behind reasoning?
        self.ends_reasoning = False
        #: the compiled matchers by kind and input; see `matchers.matcher_of`
        self.matchers: dict[Any, Any] = {}
        self._strict: tuple[Transition | None, list[Transition], list[Transition]] | None = None
        self._is_linked = False
        self._end: Operations | Literal[False] | None = False
        self._leading: list[Transition] | None = None

    def __getattr__(self, name: str) -> Any:
        """Compute what was not computed yet. It is set once it is complete, so that threads may share automata."""
        if name not in _COMPUTED:
            raise AttributeError(name)
        with _lock:
            if name == "missing_closers":
                begin = self.value_config
                self.missing_closers = self.automaton.missing_closers(begin) if begin else ()
            elif not self._is_linked:
                self._link()
        return object.__getattribute__(self, name)

    def strict_transitions(self) -> tuple[Transition | None, list[Transition], list[Transition]]:
        """The transitions of the strict grammar: over free text (or None), embedded values and markers."""
        with _lock:
            if self._strict is None:
                self._strict = self._transitions()
                free = self._strict[0]
                if free is not None and free.terminal.short == "ARG_VALUE":
                    free.target.value_config = self
                if free is not None and free.terminal.short == "REASONING":
                    free.target.ends_reasoning = True
            return self._strict

    @property
    def steps(self) -> list[Transition]:
        """All transitions of the strict grammar."""
        free, embedded, markers = self.strict_transitions()
        return [*([free] if free else []), *embedded, *markers]

    def _transitions(self) -> tuple[Transition | None, list[Transition], list[Transition]]:
        free: Transition | None = None
        embedded: list[Transition] = []
        markers: list[Transition] = []
        for name in self.automaton.tables.states[self.stack[-1]]:
            transition = self.automaton.transition(self.stack, name)
            if transition is None or not self.automaton.may_take(transition):
                continue
            if transition.terminal.short in FREE_TEXT:
                free = transition
            else:
                (embedded if transition.terminal.short in EMBEDDED_VALUES else markers).append(transition)
        markers.sort(key=lambda t: order(t.terminal))
        return free, embedded, markers

    def _link(self) -> None:
        free, embedded, markers = self.strict_transitions()
        self.embedded, self.free = embedded, free
        lenient = self.automaton.insertions(self)
        first = [step for step in lenient if step.terminal.priority > 0 and step.replaces]
        self.mistaken = tuple([step for step in lenient if step.nearly or step.prefilter])
        self.markers = [*first, *markers, *[step for step in lenient if step not in first]]
        self._is_linked = True

    @property
    def leading_markers(self) -> list[Transition]:
        """The markers that are acceptable before the free text that is acceptable here, and not after it."""
        if self._leading is None:
            later = {t.terminal.name for t in self.free.target.markers} if self.free else set[str]()
            self._leading = [t for t in self.markers if t.terminal.name not in later] if self.free else []
        return self._leading

    def end_operations(self) -> Operations | None:
        """The operations at the end of the text; None if the text may not end here."""
        if self._end is False:
            advanced = self.automaton.advance(self.stack, END)
            self._end = None if advanced is None else advanced[1]
        return self._end


class MissingCloser(NamedTuple):
    """A pattern that shows, inside a value, that its closing marker is missing.

    `kind` tells what it finds: the "end" of the call round the value, the beginning of another "call" or "argument", or
    the closing marker "twice". Every match of `regex` contains a match of `prefilter`, which is found faster. `first`
    holds the characters with which a match of `regex` may begin. It begins with one of the texts `nearly`, which may
    have a mistake, or with line breaks and a match of `begins`.
    """

    regex: str
    prefilter: str
    first: str
    kind: str
    nearly: tuple[str, ...] = ()
    begins: str = ""


#: So many characters of the closing marker that was found may belong to one with a mistake before it.
CLOSER_OVERLAP = 2


_COMPUTED = frozenset({"free", "embedded", "markers", "mistaken", "missing_closers"})
_lock = RLock()


#: What completes a call, what holds calls, and data that is no text since it is told from calls.
_CALL_ENDS = frozenset[Operation]({("end", kind) for kind in ("tool_call", "unread", "envelope", "json")})


class Automaton:
    """The configurations of one grammar that texts have led to so far. Threads may share it.

    With `whole`, the strict automaton of the same grammar, calls are left out: a marker that leads to
    nothing but a call is no marker.
    """

    def __init__(self, tables: Tables, whole: Automaton | None = None) -> None:
        self.tables, self._whole = tables, whole
        #: by configuration of the whole automaton: may a text end behind it without a call?
        self._has_end: dict[Config, bool] = {}
        self._configs: dict[Stack, Config] = {}
        #: the rule that a state reduces by whatever follows, or None; by state
        self._forced_rules: dict[int, int | None] = {}
        #: the parser's state behind the end of the format's prompts; set by `parsing`, False if it cannot be kept
        self.prompt_state: Any = None
        self.start = self.config((tables.start,))
        #: the configuration after text, outside every segment
        self.top_level = self.start.free.target if self.start.free else self.start
        names = {"text": "TEXT", "reasoning": "REASONING", "value": "ARG_VALUE"}
        #: the free text round which white space belongs to the markers
        self.trims = frozenset([names[t] for t in tables.header.trim])

    def insertions(self, config: Config) -> list[Transition]:
        """The transitions over what shows that an opening marker is missing; see `lenient_rules.LenientAutomaton`."""
        return []

    def missing_closers(self, config: Config) -> tuple[MissingCloser, ...]:
        """The patterns that show, in a value that begins in a configuration, that its closing marker is missing."""
        return ()

    @property
    def top_level_markers(self) -> list[Transition]:
        """The transitions over the markers that may follow text outside every segment."""
        config = self.top_level
        return (config.free.target if config.free else config).markers

    @cached_property
    def broken(self) -> Automaton | None:
        """The automaton of the rules for damaged responses; None if the grammar has none."""
        tables = self.tables.broken
        return None if tables is None else Automaton(tables, whole=self._whole and self._whole.broken)

    @property
    def configs(self) -> list[Config]:
        """All configurations of the strict grammar that can be reached from the start."""
        found, waiting = [self.start], [self.start]
        seen = {self.start}
        while waiting:
            for step in waiting.pop().steps:
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

    def may_take(self, step: Transition) -> bool:
        """Is a transition of the grammar one of this automaton? Without calls, a text must be able to end behind it."""
        if self._whole is None:
            return True
        if not _CALL_ENDS.isdisjoint((*step.before, *step.after)):
            return False
        begin = self._whole.config(step.target.stack)
        if begin not in self._has_end:
            self._find_end(begin)
        return self._has_end[begin]

    def _find_end(self, begin: Config) -> None:
        """Find whether a text can end behind a configuration of the whole automaton without a call."""
        waiting, seen = [begin], {begin}
        while waiting:
            config = waiting.pop()
            ends = config.end_operations()
            if self._has_end.get(config) or (ends is not None and _CALL_ENDS.isdisjoint(ends)):
                self._has_end[begin] = True
                return
            steps = [step for step in config.steps if _CALL_ENDS.isdisjoint((*step.before, *step.after))]
            new = {step.target for step in steps if self._has_end.get(step.target, True)} - seen
            seen |= new
            waiting += new
        self._has_end |= dict.fromkeys(seen, False)

    def outside_of_call(self, config: Config) -> Config:
        """The configuration before the innermost call of a configuration; the top level if there is no call."""
        nodes = self.tables.nodes
        depth = max(
            [i for i, state in enumerate(config.stack) if not CALLS.isdisjoint(nodes[state].split())], default=0
        )
        return self.config(config.stack[:depth]) if depth else self.top_level

    def open_nodes(self, config: Config) -> int:
        """How many nodes are open in a configuration."""
        return sum(bool(self.tables.nodes[state]) for state in config.stack)

    def transition(self, stack: Stack, name: str) -> Transition | None:
        """The transition over a terminal, by name; None if it is not acceptable, or not a terminal."""
        terminal = self.tables.terminals.get(name)
        advanced = self.advance(stack, name) if terminal else None
        if advanced is None or terminal is None:
            return None
        target, before, after, cost = advanced
        return Transition(terminal, self.config(target), before, after, cost)

    def advance(self, stack: Stack, name: str) -> tuple[Stack, Operations, Operations, int] | None:
        """The stack after a terminal, the operations before and after its shift, and the cost; None if refused."""
        states = self.tables.states
        work = list(stack)
        before: list[Operation] = []
        cost = 0
        while True:
            action = states[work[-1]].get(name)
            if action is None:
                accepted = [self.tables.start, states[self.tables.start].get(self.tables.symbol)]
                return (tuple(work), tuple(before), (), cost) if name == END and work == accepted else None
            if action >= 0:
                break
            cost += self._reduce(work, -1 - action, before)
        work.append(action)
        after: list[Operation] = [("begin", kinds)] if (kinds := self.tables.nodes[action]) else []
        short = self.tables.terminals[name].short
        if short in TOKENS:
            after.append(("token", short))
        while (rule := self._forced(work[-1])) is not None:
            cost += self._reduce(work, rule, after)
        return tuple(work), tuple(before), tuple(after), cost

    def _forced(self, state: int) -> int | None:
        """The rule by which a state reduces whatever follows; None if the next terminal decides."""
        if state not in self._forced_rules:
            actions = set(self.tables.states[state].values())
            only = actions.pop() if len(actions) == 1 else 0
            self._forced_rules[state] = -1 - only if only < 0 else None
        return self._forced_rules[state]

    def _reduce(self, work: list[int], number: int, ops: list[Operation]) -> int:
        """Reduce the stack by a rule, append its operations, and return how far it is from the first alternative."""
        rule, nodes = self.tables.rules[number], self.tables.nodes
        begun = bool(rule.size) and nodes[work[len(work) - rule.size]]
        if rule.size:
            del work[len(work) - rule.size :]
        if rule.short in FIELDS:
            ops.append(("field", rule.short))
        target = self.tables.states[work[-1]][rule.name]
        work.append(target)
        if rule.short in NODES:
            ops.append(("end", rule.short))
            if nodes[target]:
                ops.append(("reopen", nodes[target]))
        elif begun and not nodes[target]:
            ops.append(("drop", ""))
        return rule.order
