"""What is for callers who ask for it or use the library wrongly: limits, exceptions, bytes, prefixes."""

from collections.abc import Iterator
from typing import Any

import pytest

import outspoken
from outspoken import Done, LimitError, Parser, ResponseError, Settings, TextDelta, UnknownFormatError, parse, stream
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.engine.state import RecoveryBudget
from outspoken.grammar.registry import names
from outspoken.parsing import Session, StreamClosedError
from outspoken.parsing.inspection import formats
from tests.invariants.replies import pieces
from tests.streams import collected, later
from tests.tables import tables

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "save", "arguments": {"path": "a.txt"}}\n</tool_call>'
CUT = 'Hm.\n<tool_call>\n{"name": "save", "arguments": {"path": "/tmp/a'

either_format = pytest.mark.parametrize("format_", ["hermes", "auto"])


def events_of(session: Session, chunks: list[str]) -> Iterator[outspoken.Event]:
    """The events of all chunks."""
    for chunk in chunks:
        yield from session.feed(chunk)


# limits


@either_format
def test_a_text_of_just_the_limit_is_read(format_: str) -> None:
    text = f"{CALL} Done."
    settings = Settings(max_chars=len(text))
    assert parse(text, format=format_, settings=settings) == parse(text, format=format_)
    assert list(stream(list(text), format=format_, settings=settings))[-1] == Done(parse(text, format=format_))


@either_format
@pytest.mark.parametrize("size", [None, 1, 7, 50, 1000])
def test_a_text_over_the_limit_is_read_up_to_it(format_: str, size: int | None) -> None:
    text = f"First this.\n{CALL}\n" + "And more. " * 20
    parser = Parser(format_, settings=Settings(max_chars=150))
    session = parser.session()
    with pytest.raises(LimitError) as caught:
        list(events_of(session, pieces(text, size))) if size else parser.parse(text)
    assert str(caught.value) == "the response is longer than 150 characters, the limit set by `Settings.max_chars`"
    assert caught.value.limit == 150
    assert caught.value.reply == parse(text[:150], format=format_)
    assert [call.arguments for call in caught.value.reply.tool_calls] == [{"path": "a.txt"}]
    assert session.reply is (caught.value.reply if size else None)
    assert not size or session.close() == []


@either_format
def test_a_limit_inside_a_call_cuts_it(format_: str) -> None:
    limit = len("Hm.\n") + len(CALL) - len("</tool_call>")
    with pytest.raises(LimitError) as caught:
        parse(f"Hm.\n{CALL}", format=format_, settings=Settings(max_chars=limit), on_error="raise")
    assert caught.value.reply.tool_calls == []
    assert [call.status for call in caught.value.reply.unfinished_tool_calls] == ["truncated"]


def test_buffered_bytes_count_for_the_limit() -> None:
    session = Parser("hermes", settings=Settings(max_chars=3)).session()
    assert session.feed(b"abc\xe2") == [TextDelta("abc")]
    with pytest.raises(LimitError) as caught:
        session.close()
    assert caught.value.reply == parse("abc", format="hermes")
    assert session.reply is caught.value.reply
    assert session.close() == []


def test_a_prefix_does_not_count() -> None:
    text, prefix = "to do.</think>x", "<think>\nA long thought about what "
    settings = Settings(max_chars=len(text))
    reply = parse(text, format="text", prefix=prefix, settings=settings)
    assert (reply.reasoning, reply.text) == ("to do.", "x")
    assert list(stream(list(text), format="text", prefix=prefix, settings=settings))[-1] == Done(reply)
    assert collected(outspoken.astream(later(text), format="text", prefix=prefix, settings=settings))[-1] == Done(reply)
    with pytest.raises(LimitError):
        list(stream([f"{text}x"], format="text", prefix=prefix, settings=settings))


def test_hold_limit_does_not_affect_a_named_format() -> None:
    whole = Done(parse(CALL, format="hermes"))
    for size in (1, 3, 30):
        assert list(stream(pieces(CALL, size), format="hermes", settings=Settings(max_hold=1)))[-1] == whole


@pytest.mark.parametrize("hold", [1, 12, 40])
def test_low_hold_limit_loses_nothing(hold: int) -> None:
    """The format may be mistaken then; the text is kept."""
    text = f"One. {CALL} Two."
    reply = ParseArguments(options={"settings": Settings(max_hold=hold)}).stream(text)[1]
    assert reply.raw == text
    assert reply.text.startswith("One.")
    assert reply.text.endswith("Two.")


def test_hold_limit_ends_the_wait_for_other_formats() -> None:
    """Arguments that are no object: another format may read more of it, but for the limit."""
    text = '{"name": "set_timer", "arguments": [12, "tea"]}'
    for hold, is_started in ((len(text) - 1, True), (len(text), False)):
        session = Parser(settings=Settings(max_hold=hold)).session()
        assert any(isinstance(event, outspoken.ToolCallStart) for event in events_of(session, list(text))) is is_started


@pytest.mark.parametrize(("hold", "sent"), [(4, 2), (1000, 0)])
def test_hold_limit_ends_the_wait_for_more_of_a_list(hold: int, sent: int) -> None:
    """One format has read an action, and another one may read the next one with it."""
    session = Parser(settings=Settings(max_hold=hold)).session()
    events = list(events_of(session, list("Action: GoBack\n" * 3)))
    assert len([event for event in events if isinstance(event, outspoken.ActionParsed)]) == sent


def test_detected_format_has_no_hold_limit() -> None:
    text = CALL.replace("a.txt", "a" * 500)
    for size in (1, 10, 200):
        events = list(stream(pieces(text, size), settings=Settings(max_hold=100)))
        assert events[-1] == Done(parse(text))
        assert isinstance(events[-2], outspoken.ToolCallEnd)


def test_a_budget_goes_on_with_what_another_reader_has_left() -> None:
    first = RecoveryBudget()
    first.grant(1000).steps -= 7
    second = first.copy()
    assert second.grant(1000).steps == first.grant(1000).steps
    second.grant(1000).steps -= 1
    assert second.grant(1000).steps == first.grant(1000).steps - 1


# errors that are asked for


@either_format
def test_the_first_error_is_raised(format_: str) -> None:
    with pytest.raises(ResponseError) as caught:
        parse(CUT, format=format_, on_error="raise")
    error = caught.value
    assert str(error) == TABLES["CUT_FRAME"]
    assert error.reply == parse(CUT, format=format_)
    assert error.diagnostic == error.reply.diagnostics[0]
    assert error.span == (4, len(CUT))


@either_format
def test_the_first_error_of_a_stream_is_raised_when_it_ends(format_: str) -> None:
    session = Parser(format_, on_error="raise").session()
    events = list(events_of(session, list(CUT)))
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Hm."
    with pytest.raises(ResponseError) as caught:
        session.close()
    assert str(caught.value) == TABLES["CUT_FRAME"]
    assert caught.value.reply == parse(CUT, format=format_)
    assert session.reply is caught.value.reply
    assert session.close() == []
    with pytest.raises(ResponseError):
        list(stream(list(CUT), format=format_, on_error="raise"))


@either_format
def test_warnings_and_notes_are_not_raised(format_: str) -> None:
    text = f"Hm.\n{CALL}"
    assert parse(text, format=format_, on_error="raise") == parse(text, format=format_)
    assert list(stream(list(text), format=format_, on_error="raise"))[-1] == Done(parse(text, format=format_))
    reply = parse("<think>\nAnd then", format="text", on_error="raise")
    assert [diagnostic.severity for diagnostic in reply.diagnostics] == ["warning"]
    assert reply.status == "truncated"


# wrong use


def test_closed_stream_rejects_input() -> None:
    session = Parser("hermes").session()
    assert session.feed("Hi.") == [TextDelta("Hi.")]
    assert session.reply is None
    (done,) = session.close()
    assert done == Done(parse("Hi.", format="hermes"))
    assert session.close() == []
    for chunk in ("more", "", b"more"):
        with pytest.raises(StreamClosedError) as caught:
            session.feed(chunk)
        assert str(caught.value) == "the response has ended; start a new session for the next one"
    assert session.reply == parse("Hi.", format="hermes")


def test_an_unknown_format_names_the_nearest() -> None:
    count = len({*names(), *[alias for info in formats() for alias in info.aliases]})
    listed = f"(`outspoken formats` lists all {count} names)"
    with pytest.raises(UnknownFormatError) as caught:
        parse("x", format="Hermse")
    assert str(caught.value) == f"there is no format `Hermse`; did you mean `hermes`? {listed}"
    assert (caught.value.name, caught.value.nearest) == ("Hermse", ["hermes"])
    with pytest.raises(UnknownFormatError) as caught:
        Parser("qwen3.codr").session()
    nearest = " or ".join(f"`{name}`" for name in caught.value.nearest)
    assert caught.value.nearest[0] == "qwen3_coder"
    assert str(caught.value) == f"there is no format `qwen3.codr`; did you mean {nearest}? {listed}"
    with pytest.raises(UnknownFormatError) as caught:
        list(stream([], format="zzzzzz"))
    assert str(caught.value) == f"there is no format `zzzzzz`; no name is similar {listed}"
    with pytest.raises(UnknownFormatError, match="name the format, which can only be detected to parse a text"):
        outspoken.render([], format="auto")


def test_exceptions_derive_from_builtin_ones() -> None:
    for ours in (LimitError, ResponseError, UnknownFormatError, StreamClosedError):
        assert issubclass(ours, outspoken.OutspokenError)
        assert issubclass(ours, RuntimeError if ours is StreamClosedError else ValueError)


# bytes


def of_bytes(raw: bytes, cuts: list[int], format_: str) -> outspoken.Reply:
    """The reply for bytes that are cut at these places."""
    return ParseArguments(format_).stream([raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)])[1]


BYTES = {
    "sound": "é😀 <think>\n漢字\n</think>".encode() + CALL.replace("a.txt", "Łódź 😀").encode(),
    "cut": "Hi 😀".encode()[:-1],
    "continuation": b"a\x80\xbfb " + CALL.encode(),
    "overlong": b"a\xc0\xafb\xf8\x88\x80\x80\x80c",
    "surrogate": b"a\xed\xa0\x80b\xed\xb0\x80",
    "too large": b"a\xf4\x90\x80\x80b",
    "broken off": b"\xf0\x9f\x98a\xe2\x82\xe2\x82\xac",
    "in a call": CALL.encode().replace(b"a.txt", b"a\xff\xfe.txt"),
    "byte order mark": b"\xef\xbb\xbfHi.",
    "latin": "<think>\nCafé\n</think>Café".encode("latin-1"),
}


@either_format
@pytest.mark.parametrize("name", BYTES)
def test_bytes_are_read_as_their_text(name: str, format_: str) -> None:
    raw = BYTES[name]
    whole = parse(raw.decode("utf-8", "replace"), format=format_)
    for at in range(len(raw) + 1):
        assert of_bytes(raw, [at], format_) == whole, at
    assert of_bytes(raw, list(range(1, len(raw))), format_) == whole
    whole.model_dump_json().encode()


def test_split_character_is_sent_when_complete() -> None:
    session = Parser("text").session()
    first, second, third = "é".encode(), "€".encode(), "😀".encode()
    chunks = [first[:1], first[1:] + second[:2], second[2:] + third[:3], b"", third[3:] + b"\xe2"]
    sent = [[event.text for event in session.feed(chunk) if isinstance(event, TextDelta)] for chunk in chunks]
    assert sent == [[], ["é"], ["€"], [], ["😀"]]
    *events, done = session.close()
    assert events == [TextDelta("\ufffd")]
    assert isinstance(done, Done)
    assert done.reply.text == "é€😀\ufffd"


# lone surrogates


@either_format
def test_lone_surrogates_are_replaced(format_: str) -> None:
    text = "a\ud800b " + CALL.replace("a.txt", "x\udc00")
    reply = parse(text, format=format_)
    assert reply == parse(text.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd"), format=format_)
    assert (reply.text.strip(), reply.tool_calls[0].arguments) == ("a\ufffdb", {"path": "x\ufffd"})
    assert list(stream(list(text), format=format_))[-1] == Done(reply)
    reply.model_dump_json().encode()
    prefixed = parse("b</think>", format="text", prefix="<think>a\ud800")
    assert (prefixed.raw, prefixed.reasoning) == ("b</think>", "b")


# what the prompt had opened


@pytest.mark.parametrize("format_", ["text", "auto"])
def test_spans_exclude_the_prefix(format_: str) -> None:
    text = "Two of them.\n</think>\n\nHello!"
    reply = parse(text, format=format_, prefix="<think>\n")
    assert reply.raw == text
    assert reply.segments == [
        outspoken.Reasoning(text="Two of them.", span=(0, 12)),
        outspoken.Text(text="Hello!", span=(23, 29)),
    ]
    assert reply.diagnostics == []


#: The place of the call in the text of the next test.
BEFORE = len("Hm. <think>\nYes.\n</think>\n")


@either_format
@pytest.mark.parametrize("at", [*range(BEFORE + 1), *range(BEFORE + 2, BEFORE + len("<tool_call>\n") + 1)])
def test_a_prefix_may_end_anywhere(format_: str, at: int) -> None:
    """What belongs to the response is read as if the prompt had been a part of it, with its places counted from 0."""
    whole = f"Hm. <think>\nYes.\n</think>\n{CALL}\nSo."
    prefix, text = whole[:at], whole[at:]
    reply = parse(text, format=format_, prefix=prefix)
    assert reply.raw == text
    (call,) = reply.tool_calls
    wanted: dict[str, Any] = {"arguments": {"path": "a.txt"}, "arguments_text": '{"path": "a.txt"}'}
    assert call == outspoken.ToolCall(name="save", span=call.span, **wanted)
    assert text[call.span[0] : call.span[1]] == CALL[max(at - BEFORE, 0) :]
    assert reply.segments[-1] == outspoken.Text(text="So.", span=(len(text) - 3, len(text)))
    for segment in reply.segments:
        assert 0 <= segment.span[0] <= segment.span[1] <= len(text)
    for size in (1, 5):
        *events, done = stream(pieces(text, size), format=format_, prefix=prefix)
        assert done == Done(reply), size
        assert [event.call for event in events if isinstance(event, outspoken.ToolCallEnd)] == [call], size
