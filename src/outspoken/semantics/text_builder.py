"""Text and reasoning: from pieces to segments, and their deltas."""

from __future__ import annotations

from typing import Any

from outspoken.results.construct import construct
from outspoken.results.events import Event, ReasoningDelta, ReasoningEnd, TextDelta
from outspoken.results.replies import Reasoning, Status, Text

from .open_node import Frame
from .recorder import Bookkeeper


class ProseBuilder(Bookkeeper):
    """The part of the builder that makes text and reasoning, and knows how much of the text belongs to something.

    `safe` is the offset up to which everything belongs to a segment or to markup; `after_text` says that what ended
    there was text, so that white space behind it is text, too.
    """

    events: list[Event] | None = None
    safe = 0
    after_text = True
    _run_model: Any = None
    _run_start = _run_end = _ended_at = 0

    def __init__(self) -> None:
        super().__init__()
        self.segments: list[Any] = []
        self._run: list[str] = []
        #: reasoning that was written as strings, of an object of which nothing else was read yet
        self._thoughts: list[Reasoning] = []

    def text(self, piece: str, start: int, end: int) -> None:
        """More text to show."""
        if start < 0:
            piece, start = piece[-start:], 0
        if not piece:
            return
        if self._run_model is not Text or start != self._run_end:
            self.flush()
            self._run_model, self._run_start = Text, start
        self._run.append(piece)
        self._run_end = self.safe = end
        self.after_text = True
        if self.events is not None:
            self.events.append(TextDelta(piece))

    def reasoning(self, piece: str, start: int, end: int) -> None:
        """More of what the model thinks."""
        if start < 0:
            piece, start = piece[-start:], 0
        if not piece:
            return
        if self._run_model is not Reasoning:
            self.flush()
            self._run_model, self._run_start = Reasoning, start
        self._run.append(piece)
        self._run_end = self.safe = end
        if self.events is not None:
            self.events.append(ReasoningDelta(piece))

    def code(self, piece: str, start: int, end: int) -> None:
        """More of a code sample, which is text together with its fence."""
        self.show(end)

    def show(self, end: int) -> None:
        """Everything from `safe` to `end` is text, but for white space behind markup."""
        start = max(self.safe, 0)
        if start >= end:
            return
        piece = self.slice(start, end)
        if not self.after_text and "text" in self.header.trim:
            start = end - len(piece := piece.lstrip())
        self.text(piece, start, end)

    def flush(self, status: Status = "ok") -> None:
        """End the run of text or reasoning that is being collected."""
        if self._run_model is None:
            self._think()
            return
        values: dict[str, Any] = {
            "kind": "text" if self._run_model is Text else "reasoning",
            "text": "".join(self._run),
            "span": (self._run_start, self._run_end),
        }
        if self._run_model is Reasoning:
            values["status"] = status
            if self.events is not None:
                self.events.append(ReasoningEnd())
        self.segments.append(construct(self._run_model, values))
        self._run = []
        self._run_model = None
        self._think()

    def _think(self) -> None:
        """What was thought in strings stands."""
        thoughts, self._thoughts = self._thoughts, []
        for thought in thoughts:
            self.segments.append(thought)
            self.safe, self.after_text = max(self.safe, thought.span[1]), False
            if self.events is not None:
                self.events += [ReasoningDelta(thought.text), ReasoningEnd()]

    def unthink(self) -> None:
        """What was thought in strings is read again, or is text."""
        self._thoughts.clear()

    def begins(self) -> int | None:
        """Where the first segment begins; None where there is none yet."""
        begun = self._run_start if self._run_model is not None else None
        return self.segments[0].span[0] if self.segments else begun

    def adopt(self, segments: list[Any]) -> None:
        """Take over segments that another builder made; text goes on with the text before it."""
        for segment in segments:
            if (
                type(segment) is Text
                and self._run_model in (Text, None)
                and (not self._run or self._run_end == segment.span[0])
            ):
                if not self._run:
                    self._run_model, self._run_start = Text, segment.span[0]
                self._run.append(segment.text)
                self._run_end = segment.span[1]
            else:
                self.flush()
                self.segments.append(segment)

    def settle(self, frame: Frame, end: int) -> None:
        """Everything up to `end` is read."""
        self.safe = end
        self.after_text = False
        self._ended_at = frame.start

    def dropped(self, end: int) -> None:
        """What stands before `end` was left out."""
        self.safe = max(self.safe, end)
