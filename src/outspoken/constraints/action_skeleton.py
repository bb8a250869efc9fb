"""Where actions stand in the responses of a format, between literals, text, reasoning and calls; all its skeletons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.rendering.render import Rendered
from outspoken.rendering.writer import Written
from outspoken.results.actions.base import BaseAction

from .action_paths import ActionPaths, all_learned, ends_with_code
from .action_words import usages
from .skeleton import (
    END,
    REASONING,
    TEXT,
    Hole,
    Skeleton,
    Step,
    a_call,
    hole_of,
    merged,
    response_pieces,
    skeleton_of,
    written_path,
)

#: Actions of so many kinds are rendered beside each other.
_MOST_PAIRS = 5


def action_hole(first: Hole, last: Hole) -> Hole:
    """The hole of an action that stands between two of its own holes, with both."""
    return Hole("action", first.terminal, (*first.stack, -1, *last.stack))


def add_actions(skeleton: Skeleton, paths: Iterable[ActionPaths]) -> None:
    """Add to a skeleton how actions stand beside each other and beside all else."""
    kinds: dict[Hole, BaseAction] = {}
    for one in paths:
        for (first, last), action in one.spans.items():
            kinds.setdefault(action_hole(first, last), action)
    for response in _responses(list(kinds.values()), has_calls=skeleton.has("name")):
        rendered = written_path(response, skeleton.format)
        if rendered is None:
            continue
        acted = frozenset([at for at, part in enumerate(reversed(response), 1) if isinstance(part, BaseAction)])
        count = len(rendered.items)
        skeleton.add(_steps(skeleton, rendered, frozenset([count - at for at in acted])))


def _responses(actions: list[BaseAction], *, has_calls: bool) -> Iterator[list[Any]]:
    text, reasoning = TEXT, REASONING
    few = actions[: _MOST_PAIRS - 1] + actions[-1:]
    rests: list[list[Any]] = [[], [text], [reasoning], [reasoning, text]]
    for number, action in enumerate(actions):
        for lead in ([], [text], [reasoning], [reasoning, text], [text, reasoning]):
            # what follows the first kinds shows where the others stand as well
            yield from ([*lead, action, *rest] for rest in (rests if number < _MOST_PAIRS or not lead else rests[:1]))
        for other in [*few, *([action] if all(one is not action for one in few) else [])]:
            yield from ([action, other], [action, text, other], [action, reasoning, other], [other, action, text])
            yield from ([text, action, other], [reasoning, other, action], [other, action, other, action])
        if has_calls:
            yield from ([a_call("string"), action], [action, a_call("string")], [a_call(), text, action])


def _steps(skeleton: Skeleton, rendered: Rendered, acted: frozenset[int]) -> Iterator[Step]:
    """The holes of a path in which each action is one hole; at last the end."""
    literal = ""
    action: _Whole | None = None
    names: dict[int, int] = {}
    for text, written in response_pieces(rendered):
        item = written.progress.item
        if written.is_marker:
            literal += text
            continue
        if action is not None and (item not in acted or item != action.item):
            yield action.step(skeleton)
            action = None
        if item in acted:
            if action is None:
                action = _Whole(literal, item, written)
            else:
                action.text += literal
            action.text += text
            action.last = written
        else:
            hole, kind = hole_of(skeleton, text, written, rendered.items, names)
            yield Step(literal, hole, kind, item)
        literal = ""
    if action is not None:
        yield action.step(skeleton)
    yield Step(literal, END, "", len(rendered.items))


class _Whole:
    """An action that is being read as one hole."""

    def __init__(self, literal: str, item: int, first: Written) -> None:
        self._literal, self.item, self._first = literal, item, first
        self.last, self.text = first, ""

    def step(self, skeleton: Skeleton) -> Step:
        """The action as a step."""
        first, last = [Hole("action", one.terminal.name, one.config.stack) for one in (self._first, self.last)]
        hole = action_hole(first, last)
        skeleton.configs.setdefault(hole, (self.last.config,))
        skeleton.samples.setdefault(hole, self.text)
        return Step(self._literal, hole, "", self.item)


def merged_skeleton(format: str) -> tuple[Automaton, Skeleton]:
    """The automaton and the skeleton of a format, by its own name."""
    automaton = registry.automaton(format)
    return automaton, _skeleton(automaton)


@lru_cache(maxsize=256)
def _skeleton(automaton: Automaton) -> Skeleton:
    skeleton = skeleton_of(automaton)
    add_actions(skeleton, learned_actions(automaton))
    return merged(skeleton)


@lru_cache(maxsize=256)
def learned_actions(automaton: Automaton) -> tuple[ActionPaths, ...]:
    """How a format writes each of its actions."""
    header = automaton.tables.header
    return tuple(all_learned(usages(header), header.format, header))


@lru_cache(maxsize=256)
def ends_actions_with_code(automaton: Automaton) -> bool:
    """May a block of code in a text of an action end the action?"""
    header = automaton.tables.header
    return ends_with_code(learned_actions(automaton), header.format, header)
