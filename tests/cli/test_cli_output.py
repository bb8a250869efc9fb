"""What commands print, whole: responses and streams as text and as JSON, and constraints."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from outspoken import formats, parse
from outspoken.constraints import constraint
from outspoken.processing import ErrorCategory, ParseStats
from outspoken.results.geometry import Screen
from tests.cli.runner import CALL, CUT, Cli, Ran
from tests.tables import tables

TABLES = tables(__file__)

TABLE_REGISTRY = "outspoken.contrib.table_chat:tables_registry"

STREAM: str = TABLES["CASES"]["stream"]["stdin"]
#: Commands: their arguments, standard input and exit code, and what they print.
CASES: dict[str, dict[str, Any]] = {
    **TABLES["CASES"],
    "parse --stream: bytes that split characters": {
        "arguments": "parse --stream=1",
        "stdin": "é".encode() + b"\xff",
        "code": 0,
        "out": "TextDelta('é')\nTextDelta('\ufffd')\nDone(Reply(format=None))\n",
    },
}


@pytest.mark.parametrize("name", CASES)
def test_output(name: str, cli: Cli) -> None:
    for path, text in TABLES["FILES"].items():
        Path(path).write_text(text, "utf-8")
    case = CASES[name]
    for line in (case["arguments"], *case.get("alike", ())):
        ran = cli(*(line.split(" ") if isinstance(line, str) else line), stdin=case.get("stdin", ""))
        assert ran == Ran(case.get("code", 0), case.get("out", ran.out), case.get("err", ""))
        assert all(words in ran.out for words in case.get("has", ())), ran.out


def test_colour_changes_nothing_else_and_needs_no_package(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = CASES["explain"]["out"]
    coloured = cli("explain", "--color", "always", stdin=CUT).out
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert "\x1b[32mtool call 4-65: get_weather, truncated\x1b[0m\n" in coloured
    assert "\x1b[31merror[unclosed-call]: the call of `get_weather` never ends\x1b[0m\n" in coloured
    assert cli("explain", "--color", "auto", stdin=CUT).out == plain
    assert "\x1b[3;35mHm.\x1b[0m" in cli.out("stream", "--format", "hermes", "--color", "always", stdin=STREAM)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m  ToolCall(get_weather, city='Paris')\x1b[0m\n" in cli.out("parse", "call.txt")
    assert cli.out("parse", "call.txt", "--color", "never") == CASES["parse"]["out"]
    assert "\x1b" not in cli.out("parse", "call.txt", "--json", "--color", "always")


# JSON


def test_replies_as_json(cli: Cli) -> None:
    assert cli.out("parse", "-", "--json", stdin=CALL) == parse(CALL).model_dump_json(indent=2) + "\n"
    found = json.loads(cli("explain", "--json", stdin=CUT).out)
    assert found["reply"] == json.loads(parse(CUT).model_dump_json())
    assert [(one["format"], one["status"]) for one in found["candidates"]] == [
        ("hermes", "truncated"),
        ("json", "truncated"),
    ]


def test_events_as_json_lines(cli: Cli) -> None:
    lines = [json.loads(line) for line in cli.out("parse", "--stream", "--json", stdin=CALL).splitlines()]
    types = ["text_delta", "tool_call_start", "tool_call_delta", "tool_call_end", "done"]
    assert [line["type"] for line in lines] == types
    assert lines[1] == {"type": "tool_call_start", "index": 0, "id": None, "name": "get_weather"}
    assert lines[3]["call"] == json.loads(parse(CALL).tool_calls[0].model_dump_json())
    assert lines[4]["reply"] == json.loads(parse(CALL).model_dump_json())
    lines = [json.loads(line) for line in cli.out("stream", "-f", "hermes", "-j", stdin=STREAM).splitlines()]
    assert (lines[0]["type"], lines[-1]["type"]) == ("started", "done")
    assert lines[-1]["reply"]["provider"] == "openai"


@pytest.mark.parametrize("more", [[], ["--stream", "3"]])
@pytest.mark.parametrize("payloads", [False, True])
def test_finish_reason_proves_the_end(cli: Cli, more: list[str], payloads: bool) -> None:
    text = 'SUGGESTED_VALUES: [{"label": "a", "value": "b"}' if payloads else CALL.removesuffix("</tool_call>")
    more = [*more, "--payloads", TABLE_REGISTRY] if payloads else more
    for reason, status in (("stop", "repaired"), ("length", "truncated")):
        ran = cli("parse", "-", "--finish-reason", reason, "--json", *more, stdin=text)
        last = json.loads(ran.out.splitlines()[-1])["reply"] if "--stream" in more else json.loads(ran.out)
        assert last["status"] == status


# formats


def test_formats_are_listed(cli: Cli) -> None:
    out = cli.out("formats")
    assert [line.split()[0] for line in out.splitlines()[::3]] == [info.name for info in formats()]
    width = max(len(info.name) for info in formats())
    for info in formats():
        lines = [info.title, f"models: {', '.join(info.models)}", f"aliases: {', '.join(info.aliases) or 'none'}"]
        shown = [f"{name:<{width}}  {line}" for name, line in zip((info.name, "", ""), lines, strict=True)]
        assert "\n".join(shown) in out
    assert json.loads(cli.out("formats", "--json")) == [json.loads(info.model_dump_json()) for info in formats()]
    named = cli.out("formats", "qwen3", "hermes")
    assert (named.count("example:"), named.startswith("hermes  ")) == (1, True)


# payloads


def test_a_registry_of_the_working_directory(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("my_payloads.py").write_text(
        "from outspoken.payloads import PayloadRegistry, PayloadType\n"
        "class App:\n    registry = PayloadRegistry([PayloadType('ferry', 'FERRY')])\n",
        "utf-8",
    )
    monkeypatch.setattr(sys, "path", [str(Path.cwd()), *sys.path])
    ran = cli("parse", "--payloads", "my_payloads:App.registry", "--repair", "none", stdin='FERRY: {"a": [}')
    assert (ran.code, ran.err) == (1, "")
    assert "error[broken-payload]: the payload of `FERRY` cannot be read" in ran.out


# constrain

TOOL: dict[str, Any] = TABLES["TOOL"]


@pytest.mark.parametrize("target", ["llguidance", "xgrammar", "ebnf", "gbnf", "vllm", "sglang", "llama_cpp"])
def test_each_target_is_what_the_constraint_writes(target: str, cli: Cli) -> None:
    Path("tools.json").write_text(json.dumps([TOOL]), "utf-8")
    options = ["--tool-choice", "required", "--max-calls", "2", "--reasoning", "none", "--tools", "tools.json"]
    out = cli.out("constrain", "hermes", "--target", target, *options)
    made = constraint("hermes", tools=[TOOL], tool_choice="required", max_calls=2, reasoning="none")
    written = getattr(made, f"to_{target}")()
    assert (out.rstrip("\n") if isinstance(written, str) else json.loads(out)) == (
        written.rstrip("\n") if isinstance(written, str) else written
    )


def test_options_of_a_constraint_are_passed_on(cli: Cli) -> None:
    Path("tools.json").write_text(json.dumps([TOOL]), "utf-8")
    Path("tokenizer.json").write_text(json.dumps({"added_tokens": [{"content": "</tool_call>"}]}), "utf-8")
    given = ["--special-token", "<tool_call>", "--tokenizer", "tokenizer.json", "--no-parallel", "-p", r"<think>\n"]
    special = ["<tool_call>", "</tool_call>"]
    made = constraint("hermes", tools=[TOOL], special_tokens=special, parallel=False, prefix="<think>\n")
    assert cli.out("constrain", "hermes", "-T", "tools.json", "--target", "llguidance", *given) == made.to_llguidance()
    given = ["--action", "click", "--action", "type", "--screen", "1280x720"]
    made = constraint("ui_tars", actions=["click", "type"], screen=Screen(1280, 720))
    assert cli.out("constrain", "ui_tars", "--target", "gbnf", *given).rstrip("\n") == made.to_gbnf().rstrip("\n")
    every = constraint("ui_tars", actions=True).to_gbnf()
    assert cli.out("constrain", "ui_tars", "--target", "gbnf", "--action", "all").rstrip("\n") == every.rstrip("\n")


# `outspoken stats`: the table whole, and what is said of files and lines that are no responses


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
