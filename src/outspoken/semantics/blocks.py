"""Blocks round calls and actions: reasoning, code samples, plain JSON values, envelopes, payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.json.scanner import NotJsonError, decode
from outspoken.results.construct import construct
from outspoken.results.events import PayloadParsed, TextDelta
from outspoken.results.replies import JsonValue, Payload, Reasoning, Text

from .open_node import OpenNode

if TYPE_CHECKING:
    from .builder import Builder


def drop(b: Builder) -> None:
    """What began was only structure."""
    b.nodes.pop()
    b.output.after_text = False


def reopen(b: Builder, kinds: str) -> None:
    """What just ended is the first part of a larger node, which began at the same place."""
    b.nodes.append(OpenNode(kinds, b.output.node_start))


def end_think(b: Builder, end: int) -> None:
    """Reasoning is complete: free text, or the text of a JSON string."""
    node = b.nodes.pop()
    if node.content is None:
        b.output.flush()
        b.output.end_node(node.start, end)
    elif node.content:
        values = {"kind": "reasoning", "text": node.content, "span": node.content_span, "status": "ok"}
        b.output.thoughts.append(construct(Reasoning, values))


def end_code(b: Builder, end: int) -> None:
    """A code sample is complete."""
    b.output.show(end)
    b.output.node_start = b.nodes.pop().start


def end_json(b: Builder, end: int) -> None:
    """A JSON value is complete that is no call. It is shown as it was written."""
    node, output = b.nodes.pop(), b.output
    raw = b.source.slice(node.start, end)
    try:
        value = decode(raw, b.context.settings.max_depth)
    except NotJsonError:
        output.show(end)
        return
    output.show(node.start)
    output.flush()
    values = {"kind": "json", "value": value, "raw": raw, "span": (node.start, end)}
    output.segments.append(construct(JsonValue, values))
    output.send(TextDelta(raw))
    b.output.end_node(node.start, end)
    output.after_text = True


def end_envelope(b: Builder, end: int) -> None:
    """An object that holds the whole answer is complete."""
    node, output = b.nodes.pop(), b.output
    outcome = output.outcome
    outcome.envelope = True
    if node.needs_more_work is not None:
        outcome.needs_more_work = node.needs_more_work
    outcome.add_content(node.content)
    if node.content:
        output.flush()
        made = construct(Text, {"kind": "text", "text": node.content, "span": node.content_span})
        place = len(output.segments)
        while place and output.segments[place - 1].span[0] > node.content_span[0]:
            place -= 1
        output.segments.insert(place, made)
        output.send(TextDelta(node.content))
    b.output.end_node(node.start, end)


def end_unread(b: Builder, end: int) -> None:
    """Something is complete that the format has a place for, but that says nothing. It is left out."""
    node = b.nodes.pop()
    message = "this has no place in a call, or repeats an earlier entry; it is left out"
    b.recorder.report("unread-entry", message, (node.start, end), "warning")
    b.output.node_start = node.start
    if not b.nodes:
        b.output.end_node(node.start, end)


def end_mention(b: Builder, end: int) -> None:
    """The marker of a payload is text if no payload follows it."""
    node = b.nodes.pop()
    b.output.show(end)
    message, label = "no payload follows this marker", "a bracket should follow"
    b.recorder.report("missing-payload", message, (node.start, end), "warning", label=label)
    b.output.node_start = node.start


def end_payload(b: Builder, end: int) -> None:
    """A payload is complete."""
    state, output = b.state, b.output
    output.flush()
    node = b.nodes.pop()
    data = state.last_value if node.bare is None else "".join(node.bare)
    repairs = b.recorder.take_repairs()
    values: dict[str, Any] = {
        "kind": "payload",
        "type": b.header.payload(node.name or ""),
        "data": data,
        "status": "repaired" if repairs else "ok",
        "span": (node.start, end),
        "repairs": repairs,
    }
    payload = construct(Payload, values)
    output.segments.append(payload)
    output.send(PayloadParsed(payload))
    output.end_node(node.start, end)


def end_call_id(b: Builder, end: int) -> None:
    """The id of a call is the text of its rule; a name that was read inside it belongs to the call."""
    node = b.nodes.pop()
    call = b.nodes[-1]
    call.id = b.source.slice(node.start, end)
    call.name = node.name or call.name


def markup(b: Builder) -> None:
    """A marker was read in text that belongs to no node, such as one that ends a turn."""
    b.output.after_text = False


def field_odd(b: Builder, end: int) -> None:
    """Markup was read that differs from how the format writes it."""
    span = (b.nodes[-1].start, end)
    message = "this marker is not written as the format writes it"
    b.recorder.report("odd-marker", message, span, "warning")


def field_content(b: Builder, start: int, end: int) -> None:
    """The text of an envelope, or of reasoning."""
    if isinstance(b.state.last_value, str):
        node = b.nodes[-1]
        node.content = b.state.last_value
        node.content_span = (start, end)


def field_needs_more_work(b: Builder) -> None:
    """Does the model want another turn?"""
    if isinstance(b.state.last_value, bool):
        b.nodes[-1].needs_more_work = b.state.last_value
