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

from outspoken.grammar.automaton import Config
from outspoken.results.edits import Edit

from . import costs
from .edges import EdgeFinder
from .marker_lexer import is_closed, marker_lexer
from .path import BLANK, Node, RecoveryPath, RecoveryStep, Region, name_after, steps_to

_MAX_TOKENS = 400
_MAX_NODES = 6000
_CALLS = frozenset({"tool_call", "action"})


def recover(region: Region) -> RecoveryPath | None:
    """The cheapest path through a region; None if there is none, or none that is cheap enough."""
    path = _cheapest(region)
    broken, top_level = region.automaton.broken, region.automaton.top_level
    if broken is None or not may_be_foreign(region):
        return path
    other = replace(region, automaton=broken, outer=broken.top_level)
    foreign = _cheapest(other)
    region.nodes = other.nodes
    if foreign is None or foreign.config.automaton.top_level.stack != foreign.config.stack:
        return path
    cost = foreign.cost + costs.FOREIGN_NOTATION
    if path is not None and path.cost <= cost:
        return path
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


def _cheapest(region: Region) -> RecoveryPath | None:
    """Dijkstra's algorithm. A state is a place, a configuration, and whether free text may still begin there."""
    found = marker_lexer(region.automaton).tokens(region.text, _MAX_TOKENS)
    if found is None:
        return None
    region.tokens, region.near = found
    finder, text = EdgeFinder(region), region.text
    tie = count(0, region.ties)
    queue: list[tuple[int, int, int, Config, bool, Node]] = []
    heapq.heappush(queue, (0, next(tie), 0, region.outer, True, Node((), None, "", False)))
    seen: set[tuple[int, Config, bool]] = set()
    while queue and len(seen) < _MAX_NODES and region.nodes > 0:
        region.nodes -= 1
        cost, _, pos, config, may_be_text, node = heapq.heappop(queue)
        if (pos, config, may_be_text) in seen:
            continue
        seen.add((pos, config, may_be_text))
        may_end = is_closed(config) or not (region.end_is_certain or node.lacks_opener)
        if may_end and not text[pos:].strip(BLANK):
            cut = not is_closed(config) and config.end_operations() is None
            return RecoveryPath(steps_to(node, text, region.base), config, cost, cut)
        for edge in finder.edges(pos, config, may_be_text, node):
            total, after_text = cost + edge.cost, edge.steps[-1].is_text
            if total <= costs.MAX_COST and (edge.end, edge.target, not after_text) not in seen:
                inserted = any(s.transition is not None and s.transition.inserted for s in edge.steps)
                name = name_after(edge.steps, node.name)
                entry = Node(edge.steps, node, name, node.lacks_opener or inserted)
                heapq.heappush(queue, (total, next(tie), edge.end, edge.target, not after_text, entry))
    return None
