"""Recovery: how a damaged segment was most likely meant.

The search reads the strict automaton with damage allowed: a marker may be missing, damaged, stray or plain text, other
text may stand where only markers may, and a JSON value may need repair. Each deviation has a cost, and the cheapest
path through the automaton wins. It is a shortest path (Dijkstra) over places in the text and configurations. An
error-correcting Earley parser would give the same parse over the same tokens (Aho and Peterson 1972).
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from outspoken.grammar.automaton import Config
from outspoken.results.edits import Edit

from . import costs
from .edges import EdgeFinder
from .marker_lexer import is_closed, marker_lexer
from .path import (
    BLANK,
    Edge,
    LaterEdges,
    Node,
    RecoveryPath,
    RecoveryStep,
    Region,
    meaning_after,
    name_after,
    said_by,
    steps_to,
)

_MAX_TOKENS = 400
_MAX_NODES = 6000
_CALLS = frozenset({"tool_call", "action"})


def recover(region: Region) -> RecoveryPath | None:
    """The cheapest path through a region; None if there is none, or none that is cheap enough."""
    path = _cheapest(region, costs.MAX_COST)
    broken, top_level = region.automaton.broken, region.automaton.top_level
    most = costs.MAX_COST if path is None else path.cost - costs.FOREIGN_NOTATION - 1
    if broken is None or not may_be_foreign(region) or most < 0:
        return path
    other = replace(region, automaton=broken, outer=broken.top_level)
    foreign = _cheapest(other, most)
    region.nodes = other.nodes
    if foreign is None or foreign.config.automaton.top_level.stack != foreign.config.stack:
        return path
    cost = foreign.cost + costs.FOREIGN_NOTATION
    return RecoveryPath(marked_foreign(foreign.steps, region), top_level, cost, foreign.cut)


def may_be_foreign(region: Region) -> bool:
    """May the rules for damaged responses read a region?"""
    automaton = region.automaton
    is_outside = region.outer is automaton.top_level and not region.announced
    return automaton.broken is not None and is_outside and region.repair_limit != "notation"


def marked_foreign(steps: tuple[RecoveryStep, ...], region: Region) -> tuple[RecoveryStep, ...]:
    """The steps, with an edit `foreign-notation` for each call or action."""
    found: list[RecoveryStep] = []
    for step in steps:
        operations = step.transition.after if step.transition is not None else ()
        if any(name == "begin" and not _CALLS.isdisjoint(kinds.split()) for name, kinds in operations):
            text = region.text[step.start - region.base : step.end - region.base]
            edit = Edit(step.start, step.end, text, "foreign-notation", "markup")
            step = step._replace(edits=(edit, *step.edits))
        found.append(step)
    return tuple(found)


class _State(NamedTuple):
    """A place, a configuration, and whether free text may still begin there, with how it was reached.

    If it has edges that are made `later`, it was read before, and these are what is left to do. States of the same cost
    come in the order in which they were found.
    """

    cost: int
    order: float
    pos: int
    config: Config
    may_be_text: bool
    node: Node
    later: LaterEdges | None = None


class _Queue:
    """The states that were found and not read yet, and what each state that was read was reached with."""

    def __init__(self, text: str, start: Config, most: int) -> None:
        self._text, self._most, self._tie = text, most, count()
        self.waiting = [_State(0, next(self._tie), 0, start, True, Node((), None, "", False))]
        #: by place, configuration and whether text may begin: the least cost, and one meaning, and another one that
        #: costs the same
        self.seen: dict[tuple[int, Config, bool], tuple[int, list[int]]] = {}

    def add(self, edges: list[Edge], state: _State) -> None:
        """Add what edges of a state lead to."""
        first = next(self._tie) if state.later is None else state.order
        cost = state.cost - (state.later.least_cost if state.later is not None else 0)
        for number, edge in enumerate(edges):
            total, may_be_text = cost + edge.cost, not edge.steps[-1].is_text
            least = self.seen.get((edge.end, edge.target, may_be_text))
            if total <= self._most and (least is None or least[0] >= total):
                inserted = any(s.transition is not None and s.transition.inserted for s in edge.steps)
                node = state.node
                name = name_after(edge.steps, node.name)
                meaning = meaning_after(edge.steps, node.meaning, self._text)
                reached = Node(edge.steps, node, name, node.lacks_opener or inserted, meaning)
                order = first + number / len(edges)
                heapq.heappush(self.waiting, _State(total, order, edge.end, edge.target, may_be_text, reached))

    def add_later(self, edges: list[LaterEdges], state: _State) -> None:
        """Add edges of a state that are made later."""
        for later in edges:
            added = state._replace(cost=state.cost + later.least_cost, order=next(self._tie), later=later)
            heapq.heappush(self.waiting, added)

    def is_new(self, state: _State) -> bool:
        """Is a state reached with the least cost, and with a meaning that is new there?"""
        least, meanings = self.seen.setdefault((state.pos, state.config, state.may_be_text), (state.cost, []))
        if state.cost > least or state.node.meaning in meanings or len(meanings) > 1:
            return False
        meanings.append(state.node.meaning)
        return True


def _cheapest(region: Region, most: int) -> RecoveryPath | None:
    """Dijkstra's algorithm. A path that costs more than `most` is none."""
    lexed = marker_lexer(region.automaton).tokens(region.text, _MAX_TOKENS)
    if lexed is None:
        return None
    region.tokens, region.near = lexed
    finder, queue = EdgeFinder(region), _Queue(region.text, region.outer, most)
    best: _State | None = None
    while queue.waiting and len(queue.seen) < _MAX_NODES and region.nodes > 0:
        state = heapq.heappop(queue.waiting)
        if best is not None and state.cost > best.cost:
            break
        if state.later is not None:
            queue.add(state.later.make(), state)
            continue
        region.nodes -= 1
        if not queue.is_new(state):
            continue
        node = state.node
        may_end = is_closed(state.config) or not (region.end_is_certain or node.lacks_opener)
        if may_end and not region.text[state.pos :].strip(BLANK):
            if best is None:
                best = state
            elif node.meaning and best.node.meaning and node.meaning != best.node.meaning:
                return _path(region, best, other=node)
            continue
        queue.add_later(finder.later(state.pos, state.config, state.may_be_text, node), state)
        queue.add(finder.edges(state.pos, state.config, state.may_be_text, node), state)
    return None if best is None else _path(region, best)


def _path(region: Region, end: _State, other: Node | None = None) -> RecoveryPath:
    """The path to a state. If another path costs as much and means something else, the first difference is marked."""
    cost, config = end.cost, end.config
    steps = list(steps_to(end.node, region.text, region.base))
    if other is not None:
        others = [step for step in steps_to(other, region.text, region.base) if _means(step)]
        meant = [number for number, step in enumerate(steps) if _means(step)]
        same = [_says(steps[n], region) == _says(o, region) for n, o in zip(meant, others, strict=False)]
        number = meant[min(same.index(False) if False in same else len(same), len(meant) - 1)]
        steps[number] = steps[number]._replace(ambiguous="two ways")
    return RecoveryPath(tuple(steps), config, cost, not is_closed(config) and config.end_operations() is None)


def _means(step: RecoveryStep) -> bool:
    return meaning_after((step,), 0, "") != 0


def _says(step: RecoveryStep, region: Region) -> str:
    """What a step says."""
    text = region.text[step.start - region.base : step.end - region.base]
    return text.strip(BLANK) if step.is_text else said_by(step)
