"""Anthropic's Messages: its own client reads the events that we export."""

import json
from itertools import pairwise
from typing import Any

import anthropic
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from hypothesis import given
from pydantic import TypeAdapter

from outspoken import parse, stream
from outspoken.providers.events import Failed
from outspoken.providers.replies import ProviderError, ProviderReply
from outspoken.providers.wire.parts import StreamCalls
from outspoken.providers.wire.writing import stream_to_wire, to_wire
from outspoken.results import events as ev
from tests.providers.export_streams import (
    Canned,
    Events,
    calls_of,
    corpus_streams,
    error_of,
    in_both_ways,
    is_cut,
    reply_of,
    streams,
    text_of,
    unknown,
    written,
)

EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
UPSTREAM = Canned(anthropic)
CLIENT = anthropic.Anthropic(api_key="k", base_url="http://upstream", http_client=UPSTREAM.client())


def accumulated(parts: list[Any]) -> Message:
    """What Anthropic's client has, once the stream has ended."""
    UPSTREAM.body = written(parts, "anthropic")
    with CLIENT.messages.stream(max_tokens=9, model="m", messages=[{"role": "user", "content": "?"}]) as found:
        return found.get_final_message()


def check_events(parts: list[Any]) -> None:
    """Each event is of the SDK's types, and blocks begin and end as the protocol says."""
    started, ended = 0, set[int]()
    for part in parts:
        if part["type"] == "error":
            assert part is parts[-1]
            continue
        event = EVENT.validate_python(part, strict=True)
        assert set(unknown(event)) <= {"outspoken"}
        if part["type"] == "content_block_start":
            assert part["index"] == started
            started += 1
        elif part["type"] in ("content_block_delta", "content_block_stop"):
            assert part["index"] < started
            assert part["index"] not in ended
        if part["type"] == "content_block_stop":
            ended.add(part["index"])
    assert ended == set(range(started))
    assert parts[0]["type"] == "message_start"


def check_message(events: Events, parts: list[Any], stream_calls: StreamCalls) -> None:
    """The real client has what the reply says."""
    reply = reply_of(events)
    message = accumulated(parts)
    assert "".join(block.text for block in message.content if block.type == "text") == reply.text == text_of(events)
    calls = calls_of(events, stream_calls)
    uses = [block for block in message.content if block.type == "tool_use"]
    assert [use.name for use in uses] == [call.name for call in calls]
    for use, call in zip(uses, calls, strict=True):
        if call.finished:
            assert use.input == json.loads(call.arguments)
    beyond: Any = next(part.get("outspoken", {}) for part in parts if part["type"] == "message_delta")
    assert len(beyond.get("payloads", [])) == len(reply.payloads) + len(reply.unfinished_payloads)
    assert len(beyond.get("actions", [])) == len(reply.actions)
    assert len(beyond.get("unfinished_tool_calls", [])) == len(reply.unfinished_tool_calls)
    if is_cut(reply):
        assert message.stop_reason in ("max_tokens", "refusal")


@in_both_ways
def test_corpus(stream_calls: StreamCalls) -> None:
    for events in corpus_streams():
        parts = list(stream_to_wire(events, "anthropic", stream_calls=stream_calls, id="msg_1", model="m"))
        check_events(parts)
        check_message(events, parts, stream_calls)
        thinking = "\n\n".join(b.thinking for b in accumulated(parts).content if b.type == "thinking")
        assert thinking == (reply_of(events).reasoning or "")


@in_both_ways
@given(events=streams())
def test_any_stream(stream_calls: StreamCalls, events: Events) -> None:
    parts = list(stream_to_wire(events, "anthropic", stream_calls=stream_calls))
    check_events(parts)
    reply = reply_of(events)
    assert isinstance(reply, ProviderReply)
    if error_of(reply):
        with pytest.raises(anthropic.APIStatusError):
            accumulated(parts)
        assert not any(part["type"] in ("message_delta", "message_stop") for part in parts)
        return
    check_message(events, parts, stream_calls)
    message = accumulated(parts)
    assert message.id == "r_1"
    signed = [b.signature for b in message.content if b.type == "thinking" and b.signature]
    assert signed == [s.data for s in reply.signatures if not s.redacted]
    redacted = [b.data for b in message.content if b.type == "redacted_thinking"]
    assert redacted == [s.data for s in reply.signatures if s.redacted]
    if reply.refusal:
        assert message.stop_details
        assert message.stop_details.explanation == reply.refusal
    if reply.usage:
        assert message.usage.output_tokens == (reply.usage.output_tokens or 0)


@given(streams(errors=False))
def test_whole(events: Events) -> None:
    reply = reply_of(events)
    assert isinstance(reply, ProviderReply)
    whole = to_wire(reply, "anthropic")
    message = Message.model_validate(whole, strict=True)
    assert set(unknown(message)) <= {"outspoken"}
    assert "".join(block.text for block in message.content if block.type == "text") == reply.text
    thinking = [(b.thinking, b.signature) for b in message.content if b.type == "thinking"]
    signatures = {s.segment: s.data for s in reply.signatures if not s.redacted}
    expected = [
        (segment.text, signatures.get(number, ""))
        for number, segment in enumerate(reply.segments)
        if segment.kind == "reasoning" and segment.text
    ]
    assert thinking == expected
    uses = [(b.name, b.input) for b in message.content if b.type == "tool_use"]
    assert uses == [(call.name, json.loads(call.arguments_text)) for call in reply.tool_calls]


def test_interleaved_calls_in_pieces_are_open_at_once() -> None:
    call = parse('{"name": "f", "arguments": {}}').tool_calls[0]
    events: Events = [
        ev.ToolCallStart(0, "a", "f"),
        ev.ToolCallDelta(0, "{"),
        ev.ToolCallStart(1, "b", "g"),
        ev.ToolCallDelta(1, "{}"),
        ev.ToolCallDelta(0, "}"),
        ev.ToolCallEnd(0, call),
        ev.ToolCallEnd(1, call),
    ]
    parts = stream_to_wire(events, "anthropic", stream_calls="pieces")
    assert [part["index"] for part in parts if part["type"] == "content_block_delta"] == [0, 1, 0]


def test_text_and_thinking_are_never_open_at_once() -> None:
    text = "<think>a</think>b<think>c</think>d"
    kinds = [part["type"] for part in stream_to_wire(stream([text], format="hermes"), "anthropic")]
    for before, after in pairwise(kinds):
        assert (before == "content_block_delta") <= (after in ("content_block_delta", "content_block_stop"))


def test_invalid_json_does_not_break_the_client() -> None:
    text = '{"a": 1}}} {"b"'
    call = (
        parse('{"name": "f", "arguments": {}}')
        .tool_calls[0]
        .model_copy(update={"status": "invalid", "arguments_text": text})
    )
    events: Events = [ev.ToolCallStart(0, None, "f")]
    events += [ev.ToolCallDelta(0, character) for character in text]
    events.append(ev.ToolCallUnfinished(0, call))
    parts = list(stream_to_wire(events, "anthropic", stream_calls="pieces"))
    message = accumulated(parts)
    assert message.stop_reason == "max_tokens"
    assert parts[-2]["outspoken"]["unfinished_tool_calls"][0]["arguments"] == text


def test_error() -> None:
    events: Events = [ev.TextDelta("A"), Failed(ProviderError(message="Later.", type="overloaded_error"))]
    with pytest.raises(anthropic.APIStatusError, match="Later"):
        accumulated(list(stream_to_wire(events, "anthropic")))
