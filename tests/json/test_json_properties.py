"""What holds for every text: sound JSON is untouched, repairs replay, prefixes are beginnings, nothing raises."""

import json
from functools import partial
from itertools import product
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.json.decoder import encodable_value
from outspoken.json.partial_string import PartialAnswer
from outspoken.json.read import read_json, read_sound
from outspoken.json.repair import repair_region
from outspoken.results.edits import REPAIR_LIMITS, RepairedValue, RepairLimit
from outspoken.results.settings import DEFAULT
from tests.invariants.cost import calls_in
from tests.loops import some
from tests.tables import tables

TABLES = tables(__file__)

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
