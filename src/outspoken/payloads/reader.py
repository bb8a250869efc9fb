"""Reads a response with a registry's payloads, and makes its reply: `PayloadReader`; in chunks: `PayloadSession`."""

from __future__ import annotations

from outspoken.engine.parser import AutomatonParser
from outspoken.grammar.automaton import Automaton
from outspoken.parsing.options import FinishReason, ReadOptions
from outspoken.parsing.response_reader import ResponseReader
from outspoken.parsing.session import UnjoinedSession
from outspoken.results.construct import construct
from outspoken.results.diagnostics import place_diagnostics
from outspoken.results.events import (
    Done,
    Event,
    PayloadParsed,
    PayloadPreview,
    PayloadUnfinished,
    PlacedText,
    TextDelta,
)
from outspoken.results.replies import STATUSES, Payload, Reply

from .grammar import FORMAT, automaton_of, line_marker, markers_of
from .policy import PayloadBuilder, PayloadPolicy
from .replies import PayloadEvent, PayloadReply
from .selection import PayloadChecker, PayloadSelector, first_registered, select_segments
from .types import Page, PayloadSettings


class PayloadReader(ResponseReader):
    """Reads one response with the payloads of a page."""

    builder_type = PayloadBuilder
    settings: PayloadSettings
    _builder: PayloadBuilder

    def __init__(
        self,
        page: Page,
        settings: PayloadSettings,
        options: ReadOptions,
        prefix: str | None = None,
        events: list[Event] | None = None,
    ) -> None:
        self.page = page
        self._markers = markers_of((*page.types, *page.elsewhere))
        self.blocks: tuple[tuple[int, int], ...] = ()
        #: where blocks that are no text stood between text blocks
        self.borders: tuple[int, ...] = ()
        policy = PayloadPolicy(line_marker(self._markers))
        super().__init__(options._replace(format=FORMAT, settings=settings), prefix, events, policy)
        self._builder.page = page
        self.checker = PayloadChecker(page, settings, self._text.slice)

    def load_automaton(self, format: str, *, lenient: bool) -> Automaton:
        """The automaton of the page's markers."""
        return automaton_of(self._markers, lenient=lenient, in_code=self.settings.markers_in_fences)

    def begun(self) -> tuple[str, int, int] | None:
        """The marker of the payload that is being read, and the offsets between which there is JSON of it so far."""
        node = self._builder.open_payload()
        embedded = self._reader.state.embedded if isinstance(self._reader, AutomatonParser) else None
        if node is None or embedded is None:
            return None
        return self._builder.header.payload(node.name or ""), embedded.begun, self._text.length

    def _reply(self, raw: str) -> Reply:
        """The reply, with the payloads that count and the message without them."""
        read = super()._reply(raw)
        self.checker.raw = raw
        only = None
        if self.settings.precedence == "registration":
            only = first_registered(self.checker, [s for s in read.segments if isinstance(s, Payload)])
        selector = PayloadSelector(self.checker, lambda start, end: raw[start:end], only, self.borders)
        segments = select_segments(read.segments, selector, len(raw))
        found = place_diagnostics(sorted(selector.diagnostics, key=lambda one: one.span), raw)
        values = dict(read)
        values["segments"] = segments
        values["diagnostics"] = sorted([*read.diagnostics, *found], key=lambda one: one.span)
        statuses = [read.status, *[one.status for one in selector.unfinished]]
        values["status"] = max(statuses, key=STATUSES.index)
        values["page"], values["beside"] = self.page.name, self.page.beside
        values["broken_payloads"], values["extra_payloads"] = selector.unfinished, selector.extra
        values["blocks"] = self.blocks
        return construct(PayloadReply, values)


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

    def feed(self, chunk: str | bytes | None) -> list[PayloadEvent]:
        """Read a chunk, and return the events that have become certain. See `Session.feed`."""
        return [*self._selected(super().feed(chunk)), *self._preview()]

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
