"""What a new process reads: a response needs the files of its own format only, and memory in proportion to its size."""

import json
import subprocess
import sys
from typing import Any

import pytest

from outspoken import parse
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.detection.parsed_candidate import ParsedCandidate
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.grammar.registry import grammars_folder
from tests.loops import some
from tests.tables import tables
from tools.bench.peers import response

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def printed(program: str, *arguments: str) -> str:
    """What a program of the tables prints in a new process."""
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    return ran.stdout


def read(text: str, format_: str, *, is_stream: bool = False) -> tuple[str, set[str], set[str], list[str]]:
    """What a new process reads: the reply's format, the names of compiled files, the sources, the heavy modules."""
    given = [str(grammars_folder()), json.dumps([text, format_, is_stream])]
    found, files, heavy = json.loads(printed(TABLES["FILES"], *given))
    compiled = {file.split("/")[-1].split(".")[0] for file in files if file.startswith("compiled/")}
    return found, compiled, {file for file in files if not file.startswith("compiled/")}, heavy


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_named_format_reads_only_its_own_files(name: str, is_stream: bool) -> None:
    found, compiled, sources, heavy = read(response(name, 2, 60), name, is_stream=is_stream)
    assert (found, compiled) == (name, {name})
    assert sources <= set(registry.tables(name).sources)
    assert heavy == (["regex", "engine.parser", "results.events", "grammar.tables"] if is_stream else [])


def test_an_action_needs_the_models_of_its_kind_only() -> None:
    found, compiled, _, heavy = read("Action: click(start_box='(1,2)')", "ui_tars")
    assert (found, compiled, heavy) == ("ui_tars", {"ui_tars"}, [])


def test_alias_needs_the_index_of_formats() -> None:
    found, compiled, _, heavy = read(response("hermes", 2, 60), "qwen2_5")
    assert (found, compiled, heavy) == ("hermes", {"hermes", "index"}, [])


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("name", some(["hermes", "qwen3_coder", "mistral"], "detected files", 0.34))
def test_detection_reads_the_files_of_likely_formats_only(name: str, is_stream: bool) -> None:
    found, compiled, _, heavy = read(response(name, 2, 60), "auto", is_stream=is_stream)
    assert found == name
    assert {name, "index", "text"} <= compiled
    assert len(compiled) <= (12 if is_stream else 3)
    assert not {"lark", "json_repair", "rich", "recovery.search"} & {*heavy}
    assert is_stream or heavy == []


def test_plain_text_is_detected_without_any_other_format() -> None:
    found, compiled, _, heavy = read("The ferry leaves at nine.", "auto")
    assert (found, compiled, heavy) == (None, {"index", "text"}, [])


# long texts


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> list[ParsedCandidate]:
    """The candidates of the detector, which reads all texts."""
    found: list[ParsedCandidate] = []
    make = ParsedCandidate.__init__

    def note(candidate: ParsedCandidate, *arguments: Any) -> None:
        make(candidate, *arguments)
        found.append(candidate)

    monkeypatch.setattr(ParsedCandidate, "__init__", note)
    monkeypatch.setattr(reader, "ENABLED", False)
    return found


def test_candidates_share_the_text(candidates: list[ParsedCandidate]) -> None:
    """A copy of the rest of the text for each of them would make the time quadratic."""
    text = f"{CALL}\n" * 50
    for whole in (parse(text), parse(text.replace('{"name"', '{ "name"'))):
        assert len(whole.tool_calls) == 50
    assert len(candidates) >= 100
    assert {id(candidate.text.text) for candidate in candidates} == {id(made.text.text) for made in candidates[::50]}


def test_a_code_sample_has_no_candidates(candidates: list[ParsedCandidate]) -> None:
    """33 formats may begin in a fence, if a marker of theirs follows."""
    text = 'Hi.\n```json\n{"name": "f", "arguments": {}}\n```\n'
    assert parse(text).format == "json"
    assert {candidate.name for candidate in candidates} == {"json"}
    candidates.clear()
    assert ParseArguments().stream(text)[1].format == "json"
    assert len(candidates) < 12


def test_memory_is_in_proportion_to_the_text() -> None:
    format_, ratio = printed(TABLES["MEMORY"], f"{response('hermes', 1, 260)}\n").split()
    assert format_ == "hermes"
    assert float(ratio) < 30


# damaged texts


@pytest.mark.parametrize(("name", "characters", "configurations"), TABLES["LEAST_WORK"])
def test_the_first_damaged_text_of_a_process_takes_little_work(name: str, characters: int, configurations: int) -> None:
    """By the patterns that are compiled, since the time of one text is no measure."""
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
    compiled, visited, has_regex = printed(TABLES["COUNT"], name, json.dumps(tool)).split()
    assert int(compiled) <= characters
    assert int(visited) <= configurations
    assert has_regex == "False"


@pytest.mark.parametrize(("name", "text"), TABLES["DAMAGED"])
def test_a_warm_parser_compiles_few_patterns_for_a_damaged_response(name: str, text: str) -> None:
    assert 3 * int(printed(TABLES["WARM"], name, text, "warm")) < int(printed(TABLES["WARM"], name, text))
