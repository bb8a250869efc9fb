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
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import OpenNode


def draft_of(builder: Builder, node: OpenNode | None, start: int, read: Callable[[int, int], str]) -> Builder:
    """A builder for a segment that begins at an offset, and for the call in it that was announced, if one was."""
    draft = builder.fork(start)
    draft.source.slice = read
    draft.output.after_text = builder.output.after_text
    outer = builder.nodes
    if node is not None:
        draft.output.call_count = node.index
        outer = outer[: outer.index(node)]
    draft.nodes += [copy(n) for n in outer if n.start < start]
    return draft


def continues(builder: Builder, node: OpenNode, draft: Builder) -> bool:
    """Does the first call of a draft, or the action, go on from what was announced and sent of it?"""
    if node.partial_text is not None:
        return bool(draft.output.segments) and node.partial_text.continues_in(draft.output.segments[0], node.name)
    builder.calls.complete_text(node)
    call = next((s for s in draft.output.segments if type(s) is ToolCall), None)
    if call is None or draft.output.segments[0] is not call:
        return False
    sent = "".join(node.parts or ())
    return (call.name, call.id) == (node.name, node.id) and call.arguments_text.startswith(sent)


def contradicts(node: OpenNode, draft: Builder) -> ToolCall | None:
    """The call that was announced, if other arguments were sent of it than the draft holds. It leaves the draft."""
    call = next((s for s in draft.output.segments if type(s) is ToolCall), None)
    if call is None or draft.output.segments[0] is not call or (call.name, call.id) != (node.name, node.id):
        return None
    del draft.output.segments[0]
    del draft.recorder.diagnostics[: len(call.repairs)], draft.recorder.repairs[: len(call.repairs)]
    if draft.output.events is not None:
        draft.output.events[:] = [e for e in draft.output.events if getattr(e, "index", -1) != node.index]
    return call


def accept(builder: Builder, draft: Builder, node: OpenNode | None) -> None:
    """Take over what a draft holds, and send what was not sent yet."""
    builder.recorder.edits.clear()
    builder.output.thoughts.clear()
    builder.absorb(draft)
    builder.nodes[:] = draft.nodes
    events = draft.output.events
    if events:
        builder.output.send(*(events if node is None else _unsent(events, node)))


def _unsent(events: list[Event], node: OpenNode) -> list[Event]:
    """The events of a draft without those of the announced call or action that were sent."""
    if node.partial_text is not None:
        return _untyped(events, node.partial_text.delta, len(node.partial_text.sent))
    sent = len("".join(node.parts or ()))
    found: list[Event] = []
    for event in events:
        if type(event) is ToolCallStart and event.index == node.index:
            continue
        if type(event) is ToolCallDelta and event.index == node.index and sent:
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
