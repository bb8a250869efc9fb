"""Speculative reading: a fork of the builder reads a damaged segment before it is known whether that may stand.

A stream may have announced a call and sent a part of its arguments before the damage was met. The reading stands only
if it continues what was sent. Then the rest is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outspoken.results.replies import ToolCall
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import OpenNode
from outspoken.semantics.verdict import REFUSED_CODES

if TYPE_CHECKING:
    from outspoken.results.events import Event


class Speculation:
    """A fork of a builder for a segment that begins at an offset, and the open call in it, if one was announced.

    `builder` is the fork. `read` gives the text between two offsets.
    """

    __slots__ = ("_call", "_parent", "_start", "builder")

    def __init__(self, parent: Builder, call: OpenNode | None, start: int, read: Callable[[int, int], str]) -> None:
        self._parent, self._call, self._start = parent, call, start
        self.builder = fork = parent.fork(start)
        fork.source.slice = read
        fork.output.after_text = parent.output.after_text
        outer = parent.nodes
        if call is not None:
            fork.output.call_count = call.index
            outer = outer[: outer.index(call)]
        fork.nodes += [copy(node) for node in outer if node.start < start]

    def is_ambiguous(self) -> bool:
        """Has a value two readings, without being part of a call that could be reported?"""
        return bool(self.builder.recorder.ambiguity)

    def has_invalid_call(self) -> bool:
        """Is a call invalid for another reason than that it can be read in two ways?"""
        segments = self.builder.output.segments
        is_invalid = any(s.kind == "tool_call" and s.status == "invalid" for s in segments)
        return is_invalid and not self.builder.recorder.was_ambiguous

    def problem(self) -> tuple[str, str]:
        """The code and the message that say why a call is invalid; the message is "" if that is not known."""
        codes = REFUSED_CODES | {"invalid-call"}
        found = [(d.code, d.message) for d in self.builder.recorder.diagnostics if d.code in codes]
        return found[-1] if found else ("invalid-call", "")

    def continues(self) -> bool:
        """Does the first call or action continue what was announced and sent of it?"""
        call, segments = self._call, self.builder.output.segments
        if call is None:
            return True
        if call.partial_text is not None:
            segments = segments[self._place() :]
            return bool(segments) and call.partial_text.continues_in(segments[0], call.name)
        self._parent.calls.complete_text(call)
        first = self._first_call()
        return first is not None and first.arguments_text.startswith("".join(call.parts or ()))

    def reject_call(self) -> ToolCall | None:
        """Remove the announced call, whose arguments contradict what was sent; None if there is no such call."""
        call, output, recorder = self._call, self.builder.output, self.builder.recorder
        first = self._first_call()
        if call is None or first is None:
            return None
        del output.segments[self._place()]
        del recorder.diagnostics[: len(first.repairs)], recorder.repairs[: len(first.repairs)]
        if output.events is not None:
            output.events[:] = [e for e in output.events if getattr(e, "index", -1) != call.index]
        self._call = None
        return first

    def _place(self) -> int:
        """Which segment is the first from the announced call on: the content of an envelope may stand before it."""
        start = self._call.start if self._call is not None else 0
        return sum(segment.span[0] < start for segment in self.builder.output.segments)

    def _first_call(self) -> ToolCall | None:
        """The first segment, if it is the call that was announced."""
        call, segments = self._call, self.builder.output.segments[self._place() :]
        first = segments[0] if segments else None
        if call is None or type(first) is not ToolCall or (first.name, first.id) != (call.name, call.id):
            return None
        return first

    def accept(self) -> None:
        """Put what was read into the parent, and send what was not sent yet."""
        parent, fork = self._parent, self.builder
        parent.recorder.edits.clear()
        parent.output.drop_thoughts(self._start)
        repairs = parent.absorb(fork)
        parent.nodes[:] = fork.nodes
        if repairs and fork.nodes and "action" in fork.nodes[-1].kinds:
            fork.nodes[-1].repairs += repairs
        if fork.output.events:
            parent.output.send(*self._unsent(fork.output.events))

    def _unsent(self, events: list[Event]) -> list[Event]:
        """The events without those of the announced call or action that were sent."""
        call = self._call
        if call is None:
            return events
        if call.partial_text is not None:
            delta = type(call.partial_text.event(0, ""))
            return _without_first(events, delta, "text", len(call.partial_text.sent))
        from outspoken.results.events import ToolCallDelta, ToolCallStart

        events = [event for event in events if not (isinstance(event, ToolCallStart) and event.index == call.index)]
        return _without_first(events, ToolCallDelta, "arguments", len("".join(call.parts or ())))


def _without_first(events: list[Event], delta: type[Any], field: str, sent: int) -> list[Event]:
    """The events without the first characters of the text that a field of the events of a type adds up to."""
    kept: list[Event] = []
    for event in events:
        if type(event) is delta and sent:
            text: str = getattr(event, field)
            rest, sent = text[sent:], max(sent - len(text), 0)
            if not rest:
                continue
            event = replace(event, **{field: rest})
        kept.append(event)
    return kept
