"""Calls that answer the user: what an agent says at last in the form of a call is text, and is sent while it comes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outspoken.json.partial_string import PartialAnswer
from outspoken.results.construct import construct
from outspoken.results.events import TextDelta
from outspoken.results.replies import JsonValue, Reasoning, Status, Text

from .call_builder import CallBuilder
from .open_node import Frame

if TYPE_CHECKING:
    from outspoken.engine.batched_matching import Island

#: an escape; its group is half a pair of surrogates without the other half
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)


@lru_cache(maxsize=64)
def _in_lower_case(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset([name.lower() for name in names])


class AnswerBuilder(CallBuilder):
    """The part of the builder that makes text of calls that a format's header names as `answer`.

    The input of such a call is the answer: a string is text, anything else is a JSON value. From its first character on
    a string is announced, as a call is: it is complete, or a diagnostic says that it is cut.
    """

    def is_answer(self, frame: Frame) -> bool:
        """Is what is being read the call that answers the user?"""
        names = self.header.answer
        return bool(names) and frame.name is not None and frame.name.strip().lower() in _in_lower_case(names)

    def announce(self, frame: Frame, *, ended: bool = False) -> None:
        """Say that a call has begun; an answer is none."""
        if not (self.header.answer and self.is_answer(frame)):
            super().announce(frame, ended=ended)

    # its input

    def begin_value(self, island: Island) -> None:
        """The value of an argument begins, of which a part has come. An answer goes on over bare line breaks."""
        frame = self.frames[-1] if self.header.answer and self.frames else None
        if frame is not None and self.is_answer(frame) and frame.typed is None:
            self._begin_answer(frame, island.begun)
            if not island.scanner.transcodes:
                island.scanner.lenient = True

    def _begin_answer(self, frame: Frame, start: int, *, is_bare: bool = False) -> None:
        frame.typed = PartialAnswer(start, is_bare=is_bare)
        frame.index = self.calls

    def value(self, piece: str, start: int, end: int) -> None:
        """More of an argument's bare text."""
        frame = self.frames[-1]
        if self.header.answer and self.is_answer(frame):
            if frame.typed is None:
                self._begin_answer(frame, start, is_bare=True)
                frame.content_span = (start, end)
            frame.content_span = (frame.content_span[0], end)
        super().value(piece, start, end)

    def field_argument(self, arg: str, m: Any, g: int, base: int) -> None:
        """An argument is complete; where an answer's is no bare text, it stands here."""
        frame = self.frames[-1]
        if self.header.answer and frame.bare is None:
            frame.content_span = (base + m.start(g), base + m.end(g))
        super().field_argument(arg, m, g, base)
        if self.header.answer and self.is_answer(frame):
            self._send_answer(frame)

    def field_arguments(self, arg: str, m: Any, g: int, base: int) -> None:
        """The arguments as a whole, which stand here."""
        if self.header.answer:
            self.frames[-1].content_span = (base + m.start(g), base + m.end(g))
        super().field_arguments(arg, m, g, base)

    def field_tool_name(self, arg: str, m: Any, g: int, base: int) -> None:
        """The name of the tool, as a string: an answer that stood before it can be sent."""
        super().field_tool_name(arg, m, g, base)
        frame = self.frames[-1]
        if frame.arguments and self.header.answer and self.is_answer(frame):
            self._send_answer(frame)

    def _said(self, frame: Frame) -> Any:
        """The input of an answer: the only argument, which has no name, or all of them."""
        arguments: Any = frame.arguments
        return arguments["$1"] if arguments is not None and list(arguments) == ["$1"] else arguments

    def _send_answer(self, frame: Frame) -> None:
        """Send what was not sent yet of the text of an answer."""
        said = self._said(frame)
        if not isinstance(said, str):
            return
        if frame.typed is None:
            self._begin_answer(frame, frame.content_span[0])
        typed: Any = frame.typed
        rest = said[len(typed.sent) :]
        if rest:
            typed.complete(said)
            self._say(typed.event(self.acted, rest))

    def _say(self, event: Any) -> None:
        if self.events is not None:
            self.flush()
            self.events.append(event)

    def begins(self) -> int | None:
        """Where the first segment begins, be it an answer that is still coming."""
        found = super().begins()
        coming = (f.typed.begun for f in self.frames if isinstance(f.typed, PartialAnswer) and f.typed.has_sent)
        return found if found is not None else next(coming, None)

    # its end

    def end_tool_call(self, arg: str, m: Any, g: int, base: int) -> None:
        """A call is complete: an answer becomes text, or a JSON value."""
        frame = self.frames[-1]
        if not (self.header.answer and self.is_answer(frame)) or frame.problem or self.doubt:
            super().end_tool_call(arg, m, g, base)
            return
        self.frames.pop()
        self._answer(frame, self._said(frame))
        self.take_repairs()
        self.settle(frame, base + m.end(g))

    def _answer(self, frame: Frame, said: Any) -> None:
        """Put an answer among the segments."""
        self.flush()
        self.answered = True
        start, end = frame.content_span
        if isinstance(said, str):
            if said:
                self.segments.append(construct(Text, {"kind": "text", "text": said, "span": (start, end)}))
            if not (isinstance(frame.typed, PartialAnswer) and frame.typed.is_bare):
                self._note_lone((start, end))
        elif said not in (None, {}):
            raw = self.slice(start, end)
            self.segments.append(
                construct(JsonValue, {"kind": "json", "value": said, "raw": raw, "span": (start, end)})
            )
            self._say(TextDelta(raw))

    def _note_lone(self, span: tuple[int, int]) -> None:
        """Say of an escape that is half a character that it was replaced."""
        raw = self.slice(*span)
        lone = next((m for m in _ESCAPE.finditer(raw) if m[1]), None) if "\\" in raw else None
        if lone is not None:
            place = (span[0] + lone.start(), span[0] + lone.end())
            message = f"`{lone[0]}` is half a character, and is read as U+FFFD"
            self.note("lone-surrogate", message, place, "warning")

    def unfinished_answer(self, frame: Frame, end: int, status: Status) -> None:
        """An answer never ended (`truncated`) or cannot be read (`invalid`): what came of it stands."""
        typed = frame.typed if isinstance(frame.typed, PartialAnswer) else PartialAnswer(frame.start)
        self.flush()
        self.worsen(status)
        self.take_repairs()
        held = typed.held
        if typed.has_sent:
            self.answered = True
            span = frame.content_span if frame.content_span[1] else (typed.begun, end - len(held))
            self.segments.append(construct(Text, {"kind": "text", "text": typed.sent, "span": span}))
        if held and status == "truncated":
            message = f"the text ends inside the escape `{held}`, which is left out"
            self.note("truncated-escape", message, (end - len(held), end))
        span = (max(frame.start, 0), end)
        if status == "truncated":
            label = "opened here, and the text ends inside it"
            self.note("unclosed-answer", "the answer never ends", span, label=label)
        else:
            self.note("invalid-answer", "the rest of the answer cannot be read", span)
        self.settle(frame, end)

    def cut(self, end: int) -> None:
        """The text ends inside something; an answer of which nothing has come yet is no text."""
        for frame in self.frames if self.header.answer else ():
            if frame.index < 0 and self.is_answer(frame):
                frame.index = self.calls
        super().cut(end)

    def end_answer(self, arg: str, m: Any, g: int, base: int) -> None:
        """Text is complete that is the answer to the user."""
        frame, end = self.frames.pop(), base + m.end(g)
        self.flush()
        self.answered = True
        self.settle(frame, end)
        self.after_text = True

    # what is not the model's to say

    def end_invented(self, arg: str, m: Any, g: int, base: int) -> None:
        """What the model says in the place of its tools is complete: it is reasoning, and nothing that happened."""
        frame, end = self.frames.pop(), base + m.end(g)
        said = self._run_model is Reasoning
        self.flush()
        message = "the model says itself what a tool would answer; this is reasoning, and nothing that happened"
        if said:
            self.note("invented-result", message, (frame.start, end), "warning")
        self.settle(frame, end)
