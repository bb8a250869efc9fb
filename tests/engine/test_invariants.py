"""Invariants of every text: the corpus, texts made of its pieces, and hostile texts."""

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outspoken import Done, Event, Reply, Text, TextDelta, ToolCall, ToolCallDelta, ToolCallEnd, ToolCallStart, parse
from outspoken.authoring.fuzz.checks import ParseArguments, ViolationError, check_nothing_lost, violation_of
from outspoken.detection.opener_index import OpenerIndex, Owners
from outspoken.grammar import registry
from tests.cases import CASES, FORMATS, Case, kin
from tests.invariants.cost import check_growth, without_fast_paths
from tests.invariants.events import check_events
from tests.invariants.replies import check, check_chunks, check_replay, check_reply, check_written, pieces
from tests.loops import DRAWN, IN_TURN, by_format, some
from tests.tables import tables

TABLES = tables(__file__)

# Of the cases and of what is tried of each, a share is drawn; other runs of continuous integration draw other shares.


def args(case: Case, format_: str | None = None) -> ParseArguments:
    """How a case is read."""
    return ParseArguments(format_ or case.format, case.options)


@by_format(DRAWN)
def test_invariants_of_a_case(case: Case) -> None:
    check(case.text, args(case))


#: The cases of which all is asked again where the format is not named; what is asked of the others is below.
ASKED_AGAIN = some(DRAWN, "auto", 0.16)


@by_format(ASKED_AGAIN)
def test_invariants_of_a_case_with_detection(case: Case) -> None:
    check(case.text, args(case, "auto"))


# any way of cutting a text gives the same reply


@by_format(some(DRAWN, "splits", 0.34))
def test_every_split_in_two(case: Case) -> None:
    whole, text = case.parse(), case.text
    assert (whole.raw, whole.format) == (text, case.format)
    places = range(len(text) + 1)
    for at in some(places, case, 0.2 if len(text) <= 60 else 0.02):
        assert args(case).stream((text[:at], text[at:]))[1] == whole, at


@by_format(some(DRAWN, "pieces with detection", 0.34))
def test_pieces_with_detection(case: Case) -> None:
    whole, text = case.parse(format="auto"), case.text
    check_reply(whole)
    check_nothing_lost(whole)
    for at in some(range(1, len(text), max(len(text) // 8, 1)), case, 0.1):
        assert args(case, "auto").stream((text[:at], text[at:]))[1] == whole, at


# the formats may be tried in any order

ORDERED = some(CASES, "other order", 0.03)


@pytest.fixture
def other_order(other_grammars: None) -> Iterator[dict[str, Reply]]:
    """A share of the corpus, read without its formats' names; within, formats are listed and tried in reverse order."""
    found = {str(case): case.parse(format="auto") for case in ORDERED}
    names, at = registry.names, OpenerIndex.at

    def reversed_at(openers: OpenerIndex, text: str, pos: int, **how: Any) -> Owners:
        found = at(openers, text, pos, **how)
        return found._replace(names=found.names[::-1], likely=found.likely[::-1], sound=found.sound[::-1])

    def reversed_names(edition: int | None = None) -> tuple[str, ...]:
        return names(edition)[::-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "names", reversed_names)
        patch.setattr(OpenerIndex, "at", reversed_at)
        registry.use(None)
        yield found
    registry.use(None)


@pytest.mark.timeout(180)  # all formats are made twice
def test_detection_does_not_depend_on_the_order_of_formats(other_order: dict[str, Reply]) -> None:
    assert registry.names() == tuple(sorted(FORMATS, reverse=True))
    for case in ORDERED:
        assert case.parse(format="auto") == other_order[str(case)], case
    for case in some(ORDERED, "streams in other order", 0.5):
        assert args(case, "auto").stream(pieces(case.text, 7))[1] == other_order[str(case)], case


# a text that breaks off


@by_format(some(DRAWN, "beginnings", 0.34))
def test_every_beginning(case: Case) -> None:
    """What the generated fast path reads of beginnings is compared with this in `test_fast_path`."""
    calls = case.parse().tool_calls
    for at in some(range(len(case.text)), case, 0.015):
        with without_fast_paths():
            reply = case.parse(case.text[:at])
        check_reply(reply)
        # what was repaired may be known to be complete only by what stands behind it
        complete = [call for call in calls if call.span[1] <= at and call.status == "ok"]
        assert [call for call in reply.tool_calls if call in complete] == complete, at


# the reply itself


CALLING = [case for case in DRAWN if case.name in ("one_call", "two_calls") and case.format != "text"]


def places(reply: Reply) -> list[tuple[int, int]]:
    """The spans of the segments, without white space at the end of texts."""
    texts = [segment.text.rstrip() if segment.kind == "text" else None for segment in reply.segments]
    spans = [segment.span for segment in reply.segments]
    return [
        (start, end if text is None else start + len(text))
        for text, (start, end) in zip(texts, spans, strict=True)
        if text != ""
    ]


@by_format(CALLING)
def test_format_is_detected(case: Case) -> None:
    text = case.text.replace(".{", ".\n{")  # an object without markup is a call on a line of its own
    found = case.parse(text, format="auto")
    named = case.parse(text)
    assert found.format in kin(case.format)
    if found.format != case.format and named.actions:
        # the format that is named in place of this one may have another space for points, or no actions; white space
        # beside its values is text to it
        assert places(found) == places(named)
    else:
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


@pytest.mark.parametrize("format_", IN_TURN)
@settings(max_examples=max(settings().max_examples * 17 // len(FORMATS), 10))
@given(data=st.data())
def test_any_text(format_: str, data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(ALPHABETS[format_]), max_size=30)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    chunks = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    for name in (format_, "auto"):
        reply = parse(text, format=name)
        check_reply(reply)
        check_nothing_lost(reply)
        assert len(reply.raw) == len(text)
        reply.model_dump_json().encode()
        # a lone surrogate may be one half of a pair that the cut divides; both ways are replaced
        events, streamed = ParseArguments(name).stream(chunks)
        assert streamed == reply
        check_events(events)


# texts that are meant to do harm

#: How long a hostile text is: for a few of those that are drawn of a format, and for the others.
SIZE, LESS = 8_000, 300


@pytest.mark.parametrize("format_", [*some(IN_TURN, "hostile", 0.2), "auto"])
def test_hostile_texts(format_: str) -> None:
    is_detected = format_ == "auto"
    drawn = some(TABLES["REPEATED"], format_, 0.3 if is_detected else 0.2)
    long = some(drawn, f"long {format_}", 0.2 if is_detected else 0.1)
    for unit in drawn:
        size = SIZE if unit in long else LESS
        text = (unit * (size // len(unit) + 1))[:size]
        reply = parse(text, format=format_)
        check_reply(reply)
        assert ParseArguments(format_).stream(pieces(text, 7))[1] == reply, unit


@by_format(some([case for case in DRAWN if case.name == "one_call"], "openers", 0.34))
def test_openers_many_times(case: Case) -> None:
    """The first half of a text, again and again."""
    for name, times in ((case.format, 12), ("auto", 4)):
        text = case.text[: len(case.text) // 2] * times
        reply = parse(text, format=name)
        check_reply(reply)
        assert ParseArguments(name).stream(pieces(text, 7))[1] == reply


@pytest.mark.parametrize("format_", [*IN_TURN, "auto"])
def test_cost_grows_with_the_text(format_: str) -> None:
    for unit in some(["<think>", '{"a": "', "[f(x='"], f"growth {format_}", 0.17):
        check_growth(unit, ParseArguments(format_), 2_000)


# what is broken is noticed

SOUND = parse('Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', format="hermes")
REPAIRED = parse('<tool_call>\n{"name": "f", "arguments": {"a": 1,}}\n</tool_call>', format="hermes")
HI, CALL = SOUND.segments
F, START = ToolCall(name="f", arguments={}, span=(0, 1)), ToolCallStart(0, None, "f")


def changed(reply: Reply, **values: object) -> Reply:
    return reply.model_copy(update=values)


def repaired(**update: object) -> Reply:
    """The repaired reply with another repair."""
    return changed(REPAIRED, repairs=[REPAIRED.repairs[0].model_copy(update=update)])


def of(reply: Reply, *segments: object) -> Reply:
    """The reply with other segments."""
    return changed(reply, segments=list(segments))


#: Replies, by what is said of them.
BROKEN_REPLIES: dict[str, Reply] = {
    "(0, 3) behind offset 65": of(SOUND, CALL, HI),
    "(2, 2) behind offset 0": of(SOUND, Text(text="", span=(2, 2))),
    "an empty text": of(SOUND, Text(text="", span=(0, 3))),
    "'Ho.' where 'Hi.' stands": of(SOUND, Text(text="Ho.", span=(0, 3)), CALL),
    '{} of {"a": 1}': of(SOUND, CALL.model_copy(update={"arguments": {}})),
    "ok, but the worst segment is repaired": changed(REPAIRED, status="ok"),
    "invalid, but the worst segment is ok": changed(SOUND, status="invalid"),
    "2:35 trailing-comma (notation): ',' read as '': '<' stood there": repaired(span=(0, 1)),
    "2:3 trailing-comma (notation): ',' read as '' is at (2, 35)": repaired(column=3),
    "2:35 trailing-comma (notation): ',' read as '' is of a segment, and not of the reply": changed(
        REPAIRED, repairs=[]
    ),
    "hermes:7:35 trailing-comma: a comma with nothing after it was dropped is in line 2": changed(
        REPAIRED, diagnostics=[REPAIRED.diagnostics[0].model_copy(update={"line": 7})]
    ),
}


def test_checks_detect_lost_text() -> None:
    reply = parse('<tool_call>{"name": "f", "arguments": {"city": 1}}</tool_call>', format="hermes")
    check_nothing_lost(reply)
    with pytest.raises(ViolationError, match=r"^lost: 'city' at offset 40$"):
        check_nothing_lost(of(reply))


def test_checks_detect_a_reply_that_json_changes() -> None:
    check_written(SOUND)
    with pytest.raises(ViolationError, match=r"^json: the reply reads back as another one$"):
        check_written(of(SOUND, F.model_copy(update={"arguments": {"a": (1, 2)}})))


#: Events that give what they say when they are held against the reply that reads "Hi." and a call.
BROKEN_EVENTS: dict[str, list[Event]] = {
    "Done is not the last one": [TextDelta("Hi.")],
    "Done comes before the end": [Done(SOUND), Done(SOUND)],
    "streamed text: []": [Done(SOUND)],
    "a delta without text": [TextDelta("Hi."), TextDelta(""), Done(SOUND)],
    "[]": [TextDelta("Hi."), Done(SOUND)],
    f"{ToolCallDelta(0, '{}')!r} before its call was announced": [ToolCallDelta(0, "{}"), Done(SOUND)],
    f"{START!r} within a call": [START, START, Done(SOUND)],
    f"{ToolCallStart(1, None, 'f')!r} after 0 calls": [ToolCallStart(1, None, "f"), Done(SOUND)],
    f"{ToolCallEnd(0, F)!r} of a call that was not announced": [ToolCallEnd(0, F), Done(SOUND)],
}


@pytest.mark.parametrize("name", [*BROKEN_REPLIES, *BROKEN_EVENTS])
def test_checks_detect_what_is_broken(name: str) -> None:
    with pytest.raises(ViolationError) as caught:
        check_reply(BROKEN_REPLIES[name]) if name in BROKEN_REPLIES else check_events(BROKEN_EVENTS[name])
    assert caught.value.message == name


def test_checks_detect_a_different_result_in_pieces() -> None:
    with pytest.raises(ViolationError) as caught:
        check_chunks("Hi.", ParseArguments("text"), parse("Ho.", format="text"), Random(1))
    read, whole = "[Text('Hi.')]", "[Text('Ho.')]"
    assert str(caught.value) == f"chunks: in single characters: {read}, but whole: {whole}"


def test_checks_detect_ineffective_repairs() -> None:
    check_replay(REPAIRED.raw, ParseArguments("hermes"), REPAIRED)
    with pytest.raises(ViolationError, match=r"^replay: .* has the calls \[\], not \[\('f', \{'a': 1\}\)\]$"):
        check_replay(REPAIRED.raw, ParseArguments("hermes"), repaired(after="}"))


def test_checks_detect_an_exception() -> None:
    def ask(text: str, args: ParseArguments) -> None:
        raise KeyError(text)

    broken = violation_of(lambda: ask("x", ParseArguments()))
    assert str(broken) == "raises: KeyError: 'x'"
    assert violation_of(lambda: check("x", ParseArguments())) is None


def test_checks_detect_superlinear_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(text: str, *arguments: object, **options: object) -> Reply:
        for size in range(len(text) ** 2 // 1000):
            abs(size)
        return SOUND

    monkeypatch.setattr("outspoken.authoring.fuzz.checks.parse", slow)
    with pytest.raises(ViolationError, match=r"^growth: \d+ calls of functions for twice the text that takes \d+$"):
        check_growth("ab", ParseArguments("text"), 2_000)
