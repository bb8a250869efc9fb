"""Where actions stand in the responses of a format, between literals, text, reasoning and calls; all its skeletons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.rendering.render import Rendered
from outspoken.results.actions.base import BaseAction

from .action_paths import ActionPaths, learned
from .action_words import kind_of, usages
from .skeleton import REASONING, TEXT, Hole, Skeleton, SkeletonStep, a_call, merged, skeleton_of, steps_of, written_path

#: Actions of so many kinds are rendered beside each other.
_MOST_PAIRS = 5
_FENCE = "```"


def action_hole(first: Hole, last: Hole) -> Hole:
    """The hole of an action that stands between two of its own holes, with both."""
    return Hole("action", first.terminal, (*first.stack, -1, *last.stack))


def add_actions(skeleton: Skeleton, paths: Iterable[ActionPaths]) -> None:
    """Add to a skeleton how actions stand beside each other and beside all else."""
    kinds: dict[Hole, BaseAction] = {}
    for path in paths:
        for (first, last), action in path.spans.items():
            kinds.setdefault(action_hole(first, last), action)
    for response in _responses(list(kinds.values()), has_calls=skeleton.has("name")):
        rendered = written_path(response, skeleton.format)
        if rendered is not None:
            before = len(rendered.items) - len(response)  # what was written so that the prompt goes on
            acted = {before + at for at, part in enumerate(response) if isinstance(part, BaseAction)}
            skeleton.add(_steps(rendered, acted))


def _responses(actions: list[BaseAction], *, has_calls: bool) -> Iterator[list[Any]]:
    text, reasoning = TEXT, REASONING
    few = actions[: _MOST_PAIRS - 1] + actions[-1:]
    rests: list[list[Any]] = [[], [text], [reasoning], [reasoning, text]]
    for number, action in enumerate(actions):
        for lead in ([], [text], [reasoning], [reasoning, text], [text, reasoning]):
            # what follows the first kinds shows where the others stand as well
            yield from ([*lead, action, *rest] for rest in (rests if number < _MOST_PAIRS or not lead else rests[:1]))
        for other in [*few, *([action] if all(few_action is not action for few_action in few) else [])]:
            yield from ([action, other], [action, text, other], [action, reasoning, other], [other, action, text])
            yield from ([text, action, other], [reasoning, other, action], [other, action, other, action])
        if has_calls:
            yield from ([a_call("string"), action], [action, a_call("string")], [a_call(), text, action])


def _steps(rendered: Rendered, acted: set[int]) -> Iterator[SkeletonStep]:
    """The holes of what was rendered, each action as one; at last the end."""
    for number, some in groupby(steps_of(rendered), lambda step: step.item):
        if number not in acted:
            yield from some
            continue
        parts = list(some)
        first, last = parts[0], parts[-1]
        text = first.text + "".join([part.literal + part.text for part in parts[1:]])
        yield SkeletonStep(first.literal, action_hole(first.hole, last.hole), number, text, last.config)


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
    return tuple(filter(None, map(learned, usages(automaton.tables.header))))


@lru_cache(maxsize=256)
def ends_actions_with_code(automaton: Automaton) -> bool:
    """Does a text in an action end the block of code round it, if a block of code ends in the text?"""
    for usage in [path.usage for path in learned_actions(automaton)]:
        rule, required, format = usage.rule, usage.fields(required=True), usage.header.format
        for name in [group.field for group in usage.groups if group.field and not rule.is_path(group.field)]:
            action = usage.sample([*required, name]) if kind_of(rule, name).reader == "text" else None
            written = None if action is None else written_path([action.model_copy(update={name: "a b"})], format)
            if action is None or written is None:
                continue
            if _FENCE not in written.text:
                return False
            if written_path([action.model_copy(update={name: f"a{_FENCE}b"})], format) is None:
                return True
    return False
