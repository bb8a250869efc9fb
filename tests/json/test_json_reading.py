"""`read_json`: where the JSON of a text is and what is said of it; and its decoder: lists, long texts, bounded cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import from_json

from outspoken.json import decoder, parts
from outspoken.json.decoder import NotJsonError, decode, nests, read_strictly
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


# sound values are decoded alike in lists, one by one, and far into a long text, at a bounded cost


SIGNS = ["", ",", '"', "}", "]", "{", "1e999", "[", "\\"]
SEVERAL = ['{"a":1}, {"b":2}', '{"a":1}], [{"b":2}', "[1]] , [[2]", "[1]]", "[[1]", "{}[]", "[NaN]"]


def value(random: Random, depth: int) -> object:
    """Any value, nested so deeply at most."""
    kind = random.randrange(7 if depth else 4)
    if kind < 4:
        return ["".join(random.choices('a ,{}[]":\\é\n', k=random.randrange(7))), random.random(), 1 << 70, None][kind]
    if kind == 4:
        return {key: value(random, depth - 1) for key in random.sample(["id", "on", "at"], random.randrange(4))}
    return [value(random, depth - 1) for _ in range(random.randrange(4))]


@given(st.randoms(use_true_random=True))
def test_runs_of_items(random: Random):
    rows = [random.choice([{"id": value(random, 2)}, value(random, 4)]) for _ in range(random.randrange(14))]
    text = "{}," + json.dumps(rows, indent=random.choice([None, 0, 2]))[1:]
    for _ in range(random.randrange(3)):
        place = random.randrange(len(text))
        text = text[:place] + random.choice(SIGNS) + text[place + 1 :]
    limit, depth = max(len(text) - random.choice([0, 0, 60]), 2), random.choice([2, 3, 20])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_FEW", 0)
        as_list = parts.items_behind(text, 2, limit, depth)
        patch.setattr(parts, "_FEW", len(text))
        single = parts.items_behind(text, 2, limit, depth)
    assert single is None or (as_list is not None and as_list.end >= single.end)
    if as_list is not None:
        assert as_list == list(islice(every_item(text, limit), as_list.number))[-1]
        assert not nests(json.loads(text[as_list.comma + 1 : as_list.end]), depth)


def every_item(text: str, limit: int) -> Iterator[parts.Items]:
    """The items of a list that goes on at 2, with the number of those up to each."""
    pos, number = 2, 0
    while (comma := re.compile(r"\s*(,)\s*").match(text, pos)) is not None:
        pos = json.JSONDecoder().raw_decode(text, comma.end())[1]
        assert pos <= limit
        number += 1
        yield parts.Items(number, comma.start(1), pos)


@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}")])
def test_nesting_is_limited(opening: str, closing: str):
    """The limit holds at any depth, though pydantic has one of its own."""
    for limit in (1, 2, 128, 200, 250):
        assert decode(opening * limit + "7" + closing * limit + " " * 2000, limit)
        with pytest.raises(NotJsonError):
            decode(opening * (limit + 1) + "7" + closing * (limit + 1) + " " * 2000, limit)


@pytest.mark.parametrize("text", SEVERAL)
def test_only_one_value_is_read(text: str):
    with pytest.raises(ValueError, match=r"value|line|unpack"):
        read_strictly(text, 128)
    with pytest.raises(NotJsonError):
        decode(text + " " * 3000, 128)


# values far into a long text

VALUES: list[Any] = [*TABLES["VALUES"], "x" * 9000]


def near_and_far(text: str, before: int) -> tuple[Any, Any]:
    """The value at the beginning of a text, and behind so many lines, with its end counted from its beginning."""
    near = decoder.read_at(text, 0, 64)
    far = decoder.read_at("\n" * before + text, before, 64)
    return near, far if far is None else (far[0], far[1] - before, far[2])


@given(
    st.sampled_from(VALUES), st.integers(0, 9100), st.integers(8150, 8250), st.sampled_from(["", " ", "}", ",", "x"])
)
def test_value_does_not_depend_on_its_offset(value: Any, cut: int, before: int, behind: str) -> None:
    text = json.dumps(value, ensure_ascii=bool(cut % 2))
    for written in (
        text + behind,
        text[:cut] + behind,
        text[:cut] + "\x01" + text[cut:],
        text[:cut] + "," + text[cut:],
    ):
        near, far = near_and_far(written or " ", before)
        assert near == far


@pytest.mark.parametrize("token", ["1234567890123456789012345", "-1.5e+10", "true", "null", '"\\ud83d\\ude00"', "1 "])
def test_value_that_ends_with_the_first_piece(token: str) -> None:
    for length in range(8192 - 40, 8192 + 8):
        text = '["' + "y" * (length - 4) + '",' + token + "]"
        near, far = near_and_far(text, 9000)
        assert near == far
        assert near is not None
        broken, also = near_and_far(text[:-1] + ";", 9000)
        assert (broken, also) == (None, None)


def test_late_mistake_is_found_without_reading_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    scan = decoder.scan_once

    def count(text: str, pos: int) -> Any:
        seen.append(len(text))
        return scan(text, pos)

    monkeypatch.setattr(decoder, "scan_once", count)
    text = "{bad} [1,} \"a\x01\" {'b'} " * 4000
    for at in range(20_000, 40_000):
        if text[at] in '{["':
            decoder.read_at(text, at, 64)
    assert len(seen) >= 1000
    assert max(seen) <= 8192


def test_undocumented_behaviour_of_the_json_decoder() -> None:
    """`scan_once` gives a value and its end, or the place of the failure."""
    assert decoder.scan_once('x[1, "a"] y', 1) == ([1, "a"], 9)
    with pytest.raises(StopIteration) as stop:
        decoder.scan_once("[1, x]", 4)
    assert stop.value.value == 4
    with pytest.raises(json.JSONDecodeError, match=r"^Unterminated string") as error:
        decoder.scan_once('["a', 0)
    assert error.value.pos == 1
