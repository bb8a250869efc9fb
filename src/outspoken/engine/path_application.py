"""Applying a recovery path: its steps become operations of a speculative builder."""

from __future__ import annotations

from outspoken.recovery.path import Taken, Way
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import FREE, Place

from .operations import carry_out
from .text_buffer import BLANK, TextBuffer

#: The rules that make a damaged segment worth to be recovered.
_SAYING = frozenset({"tool_call", "action", "payload", "envelope", "think", "quoted"})


def says_something(path: Way) -> bool:
    """Does a path hold more than text? One that only drops doubled markers does, too."""
    steps = [t.step for t in path.steps if t.step is not None]
    if any(op == "end" and kind in _SAYING for step in steps for op, kind in (*step.before, *step.after)):
        return True
    dropped = [t for t in path.steps if t.step is None and t.edits]
    return bool(dropped) and all(t.step is None or t.start == t.end for t in path.steps)


def apply_step(builder: Builder, step: Taken, text: TextBuffer, trims: frozenset[str]) -> None:
    """Carry out one step of a recovery path. `trims` is the free text that is trimmed."""
    transition = step.step
    if transition is None or not transition.inserted:
        builder.recorder.edits += step.edits
    if step.ambiguous:
        builder.recorder.ambiguity = "the call can be read in two ways that are as likely"
        builder.recorder.was_ambiguous = True
    if transition is None:
        if step.edits:
            builder.output.consumed = max(builder.output.consumed, step.end)
        return  # without a record it is a marker that the text cuts off, and was not read
    if step.free:
        role = transition.terminal.short
        start, end = _trimmed(step, text) if role in trims else (step.start, step.end)
        if end > start:
            FREE[role](builder, text.slice(start, end), start, end)
        if role == "ARG_VALUE":
            builder.calls.end_value()
    elif step.value_text:
        builder.state.last_value, builder.state.last_text = step.value, step.value_text
    carry_out(builder, transition, Place(step.start, step.end, step.text))


def _trimmed(step: Taken, text: TextBuffer) -> tuple[int, int]:
    """The span of free text without the white space that belongs to markup."""
    piece = text.slice(step.start, step.end)
    start = step.start + len(piece) - len(piece.lstrip(BLANK))
    return start, max(step.end - (len(piece) - len(piece.rstrip(BLANK))), start)
