"""From what the machine reads to typed segments and events: what the vocabulary of rule names means.

The machine calls the free-text methods (`text`, `reasoning`, `value`, `code`) with a piece and its place. Operations
are called as `operation(builder, arg, m, g, base)`, where group `g` of the match `m` is the token they speak of and
`base` is the offset of the match's text in the raw text. Spans and places are offsets into the raw text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from outspoken.grammar.header import Header
from outspoken.json.scanner import NotJsonError, decode
from outspoken.notations.schema import ANY, SchemaView
from outspoken.notations.tools import Tools
from outspoken.results.construct import construct
from outspoken.results.events import Event, PayloadParsed, TextDelta, ToolCallDelta, ToolCallStart, ToolCallUnfinished
from outspoken.results.replies import JsonValue, Payload, Reasoning, Status, Text, ToolCall
from outspoken.results.settings import Settings

from .open_node import Frame
from .text_builder import ProseBuilder

if TYPE_CHECKING:
    from outspoken.actions.mapping import Mapping


#: What may stand between the last thing that was read and the end of a text without saying anything.
_CLOSERS = " \t\r\n]},"


@lru_cache(maxsize=1)
def _mapping_of() -> Any:
    """What few formats need, and costs time to import."""
    from outspoken.actions.mapping import mapping_of

    return mapping_of


def actions_of(header: Header) -> Mapping | None:
    """What the format's words for actions mean."""
    return _mapping_of()(header)


class Builder(ProseBuilder):
    """Collects segments, and events where they are asked for."""

    header: Header
    tools: Tools | None
    settings: Settings
    calls: int = 0
    #: how many actions there were, and what the format's words for them mean, where it has any
    acted: int = 0
    acts: Mapping | None = None
    envelope = False
    envelope_content: str | None = None
    more: bool | None = None
    #: a call was the answer to the user
    answered = False
    #: the island that was read last: its value and its text
    last: Any = None
    last_text = ""

    def __init__(self, header: Header, tools: Tools | None, settings: Settings, events: list[Event] | None) -> None:
        super().__init__()
        self.header = header
        self.tools = tools
        self.known = tools.names if tools is not None else None
        self.settings = settings
        self.events = events
        self.frames: list[Frame] = []
        if header.actions:
            self.acts = actions_of(header)

    def forget(self) -> None:
        """What ended in the prompt is no part of the response."""
        ended = sum([type(s) is ToolCall for s in self.segments])
        self.segments.clear()
        self.notes.clear()
        self.status = "ok"
        self.envelope, self.envelope_content, self.more, self.answered = False, None, None, False
        self.calls -= ended
        for frame in self.frames:
            frame.index -= ended if frame.index >= 0 else 0
        events: Any = self.events or []
        last = max([i for i, e in enumerate(events) if type(e) not in (ToolCallStart, ToolCallDelta)], default=-1)
        del events[: last + 1]
        for event in events:
            event.index -= ended

    # operations: frames

    def begin(self, arg: str, m: Any, g: int, base: int) -> None:
        """Something begins that may become one of the frames that `arg` names."""
        frame = Frame()
        frame.kinds = arg
        frame.start = base + m.start(g)
        self.frames.append(frame)
        if arg == "answer":
            self.after_text = False

    def drop(self, arg: str, m: Any, g: int, base: int) -> None:
        """What began was only structure."""
        self.frames.pop()
        self.after_text = False

    def reopen(self, arg: str, m: Any, g: int, base: int) -> None:
        """What just ended is the first part of something larger, which began at the same place."""
        frame = Frame()
        frame.kinds = arg
        frame.start = self._ended_at
        self.frames.append(frame)

    def end_think(self, arg: str, m: Any, g: int, base: int) -> None:
        """A block of reasoning is complete: free text, or the text of a JSON string."""
        frame = self.frames.pop()
        if frame.content is None:
            self.flush()
            self.settle(frame, base + m.end(g))
        elif frame.content:
            values = {"kind": "reasoning", "text": frame.content, "span": frame.content_span, "status": "ok"}
            self._thoughts.append(construct(Reasoning, values))

    def end_code(self, arg: str, m: Any, g: int, base: int) -> None:
        """A code sample is complete."""
        self.show(base + m.end(g))
        self._ended_at = self.frames.pop().start

    def end_json(self, arg: str, m: Any, g: int, base: int) -> None:
        """A JSON value is complete that is nothing the format knows. It is shown as it was written."""
        frame, end = self.frames.pop(), base + m.end(g)
        raw = self.slice(frame.start, end)
        try:
            value = decode(raw, self.settings.max_depth)
        except NotJsonError:
            self.show(end)
            return
        self.show(frame.start)
        self.flush()
        self.segments.append(
            construct(JsonValue, {"kind": "json", "value": value, "raw": raw, "span": (frame.start, end)})
        )
        if self.events is not None:
            self.events.append(TextDelta(raw))
        self.settle(frame, end)
        self.after_text = True

    def end_envelope(self, arg: str, m: Any, g: int, base: int) -> None:
        """An object that holds the whole answer is complete."""
        frame, end = self.frames.pop(), base + m.end(g)
        self.envelope = True
        self.more = frame.more if frame.more is not None else self.more
        if frame.content is not None:
            self.envelope_content = (self.envelope_content or "") + frame.content
        if frame.content:
            self.flush()
            made = construct(Text, {"kind": "text", "text": frame.content, "span": frame.content_span})
            place = len(self.segments)
            while place and self.segments[place - 1].span[0] > frame.content_span[0]:
                place -= 1
            self.segments.insert(place, made)
            if self.events is not None:
                self.events.append(TextDelta(frame.content))
        self.settle(frame, end)

    def end_unread(self, arg: str, m: Any, g: int, base: int) -> None:
        """Something is complete that the format has a place for, but that says nothing. It is left out."""
        frame, end = self.frames.pop(), base + m.end(g)
        message = "this has no place in a call, or stands where one did already; it is left out"
        self.note("unread-entry", message, (frame.start, end), "warning")
        self._ended_at = frame.start
        if not self.frames:
            self.settle(frame, end)

    def end_mention(self, arg: str, m: Any, g: int, base: int) -> None:
        """The marker of a payload is text where no payload follows it."""
        frame, end = self.frames.pop(), base + m.end(g)
        self.show(end)
        label = "a bracket should follow"
        self.note(
            "missing-payload", "there is no payload behind this marker", (frame.start, end), "warning", label=label
        )
        self._ended_at = frame.start

    def end_payload(self, arg: str, m: Any, g: int, base: int) -> None:
        """A marker payload is complete."""
        self.flush()
        frame, end = self.frames.pop(), base + m.end(g)
        name, span = self.header.payload(frame.name or ""), (frame.start, end)
        data = self.last if frame.bare is None else "".join(frame.bare)
        repairs = self.take_repairs() if self.edits else ()
        status = "repaired" if repairs else "ok"
        values = {"kind": "payload", "type": name, "data": data, "status": status, "span": span}
        payload = construct(Payload, {**values, "repairs": repairs})
        self.segments.append(payload)
        if self.events is not None:
            self.events.append(PayloadParsed(payload))
        self.settle(frame, end)

    def end_call_id(self, arg: str, m: Any, g: int, base: int) -> None:
        """The id of a call is the text that the rule spans; what was read inside belongs to the call."""
        frame = self.frames.pop()
        call = self.frames[-1]
        call.id = self.slice(frame.start, base + m.end(g))
        call.name = frame.name or call.name

    def markup(self, arg: str, m: Any, g: int, base: int) -> None:
        """A marker stood in text that belongs to nothing else, as one that ends a turn."""
        self.after_text = False

    # operations: fields and tokens

    def island(self, arg: str, m: Any, g: int, base: int) -> None:
        """A string without escapes, read as part of a step."""
        self.last_text = text = m[g]
        self.last = text[1:-1]

    def name(self, arg: str, m: Any, g: int, base: int) -> None:
        """The name of the call, action or payload."""
        self.frames[-1].name = m[g]

    def field_odd(self, arg: str, m: Any, g: int, base: int) -> None:
        """Markup is read that is not quite as the format writes it."""
        span = (self.frames[-1].start, base + m.end(g))
        self.note("odd-marker", "the marker is not written as it should be, and was read anyway", span, "warning")

    def field_content(self, arg: str, m: Any, g: int, base: int) -> None:
        """The text of an envelope."""
        if isinstance(self.last, str):
            frame = self.frames[-1]
            frame.content = self.last
            frame.content_span = (base + m.start(g), base + m.end(g))

    def field_needs_more_work(self, arg: str, m: Any, g: int, base: int) -> None:
        """Does the model want another turn?"""
        if isinstance(self.last, bool):
            self.frames[-1].more = self.last

    # ends that are none

    def cut(self, end: int) -> None:
        """The text ends inside something: say so, and keep what was read of it."""
        frames, self.frames = self.frames, []
        if self._thoughts:
            self.flush()
        call = next((f for f in reversed(frames) if f.index >= 0 or (f.name and f.kinds == "tool_call")), None)
        call = call or next((f for f in frames if self.is_begun(f)), None)
        if call is not None:
            self.unfinished(call, end, "truncated")
            return
        self.edits.clear()
        if frames and frames[0].kinds == "think":
            self.flush("truncated")
            self.worsen("truncated")
            label = "opened here, and the text ends inside it"
            span = (frames[0].start, end)
            self.note("unclosed-reasoning", "the reasoning is never closed", span, "warning", label=label)
            self.safe = end
        elif frames and frames[0].kinds == "code" and (self.after_text or self.safe <= frames[0].start):
            self.show(end)
        elif self.slice(max(self.safe, 0), end).strip(_CLOSERS):
            start = max(self.safe, 0)
            self.worsen("truncated")
            if frames and start > frames[0].start:
                self.note("unclosed-markup", "the text ends inside markup of which a part was read", (start, end))
            else:
                self.show(end)
                self.note("unclosed-markup", "the text ends inside markup, which is kept as text", (start, end))
        else:
            self.note("unclosed-section", "the text ends before the section of calls does", (end, end), "warning")

    def island_piece(self, role: str, text: str) -> None:
        """A piece of an island that is still being read."""

    def schema_view(self, role: str) -> SchemaView:
        """What the tool's schema says of an island that begins here."""
        return ANY

    def no_value(self) -> None:
        """A bare value has ended; it is the empty text if nothing stood there."""

    def complete_text(self, frame: Frame) -> None:
        """Add to a call's arguments what was read of an argument that never ended."""

    def is_begun(self, frame: Frame) -> bool:
        """Is this an action, or a call that may be one, of which an argument was begun?"""
        raise NotImplementedError

    def unfinished(self, frame: Frame, end: int, status: Status) -> None:
        """A call that never ended (`truncated`) or that cannot be read (`invalid`)."""
        self.flush()
        self.complete_text(frame)
        text = "".join(frame.parts or ())
        span = (max(frame.start, 0), end)
        self.worsen(status)
        values = {
            "kind": "tool_call",
            "name": frame.name or "",
            "arguments": self.known_arguments(frame, text),
            "arguments_text": text,
            "id": frame.id,
            "status": status,
            "span": span,
            "repairs": self.take_repairs() if self.edits else (),
        }
        call = construct(ToolCall, values)
        self.segments.append(call)
        name = frame.name or ""
        if status == "truncated":
            label = "opened here, and the text ends inside it"
            self.note("unclosed-call", f"the call of `{name}` never ends", span, label=label)
        else:
            message = frame.problem or f"the call of `{name}` cannot be read"
            self.note("invalid-call", message, span, helps=("the raw text is kept; nothing was guessed",))
        if self.events is not None:
            index = frame.index if frame.index >= 0 else self.calls
            self.events.append(ToolCallUnfinished(index, call))
        if frame.index < 0:
            self.calls += 1
        self.settle(frame, end)

    def known_arguments(self, frame: Frame, text: str) -> dict[str, Any]:
        """The arguments of a call that never ended, as far as they are complete."""
        found = frame.arguments
        if found is None and not frame.keyed and text[:1] == "{":
            from outspoken.json.repair import repair_region

            read = repair_region(text, 0, len(text), closed=False, repair_limit="notation", settings=self.settings)
            found = read[0].value if read else None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
