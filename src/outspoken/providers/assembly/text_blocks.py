"""Blocks of content: text throughout, or text that the grammar of a format reads."""

from __future__ import annotations

from dataclasses import replace

from outspoken.parsing.session import UnjoinedSession
from outspoken.results import events as results
from outspoken.results.replies import Text, ToolCall

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
                placed = self._refused.get(segment.span) or self._placed(segment)
                if placed.span != segment.span:
                    self.segments.append(Text(text=self._written(segment.span), span=segment.span))
                self.segments.append(placed)
            self.recorder.actions += len(reply.actions) + len(reply.unfinished_actions)
            self.recorder.add_reply(reply, self.offset)

    def _placed(self, segment: SegmentT) -> SegmentT:
        """A segment at its place: an invalid call stands behind its text, if that is shown."""
        if not self.recorder.options.shows_invalid or not isinstance(segment, ToolCall) or segment.status != "invalid":
            return segment
        return segment.model_copy(update={"span": (segment.span[1], segment.span[1])})

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
            if type(event) is results.PlacedText:
                self._forward_text(event)
            else:
                self._forward_event(event)

    def _forward_event(self, event: results.Event) -> None:
        send = self.recorder.send
        match event:
            case results.ToolCallStart(index) | results.ToolCallDelta(index):
                send(replace(event, index=self._call_index(index)))
            case results.ToolCallEnd(index, call) | results.ToolCallUnfinished(index, call):
                self._end_call(self._call_index(index), self._map(call))
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
        allowed = self.recorder.allowed(call)
        placed = self._placed(allowed)
        if allowed is not call:
            self._refused[call.span] = placed
        self.recorder.end_call(index, placed)
        if placed.span != call.span:
            self.recorder.send_text(self._written(call.span), *call.span)

    def _forward_text(self, event: results.PlacedText) -> None:
        start, end = event.start + self.offset, event.end + self.offset
        if event.begins:
            self.recorder.add_border(start)
        self.recorder.send_text(event.text, start, end, event.exact)
