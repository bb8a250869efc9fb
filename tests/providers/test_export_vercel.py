"""Vercel's UI message stream: our parts against the protocol, as its documentation and its client have it.

https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol and the package `ai` 7.0 (`ui-message-chunks.ts`,
`process-ui-message-stream.ts`), of which this is a small model: which fields each part may have, and what the client
throws for.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given

from outspoken import parse, stream
from outspoken.providers.replies import ProviderReply
from outspoken.providers.wire.parts import StreamCalls
from outspoken.providers.wire.writing import stream_to_wire, to_wire
from tests.providers.export_streams import (
    Call,
    Events,
    calls_of,
    corpus_streams,
    error_of,
    in_both_ways,
    is_cut,
    reply_of,
    streams,
    text_of,
    written,
)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _true(value: Any) -> bool:
    return isinstance(value, bool)


def _any(value: Any) -> bool:
    return True


def _metadata(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, dict) for inner in cast("dict[str, Any]", value).values())


def _reason(value: Any) -> bool:
    return value in ("stop", "length", "content-filter", "tool-calls", "error", "other")


class Fields(NamedTuple):
    """The fields of a part, beside its type, and what each may hold."""

    needed: dict[str, Callable[[Any], bool]]
    optional: Mapping[str, Callable[[Any], bool]] = MappingProxyType({})


_BLOCK = Fields({"id": _text}, {"providerMetadata": _metadata})
_DELTA = Fields({"id": _text, "delta": _text}, {"providerMetadata": _metadata})
_TOOL = {"toolCallId": _text, "toolName": _text}
PARTS = {
    "start": Fields({}, {"messageId": _text, "messageMetadata": _any}),
    "start-step": Fields({}),
    "text-start": _BLOCK,
    "text-delta": _DELTA,
    "text-end": _BLOCK,
    "reasoning-start": _BLOCK,
    "reasoning-delta": _DELTA,
    "reasoning-end": _BLOCK,
    "tool-input-start": Fields(_TOOL, {"dynamic": _true}),
    "tool-input-delta": Fields({"toolCallId": _text, "inputTextDelta": _text}),
    "tool-input-available": Fields(_TOOL | {"input": _any}, {"dynamic": _true}),
    "tool-input-error": Fields(_TOOL | {"input": _any, "errorText": _text}, {"dynamic": _true}),
    "data-": Fields({"data": _any}, {"id": _text, "transient": _true}),
    "error": Fields({"errorText": _text}),
    "finish-step": Fields({}),
    "finish": Fields({}, {"finishReason": _reason, "messageMetadata": _any}),
}


def check_parts(parts: list[Any]) -> None:
    for part in parts:
        kind: str = part["type"]
        fields = PARTS["data-" if kind.startswith("data-") else kind]
        known = {**fields.needed, **fields.optional}
        assert set(fields.needed) <= set(part) - {"type"} <= set(known)
        assert all(known[key](value) for key, value in part.items() if key != "type")
    kinds = [part["type"] for part in parts]
    assert (kinds[:2], kinds[-2:]) == (["start", "start-step"], ["finish-step", "finish"])


class Client:
    """What the SDK's client makes of the parts. It raises KeyError where the SDK throws: for what is not open."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts: list[dict[str, Any]] = []
        self.open: dict[str, dict[str, Any]] = {}
        self.tools: dict[str, dict[str, Any]] = {}
        for part in parts:
            self.take(part)
        assert not self.open

    def take(self, part: dict[str, Any]) -> None:
        kind: str = part["type"]
        if kind in ("text-start", "reasoning-start"):
            self.open[part["id"]] = {"type": kind.removesuffix("-start"), "text": ""}
            self.parts.append(self.open[part["id"]])
        elif kind in ("text-delta", "reasoning-delta"):
            self.open[part["id"]]["text"] += part["delta"]
        elif kind in ("text-end", "reasoning-end"):
            self.open.pop(part["id"]).update(providerMetadata=part.get("providerMetadata"))
        elif kind == "tool-input-start":
            assert part["toolCallId"] not in self.tools
            self.tools[part["toolCallId"]] = {"type": "tool", "name": part["toolName"], "raw": "", "state": "streaming"}
            self.parts.append(self.tools[part["toolCallId"]])
        elif kind == "tool-input-delta":
            self.tools[part["toolCallId"]]["raw"] += part["inputTextDelta"]
        elif kind == "tool-input-available":
            self.tools[part["toolCallId"]].update(state="available", input=part["input"])
        elif kind == "tool-input-error":
            self.tools[part["toolCallId"]].update(state="error", input=part["input"])
        elif kind.startswith("data-") and not part.get("transient"):
            assert (kind, part["id"]) not in [(known["type"], known["id"]) for known in self.parts if "id" in known]
            self.parts.append(part)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [part for part in self.parts if part["type"] == kind]


def check_message(events: Events, parts: list[Any], stream_calls: StreamCalls) -> None:
    reply = reply_of(events)
    client = Client(parts)
    assert "".join(part["text"] for part in client.of("text")) == reply.text == text_of(events)
    thoughts = [part["text"] for part in client.of("reasoning") if part["text"]]
    assert "\n\n".join(thoughts) == (reply.reasoning or "")
    tools = client.of("tool")
    assert [Call(tool["name"], tool["raw"], tool["state"] == "available") for tool in tools] == calls_of(
        events, stream_calls
    )
    assert all(tool["state"] in ("available", "error") for tool in tools)
    for tool in tools:
        assert tool["input"] == (json.loads(tool["raw"]) if tool["state"] == "available" else tool["raw"])
    assert len(client.of("data-payload")) == len(reply.payloads) + len(reply.unfinished_payloads)
    assert len(client.of("data-action")) == len(reply.actions)
    assert len(client.of("data-unfinished-action")) == len(reply.unfinished_actions)
    failed = [tool for tool in tools if tool["state"] == "error"]
    assert len(client.of("data-unfinished-call")) + len(failed) == len(reply.unfinished_tool_calls)
    if is_cut(reply):
        assert parts[-1]["finishReason"] not in ("stop", "tool-calls")


@in_both_ways
def test_corpus(stream_calls: StreamCalls) -> None:
    for events in corpus_streams():
        parts = list(stream_to_wire(events, "vercel", stream_calls=stream_calls, id="m"))
        check_parts(parts)
        check_message(events, parts, stream_calls)


@in_both_ways
@given(events=streams())
def test_any_stream(stream_calls: StreamCalls, events: Events) -> None:
    parts = list(stream_to_wire(events, "vercel", stream_calls=stream_calls))
    check_parts(parts)
    check_message(events, parts, stream_calls)
    reply = reply_of(events)
    assert isinstance(reply, ProviderReply)
    assert parts[0]["messageId"] == "r_1"
    assert [part["errorText"] for part in parts if part["type"] == "error"] == (
        [error.message] if (error := error_of(reply)) else []
    )
    metadata = [part["providerMetadata"] for part in Client(parts).of("reasoning") if part["providerMetadata"]]
    assert [m["outspoken"]["signature"] for m in metadata] == [s.data for s in reply.signatures]
    assert [part["data"]["text"] for part in parts if part["type"] == "data-refusal"] == (
        [reply.refusal] if reply.refusal else []
    )


@given(streams(errors=False))
def test_whole(events: Events) -> None:
    """The message is the one that the client makes of the parts."""
    reply = reply_of(events)
    message = to_wire(reply, "vercel", id="m")
    shown = [part for part in message["parts"] if part["type"] == "text"]
    assert "".join(part["text"] for part in shown) == reply.text
    tools = [part for part in message["parts"] if part["type"].startswith("tool-")]
    assert [(tool["type"], tool["input"]) for tool in tools] == [
        (f"tool-{call.name}", call.arguments) for call in reply.tool_calls
    ]
    assert {part["state"] for part in message["parts"] if "state" in part} <= {"done", "input-available"}


def test_text_that_an_action_types_is_shown_live() -> None:
    text = "Thought: x\nAction: type(content='mosses and ferns')"
    parts = list(stream_to_wire(stream([text[:40], text[40:]], format="ui_tars_1_0"), "vercel"))
    live = [part for part in parts if part["type"] == "data-action-text"]
    assert "".join(part["data"]["text"] for part in live) == "mosses and ferns"
    assert all(part["transient"] for part in live)


def test_dynamic_tools() -> None:
    reply = parse('{"name": "f", "arguments": {}}')
    parts = [part for part in stream_to_wire(stream([reply.raw]), "vercel", dynamic=True) if "toolName" in part]
    assert all(part["dynamic"] for part in parts)
    assert to_wire(reply, "vercel", dynamic=True)["parts"][-1]["type"] == "dynamic-tool"


@pytest.mark.parametrize("wire", ["openai", "vercel"])
def test_server_sent_events(wire: Any) -> None:
    text = written([{"type": "text", "text": "line\nbreak é", "n": float("nan")}], wire)
    assert text == 'data: {"type":"text","text":"line\\nbreak é","n":null}\n\ndata: [DONE]\n\n'.encode()


@pytest.mark.parametrize("wire", ["anthropic", "openai_responses"])
def test_named_server_sent_events(wire: Any) -> None:
    assert written([{"type": "ping"}], wire) == b'event: ping\ndata: {"type":"ping"}\n\n'
