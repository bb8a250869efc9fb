"""Blocks round calls and actions: reasoning, code samples, plain JSON values, envelopes, payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.replies import Reasoning

from . import segments, unknown_keys
from .open_node import OpenNode
from .segments import NO_CALLS
from .verdict import refusal_of_payload

if TYPE_CHECKING:
    from .builder import Builder


def drop(b: Builder) -> None:
    """What began was only structure."""
    b.nodes.pop()
    b.output.after_markup()


def reopen(b: Builder, kinds: str) -> None:
    """What just ended is the first part of a larger node, which began at the same place."""
    b.nodes.append(OpenNode(kinds, b.output.node_start))


def end_think(b: Builder, end: int) -> None:
    """Reasoning is complete: free text, or the text of a JSON string."""
    node, output = b.nodes[-1], b.output
    if node.text_start is not None and node.content is None:
        has_begun = output.run_model is Reasoning
        start = node.text_start
        tags = b.source.slice(start, node.text_end).rstrip() if start < node.text_end else ""
        if tags:  # those of reasoning within it that nothing follows
            lead = 0 if has_begun else len(tags) - len(tags.lstrip())
            output.reasoning(tags[lead:], start + lead, start + len(tags))
    b.nodes.pop()
    segments.end_think(b.output, node.start, end, node.content, node.content_span)


def _end_misspelt_call(b: Builder, end: int) -> bool:
    """An object is complete that is a call, but for a misspelt key. Returns whether it is one."""
    if not unknown_keys.is_call(b.state, b.nodes[-1]):
        return False
    b.calls.end_tool_call(end)
    return True


def end_code(b: Builder, end: int) -> None:
    """A code sample is complete, or an object that is no call."""
    if b.nodes[-1].unknown and _end_misspelt_call(b, end):
        return
    segments.end_code(b.output, b.nodes.pop().start, end)


def end_json(b: Builder, end: int) -> None:
    """A JSON value is complete that is no call."""
    if b.nodes[-1].unknown and _end_misspelt_call(b, end):
        return
    start = b.nodes.pop().start
    segments.end_json(b.output, b.source.slice(start, end), start, end, b.context.settings.max_depth)


def end_envelope(b: Builder, end: int) -> None:
    """An object that holds the whole answer is complete."""
    node = b.nodes.pop()
    outcome = b.output.outcome
    if node.no_calls:
        outcome.add_unread(NO_CALLS, [])
    for entry in node.unknown:
        outcome.add_unread(entry.key, entry.value)
    if node.unknown:
        unknown_keys.report(b.state, node)
    segments.end_envelope(b.output, node.content, node.content_span, node.needs_more_work, node.start, end)


def end_unread(b: Builder, end: int) -> None:
    """Something is complete that the format has a place for, but that says nothing. It is left out."""
    if b.nodes[-1].unknown and _end_misspelt_call(b, end):
        return
    node = b.nodes.pop()
    message = "this has no place in a call, or repeats an earlier entry; it is left out"
    b.recorder.report("unread-entry", message, (node.start, end), "warning")
    b.output.node_start = node.start
    call = b.nodes[-1] if b.nodes else None
    if call is not None and "tool_call" in call.kinds and _is_rebuilt(b, call.start):
        call.problem = call.problem or f"what is left out of `{call.name or ''}` may be another call"
    if not b.nodes:
        b.output.end_node(node.start, end)


def _is_rebuilt(b: Builder, start: int) -> bool:
    """Was markup added or dropped behind an offset?"""
    return any(edit.start > start and edit.level in ("markup", "structure") for edit in b.recorder.edits)


def end_mention(b: Builder, end: int) -> None:
    """The marker of a payload is text if no payload follows it."""
    node = b.nodes.pop()
    b.output.show(end)
    message, label = "no payload follows this marker", "a bracket should follow"
    b.recorder.report("missing-payload", message, (node.start, end), "warning", label=label)
    b.output.node_start = node.start


def end_payload(b: Builder, end: int) -> None:
    """A payload is complete."""
    node = b.nodes.pop()
    data = b.state.last_value if node.bare is None else "".join(node.bare)
    name, refusal = b.header.payload(node.name or ""), refusal_of_payload(b.state, node)
    repairs = b.recorder.take_repairs()
    if refusal is None:
        segments.end_payload(b.output, name, data, node.start, end, repairs)
        return
    b.recorder.lower_status("invalid")
    b.recorder.report("broken-payload", f"the payload of `{name}`: {refusal.message}", (max(node.start, 0), end))
    segments.end_payload(b.output, name, None, node.start, end, status="invalid")


def end_call_id(b: Builder, end: int) -> None:
    """The id of a call is the text of its rule; a name that was read inside it belongs to the call."""
    node = b.nodes.pop()
    call = b.nodes[-1]
    call.id = b.source.slice(node.start, end)
    call.name = node.name or call.name


def markup(b: Builder) -> None:
    """A marker was read in text that belongs to no node, such as one that ends a turn."""
    b.output.after_markup()


def field_is_text(b: Builder) -> None:
    """The markup says that the bare value that follows is a string."""
    b.nodes[-1].is_text = True


def field_is_true(b: Builder) -> None:
    """The markup says that the argument whose name was read is true."""
    b.state.last_value, b.state.last_text = True, "true"


def field_odd(b: Builder, start: int, end: int) -> None:
    """Markup was read that differs from how the format writes it."""
    span = (b.nodes[-1].start if b.nodes else start, end)
    message = "this marker is not written as the format writes it"
    b.recorder.report("odd-marker", message, span, "warning")


def field_content(b: Builder, start: int, end: int) -> None:
    """The text of an envelope, or of reasoning."""
    if isinstance(b.state.last_value, str):
        node = b.nodes[-1]
        node.content = b.state.last_value
        node.content_span = (start, end)


def field_unknown(b: Builder, start: int, end: int) -> None:
    """An entry of an object whose key the grammar does not know. Its value stands between two offsets."""
    unknown_keys.add_unknown(b.state, start, end)


def field_needs_more_work(b: Builder, start: int, end: int) -> None:
    """Does the model want another turn? A value that says neither is reported."""
    if isinstance(b.state.last_value, bool):
        b.nodes[-1].needs_more_work = b.state.last_value
    elif b.state.last_value is not None:
        unknown_keys.add_unknown(b.state, start, end)


def field_no_calls(b: Builder) -> None:
    """The list of calls of an envelope is empty."""
    b.nodes[-1].no_calls = True
