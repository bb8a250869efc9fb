"""The formats of models by their ids, as hubs, Ollama, files, gateways and fine-tunes write them."""

from __future__ import annotations

import pytest

from outspoken import Parser, UnknownFormatError, parse, parse_response
from outspoken.grammar import registry
from outspoken.grammar.model_ids import PromptEnds, bare_id
from tests.streams import streamed
from tests.tables import tables

TABLES = tables(__file__)
PAIRS = [(model, name) for name, models in TABLES["IDS"].items() for model in models]


@pytest.mark.parametrize(("model", "name"), PAIRS)
def test_a_model_has_its_format(model: str, name: str) -> None:
    assert Parser.for_model(model).format == name


@pytest.mark.parametrize("model", [*TABLES["UNKNOWN"], "x" * 300])
def test_a_model_that_is_not_known_has_no_format(model: str) -> None:
    with pytest.raises(UnknownFormatError, match="there is no format"):
        Parser.for_model(model)


def test_a_provider_is_named_for_models_that_it_alone_serves() -> None:
    with pytest.raises(UnknownFormatError, match="provider='anthropic'") as caught:
        parse("Good evening.", "claude-sonnet-4-5")
    assert caught.value.provider == "anthropic"
    assert caught.value.nearest == []


@pytest.mark.parametrize("name", ["qwen3_codr", "hermes_2_prp", "deepseek_v3_x", "llama3_jsn"])
def test_a_misspelled_name_of_a_format_is_no_model(name: str) -> None:
    with pytest.raises(UnknownFormatError, match="did you mean"):
        Parser(name)


def test_near_families_are_named() -> None:
    with pytest.raises(UnknownFormatError) as caught:
        Parser.for_model("meta-llama/Llama-3.9-8B")
    assert {*caught.value.nearest} <= {"llama_3_1", "llama_3_2", "llama_3_3", "llama3_1", "llama3_2", "llama3_3"}


def test_every_pattern_is_of_one_format() -> None:
    patterns = [pattern for _, pattern, _ in registry.ids(registry.edition())]
    assert sorted(set(patterns)) == sorted(patterns)


ENDS = TABLES["ENDS"]


@pytest.mark.parametrize(("model", "thinking", "end"), ENDS)
def test_the_end_of_the_prompt_is_known(model: str, thinking: bool | None, end: str | None) -> None:
    assert Parser.for_model(model, thinking=thinking).options.prefix == end


def test_reasoning_that_the_prompt_opened_needs_no_prefix() -> None:
    text = "They greet me.\n</think>\n\nGood evening!"
    parser = Parser.for_model("Qwen/Qwen3-30B-A3B-Thinking-2507")
    for reply in (parser.parse(text), parse(text, "Qwen/Qwen3-30B-A3B-Thinking-2507")):
        assert (reply.reasoning, reply.text, reply.diagnostics) == ("They greet me.", "Good evening!", [])
    assert streamed(parser, text) == parser.parse(text)
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert parse_response(body, format="Qwen/Qwen3-30B-A3B-Thinking-2507").reasoning == "They greet me."
    assert parser.parse(text, prefix="").reasoning != "They greet me."
    assert parser.replace(repair="none").parse(text).reasoning == "They greet me."
    assert parser.replace(format="hermes").options.prefix is None


def test_the_prompt_of_a_model_that_does_not_think_opens_nothing() -> None:
    reply = Parser.for_model("Qwen/Qwen3.5-9B", thinking=False).parse("Good evening!")
    assert (reply.reasoning, reply.text) == (None, "Good evening!")


def test_ends_are_written_as_the_header_says() -> None:
    assert PromptEnds.of("") == PromptEnds()
    assert PromptEnds.of(r"plain </think> | thinking <think>\n") == PromptEnds("<think>\n", "</think>", False)
    for wrong in ("<think>", "thinking <a> | thinking <b>", "plain"[:3]):
        with pytest.raises(ValueError, match="the default first"):
            PromptEnds.of(wrong)


def test_ids_are_compared_without_owner_and_file() -> None:
    assert bare_id("C:\\models\\Qwen3-8B.Q4_K_M.gguf") == "qwen3-8b.q4-k-m"
    assert bare_id("  models--Qwen--Qwen3-8B ") == "qwen3-8b"
    assert len(bare_id("a" * 100_000)) == 300
