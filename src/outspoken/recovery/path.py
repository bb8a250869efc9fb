"""Recovery paths: a damaged region, the steps of a path through it, and the nodes and edges of the search for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Operations
from outspoken.grammar.leading_space import leading_space
from outspoken.grammar.vocabulary import CALLS, EMBEDDED_VALUES, TOKENS
from outspoken.notations.tools import Tools
from outspoken.results.edits import RepairBudget, RepairLimit
from outspoken.results.settings import Settings
from outspoken.semantics.steps import BLANK as BLANK
from outspoken.semantics.steps import RecoveryStep

from .marker_lexer import Token
from .near_markers import NearMarkers

#: The terminals that say something of a call.
_SAYING = TOKENS | EMBEDDED_VALUES | {"ARG_VALUE"}


class RecoveryPath(NamedTuple):
    """The cheapest path through a region, and the configuration that it ends in. `cut`: the text ends inside it."""

    steps: tuple[RecoveryStep, ...]
    config: Config
    cost: int
    cut: bool = False


@dataclass(eq=False, repr=False)
class Region:
    """A damaged segment: the text from the offset `base` on, read from the configuration `outer`.

    `end_is_certain` says that something behind the text proves that it ended. `announced` says that a stream has
    announced a call in it, so that it cannot be text.
    """

    automaton: Automaton
    outer: Config
    text: str
    base: int
    end_is_certain: bool
    announced: bool
    repair_limit: RepairLimit
    tools: Tools | None
    settings: Settings
    budget: RepairBudget
    #: how many places and configurations may still be visited
    nodes: int
    #: how many tokens Lark's Earley parser may still read
    tokens_left: int = 0
    tokens: list[Token] = field(default_factory=list[Token])
    near: NearMarkers = field(default_factory=NearMarkers)


class Edge(NamedTuple):
    """Something that can be read at a place: its cost, where it ends, the configuration there, and its steps."""

    cost: int
    end: int
    target: Config
    steps: tuple[RecoveryStep, ...]


class LaterEdges(NamedTuple):
    """Edges that are made only when the search comes to the least cost that one of them may have."""

    least_cost: int
    make: Callable[[], list[Edge]]


class Node(NamedTuple):
    """How a place was reached: the last steps, and the node before them.

    `name` is the name of the call or payload that is being read. `lacks_opener` says that a marker that opens calls was
    missing. `meaning` is the same for ways that say the same, and 0 if nothing but text was read.
    """

    steps: tuple[RecoveryStep, ...]
    before: Node | None
    name: str
    lacks_opener: bool
    meaning: int = 0

    @property
    def is_after_drop(self) -> bool:
        """Was text dropped just before?"""
        return bool(self.steps) and self.steps[-1].transition is None

    @property
    def is_after_dropped_text(self) -> bool:
        """Was text dropped just before that is no marker?"""
        return self.is_after_drop and any(edit.code != "stray-marker" for edit in self.steps[-1].edits)

    @property
    def is_after_repair(self) -> bool:
        """Was text dropped just before, or a marker inserted?"""
        return self.is_after_drop or (bool(self.steps) and self.steps[-1].is_missing)

    @property
    def repaired_length(self) -> int:
        """How long the text is that was dropped or inserted just before."""
        if not self.steps or not self.steps[-1].edits:
            return 0
        edit = self.steps[-1].edits[0]
        return len(edit.after.strip()) or edit.end - edit.start


def behind_blank(text: str, at: int) -> int:
    """The place behind the white space that stands at a place."""
    while at < len(text) and text[at] in BLANK:
        at += 1
    return at


def name_after(steps: tuple[RecoveryStep, ...], known: str) -> str:
    """The name of the call or payload that is being read after some steps; `known` is the one before them."""
    for step in steps:
        transition = step.transition
        if transition is not None and transition.terminal.short in ("TOOL_NAME", "PAYLOAD_NAME"):
            return step.text
        if transition is not None and transition.role == "tool_name" and isinstance(step.value, str):
            return step.value
    return known


def meaning_after(steps: tuple[RecoveryStep, ...], known: int, text: str) -> int:
    """A number for what was said after some steps; `known` is the one before them."""
    for step in steps:
        if step.transition is None:
            continue
        short = step.transition.terminal.short
        if step.transition.before and _ends_call(step.transition.before):
            known = hash((known, "end")) or 1
        if short in _SAYING:
            said = text[step.start : step.end].strip(BLANK) if step.is_text else said_by(step)
            known = hash((known, said)) or 1
        if step.transition.after and _ends_call(step.transition.after):
            known = hash((known, "end")) or 1
    return known


def said_by(step: RecoveryStep) -> str:
    """What a step says that is not free text: of a value, not how it is written."""
    if not step.value_text:
        return step.text
    return step.value_text if step.value is None else repr(step.value)


def _ends_call(operations: Operations) -> bool:
    return any(name == "end" and kind in CALLS for name, kind in operations)


def steps_to(node: Node | None, text: str, base: int) -> tuple[RecoveryStep, ...]:
    """The steps that led to a node, with offsets in the raw text.

    If markers are missing behind free text, line breaks before them belong to the markers as they are written, or to
    the one behind them.
    """
    steps: list[RecoveryStep] = []
    while node is not None:
        steps += reversed(node.steps)
        node = node.before
    steps.reverse()
    for i in range(len(steps) - 1):
        free, after = steps[i], steps[i + 1]
        if free.is_text and after.is_missing and text[free.start : free.end][-1:].isspace():
            end = max(free.start, _before_lines(text, free.end, steps[i + 1 :]))
            steps[i], steps[i + 1] = free._replace(end=end), after.moved(end - free.end)
        elif _is_value(free) and after.transition is not None and free.end < after.start and not after.is_missing:
            steps[i] = free._replace(end=after.start)  # the white space is no part of the marker
        elif (
            free.is_missing
            and after.is_text
            and text.startswith("\n", after.start, after.end)
            and _leaves_break(steps[:i])
        ):
            steps[i], steps[i + 1] = free.moved(1), after._replace(start=after.start + 1)
    return tuple([step.moved(base) for step in steps] if base else steps)


def _is_value(step: RecoveryStep) -> bool:
    """Is a step a bare value?"""
    return step.transition is not None and step.transition.terminal.short == "ARG_VALUE"


def _before_lines(text: str, end: int, steps: list[RecoveryStep]) -> int:
    """Where the line breaks begin that some steps begin with: those of missing markers, and of the next one behind."""
    markers = [step for step in steps if step.transition is not None]
    missing = next((n for n, step in enumerate(markers) if not step.is_missing), len(markers))
    terminals = [step.transition.terminal for step in markers[: missing + 1] if step.transition is not None]
    written = [terminal.canonical for terminal in terminals[:missing]]
    leads = [lead for terminal in terminals if (lead := leading_space(terminal)).lines]
    breaks = sum(len(marker) - len(marker.strip("\n")) for marker in written)
    breaks += any(leading_space(terminal).lines for terminal in terminals[missing:])
    for _ in range(breaks):
        end = min([lead.start(text, end) for lead in leads], default=end - text.endswith("\n", 0, end))
    return end


def _leaves_break(steps: list[RecoveryStep]) -> bool:
    """Does the last of some steps read a marker without the line break that is written behind it?"""
    last = steps[-1] if steps else None
    if last is None or last.transition is None or last.text.endswith("\n"):
        return False
    return last.transition.terminal.canonical.endswith("\n")
