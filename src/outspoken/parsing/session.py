"""`Session`: reads one response that arrives in chunks."""

from __future__ import annotations

import codecs
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from outspoken.results.arguments import text_of
from outspoken.results.errors import LimitError, ResponseError, StreamClosedError
from outspoken.results.events import (
    IN_DOUBT,
    Done,
    Event,
    Held,
    HeldReason,
    PlacedText,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    event_of,
)
from outspoken.results.message_text import MessageText
from outspoken.results.replies import Reply

from .event_stream import OneResponse
from .options import FinishReason, ReadOptions, finish_reason_of
from .response_reader import ResponseReader

if TYPE_CHECKING:
    from outspoken.semantics.special_text import Spans

    from .call_gate import CallGate


#: The events and the reply of a session, which are more specific for payloads.
E = TypeVar("E", default=Event)
R = TypeVar("R", bound=Reply, default=Reply)

#: Events that are sent as they are if nothing is held.
_PLAIN = frozenset({ToolCallDelta, ReasoningDelta})


class Session(OneResponse, Generic[E, R]):
    """Reads one response that arrives in chunks; made by `Parser.session`.

    `feed` takes a chunk and returns the events that have become certain; `held` says what is not certain yet. `close`
    ends the response and returns the last events. `reply` is then the complete result; before, it is None.
    """

    _is_joined = True
    #: decodes bytes; made for the first ones
    _decoder: codecs.IncrementalDecoder | None = None

    def __init__(self, reader: ResponseReader, events: list[Any]) -> None:
        self._reader, self._events = reader, events
        self._stream = SentEvents(reader, is_joined=self._is_joined)
        self.reply: R | None = None

    def feed(self, chunk: str | bytes | None, special: Spans | None = None) -> list[E]:
        """Read a chunk: text, or UTF-8 bytes that may be split anywhere. None is an empty chunk.

        `special` says which characters of the chunk come from special tokens, as for `Parser.parse`: pairs of a start
        and an end in a text. It is given for every chunk or for none.

        Raises StreamClosedError after `close`, LimitError for a text over the limit, ValueError for spans that are not
        in the chunk, and TypeError for anything else.
        """
        if self.reply is not None:
            raise StreamClosedError
        text = chunk if isinstance(chunk, str) else self._decoded(chunk)
        if special and not isinstance(chunk, str):
            raise TypeError("`special` is for chunks of text")
        if not text:
            return []
        try:
            self._reader.feed(text, special)
        except LimitError as error:
            self._set_reply(error.reply)
            raise
        events = self._events
        if not events:
            return []
        taken: Any = self._stream.take(events)
        events.clear()
        return taken if self._reader.special is None else self._reader.special.shown(taken)

    def _decoded(self, chunk: bytes | None) -> str:
        if not isinstance(chunk, bytes | bytearray):
            return text_of(chunk, "chunk")
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        return self._decoder.decode(chunk)

    def close(self, finish_reason: FinishReason = None) -> list[E]:
        """End the response, and return the last events; a second call returns none.

        `finish_reason` is the provider's finish reason. An incomplete call is truncated, unless the reason says that
        the model ended its answer (`stop`, `tool_calls`, `end_turn` and the like). Then its closing markers are
        inserted, which is recorded as a repair.

        Raises ResponseError if the response has an error and `on_error` is "raise".
        """
        if self.reply is not None:
            return []
        reason = finish_reason_of(finish_reason)
        rest = "" if self._decoder is None else self._decoder.decode(b"", final=True)
        try:
            if rest:
                self._reader.feed(rest)
            reply = self._set_reply(self._reader.close(reason))
        except (LimitError, ResponseError) as error:
            self._set_reply(error.reply)
            raise
        events: list[Any] = self._stream.end(self._events, len(reply.raw))
        if self._reader.special is not None:
            events = self._reader.special.shown(events)
        events.append(Done(reply))
        return events

    def _set_reply(self, reply: Any) -> Reply:
        self.reply = reply
        return reply

    @property
    def held(self) -> Held | None:
        """What was read and cannot be decided yet, and why; None if that is nothing, and behind `close`."""
        if self.reply is not None:
            return None
        reader = self._reader
        found = self._stream.held or reader.held
        if found is None:
            return None
        reason, start = found
        text = reader.early_text if reason == "prompt" else reader.read_raw(start, reader.length)
        return Held(reason, start, text if reader.special is None else reader.special.shown(text) + reader.special.held)


class SentEvents:
    """Makes the events of a response that is being read into those that are sent.

    Calls in doubt are held until they are decided (`CallGate`), and text is joined (`PlacedText`), if it `is_joined`.
    """

    def __init__(self, reader: ResponseReader, *, is_joined: bool = True) -> None:
        self._reader, self._is_joined = reader, is_joined
        self._message: MessageText | None = None  # made for the first text
        self._text_end = 0
        self._gate: CallGate | None = None  # made for the first call

    def take(self, events: list[Event]) -> list[Event]:
        """What can be sent, of what is held and some new events."""
        gate = self._gate
        if gate is None and len(events) == 1 and type(events[0]) is PlacedText:
            return self._joined(events)
        if gate is None or gate.is_idle:  # as for most chunks
            for event in events:
                if type(event) not in _PLAIN:
                    break
            else:
                return events.copy()
        return self._joined(self._decided(events))

    def end(self, events: list[Event], length: int) -> list[Event]:
        """What is to be sent at the end of a response of this length, which has these last events."""
        events = self._decided(events, final=True)
        if self._gate is not None:
            events += self._gate.end(length)
        made = self._joined(events)
        text = "" if self._message is None else self._message.end(length)
        return [*made, TextDelta(text)] if text else made

    @property
    def held(self) -> tuple[HeldReason, int] | None:
        """Why events are held, and from which offset of the response on; None if none are."""
        return None if self._gate is None else self._gate.held

    def _decided(self, events: list[Event], *, final: bool = False) -> list[Event]:
        """The events of calls that were made, as far as that is known."""
        gate = self._gate
        if gate is None:
            if IN_DOUBT.isdisjoint(map(type, events)):
                return events
            from .call_gate import CallGate

            gate = self._gate = CallGate(self._reader)
        return gate.take(events, final=final)

    def _joined(self, events: list[Event]) -> list[Event]:
        """Events with text that is joined with the text before it."""
        joined: list[Event] = []
        for event in events:
            if type(event) is not PlacedText:
                joined.append(event)
                continue
            if event.begins and not 0 < self._text_end < event.start:
                event = replace(event, begins=False)
            self._text_end = event.end
            if not self._is_joined:
                joined.append(event)
                continue
            if self._message is None:
                self._message = MessageText(self._reader.open_text().read)
            if event.begins:
                self._message.border()
            if text := self._message.add(event.text, event.start, event.end, exact=event.exact):
                joined.append(event_of(TextDelta, {"text": text}))
        return joined


class UnjoinedSession(Session[E, R]):
    """A session whose text is as it was read, with its place (`PlacedText`), for a caller that joins it."""

    _is_joined = False

    @classmethod
    def of(cls, options: ReadOptions, prefix: str | None) -> UnjoinedSession[E, R]:
        """A session with some options; see `Parser.session`."""
        events: list[Event] = []
        return cls(ResponseReader(options, prefix, events), events)
