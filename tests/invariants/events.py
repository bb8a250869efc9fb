"""Invariants of the events of a stream: their order, and that they add up to the reply."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import outspoken
from outspoken.actions import ActionText
from outspoken.authoring.fuzz.checks import ViolationError, require
from outspoken.parsing import Repair, Segment
from outspoken.payloads import PayloadPreview


def check_segment(segment: Segment, reply: outspoken.Reply, raw: str) -> None:
    """A segment says what stands at its span, which is `raw`; text in an envelope, answers and reasoning may be JSON
    strings."""
    if isinstance(segment, (outspoken.Text, outspoken.Reasoning)):
        require(segment.text, "segments", f"an empty {segment.kind}")
        says = segment.text == raw or segment.text == _says(segment, reply) or _is_begun(segment, reply)
        says = says or _is_read_in_part(segment.text, raw)
        require(says, "segments", f"{segment.text!r} where {raw!r} stands")
    elif isinstance(segment, outspoken.ToolCall):
        if segment.status in FINISHED:
            # a lone surrogate that the model wrote as an escape is still one in the text, and no longer in the value
            value = json.dumps(json.loads(segment.arguments_text), ensure_ascii=False)
            value = json.loads(_LONE.sub("\ufffd", value))
            require(value == segment.arguments, "segments", f"{segment.arguments} of {segment.arguments_text}")
    elif not isinstance(segment, outspoken.Payload):
        require(segment.raw == raw, "segments", f"{segment.raw!r} where {raw!r} stands")


_LONE = re.compile("[\ud800-\udfff]")


def _is_read_in_part(text: str, raw: str) -> bool:
    """Is a text the beginning of a JSON string up to a quote or a backslash, and the raw text from there on?"""
    for match in re.finditer(r'["\\]', raw):
        with suppress(ValueError):
            if json.loads(f'"{raw[: match.start()]}"', strict=False) + raw[match.start() :] == text:
                return True
    return False


def _says(segment: Segment, reply: outspoken.Reply) -> Any:
    """What the JSON string at the place of a segment says, with the repairs made there; None if there is none."""
    try:
        value = json.loads(_repaired(segment, reply))
        return _LONE.sub("\ufffd", value) if isinstance(value, str) else value
    except ValueError:
        return None


def _repaired(segment: Segment, reply: outspoken.Reply) -> str:
    """The text at the place of a segment, with the repairs made in it."""
    start, end = segment.span
    inside = [repair for repair in reply.repairs if start <= repair.span[0] and repair.span[1] <= end]
    return with_repairs(reply.raw[:end], inside, start)


def with_repairs(text: str, repairs: Iterable[Repair], start: int = 0) -> str:
    """The text from `start` on with the repairs made in it."""
    parts: list[str] = []
    for repair in sorted(repairs, key=lambda repair: repair.span):
        parts += [text[start : repair.span[0]], repair.after]
        start = repair.span[1]
    return "".join([*parts, text[start:]])


#: the beginning of a JSON string up to the escape that it is cut in; half a pair of surrogates waits for the other
_UNCUT = re.compile(
    r"""\"(?:[^\\]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89abAB]..(?!(?:\\(?:u(?:[dD](?:[c-fC-F].?)?)?)?)?\Z)
    |\\u(?![dD][89abAB])....|\\[^u])*""",
    re.DOTALL | re.VERBOSE,
)


def _is_begun(segment: outspoken.Text | outspoken.Reasoning, reply: outspoken.Reply) -> bool:
    """Is it an answer that never ended, and all that stands of its JSON string up to where its last escape is cut?

    Or one that cannot be read, and what such a string begins with?
    """
    found = {d.code for d in reply.diagnostics if d.span[0] <= segment.span[0] and segment.span[1] <= d.span[1]}
    mended = _repaired(segment, reply)
    if not found & {"unclosed-answer", "invalid-answer"} or not mended.startswith('"'):
        return False
    if "unclosed-answer" in found:
        whole = _UNCUT.match(mended)
        return whole is not None and _string(whole[0]) == segment.text
    return any(_string(mended[:end]) == segment.text for end in range(1, len(mended) + 1))


def _string(begun: str) -> str | None:
    """What a JSON string or its beginning says, over line breaks, too; None if it is none."""
    for end in ("", '"'):
        with suppress(ValueError):
            return _LONE.sub("\ufffd", json.loads(begun + end, strict=False))
    return None


# invariants of the events of a stream: their order, and that they add up to the reply


FINISHED = ("ok", "repaired")


class EventChecker:
    """Collects the events of a stream and checks their order."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.blocks: list[str] = []
        self.names: list[str] = []
        self.arguments: list[list[str]] = []
        self.calls: list[outspoken.ToolCall] = []
        self.others: list[Any] = []
        self.actions = 0
        self.typed: list[str] = []

    def receive(self, event: outspoken.Event) -> None:
        """Add an event. Raises ViolationError if it may not come here."""
        match event:
            case outspoken.TextDelta():
                self.text.append(event.text)
            case outspoken.ReasoningDelta():
                require(event.text, "events", "a delta without text")
                self.reasoning.append(event.text)
            case outspoken.ReasoningEnd():
                require(self.reasoning, "events", f"{event} without reasoning")
                self.blocks.append("".join(self.reasoning))
                self.reasoning = []
            case (
                outspoken.ToolCallStart()
                | outspoken.ToolCallDelta()
                | outspoken.ToolCallEnd()
                | outspoken.ToolCallUnfinished()
            ):
                self.receive_call(event)
            case ActionText():
                require(event.index == self.actions, "events", f"{event} after {self.actions} actions")
                self.typed.append(event.text)
            case outspoken.ActionParsed() | outspoken.ActionUnfinished():
                self.receive_action(event)
            case outspoken.PayloadParsed():
                self.others.append(event.payload)
            case outspoken.PayloadUnfinished():
                self.others.append(event.payload)
            case PayloadPreview():
                raise ViolationError("events", f"{event} comes of no registry of payloads")
            case outspoken.Done():
                raise ViolationError("events", "Done comes before the end")

    def receive_action(self, event: outspoken.ActionParsed | outspoken.ActionUnfinished) -> None:
        """An action comes after all of its text, which adds up to the text of the action."""
        require(isinstance(event, outspoken.ActionParsed) == (event.action.status in FINISHED), "events", event)
        require(event.action.order == self.actions, "events", f"{event} after {self.actions} actions")
        if event.action.type == "type_text":
            require("".join(self.typed) == event.action.text, "events", f"{event} after {self.typed}")
        else:
            require(
                not self.typed or isinstance(event, outspoken.ActionUnfinished), "events", f"{event} after {self.typed}"
            )
        self.typed = []
        self.actions += 1
        self.others.append(event.action)

    def receive_call(
        self,
        event: outspoken.ToolCallStart | outspoken.ToolCallDelta | outspoken.ToolCallEnd | outspoken.ToolCallUnfinished,
    ) -> None:
        """Calls come one after another. Only an unfinished one may come without a start."""
        require(event.index == len(self.calls), "events", f"{event} after {len(self.calls)} calls")
        announced = len(self.names) > len(self.calls)
        if isinstance(event, outspoken.ToolCallStart):
            require(not announced, "events", f"{event} within a call")
            self.names.append(event.name)
            self.arguments.append([])
        elif isinstance(event, outspoken.ToolCallDelta):
            require(announced, "events", f"{event} before its call was announced")
            self.arguments[-1].append(event.arguments)
        else:
            ended = isinstance(event, outspoken.ToolCallEnd)
            require(ended == (event.call.status in FINISHED), "events", event)
            require(announced or not ended, "events", f"{event} of a call that was not announced")
            if not announced:
                self.names.append(event.call.name)
                self.arguments.append([event.call.arguments_text])
            self.calls.append(event.call)


def check_events(events: list[outspoken.Event]) -> None:
    """The events are in order and add up to the reply."""
    *before, done = events
    require(isinstance(done, outspoken.Done), "events", "Done is not the last one")
    assert isinstance(done, outspoken.Done)
    reply, received = done.reply, EventChecker()
    for event in before:
        received.receive(event)
    require(all(received.text), "events", "a delta without text")
    require("".join(received.text) == reply.text, "events", f"streamed text: {received.text}")
    reasoning = [s.text for s in reply.segments if isinstance(s, outspoken.Reasoning)]
    require(received.blocks == reasoning and not received.reasoning, "events", f"streamed reasoning: {received.blocks}")
    require(
        received.calls == [s for s in reply.segments if isinstance(s, outspoken.ToolCall)], "events", received.calls
    )
    require(
        received.others == [s for s in reply.segments if s.kind in ("action", "payload")], "events", received.others
    )
    for call, name, parts in zip(received.calls, received.names, received.arguments, strict=True):
        require(call.name == name, "events", f"{call.name} was announced as {name}")
        require("".join(parts) == call.arguments_text, "events", f"streamed arguments: {parts}")
