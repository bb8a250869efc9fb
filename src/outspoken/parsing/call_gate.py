"""Holds the events of a call that may only be said (`semantics.said`) until that is decided."""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections import deque
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outspoken.results.events import (
    Event,
    PlacedCallStart,
    PlacedText,
    ReasoningDelta,
    ReasoningEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
)
from outspoken.results.replies import Reasoning
from outspoken.semantics.said import Doubt, Surroundings
from outspoken.semantics.settle import in_reasoning

if TYPE_CHECKING:
    from .response_reader import ResponseReader


#: So many pieces of text behind a call tell how it begins.
_FEW = 8


def _start_of(segment: Any) -> int:
    return segment.span[0]


class CallGate:
    """Passes the events of one response on. From a call in doubt on, it holds them until the call is decided.

    A call that was only said leaves as the text or the reasoning that it is, and later calls are counted without it.
    """

    def __init__(self, reader: ResponseReader) -> None:
        self._reader = reader
        self._held: deque[Event] = deque()
        self._doubt: Doubt | None = None
        #: the numbers of the calls that are left out, in order
        self._left_out: list[int] = []
        #: where the text that was passed on last ends, and whether that is the text of a call
        self._text_end = 0
        self._ends_in_call = False
        #: where the closing tag ends of the last reasoning that went on behind a call
        self._closed_at = -sys.maxsize

    def take(self, events: list[Event], *, final: bool = False) -> list[Event]:
        """The events that can be passed on, of those that are held and some new ones."""
        if not self._held and not self._left_out and len(events) == 1 and type(events[0]) is ToolCallDelta:
            return events  # as most are
        self._held += events
        made: list[Event] = []
        while self._held and self._step(made, final=final):
            pass
        return made

    def end(self, length: int) -> list[Event]:
        """The rest of the text of a response of this length."""
        made: list[Event] = []
        if self._ends_in_call:
            self._pass_text(self._text_end, len(self._reader.read_raw(0, length).rstrip()), made)
        return made

    @cached_property
    def _surroundings(self) -> Surroundings:
        return self._reader.surroundings()

    # one event

    def _step(self, made: list[Event], *, final: bool) -> bool:
        """Pass the first of the held events on, or decide what it begins. Returns whether there may be more to do."""
        event = self._held[0]
        if type(event) is ReasoningEnd and self._may_be_cut():
            if len(self._held) == 1 and not final:
                return False  # a call may follow
            event = self._held[1] if len(self._held) > 1 else event
        if type(event) is PlacedCallStart and event.start < self._closed_at:
            insort(self._left_out, event.index)
        elif type(event) is PlacedCallStart:
            return self._step_call(event, made, final=final)
        self._pass(self._held.popleft(), made)
        return True

    def _may_be_cut(self) -> bool:
        """May reasoning have ended without its closing tag?"""
        last = next((s for s in reversed(self._reader.segments) if type(s) is Reasoning), None)
        return last is not None and self._surroundings.may_be_cut(last, self._reader.length)

    def _step_call(self, start: PlacedCallStart, made: list[Event], *, final: bool) -> bool:
        """Decide on a call, and pass on what it turns out to be. Returns whether it was decided."""
        segments = self._reader.segments
        if self._doubt is None:
            count = bisect_left(segments, start.start, key=_start_of)
            open = self._reader.open_segment() if count == len(segments) else None
            open = None if open is not None and open.span[0] >= start.start else open
            self._doubt = self._surroundings.doubt_of(segments, count, start.start, open)
        doubt, is_end = self._doubt, (ToolCallEnd, ToolCallUnfinished)
        ending = next((e for e in self._held if isinstance(e, is_end) and e.index == start.index), None)
        if doubt is not None and ending is None and not final:
            return False
        if doubt is not None and isinstance(ending, ToolCallEnd):
            end = ending.call.span[1]
            after = self._behind_offset(segments, max(end, doubt.looked_to))
            verdict = doubt.decide(end, after, self._reader.read_raw, self._reader.length, final=final)
            if verdict is None:
                return False
            self._doubt = None
            if doubt.closed_by is not None:
                self._pass_thought(doubt.thought_start, doubt.closed_by, made, said=verdict == "said")
                return True
            if verdict == "said":
                self._pass_quoted(start, ending, doubt, made)
                return True
        self._doubt = None
        while True:  # the call was made: the events that belong to it are passed on as they come
            event = self._held.popleft()
            self._pass(event, made)
            if event is start:
                return True

    def _behind_offset(self, segments: list[Any], start: int) -> list[Any]:
        """The segments from an offset on, and the one that is still open, of which some pieces are enough."""
        open = self._reader.open_segment(_FEW)
        behind = segments[bisect_left(segments, start, key=_start_of) :]
        return behind if open is None or open.span[0] < start else [*behind, open]

    # passing on

    def _pass(self, event: Event, made: list[Event]) -> None:
        """Pass an event on, unless it belongs to a call that is left out."""
        if isinstance(event, PlacedText):
            event = self._behind(event, self._closed_at)
            if event.end <= self._closed_at or not event.text:
                return
            if self._ends_in_call:
                self._pass_text(self._text_end, event.start, made)
            self._text_end = event.end
        elif isinstance(event, ToolCallStart | ToolCallDelta | ToolCallEnd | ToolCallUnfinished):
            place = bisect_left(self._left_out, event.index)
            if place < len(self._left_out) and self._left_out[place] == event.index:
                if isinstance(event, ToolCallEnd | ToolCallUnfinished) and event.call.span[0] < self._closed_at:
                    self._pass_rest(event.call.span[1], made)
                return
            if type(event) is PlacedCallStart:
                event = ToolCallStart(event.index - place, event.id, event.name)
            elif place:
                event = replace(event, index=event.index - place)
        self._ends_in_call = False
        made.append(event)

    def _pass_text(self, start: int, end: int, made: list[Event]) -> None:
        """Pass on a part of the response as text."""
        if end > start:
            made.append(PlacedText(self._reader.read_raw(start, end), start, end))
            self._text_end = end

    def _pass_rest(self, end: int, made: list[Event]) -> None:
        """Pass on what stands behind reasoning, up to the end of a call that began in it."""
        start = max(self._closed_at, self._text_end)
        if end > start:
            text = self._reader.read_raw(start, end).lstrip()
            self._pass_text(end - len(text), end, made)

    def _pass_quoted(self, start: PlacedCallStart, ending: ToolCallEnd, doubt: Doubt, made: list[Event]) -> None:
        """The call is quoted: pass it on as text."""
        while self._held[0] is not start:
            self._pass(self._held.popleft(), made)
        self._held.popleft()
        insort(self._left_out, start.index)
        first = self._text_end if self._ends_in_call else max(doubt.text_start, self._text_end)
        self._pass_text(first, ending.call.span[1], made)
        self._ends_in_call = True

    def _pass_thought(self, begun: int, closer: tuple[int, int], made: list[Event], *, said: bool) -> None:
        """Reasoning goes on behind a call up to its closing tag. Unless the call was `said` there, it was made."""
        held, self._held = self._held, deque[Event]()
        if said:
            segments = self._reader.segments
            cut = next((s for s in reversed(segments) if type(s) is Reasoning and s.span[0] == begun), None)
            rest = self._reader.read_raw(begun if cut is None else cut.span[1], closer[0]).rstrip()
            rest = rest.lstrip() if cut is None else rest
            made += [ReasoningDelta(rest), ReasoningEnd()] if rest else [ReasoningEnd()]
            self._surroundings.skip_to(closer[1])
            self._closed_at = closer[1]
            if type(held[0]) is ReasoningEnd:
                held.popleft()
        thoughts: list[str] = []
        for event in held:
            if isinstance(event, PlacedText):
                if not said:
                    thoughts.append(self._reader.read_raw(event.start, min(event.end, closer[0])))
                elif event.end > closer[1]:
                    self._held.append(self._behind(event, closer[1]))
            elif isinstance(event, PlacedCallStart) and said and event.start < closer[1]:
                insort(self._left_out, event.index)
            elif isinstance(event, ToolCallEnd) and not said:
                call = in_reasoning(event.call, self._reader.exact)
                ended = ToolCallUnfinished if call.status == "invalid" else ToolCallEnd
                self._held.append(ended(event.index, call))
            else:
                self._held.append(event)
        if text := "".join(thoughts).strip():
            self._held += [ReasoningDelta(text), ReasoningEnd()]
        if not said:
            self._pass_all(made)

    def _behind(self, event: PlacedText, start: int) -> PlacedText:
        """The text of an event from an offset on; white space before it belongs to the closing tag."""
        if event.start >= start:
            return event
        text = self._reader.read_raw(start, event.end).lstrip()
        return PlacedText(text, event.end - len(text), event.end)

    def _pass_all(self, made: list[Event]) -> None:
        while self._held:
            self._pass(self._held.popleft(), made)
