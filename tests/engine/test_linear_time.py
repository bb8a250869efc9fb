"""Time grows linearly with the text: repeated tokens, and provider chunks of any size."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from outspoken.authoring.fuzz.repetitions import Repetition, check_steps, example_of, main, repetitions
from outspoken.grammar.registry import names
from outspoken.providers import LLMResponseParser, ProviderStream
from tests.tables import tables

TABLES = tables(__file__)

#: What took more than linear time once: refused places that have the same end, entries that never end.
HOSTILE = [
    ("react_json", "", 'Action: {"action":"Final Answer","action_input":"'),
    ("apertus", '<|assistant_start|><|tools_prefix|>[{"get_weather": ', '{"a": "'),
    ("hermes", "", "<tool_call>"),
    ("qwen3_coder", "", "<tool_call>"),
]


@pytest.mark.parametrize(("name", "beginning", "unit"), HOSTILE)
def test_refused_places_with_one_end_take_linear_steps(name: str, beginning: str, unit: str) -> None:
    for pieces in (0, 256):
        assert check_steps(name, Repetition(beginning, unit), pieces, (4_000, 16_000)) is None


def test_repeated_tokens_take_linear_steps() -> None:
    for name in sorted(names())[::8]:  # `python -m tools.fuzz.repetitions` reads them all
        random = Random(name)
        chosen = random.choice(repetitions(name, example_of(name)))
        assert check_steps(name, chosen, random.choice((0, 64)), (4_000, 16_000)) is None


def test_repetitions_are_tokens_behind_beginnings() -> None:
    found = repetitions("hermes", example_of("hermes"))
    assert Repetition("", "<tool_call>") in found
    assert Repetition('Let me look that up.\n<tool_call>\n{"name": ', "</tool_call>") in found
    assert len(set(found)) == len(found)


def test_quadratic_reading_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("outspoken.authoring.fuzz.repetitions.seconds", lambda task: 0.1)  # pyright: ignore
    assert main(["text", "--every", "5", "--pieces", "0"]) == 0
    times = iter([0.1, 0.7] * 1_000)
    monkeypatch.setattr("outspoken.authoring.fuzz.repetitions.seconds", lambda task: next(times))  # pyright: ignore
    assert main(["text", "--every", "5", "--pieces", "0"]) == 1
    assert "text whole: 0.1, 0.7: " in capsys.readouterr().out


# provider chunks

CHUNK: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": 'a "}: ]}: b'}, "finish_reason": None}]}
#: Bodies in which JSON seems to end again and again.
BODIES = TABLES["BODIES"]


@pytest.mark.parametrize("name", BODIES)
def test_json_of_a_body_is_parsed_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits into small pieces do not make the framer parse what is incomplete."""
    body, parsed = BODIES[name], 0
    loads = json.loads

    def counted(text: str) -> Any:
        nonlocal parsed
        parsed += len(text)
        return loads(text)

    for size in (1, 7, 64, len(body)):
        parsed, stream = 0, ProviderStream("openai")
        with monkeypatch.context() as patch:
            patch.setattr("outspoken.providers.decode.framing.json.loads", counted)
            for at in range(0, len(body), size):
                stream.feed(body[at : at + size])
            stream.close()
        assert stream.reply is not None
        assert stream.reply.text.startswith('a "}: ]}: b')
        assert parsed <= 2 * len(body), size


def test_accumulated_message_is_joined_when_asked_for() -> None:
    parser = LLMResponseParser(think_prefilled=True)
    for text in ("I ", "see.</think>", "Good ", "day."):
        parser.parse_openai({"content": text})
    for arguments in ('{"city": ', '"Paris"}'):
        parser.parse_openai(
            {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "look", "arguments": arguments}}]}
        )
    parser.close()
    assert (parser.thinking, parser.text) == ("I see.", "Good day.")
    assert [call["function"] for call in parser.tool_calls] == [{"name": "look", "arguments": '{"city": "Paris"}'}]
    assert parser.tool_calls == parser.tool_calls
