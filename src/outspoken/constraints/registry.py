"""The skeletons of formats that were asked for."""

from __future__ import annotations

from functools import lru_cache

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton

from .skeleton import Skeleton, merged, skeleton_of


def merged_skeleton(format: str) -> tuple[Automaton, Skeleton]:
    """The automaton and the skeleton of a format, by its own name."""
    automaton = registry.automaton(format)
    return automaton, _skeleton(automaton)


@lru_cache(maxsize=256)
def _skeleton(automaton: Automaton) -> Skeleton:
    return merged(skeleton_of(automaton))
