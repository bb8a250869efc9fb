"""Blocks round calls and actions: reasoning, code samples, plain JSON values, envelopes, payloads."""

from __future__ import annotations

from typing import Any

from outspoken.json.scanner import NotJsonError, decode
from outspoken.results.construct import construct
from outspoken.results.events import PayloadParsed, TextDelta
from outspoken.results.replies import JsonValue, Payload, Reasoning, Text

from .open_node import OpenNode
from .state import ReplyState


class BlockBuilder:
    """Carries out the operations of blocks."""

    __slots__ = ("_state", "_output", "_recorder")

    def __init__(self, state: ReplyState) -> None:
        self._state, self._output, self._recorder = state, state.output, state.recorder

    def drop(self) -> None:
        """What began was only structure."""
        self._state.nodes.pop()
        self._output.after_text = False

    def reopen(self, kinds: str) -> None:
        """What just ended is the first part of a larger node, which began at the same place."""
        self._state.nodes.append(OpenNode(kinds, self._output.node_start))

    def end_think(self, end: int) -> None:
        """Reasoning is complete: free text, or the text of a JSON string."""
        node = self._state.nodes.pop()
        if node.content is None:
            self._output.flush()
            self._state.close_node(node, end)
        elif node.content:
            values = {"kind": "reasoning", "text": node.content, "span": node.content_span, "status": "ok"}
            self._output.thoughts.append(construct(Reasoning, values))

    def end_code(self, end: int) -> None:
        """A code sample is complete."""
        self._output.show(end)
        self._output.node_start = self._state.nodes.pop().start

    def end_json(self, end: int) -> None:
        """A JSON value is complete that is no call. It is shown as it was written."""
        node, output = self._state.nodes.pop(), self._output
        raw = self._state.source.slice(node.start, end)
        try:
            value = decode(raw, self._state.context.settings.max_depth)
        except NotJsonError:
            output.show(end)
            return
        output.show(node.start)
        output.flush()
        values = {"kind": "json", "value": value, "raw": raw, "span": (node.start, end)}
        output.segments.append(construct(JsonValue, values))
        output.send(TextDelta(raw))
        self._state.close_node(node, end)
        output.after_text = True

    def end_envelope(self, end: int) -> None:
        """An object that holds the whole answer is complete."""
        node, output = self._state.nodes.pop(), self._output
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
        self._state.close_node(node, end)

    def end_unread(self, end: int) -> None:
        """Something is complete that the format has a place for, but that says nothing. It is left out."""
        node = self._state.nodes.pop()
        message = "this has no place in a call, or repeats an earlier entry; it is left out"
        self._recorder.report("unread-entry", message, (node.start, end), "warning")
        self._output.node_start = node.start
        if not self._state.nodes:
            self._state.close_node(node, end)

    def end_mention(self, end: int) -> None:
        """The marker of a payload is text if no payload follows it."""
        node = self._state.nodes.pop()
        self._output.show(end)
        message, label = "no payload follows this marker", "a bracket should follow"
        self._recorder.report("missing-payload", message, (node.start, end), "warning", label=label)
        self._output.node_start = node.start

    def end_payload(self, end: int) -> None:
        """A payload is complete."""
        state, output = self._state, self._output
        output.flush()
        node = state.nodes.pop()
        data = state.last_value if node.bare is None else "".join(node.bare)
        repairs = self._recorder.take_repairs()
        values: dict[str, Any] = {
            "kind": "payload",
            "type": state.header.payload(node.name or ""),
            "data": data,
            "status": "repaired" if repairs else "ok",
            "span": (node.start, end),
            "repairs": repairs,
        }
        payload = construct(Payload, values)
        output.segments.append(payload)
        output.send(PayloadParsed(payload))
        state.close_node(node, end)

    def end_call_id(self, end: int) -> None:
        """The id of a call is the text of its rule; a name that was read inside it belongs to the call."""
        node = self._state.nodes.pop()
        call = self._state.nodes[-1]
        call.id = self._state.source.slice(node.start, end)
        call.name = node.name or call.name

    def markup(self) -> None:
        """A marker was read in text that belongs to no node, such as one that ends a turn."""
        self._output.after_text = False

    # fields

    def field_odd(self, end: int) -> None:
        """Markup was read that differs from how the format writes it."""
        span = (self._state.nodes[-1].start, end)
        message = "this marker is not written as the format writes it"
        self._recorder.report("odd-marker", message, span, "warning")

    def field_content(self, start: int, end: int) -> None:
        """The text of an envelope, or of reasoning."""
        if isinstance(self._state.last_value, str):
            node = self._state.nodes[-1]
            node.content = self._state.last_value
            node.content_span = (start, end)

    def field_needs_more_work(self) -> None:
        """Does the model want another turn?"""
        if isinstance(self._state.last_value, bool):
            self._state.nodes[-1].needs_more_work = self._state.last_value
