"""The probe of CanIToolCall, in front of a model of any format that answers it as it should."""

from __future__ import annotations

from typing import Any

from canitoolcall.probe import BUILTIN_SCENARIOS, probe
from starlette.responses import Response

from tests.integrations.model_texts import written
from tests.serving.serving import answering
from tests.tables import tables

FORMATS: list[str] = tables(__file__)["FORMATS"]
#: What the model answers, by scenario.
ANSWERS: dict[str, Any] = tables(__file__)["ANSWERS"]
#: The scenarios by their questions.
_SCENARIOS = {str(scenario.messages[0]["content"]): scenario.id for scenario in BUILTIN_SCENARIOS}


async def answer(asked: dict[str, Any]) -> Response:
    """The raw text of a model that has the name of a format."""
    is_followup = len(asked["messages"]) > 1
    said = dict(ANSWERS["tool-result-followup" if is_followup else _SCENARIOS[asked["messages"][0]["content"]]])
    return await answering(written(asked["model"], *said.pop("calls", ()), **said, tools=None), size=3)(asked)


def check(url: str, format: str, **options: Any) -> None:
    """All scenarios pass, whole and streamed."""
    report = probe(f"{url}/v1", format, concurrency=1, **options)
    assert [(o.scenario_id, o.stream, o.detail) for o in report.outcomes if o.status != "pass"] == []
    assert len(report.outcomes) == 3 * len(BUILTIN_SCENARIOS)
