"""Repairs of JSON: each kind of damage with its value, level and edits, limits of work, and what stays untouched."""

import json
from functools import partial
from itertools import product
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import Parser, parse
from outspoken.json.decoder import encodable_value
from outspoken.json.heuristic import read_heuristically
from outspoken.json.partial_string import PartialAnswer
from outspoken.json.read import read_json, read_sound
from outspoken.json.repair import repair_region
from outspoken.results.codes import CODES
from outspoken.results.edits import LEVELS, REPAIR_LIMITS, RepairBudget, RepairedValue, RepairLimit
from outspoken.results.schemas.schema import Schema
from outspoken.results.settings import DEFAULT
from tests.invariants.cost import calls_in
from tests.loops import in_one_item, some
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


# what holds for every text: sound JSON is untouched, repairs replay, prefixes are beginnings, nothing raises


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(), VALUES, max_size=4)
PIECES = st.sampled_from([
    '"', "'", "{", "}", "[", "]", "(", ")", ",", ":", "\\", "\n", " ", "a", "b c", "1", "2.", "-", "true", "None",
    '"a": ', '"b": "x"', '{"a":1}', "//", "/*", "*/", "#", "...", "“", "”", "｛", "：",
    "，", "】", "\ufeff", '"""', "```",
    "```json\n",
    "\n```\n", "\\u", "\\ud83d", "\ud83d", "=>", ";", "{{", "}}", "0x1", "1,234", "<a href='x'>",
])  # fmt: skip
DAMAGED = st.lists(PIECES, max_size=24).map("".join)


def replayed(text: str, repaired: RepairedValue) -> str:
    """The text of a value with its edits made."""
    parts: list[str] = []
    pos = repaired.start
    for edit in repaired.edits:
        assert pos <= edit.start <= edit.end
        parts += (text[pos : edit.start], edit.after)
        pos = edit.end
    return "".join([*parts, text[pos : repaired.end]])


def begins(part: Any, whole: Any) -> bool:
    """Is a value what can be known of another from the beginning of its text?"""
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(part, list) and isinstance(whole, list):
        items, others = cast("list[Any]", part), cast("list[Any]", whole)
        pairs = list(zip(items, others, strict=False))
        return len(items) <= len(others) and all(a == b for a, b in pairs[:-1]) and all(begins(*p) for p in pairs[-1:])
    if isinstance(part, dict) and isinstance(whole, dict):
        return begins(list(cast("dict[str, Any]", part).values()), list(cast("dict[str, Any]", whole).values()))
    return part == whole


@given(VALUES, st.sampled_from([None, 1]), st.booleans(), st.sampled_from(REPAIR_LIMITS))
def test_sound_json_is_untouched(value: Any, indent: int | None, ascii_: bool, repair_limit: RepairLimit) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    reading = read_json(text, repair=repair_limit)
    assert (reading.values, reading.status, reading.repairs, reading.texts) == ((value,), "ok", (), (text,))


@given(CONTAINERS, st.data())
def test_truncated_json_gives_a_prefix_of_the_value(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    reading = read_json(cut)
    assert reading.status == "truncated"
    assert len(reading.values) == 1
    assert begins(reading.value, value)


@given(st.text() | DAMAGED, st.sampled_from(REPAIR_LIMITS), st.booleans())
def test_any_text(text: str, repair_limit: RepairLimit, closed: bool) -> None:
    reading = read_json(text, repair=repair_limit)
    assert reading.status != "invalid" or not reading.values
    for repaired in repair_region(text, 0, len(text), closed=closed, repair_limit=repair_limit):
        assert replayed(text, repaired) == repaired.text
        assert (repaired.level == "exact") == (not repaired.edits)
        assert REPAIR_LIMITS.index(
            "none" if repaired.level == "exact" else cast("RepairLimit", repaired.level)
        ) <= REPAIR_LIMITS.index(repair_limit)
        json.dumps(repaired.value, ensure_ascii=False).encode()
        if repaired.edits:
            assert json.loads(repaired.text) == repaired.value
    for (start, end), made in zip(reading.spans, reading.texts, strict=True):
        parts: list[str] = []
        pos = start
        for repair in reading.repairs:
            if start <= repair.span[0] and repair.span[1] <= end:
                assert repair.before == text[slice(*repair.span)]
                parts += (text[pos : repair.span[0]], repair.after)
                pos = repair.span[1]
        assert "".join([*parts, text[pos:end]]) == made
    json.dumps(reading.values, ensure_ascii=False).encode()


@given(st.text(), st.text(), st.sampled_from(["{%s,}", "{%s", "{{%s}}", "{%s}}", "// x\n{%s}", "{%s 'n': 1}"]))
def test_sound_strings_are_copied(one: str, two: str, frame: str) -> None:
    members = f"{json.dumps(one)}: {json.dumps(two)}"
    repaired = repair_region(text := frame % members, 0, len(text), closed=True, repair_limit="structure")
    assert [next(iter(m.value.items())) for m in repaired] == [(one, two)]


CAPPED: tuple[RepairLimit, ...] = ("none", "structure", "heuristic")


@pytest.mark.parametrize("unit", TABLES["UNITS"])
def test_hostile_text_takes_linear_work(unit: str) -> None:
    frames = product((("", ""), ('{"a": "', '"}'), ('[{"a": "', ""), ("{", "")), CAPPED)
    for (opening, closing), repair_limit in some(frames, unit, 0.34):
        text = opening + unit * (2_048 // len(unit)) + closing
        calls = calls_in(partial(read_json, text, repair=repair_limit))
        calls += calls_in(partial(repair_region, text, 0, len(text), closed=True, repair_limit=repair_limit))
        assert calls <= 100 * len(text), (opening, repair_limit)


def test_deep_nesting() -> None:
    for unit in ("[", '{"a":', '[{"a":'):
        text = unit * 10_000
        assert read_json(text).status == "invalid"
        assert read_json(text + "1" + "]" * 10_000).status == "invalid"


@given(CONTAINERS, st.sampled_from(["{}", " {}\n", "```json\n{}\n```", "```\n{} \n```\n"]), st.booleans())
def test_sound_text_is_read_alike_by_both_readers(value: Any, around: str, ascii: bool) -> None:
    """The short way and the long one give the same reading."""
    text = around.replace("{}", json.dumps({"value": value, "a": ["::", 1.5e300]}, ensure_ascii=ascii))
    found = read_sound(text, DEFAULT.max_depth)
    assert found is not None or "Infinity" in text
    with patch("outspoken.json.read.read_sound", return_value=None):
        assert found in (None, read_json(text))


@pytest.mark.parametrize(("text", "depth"), TABLES["NOT_FOR_THE_SHORT_WAY"])
def test_the_short_way_leaves_the_rest_to_the_long_one(text: str, depth: int) -> None:
    assert read_sound(text, depth) is None


STRING_PIECES = ['"', "'", "\\", "u", "d83d", "\\ud83d", "\\ude00", "\\n", "x", " ", "\n"]


@given(st.lists(st.sampled_from(STRING_PIECES), max_size=8))
def test_a_string_in_pieces_is_the_string(pieces: list[str]) -> None:
    whole, arriving = PartialAnswer(0), PartialAnswer(0)
    text = '"' + "".join(pieces)
    sent = whole.feed_quoted(text)
    assert sent == "".join(map(arriving.feed_quoted, text))
    assert (whole.held, whole.is_over) == (arriving.held, arriving.is_over)
    read = text.removesuffix(whole.rest).removesuffix(whole.held)[1:]
    assert encodable_value(json.loads(f'"{read}"', strict=False)) == sent
    assert PartialAnswer(0).rest_of(text) == whole.rest
