"""The list of formats, and which of them a text may be in."""

from __future__ import annotations

import pytest

from outspoken import Candidate, FormatInfo, detect, formats, parse

HERMES = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
WEATHER = {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}
FORMATS = {info.name: info for info in formats()}


def test_formats_are_listed_by_name() -> None:
    assert list(FORMATS) == sorted(FORMATS)
    assert len(FORMATS) >= 14


def test_a_format_says_what_its_grammar_says() -> None:
    assert FORMATS["hermes"] == FormatInfo(
        name="hermes",
        title="Hermes JSON in tool_call tags",
        models=(
            *("Hermes 2 Pro", "Hermes 3", "Qwen2.5", "QwQ", "Qwen3", "Granite 4.0", "Granite 4.1", "Trinity"),
            *("Reka Edge", "Bielik 3", "SmolLM3", "MiMo-VL"),
        ),
        aliases=(
            *("qwen", "qwen25", "qwen2_5", "qwen3", "qwen3_json", "qwq", "granite4", "granite_4", "trinity", "reka"),
            *("reka_edge", "bielik", "smollm3", "mimo_vl", "hermes_2_pro", "hermes3"),
        ),
        source="chat templates of NousResearch/Hermes-3-Llama-3.1-8B (tool_use) and Qwen/Qwen2.5-7B-Instruct",
        example="Let me look that up.\n"
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    )


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_of_a_format_is_detected(name: str) -> None:
    example = FORMATS[name].example
    best = detect(example)[0]
    assert best.format == name
    assert best.status == "ok"
    assert parse(example).format in (name, None)


def test_candidates_say_what_speaks_for_them() -> None:
    assert detect(HERMES) == [
        Candidate(format="hermes", status="ok", covered=0.881, calls=("get_weather",), known=True),
        Candidate(format="json", status="ok", covered=0.607, calls=("get_weather",), known=True),
    ]


@pytest.mark.parametrize("text", ["", "Hello!", "A tag like `<tool_call>` is text, and so is [a list]."])
def test_plain_text_has_no_candidates(text: str) -> None:
    assert detect(text) == []


def test_reasoning_alone_is_plain_text() -> None:
    assert [c.format for c in detect("<think>\nHm.\n</think>\n\nHello!")] == ["text"]


def test_an_envelope_without_calls_is_found() -> None:
    assert [(c.format, c.calls) for c in detect('{"content": "Hi", "needsMoreWork": false}')] == [("json", ())]


def test_a_damaged_text_has_candidates() -> None:
    found = detect(HERMES.removesuffix("\n</tool_call>"))
    assert [(c.format, c.status) for c in found] == [("hermes", "truncated"), ("json", "ok")]


@pytest.mark.parametrize(("tool", "known"), [("get_weather", True), ("get_time", False)])
def test_candidates_know_the_tools(tool: str, known: bool) -> None:
    assert {c.known for c in detect(HERMES, tools=[{**WEATHER, "name": tool}])} == {known}


@pytest.mark.parametrize("text", [HERMES, HERMES[:60], "Hello", '{"name": "a", "arguments": {}}'])
def test_the_first_candidate_is_the_one_that_parse_picks(text: str) -> None:
    assert [c.format for c in detect(text)][:1] == [f for f in [parse(text).format] if f is not None]
