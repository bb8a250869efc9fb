"""`PayloadSession`: reads a response in chunks with the payloads of a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.parsing.options import FinishReason
from outspoken.parsing.session import UnjoinedSession
from outspoken.results.events import (
    Done,
    PayloadParsed,
    PayloadPreview,
    PayloadUnfinished,
    PlacedText,
    TextDelta,
)

from .reader import PayloadReader
from .replies import PayloadEvent, PayloadReply
from .selection import PayloadSelector

if TYPE_CHECKING:
    from outspoken.semantics.special_text import Spans

#: After the first preview, at the opening bracket, the next one follows when the payload has grown by this many
#: characters and by this fraction of its length. So the cost of all previews is proportional to the length.
_MIN_GROWTH, _GROWTH_DIVISOR = 12, 16


class PayloadSession(UnjoinedSession[PayloadEvent, PayloadReply]):
    """Reads one response that arrives in chunks; made by `PayloadParser.session`.

    `feed`, `close` and `reply` are those of `Session`. The concatenated text of all `TextDelta` events is the message
    of the reply; it contains no payloads. With `previews`, `PayloadPreview` events show payloads while they arrive.
    """

    def __init__(self, reader: PayloadReader, events: list[PayloadEvent], *, previews: bool = False) -> None:
        super().__init__(reader, events)
        self._payloads, self._previews = reader, previews
        self._selector = PayloadSelector(reader.checker, reader.open_text().read)
        self._holds = reader.settings.suggestions_with_proposal == "drop"
        self._held: list[PayloadEvent] = []
        #: the length of the open payload at which the next preview is due
        self._next_preview = 0

    def feed(self, chunk: str | bytes | None, special: Spans | None = None) -> list[PayloadEvent]:
        """Read a chunk, and return the events that have become certain. See `Session.feed`."""
        return [*self._selected(super().feed(chunk, special)), *self._preview()]

    def close(self, finish_reason: FinishReason = None) -> list[PayloadEvent]:
        """End the response, and return the last events; a second call returns none. See `Session.close`.

        If the finish reason proves that the response is complete, a payload that lacks only closing brackets is
        complete.
        """
        events = super().close(finish_reason)
        if not events:
            return []
        made, done = self._selected(events[:-1]), events[-1]
        assert isinstance(done, Done)
        self._add_text(self._selector.message.end(len(done.reply.raw)), made)
        dropped = self._selector.end()
        kept = [e for e in self._held if isinstance(e, PayloadParsed) and not any(e.payload is one for one in dropped)]
        return [*made, *kept, done]

    def _selected(self, events: list[PayloadEvent]) -> list[PayloadEvent]:
        """Some events with the selected payloads and the text of the message."""
        made: list[PayloadEvent] = []
        for event in events:
            if isinstance(event, PlacedText):
                self._add_text(self._selector.text(event.text, (event.start, event.end)), made)
            elif isinstance(event, (PayloadParsed, PayloadUnfinished)):
                self._payload(event, made)
            else:
                made.append(event)
        return made

    def _payload(self, event: PayloadParsed | PayloadUnfinished, made: list[PayloadEvent]) -> None:
        selector = self._selector
        self._next_preview, lost = 0, len(selector.unfinished)
        text, payload = selector.payload(event.payload)
        made += [PayloadUnfinished(one) for one in selector.unfinished[lost:]]
        self._add_text(text, made)
        if payload is not None:
            is_held = self._holds and payload.type in self._payloads.page.beside
            (self._held if is_held else made).append(PayloadParsed(payload))

    def _add_text(self, text: str, made: list[PayloadEvent]) -> None:
        if text:
            made.append(TextDelta(text))

    def _preview(self) -> list[PayloadEvent]:
        """A preview of the open payload, if it has grown enough since the last one."""
        begun = self._payloads.begun() if self._previews else None
        if begun is None:
            return []
        marker, start, end = begun
        type_ = self._payloads.page.of(marker)
        length = end - start
        if type_ is None or not self._selector.accepts(type_) or length < self._next_preview:
            return []
        from outspoken.json.read import read_partial

        self._next_preview = length + length // _GROWTH_DIVISOR + _MIN_GROWTH
        text = self._payloads.checker.read(start, end)
        return [PayloadPreview(type_.name, read_partial(text, self._payloads.settings))]
