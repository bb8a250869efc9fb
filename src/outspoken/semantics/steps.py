"""Steps: what was read token by token, by a way other than the engine's matchers, and how a builder carries them out.

The recovery search and the trees of Lark both give steps.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Transition
from outspoken.notations.coerce import ANY, SchemaView
from outspoken.notations.interface import Notation
from outspoken.results.edits import Edit

from .builder import Builder
from .handlers import FREE, HANDLERS, Place

#: The operations of a transition before its terminal is shifted, and those after that.
Part = Literal["all", "before", "after"]

BLANK = " \t\r\n\f"


class RecoveryStep(NamedTuple):
    """What was read from `start` to `end`, and the edits that this took.

    `transition` is None if the text was dropped. `value` and `value_text` are those of an embedded value; if it has
    another reading of the same cost, that is in `ambiguous`. `is_text` marks free text.
    """

    transition: Transition | None
    start: int
    end: int
    text: str = ""
    value: Any = None
    value_text: str = ""
    edits: tuple[Edit, ...] = ()
    is_text: bool = False
    ambiguous: str = ""

    @property
    def is_missing(self) -> bool:
        """Was the marker of this step missing?"""
        return bool(self.edits) and not self.text and self.edits[0].code == "missing-marker"

    def moved(self, by: int) -> RecoveryStep:
        """The step with other offsets."""
        edits = tuple([e._replace(start=e.start + by, end=e.end + by) for e in self.edits])
        return self._replace(start=self.start + by, end=self.end + by, edits=edits)

    def trimmed(self, text: str, *, leads: bool, ends: bool) -> FreeText:
        """The free text of the step, `text`, without the white space at its start and at its end."""
        piece = text.lstrip(BLANK) if leads else text
        start = self.start + len(text) - len(piece)
        kept = piece.rstrip(BLANK) if ends else piece
        return FreeText(kept, start, max(self.end - len(piece) + len(kept), start))


class FreeText(NamedTuple):
    """Free text that belongs to no marker, and its offsets."""

    text: str
    start: int
    end: int


def carry_out(builder: Builder, transition: Transition, place: Place, base: int = 0, part: Part = "all") -> None:
    """Carry out the operations of a transition that no matcher took; `base` is added to the offsets of the place.

    Those `before` free text end what stands before it, and are carried out when it begins.
    """
    bound = transition.bound if transition.bound is not None else matchers.bound_operations(transition, HANDLERS)
    split = len(transition.before)
    for function, arg, group in bound if part == "all" else bound[:split] if part == "before" else bound[split:]:
        function(builder, arg, place, group, base)


def apply_step(builder: Builder, step: RecoveryStep, free: FreeText | None) -> None:
    """Carry out a step. `free` is its free text, if it is that."""
    transition, recorder, output = step.transition, builder.recorder, builder.output
    recorder.edits += step.edits if transition is None else _new_edits(transition, step.edits)
    if step.ambiguous:
        recorder.ambiguity = "the call can be read in two ways that are as likely"
        recorder.was_ambiguous = True
    if transition is None:
        if step.edits:
            output.consumed = max(output.consumed, step.end)
        return  # a dropped step without edits is a marker cut off by the end of the text
    if step.is_text:
        role = transition.terminal.short
        carry_out(builder, transition, Place(step.start, step.start), part="before")
        if role == "REASONING":
            builder.reasoning_at(step.start)
        if free is not None and free.text:
            FREE[role](builder, free.text, free.start, free.end)
        if role == "REASONING":
            builder.reasoning_at(step.end)
        if role == "ARG_VALUE":
            builder.calls.end_value(transition.target)
    elif step.value_text:
        builder.state.last_value, builder.state.last_text = step.value, step.value_text
    carry_out(builder, transition, Place(step.start, step.end, step.text), part="after" if step.is_text else "all")


def _new_edits(transition: Transition, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits that the operations of a transition do not record themselves."""
    if edits and any(op in ("insert", "replace") for op, _ in transition.after):
        return tuple([edit for edit in edits if edit.code not in ("missing-marker", "damaged-marker")])
    return edits


def begin_text(builder: Builder, role: str, at: int, trims: frozenset[str], *, after_marker: bool) -> bool:
    """Free text begins at an offset. Returns whether white space at its start belongs to the marker before it."""
    if role == "TEXT":
        builder.output.consumed = at
    elif role == "REASONING":
        builder.reasoning_at(at)
    return after_marker and role in trims and not (role == "TEXT" and builder.output.after_text)


def schema_of(builder: Builder, transition: Transition, notation: Notation) -> SchemaView:
    """What the tool's schema says of an embedded value, if its notation is typed by a schema."""
    return builder.calls.schema_view(transition.role) if notation.typed_by_schema else ANY
