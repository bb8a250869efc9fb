"""Applying a recovery path: its steps become operations of a speculative builder."""

from __future__ import annotations

from outspoken.recovery.path import RecoveryPath, RecoveryStep
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import FREE, Place

from .operations import carry_out
from .text_buffer import BLANK, TextBuffer

#: The rules that make a damaged segment worth recovering.
_SAYING = frozenset({"tool_call", "action", "payload", "envelope", "think", "quoted"})


def says_something(path: RecoveryPath) -> bool:
    """Does a path hold more than text? One that only drops doubled markers does, too."""
    transitions = [step.transition for step in path.steps if step.transition is not None]
    if any(name == "end" and kind in _SAYING for t in transitions for name, kind in (*t.before, *t.after)):
        return True
    dropped = [step for step in path.steps if step.transition is None and step.edits]
    return bool(dropped) and all(step.transition is None or step.start == step.end for step in path.steps)


def apply_step(builder: Builder, step: RecoveryStep, text: TextBuffer, trims: frozenset[str]) -> None:
    """Carry out one step of a recovery path. `trims` is the free text that is trimmed."""
    transition, recorder, output = step.transition, builder.recorder, builder.output
    if transition is None or not transition.inserted:
        recorder.edits += step.edits
    if step.ambiguous:
        recorder.ambiguity = "the call can be read in two ways that are as likely"
        recorder.was_ambiguous = True
    if transition is None:
        if step.edits:
            output.consumed = max(output.consumed, step.end)
        return  # a dropped step without edits is a marker cut off by the end of the text
    if step.is_text:
        role = transition.terminal.short
        start, end = _trimmed(step, text) if role in trims else (step.start, step.end)
        if end > start:
            FREE[role](builder, text.slice(start, end), start, end)
        if role == "ARG_VALUE":
            builder.calls.end_value()
    elif step.value_text:
        builder.state.last_value, builder.state.last_text = step.value, step.value_text
    carry_out(builder, transition, Place(step.start, step.end, step.text))


def _trimmed(step: RecoveryStep, text: TextBuffer) -> tuple[int, int]:
    """The span of free text without the white space that belongs to markup."""
    piece = text.slice(step.start, step.end)
    start = step.start + len(piece) - len(piece.lstrip(BLANK))
    return start, max(step.end - (len(piece) - len(piece.rstrip(BLANK))), start)
