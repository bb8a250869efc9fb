"""Events that are exported and read again: what a protocol carries comes back unchanged.

`test_exports.py` asks this of generated streams and those of the corpus, too.
"""

import json
import random
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast, get_args

import pytest

from outspoken import Done, ReasoningDelta, ReasoningEnd, Reply, ToolCallUnfinished, parse
from outspoken import stream as parsed
from outspoken.contrib.luxx import LLMResponseParser
from outspoken.providers import Provider, ProviderFormatError, ProviderReply, ProviderStream, ReasoningSigned, Usage
from outspoken.providers.wire.parts import StreamCalls
from outspoken.providers.wire.writing import Wire, sse, stream_to_wire, to_wire
from tests.loops import for_each, some
from tests.providers import export_streams
from tests.providers.test_providers_recorded import RECORDED, provider, rows
from tests.streams import collected, later

WIRES: tuple[Wire, ...] = ("openai", "anthropic", "openai_responses")


def again(
    events: export_streams.Events, wire: Wire, stream_calls: StreamCalls
) -> tuple[export_streams.Events, ProviderReply]:
    """What a stream says after it has gone out and come back in, in pieces of any size."""
    body = b"".join(sse(events, wire, stream_calls=stream_calls))
    stream = ProviderStream(cast("Provider", wire), format=None)
    found: export_streams.Events = []
    chance = random.Random(len(body))
    while body:
        size = chance.randint(1, 90)
        found += stream.feed(body[:size])
        body = body[size:]
    found += stream.close()
    assert stream.reply
    return found, stream.reply


def payloads_of(reply: Reply) -> list[tuple[str, Any, str]]:
    """The payloads of a reply, usable or not."""
    return [(segment.type, segment.data, segment.status) for segment in reply.segments if segment.kind == "payload"]


def thoughts(reply: Reply) -> list[str]:
    """The blocks of reasoning that have a text."""
    return [segment.text for segment in reply.segments if segment.kind == "reasoning" and segment.text]


def is_interleaved(events: export_streams.Events) -> bool:
    """Does reasoning go on after something else came between?"""
    thinks = interrupted = False
    for event in events:
        if isinstance(event, ReasoningDelta) and event.text:
            if interrupted:
                return True
            thinks = True
        elif isinstance(event, ReasoningEnd):
            thinks = interrupted = False
        elif isinstance(event, ReasoningSigned):
            interrupted = interrupted or (thinks and event.redacted)
        elif not isinstance(event, ReasoningDelta) and getattr(event, "text", "?"):
            interrupted = interrupted or thinks
    return False


def check_same(before: export_streams.Events, wire: Wire, stream_calls: StreamCalls = "complete") -> None:
    """What comes back is the same reply: all that it says, in its blocks, and how it ends."""
    events, found = again(before, wire, stream_calls)
    reply = export_streams.reply_of(before)
    assert export_streams.text_of(before) == reply.text
    assert found.text == reply.text == export_streams.text_of(events)
    if wire == "openai" and is_interleaved(before):  # a completion cannot say that a block goes on
        assert "".join(thoughts(found)) == "".join(thoughts(reply))
    else:
        assert thoughts(found) == thoughts(reply)
    assert payloads_of(found) == payloads_of(reply)
    known, said = export_streams.calls_of(before, stream_calls), export_streams.calls_of(events)
    assert [call.name for call in said] == [call.name for call in known]
    for mine, call in zip(said, known, strict=True):
        if call.finished:
            assert json.loads(mine.arguments) == json.loads(call.arguments)
    if isinstance(reply, ProviderReply):
        check_same_provider(found, reply)
    if found.error is None:
        assert found.finish_reason in ("length", "content_filter", "refusal") or not export_streams.is_cut(reply)
    if not export_streams.unfinished(reply) and found.error is None:
        assert [call.arguments for call in found.tool_calls] == [call.arguments for call in reply.tool_calls]


def check_same_provider(found: ProviderReply, reply: ProviderReply) -> None:
    """What a provider says of its response comes back as well."""
    if reply.id:
        assert (found.id, found.model) == (reply.id, reply.model)
    signed = sorted([(signature.data, signature.redacted) for signature in reply.signatures])
    assert sorted([(signature.data, signature.redacted) for signature in found.signatures]) == signed
    error = export_streams.error_of(reply)
    assert (found.error.message if found.error else None) == (error.message if error else None)
    if error is not None:  # with which a stream ends, in all protocols
        return
    assert found.refusal == reply.refusal
    if reply.usage is not None:
        assert found.usage is not None
        assert counts(found.usage) == counts(reply.usage)
    ends: dict[str | None, str] = {"stop": "stop", "tool_calls": "tool_calls", "length": "length"}
    if not export_streams.unfinished(reply) and not reply.refusal and reply.finish_reason in ends:
        called = reply.finish_reason != "length" and reply.tool_calls
        assert found.finish_reason in ("tool_calls" if called else ends[reply.finish_reason], "stop")


def counts(usage: Usage) -> tuple[int, ...]:
    """Tokens; what is not counted is 0."""
    return (usage.input_tokens or 0, usage.output_tokens or 0, usage.cached_tokens or 0)


@cache
def recorded() -> list[tuple[str, export_streams.Events]]:
    """The events of all answers that were recorded, streams and whole ones."""
    found: list[tuple[str, export_streams.Events]] = []
    for row in rows():
        stream = ProviderStream(provider(row), format=None)
        try:
            events: list[Any] = stream.feed(row.body.encode()) + stream.close()
        except ProviderFormatError:
            continue  # no answer of a model: embeddings and the like
        found.append((row.id, events))
    assert len(found) > 200 or not RECORDED.exists()
    return found


@export_streams.in_both_ways
@pytest.mark.parametrize("wire", WIRES)
def test_recorded(wire: Wire, stream_calls: StreamCalls) -> None:
    drawn = some(recorded(), f"{wire} {stream_calls}", 0.17)
    for_each(drawn, lambda row: check_same(row[1], wire, stream_calls), lambda row: row[0])


BROKEN_OFF = ("Hi.", "<function_calls>\n<invoke", ' name="find_')


@pytest.mark.parametrize("wire", WIRES)
def test_call_cut_in_its_name_is_only_in_the_extension(wire: Wire) -> None:
    events: export_streams.Events = list(parsed(BROKEN_OFF, format="anthropic_xml"))
    assert [type(event) for event in events[-2:]] == [ToolCallUnfinished, Done]
    found, reply = again(events, wire, "complete")
    assert export_streams.calls_of(found) == []
    assert (reply.text, reply.tool_calls, reply.finish_reason) == ("Hi.", [], "length")
    body = b"".join(sse(events, wire)).decode()
    item = '{"index":0,"name":"find_","arguments":"","status":"truncated","id":null,"call":null}'
    assert item in body


def test_calls_after_a_cut_one_keep_their_index() -> None:
    stream, parser = ProviderStream("anthropic", format="anthropic_xml"), LLMResponseParser(format="anthropic_xml")
    events: export_streams.Events = []
    for index, block in enumerate(
        [{"type": "text", "text": "".join(BROKEN_OFF)}, {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]
    ):
        for chunk in (
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_stop", "index": index},
        ):
            events += stream.feed(chunk)
            parser.parse_anthropic(chunk)
    events += stream.close()
    parser.close()
    assert [call.name for call in export_streams.calls_of(events, "complete")] == ["f"]
    assert [(call["index"], call["function"]["arguments"], call["status"]) for call in parser.tool_calls] == [
        (0, "", "truncated"),
        (1, '{"x": 1}', "ok"),
    ]
    for wire in WIRES:
        check_same(events, wire)


@pytest.mark.parametrize("wire", get_args(Wire))
@pytest.mark.parametrize("text", ["<think>a</think>b", '<tool_call>{"name": "f", "arguments": {"a": 1'])
def test_asynchronous(wire: Wire, text: str) -> None:
    whole = list(stream_to_wire(parsed([text], format="hermes"), wire, id="x", created=1))
    assert whole
    assert collected(stream_to_wire(later(parsed([text], format="hermes")), wire, id="x", created=1)) == whole


def _all_of_sse(parts: Iterable[Any], wire: Wire) -> list[bytes]:
    return list(sse(parts, wire))


def test_wrong_arguments_are_named() -> None:
    odd: Any = 7
    reply: Any = parse("Moss")
    parts: Any = stream_to_wire(parsed(["Moss"]), "openai")
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
        (stream_to_wire, (reply, "openai"), "`events` is a Reply; expected an iterable of events"),
        (stream_to_wire, (odd, "vercel"), "`events` is an int; expected an iterable of events"),
        (sse, (odd, "anthropic"), "`events` is an int; expected an iterable of events"),
        (_all_of_sse, (parts, "openai"), "`events` has a dict; expected events"),
        (to_wire, (odd, "openai"), "`reply` is an int; expected Reply"),
    ]
    for function, arguments, message in calls:
        with pytest.raises(TypeError) as caught:
            function(*arguments)
        assert str(caught.value) == message
    with pytest.raises(TypeError, match="unexpected keyword argument 'index'"):
        to_wire(reply, "vercel", index=1)
    with pytest.raises(ValueError, match="`wire` is 'opnai'; expected one of \"openai\", "):
        sse([], "opnai")  # type: ignore[call-overload]
