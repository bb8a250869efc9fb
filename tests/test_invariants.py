"""What always holds, for every text: the corpus, texts made of its pieces, and texts that are meant to do harm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import (
    ActionParsed,
    Done,
    Event,
    JsonValue,
    Payload,
    PayloadParsed,
    Reasoning,
    ReasoningDelta,
    Reply,
    Segment,
    StreamParser,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
    parse,
    stream,
)
from tests.cases import CASES, FORMATS, Case

FINISHED = ("ok", "repaired")

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_format = pytest.mark.parametrize("format_", FORMATS)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(parser: StreamParser, chunks: Iterable[str]) -> Reply:
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()
    assert parser.reply is not None
    return parser.reply


def events_of(parser: StreamParser, chunks: Iterable[str]) -> list[Event]:
    return [*[event for chunk in chunks for event in parser.feed(chunk)], *parser.close()]


# any way of cutting a text gives the same reply


@every_case
def test_single_characters(case: Case) -> None:
    assert streamed(case.parser(), case.text) == case.parse()


@every_case
def test_every_split_in_two(case: Case) -> None:
    whole, text = case.parse(), case.text
    for at in range(len(text) + 1):
        assert streamed(case.parser(), (text[:at], text[at:])) == whole, at


@every_case
def test_random_pieces(case: Case) -> None:
    whole, random = case.parse(), Random(str(case))
    for _ in range(5):
        cuts = sorted(random.randrange(len(case.text) + 1) for _ in range(random.randrange(2, 12)))
        chunks = [case.text[start:end] for start, end in pairwise([0, *cuts, len(case.text)])]
        assert streamed(case.parser(), chunks) == whole, cuts


@every_case
def test_pieces_where_the_format_is_not_named(case: Case) -> None:
    whole, text = case.parse(format="auto"), case.text
    assert streamed(case.parser("auto"), text) == whole
    assert streamed(case.parser("auto"), pieces(text, 3)) == whole
    for at in range(1, len(text), max(len(text) // 8, 1)):
        assert streamed(case.parser("auto"), (text[:at], text[at:])) == whole, at


@every_case
def test_bytes_cut_inside_a_character(case: Case) -> None:
    raw = case.text.encode()
    parser = case.parser()
    for at in range(0, len(raw), 5):
        parser.feed(raw[at : at + 5])
    parser.close()
    assert parser.reply == case.parse()


# the events of a stream


class Listener:
    """Hears the events of a stream, and finds fault with their order."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.names: list[str] = []
        self.arguments: list[list[str]] = []
        self.calls: list[ToolCall] = []
        self.others: list[Any] = []

    def hear(self, event: Event) -> None:
        match event:
            case TextDelta():
                self.text.append(event.text)
            case ReasoningDelta():
                self.reasoning.append(event.text)
            case ToolCallStart() | ToolCallDelta() | ToolCallEnd() | ToolCallUnfinished():
                self.hear_call(event)
            case ActionParsed():
                self.others.append(event.action)
            case PayloadParsed():
                self.others.append(event.payload)
            case Done():
                raise AssertionError("Done comes once, at the end")

    def hear_call(self, event: ToolCallStart | ToolCallDelta | ToolCallEnd | ToolCallUnfinished) -> None:
        """Calls come one after another; one that was never announced may be said to be unfinished."""
        assert event.index == len(self.calls)
        announced = len(self.names) > len(self.calls)
        if isinstance(event, ToolCallStart):
            assert not announced
            self.names.append(event.name)
            self.arguments.append([])
        elif isinstance(event, ToolCallDelta):
            assert announced
            self.arguments[-1].append(event.arguments)
        else:
            assert isinstance(event, ToolCallEnd) == (event.call.status in FINISHED)
            assert announced or isinstance(event, ToolCallUnfinished)
            if not announced:
                self.names.append(event.call.name)
                self.arguments.append([event.call.arguments_text])
            self.calls.append(event.call)


def check_events(events: list[Event]) -> None:
    """The events are in order, and say what the reply says."""
    *before, done = events
    assert isinstance(done, Done)
    reply = done.reply
    heard = Listener()
    for event in before:
        heard.hear(event)
    assert all(heard.text + heard.reasoning)
    assert "".join(heard.text) == reply.text
    assert "".join(heard.reasoning) == "".join(s.text for s in reply.segments if isinstance(s, Reasoning))
    assert heard.calls == [s for s in reply.segments if isinstance(s, ToolCall)]
    assert heard.others == [s for s in reply.segments if s.kind in ("action", "payload")]
    for call, name, parts in zip(heard.calls, heard.names, heard.arguments, strict=True):
        assert call.name == name
        assert "".join(parts) == call.arguments_text


@every_case
def test_events(case: Case) -> None:
    for size in (1, 4, len(case.text) + 1):
        check_events(events_of(case.parser(), pieces(case.text, size)))


@every_case
def test_events_where_the_format_is_not_named(case: Case) -> None:
    for size in (1, len(case.text) + 1):
        check_events(events_of(case.parser("auto"), pieces(case.text, size)))


def test_stream_is_a_parser_that_is_fed_and_closed() -> None:
    for case in CASES[::20]:
        chunks = pieces(case.text, 5)
        assert list(stream(chunks, case.format, **case.options)) == events_of(case.parser(), chunks)


# a text that breaks off


@every_case
def test_every_beginning(case: Case) -> None:
    calls = case.parse().tool_calls
    for at in range(len(case.text)):
        reply = case.parse(case.text[:at])
        check_reply(reply)
        # what was repaired may be known to be complete only by what stands behind it
        complete = [call for call in calls if call.span[1] <= at and call.status == "ok"]
        assert [call for call in reply.tool_calls if call in complete] == complete, at


@pytest.mark.parametrize("case", [case for case in CASES if case.kind == "ok"], ids=str)
def test_no_call_is_finished_before_its_end(case: Case) -> None:
    """What a stream has said of calls by some place holds for the whole text."""
    parser = case.parser()
    events = [event for char in case.text for event in parser.feed(char)]
    ended = [event.call for event in events if isinstance(event, ToolCallEnd)]
    assert ended == case.parse().tool_calls[: len(ended)]


# the reply itself


def check_reply(reply: Reply) -> None:
    """The reply is consistent with itself and with the raw text, and can be written and read."""
    end = 0
    for segment in reply.segments:
        start, stop = segment.span
        assert end <= start < stop <= len(reply.raw), "spans are in order and do not overlap"
        end = stop
        check_segment(segment, reply.raw[start:stop], reply.envelope)
    assert all(call.status in FINISHED for call in reply.tool_calls)
    assert not any(call.status in FINISHED for call in reply.unfinished)
    for diagnostic in reply.diagnostics:
        assert 0 <= diagnostic.span[0] <= diagnostic.span[1] <= len(reply.raw)
        assert reply.raw.count("\n", 0, diagnostic.span[0]) + 1 == diagnostic.line
        diagnostic.frame().encode()
    found = [segment.status for segment in reply.segments if not isinstance(segment, (Text, JsonValue))]
    if any(d.code in ("unclosed-markup", "unclosed-reasoning") for d in reply.diagnostics):
        found.append("truncated")
    if reply.repairs:
        found.append("repaired")
    check_repairs(reply)
    assert reply.status == max(found, key=["ok", "repaired", "truncated", "invalid"].index, default="ok")


def check_repairs(reply: Reply) -> None:
    """Each repair says what stood where, and those of a segment are among all."""
    for repair in reply.repairs:
        start, end = repair.span
        assert reply.raw[start:end] == repair.before
        before = reply.raw[:start]
        assert (repair.line, repair.column) == (before.count("\n") + 1, start - before.rfind("\n"))
    for segment in reply.segments:
        assert all(repair in reply.repairs for repair in getattr(segment, "repairs", ()))


def check_segment(segment: Segment, raw: str, envelope: bool) -> None:
    if isinstance(segment, (Text, Reasoning)):
        assert segment.text
        assert segment.text == raw or (isinstance(segment, Text) and envelope)
    elif isinstance(segment, ToolCall):
        if segment.status in FINISHED:
            # a lone surrogate that the model wrote as an escape is still one in the text, and no longer in the value
            value = json.dumps(json.loads(segment.arguments_text), ensure_ascii=False)
            assert json.loads(re.sub("[\ud800-\udfff]", "\ufffd", value)) == segment.arguments
    elif not isinstance(segment, Payload):
        assert segment.raw == raw


@every_case
def test_reply(case: Case) -> None:
    reply = case.parse()
    check_reply(reply)
    assert reply.raw == case.text
    assert reply.format == case.format
    check_reply(case.parse(format="auto"))


@every_case
def test_reply_is_written_and_read(case: Case) -> None:
    reply = case.parse()
    written = reply.model_dump_json()
    written.encode()
    assert Reply.model_validate_json(written) == reply


def test_reply_has_a_schema() -> None:
    assert "segments" in Reply.model_json_schema()["properties"]


CALLING = [case for case in CASES if case.name in ("one_call", "two_calls") and case.format != "text"]


@pytest.mark.parametrize("case", CALLING, ids=str)
def test_format_is_detected(case: Case) -> None:
    found = case.parse(format="auto")
    named = case.parse()
    assert found.format == case.format
    assert found.segments == named.segments


# texts made of the pieces of the corpus

_PIECE = re.compile(r"<[^<>\n]{1,60}>|```\w*|\w+|\s+|.", re.DOTALL)
_COMMON = [*"\"'`{}[]()<>|:=,.\\ \n", "quince", "```", "```json\n", '{"', '"}', "</", "é", "🦉", "\ud83e", "\x00"]


def alphabet(format_: str) -> list[str]:
    names = ("one_call", "two_calls", "reasoning_then_call")
    texts = [case.text for case in CASES if case.format == format_ and case.name in names]
    found = dict.fromkeys(piece for text in texts for piece in _PIECE.findall(text))
    return [*found, *(text for text in texts if len(text) < 300), *_COMMON]


ALPHABETS = {format_: alphabet(format_) for format_ in FORMATS}


@every_format
@given(data=st.data())
def test_any_text(format_: str, data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(ALPHABETS[format_]), max_size=30)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    chunks = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    for name in (format_, "auto"):
        reply = parse(text, name)
        check_reply(reply)
        assert len(reply.raw) == len(text)
        reply.model_dump_json().encode()
        if not reply.envelope:
            check_nothing_is_lost(reply)
        # a lone surrogate may be one half of a pair that the cut divides; both ways are replaced
        parser = StreamParser(name)
        events = events_of(parser, chunks)
        assert parser.reply == reply
        check_events(events)


def check_nothing_is_lost(reply: Reply) -> None:
    """A word that stands in no marker of any format is in a segment."""
    held = [False] * len(reply.raw)
    for segment in reply.segments:
        held[segment.span[0] : segment.span[1]] = [True] * (segment.span[1] - segment.span[0])
    for match in re.finditer("quince", reply.raw):
        line = reply.raw[: match.start()].rpartition("\n")[2]
        assert all(held[match.start() : match.end()]) or "`" in line, match


# texts that are meant to do harm

SIZE = 20_000
REPEATED = [
    *'"\\{[(<`:=| \n',
    "```",
    "```json\n",
    "```\n",
    '{"a":',
    '{"a":[x',
    '{"a": "',
    '[{"name":',
    '{"name": "f", "arguments": {',
    '{"toolCalls": [',
    '<tool_call>{"name":',
    '<tool_call>{"name": "f", "arguments": {"a":',
    "<tool_call>f<arg_key>a</arg_key><arg_value>",
    "<tool_call><function=f><parameter=a>",
    '<function_calls><invoke name="f"><parameter name="a">',
    "<|channel|>commentary to=f<|message|>{",
    "[f(x=[",
    "[f(x='",
    "Action: click(start_box='",
    "Thought: x\n",
    'SUGGESTED_VALUES: [{"',
    "<think>",
    "<think></think>",
]


@pytest.mark.parametrize("format_", [*FORMATS, "auto"])
def test_hostile_texts(format_: str) -> None:
    for unit in REPEATED:
        text = (unit * (SIZE // len(unit) + 1))[:SIZE]
        reply = parse(text, format_)
        check_reply(reply)
        assert streamed(StreamParser(format_), pieces(text, 7)) == reply, unit


@pytest.mark.parametrize("case", [case for case in CASES if case.name == "one_call"], ids=str)
def test_openers_many_times(case: Case) -> None:
    """The first half of a text, again and again."""
    text = case.text[: len(case.text) // 2] * 100
    for name in (case.format, "auto"):
        reply = parse(text, name)
        check_reply(reply)
        assert streamed(StreamParser(name), pieces(text, 7)) == reply
