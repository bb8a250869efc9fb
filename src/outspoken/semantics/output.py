"""The segments and events of a response as far as it is read, and the run of text or reasoning that is still open."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outspoken.results.construct import construct
from outspoken.results.replies import Reasoning, Status, Text

if TYPE_CHECKING:
    from outspoken.results.events import Event

    from .recorder import Source


class Outcome:
    """What a response says of itself: that it is an envelope, the envelope's content, whether it wants another turn.

    `answered` says that a call answered the user.
    """

    envelope = answered = False
    envelope_content: str | None = None
    needs_more_work: bool | None = None
    #: the entries of the envelope that no other field holds
    unread: dict[str, Any] | None = None

    def add_unread(self, key: str, value: Any) -> None:
        """Keep an entry of the envelope. The first one of a key counts."""
        if self.unread is None:
            self.unread = {}
        self.unread.setdefault(key, value)

    def add_content(self, content: str | None) -> None:
        """Append to the content of the envelope."""
        if content is not None:
            self.envelope_content = (self.envelope_content or "") + content

    def absorb(self, other: Outcome) -> None:
        """Add what a later part of the response says."""
        self.envelope = self.envelope or other.envelope
        self.add_content(other.envelope_content)
        self.answered = self.answered or other.answered
        for key, value in (other.unread or {}).items():
            self.add_unread(key, value)
        if other.needs_more_work is not None:
            self.needs_more_work = other.needs_more_work


class Output:
    """Collects segments, and events where the caller wants them.

    `consumed` is the offset up to which all text belongs to a segment or to markup. `after_text` is true if what
    ended there was text, so that white space behind it is text, too. `node_start` is the offset of the node that ended
    last. `call_count` and `action_count` number the calls and actions of the response. The source is the raw text, or
    what gives it. `begins` holds where texts begin that are messages of their own, which they are in a format that
    `separates` them.
    """

    # class attributes, so that making one costs little
    consumed = node_start = call_count = action_count = 0
    after_text = True
    #: `consumed` when markup that belongs to no node was read behind text; None if there was none
    _text_end: int | None = None
    run_model: type[Text] | type[Reasoning] | None = None
    _run_start = _run_end = 0
    #: the types and functions that are tools, by name
    types: Mapping[str, Any] | None = None

    def __init__(
        self, source: Source | str, events: list[Event] | None, *, trims: bool, separates: bool = False
    ) -> None:
        self._source, self._trims, self.separates, self.events = source, trims, separates, events
        self.segments: list[Any] = []
        self.begins: set[int] = set()
        self.outcome = Outcome()
        #: reasoning that was written as JSON strings of an object of which nothing else was read yet
        self.thoughts: list[Reasoning] = []
        self._run: list[str] = []

    @cached_property
    def models(self):  # the type of a module has no name
        """The module of the events, which only streams need: its classes take longer to make than all others here."""
        from outspoken.results import events

        return events

    # text and reasoning

    def text(self, piece: str, start: int, end: int) -> None:
        """Add text for the user."""
        if start < 0:
            piece, start = piece[-start:], 0
        if not piece:
            return
        is_new = self.run_model is not Text or start != self._run_end
        if is_new:
            if self.run_model is not None or self.thoughts:
                self.flush()
            self.run_model, self._run_start = Text, start
            if self.separates:
                self.begins.add(start)
        self._run.append(piece)
        self._run_end = self.consumed = end
        self.after_text = True
        if self.events is not None:
            models, begins = self.models, is_new and self.separates
            fields = {"text": piece, "start": start, "end": end, "exact": False, "begins": begins}
            self.events.append(models.event_of(models.PlacedText, fields))

    def reasoning(self, piece: str, start: int, end: int) -> None:
        """Add reasoning."""
        if start < 0:
            piece, start = piece[-start:], 0
        if not piece:
            return
        if self.run_model is not Reasoning:
            self.flush()
            self.run_model, self._run_start = Reasoning, start
        elif start > self._run_end:  # tags within it belong to it
            piece = self._slice(self._run_end, start) + piece
        self._run.append(piece)
        self._run_end = self.consumed = end
        if self.events is not None:
            self.events.append(self.models.ReasoningDelta(piece))

    def show(self, end: int) -> None:
        """Make everything between `consumed` and an offset text, apart from white space behind markup."""
        start = max(self.consumed, 0)
        if self._text_end == self.consumed:
            self.after_text = True  # the markup since then is text, too
        if start >= end:
            return
        piece = self._slice(start, end)
        if not self.after_text and self._trims:
            start = end - len(piece := piece.lstrip())
        self.text(piece, start, end)

    def _slice(self, start: int, end: int) -> str:
        source = self._source
        return source[start:end] if isinstance(source, str) else source.slice(start, end)

    def flush(self, status: Status = "ok") -> None:
        """End the open run of text or reasoning, and add it to the segments."""
        model = self.run_model
        if model is not None:
            values: dict[str, Any] = {
                "kind": "text" if model is Text else "reasoning",
                "text": "".join(self._run),
                "span": (self._run_start, self._run_end),
            }
            if model is Reasoning:
                values["status"] = status
                if self.events is not None:
                    self.events.append(self.models.ReasoningEnd())
            self.segments.append(construct(model, values))
            self._run = []
            self.run_model = None
        if self.thoughts:
            self._add_thoughts()

    def _add_thoughts(self) -> None:
        for thought in self.thoughts:
            self.segments.append(thought)
            self.consumed, self.after_text = max(self.consumed, thought.span[1]), False
            if self.events is not None:
                self.events += [self.models.ReasoningDelta(thought.text), self.models.ReasoningEnd()]
        self.thoughts = []

    def drop_thoughts(self, start: int) -> None:
        """Forget the reasoning of an object that is read again from an offset on; what stands before it is complete."""
        self.thoughts = [thought for thought in self.thoughts if thought.span[1] <= start]
        if self.thoughts:
            self.flush()

    def reopen_text(self) -> None:
        """Let text that was flushed last go on."""
        if self.segments and type(self.segments[-1]) is Text and self.run_model is None:
            last = self.segments.pop()
            self.run_model, self._run = Text, [last.text]
            self._run_start, self._run_end = last.span

    def extend(self, segments: list[Any]) -> None:
        """Add segments of a fork. Text at their beginning continues the open run of text."""
        for number, segment in enumerate(segments):
            if type(segment) is Text and self.run_model in (Text, None):
                if self._run and (number or self._run_end != segment.span[0]):
                    self.flush()
                if not self._run:
                    self.run_model, self._run_start = Text, segment.span[0]
                self._run.append(segment.text)
                self._run_end = segment.span[1]
            else:
                self.flush()
                self.segments.append(segment)

    @property
    def first_start(self) -> int | None:
        """Where the first segment starts; None if there is none yet."""
        if self.segments:
            return self.segments[0].span[0]
        return self._run_start if self.run_model is not None else None

    @property
    def open_length(self) -> int:
        """The length of the text or reasoning that is still open."""
        return len("".join(self._run))

    def open_segment(self, pieces: int | None = None) -> Text | Reasoning | None:
        """The text or reasoning that is still open, with no more than some `pieces` of it; None if there is none."""
        model = self.run_model
        if model is None:
            return None
        kind = "text" if model is Text else "reasoning"
        values = {"kind": kind, "text": "".join(self._run[:pieces]), "span": (self._run_start, self._run_end)}
        return construct(model, values)

    # events

    def send_text(self, text: str, span: tuple[int, int], *, exact: bool = False) -> None:
        """Add the event of text that is no run, if the caller wants it; `exact` is that of `PlacedText`."""
        if self.events is not None:
            self.events.append(self.models.PlacedText(text, *span, exact))

    def send(self, *events: Event) -> None:
        """Add events, if the caller wants them."""
        if self.events is not None:
            self.events += events

    # position

    def end_node(self, start: int, end: int) -> None:
        """A node between two offsets was read."""
        self.consumed, self.after_text, self.node_start = end, False, start

    def after_markup(self) -> None:
        """Markup was read that belongs to no node: white space behind it belongs to it, if text follows."""
        if self.after_text:
            self.after_text, self._text_end = False, self.consumed

    # forks

    def continue_from(self, other: Output, start: int) -> None:
        """Collect what stands from an offset on, and go on counting the calls and actions of another output."""
        self.call_count, self.action_count = other.call_count, other.action_count
        self.consumed = start

    def absorb(self, other: Output) -> None:
        """Take over all that a fork read, apart from its events."""
        other.flush()
        last = self.segments[-1].span[1] if self.segments else 0
        self.extend(other.segments)
        self.begins |= other.begins
        if any(segment.span[0] < last for segment in other.segments):  # content of an envelope that was read before
            self.flush()
            self.segments.sort(key=lambda segment: segment.span[0])
        self.outcome.absorb(other.outcome)
        self.call_count, self.action_count = other.call_count, other.action_count
        self.consumed, self.after_text = other.consumed, other.after_text
        if other.segments and not other.after_text:
            self.flush()  # an answer, which the text behind it does not continue

    @property
    def position(self) -> tuple[int, bool, int, int, int]:
        """How far the text was read: the fields that are no lists."""
        return self.consumed, self.after_text, self.node_start, self.call_count, self.action_count

    @position.setter
    def position(self, position: tuple[int, bool, int, int, int]) -> None:
        self.consumed, self.after_text, self.node_start, self.call_count, self.action_count = position

    @property
    def is_empty(self) -> bool:
        """Was nothing read but markup?"""
        return not (self.segments or self.thoughts or self._run or self.events)
