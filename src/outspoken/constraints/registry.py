"""The skeletons of formats that were asked for."""

from __future__ import annotations

from functools import lru_cache

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton

from .action_paths import ActionPaths, all_learned, ends_with_code
from .action_skeleton import add_actions
from .action_words import usages
from .skeleton import Skeleton, merged, skeleton_of


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
