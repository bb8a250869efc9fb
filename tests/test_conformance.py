"""What other projects' tests assert, where that data lies beside the project.

The data is not part of the project. Where it is missing, these tests have nothing to read and say so by their count.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from outspoken import parse

DATA = Path(__file__).parents[2] / "shared" / "conformance"

#: a peer's name of a parser to format
PARSERS = {
    "hermes": "hermes",
    "qwen3_coder": "qwen3_coder",
    "step3p5": "qwen3_coder",
    "nemotron_v3": "qwen3_coder",
    "deepseek_v31": "deepseek_v3_1",
    "kimi_k2": "kimi_k2",
    "glm47": "glm_4_5",
    "pythonic": "pythonic",
    "openai": "harmony",
}

CUT = "the closing marker never came, and nothing says that the model had ended"
TYPED = "without a schema, a value that is JSON is read as JSON"
NO_NAME = "there is no sound name; what stands there is text"

#: Where we differ on purpose: the test's name (a part of its id), and why.
DIFFERENCES = {
    "until_eos": CUT,
    "none_tool_calls_filtered": NO_NAME,
    "test_multiple_parameters": TYPED,
    "nested_json_array_parameter": TYPED,
    "regression_issue_58227": NO_NAME,
    "no_schema": TYPED,
    "invalid_funcall_id_skipped": NO_NAME,
}


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one a line; none where there is no such file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def read(text: str, name: str, tools: Any = None) -> list[tuple[str, Any]]:
    """The finished calls of a text: names and arguments."""
    return [(c.name, c.arguments) for c in parse(text, name, tools=tools).tool_calls]


def test_what_the_tests_of_others_assert() -> None:
    wrong: list[str] = []
    differing: Counter[str] = Counter()
    checked = 0
    for parser, name in PARSERS.items():
        for row in rows(DATA / "vllm" / f"{parser}.jsonl"):
            if row["mode"] != "complete" or row["kind"] == "reasoning" or not row["input"]:
                continue
            checked += 1
            if _agrees(row, read(row["input"], name, row["tools"])):
                continue
            reason = next((why for part, why in DIFFERENCES.items() if part in row["id"]), None)
            if reason is None:
                wrong.append(row["id"])
            else:
                differing[reason] += 1
    assert wrong == []
    assert not DATA.exists() or (checked >= 140 and sum(differing.values()) <= 9), (checked, differing)


def _agrees(row: dict[str, Any], found: list[tuple[str, Any]]) -> bool:
    """Does what was found agree with all that the row's test asserts of its calls?"""
    expected = [(c["name"], c["arguments"]) for c in row["expected"]["tool_calls"]]
    asserted = row["asserted"]
    if "tool_count" in asserted and len(found) != len(expected):
        return False
    if "tool_names" in asserted and [n for n, _ in found] != [n for n, _ in expected]:
        return False
    return "arguments_exact" not in asserted or [a for _, a in found] == [a for _, a in expected]
