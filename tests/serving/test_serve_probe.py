"""The probe of CanIToolCall against the proxy, in front of an upstream that writes raw text of a format."""

from __future__ import annotations

from typing import Any

import pytest
from canitoolcall.probe import BUILTIN_SCENARIOS, probe
from starlette.responses import JSONResponse, Response

from outspoken import Reasoning, Text, ToolCall, render
from tests.loops import some
from tests.serving.serving import completion, proxied, streaming, written

_EVENT = {
    "title": "Design review",
    "start": "2026-10-01T15:00:00Z",
    "attendees": [{"name": "Ana", "email": "ana@example.com"}, {"name": "Bo", "email": "bo@example.com"}],
    "location": {"city": "Berlin", "room": "4.12"},
}


def _call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def _text(text: str) -> Text:
    return Text(text=text, span=(0, 0))


#: What the model answers, by scenario.
ANSWERS: dict[str, list[Any]] = {
    "single-call": [_text("Let me look."), _call("get_weather", city="Paris")],
    "parallel-calls": [_call("get_weather", city="Paris"), _call("get_weather", city="Tokyo")],
    "no-call": [_text("42")],
    "nested-args": [_call("create_event", **_EVENT)],
    "unicode-args": [_call("save_note", title="Grüße aus Zürich", body="Café ☕ in 東京 — naïve résumé 🚀")],
    "empty-args": [_call("get_server_time")],
    "forced-tool-choice": [_call("get_weather", city="Lisbon")],
    "tool-result-followup": [_text("It is 18 degrees and clear.")],
    "reasoning-then-call": [Reasoning(text="9.9 is 9.90.", span=(0, 0)), _call("record_answer", answer="9.9")],
}


FORMATS = (
    "hermes", "qwen3_coder", "glm_4_5", "deepseek_v3_1", "mistral", "kimi_k2", "llama3_json", "minimax_m2", "harmony",
    "deepseek_v3_2",
)  # fmt: skip


@pytest.mark.parametrize("format_", some(FORMATS, "probe", 0.34))
def test_the_neutral_probe_passes(format_: str) -> None:
    asked_for = {str(scenario.messages[0]["content"]): scenario.id for scenario in BUILTIN_SCENARIOS}
    assert {*asked_for.values()} <= ANSWERS.keys() | {"tool-result-followup"}

    async def answer(asked: dict[str, Any]) -> Response:
        is_followup = len(asked["messages"]) > 1
        name = "tool-result-followup" if is_followup else asked_for[asked["messages"][0]["content"]]
        text = render(ANSWERS[name], format_)
        if asked.get("stream"):
            return await streaming(written(text, 3))(asked)
        return JSONResponse(completion({"content": text}))

    with proxied(answer, format=format_) as (front, _, _):
        report = probe(f"{front.url}/v1", "mosses-2", concurrency=1)
    failed = [(o.scenario_id, o.stream, o.status, o.detail) for o in report.outcomes if o.status != "pass"]
    assert failed == []
    assert len(report.outcomes) == 3 * len(BUILTIN_SCENARIOS)
