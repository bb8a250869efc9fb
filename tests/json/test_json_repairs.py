"""Each kind of damage on its own: the value, the repair level, and the recorded repairs."""

import json
from typing import Any

import pytest

from outspoken import Parser, parse
from outspoken.json.heuristic import read_heuristically
from outspoken.json.read import read_json
from outspoken.json.repair import repair_region
from outspoken.results.codes import CODES
from outspoken.results.edits import LEVELS, REPAIR_LIMITS, RepairBudget, RepairLimit
from outspoken.results.schemas.schema import Schema
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)


#: a code, a text that was cut, what is known of it
CUT: list[tuple[str, str, Any]] = TABLES["CUT"]


@in_one_item("code, text, value", TABLES["CASES"])
def test_damage(code: str, text: str, value: Any) -> None:
    reading = read_json(text)
    assert reading.values == (value,)
    assert reading.status == "repaired"
    codes = {repair.code: repair.level for repair in reading.repairs}
    assert codes[code] == CODES[code].level
    assert reading.level == max(codes.values(), key=LEVELS.index)
    assert reading.level is not None
    below = LEVELS.index(reading.level) - 1
    assert read_json(text, repair=REPAIR_LIMITS[below]).values == ()
    assert read_json(text, repair=REPAIR_LIMITS[below]).status == "invalid"
    assert read_json(text, repair=REPAIR_LIMITS[below + 1]).values == (value,)
    warnings = [note for note in reading.diagnostics if note.code == code]
    assert warnings
    assert all(note.severity == "warning" for note in warnings)


@pytest.mark.parametrize(("code", "text", "value"), CUT, ids=[f"{i}-{c[0]}" for i, c in enumerate(CUT)])
def test_cut(code: str, text: str, value: Any) -> None:
    reading = read_json(text)
    assert reading.values == (value,)
    assert reading.status == "truncated"
    assert code in {repair.code for repair in reading.repairs}
    assert [note.severity for note in reading.diagnostics if note.code == "cut-json"] == ["error"]
    (mended,) = repair_region(text, 0, len(text), closed=False, repair_limit="notation")
    assert not mended.complete
    assert json.loads(mended.text) == value


def test_every_code_has_a_case() -> None:
    elsewhere = {"dropped-text", "heuristic"}
    assert {case[0] for case in TABLES["CASES"] + CUT} | elsewhere == {code for code in _of_json() if CODES[code].level}


def _of_json() -> set[str]:
    """The codes of repairs of JSON and of remarks on it, without a type."""
    others = {"other-arguments", "empty-response", "token-limit", "content-filter", "in-sentence"}
    return {code for code, one in CODES.items() if one.message and one.level != "markup"} - others


#: a code, the smallest text that gives it, and the whole message
MESSAGES: list[tuple[str, str, str]] = [
    *TABLES["MESSAGES"],
    ("lone-surrogate", '["\ud83d",]', "text:1:3 lone-surrogate: `\\ud83d` is half a character, and was read as U+FFFD"),
    (
        "too-deep",
        "[" * 129,
        "text:1:129 too-deep: the value nests deeper than 128 levels, the limit that `Settings.max_depth` sets",
    ),
    (
        "too-damaged",
        "[1 2]" * 2000,
        "text:1:6366 too-damaged: the text is too damaged to be repaired within the limits",
    ),
]


@in_one_item("code, text, message", MESSAGES)
def test_message(code: str, text: str, message: str) -> None:
    assert message in [str(note) for note in read_json(text).diagnostics if note.code == code]


def test_every_code_has_a_message() -> None:
    assert {row[0] for row in MESSAGES} == _of_json()


def test_end_proven_by_the_format() -> None:
    text = '<c>{"a": {"b": "x"</c>'
    (mended,) = repair_region(text, 3, len(text) - 4, closed=True, repair_limit="structure")
    assert (mended.value, mended.complete, mended.level) == ({"a": {"b": "x"}}, True, "structure")
    assert [edit.code for edit in mended.edits] == ["missing-closer"] * 2
    (mended,) = repair_region(text, 3, len(text) - 4, closed=False, repair_limit="structure")
    assert (mended.value, mended.complete) == ({"a": {"b": "x"}}, False)
    assert repair_region('{"a": "x}', 0, 9, closed=True, repair_limit="structure") == []
    (mended,) = repair_region('{"a": "x}', 0, 9, closed=True, repair_limit="strings")
    assert (mended.value, mended.complete) == ({"a": "x"}, True)


def test_several_values_of_a_region() -> None:
    for text in ('{"a": 1}{"a": 1}', '{"a": 1},\n{"a": 1}', '{"a": 1\n{"a": 1}'):
        found = repair_region(text, 0, len(text), closed=True, repair_limit="structure")
        assert [mended.value for mended in found] == [{"a": 1}, {"a": 1}]


def test_text_outside_the_values_of_a_region() -> None:
    text = 'json\n{"a": 1} ok'
    (mended,) = repair_region(text, 0, len(text), closed=True, repair_limit="structure")
    assert (mended.start, mended.end, mended.text) == (0, len(text), '{"a": 1}')
    assert [edit.code for edit in mended.edits] == ["dropped-text"] * 2
    assert repair_region(text, 0, len(text), closed=True, repair_limit="notation") == []
    long = '{"a": 1} ' + "and so on " * 9
    assert repair_region(long, 0, len(long), closed=True, repair_limit="heuristic") == []


@pytest.mark.parametrize(("text", "value"), TABLES["TOGETHER"])
def test_damages_of_the_structure_together(text: str, value: Any) -> None:
    (mended,) = repair_region(text, 0, len(text), closed=True, repair_limit="heuristic")
    assert (mended.value, mended.level, mended.runner_up) == (value, "structure", None)
    assert read_json(text).value == value


def test_exhausted_work_limit_reads_only_sound_json() -> None:
    budget = RepairBudget(0, 0)
    assert repair_region('{"a": 1,}', 0, 9, closed=True, repair_limit="heuristic", budget=budget) == []
    assert [m.value for m in repair_region('{"a": 1}', 0, 8, closed=True, repair_limit="heuristic", budget=budget)] == [
        {"a": 1}
    ]


def test_limit_of_trust_in_json_repair() -> None:
    assert read_heuristically("{" + '"a": 1, ' * 3000, None, 128, RepairBudget.of(100)) is None
    assert read_heuristically("[" * 70, None, 128, RepairBudget.of(100)) is None
    assert read_heuristically('{"a": 1,}', None, 128, RepairBudget(0, 0, spans=0)) is None
    assert read_heuristically('{"a": 1,}', None, 128, RepairBudget.of(9)) == ({"a": 1}, '{"a": 1}')
    assert read_heuristically('{"a": 1,}', Schema({"properties": {"b": {}}}), 128, RepairBudget.of(9)) is None
    assert read_heuristically('{"n": , "t": 1}', None, 128, RepairBudget.of(9)) is None
    assert read_heuristically('["x  ", "x\\n",', None, 128, RepairBudget.of(9)) is not None


@pytest.mark.parametrize(("text", "code"), TABLES["INVENTED"])
@pytest.mark.parametrize("limit", ["strings", "heuristic"])
def test_reading_that_invents_an_argument_loses(text: str, code: str, limit: RepairLimit) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string"}, "path": {"type": "string"}}}
    for known in (Schema(schema), None):
        (mended,) = repair_region(text, 0, len(text), closed=True, repair_limit=limit, schema=known)
        assert mended.value == {"path": "x", "code": code}


def test_guess_that_loses_a_sign_or_a_key_is_no_reading() -> None:
    budget = RepairBudget.of(1000)
    for span in ('{"a": "x" & y}', '{"a" "b" "c": 1 %}', '{"a": <b>, "c"}', '{"a": {b c: 1}', '{"a": 1 "b": $2}'):
        found = read_heuristically(span, None, 128, budget)
        kept = [char for char in span if char.isalnum() or char in "&%<>$"]
        assert found is None or [char for char in found[1] if char.isalnum() or char in "&%<>$"] == kept
    assert read_heuristically('{"a": "x", b: "y" "z"}', Schema({"properties": {"a": {}}}), 128, budget) is None


def test_guesses_are_made_by_default() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": [(1)]}\n</tool_call>'
    assert Parser().repair == "heuristic"
    assert Parser(on_error="raise").repair == "none"
    assert parse(text, repair="strings") == parse(text)
