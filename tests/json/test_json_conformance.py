"""Damaged JSON that others collected, where that data lies beside the project; see `test_conformance.py`."""

import json
from pathlib import Path
from typing import Any

from outspoken.json.read import JsonReading, read_json

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "json" / "damaged.jsonl"

#: Where another reading is right, too, or ours differs on purpose: the case, what we read, and why.
DIFFERENCES: dict[str, tuple[Any, str]] = {
    "trunc-13": ({}, "a number that the text cut off may go on: nothing is known of it"),
    "escape-12": ({"a": 'x\\"y\\"', "b": 1}, "a doubled backslash is a sound escape, and is kept"),
    "comma-12": ({"price": "1,234", "n": 2}, "a comma may be a decimal one: the number stays text, as it was written"),
    "literal-07": ({"x": "007"}, "zeros before a number may be part of an id: it stays text, as it was written"),
}


def rows() -> list[dict[str, Any]]:
    """The cases; none where the data is not there."""
    return [json.loads(line) for line in DATA.read_text("utf-8").splitlines()] if DATA.exists() else []


def right(row: dict[str, Any], reading: JsonReading) -> bool:
    """Was the text read as it was meant?"""
    if not row["recoverable"]:
        return reading.status == "invalid" and not reading.values
    wanted = DIFFERENCES[row["id"]][0] if row["id"] in DIFFERENCES else row["intended"]
    return reading.values == (wanted,) or (len(reading.values) > 1 and list(reading.values) == wanted)


def test_damaged_texts() -> None:
    readings = [(row, read_json(row["input"])) for row in rows()]
    assert [row["id"] for row, reading in readings if not right(row, reading)] == []
    assert not DATA.exists() or len(readings) >= 118


def test_every_change_is_recorded() -> None:
    for row in rows():
        reading = read_json(row["input"])
        plain = (
            [json.loads(text) for text in (row["input"][start:end] for start, end in reading.spans)]
            if (not reading.repairs)
            else []
        )
        assert reading.repairs or list(reading.values) == plain, row["id"]


def test_repair_limit_gives_the_same_value_or_none() -> None:
    for row in rows():
        full = read_json(row["input"])
        for repair_limit in ("none", "notation", "structure", "strings"):
            reading = read_json(row["input"], repair=repair_limit)
            assert reading.values in ((), full.values) or reading.status == "truncated", (row["id"], repair_limit)
