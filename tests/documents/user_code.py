"""What programs write with the public surface. Type checkers read it, and it runs (`test_examples.py`).

`assert_type` is an error if a type is lost or becomes wider. In `wrong`, which never runs, every line is an error for
the checkers: otherwise they report its comment as unnecessary.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from inspect import BoundArguments
from typing import Any

from pydantic import BaseModel
from typing_extensions import TypedDict, assert_type

import outspoken
from outspoken import Done, Event, Parser, PayloadRegistry, Reply, Screen, ToolCall, providers, read_json
from outspoken.actions import Action, ActionText, Box, PageContext, Point
from outspoken.constraints import Constraint
from outspoken.json import Conversion, JsonReading, Reading, Snapshot
from outspoken.parsing import AsyncEventStream, Candidate, EventStream, Held, Session
from outspoken.payloads import PayloadEvent, PayloadParser, PayloadReply, PayloadSession, TypedPayload
from outspoken.processing import PartialCalls, Processed, ProcessorSettings, ResponseCache
from outspoken.providers import FinishReason, ProviderEvent, ProviderReply, ProviderStream, sse, stream_to_wire, to_wire

TEXT = 'Hi.\n<tool_call>\n{"name": "tide", "arguments": {"day": 3}}\n</tool_call>'
BODY: dict[str, Any] = {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}
CHUNK: dict[str, Any] = {"choices": [{"delta": {"content": TEXT}, "finish_reason": "stop"}]}


def whole() -> list[ToolCall]:
    """A response in one piece."""
    reply = outspoken.parse(TEXT, format="hermes", prefix=None, finish_reason="stop", tools=None)
    assert_type(reply, Reply)
    assert_type(reply.tool_calls, list[ToolCall])
    assert_type(reply.text, str)
    assert_type(reply.reasoning, str | None)
    assert_type(outspoken.detect(TEXT), list[Candidate])
    assert_type(outspoken.render(reply, format="json"), str)
    return reply.tool_calls


def parsers() -> Parser:
    """A parser with options, and one with other ones."""
    parser = Parser("ui_tars_1_0", screen=Screen(1920, 1080), settings=outspoken.Settings(clamp=True))
    assert_type(parser.screen, Screen | None)
    changed = parser.replace(format="hermes", screen=None)
    assert_type(changed, Parser)
    assert_type(changed.session(), Session[Event, Reply])
    assert_type(changed.session().held, Held | None)
    return changed


def streamed(parser: Parser) -> str:
    """The events of a text, each with its fields."""
    events = parser.stream([TEXT[:9], TEXT[9:]])
    assert_type(events, EventStream[Event, Reply])
    shown = ""
    for event in events:
        if isinstance(event, outspoken.TextDelta):
            shown += event.text
        elif isinstance(event, outspoken.ToolCallEnd):
            assert_type(event.call, ToolCall)
        elif isinstance(event, outspoken.ActionParsed):
            assert_type(event.action, Action)
        elif isinstance(event, ActionText):
            assert_type(event.text, str)
        elif isinstance(event, Done):
            assert_type(event, Done[Reply])
    assert_type(events.reply, Reply)
    assert_type(outspoken.stream([TEXT], format="hermes"), EventStream[Event, Reply])
    return shown


def of_provider() -> FinishReason | None:
    """A provider's response, whole and in chunks."""
    reply = outspoken.parse_response(BODY, provider="openai", format="hermes")
    assert_type(reply, ProviderReply)
    events = outspoken.stream_response([CHUNK], provider="openai", format="hermes", tools=None)
    assert_type(events, EventStream[ProviderEvent, ProviderReply])
    reason: FinishReason | None = None
    for event in events:
        match event:
            case Done(reply=done):
                assert_type(done, ProviderReply)
                reason = done.finish_reason
            case _:
                pass
    provider: providers.Provider = "anthropic"
    assert_type(ProviderStream(provider).feed({"type": "ping"}), list[ProviderEvent])
    return reason


class Tide(BaseModel):
    """The arguments of a call."""

    day: int


class TideKeys(TypedDict):
    """The same as a dict."""

    day: int


def tide(day: int) -> str:
    """A tool."""
    return f"day {day}"


def ran() -> list[dict[str, Any]]:
    """The arguments of a call as typed values, and the results of calls."""
    reply = outspoken.parse(TEXT, format="hermes")
    call = reply.tool_calls[0]
    assert_type(call.value, Any)
    assert_type(PartialCalls([tide, Tide]).feed(outspoken.TextDelta("")), Snapshot[Any] | None)
    assert_type(call.conversions(), tuple[Conversion, ...])
    assert_type(call.into(Tide), Tide)
    assert_type(call.into(TideKeys), TideKeys)
    assert_type(call.into(dict[str, int]), dict[str, int])
    assert_type(call.into(tide), BoundArguments)
    assert_type(reply.run({"tide": tide}, provider="anthropic", id="r"), list[dict[str, Any]])
    Parser("hermes", tools=[[tide], (Tide,), TideKeys])
    return reply.run([[tide]], on_error="raise")


async def ran_at_once(reply: Reply) -> list[dict[str, Any]]:
    """The same for asynchronous tools."""
    found = await reply.arun([tide, Tide], provider="openai_responses", concurrent=True)
    assert_type(found, list[dict[str, Any]])
    return found


class Card(BaseModel):
    """A payload's model."""

    title: str


def with_payloads() -> Card | None:
    """The payloads of a registry, with their models."""
    registry = PayloadRegistry(
        [outspoken.PayloadType("card", "CARD", Card), outspoken.PayloadType("tips", "TIPS", str, kind="array")]
    )
    text = 'So:\n\nCARD: {"title": "Moss"}'
    reply = registry.parse(text, page=None)
    assert_type(reply, PayloadReply)
    assert_type(reply.payloads, list[TypedPayload])
    assert_type(reply.unfinished_payloads, list[TypedPayload])
    assert_type(reply.payload(Card), Card | None)
    assert_type(reply.payload(list[str]), list[str] | None)
    assert_type(registry.parser(), PayloadParser)
    assert_type(registry.parser().session(), PayloadSession)
    found: Card | None = None
    events = registry.stream([text], previews=True)
    assert_type(events, EventStream[PayloadEvent, PayloadReply])
    for event in events:
        if isinstance(event, outspoken.PayloadParsed):
            assert_type(event.payload, TypedPayload)
            found = event.payload.value
        elif isinstance(event, outspoken.PayloadUnfinished):
            assert_type(event.payload, TypedPayload)
        elif isinstance(event, Done):
            assert_type(event.reply, PayloadReply)
    assert_type(events.reply.payload(Card), Card | None)
    return found


def processed() -> list[Any]:
    """A processor with a cache."""
    cache = ResponseCache(10)
    processor = outspoken.ResponseProcessor(Parser(), settings=ProcessorSettings(expect="json"), cache=cache)
    result = processor.process('{"a": null}', finish_reason="stop", provider="openai")
    assert_type(result, Processed)
    assert_type(result.values, list[Any])
    assert_type(result.tool_calls, list[ToolCall])
    assert_type(processor.replace(screen=Screen(10, 10)), outspoken.ResponseProcessor)
    cache.put("key", result)
    cache.get("key")
    return result.values


def acted() -> list[Action]:
    """The actions of a response."""
    reply = outspoken.parse_actions(
        {"action_type": "CLICK", "id": "A1"}, parser="skyvern", page=PageContext.of({"A1": {"tag": "a"}})
    )
    assert_type(reply, Reply)
    places: list[Point | Box] = []
    assert_type(places, list[Point | Box])
    return reply.actions


def others() -> JsonReading:
    """JSON, and the constraint of a format."""
    assert_type(outspoken.constraint("hermes"), Constraint)
    read = read_json("[1]")
    assert_type(read, JsonReading)
    assert_type(read_json("[1]", list[int]).value, list[int] | None)
    assert_type(read_json("{}", Card, convert="off"), Reading[Card])
    assert_type(read_json("[1]", schema={"type": "array"}), Reading[Any])
    assert_type(Parser.for_model("Qwen/Qwen3-8B", thinking=True), Parser)
    assert_type(read.values, tuple[Any, ...])
    return read


def prompted(parser: Parser) -> Reply:
    """A prompt, and the response to it."""
    text, reader = parser.prompt([{"role": "user", "content": "Hi."}], thinking=False, prefill="At ")
    assert_type(text, str)
    return reader.parse("nine.")


def exported(wire: providers.Wire = "openai_responses") -> list[dict[str, Any]]:
    """Replies and events for another API: of parsers, registries and providers."""
    assert_type(to_wire(outspoken.parse(TEXT), "openai_responses", id="r"), dict[str, Any])
    assert_type(stream_to_wire(outspoken.stream([TEXT]), wire, stream_calls="pieces"), Iterator[dict[str, Any]])
    assert_type(stream_to_wire(outspoken.stream_response([CHUNK]), "openai", index=1), Iterator[dict[str, Any]])
    assert_type(sse(PayloadRegistry().stream([TEXT]), "anthropic", model="m"), Iterator[bytes])
    events: list[providers.StreamEvent] = [outspoken.TextDelta("Hi.")]
    return list(stream_to_wire(events, "vercel", dynamic=True))


async def asynchronous(chunks: AsyncIterator[str], bodies: AsyncIterator[bytes]) -> ProviderReply:
    """The same for asynchronous chunks."""
    events = outspoken.astream(chunks, format="hermes")
    assert_type(events, AsyncEventStream[Event, Reply])
    assert_type(sse(events, "vercel"), AsyncIterator[bytes])
    assert_type(PayloadRegistry().astream(chunks), AsyncEventStream[PayloadEvent, PayloadReply])
    provided = outspoken.astream_response(bodies, provider="cohere")
    assert_type(provided, AsyncEventStream[ProviderEvent, ProviderReply])
    assert_type(stream_to_wire(provided, "anthropic"), AsyncIterator[dict[str, Any]])
    async for event in provided:
        if isinstance(event, Done):
            return event.reply
    return provided.reply


def wrong(parser: Parser, reply: Reply, result: Processed, events: list[providers.StreamEvent]) -> None:
    """What earlier versions took, and slips of the pen."""
    outspoken.parse_response(BODY, provider="opnai")  # type: ignore
    ProviderStream("opnai")  # type: ignore
    outspoken.Settings(screen=Screen(1, 1))  # type: ignore
    parser.with_page()  # type: ignore
    parser.replace(fromat="hermes")  # type: ignore
    print(reply.finish_reason)  # type: ignore
    print(reply.tool_calls[0].into(Tide).dya)  # type: ignore
    reply.tool_calls[0].value = Tide(day=3)  # type: ignore
    reply.run([tide], provider="opnai")  # type: ignore
    reply.run([tide], on_error="rasie")  # type: ignore
    reply.run(tide)  # type: ignore
    print(result.value)  # type: ignore
    ResponseCache().get_parsed_response("key")  # type: ignore
    outspoken.ResponseProcessor().process("x", screen=Screen(1, 1))  # type: ignore
    outspoken.ResponseProcessor().process("x", provider="opnai")  # type: ignore
    to_wire(reply, "opnai")  # type: ignore
    to_wire(reply, "openai", dynmic=True)  # type: ignore
    sse(events, "vercl")  # type: ignore
    stream_to_wire(TEXT, "openai")  # type: ignore
