"""Drafts: what a damaged segment was read as, before it is known whether that may stand.

A stream may have announced the call and sent a part of its arguments before the damage was met. A reading stands only
if it goes on from there; then what is left of it is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from outspoken.results.events import ActionText, Event, TextDelta, ToolCallDelta, ToolCallStart
from outspoken.results.replies import ToolCall
from outspoken.semantics.action_builder import ActionBuilder
from outspoken.semantics.open_node import Frame


def draft_of(builder: ActionBuilder, frame: Frame | None, start: int, read: Callable[[int, int], str]) -> ActionBuilder:
    """A builder for a segment that begins at an offset, and for the call in it that was announced, if one was."""
    draft = ActionBuilder(builder.header, builder.tools, builder.settings, None if builder.events is None else [])
    draft.slice = read
    draft.read_embedded = builder.read_embedded
    draft.counts_from(builder, start)
    draft.repair_limit, draft.status = builder.repair_limit, builder.status
    draft.calls = builder.calls if frame is None else frame.index
    draft.acted = builder.acted
    draft.safe, draft.after_text = start, builder.after_text
    around = builder.frames if frame is None else builder.frames[: builder.frames.index(frame)]
    draft.frames = [copy(f) for f in around if f.start < start]
    return draft


def continues(builder: ActionBuilder, frame: Frame, draft: ActionBuilder) -> bool:
    """Does the first call of a draft, or the action, go on from what was announced and sent of it?"""
    if frame.typed is not None:
        return bool(draft.segments) and frame.typed.goes_on_in(draft.segments[0], frame.name)
    builder.complete_text(frame)
    call = next((s for s in draft.segments if type(s) is ToolCall), None)
    if call is None or draft.segments[0] is not call:
        return False
    sent = "".join(frame.parts or ())
    return (call.name, call.id) == (frame.name, frame.id) and call.arguments_text.startswith(sent)


def contradicts(frame: Frame, draft: ActionBuilder) -> ToolCall | None:
    """The call that was announced, if other arguments were sent of it than the draft holds. It leaves the draft."""
    call = next((s for s in draft.segments if type(s) is ToolCall), None)
    if call is None or draft.segments[0] is not call or (call.name, call.id) != (frame.name, frame.id):
        return None
    del draft.segments[0]
    del draft.notes[: len(call.repairs)], draft.repairs[: len(call.repairs)]
    if draft.events is not None:
        draft.events[:] = [e for e in draft.events if getattr(e, "index", -1) != frame.index]
    return call


def accept(builder: ActionBuilder, draft: ActionBuilder, frame: Frame | None) -> None:
    """Take over what a draft holds, and send what was not sent yet."""
    draft.flush()
    draft.take_repairs()
    builder.frames[:] = draft.frames
    builder.edits.clear()
    builder.unthink()
    last = builder.segments[-1].span[1] if builder.segments else 0
    builder.adopt(draft.segments)
    if (
        draft.segments and min(s.span[0] for s in draft.segments) < last
    ):  # the content of an envelope that was read in part before
        builder.flush()
        builder.segments.sort(key=lambda segment: segment.span[0])
    builder.notes += draft.notes
    builder.repairs += draft.repairs
    builder.worsen(draft.status)
    builder.calls = draft.calls
    builder.acted = draft.acted
    builder.safe, builder.after_text = draft.safe, draft.after_text
    builder.envelope = builder.envelope or draft.envelope
    if draft.envelope_content is not None:
        builder.envelope_content = (builder.envelope_content or "") + draft.envelope_content
    builder.answered = builder.answered or draft.answered
    builder.more = builder.more if draft.more is None else draft.more
    if builder.events is not None and draft.events:
        builder.events += draft.events if frame is None else _unsent(draft.events, frame)


def _unsent(events: list[Event], frame: Frame) -> list[Event]:
    """The events of a draft without those of the announced call or action that were sent."""
    if frame.typed is not None:
        return _untyped(events, frame.typed.delta, len(frame.typed.sent))
    sent = len("".join(frame.parts or ()))
    found: list[Event] = []
    for event in events:
        if type(event) is ToolCallStart and event.index == frame.index:
            continue
        if type(event) is ToolCallDelta and event.index == frame.index and sent:
            rest = event.arguments[sent:]
            sent = max(sent - len(event.arguments), 0)
            if not rest:
                continue
            event = ToolCallDelta(event.index, rest)
        found.append(event)
    return found


def _untyped(events: list[Event], delta: type[Any], sent: int) -> list[Event]:
    """The events of a draft without so much of the text of its first action, or of its answer."""
    found: list[Event] = []
    for event in events:
        if isinstance(event, (ActionText, TextDelta)) and type(event) is delta and sent:
            rest = event.text[sent:]
            sent = max(sent - len(event.text), 0)
            if not rest:
                continue
            event = replace(event, text=rest)
        found.append(event)
    return found
