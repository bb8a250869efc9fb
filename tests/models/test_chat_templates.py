"""The format of a model: from its chat template, and from its id."""

from __future__ import annotations

import json
import types
from pathlib import Path

import pytest

from outspoken import Parser, UnknownFormatError, parse, parse_response
from outspoken.grammar import registry
from outspoken.grammar.model_ids import PromptEnds, bare_id
from outspoken.models.finding import find_model
from outspoken.parsing.parser import read_sound
from outspoken.results.errors import UnreadTemplateError
from tests.loops import some
from tests.streams import streamed
from tests.tables import tables

TABLES = tables(__file__)

CHATML, OPENED, SWITCH = [TABLES[name] for name in ("CHATML", "OPENED", "SWITCH")]


def chatml(call: str, before: str = "", behind: str = "", end: str = "") -> str:
    """A template whose calls are written by `call`, with markers round all of them."""
    calls = f"{TABLES['EACH']}{call}{{% endfor %}}"
    if before:
        calls = f"{{% if message.tool_calls %}}{{{{ '{before}' }}}}{calls}{{{{ '{behind}' }}}}{{% endif %}}"
    return CHATML.replace("CALLS", calls).replace("END", end)


TEMPLATES = {name: chatml(*parts) for name, parts in TABLES["CALLS"].items()}


# the format of a model: from its chat template, and from its id


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_format_that_reads_a_template_back_is_proven(name: str) -> None:
    found = find_model(TEMPLATES[name], read_sound)
    assert found.proof is not None
    assert found.format == found.proof.format == name.split(",")[0]


@pytest.mark.parametrize(("name", "marker", "other"), some(TABLES["CHANGES"], "markers", 0.5))
def test_a_template_with_another_marker_is_not_proven_for_its_format(name: str, marker: str, other: str) -> None:
    assert marker in TEMPLATES[name]
    changed = TEMPLATES[name].replace(marker, other)
    try:
        found = find_model(changed, read_sound)
    except UnreadTemplateError:
        return
    assert found.proof is not None  # another format reads every call, with its arguments and nothing else
    assert found.proof.format == found.format
    assert found.format != name or "ponder" in other


def test_an_error_says_how_to_get_a_format() -> None:
    with pytest.raises(UnreadTemplateError, match="outspoken grammar new"):
        Parser.for_model(TEMPLATES["glm_4_5"].replace("<arg_key>", "<key_of>"))


def test_the_end_of_the_prompt_is_that_of_the_template() -> None:
    ends = {name: find_model(TEMPLATES[name], read_sound).ends for name in TEMPLATES if name.startswith("hermes")}
    start = "<|im_start|>assistant\n"
    assert ends["hermes"] == (start, start, True)
    assert ends["hermes, which always thinks"] == (f"{start}<think>\n", f"{start}<think>\n", True)
    assert ends["hermes, with a switch"] == (start, f"{start}<think>\n\n</think>\n\n", True)
    parser = Parser.for_model(TEMPLATES["hermes, which always thinks"])
    assert parser.parse("Hm.\n</think>\n\nYes.").reasoning == "Hm."


def test_a_folder_a_configuration_and_a_tokenizer_hold_a_template(tmp_path: Path) -> None:
    template = TEMPLATES["glm_4_5"]
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "eos_token": "<|im_end|>"}))
    several = {"default": "{{ messages[0].content }}", "tool_use": template}
    for source in (
        folder,
        str(folder / "tokenizer_config.json"),
        types.SimpleNamespace(chat_template=template, special_tokens_map={"eos_token": "<|im_end|>"}),
        types.SimpleNamespace(chat_template=several, name_or_path="somebody/something"),
        types.SimpleNamespace(tokenizer=types.SimpleNamespace(chat_template=template)),
    ):
        assert Parser.for_model(source).format == "glm_4_5"


def test_without_a_template_the_id_counts(tmp_path: Path) -> None:
    folder = tmp_path / "Qwen3-Coder-30B-A3B-Instruct"
    folder.mkdir()
    for source in (
        folder,
        types.SimpleNamespace(chat_template=None, name_or_path="Qwen/Qwen3-Coder-Next"),
        types.SimpleNamespace(config=types.SimpleNamespace(_name_or_path="Qwen/Qwen3-Coder-Next")),
        types.SimpleNamespace(chat_template="{{ messages[0].content }}", name_or_path="Qwen/Qwen3-Coder-Next"),
    ):
        assert Parser.for_model(source).format == "qwen3_coder"


def client(*models: str) -> types.SimpleNamespace:
    """What stands for a client of a server with some models."""
    listed = types.SimpleNamespace(data=[types.SimpleNamespace(id=model) for model in models])
    return types.SimpleNamespace(models=types.SimpleNamespace(list=lambda: listed))


def test_a_server_is_asked_for_its_model() -> None:
    assert Parser.for_model(client("Qwen/Qwen3-8B")).format == "hermes"
    assert Parser.for_model(client("nomic-embed-text", "Qwen/Qwen3-8B")).format == "hermes"
    with pytest.raises(ValueError, match="several formats"):
        Parser.for_model(client("Qwen/Qwen3-8B", "openai/gpt-oss-20b"))
    with pytest.raises(ValueError, match="lists no model"):
        Parser.for_model(client())
    with pytest.raises(UnknownFormatError):
        Parser.for_model(client("nomic-embed-text"))


@pytest.mark.parametrize("template", TABLES["MISTAKES"])
def test_a_template_that_cannot_be_read_back_says_so(template: str) -> None:
    with pytest.raises(UnreadTemplateError):
        Parser.for_model(template)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="expected an id, a path"):
        Parser.for_model(3)
    with pytest.raises(FileNotFoundError):
        Parser.for_model(tmp_path / "absent")


def test_what_ends_a_turn_is_no_text_behind_reasoning_that_every_turn_opens() -> None:
    always = "{{- '<think>\\n' + (message.reasoning_content or '') + '\\n</think>\\n\\n' }}"
    start = CHATML.index("{%- if message.reasoning_content")
    end = CHATML.index("{% endif %}", start) + len("{% endif %}")
    template = TEMPLATES["hermes, which always thinks"].replace(CHATML[start:end], always)
    assert template != TEMPLATES["hermes, which always thinks"]
    assert find_model(template.replace("<|im_end|>", "[|endofturn|]"), read_sound).format == "hermes"


def test_the_nearest_formats_read_at_least_the_calls() -> None:
    template = TEMPLATES["qwen3_coder"].replace("{{ '\\n<tool_call>", "{{ 'Off we go!\\n<tool_call>")
    with pytest.raises(UnreadTemplateError, match="`qwen3_coder`") as caught:
        find_model(template, read_sound)
    assert 0 < len(caught.value.nearest) <= 3


# the formats of models by their ids, as hubs, Ollama, files, gateways and fine-tunes write them


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


@pytest.mark.parametrize(("model", "thinking", "end"), TABLES["ENDS"])
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
