"""`outspoken stats`: the table whole, and what is said of files and lines that are no responses."""

import json
from pathlib import Path
from typing import Any

import pytest

from outspoken.processing import ErrorCategory, ParseStats
from tests.cli.runner import Cli
from tests.tables import tables

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "lend", "arguments": {"days": 14}}\n</tool_call>'
RESPONSES: list[dict[str, Any]] = TABLES["RESPONSES"]

TABLE = TABLES["TABLE"]


def lines(*responses: dict[str, Any]) -> str:
    return "".join([json.dumps(response) + "\n" for response in responses])


def write(name: str, text: str) -> str:
    """Write a file in the working directory, and return its name."""
    Path(name).write_text(text, "utf-8")
    return name


def rows(cli: Cli, *arguments: str) -> list[list[str]]:
    """The rows of the table of formats that the command prints."""
    return [line.split() for line in cli("stats", *arguments).out.split("\n\n")[0].splitlines()[1:]]


def test_the_table_of_a_file(cli: Cli, caplog: pytest.LogCaptureFixture) -> None:
    assert cli("stats", write("responses.jsonl", lines(*RESPONSES))) == (0, TABLE, "")
    assert caplog.messages == []


def test_standard_input_is_lines_and_a_text_file_is_one_response(cli: Cli) -> None:
    half = len(RESPONSES) // 2
    files = [write("rest.NDJSON", lines(*RESPONSES[half:-1])), write("blank.txt", "")]
    assert cli("stats", "-", *files, stdin=lines(*RESPONSES[:half])) == (0, TABLE, "")


def test_json_output_is_the_stored_form(cli: Cli) -> None:
    code, out, _ = cli("stats", "--json", write("r.jsonl", lines(*RESPONSES)))
    stats = ParseStats.from_json(out)
    assert (code, stats.to_table() + "\n") == (0, TABLE)
    assert stats.errors("hermes")[ErrorCategory.TRUNCATED] == 1


#: Lines that are no responses, and what is said of each.
BAD = {
    "[1": "this is not JSON",
    "[" * 100_000: "this is not JSON",
    "[]": "expected an object with `text`",
    "{}": "`text`: Field required",
    '{"text": 3}': "`text`: Input should be a valid string",
    '{"response": false}': "`response`: Input should be a valid string",
    '{"text": "a", "format": 3}': "`format`: Input should be a valid string",
    '{"text": "a", "finish_reason": []}': "`finish_reason`: Input should be a valid string",
    '{"text": "a", "format": "hermess"}': "there is no format `hermess`; did you mean `hermes`",
}


def test_bad_lines_are_reported_and_do_not_stop_the_rest(cli: Cli) -> None:
    name = write("r.jsonl", "\n\n".join([*BAD, json.dumps(RESPONSES[0])]))
    ran = cli("stats", name)
    assert (ran.code, ran.out.splitlines()[1:]) == (
        1, ["hermes          1  100.0%      0.0%       0.0%     0.0%"],
    )  # fmt: skip
    for number, (line, words) in enumerate(zip(ran.err.splitlines(), BAD.values(), strict=True)):
        assert line.startswith(f"outspoken: r.jsonl:{2 * number + 1}: ")
        assert words in line
    ran = cli("stats", "-", stdin="\n\x1b")
    assert (ran.code, ran.err) == (1, "outspoken: standard input:2: this is not JSON\n")


def test_prefix_of_a_line_counts(cli: Cli) -> None:
    line = {"text": "Hm.\n</think>\nNine.", "format": "qwen3", "prefix": "<think>\n"}
    name = write("r.jsonl", lines(line))
    assert rows(cli, name) == [["hermes", "1", "100.0%", "0.0%", "0.0%", "0.0%"]]
    assert rows(cli, write("o.jsonl", lines({**line, "text": "</think>"})))[0][2] == "0.0%"


def test_options_change_which_responses_are_ok(cli: Cli) -> None:
    name = write("r.jsonl", lines(RESPONSES[0], RESPONSES[1], RESPONSES[7]))
    hermes, text = ["hermes", "2"], ["text", "1"]
    assert rows(cli, name)[:2] == [
        [*hermes, "50.0%", "50.0%", "0.0%", "0.0%"],
        [*text, "100.0%", "0.0%", "0.0%", "0.0%"],
    ]
    assert rows(cli, name, "--strict")[0] == [*hermes, "50.0%", "0.0%", "0.0%", "50.0%"]
    assert rows(cli, name, "--no-recovery")[0] == [*hermes, "50.0%", "0.0%", "0.0%", "50.0%"]
    assert rows(cli, name, "--expect", "tool_calls")[1] == [*text, "0.0%", "0.0%", "0.0%", "100.0%"]
    assert rows(cli, name, "--format", "qwen") == [["hermes", "3", "66.7%", "33.3%", "0.0%", "0.0%"]]
    schema = {"name": "lend", "parameters": {"properties": {"days": {"type": "string"}}}}
    tools = write("tools.json", json.dumps([schema]))
    assert rows(cli, name, "--tools", tools)[0] == [*hermes, "0.0%", "50.0%", "0.0%", "50.0%"]
