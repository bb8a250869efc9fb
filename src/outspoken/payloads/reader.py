"""`PayloadReader`: reads one response with a registry's payloads, and makes its reply."""

from __future__ import annotations

from outspoken.engine.parser import AutomatonParser
from outspoken.grammar.automaton import Automaton
from outspoken.parsing.options import ReadOptions
from outspoken.parsing.response_reader import ResponseReader
from outspoken.results.construct import construct
from outspoken.results.events import Event
from outspoken.results.pending_diagnostics import place_diagnostics
from outspoken.results.replies import STATUSES, Payload, Reply

from .grammar import FORMAT, automaton_of, line_marker, markers_of
from .policy import PayloadBuilder, PayloadPolicy
from .replies import PayloadReply
from .selection import PayloadChecker, PayloadSelector, first_registered, select_segments
from .settings import PayloadSettings
from .types import Page


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
