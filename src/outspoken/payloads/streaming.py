"""A response that arrives in pieces, read with a registry's payloads."""

from __future__ import annotations

import codecs
from typing import Any

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

from .builder import partial_json
from .finishing import Finisher
from .session import PayloadSession

#: The first preview comes with the opening bracket. Another one is made when so much more has come: at least so many
#: characters, and this share of what there is. So what all previews of a payload cost together is a multiple of its
#: length.
_MORE, _SHARE = 12, 16


class PayloadStream:
    """Reads a response in pieces: `feed` returns the events that a piece completes, `close` the last ones.

    The text of `TextDelta` is that of the message: payloads are never seen in it, and all of it, joined, is the message
    of the reply. With `previews`, `PayloadPreview` shows payloads while they come. The reply is then in `reply`.
    """

    def __init__(self, session: PayloadSession, events: list[Event], *, previews: bool = False) -> None:
        self._session, self._events, self._previews = session, events, previews
        self._finisher = Finisher(session.judge)
        self._holds = session.options.suggestions_with_proposal == "drop"
        self._held: list[Event] = []
        self._seen = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.reply: Reply | None = None

    def feed(self, chunk: str | bytes) -> list[Event]:
        """Read a piece. Raises StreamClosedError after `close`, and LimitError over the limit of the settings."""
        if self.reply is not None:
            raise StreamClosedError("the stream was closed; make a new one for the next response")
        text = chunk if isinstance(chunk, str) else self._decoder.decode(chunk)
        if text:
            self._try(lambda: self._session.feed(text))
        return [*self._drain(), *self._preview()]

    def close(self) -> list[Event]:
        """The response has ended, and why is not known. See `finish`."""
        return self.finish(None)

    def finish(self, reason: str | None) -> list[Event]:
        """The response has ended for a reason that the provider gives. Finishing again returns nothing.

        With a reason that says that the model ended where it meant to, a payload of which only closing brackets are
        missing is complete. Raises ResponseError with `on_error="raise"`, where the response has an error.
        """
        if self.reply is not None:
            return []
        rest = self._decoder.decode(b"", final=True)
        if rest:
            self._try(lambda: self._session.feed(rest))
        self._try(lambda: self._close(reason))
        events = self._drain()
        dropped = self._finisher.end()
        kept = [e for e in self._held if isinstance(e, PayloadParsed) and not any(e.payload is one for one in dropped)]
        assert self.reply is not None
        return [*events, *kept, Done(self.reply)]

    def _close(self, reason: str | None) -> None:
        self.reply = self._session.close(reason)

    def _try(self, read: Any) -> None:
        try:
            read()
        except (LimitError, ResponseError) as error:
            self.reply = error.reply
            raise

    def _drain(self) -> list[Event]:
        """What was read since the last time, as the registry has it."""
        made: list[Event] = []
        for event in self._events:
            if isinstance(event, TextDelta):
                self._say(self._finisher.text(event.text), made)
            elif isinstance(event, (PayloadParsed, PayloadUnfinished)):
                self._payload(event, made)
            else:
                if isinstance(event, ReasoningDelta):
                    self._finisher.message.cut()
                made.append(event)
        self._events.clear()
        return made

    def _payload(self, event: PayloadParsed | PayloadUnfinished, made: list[Event]) -> None:
        finisher = self._finisher
        self._seen, lost = 0, len(finisher.unfinished)
        text, payload = finisher.payload(event.payload)
        made += [PayloadUnfinished(one) for one in finisher.unfinished[lost:]]
        self._say(text, made)
        if payload is not None:
            is_held = self._holds and payload.type in self._session.page.beside
            (self._held if is_held else made).append(PayloadParsed(payload))

    def _say(self, text: str, made: list[Event]) -> None:
        if text:
            made.append(TextDelta(text))

    def _preview(self) -> list[Event]:
        """What there is of the payload that is being read, if enough has come since the last time."""
        begun = self._session.begun() if self._previews else None
        if begun is None:
            return []
        marker, start, end = begun
        type_ = self._session.page.of(marker)
        length = end - start
        if type_ is None or not self._finisher.has_place(type_) or (self._seen and length < self._seen + _MORE):
            return []
        self._seen = length + length // _SHARE
        text = self._session.judge.read(start, end)
        return [PayloadPreview(type_.name, partial_json(text, self._session.settings))]
