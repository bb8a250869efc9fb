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
