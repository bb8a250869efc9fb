"""Calls of streams as all protocols send them by default: each when it is complete, and nothing of others."""

import json
from typing import Any

import pytest

from outspoken import ToolCall
from outspoken.providers.replies import ProviderReply
from outspoken.providers.wire.chat_completions.exporter import ChatCompletionsExporter
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.messages.exporter import AnthropicExporter
from outspoken.providers.wire.responses.exporter import ResponsesExporter
from outspoken.providers.wire.vercel import VercelExporter
from outspoken.results import events as ev
from tests.providers.export_streams import Events


def call(name: str, text: str, status: Any = "ok") -> ToolCall:
    return ToolCall(name=name, arguments={"a": 1}, arguments_text=text, id=f"id_{name}", status=status)


F, INVALID, G = call("f", '{"a": 1}'), call("invalid_one", '{"a": 1}}', "invalid"), call("g", '{"a": 1}')
CALLS = [F, INVALID, G, call("cut_one", '{"a": [', "truncated")]
EVENTS: Events = [
    *[ev.ToolCallStart(index, call.id, call.name) for index, call in enumerate(CALLS)],
    *[ev.ToolCallDelta(index, call.arguments_text[:4]) for index, call in enumerate(CALLS)],
    *[ev.ToolCallDelta(index, call.arguments_text[4:]) for index, call in enumerate(CALLS)],
    *(ev.ToolCallUnfinished(1, INVALID), ev.ToolCallEnd(2, G), ev.ToolCallEnd(0, F)),
]
DONE = ev.Done(ProviderReply(raw="", format=None, segments=list(CALLS), provider="test"))


@pytest.mark.parametrize("end", [[ev.ToolCallUnfinished(3, CALLS[3]), DONE], [DONE], []], ids=["cut", "done", "no_end"])
@pytest.mark.parametrize("kind", [ChatCompletionsExporter, ResponsesExporter, AnthropicExporter, VercelExporter])
def test_calls_are_sent_when_they_are_complete(kind: type[Exporter], end: Events) -> None:
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
