"""What a transition does: its operations, and where it leads."""

from __future__ import annotations

from typing import Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Transition
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import HANDLERS, Place

from .state import ParserState
from .text_buffer import TextBuffer


def carry_out(builder: Builder, transition: Transition, place: Place, base: int = 0) -> None:
    """Carry out the operations of a transition that no matcher took; `base` is added to the offsets of the place."""
    bound = transition.bound if transition.bound is not None else matchers.bound_operations(transition, HANDLERS)
    for function, arg, group in bound:
        function(builder, arg, place, group, base)


def follow(builder: Builder, text: TextBuffer, state: ParserState, branch: matchers.Branch, match: Any) -> None:
    """Follow a branch of a matcher: carry out its operations, and go on behind its match."""
    base = text.base
    for function, arg, group in branch.operations:
        function(builder, arg, match, group, base)
    state.config = branch.target
    text.pos = match.end()
    state.after_marker = True
