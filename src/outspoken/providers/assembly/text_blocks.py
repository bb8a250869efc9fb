"""Blocks of content: text throughout, or text that the grammar of a format reads."""

from __future__ import annotations

from dataclasses import replace

from outspoken.parsing.session import UnjoinedSession
from outspoken.results import events as results
from outspoken.results.replies import Segment, Text, ToolCall

from .blocks import Block, Key
from .recorder import Recorder, SegmentT, WholeSession


class TextBlock(Block):
    """Content that is text throughout."""

    kind = "text"

    def _read(self, piece: str) -> None:
        self._pieces.append(piece)
        start = self.recorder.content.length
        self.recorder.content.append(piece)
        self.recorder.send_text(piece, start, self.recorder.content.length)

    def _end(self, reason: str | None) -> None:
        if text := self.text:
            self.segments.append(Text(text=text, span=(self.offset, self.offset + len(text))))


class ParsedTextBlock(Block):
    """Content that the grammar of a format reads."""

    kind = "text"

    def __init__(self, recorder: Recorder, key: Key | None = None) -> None:
        super().__init__(recorder, key)
        #: made for the first piece, since only the first block with content has the prefix
        self._parser: UnjoinedSession | WholeSession | None = None
        self._call_indexes: dict[int, int] = {}
        #: the calls that the request does not allow, by their spans
        self._refused: dict[tuple[int, int], ToolCall] = {}
        self._actions_before = 0

    def _open(self) -> None:
        self._actions_before = self.recorder.actions

    def _read(self, piece: str) -> None:
        self.recorder.content.append(piece)
        if self._parser is None:
            self._parser = self.recorder.make_session()
        self._forward(self._parser.feed(piece))

    def _end(self, reason: str | None) -> None:
        if self._parser is None:
            return
        self._forward(self._parser.close(None if self.recorder.is_stopped else reason))
        reply = self._parser.reply
        if reply is not None:
            for segment in map(self._map, reply.segments):
                self._add_segment(segment)
            self.recorder.actions += len(reply.actions) + len(reply.unfinished_actions)
            self.recorder.add_reply(reply, self.offset)

    def _add_segment(self, segment: Segment) -> None:
        placed = self._refused.get(segment.span) or self._placed(segment)
        if placed.span != segment.span:
            self.segments.append(Text(text=self._written(segment.span), span=segment.span))
        self.segments.append(placed)

    def _placed(self, segment: SegmentT) -> SegmentT:
        """A segment at its place: an invalid call stands behind its text, if that is shown."""
        is_invalid = isinstance(segment, ToolCall) and segment.status == "invalid"
        return segment.model_copy(update={"span": self._place(segment.span)}) if is_invalid else segment

    def _place(self, span: tuple[int, int]) -> tuple[int, int]:
        return (span[1], span[1]) if self.recorder.options.shows_invalid else span

    def _written(self, span: tuple[int, int]) -> str:
        return self.recorder.content.text[slice(*span)]

    def _map(self, segment: SegmentT) -> SegmentT:
        """Map a segment's place, and the order of an action, to those in the response."""
        mapped = self.recorder.content.segment(segment, self.offset) if self.offset else segment
        order = getattr(mapped, "order", None)
        if order is not None and self._actions_before:
            mapped = mapped.model_copy(update={"order": order + self._actions_before})
        return mapped

    def _call_index(self, index: int) -> int:
        if index not in self._call_indexes:
            self._call_indexes[index] = self.recorder.next_call_index()
        return self._call_indexes[index]

    def _forward(self, events: list[results.Event]) -> None:
        for event in events:
            self._forward_event(event)

    def _forward_event(self, event: results.Event) -> None:
        send = self.recorder.send
        match event:
            case results.PlacedText():
                self._forward_text(event)
            case results.ToolCallStart(index) | results.ToolCallDelta(index):
                send(replace(event, index=self._call_index(index)))
            case results.ToolCallEnd(index, call):
                self._end_call(self._call_index(index), self._map(call))
            case results.ToolCallUnfinished(index, call):
                self._end_unfinished(self._call_index(index), self._map(call))
            case results.ActionText(index):
                send(replace(event, index=index + self._actions_before))
            case results.ActionParsed(action) | results.ActionUnfinished(action):
                send(replace(event, action=self._map(action)))
            case results.PayloadParsed(payload) | results.PayloadUnfinished(payload):
                send(replace(event, payload=self._map(payload)))
            case results.Done():
                pass
            case _:
                send(event)

    def _end_call(self, index: int, call: ToolCall) -> None:
        ended = self.recorder.end_call(index, call, self._place(call.span))
        if ended is not call:
            self._refused[call.span] = ended
            self._show(call.span, ended)

    def _end_unfinished(self, index: int, call: ToolCall) -> None:
        placed = self._placed(call)
        self.recorder.send(results.ToolCallUnfinished(index, placed))
        self._show(call.span, placed)

    def _show(self, span: tuple[int, int], placed: ToolCall) -> None:
        """Send the text of a call that is placed behind it."""
        if placed.span != span:
            self.recorder.send_text(self._written(span), *span)

    def _forward_text(self, event: results.PlacedText) -> None:
        start, end = event.start + self.offset, event.end + self.offset
        if event.begins:
            self.recorder.add_border(start)
        self.recorder.send_text(event.text, start, end, event.exact)
