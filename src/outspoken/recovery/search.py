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
from .path import BLANK, Node, RecoveryPath, RecoveryStep, Region, meaning_after, name_after, said_by, steps_to

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
    tie = count()
    queue: list[tuple[int, int, int, Config, bool, Node]] = []
    heapq.heappush(queue, (0, next(tie), 0, region.outer, True, Node((), None, "", False)))
    #: what each state was reached with at the least cost: one meaning, and another one that costs the same
    seen: dict[tuple[int, Config, bool], tuple[int, list[int]]] = {}
    best: tuple[int, Node, Config] | None = None
    while queue and len(seen) < _MAX_NODES and region.nodes > 0:
        region.nodes -= 1
        cost, _, pos, config, may_be_text, node = heapq.heappop(queue)
        if best is not None and cost > best[0]:
            break
        least, meanings = seen.setdefault((pos, config, may_be_text), (cost, []))
        if cost > least or node.meaning in meanings or len(meanings) > 1:
            continue
        meanings.append(node.meaning)
        may_end = is_closed(config) or not (region.end_is_certain or node.lacks_opener)
        if may_end and not text[pos:].strip(BLANK):
            if best is None:
                best = (cost, node, config)
            elif node.meaning and best[1].meaning and node.meaning != best[1].meaning:
                return _path(region, *best, other=node)
            continue
        for edge in finder.edges(pos, config, may_be_text, node):
            total, after_text = cost + edge.cost, edge.steps[-1].is_text
            known = seen.get((edge.end, edge.target, not after_text))
            if total <= costs.MAX_COST and (known is None or known[0] >= total):
                inserted = any(s.transition is not None and s.transition.inserted for s in edge.steps)
                name = name_after(edge.steps, node.name)
                meaning = meaning_after(edge.steps, node.meaning, text)
                entry = Node(edge.steps, node, name, node.lacks_opener or inserted, meaning)
                heapq.heappush(queue, (total, next(tie), edge.end, edge.target, not after_text, entry))
    return _path(region, *best) if best is not None else None


def _path(region: Region, cost: int, node: Node, config: Config, other: Node | None = None) -> RecoveryPath:
    """The path to a node. If another path costs as much and means something else, the first difference is marked."""
    steps = list(steps_to(node, region.text, region.base))
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
