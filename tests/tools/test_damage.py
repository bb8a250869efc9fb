"""Tool calls with known damage, from `tools/damage`: what `read_json` has to repair, and what it must never do."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.json.read import read_json
from tools.damage import Evaluated, timed
from tools.damage.cases import KINDS, DamageCase, cases, generate
from tools.damage.documents import document
from tools.damage.evaluation import Change, Reading, equal, evaluate, is_beginning, replay
from tools.damage.mutations import joined, style, tokens

QUOTES = ("inner quotes bare", "inner quotes and breaks bare")
#: the share of texts with bare inner quotes that is read as it was meant, with the schema and without
LEAST = {True: 0.97, False: 0.92}


@cache
def sample() -> tuple[DamageCase, ...]:
    """The cases of the fixed seed."""
    return tuple(cases())


@cache
def evaluated(kind: str, schema: bool) -> Evaluated:
    """The readings of one kind of case, and their evaluations."""
    return timed([case for case in sample() if case.kind == kind], schema)[0]


def described(case: DamageCase, reading: Reading, why: str) -> str:
    """A case in full, and how it was read."""
    repairs = "".join([f"\n  {repair}" for repair in reading.repairs])
    got = f"{reading.status}, {reading.level}, ambiguous: {reading.ambiguous}"
    return f"{why}\n{case}\ngot:   {list(reading.values)!r}\n{got}\nrepairs:{repairs}"


def misses(run: Evaluated) -> list[str]:
    """The cases that are not read as they were meant."""
    return [described(case, reading, evaluation.why) for case, reading, evaluation in run if not evaluation.right]


def of_group(group: str) -> list[str]:
    return [name for name, kind in KINDS.items() if kind.group == group]


SCHEMA = pytest.mark.parametrize("schema", [True, False], ids=["schema", "no-schema"])


@SCHEMA
@pytest.mark.parametrize("kind", [*of_group("structure"), *of_group("several"), *of_group("cut")])
def test_unambiguous_damage_is_always_repaired(kind: str, schema: bool) -> None:
    run = evaluated(kind, schema)
    assert run
    wrong = misses(run)
    assert not wrong, f"{len(wrong)} of {len(run)}; the first:\n{wrong[0]}"


@SCHEMA
def test_bare_inner_quotes_are_nearly_always_repaired(schema: bool) -> None:
    run = [one for kind in QUOTES for one in evaluated(kind, schema)]
    wrong = misses(run)
    assert len(wrong) <= len(run) * (1 - LEAST[schema]), f"{len(wrong)} of {len(run)}; the first:\n{wrong[0]}"


def check_replay(case: DamageCase, reading: Reading) -> None:
    """The repairs, done on the raw text of each value, give its text; and that text is JSON for the value."""
    if reading.status == "invalid":
        return
    assert len(reading.values) == len(reading.texts) == len(reading.spans), described(case, reading, "lengths")
    for repair in reading.repairs:
        assert repair.before == case.text[slice(*repair.span)], described(
            case, reading, f"not what stood there: {repair}"
        )
    assert replay(case.text, reading) == list(reading.texts), described(case, reading, f"texts: {reading.texts}")
    for value, text, (start, end) in zip(reading.values, reading.texts, reading.spans, strict=True):
        assert equal(json.loads(text), value), described(case, reading, f"not the value of {text!r}")
        if not reading.repairs:
            assert text == case.text[start:end], described(case, reading, "changed without a repair")


@SCHEMA
@pytest.mark.parametrize("kind", KINDS)
def test_repairs_record_every_change(kind: str, schema: bool) -> None:
    for case, reading, _ in evaluated(kind, schema):
        check_replay(case, reading)


@given(st.integers(0, 10**9), st.sampled_from(list(KINDS)), st.booleans())
def test_repairs_record_every_change_for_any_seed(seed: int, kind: str, schema: bool) -> None:
    for case in generate(seed, 1, kind)[0]:
        check_replay(case, read_json(case.text, case.schema if schema else None))


@given(st.integers(0, 10**9), st.sampled_from(list(KINDS)), st.data())
def test_repairs_record_two_damages(seed: int, kind: str, data: st.DataObject) -> None:
    for case in generate(seed, 1, kind)[0]:
        text = case.text
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(text)))
            text = text[:at] + data.draw(st.sampled_from(["", *"\"{}[],:\\/'`“\n#"])) + text[at + 1 :]
        similar_document = replace(case, text=text)
        check_replay(similar_document, read_json(text, case.schema))


# --- The generator and the evaluation


def test_the_sample_is_large_and_always_the_same() -> None:
    assert len(sample()) >= 2500
    assert {case.kind for case in sample()} == set(KINDS)
    assert sample() == tuple(cases())
    assert len({case.text for case in sample()}) == len(sample())


@given(st.integers(0, 10**9))
def test_documents_are_sound_before_damage(seed: int) -> None:
    random = Random(seed)
    meant = document(random)
    text = joined(tokens(meant.value, style(random)))
    assert equal(json.loads(text), meant.value)
    assert any(json.dumps(meant.payload, ensure_ascii=ascii_) in text for ascii_ in (True, False))


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), ("1", 1), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1], [1, 2]), (None, "")]
)
def test_unequal_values(one: Any, other: Any) -> None:
    assert not equal(one, other)
    assert equal(one, one)


@pytest.mark.parametrize(
    ("token", "whole", "expected"),
    [
        ({}, {"a": 1}, True),
        ({"a": "x"}, {"a": "xy", "b": 1}, True),
        ({"a": "x", "b": 1}, {"a": "xy", "b": 1}, False),
        ({"b": 1}, {"a": 1, "b": 1}, False),
        ({"a": 1}, {"a": 12}, False),
        ([1, [2]], [1, [2, 3], 4], True),
        ([1, 2, 3], [1, 2], False),
        ("", None, False),
    ],
)
def test_value_prefixes(token: Any, whole: Any, expected: bool) -> None:
    assert is_beginning(token, whole) is expected


@dataclass
class Pretended:
    """A reading that nobody read."""

    values: list[Any]
    status: str = "repaired"
    level: str | None = "structure"
    ambiguous: bool = False
    repairs: tuple[Change, ...] = ()
    texts: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


@pytest.mark.parametrize(
    ("kind", "reading", "right", "silent"),
    [
        ("colon missing", Pretended([{"a": "bc"}]), True, False),
        ("colon missing", Pretended([{"a": "b"}]), False, True),
        ("colon missing", Pretended([{"a": "b"}], ambiguous=True), False, False),
        ("colon missing", Pretended([{"a": "b"}], level="heuristic"), False, False),
        ("colon missing", Pretended([], "invalid"), False, False),
        ("colon missing", Pretended([{"a": "bc"}], "truncated"), False, False),
        ("cut", Pretended([{"a": "b"}], "truncated"), True, False),
        ("cut", Pretended([{"a": "b"}]), False, True),
        ("cut", Pretended([{"a": "bc"}]), True, False),
        ("cut", Pretended([{"a": "c"}], "truncated"), False, True),
    ],
)
def test_evaluations(kind: str, reading: Pretended, right: bool, silent: bool) -> None:
    evaluation = evaluate(DamageCase(kind, "", [{"a": "bc"}], {}), reading)
    assert (evaluation.right, evaluation.silent) == (right, silent)
