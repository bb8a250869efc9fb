"""`outspoken constrain`: what it writes for each target, what it warns of, and how it refuses wrong options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outspoken.cli.main import main
from outspoken.constraints import constraint
from outspoken.results.geometry import Screen

TOOL: dict[str, Any] = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
LOOSE: dict[str, Any] = {
    "name": "count",
    "parameters": {"properties": {"of": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}}},
}


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([TOOL]), "utf-8")
    return str(path)


def test_each_target_is_what_the_constraint_writes(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = constraint("hermes", tools=[TOOL], tool_choice="required", max_calls=2, reasoning="none")
    options = ["--tool-choice", "required", "--max-calls", "2", "--reasoning", "none"]
    for target in ("llguidance", "xgrammar", "ebnf", "gbnf", "outlines", "vllm", "sglang", "llama_cpp"):
        assert main(["constrain", "hermes", "--tools", tools, "--target", target, *options]) == 0, target
        out, err = capsys.readouterr()
        written = getattr(expected, f"to_{target}")()
        assert (out.rstrip("\n") if isinstance(written, str) else json.loads(out)) == (
            written.rstrip("\n") if isinstance(written, str) else written
        ), target
        assert err == ""


def test_options_are_passed_on(tools: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text(json.dumps({"added_tokens": [{"content": "</tool_call>"}]}), "utf-8")
    given = ["--special-token", "<tool_call>", "--tokenizer", str(tokenizer), "--no-parallel", "--prefix", r"<think>\n"]
    assert main(["constrain", "hermes", "--tools", tools, "--target", "llguidance", *given]) == 0
    special = ["<tool_call>", "</tool_call>"]
    made = constraint("hermes", tools=[TOOL], special_tokens=special, parallel=False, prefix="<think>\n")
    assert capsys.readouterr().out == made.to_llguidance()


def test_actions(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--action", "click", "--action", "type", "--screen", "1280x720"]
    assert main(["constrain", "ui_tars", "--target", "gbnf", *given]) == 0
    made = constraint("ui_tars", actions=["click", "type"], screen=Screen(1280, 720))
    assert capsys.readouterr().out.rstrip("\n") == made.to_gbnf().rstrip("\n")
    assert main(["constrain", "ui_tars", "--target", "gbnf", "--action", "all"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == constraint("ui_tars", actions=True).to_gbnf().rstrip("\n")
    assert main(["constrain", "ui_tars", "--target", "gbnf", "--action", "fly"]) == 2
    assert "the format has no action `fly`" in capsys.readouterr().err
    assert main(["constrain", "ui_tars", "--target", "gbnf", "--screen", "wide"]) == 2
    assert "`wide` is no size; write it as 1280x720" in capsys.readouterr().err


def test_what_is_not_enforced_is_a_warning_or_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([LOOSE]), "utf-8")
    given = ["constrain", "hermes", "--tools", str(path), "--target", "gbnf"]
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert "root ::= " in out
    assert err == "outspoken: warning: count: of: `uniqueItems` is not enforced\n"
    assert main([*given, "--strict"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        "outspoken: error: `hermes` has no such constraint: count: of: `uniqueItems` is not enforced\n",
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["mosses"], "there is no format `mosses`"),
        (["hermes", "--tool-choice", "required"], "`tool_choice` is 'required', but there are no `tools`"),
        (["hermes", "--max-calls", "0"], "`max_calls` is 0; expected a number from 1 on"),
        (["hermes", "--target", "mosses"], "--target: `mosses` is unknown; expected llguidance, "),
        (["hermes", "--tools", "no/such/file"], "cannot read `no/such/file`"),
    ],
)
def test_wrong_options(capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str) -> None:
    assert main(["constrain", "--target", "gbnf", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("outspoken: error: ")
    assert expected in err
    assert err.count("\n") == 1
