"""`read_json`: where the JSON of a text is, what is said of it, and what is left alone."""

import json
from itertools import product
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_core import from_json

from outspoken.json.read import JsonReading, read_json, read_partial
from outspoken.json.repair import repair_region
from tests.tables import beside, tables

TABLES = tables(__file__)


def said(reading: Any) -> dict[str, Any]:
    """All that a reading says, without what is empty."""
    told: dict[str, Any] = {
        "status": reading.status,
        "level": reading.level,
        "values": [*reading.values],
        "ambiguous": reading.ambiguous,
        "repairs": [" ".join(map(str, (repair.code, *repair.path))) for repair in reading.repairs],
        "diagnostics": [f"{note.severity} {note}" for note in reading.diagnostics],
        "notes": [more for note in reading.diagnostics for more in note.notes],
    }
    return {key: value for key, value in told.items() if value}


@pytest.mark.parametrize("name", TABLES["SAID"])
def test_all_that_is_said_of_a_text(name: str) -> None:
    cases: list[dict[str, Any]] = TABLES["SAID"][name]
    for case in cases:
        wanted = {key: case[key] for key in case if key not in ("source", "text", "alike", "options")}
        for text, options in product(case.get("alike", [case.get("text")]), case.get("options", [{}])):
            reading = read_json(text, **options)
            assert said(reading) == wanted, text
            assert reading.repairs or reading.texts == tuple([text[slice(*span)] for span in reading.spans])


def test_odd_blanks_are_text() -> None:
    reading = read_json("[1]\x1f", repair="none")
    assert [note.span for note in reading.diagnostics if note.code == "left-out"] in ([], [(3, 4)])
    assert read_json("0\x1f", repair="none").status == "invalid"


def test_lone_surrogates_are_replaced() -> None:
    for text in ('{"a": "x\\ud83d"}', '{"a": "x\ud83d"}', '{"\ud83d": "x",}'):
        reading = read_json(text)
        assert repr(reading.value).encode()
        assert "\ufffd" in str(reading.value)


def test_a_model_as_schema() -> None:
    class Call(BaseModel):
        code: str
        lang: str

    reading = read_json('{"code": "f("a", "lang": "b")", "lang": "py"}', schema=Call)
    assert reading.value == Call(code='f("a", "lang": "b")', lang="py")


#: Beginnings of these are read by pydantic's decoder where it gives what `repair_region` gives.
PARTIAL = [
    *TABLES["PARTIAL"],
    '["\ud800", 1]',
    "[" + "9" * 400 + ", 1",
    "[" + "1" * 99 + "." + "2" * 99 + "e12",
    "[" * 130 + '"[[",',
    "[" * 127 + '"[[", "[',
]


def test_partial_values() -> None:
    differ: list[str] = []
    for whole in PARTIAL:
        for end in range(len(whole) + 1):
            text = whole[:end]
            found = repair_region(text, 0, end, closed=False, repair_limit="notation")
            if repr(read_partial(text)) != repr(found[0].value if found else None):
                differ.append(text)
    assert differ == []


def test_pydantic_reports_truncation() -> None:
    for text in ('{"a": [1, "b', '{"a"', '["x\\', "[", "[tru"):
        with pytest.raises(ValueError, match=r"^EOF while parsing"):
            from_json(text)
    with pytest.raises(ValueError, match=r"^(?!EOF)"):
        from_json('{"a": "b" c')


def test_bytes_are_text_and_none_is_empty() -> None:
    assert read_json(b'{"a": 1}') == read_json('{"a": 1}')
    assert read_json(None) == read_json("")


@pytest.mark.parametrize("line", ['Row {n}: {{"id": {n}}}', '```json\n{{"id": {n}}}\n```'])
def test_sound_values_cost_no_budget(line: str) -> None:
    read = read_json("\n".join(line.format(n=n) for n in range(3000)))
    assert [value["id"] for value in read.values] == list(range(3000))


def test_text_that_is_too_damaged_is_reported() -> None:
    read = read_json("\n".join(f'Row {n}: {{"id": {n},}} [a' for n in range(3000)))
    assert len(read.values) < 3000
    assert {"too-damaged", "torn-json"} & {note.code for note in read.diagnostics}


# damaged JSON that others collected, where that data lies beside the project


#: What we read where another reading is right, too, or ours differs on purpose.
DIFFERENCES = tables(__file__)["DIFFERENCES"]


ROWS = beside("json/damaged.jsonl")


def right(row: dict[str, Any], reading: JsonReading) -> bool:
    """Was the text read as it was meant?"""
    if not row["recoverable"]:
        return reading.status == "invalid" and not reading.values
    wanted = DIFFERENCES.get(row["id"], row.get("intended"))
    return reading.values == (wanted,) or (len(reading.values) > 1 and list(reading.values) == wanted)


def test_damaged_texts() -> None:
    readings = [(row, read_json(row["input"])) for row in ROWS]
    assert [row["id"] for row, reading in readings if not right(row, reading)] == []
    assert not ROWS or len(readings) >= 118


def test_every_change_is_recorded() -> None:
    for row in ROWS:
        reading = read_json(row["input"])
        if not reading.repairs:
            assert [json.loads(row["input"][slice(*span)]) for span in reading.spans] == [*reading.values], row["id"]


def test_repair_limit_gives_the_same_value_or_none() -> None:
    for row in ROWS:
        full = read_json(row["input"])
        for repair_limit in ("none", "notation", "structure", "strings"):
            reading = read_json(row["input"], repair=repair_limit)
            assert reading.values in ((), full.values) or reading.status == "truncated", (row["id"], repair_limit)
