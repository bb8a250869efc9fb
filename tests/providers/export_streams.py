"""Streams of events for the exporters, from the corpus and generated, and what a client must receive."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import Any, get_args

import pytest
from hypothesis import strategies as st

from outspoken import Payload, Reasoning, Reply, Text, ToolCall
from outspoken.actions import Click
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.parsing import Segment
from outspoken.providers import events as event_types
from outspoken.providers.events import Finished, ReasoningSigned, RefusalDelta, Started, StreamEvent, UsageReported
from outspoken.providers.replies import ProviderError, ProviderReply, Signature
from outspoken.providers.usage import Usage
from outspoken.providers.wire.parts import STREAM_CALLS, StreamCalls
from outspoken.providers.wire.writing import Wire, sse_end, sse_event
from outspoken.results import events as ev
from outspoken.results.finish_reasons import FinishReason
from outspoken.results.geometry import Point
from tests.cases import CASES, FORMATS
from tests.invariants.replies import pieces
from tests.loops import some

Events = list[StreamEvent]
Draw = Callable[[st.SearchStrategy[Any]], Any]
in_both_ways = pytest.mark.parametrize("stream_calls", STREAM_CALLS)


def written(parts: Iterable[dict[str, Any]], wire: Wire) -> bytes:
    """The parts of a stream as server-sent events."""
    return b"".join([sse_event(part, wire) for part in parts]) + sse_end(wire)


@cache
def corpus_streams() -> list[Events]:
    """The events of some sound and some damaged texts of a third of the formats, read in pieces of seven characters."""
    drawn = [
        case
        for name in some(FORMATS, "streams", 0.34)
        for kind, most in (("ok", 1), ("err", 2))
        for case in [case for case in CASES if (case.format, case.kind) == (name, kind)][:most]
    ]
    return [[*ParseArguments(case.format, case.options).stream(pieces(case.text, 7))[0]] for case in drawn]


def reply_of(events: Events) -> Reply:
    """The reply at the end of a stream."""
    last = events[-1]
    assert isinstance(last, ev.Done)
    return last.reply


@dataclass
class Call:
    """A call as a client has it."""

    name: str
    arguments: str
    finished: bool


def calls_of(events: Events, stream_calls: StreamCalls = "pieces") -> list[Call]:
    """The calls that a client has of a stream, with what it is sent of their arguments."""
    found: dict[int, Call] = {}
    for event in events:
        match event:
            case ev.ToolCallStart(index, _, name):
                found[index] = Call(name, "", False)
            case ev.ToolCallDelta(index, arguments):
                found[index].arguments += arguments
            case ev.ToolCallEnd(index, _):
                found[index].finished = True
            case _:
                pass
    return [call for call in found.values() if call.finished or stream_calls == "pieces"]


def text_of(events: Events) -> str:
    """All text of a stream."""
    return "".join(event.text for event in events if isinstance(event, ev.TextDelta))


def error_of(reply: ProviderReply) -> ProviderError | None:
    """The error with which a response ends; it may say so by its reason alone."""
    if reply.error is None and reply.finish_reason == "error":
        return ProviderError(message=f"the response ended with `{reply.stop_reason}`", code=reply.stop_reason)
    return reply.error


def unfinished(reply: Reply) -> int:
    """How many calls and actions of a reply are unfinished."""
    return len(reply.unfinished_tool_calls) + len(reply.unfinished_actions)


def is_cut(reply: Reply) -> bool:
    """Is a call or an action of a reply cut off, so that the client may continue?"""
    return any(one.status == "truncated" for one in (*reply.unfinished_tool_calls, *reply.unfinished_actions))


# generated streams

_TEXT = st.text(min_size=1, max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_BROKEN = st.sampled_from(['{"a": 1 x', "[1]", "{'a'", '{"a": 1}}', "tru", '{"a": "\n"}', '{"a": 1}{"b": 2}'])


@dataclass
class _Told:
    """A stream that is being made up."""

    draw: Draw
    events: Events = field(default_factory=list[StreamEvent])
    segments: list[Segment] = field(default_factory=list[Segment])
    signatures: list[Signature] = field(default_factory=list[Signature])
    refusal: str = ""
    calls: int = 0

    def pieces(self, text: str) -> list[str]:
        cuts = sorted(self.draw(st.lists(st.integers(0, len(text)), max_size=3)))
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def text(self) -> None:
        text = self.draw(_TEXT)
        self.segments.append(Text(text=text, span=(0, 0)))
        self.events += [ev.TextDelta(piece) for piece in self.pieces(text)]

    def reasoning(self) -> None:
        text = self.draw(_TEXT)
        self.segments.append(Reasoning(text=text, span=(0, 0)))
        self.events += [ev.ReasoningDelta(piece) for piece in self.pieces(text)]
        if self.draw(st.booleans()):
            self.sign(len(self.segments) - 1, redacted=False)
        self.events.append(ev.ReasoningEnd())

    def interleaved(self) -> None:
        """Reasoning and text that come in turns."""
        thought, text = self.draw(_TEXT), self.draw(_TEXT)
        place = len(self.segments)
        self.segments += [Reasoning(text=thought, span=(0, 0)), Text(text=text, span=(0, 0))]
        for thinks, says in zip_longest(self.pieces(thought), self.pieces(text), fillvalue=""):
            self.events += [ev.ReasoningDelta(thinks), ev.TextDelta(says)]
        if self.draw(st.booleans()):
            self.sign(place, redacted=False)
        self.events.append(ev.ReasoningEnd())

    def redacted(self) -> None:
        self.sign(len(self.segments), redacted=True)

    def sign(self, segment: int, *, redacted: bool) -> None:
        data = self.draw(_TEXT)
        self.signatures.append(Signature(segment=segment, data=data, redacted=redacted))
        self.events.append(ReasoningSigned(data, redacted))

    def refuse(self) -> None:
        text = self.draw(_TEXT)
        self.refusal += text
        self.events += [RefusalDelta(piece) for piece in self.pieces(text)]

    def payload(self) -> None:
        payload = Payload(type="SUGGESTED_VALUES", data=self.draw(_JSON), span=(0, 0))
        self.segments.append(payload)
        self.events.append(ev.PayloadParsed(payload))

    def action(self) -> None:
        point = Point(x=float(self.draw(st.integers(0, 99))), y=5.0, space="px")
        click = Click(name="click", raw="click(1)", point=point)
        self.segments.append(click)
        self.events.append(ev.ActionParsed(click))

    def call_group(self) -> None:
        """One call, or two whose arguments come in turns."""
        calls = [self.call() for _ in range(self.draw(st.integers(1, 2)))]
        first = self.calls
        self.calls += len(calls)
        self.events += [ev.ToolCallStart(first + i, call.id, call.name) for i, call in enumerate(calls)]
        pieces = [[(first + i, piece) for piece in self.pieces(call.arguments_text)] for i, call in enumerate(calls)]
        for turn in range(4):
            self.events += [ev.ToolCallDelta(*own[turn]) for own in pieces if turn < len(own)]
        for index, call in enumerate(calls, first):
            ended = call.status == "ok"
            self.events.append(ev.ToolCallEnd(index, call) if ended else ev.ToolCallUnfinished(index, call))
        self.segments += calls

    def unannounced(self) -> None:
        """A call that broke off before it was known what it is: in its name, or where calls may be actions."""
        call = ToolCall(name="fi", arguments={}, arguments_text="", status="truncated")
        self.segments.append(call)
        self.events.append(ev.ToolCallUnfinished(self.calls, call))
        self.calls += 1

    def call(self) -> ToolCall:
        arguments = self.draw(st.dictionaries(_TEXT, _JSON, max_size=2))
        text = json.dumps(arguments, ensure_ascii=self.draw(st.booleans()))
        id, name = self.draw(st.sampled_from([None, "call_7", "functions.f:0"])), self.draw(st.sampled_from("fgh"))
        status = self.draw(st.sampled_from(["ok", "ok", "truncated", "invalid"]))
        if status == "truncated":
            text = text[: self.draw(st.integers(0, len(text) - 1))]
        elif status == "invalid":
            text = self.draw(_BROKEN)
        return ToolCall(name=name, arguments=arguments, arguments_text=text, id=id, status=status)


_TWICE = ("text", "reasoning", "call_group")
_ITEMS = (*_TWICE, *_TWICE, "interleaved", "redacted", "payload", "action", "unannounced")
_TOKENS = st.none() | st.integers(0, 999)


@st.composite
def streams(draw: Draw, *, errors: bool = True) -> Events:
    """A stream of any kind of event, in any order, with the reply that they come to."""
    stream = _Told(draw)
    stream.events.append(Started("r_1", "mosses-2"))
    for item in draw(st.lists(st.sampled_from(_ITEMS), max_size=6)):
        getattr(stream, item)()
    if draw(st.booleans()):
        stream.refuse()  # at the end, since the reply does not say where it stood
    reason: FinishReason | None = draw(st.none() | st.sampled_from(get_args(FinishReason)))
    if reason:
        stream.events.append(Finished(reason, reason))
    usage = draw(st.none() | st.builds(Usage, input_tokens=_TOKENS, output_tokens=_TOKENS, cached_tokens=_TOKENS))
    if usage:
        stream.events.append(UsageReported(usage))
    error = draw(st.none() | st.builds(ProviderError, message=_TEXT))
    if not errors:
        stream.events = [event for event in stream.events if event != Finished("error", "error")]
        reason, error = None if reason == "error" else reason, None
    if error:
        stream.events.append(event_types.Failed(error))
    reply = ProviderReply(
        raw="", format=None, provider="test", segments=stream.segments, id="r_1", model="mosses-2",
        finish_reason=reason, stop_reason=reason, usage=usage, refusal=stream.refusal or None, error=error,
        signatures=stream.signatures,
    )  # fmt: skip
    return [*stream.events, ev.Done(reply)]
