"""Damaged JSON that others collected, where that data lies beside the project; see `test_conformance.py`."""

import json
from pathlib import Path
from typing import Any

from outspoken.json.read import JsonReading, read_json
from tests.tables import tables

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "json" / "damaged.jsonl"

#: What we read where another reading is right, too, or ours differs on purpose.
DIFFERENCES = tables(__file__)["DIFFERENCES"]


def rows() -> list[dict[str, Any]]:
    """The cases; none where the data is not there."""
    return [json.loads(line) for line in DATA.read_text("utf-8").splitlines()] if DATA.exists() else []


def right(row: dict[str, Any], reading: JsonReading) -> bool:
    """Was the text read as it was meant?"""
    if not row["recoverable"]:
        return reading.status == "invalid" and not reading.values
    wanted = DIFFERENCES.get(row["id"], row.get("intended"))
    return reading.values == (wanted,) or (len(reading.values) > 1 and list(reading.values) == wanted)


def test_damaged_texts() -> None:
    readings = [(row, read_json(row["input"])) for row in rows()]
    assert [row["id"] for row, reading in readings if not right(row, reading)] == []
    assert not DATA.exists() or len(readings) >= 118


def test_every_change_is_recorded() -> None:
    for row in rows():
        reading = read_json(row["input"])
        if not reading.repairs:
            assert [json.loads(row["input"][slice(*span)]) for span in reading.spans] == [*reading.values], row["id"]


def test_repair_limit_gives_the_same_value_or_none() -> None:
    for row in rows():
        full = read_json(row["input"])
        for repair_limit in ("none", "notation", "structure", "strings"):
            reading = read_json(row["input"], repair=repair_limit)
            assert reading.values in ((), full.values) or reading.status == "truncated", (row["id"], repair_limit)
