"""The blocks of a response while they arrive: text, reasoning, and payloads. Tool calls are in `tool_calls`."""

from __future__ import annotations

from typing import Any

from outspoken.parsing.session import UnjoinedSession
from outspoken.providers.events import ReasoningSigned
from outspoken.results import events as results
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Payload, Reasoning, Segment, Status, Text, ToolCall

from .recorder import OffsetMap, Recorder, SegmentT

_HIGH_SURROGATES = "\ud800", "\udbff"


class SurrogateJoiner:
    """Joins surrogate pairs that a stream splits; a surrogate without a partner becomes U+FFFD."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text so far, without a high surrogate at its end."""
        if piece.isascii() and not self._held:
            return piece
        piece = self._held + piece
        first, last = _HIGH_SURROGATES
        self._held = piece[-1:] if first <= piece[-1:] <= last else ""
        piece = piece[:-1] if self._held else piece
        try:
            piece.encode()
        except UnicodeEncodeError:
            return replace_surrogates(piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        return piece

    def close(self) -> str:
        """Return a replacement character for a surrogate that is held."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""


class Block:
    """A block of one kind. It sends events and holds its segments once it is `done`.

    Of text and of reasoning, one block at a time is `active`; what arrives for another one waits.
    """

    kind = ""
    #: its number among the blocks
    index = 0
    #: it may send events
    active = False
    #: the provider says that it has ended, or more follows behind it
    end_announced = False
    #: it finishes as soon as it is active
    finish_when_active = False
    done = False
    #: it has a key of the provider, so that other blocks do not end it
    keyed = False
    #: it ends no other block
    aside = False
    #: the end of the content when it became active
    position = OffsetMap(0, 0, 0)

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.segments: list[Segment] = []
        #: what waits until the block is active, and what was read
        self._waiting: list[str] = []
        self._pieces: list[str] = []
        self._joiner = SurrogateJoiner()
        #: how many characters arrived
        self.length = 0

    @property
    def offset(self) -> int:
        """Its start in the content."""
        return self.position.offset

    @property
    def _span(self) -> tuple[int, int]:
        """The span of a segment that is not part of the content: empty, at its offset."""
        return self.offset, self.offset

    def feed(self, piece: str) -> None:
        """Take a piece, which waits until the block is active."""
        self.length += len(piece)
        if self.active:
            self._read_joined(self._joiner.feed(piece))
        else:
            self._waiting.append(piece)

    def activate(self) -> None:
        """Let it send events, and read what waits."""
        self.position = self.recorder.content.end()
        self.active = True
        waiting, self._waiting = "".join(self._waiting), []
        self._open()
        self._read_joined(self._joiner.feed(waiting))

    def finish(self, reason: str | None) -> None:
        """End it. `reason` is the finish reason of the response, if it is known and proves that the block is whole."""
        self._read_joined(self._joiner.close())
        self.done, self.active = True, False
        self._end(reason)

    def _read_joined(self, piece: str) -> None:
        if piece:
            self._read(piece)

    def _open(self) -> None:
        """Called when it becomes active."""

    def _read(self, piece: str) -> None:
        """Called for each piece while it is active."""
        raise NotImplementedError

    def _end(self, reason: str | None) -> None:
        """Called once at the end."""
        raise NotImplementedError


class TextBlock(Block):
    """Content that is text throughout."""

    kind = "text"

    def _read(self, piece: str) -> None:
        self._pieces.append(piece)
        start = self.recorder.content.length
        self.recorder.content.append(piece)
        self.recorder.send_text(piece, start, self.recorder.content.length)

    def _end(self, reason: str | None) -> None:
        text = "".join(self._pieces)
        if text:
            self.segments.append(Text(text=text, span=(self.offset, self.offset + len(text))))


class ParsedTextBlock(Block):
    """Content that the grammar of a format reads."""

    kind = "text"

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        #: made for the first piece, since only the first block with content has the prefix
        self._parser: UnjoinedSession | None = None
        self._call_indexes: dict[int, int] = {}
        #: the calls that the request does not allow, by their spans
        self._refused: dict[tuple[int, int], ToolCall] = {}
        self._actions_before = 0
        self._offset_map: OffsetMap | None = None

    def _open(self) -> None:
        self._actions_before = self.recorder.actions
        self._offset_map = self.position if self.offset else None

    def _read(self, piece: str) -> None:
        self.recorder.content.append(piece)
        if self._parser is None:
            self._parser = self.recorder.make_session()
        self._forward_all(self._parser.feed(piece))

    def _end(self, reason: str | None) -> None:
        if self._parser is None:
            return
        self._forward_all(self._parser.close(None if self.recorder.is_stopped else reason))
        reply = self._parser.reply
        if reply is not None:
            for segment in map(self._map, reply.segments):
                self._add_segment(self._refused.get(segment.span, segment))
            self.recorder.actions += len(reply.actions) + len(reply.unfinished_actions)
            self.recorder.add_reply(reply, self._offset_map)

    def _add_segment(self, segment: Any) -> None:
        """Add a segment; an invalid call stands behind its text, if that is shown."""
        if self._shows(segment):
            self.segments.append(Text(text=self._written(segment), span=segment.span))
            segment = segment.model_copy(update={"span": (segment.span[1],) * 2})
        self.segments.append(segment)

    def _shows(self, segment: Any) -> bool:
        """Is the text of a segment shown, since it is a call that is invalid?"""
        return self.recorder.options.shows_invalid and segment.kind == "tool_call" and segment.status == "invalid"

    def _written(self, call: ToolCall) -> str:
        return "".join(self.recorder.content.pieces)[slice(*call.span)]

    def _map(self, segment: SegmentT) -> SegmentT:
        """Map a segment's place, and the order of an action, to those in the response."""
        mapped = self._offset_map.segment(segment) if self._offset_map is not None else segment
        order = getattr(mapped, "order", None)
        if order is not None and self._actions_before:
            mapped = mapped.model_copy(update={"order": order + self._actions_before})
        return mapped

    def _call_index(self, index: int) -> int:
        if index not in self._call_indexes:
            self._call_indexes[index] = self.recorder.next_call_index()
        return self._call_indexes[index]

    def _forward_all(self, events: list[results.Event]) -> None:
        for event in events:
            self._forward(event)

    def _forward(self, event: results.Event) -> None:
        send = self.recorder.send
        match event:
            case results.PlacedText():
                self._forward_text(event)
            case results.ToolCallStart(index, id, name):
                send(results.ToolCallStart(self._call_index(index), id, name))
            case results.ToolCallDelta(index, arguments):
                send(results.ToolCallDelta(self._call_index(index), arguments))
            case results.ToolCallEnd(index, call):
                self._end_call(self._call_index(index), self._map(call))
            case results.ToolCallUnfinished(index, call):
                self._end_unfinished(self._call_index(index), self._map(call))
            case results.ActionText(index, text):
                send(results.ActionText(index + self._actions_before, text))
            case results.ActionParsed(action):
                send(results.ActionParsed(self._map(action)))
            case results.ActionUnfinished(action):
                send(results.ActionUnfinished(self._map(action)))
            case results.PayloadParsed(payload):
                send(results.PayloadParsed(self._map(payload)))
            case results.PayloadUnfinished(payload):
                send(results.PayloadUnfinished(self._map(payload)))
            case results.Done():
                pass
            case _:
                send(event)

    def _end_call(self, index: int, call: ToolCall) -> None:
        ended = self.recorder.end_call(index, call)
        if ended is not call:
            self._refused[call.span] = ended
            self._show(ended)

    def _end_unfinished(self, index: int, call: ToolCall) -> None:
        self.recorder.send(results.ToolCallUnfinished(index, call))
        self._show(call)

    def _show(self, call: ToolCall) -> None:
        if self._shows(call):
            self.recorder.send_text(self._written(call), *call.span)

    def _forward_text(self, event: results.PlacedText) -> None:
        start, end = event.start + self.offset, event.end + self.offset
        if event.begins:
            self.recorder.add_border(start)
        self.recorder.send_text(event.text, start, end, event.exact)


class ReasoningBlock(Block):
    """Reasoning that came in a field of its own."""

    kind = "reasoning"

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        #: those that arrived before it was active; they are sent at its end
        self.signatures: list[str] = []

    def _read(self, piece: str) -> None:
        self._pieces.append(piece)
        self.recorder.send(results.ReasoningDelta(piece))

    def _end(self, reason: str | None) -> None:
        text = "".join(self._pieces)
        for signature in self.signatures:
            self.recorder.send(ReasoningSigned(signature))
        if text:
            self.segments.append(Reasoning(text=text, span=self._span))
            self.recorder.send(results.ReasoningEnd())


class PayloadBlock(Block):
    """Something whole that is neither text, reasoning nor a call of the caller's tools."""

    kind = "payload"

    def __init__(self, recorder: Recorder, type: str, data: Any, *, aside: bool = False, status: Status = "ok") -> None:
        super().__init__(recorder)
        self.aside = aside
        self._payload = (type, data, status)

    def _open(self) -> None:
        type, data, status = self._payload
        payload = Payload(type=type, data=data, status=status, span=self._span)
        self.segments.append(payload)
        is_usable = status in ("ok", "repaired")
        self.recorder.send(results.PayloadParsed(payload) if is_usable else results.PayloadUnfinished(payload))

    def _end(self, reason: str | None) -> None:
        """Do nothing: a payload is whole when it arrives."""
