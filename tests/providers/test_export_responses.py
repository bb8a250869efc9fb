"""OpenAI's Responses: its own client reads the events that we export."""

from collections.abc import Iterator
from typing import Any, cast, get_args

import openai
from hypothesis import given
from openai.types.responses import Response, ResponseStreamEvent

from outspoken import parse, stream
from outspoken.providers.events import Finished, RefusalDelta
from outspoken.providers.replies import ProviderReply
from outspoken.providers.wire.parts import StreamCalls
from outspoken.providers.wire.writing import stream_to_wire, to_wire
from outspoken.results import events as ev
from tests.providers.export_streams import (
    Call,
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

KINDS: dict[str, Any] = {
    get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(get_args(ResponseStreamEvent)[0])
}
UPSTREAM = Canned(openai)
CLIENT = openai.OpenAI(api_key="k", base_url="http://upstream", http_client=UPSTREAM.client())


def accumulated(parts: list[Any]) -> tuple[Any, Any]:
    """What OpenAI's client has put together of the deltas, and the response of the last event."""
    UPSTREAM.body = written(parts, "openai_responses")
    snapshots: dict[int, str] = {}
    response: Any = None
    with CLIENT.responses.stream(model="m", input="?") as found:
        for event in cast("Iterator[Any]", found):
            if event.type in ("response.output_text.delta", "response.function_call_arguments.delta"):
                snapshots[event.output_index] = event.snapshot
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                response = event.response
    return snapshots, response


def check_events(parts: list[Any]) -> None:
    for number, part in enumerate(parts):
        assert part["sequence_number"] == number
        event = KINDS[part["type"]].model_validate(part, strict=True)
        assert set(unknown(event)) <= {"outspoken", "response.outspoken"}
    assert [part["type"] for part in parts[:2]] == ["response.created", "response.in_progress"]
    added = [part["output_index"] for part in parts if part["type"] == "response.output_item.added"]
    ended = [part["output_index"] for part in parts if part["type"] == "response.output_item.done"]
    assert added == list(range(len(added)))
    assert sorted(ended) == added


def check_response(events: Events, response: Any, stream_calls: StreamCalls) -> None:
    reply = reply_of(events)
    assert response.output_text == reply.text == text_of(events)
    thoughts = ["".join(part.text for part in item.content) for item in response.output if item.type == "reasoning"]
    assert "\n\n".join(t for t in thoughts if t) == (reply.reasoning or "")
    calls = [item for item in response.output if item.type == "function_call"]
    assert [Call(c.name, c.arguments, c.status == "completed") for c in calls] == calls_of(events, stream_calls)
    beyond = getattr(response, "outspoken", {})
    assert len(beyond.get("payloads", [])) == len(reply.payloads) + len(reply.unfinished_payloads)
    assert len(beyond.get("actions", [])) == len(reply.actions)
    assert len(beyond.get("unfinished_tool_calls", [])) == len(reply.unfinished_tool_calls)
    if is_cut(reply):
        assert response.status in ("incomplete", "failed")


@in_both_ways
def test_corpus(stream_calls: StreamCalls) -> None:
    for events in corpus_streams():
        parts = list(
            stream_to_wire(events, "openai_responses", stream_calls=stream_calls, id="resp_1", model="m", created=1)
        )
        check_events(parts)
        check_response(events, accumulated(parts)[1], stream_calls)


@in_both_ways
@given(events=streams())
def test_any_stream(stream_calls: StreamCalls, events: Events) -> None:
    parts = list(stream_to_wire(events, "openai_responses", stream_calls=stream_calls))
    check_events(parts)
    snapshots, response = accumulated(parts)
    check_response(events, response, stream_calls)
    for index, text in snapshots.items():
        item = response.output[index]
        if item.type == "function_call":
            assert text == item.arguments
        else:
            assert text in [part.text for part in item.content if part.type == "output_text"]
    reply = reply_of(events)
    assert isinstance(reply, ProviderReply)
    if error := error_of(reply):
        assert (response.status, response.error.message) == ("failed", error.message)
    refusals = [p.refusal for i in response.output if i.type == "message" for p in i.content if p.type == "refusal"]
    assert "".join(refusals) == (reply.refusal or "")
    signed = [item.encrypted_content for item in response.output if item.type == "reasoning" and item.encrypted_content]
    assert signed == [signature.data for signature in reply.signatures]


@given(streams())
def test_whole(events: Events) -> None:
    reply = reply_of(events)
    whole = Response.model_validate(to_wire(reply, "openai_responses"), strict=True)
    assert set(unknown(whole)) <= {"outspoken"}
    assert whole.output_text == reply.text
    calls = [(item.name, item.arguments) for item in whole.output if item.type == "function_call"]
    assert calls == [(call.name, call.arguments_text) for call in reply.tool_calls]


def test_refusal_does_not_hide_unfinished_calls() -> None:
    call = parse('<tool_call>\n{"name": "f", "arguments": {"a": 1', format="hermes").unfinished_tool_calls[0]
    events: Events = [
        ev.ToolCallStart(0, None, "f"),
        ev.ToolCallDelta(0, call.arguments_text),
        ev.ToolCallUnfinished(0, call),
        RefusalDelta("No."),
        Finished("refusal", "refusal"),
    ]
    response = list(stream_to_wire(events, "openai_responses"))[-1]["response"]
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
    alone = list(
        stream_to_wire(
            [*events[3:], ev.Done(ProviderReply(raw="", format=None, segments=[], provider="openai"))],
            "openai_responses",
        )
    )
    assert alone[-1]["response"]["status"] == "completed"


def test_arguments_are_done_only_where_the_call_is_complete() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"a": 1'
    parts = list(stream_to_wire(stream([text], format="hermes"), "openai_responses", stream_calls="pieces"))
    assert not any(part["type"] == "response.function_call_arguments.done" for part in parts)
    assert [part["item"]["status"] for part in parts if part["type"] == "response.output_item.done"] == ["incomplete"]
    assert parts[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert to_wire(parse(text, format="hermes"), "openai_responses")["output"] == []
