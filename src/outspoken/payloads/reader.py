"""Reads a response with a registry's payloads, and makes its reply: `PayloadReader`; in chunks: `PayloadSession`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.engine.parser import AutomatonParser
from outspoken.grammar.automaton import Automaton
from outspoken.json.decoder import repeated_keys
from outspoken.parsing.options import FinishReason, ReadOptions
from outspoken.parsing.response_reader import ResponseReader
from outspoken.parsing.session import UnjoinedSession
from outspoken.results.construct import construct
from outspoken.results.diagnostics import PendingDiagnostic, Severity, place_diagnostics
from outspoken.results.events import (
    Done,
    Event,
    PayloadParsed,
    PayloadPreview,
    PayloadUnfinished,
    PlacedText,
    TextDelta,
)
from outspoken.results.message_text import MessageText
from outspoken.results.replies import STATUSES, Payload, Reply, Segment, Span, Text
from outspoken.semantics.special_text import Spans

from .grammar import FORMAT, automaton_of, line_marker, markers_of
from .policy import PayloadBuilder, PayloadPolicy
from .replies import PayloadEvent, PayloadReply, TypedPayload
from .types import Page, PayloadSettings, PayloadType
from .validation import Checked, check

if TYPE_CHECKING:
    from outspoken.json.stream import JsonStream

#: Findings that make a payload invalid.
_INVALID = frozenset({"invalid-payload", "invalid-item", "wrong-kind"})
_EMPHASIS = "*_`"


class Selection(NamedTuple):
    """The part of the message that is now final, and the payload if it counts."""

    text: str
    payload: TypedPayload | None


class PayloadSelector:
    """Goes through a response in order and selects the payloads that count.

    `only` is the span of the one payload that counts among those that are not `beside` others; by default it is the
    first sound one. `read` gives the text between two offsets, forwards. At `borders`, which are offsets, the message
    gets a separator if it has no white space there. `diagnostics` are the findings so far.
    """

    def __init__(
        self,
        reader: PayloadReader,
        read: Callable[[int, int], str],
        only: Span | None = None,
        borders: Iterable[int] = (),
    ) -> None:
        self._reader, self._only = reader, only
        self._settings, self._page = reader.settings, reader.page
        self.message = MessageText(read)
        self._borders = deque(borders)
        self.diagnostics: list[PendingDiagnostic] = []
        self.unfinished: list[TypedPayload] = []
        self.extra: list[TypedPayload] = []
        self._custom: TypedPayload | None = None
        self._selected: dict[str, TypedPayload] = {}

    def text(self, piece: str, span: Span) -> str:
        """Add text; returns the part of the message that is now final."""
        start, end = span
        added = ""
        while self._borders and self._borders[0] < end:
            border = self._borders.popleft()
            if border > start:
                added += self.message.add(piece[: border - start], start, border)
                piece, start = piece[border - start :], border
            self.message.border()
        return added + self.message.add(piece, start, end)

    def payload(self, found: Payload) -> Selection:
        """Add a payload, complete or not."""
        type_ = self._page.of(found.type)
        if type_ is None:
            self._report(found, "marker-not-registered", f"this page has no payload `{found.type}`", "warning")
            return self._left_out(found, strip=self._settings.strip_unregistered)
        typed = self._typed(found, type_)
        if typed.status in ("truncated", "invalid"):
            self.unfinished.append(typed)
            return self._left_out(found, strip=self._settings.strip_unfinished)
        allowed = type_.beside or self._only is None or found.span == self._only
        if not self.accepts(type_) or not allowed:
            return self._extra(found, typed)
        self._selected[type_.name] = typed
        if not type_.beside:
            self._custom = typed
        self.message.remove(*found.span, self._lead(found))
        return Selection("", typed)

    def end(self) -> list[TypedPayload]:
        """End the response. Returns the selected payloads to drop, because they may not be beside another one."""
        if self._custom is None:
            return []
        beside = [self._selected[name] for name in self._page.beside if name in self._selected]
        drop = self._settings.suggestions_with_proposal == "drop"
        for one in beside:
            result = "it is left out" if drop else "both are kept"
            message = f"`{one.type}` is in the same message as `{self._custom.type}`; {result}"
            self._report(one, "suggestions-with-proposal", message, "warning")
        return beside if drop else []

    def accepts(self, type_: PayloadType) -> bool:
        """True if the next payload of a type may count."""
        return type_.name not in self._selected and (type_.beside or self._custom is None)

    def _typed(self, found: Payload, type_: PayloadType) -> TypedPayload:
        """The payload with its type and its checked status; reports all findings."""
        status, data, value = found.status, found.data, None
        if status == "ok":
            for key in repeated_keys(self._reader.read_text(*found.span)):
                self._report(found, "repeated-key", f"the key `{key}` is repeated; its last value counts", "warning")
        if status in ("ok", "repaired"):
            checked = self._reader.check(type_, found)
            data, value = checked.data, checked.value
            status = status if checked.is_sound else "invalid"
            for code, message in checked.findings:
                is_error = code in _INVALID and not checked.is_sound
                self._report(found, code, message, "error" if is_error else "warning")
        own = {"type": type_.name, "data": data, "status": status}
        typed = {"marker": type_.marker, "value": value, "model": type_.whole_model}
        return construct(TypedPayload, {**dict(found), **own, **typed})

    def _extra(self, found: Payload, made: TypedPayload) -> Selection:
        """Handle a sound payload that does not count because another one does."""
        one = self._selected.get(made.type) or self._custom
        reason = f"`{one.type}` comes before it" if one is not None else "another one has precedence"
        self._report(found, "extra-payload", f"a message has one payload of this kind, and {reason}", "warning")
        if self._settings.extra == "collect":
            self.extra.append(made)
        return self._left_out(found, strip=self._settings.extra != "keep")

    def _left_out(self, found: Payload, *, strip: bool) -> Selection:
        """Remove a payload that does not count from the message, or keep its text."""
        if strip:
            self.message.remove(*found.span, self._lead(found))
            return Selection("", None)
        return Selection(self.text(self._reader.read_text(*found.span), found.span), None)

    def _lead(self, found: Payload) -> str:
        """The marks of a list, a heading or a quotation before the marker of a payload on its line."""
        start = found.span[0]
        head = self._reader.read_text(start, min(start + len(found.type) + 80, found.span[1]))
        at = head.lower().find(found.type.lower())
        return head[: max(at, 0)].rstrip(_EMPHASIS)

    def _report(self, at: Payload, code: str, message: str, severity: Severity) -> None:
        self.diagnostics.append(PendingDiagnostic(code, message, at.span, severity, FORMAT))


def select_segments(segments: list[Segment], selector: PayloadSelector, length: int) -> list[Segment]:
    """The segments of a reply: the selected payloads, and the text of the message with adjacent texts merged.

    `length` is that of the response.
    """
    selected: list[Segment] = []
    pieces: list[str] = []
    span = (0, 0)

    def flush() -> None:
        if pieces:
            selected.append(construct(Text, {"kind": "text", "text": "".join(pieces), "span": span}))
            pieces.clear()

    for segment in segments:
        text: str = ""
        kept: Segment | None = None
        if isinstance(segment, Text):
            text = selector.text(segment.text, segment.span)
        elif isinstance(segment, Payload):
            text, kept = selector.payload(segment)
        else:
            kept = segment
        if text:
            span = (span[0] if pieces else segment.span[0], segment.span[1])
            pieces.append(text)
        if kept is not None:
            flush()
            selected.append(kept)
    if rest := selector.message.end(length):
        pieces.append(rest)
        span = (span[0], length)
    dropped = selector.end()
    flush()
    return [segment for segment in selected if not any(segment is dropped_payload for dropped_payload in dropped)]


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
        #: the whole text, once it is complete
        self._whole: str | None = None
        self._checked: dict[Span, Checked] = {}

    def read_text(self, start: int, end: int) -> str:
        """The raw text between two offsets."""
        return self._text.slice(start, end) if self._whole is None else self._whole[start:end]

    def check(self, type_: PayloadType, payload: Payload) -> Checked:
        """The result of checking a payload against its type, once."""
        if payload.span not in self._checked:
            self._checked[payload.span] = check(
                type_, payload.data, self.page, self.settings.validation, repaired=payload.status == "repaired"
            )
        return self._checked[payload.span]

    def _first_registered(self, payloads: Iterable[Payload]) -> Span | None:
        """The span of the sound payload whose type was registered first, among those that are not `beside` others."""
        found: list[tuple[int, Span]] = []
        for payload in payloads:
            type_ = self.page.of(payload.type)
            may_count = type_ is not None and not type_.beside and payload.status in ("ok", "repaired")
            if type_ is not None and may_count and self.check(type_, payload).is_sound:
                found.append((self.page.types.index(type_), payload.span))
        return min(found)[1] if found else None

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
        self._whole = raw
        only = None
        if self.settings.precedence == "registration":
            only = self._first_registered([s for s in read.segments if isinstance(s, Payload)])
        selector = PayloadSelector(self, self.read_text, only, self.borders)
        segments = select_segments(read.segments, selector, len(raw))
        diagnostics = place_diagnostics(sorted(selector.diagnostics, key=lambda problem: problem.span), raw)
        values = dict(read)
        values["segments"] = segments
        values["diagnostics"] = sorted([*read.diagnostics, *diagnostics], key=lambda problem: problem.span)
        statuses = [read.status, *[problem.status for problem in selector.unfinished]]
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
        self._selector = PayloadSelector(reader, reader.open_text().read)
        self._holds = reader.settings.suggestions_with_proposal == "drop"
        self._held: list[PayloadEvent] = []
        #: the length of the open payload at which the next preview is due
        self._next_preview = 0
        #: what shows the open payload as its type, where the payload begins, and up to where it was read
        self._shown: tuple[JsonStream[Any], int, int] | None = None

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
        payload_events, done = self._selected(events[:-1]), events[-1]
        assert isinstance(done, Done)
        self._add_text(self._selector.message.end(len(done.reply.raw)), payload_events)
        dropped = self._selector.end()
        kept = [
            e for e in self._held if isinstance(e, PayloadParsed) and not any(e.payload is other for other in dropped)
        ]
        return [*payload_events, *kept, done]

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
        shown, self._shown = self._shown, None
        text, payload = selector.payload(event.payload)
        made += [PayloadUnfinished(unfinished) for unfinished in selector.unfinished[lost:]]
        self._add_text(text, made)
        if payload is not None:
            if shown is not None and payload.span[0] <= shown[1] < payload.span[1]:
                made.append(PayloadPreview(payload.type, payload.data, shown[0].corrected(payload.data)))
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
        read, settings = self._payloads.read_text, self._payloads.settings
        if self._shown is None or self._shown[1] != start:
            self._shown = type_.stream(settings), start, start
        stream, _, pos = self._shown
        self._shown = stream, start, end
        return [PayloadPreview(type_.name, read_partial(read(start, end), settings), stream.feed(read(pos, end)))]
