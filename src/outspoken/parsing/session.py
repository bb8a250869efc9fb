"""`Session`: reads one response that arrives in chunks."""

from __future__ import annotations

import codecs

from outspoken.results.arguments import text_of
from outspoken.results.errors import LimitError, ResponseError, StreamClosedError
from outspoken.results.events import Done, Event
from outspoken.results.replies import Reply

from .options import FinishReason, finish_reason_of
from .response_reader import ResponseReader


class Session:
    """Reads one response that arrives in chunks; made by `Parser.session`.

    `feed` takes a chunk and returns the events that have become certain. `close` ends the response and returns the last
    events. `reply` is then the complete result; before, it is None.
    """

    def __init__(self, reader: ResponseReader, events: list[Event]) -> None:
        self._reader, self._events = reader, events
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.reply: Reply | None = None

    def feed(self, chunk: str | bytes | None) -> list[Event]:
        """Read a chunk: text, or UTF-8 bytes that may be split anywhere. None is an empty chunk.

        Raises StreamClosedError after `close`, LimitError for a text over the limit, and TypeError for anything else.
        """
        if self.reply is not None:
            raise StreamClosedError
        if isinstance(chunk, str):
            text = chunk
        else:
            text = self._decoder.decode(chunk) if isinstance(chunk, bytes | bytearray) else text_of(chunk, "chunk")
        if not text:
            return []
        try:
            self._reader.feed(text)
        except LimitError as error:
            self.reply = error.reply
            raise
        events = self._events
        return [events.pop()] if len(events) == 1 else self._drain()

    def close(self, finish_reason: FinishReason = None) -> list[Event]:
        """End the response, and return the last events; a second call returns none.

        `finish_reason` is the provider's finish reason. An incomplete call is truncated, unless the reason says that
        the model ended its answer (`stop`, `tool_calls`, `end_turn` and the like). Then its closing markers are
        inserted, which is recorded as a repair.

        Raises ResponseError if the response has an error and `on_error` is "raise".
        """
        if self.reply is not None:
            return []
        reason = finish_reason_of(finish_reason)
        rest = self._decoder.decode(b"", final=True)
        try:
            if rest:
                self._reader.feed(rest)
            self.reply = self._reader.close(reason)
        except (LimitError, ResponseError) as error:
            self.reply = error.reply
            raise
        self._events.append(Done(self.reply))
        return self._drain()

    def _drain(self) -> list[Event]:
        events = self._events
        if not events:
            return []
        drained = events.copy()
        events.clear()
        return drained
