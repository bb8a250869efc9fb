"""Calls of streams as all protocols send them by default: each when it is complete, and nothing of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from outspoken import ToolCall
from outspoken.providers.export.anthropic import AnthropicExporter
from outspoken.providers.export.chat_completions import ChatCompletionsExporter
from outspoken.providers.export.exporter import Exporter
from outspoken.providers.export.responses import ResponsesExporter
from outspoken.providers.export.vercel import VercelExporter
from outspoken.providers.replies import ProviderReply
from outspoken.results import events as ev
from tests.providers.export_streams import Events

EXPORTERS: list[Callable[..., Exporter]] = [
    ChatCompletionsExporter,
    ResponsesExporter,
    AnthropicExporter,
    VercelExporter,
]
REASONS = {"length", "incomplete", "max_tokens"}


def call(name: str, text: str, status: Any = "ok") -> ToolCall:
    return ToolCall(name=name, arguments={"a": 1}, arguments_text=text, id=f"id_{name}", status=status)


#: `f` and `h` are complete, and interleaved with a call that is invalid and one that is cut
CALLS = [call("f", '{"a": 1}'), call("invalid_one", '{"a": 1}}', "invalid"), call("h", '{"a": 1}')]
CUT = call("cut_one", '{"a": [', "truncated")
EVENTS: Events = [
    ev.TextDelta("Hi."),
    *[ev.ToolCallStart(index, call.id, call.name) for index, call in enumerate([*CALLS, CUT])],
    *[ev.ToolCallDelta(index, call.arguments_text[:4]) for index, call in enumerate([*CALLS, CUT])],
    *[ev.ToolCallDelta(index, call.arguments_text[4:]) for index, call in enumerate([*CALLS, CUT])],
    ev.ToolCallUnfinished(1, CALLS[1]),
    ev.ToolCallEnd(2, CALLS[2]),
    ev.ToolCallEnd(0, CALLS[0]),
]
END: Events = [
    ev.ToolCallUnfinished(3, CUT),
    ev.Done(ProviderReply(raw="", format=None, segments=[*CALLS, CUT], provider="test")),
]


def without_extension(value: Any) -> Any:
    """What a client reads that does not know the extension."""
    if isinstance(value, list):
        return [without_extension(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if fields.get("type") == "data-unfinished-call":
        return None
    return {key: without_extension(item) for key, item in fields.items() if key != "outspoken"}


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("end", [END, []], ids=["cut", "no_end"])
def test_calls_are_sent_when_they_are_complete(exporter: Callable[..., Exporter], end: Events) -> None:
    to = exporter(id="x")
    sent: list[Any] = []
    for event in [*EVENTS, *end]:
        parts = to.feed(event)
        if isinstance(event, (ev.ToolCallStart, ev.ToolCallDelta)):
            assert parts == []
        elif isinstance(event, ev.ToolCallEnd):
            assert f'"{event.call.name}"' in json.dumps(parts)
        sent += parts
    sent += to.close()
    assert [(call.position, call.name, call.arguments) for call in to.calls] == [
        (0, "h", '{"a": 1}'),
        (1, "f", '{"a": 1}'),
    ]
    seen = json.dumps(without_extension(sent))
    assert "_one" not in seen
    assert any(f'"{reason}"' in seen for reason in REASONS)
    beyond = [(item["name"], item["arguments"], item["call"]) for item in to.extension["unfinished_tool_calls"]]
    assert beyond == [("invalid_one", '{"a": 1}}', None), ("cut_one", '{"a": [', None)]
