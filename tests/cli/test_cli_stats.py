"""`outspoken stats`: the table whole, and what is said of files and lines that are no responses."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from outspoken.cli.main import main
from outspoken.processing import ErrorCategory, ParseStats

CALL = '<tool_call>\n{"name": "lend", "arguments": {"days": 14}}\n</tool_call>'
RESPONSES: list[dict[str, Any]] = [
    {"text": CALL},
    {"response": CALL.replace("14}", "14,}"), "format": None, "model": "a"},
    {"text": CALL[:-20], "format": "qwen3"},
    {"text": CALL[:-13], "finish_reason": "stop"},
    {"text": "Action: click(start_box='(3,4)')"},
    {"text": "Action: fly(start_box='(3,4)')", "format": "ui-tars"},
    {"text": "Action: drag(start_box='(3,4)')"},
    {"text": "The ferry leaves at nine."},
    {"text": "The ferry leaves at", "finish_reason": "length"},
    {"text": None},
]

TABLE = """\
format   responses     ok  repaired  truncated  invalid
hermes           4  25.0%     50.0%      25.0%     0.0%
text             3  33.4%     33.3%       0.0%    33.3%
ui_tars          3  33.3%      0.0%       0.0%    66.7%
all             10  30.0%     30.0%      10.0%    30.0%

mistakes            responses  share
json_syntax                 2  28.6%
truncated                   2  28.6%
type_mismatch               1  14.3%
missing_parameters          2  28.5%
"""


def lines(*responses: dict[str, Any]) -> str:
    return "".join([json.dumps(response) + "\n" for response in responses])


class Cli:
    """Runs the command in a folder, and returns its exit code, what it prints, and what it reports."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        monkeypatch.chdir(folder)

    def __call__(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main(["stats", *arguments])
        out, err = self._capsys.readouterr()
        return code, out, err

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, "utf-8")
        return name


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(tmp_path, capsys, monkeypatch)


def test_the_table_of_a_file(cli: Cli, caplog: pytest.LogCaptureFixture) -> None:
    assert cli(cli.write("responses.jsonl", lines(*RESPONSES))) == (0, TABLE, "")
    assert caplog.messages == []


def test_standard_input_is_lines_and_a_text_file_is_one_response(cli: Cli) -> None:
    half = len(RESPONSES) // 2
    files = [cli.write("rest.NDJSON", lines(*RESPONSES[half:-1])), cli.write("blank.txt", "")]
    assert cli("-", *files, stdin=lines(*RESPONSES[:half])) == (0, TABLE, "")


def test_json_output_is_the_stored_form(cli: Cli) -> None:
    code, out, _ = cli("--json", cli.write("r.jsonl", lines(*RESPONSES)))
    stats = ParseStats.from_json(out)
    assert (code, stats.to_table() + "\n") == (0, TABLE)
    assert stats.errors("hermes")[ErrorCategory.TRUNCATED] == 1


def test_bad_lines_are_reported_and_do_not_stop_the_rest(cli: Cli) -> None:
    bad = [
        "[1",
        "[]",
        "",
        "{}",
        '{"text": 3}',
        '{"response": false}',
        '{"text": "a", "format": 3}',
        '{"text": "a", "format": "hermess"}',
        '{"text": "a", "finish_reason": []}',
        "[" * 100_000,
        "1" * 5000,
    ]
    name = cli.write("r.jsonl", "\n".join([*bad, json.dumps(RESPONSES[0])]))
    code, out, reported = cli(name)
    assert (code, out.splitlines()[1:]) == (1, ["hermes          1  100.0%      0.0%       0.0%     0.0%"])
    reported_lines = reported.splitlines()
    assert reported_lines[6].startswith("outspoken: r.jsonl:8: there is no format `hermess`; did you mean `hermes`")
    assert reported_lines[8:] in (
        ["outspoken: r.jsonl:10: this is not JSON", "outspoken: r.jsonl:11: this is not JSON"],
        # where Python knows no limit of digits
        [
            "outspoken: r.jsonl:10: this is not JSON",
            "outspoken: r.jsonl:11: this is of type int; expected an object with `text` or `response`",
        ],
    )
    assert reported_lines[:6] + reported_lines[7:8] == [
        "outspoken: r.jsonl:1: this is not JSON: Expecting ',' delimiter (column 3)",
        "outspoken: r.jsonl:2: this is of type list; expected an object with `text` or `response`",
        "outspoken: r.jsonl:4: this object has neither `text` nor `response`",
        "outspoken: r.jsonl:5: `text` is of type int; expected a string or null",
        "outspoken: r.jsonl:6: `response` is of type bool; expected a string or null",
        "outspoken: r.jsonl:7: `format` is of type int; expected a string or null",
        "outspoken: r.jsonl:9: `finish_reason` is of type list; expected a string or null",
    ]


def test_lines_of_standard_input_are_named(cli: Cli) -> None:
    assert cli("-", stdin="\n\x1b")[::2] == (
        1,
        "outspoken: standard input:2: this is not JSON: Expecting value (column 1)\n",
    )


def test_prefix_of_a_line_counts(cli: Cli) -> None:
    line = {"text": "Hm.\n</think>\nNine.", "format": "qwen3", "prefix": "<think>\n"}
    name = cli.write("r.jsonl", lines(line))
    assert rows(cli(name)[1]) == [["hermes", "1", "100.0%", "0.0%", "0.0%", "0.0%"]]
    assert rows(cli(cli.write("o.jsonl", lines({**line, "text": "</think>"})))[1])[0][2] == "0.0%"


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.split("\n\n")[0].splitlines()[1:]]


def test_options_change_which_responses_are_ok(cli: Cli) -> None:
    name = cli.write("r.jsonl", lines(RESPONSES[0], RESPONSES[1], RESPONSES[7]))
    hermes, text = ["hermes", "2"], ["text", "1"]
    assert rows(cli(name)[1])[:2] == [
        [*hermes, "50.0%", "50.0%", "0.0%", "0.0%"],
        [*text, "100.0%", "0.0%", "0.0%", "0.0%"],
    ]
    assert rows(cli(name, "--strict")[1])[0] == [*hermes, "50.0%", "0.0%", "0.0%", "50.0%"]
    assert rows(cli(name, "--no-recovery")[1])[0] == [*hermes, "50.0%", "0.0%", "0.0%", "50.0%"]
    assert rows(cli(name, "--expect", "tool_calls")[1])[1] == [*text, "0.0%", "0.0%", "0.0%", "100.0%"]
    assert rows(cli(name, "--format", "qwen")[1]) == [["hermes", "3", "66.7%", "33.3%", "0.0%", "0.0%"]]
    schema = {"name": "lend", "parameters": {"properties": {"days": {"type": "string"}}}}
    tools = cli.write("tools.json", json.dumps([schema]))
    assert rows(cli(name, "--tools", tools)[1])[0] == [*hermes, "0.0%", "100.0%", "0.0%", "0.0%"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--expect", "tool_call"], "--expect: `tool_call` is unknown; did you mean `tool_calls`?"),
        (["none.jsonl"], "cannot read `none.jsonl`: No such file or directory"),
        (["-", "--tools", "none.json"], "cannot read `none.json`: No such file or directory"),
        (["-", "--format", "hermess"], "there is no format `hermess`; did you mean `hermes`"),
    ],
)
def test_wrong_use_prints_one_line(cli: Cli, arguments: list[str], message: str) -> None:
    code, out, reported = cli(*arguments)
    assert (code, out) == (2, "")
    assert reported.startswith(f"outspoken: error: {message}")
    assert reported.count("\n") == 1
