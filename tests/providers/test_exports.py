"""Events and replies in the protocols of others: the clients of each have what the reply says."""

import json
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import Reply, ToolCall, parse, stream
from outspoken.providers.events import Failed, Finished, RefusalDelta
from outspoken.providers.replies import ProviderError, ProviderReply
from outspoken.providers.wire.chat_completions.exporter import ChatCompletionsExporter
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.messages.exporter import AnthropicExporter
from outspoken.providers.wire.parts import StreamCalls
from outspoken.providers.wire.responses.exporter import ResponsesExporter
from outspoken.providers.wire.vercel import VercelExporter
from outspoken.providers.wire.writing import Wire, stream_to_wire, to_wire
from outspoken.results import events as ev
from tests.providers import export_streams
from tests.providers.export_clients import CLIENTS, Heard, Parts
from tests.providers.export_streams import Call, Events, corpus_streams, in_both_ways, reply_of, streams, written
from tests.providers.test_export_round_trips import WIRES, check_same

in_each_protocol = pytest.mark.parametrize("wire", get_args(Wire))
EXPORTERS = (ChatCompletionsExporter, ResponsesExporter, AnthropicExporter, VercelExporter)

OPEN_CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1'
CUT = (
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {"b": [2'
)
#: A call without arguments, as it is read.
CALL = parse('{"name": "f", "arguments": {}}').tool_calls[0]


def meant(reply: Reply) -> Heard:
    """What a client is to have of a reply, beside its calls."""
    thoughts = {at: segment.text for at, segment in enumerate(reply.segments) if segment.kind == "reasoning"}
    said = reply if isinstance(reply, ProviderReply) else ProviderReply(raw="", format=None, segments=[], provider="")
    usage, open_ones = said.usage, {one.segment: one.data for one in said.signatures if not one.redacted}
    return {
        "text": reply.text,
        "reasoning": reply.reasoning or "",
        "signed": [(text, open_ones.get(at, "")) for at, text in thoughts.items() if text],
        "signatures": [(one.data, one.redacted) for one in sorted(said.signatures, key=lambda one: one.redacted)],
        "signature_data": [one.data for one in said.signatures],
        "refusal": said.refusal or "",
        "values": [(call.name, call.arguments) for call in reply.tool_calls],
        "usage": usage and (usage.input_tokens or 0, usage.output_tokens or 0),
        "output_tokens": (usage and usage.output_tokens) or 0,
        "id": said.id or "x",
    }


def check_heard(wire: Wire, heard: Heard, reply: Reply, calls: list[Call]) -> None:
    """A client has what a reply says, as far as its protocol has fields for it."""
    error = export_streams.error_of(reply) if isinstance(reply, ProviderReply) else None
    assert heard.pop("error", None) == (error.message if error else None)
    if not heard:  # the error is in the place of all else
        return
    stop, extension = heard.pop("stop", None), heard.pop("extension", None)
    wanted = meant(reply) | {"calls": [CLIENTS[wire].call(call) for call in calls]}
    assert heard == {key: wanted[key] for key in heard}
    if extension is None:
        return
    assert stop in CLIENTS[wire].cut or not export_streams.is_cut(reply)
    counts = {
        "payloads": len(reply.payloads) + len(reply.unfinished_payloads),
        "actions": len(reply.actions),
        "unfinished_tool_calls": len(reply.unfinished_tool_calls),
        "unfinished_actions": len(reply.unfinished_actions),
    }
    assert {kind: len(extension.get(kind, ())) for kind in counts} == counts
    positions = {item.get("call") for item in extension.get("unfinished_tool_calls", ())} - {None}
    assert wire == "vercel" or positions == {at for at, call in enumerate(calls) if not call.finished}


def check_stream(wire: Wire, events: Events, stream_calls: StreamCalls, **options: Any) -> None:
    """The parts keep to the protocol, and its client has what the reply says; and so do we, where we read it."""
    parts: Parts = list(stream_to_wire(events, wire, stream_calls=stream_calls, **options))
    CLIENTS[wire].check(parts)
    assert export_streams.text_of(events) == reply_of(events).text
    check_heard(wire, CLIENTS[wire].stream(parts), reply_of(events), export_streams.calls_of(events, stream_calls))
    if wire in WIRES:
        check_same(events, wire, stream_calls)


@in_both_ways
@in_each_protocol
def test_corpus(wire: Wire, stream_calls: StreamCalls) -> None:
    assert len(corpus_streams()) > 50
    for events in corpus_streams():
        check_stream(wire, events, stream_calls, id="x")


@in_both_ways
@in_each_protocol
@given(events=streams())
def test_any_stream(wire: Wire, stream_calls: StreamCalls, events: Events) -> None:
    check_stream(wire, events, stream_calls)


@in_each_protocol
@given(st.data())
def test_whole(wire: Wire, data: st.DataObject) -> None:
    reply = reply_of(data.draw(streams(errors=wire.startswith("openai"))))
    heard = CLIENTS[wire].whole(to_wire(reply, wire))
    calls = [Call(call.name, call.arguments_text, True) for call in reply.tool_calls]
    check_heard(wire, heard, reply, calls)


# calls


def called(name: str, text: str, status: Any = "ok") -> ToolCall:
    return ToolCall(name=name, arguments={"a": 1}, arguments_text=text, id=f"id_{name}", status=status)


F, INVALID, G = called("f", '{"a": 1}'), called("invalid_one", '{"a": 1}}', "invalid"), called("g", '{"a": 1}')
CALLS = [F, INVALID, G, called("cut_one", '{"a": [', "truncated")]
EVENTS: Events = [
    *[ev.ToolCallStart(index, call.id, call.name) for index, call in enumerate(CALLS)],
    *[ev.ToolCallDelta(index, call.arguments_text[:4]) for index, call in enumerate(CALLS)],
    *[ev.ToolCallDelta(index, call.arguments_text[4:]) for index, call in enumerate(CALLS)],
    *(ev.ToolCallUnfinished(1, INVALID), ev.ToolCallEnd(2, G), ev.ToolCallEnd(0, F)),
]
DONE = ev.Done(ProviderReply(raw="", format=None, segments=list(CALLS), provider="test"))


@pytest.mark.parametrize("end", [[ev.ToolCallUnfinished(3, CALLS[3]), DONE], [DONE], []], ids=["cut", "done", "no_end"])
@pytest.mark.parametrize("kind", EXPORTERS)
def test_calls_are_sent_when_they_are_complete(kind: type[Exporter], end: Events) -> None:
    """Nothing is sent of those that are not."""
    exporter = kind(id="x")
    sent = exporter.feed(ev.TextDelta("Hi."))
    for event in [*EVENTS, *end]:
        parts = exporter.feed(event)
        assert parts == [] or not isinstance(event, (ev.ToolCallStart, ev.ToolCallDelta))
        assert not isinstance(event, ev.ToolCallEnd) or f'"{event.call.name}"' in json.dumps(parts)
        sent += parts
    seen = json.dumps(sent + exporter.close())
    assert [(call.position, call.name, call.arguments) for call in exporter.calls] == [
        (0, "g", G.arguments_text),
        (1, "f", F.arguments_text),
    ]
    items = exporter.extension["unfinished_tool_calls"]
    assert [(item["name"], item["arguments"], item["call"]) for item in items] == [
        ("invalid_one", INVALID.arguments_text, None),
        ("cut_one", CALLS[3].arguments_text, None),
    ]
    for item in items:
        seen = seen.replace(json.dumps(item), "").replace(f'"unfinished_tool_calls-{item["index"]}"', "")
    assert "_one" not in seen
    assert any(f'"{reason}"' in seen for reason in ("length", "incomplete", "max_tokens"))


@in_both_ways
def test_a_call_that_is_cut(stream_calls: StreamCalls) -> None:
    heard = CLIENTS["openai"].stream(
        [*stream_to_wire(stream([CUT], format="hermes"), "openai", stream_calls=stream_calls)]
    )
    in_pieces = stream_calls == "pieces"
    assert (heard["stop"], [name for name, _ in heard["calls"]]) == ("length", ["f", "g"][: 1 + in_pieces])
    assert heard["extension"]["unfinished_tool_calls"][0]["call"] == (1 if in_pieces else None)
    whole = to_wire(parse(CUT, format="hermes"), "openai")["choices"][0]
    assert [call["function"]["name"] for call in whole["message"]["tool_calls"]] == ["f"]
    assert whole["finish_reason"] == "length"
    assert whole["message"]["outspoken"]["unfinished_tool_calls"][0]["arguments"] == '{"b": ['


def test_arguments_are_done_only_where_the_call_is_complete() -> None:
    parts = list(stream_to_wire(stream([OPEN_CALL], format="hermes"), "openai_responses", stream_calls="pieces"))
    assert not any(part["type"] == "response.function_call_arguments.done" for part in parts)
    assert [part["item"]["status"] for part in parts if part["type"] == "response.output_item.done"] == ["incomplete"]
    assert parts[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert to_wire(parse(OPEN_CALL, format="hermes"), "openai_responses")["output"] == []


def test_refusal_does_not_hide_unfinished_calls() -> None:
    call = parse(OPEN_CALL, format="hermes").unfinished_tool_calls[0]
    begun: Events = [ev.ToolCallStart(0, None, "f"), ev.ToolCallDelta(0, call.arguments_text)]
    refused: Events = [RefusalDelta("No."), Finished("refusal", "refusal")]
    response = list(stream_to_wire([*begun, ev.ToolCallUnfinished(0, call), *refused], "openai_responses"))[-1][
        "response"
    ]
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
    done = ev.Done(ProviderReply(raw="", format=None, segments=[], provider="openai"))
    assert list(stream_to_wire([*refused, done], "openai_responses"))[-1]["response"]["status"] == "completed"


def test_stream_without_an_end_is_truncated() -> None:
    events = [
        event for event in stream([CUT[:60]], format="hermes") if not isinstance(event, ev.Done | ev.ToolCallUnfinished)
    ]
    assert list(stream_to_wire(events, "openai"))[-1]["choices"][0]["finish_reason"] == "length"


def test_ids_are_stable_and_unique() -> None:
    events: Events = []
    for index, id in enumerate(["a", "a", None]):
        events += [ev.ToolCallStart(index, id, "f"), ev.ToolCallDelta(index, "{}")]
        events.append(ev.ToolCallEnd(index, CALL.model_copy(update={"id": id})))
    first, second = (list(stream_to_wire(events, "openai", id="x", created=1)) for _ in range(2))
    assert first == second
    calls = [call for chunk in first for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    ids = [call["id"] for call in calls if "id" in call]
    assert (ids[0], len(set(ids))) == ("a", 3)


def test_interleaved_calls_in_pieces_are_open_at_once() -> None:
    events: Events = [
        *(ev.ToolCallStart(0, "a", "f"), ev.ToolCallDelta(0, "{"), ev.ToolCallStart(1, "b", "g")),
        *(ev.ToolCallDelta(1, "{}"), ev.ToolCallDelta(0, "}"), ev.ToolCallEnd(0, CALL), ev.ToolCallEnd(1, CALL)),
    ]
    parts = stream_to_wire(events, "anthropic", stream_calls="pieces")
    assert [part["index"] for part in parts if part["type"] == "content_block_delta"] == [0, 1, 0]


def test_invalid_json_does_not_break_the_client() -> None:
    text = '{"a": 1}}} {"b"'
    call = CALL.model_copy(update={"status": "invalid", "arguments_text": text})
    events: Events = [ev.ToolCallStart(0, None, "f"), *[ev.ToolCallDelta(0, character) for character in text]]
    events.append(ev.ToolCallUnfinished(0, call))
    heard = CLIENTS["anthropic"].stream([*stream_to_wire(events, "anthropic", stream_calls="pieces")])
    assert heard["stop"] == "max_tokens"
    assert heard["extension"]["unfinished_tool_calls"][0]["arguments"] == text


def test_dynamic_tools() -> None:
    reply = parse('{"name": "f", "arguments": {}}')
    parts = [part for part in stream_to_wire(stream([reply.raw]), "vercel", dynamic=True) if "toolName" in part]
    assert all(part["dynamic"] for part in parts)
    assert to_wire(reply, "vercel", dynamic=True)["parts"][-1]["type"] == "dynamic-tool"


# actions, blocks, errors, and events as bytes


def test_actions_can_be_exported_as_calls() -> None:
    text = "Thought: There.\nAction: click(start_box='(5,2)')"
    plain = list(stream_to_wire(stream([text], format="ui_tars_1_0"), "openai"))
    deltas = [chunk["choices"][0]["delta"] for chunk in plain]
    (action,) = [delta["outspoken"]["actions"][0] for delta in deltas if "outspoken" in delta]
    assert (action["type"], action["point"]["x"]) == ("click", 5.0)
    assert plain[-1]["choices"][0]["finish_reason"] == "stop"
    as_call = to_wire(parse(text, format="ui_tars_1_0"), "openai", action_tool="computer")["choices"][0]
    (call,) = as_call["message"]["tool_calls"]
    assert call["function"]["name"] == "computer"
    assert '"type": "click"' in call["function"]["arguments"]
    assert as_call["finish_reason"] == "tool_calls"


def test_text_that_an_action_types_is_shown_live() -> None:
    text = "Thought: x\nAction: type(content='mosses and ferns')"
    parts = list(stream_to_wire(stream([text[:40], text[40:]], format="ui_tars_1_0"), "vercel"))
    live = [part for part in parts if part["type"] == "data-action-text"]
    assert "".join(part["data"]["text"] for part in live) == "mosses and ferns"
    assert all(part["transient"] for part in live)


def test_text_and_thinking_are_never_open_at_once() -> None:
    text = "<think>a</think>b<think>c</think>d"
    kinds = [part["type"] for part in stream_to_wire(stream([text], format="hermes"), "anthropic")]
    for before, after in pairwise(kinds):
        assert (before == "content_block_delta") <= (after in ("content_block_delta", "content_block_stop"))


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        ("openai", {"error": {"message": "Later.", "type": "overloaded_error", "param": None, "code": "c"}}),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Later."}}),
    ],
)
def test_error_is_the_last_event(wire: Any, part: dict[str, Any]) -> None:
    events: Events = [ev.TextDelta("A"), Failed(ProviderError(message="Later.", type="overloaded_error", code="c"))]
    parts = list(stream_to_wire(events, wire))
    assert parts[-1] == part
    assert CLIENTS[wire].stream(parts) == {"error": "Later."}


@pytest.mark.parametrize("wire", ["openai", "vercel"])
def test_server_sent_events(wire: Any) -> None:
    text = written([{"type": "text", "text": "line\nbreak é", "n": float("nan")}], wire)
    assert text == 'data: {"type":"text","text":"line\\nbreak é","n":null}\n\ndata: [DONE]\n\n'.encode()


@pytest.mark.parametrize("wire", ["anthropic", "openai_responses"])
def test_named_server_sent_events(wire: Any) -> None:
    assert written([{"type": "ping"}], wire) == b'event: ping\ndata: {"type":"ping"}\n\n'
