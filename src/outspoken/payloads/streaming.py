"""`PayloadStream`: reads a response in chunks with the payloads of a registry."""

from __future__ import annotations

import codecs
from collections.abc import Callable

from outspoken.results.errors import LimitError, ResponseError, StreamClosedError
from outspoken.results.events import (
    Done,
    Event,
    PayloadParsed,
    PayloadPreview,
    PayloadUnfinished,
    ReasoningDelta,
    TextDelta,
)
from outspoken.results.replies import Reply

from .selection import PayloadSelector
from .session import PayloadSession

#: After the first preview, at the opening bracket, the next one follows when the payload has grown by this many
#: characters and by this fraction of its length. So the cost of all previews is proportional to the length.
_MIN_GROWTH, _GROWTH_DIVISOR = 12, 16


class PayloadStream:
    """Reads a response in chunks: `feed` returns the events of a chunk, and `close` the last ones.

    The concatenated text of all `TextDelta` events is the message of the reply; it contains no payloads. With
    `previews`, `PayloadPreview` events show payloads while they arrive. After `close`, the result is in `reply`.
    """

    def __init__(self, session: PayloadSession, events: list[Event], *, previews: bool = False) -> None:
        self._session, self._events, self._previews = session, events, previews
        self._selector = PayloadSelector(session.checker)
        self._holds = session.settings.suggestions_with_proposal == "drop"
        self._held: list[Event] = []
        #: the length of the open payload at which the next preview is due
        self._next_preview = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.reply: Reply | None = None

    def feed(self, chunk: str | bytes) -> list[Event]:
        """Read a chunk. Raises StreamClosedError after `close`, and LimitError above `Settings.max_chars`."""
        if self.reply is not None:
            raise StreamClosedError
        text = chunk if isinstance(chunk, str) else self._decoder.decode(chunk)
        if text:
            self._try(lambda: self._session.feed(text))
        return [*self._drain(), *self._preview()]

    def close(self) -> list[Event]:
        """End the response without a finish reason. See `finish`."""
        return self.finish(None)

    def finish(self, reason: str | None) -> list[Event]:
        """End the response with the finish reason of the provider. A second call returns no events.

        If the reason proves that the response is complete, a payload that lacks only closing brackets is complete.
        Raises ResponseError if the response has an error and `on_error` is "raise".
        """
        if self.reply is not None:
            return []
        rest = self._decoder.decode(b"", final=True)
        if rest:
            self._try(lambda: self._session.feed(rest))
        self._try(lambda: self._close(reason))
        events = self._drain()
        dropped = self._selector.end()
        kept = [e for e in self._held if isinstance(e, PayloadParsed) and not any(e.payload is one for one in dropped)]
        assert self.reply is not None
        return [*events, *kept, Done(self.reply)]

    def _close(self, reason: str | None) -> None:
        self.reply = self._session.close(reason)

    def _try(self, read: Callable[[], None]) -> None:
        try:
            read()
        except (LimitError, ResponseError) as error:
            self.reply = error.reply
            raise

    def _drain(self) -> list[Event]:
        """The events since the last call, with the selected payloads and the text of the message."""
        made: list[Event] = []
        for event in self._events:
            if isinstance(event, TextDelta):
                self._add_text(self._selector.text(event.text), made)
            elif isinstance(event, (PayloadParsed, PayloadUnfinished)):
                self._payload(event, made)
            else:
                if isinstance(event, ReasoningDelta):
                    self._selector.message.cut()
                made.append(event)
        self._events.clear()
        return made

    def _payload(self, event: PayloadParsed | PayloadUnfinished, made: list[Event]) -> None:
        selector = self._selector
        self._next_preview, lost = 0, len(selector.unfinished)
        text, payload = selector.payload(event.payload)
        made += [PayloadUnfinished(one) for one in selector.unfinished[lost:]]
        self._add_text(text, made)
        if payload is not None:
            is_held = self._holds and payload.type in self._session.page.beside
            (self._held if is_held else made).append(PayloadParsed(payload))

    def _add_text(self, text: str, made: list[Event]) -> None:
        if text:
            made.append(TextDelta(text))

    def _preview(self) -> list[Event]:
        """A preview of the open payload, if it has grown enough since the last one."""
        begun = self._session.begun() if self._previews else None
        if begun is None:
            return []
        marker, start, end = begun
        type_ = self._session.page.of(marker)
        length = end - start
        if type_ is None or not self._selector.accepts(type_) or length < self._next_preview:
            return []
        from outspoken.json.read import read_partial

        self._next_preview = length + length // _GROWTH_DIVISOR + _MIN_GROWTH
        text = self._session.checker.read(start, end)
        return [PayloadPreview(type_.name, read_partial(text, self._session.settings))]
