"""Holds the events of a call, action or payload that may only be said (`semantics.said`) until that is decided."""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outspoken.results.events import (
    IN_DOUBT,
    ActionParsed,
    ActionText,
    ActionUnfinished,
    Event,
    PayloadParsed,
    PayloadUnfinished,
    PlacedActionText,
    PlacedCallStart,
    PlacedText,
    ReasoningDelta,
    ReasoningEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
    event_of,
)
from outspoken.results.replies import Reasoning
from outspoken.semantics.doubt import Doubt
from outspoken.semantics.settle import name_of, refused_beside, weakened

if TYPE_CHECKING:
    from outspoken.results.events import HeldReason

    from .response_reader import ResponseReader


#: So many pieces of text behind a call tell how it begins.
_FEW = 8

_Calls = ToolCallStart | ToolCallDelta | ToolCallEnd | ToolCallUnfinished
_Actions = ActionText | ActionParsed | ActionUnfinished
_Payloads = PayloadParsed[Any] | PayloadUnfinished[Any]
_Begins = PlacedCallStart | PlacedActionText | ActionParsed | ActionUnfinished | _Payloads
_Finished = ToolCallEnd | ActionParsed | PayloadParsed[Any]
_Endings = ToolCallEnd | ToolCallUnfinished | ActionParsed | ActionUnfinished | _Payloads

#: The same for `isinstance`, which is faster with them.
_CALLS, _ACTIONS, _PAYLOADS = (
    (ToolCallStart, ToolCallDelta, ToolCallEnd, ToolCallUnfinished),
    (ActionText, ActionParsed, ActionUnfinished),
    (PayloadParsed, PayloadUnfinished),
)
_KINDS = ("tool_call", "action", "payload")
_MADE = (*_CALLS, *_ACTIONS, *_PAYLOADS)
_BEGINS = (PlacedCallStart, PlacedActionText, ActionParsed, ActionUnfinished, *_PAYLOADS)
_FINISHED = (ToolCallEnd, ActionParsed, PayloadParsed)
_ENDINGS = (ToolCallEnd, ToolCallUnfinished, ActionParsed, ActionUnfinished, *_PAYLOADS)
_ENDS = frozenset(_ENDINGS)
#: Events within a call, and at its end.
_WITHIN = (ToolCallDelta, ToolCallEnd, ToolCallUnfinished)


def _start_of(segment: Any) -> int:
    return segment.span[0]


def _made_by(event: _Endings) -> Any:
    """The call, action or payload that an event completes."""
    if isinstance(event, ToolCallEnd | ToolCallUnfinished):
        return event.call
    return event.action if isinstance(event, ActionParsed | ActionUnfinished) else event.payload


def _kind_of(event: _Calls | _Actions | _Payloads) -> int:
    """0 for the events of calls, 1 for those of actions, and 2 for those of payloads."""
    return 1 if isinstance(event, _ACTIONS) else 2 if isinstance(event, _PAYLOADS) else 0


def _index_of(event: _Calls | _Actions | _Payloads) -> int:
    """The number of a call or action; payloads are numbered by their places."""
    if isinstance(event, ActionParsed | ActionUnfinished):
        return event.action.order
    return event.payload.span[0] if isinstance(event, PayloadParsed | PayloadUnfinished) else event.index


def _begin_of(event: _Begins) -> int:
    """Where the call, action or payload begins of which an event is the first one."""
    begin: int = event.start if isinstance(event, PlacedCallStart | PlacedActionText) else _made_by(event).span[0]
    return begin


class CallGate:
    """Passes the events of one response on. From a call or action in doubt on, it holds them until that is decided.

    What was only said leaves as the text or the reasoning that it is, and later ones are counted without it.
    """

    _doubt: Doubt | None = None
    #: nothing is held, and nothing was left out
    is_idle = False
    #: the first held event begins a call or action in doubt that has not ended
    _waits_for_end = False
    #: the number of the action that is passed on
    _action = -1
    #: where the text that was passed on last ends, and whether that is the text of a call
    _text_end = 0
    _ends_in_call = False
    #: where the closing tag ends of the last reasoning that went on behind a call
    _closed_at = -sys.maxsize

    def __init__(self, reader: ResponseReader) -> None:
        self._reader = reader
        self._surroundings = reader.surroundings()
        self._held: deque[Event] = deque()
        #: the numbers of the calls that are left out, in order, those of the actions, and those of the payloads
        self._left_out: tuple[list[int], list[int], list[int]] = ([], [], [])

    def take(self, events: list[Event], *, final: bool = False) -> list[Event]:
        """The events that can be passed on, of those that are held and some new ones."""
        self._held += events
        if self._waits_for_end and not final and _ENDS.isdisjoint(map(type, events)):
            return []
        self._waits_for_end = False
        made: list[Event] = []
        while self._held and self._step(made, final=final):
            pass
        self.is_idle = not self._held and not any(self._left_out)
        return made

    def end(self, length: int) -> list[Event]:
        """The rest of the text of a response of this length."""
        made: list[Event] = []
        if self._ends_in_call:
            self._pass_text(self._text_end, len(self._reader.read_raw(0, length).rstrip()), made)
        return made

    @property
    def held(self) -> tuple[HeldReason, int] | None:
        """Why events are held, and from which offset of the response on; None if none are."""
        begin = next((event for event in self._held if isinstance(event, _BEGINS)), None)
        if begin is not None and self._doubt is not None:
            return "reasoning" if self._doubt.code == "thought-call" else "quotation", max(_begin_of(begin), 0)
        if self._held and isinstance(self._held[0], _FINISHED):  # the text of a link, perhaps
            return "quotation", max(_made_by(self._held[0]).span[0], 0)
        # reasoning that has ended, perhaps before a call
        return ("reasoning", self._reader.segments[-1].span[1]) if self._held else None

    # one event

    def _step(self, made: list[Event], *, final: bool) -> bool:
        """Pass the first of the held events on, or decide what it begins. Returns whether there may be more to do."""
        event = self._held[0]
        if isinstance(event, _FINISHED) and (refused := self._refused_beside(event, final=final)) != "":
            if refused is None:
                return False
            self._held[0] = event = self._refused(event)
        if type(event) not in IN_DOUBT:
            self._pass(self._held.popleft(), made)
            return True
        if type(event) is ReasoningEnd and self._may_be_cut():
            if len(self._held) == 1 and not final:
                return False  # a call may follow
            event = self._held[1] if len(self._held) > 1 else event
        if isinstance(event, _BEGINS) and not self._is_decided(event):
            if _begin_of(event) >= self._closed_at:
                return self._step_call(event, made, final=final)
            self._leave_out(event)
        self._pass(self._held.popleft(), made)
        return True

    def _refused_beside(self, event: _Finished, *, final: bool) -> str | None:
        """The code of what refuses a call for the text beside it, or "". None if more text is needed."""
        segments, call = self._reader.segments, _made_by(event)
        count = bisect_left(segments, call.span[0], key=_start_of)
        after, marks = self._behind_offset(segments, call.span[1]), (self._reader.exact, self._surroundings.ends)
        return refused_beside(self._reader.read_raw, segments, count, call, after, marks, final=final)

    def _is_decided(self, event: _Begins) -> bool:
        """Is an event another one of the action that is passed on, or left out?"""
        if not isinstance(event, _ACTIONS):
            return False
        index = _index_of(event)
        return index == self._action or index in self._left_out[1][-1:]

    def _leave_out(self, event: _Begins) -> None:
        """Pass nothing on of a call or action."""
        numbers = self._left_out[_kind_of(event)]
        if _index_of(event) not in numbers[-1:]:
            insort(numbers, _index_of(event))

    def _may_be_cut(self) -> bool:
        """May reasoning have ended without its closing tag?"""
        last = next((s for s in reversed(self._reader.segments) if type(s) is Reasoning), None)
        return last is not None and self._surroundings.may_be_cut(last, self._reader.length)

    def _step_call(self, begin: _Begins, made: list[Event], *, final: bool) -> bool:
        """Decide on a call or action, and pass on what it turns out to be. Returns whether it was decided."""
        segments, start = self._reader.segments, _begin_of(begin)
        if self._doubt is None:
            count = bisect_left(segments, start, key=_start_of)
            open = self._reader.open_segment() if count == len(segments) else None
            open = None if open is not None and open.span[0] >= start else open
            self._doubt = self._surroundings.doubt_of(segments, count, start, open, kind=_KINDS[_kind_of(begin)])
        first: Event = begin
        doubt = self._doubt
        ending = None if doubt is None else self._ending_of(begin)
        if doubt is not None and ending is None and not final:
            self._waits_for_end = self._held[0] is begin
            return False
        if doubt is not None and isinstance(ending, _FINISHED):
            call = _made_by(ending)
            after = self._behind_offset(segments, max(call.span[1], doubt.looked_to))
            verdict = doubt.decide(call, after, self._reader.read_raw, self._reader.length, final=final)
            if verdict is None:
                return False
            self._doubt = None
            if doubt.closed_by is not None:
                self._pass_thought(doubt.thought_start, doubt.closed_by, made, said=verdict == "said")
                return True
            if verdict == "said":
                self._pass_quoted(begin, ending, doubt, made)
                return True
            if doubt.weakness is not None:
                self._held[self._held.index(ending)] = weak = self._weakened(ending)
                first = weak if ending is begin else begin
        self._doubt = None
        while True:  # it was made: the events that belong to it are passed on as they come
            event = self._held.popleft()
            self._pass(event, made)
            if event is first:
                return True

    def _ending_of(self, begin: _Begins) -> _Endings | None:
        """The last event of the call or action that an event begins, if it has come."""
        held = (event for event in self._held if isinstance(event, _ENDINGS) and _kind_of(event) == _kind_of(begin))
        return next((event for event in held if _index_of(event) == _index_of(begin)), None)

    def _behind_offset(self, segments: list[Any], start: int) -> list[Any]:
        """The segments from an offset on, and the one that is still open, of which some pieces are enough."""
        open = self._reader.open_segment(_FEW)
        behind = segments[bisect_left(segments, start, key=_start_of) :]
        return behind if open is None or open.span[0] < start else [*behind, open]

    # passing on

    def _pass(self, event: Event, made: list[Event]) -> None:
        """Pass an event on, unless it belongs to a call or action that is left out."""
        if isinstance(event, PlacedText):
            event = self._behind(event, self._closed_at)
            if event.end <= self._closed_at or not event.text:
                return
            if self._ends_in_call:
                self._pass_text(self._text_end, event.start, made)
            self._text_end = event.end
        elif type(event) in _WITHIN and not self._left_out[0]:
            pass  # is sent as it is
        elif isinstance(event, _MADE):
            left_out, index = self._left_out[_kind_of(event)], _index_of(event)
            place = bisect_left(left_out, index)
            if place < len(left_out) and left_out[place] == index:
                if isinstance(event, _ENDINGS) and _made_by(event).span[0] < self._closed_at:
                    self._pass_rest(_made_by(event).span[1], made)
                return
            self._action = index if isinstance(event, _ACTIONS) else self._action
            event = event if isinstance(event, _PAYLOADS) else _renumbered(event, index - place)
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

    def _pass_quoted(self, begin: _Begins, ending: _Endings, doubt: Doubt, made: list[Event]) -> None:
        """The call or action is quoted: pass it on as text."""
        while self._held[0] is not begin:
            self._pass(self._held.popleft(), made)
        self._held.popleft()
        self._leave_out(begin)
        self._surroundings.leave_out(doubt, _made_by(ending).span[1])
        first = self._text_end if self._ends_in_call else max(doubt.text_start, self._text_end)
        self._pass_text(first, _made_by(ending).span[1], made)
        self._ends_in_call = True

    def _pass_thought(self, begun: int, closer: tuple[int, int], made: list[Event], *, said: bool) -> None:
        """Reasoning goes on behind a call up to its closing tag. Unless the call was `said` there, it was made."""
        held, self._held = self._held, deque()
        if said:
            segments = self._reader.segments
            cut = next((s for s in reversed(segments) if type(s) is Reasoning and s.span[0] == begun), None)
            rest = self._reader.read_raw(begun if cut is None else cut.span[1], closer[0]).rstrip()
            rest = rest.lstrip() if cut is None else rest
            made += [ReasoningDelta(rest), ReasoningEnd()] if rest else [ReasoningEnd()]
            self._surroundings.skip_to(closer[1])
            self._closed_at, self._ends_in_call = closer[1], False
            if type(held[0]) is ReasoningEnd:
                held.popleft()
            within = [s for s in segments if type(s) is Reasoning and begun < s.span[0] < closer[1]]
            held = _without_reasoning(held, len(within))  # their tags are a part of this one
        thoughts: list[str] = []
        for event in held:
            if isinstance(event, PlacedText):
                if not said:
                    thoughts.append(self._reader.read_raw(event.start, min(event.end, closer[0])))
                elif event.end > closer[1]:
                    self._held.append(self._behind(event, closer[1]))
            elif isinstance(event, _BEGINS) and said and _begin_of(event) < closer[1]:
                self._leave_out(event)
                self._held += [event] if isinstance(event, _ENDINGS) else []
            elif isinstance(event, _FINISHED) and not said:
                self._held.append(self._weakened(event))
            else:
                self._held.append(event)
        if text := "".join(thoughts).strip():
            self._held += [ReasoningDelta(text), ReasoningEnd()]
        if not said:
            self._pass_all(made)

    def _weakened(self, event: _Finished) -> _Endings:
        """The event of a call or action that was made in reasoning or in a fence."""
        call = _made_by(event)
        if name_of(call) in self._reader.exact:
            return self._refused(event)
        call = weakened(call, "repaired")
        return ToolCallEnd(event.index, call) if isinstance(event, ToolCallEnd) else type(event)(call)

    def _refused(self, event: _Finished) -> _Endings:
        call = weakened(_made_by(event), "invalid")
        if isinstance(event, ToolCallEnd):
            return ToolCallUnfinished(event.index, call)
        return ActionUnfinished(call) if isinstance(event, ActionParsed) else PayloadUnfinished(call)

    def _behind(self, event: PlacedText, start: int) -> PlacedText:
        """The text of an event from an offset on; white space before it belongs to the closing tag."""
        if event.start >= start:
            return event
        text = self._reader.read_raw(start, event.end).lstrip()
        return PlacedText(text, event.end - len(text), event.end)

    def _pass_all(self, made: list[Event]) -> None:
        while self._held:
            self._pass(self._held.popleft(), made)


def _without_reasoning(events: deque[Event], number: int) -> deque[Event]:
    """Events without those of so much reasoning, from the first one on."""
    kept = deque[Event]()
    for event in events:
        if number == 0 or not isinstance(event, ReasoningDelta | ReasoningEnd):
            kept.append(event)
        number -= number > 0 and type(event) is ReasoningEnd
    return kept


def _renumbered(event: _Calls | _Actions, index: int) -> Event:
    """The event that is sent, with another number: without the place of what it begins."""
    if type(event) is PlacedCallStart:
        return event_of(ToolCallStart, {"index": index, "id": event.id, "name": event.name})
    if type(event) is PlacedActionText:
        return ActionText(index, event.text)
    if index == _index_of(event):
        return event
    if isinstance(event, ActionParsed | ActionUnfinished):
        return type(event)(event.action.model_copy(update={"order": index}))
    return replace(event, index=index)
