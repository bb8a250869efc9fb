"""Damage with a known meaning, from `tools/damage`: what has to be read as meant, and what must never happen."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import parse
from outspoken.authoring.fuzz.damage import mistakes
from outspoken.authoring.fuzz.sound import Sound, outcome
from outspoken.grammar import registry
from outspoken.json.read import JsonReading, read_json
from tests.loops import IN_TURN, some
from tests.tables import tables
from tools.damage.__main__ import main
from tools.damage.documents import document
from tools.damage.json_damage import joined, style, tokens
from tools.damage.json_texts import KINDS, DamageCase, generate
from tools.damage.judging import Evaluation, damaged_texts, equal, evaluate, is_beginning, read
from tools.damage.responses import SEED, bases, is_writable
from tools.shared.command import run

TABLES = tables(__file__)

QUOTES = ("inner quotes bare", "inner quotes and breaks bare")
#: the share of texts with bare inner quotes that is read as it was meant, with the schema and without
LEAST = {True: 0.97, False: 0.92}
SCHEMA = pytest.mark.parametrize("schema", [True, False], ids=["schema", "no-schema"])
Evaluated = list[tuple[DamageCase, JsonReading, Evaluation]]


def test_an_unknown_format_is_an_error_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(lambda: main(["markup", "--only", "nosuch"]))
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: there is no format `nosuch`")


# --- JSON


@cache
def sample() -> tuple[DamageCase, ...]:
    """The cases of the fixed seed."""
    return tuple(generate()[0])


@cache
def evaluated(kind: str, schema: bool) -> Evaluated:
    """The readings of some cases of a kind, of all where a share of them counts, and their evaluations."""
    own = [case for case in sample() if case.kind == kind]
    drawn = own if kind in QUOTES else some(own, f"{kind} {schema}", 0.4)
    readings = [read_json(case.text, schema=case.schema if schema else None) for case in drawn]
    return [(case, reading, evaluate(case, reading)) for case, reading in zip(drawn, readings, strict=True)]


def described(case: DamageCase, reading: JsonReading, why: str) -> str:
    """A case in full, and how it was read."""
    repairs = "".join([f"\n  {repair}" for repair in reading.repairs])
    got = f"{reading.status}, {reading.level}, ambiguous: {reading.ambiguous}"
    return f"{why}\n{case}\ngot:   {list(reading.values)!r}\n{got}\nrepairs:{repairs}"


def misses(run: Evaluated) -> list[str]:
    """The cases that are not read as they were meant."""
    return [described(case, reading, evaluation.why) for case, reading, evaluation in run if not evaluation.right]


@SCHEMA
@pytest.mark.parametrize("kind", [k for k, kind in KINDS.items() if kind.group in ("structure", "several", "cut")])
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


def replay(raw: str, reading: JsonReading) -> list[str]:
    """The raw text of each value with the repairs in it done. They come in order, those of one value together."""
    texts: list[str] = []
    left = list(reading.repairs)
    for start, end in reading.spans:
        pieces: list[str] = []
        at = start
        while left and at <= left[0].span[0] and left[0].span[1] <= end:
            first, last = left[0].span
            pieces += [raw[at:first], left.pop(0).after]
            at = last
        texts.append("".join([*pieces, raw[at:end]]))
    return texts


def check_replay(case: DamageCase, reading: JsonReading) -> None:
    """The repairs, done on the raw text of each value, give its text; and that text is JSON for the value."""
    if reading.status == "invalid":
        return
    assert len(reading.values) == len(reading.texts) == len(reading.spans), described(case, reading, "lengths")
    for repair in reading.repairs:
        stood = case.text[slice(*repair.span)]
        assert repair.before == stood, described(case, reading, f"not what stood there: {repair}")
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
        check_replay(case, read_json(case.text, schema=case.schema if schema else None))


@given(st.integers(0, 10**9), st.sampled_from(list(KINDS)), st.data())
def test_repairs_record_two_damages(seed: int, kind: str, data: st.DataObject) -> None:
    for case in generate(seed, 1, kind)[0]:
        text = case.text
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(text)))
            text = text[:at] + data.draw(st.sampled_from(["", *"\"{}[],:\\/'`“\n#"])) + text[at + 1 :]
        check_replay(replace(case, text=text), read_json(text, schema=case.schema))


def test_the_sample_is_large_and_always_the_same() -> None:
    assert len(sample()) >= 2500
    assert {case.kind for case in sample()} == set(KINDS)
    assert sample() == tuple(generate()[0])
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


@pytest.mark.parametrize(("token", "whole", "expected"), TABLES["VALUE_PREFIXES"])
def test_value_prefixes(token: Any, whole: Any, expected: bool) -> None:
    assert is_beginning(token, whole) is expected


@pytest.mark.parametrize(("kind", "values", "more", "right", "silent"), TABLES["EVALUATIONS"])
def test_evaluations(kind: str, values: tuple[Any, ...], more: dict[str, Any], right: bool, silent: bool) -> None:
    read = {"raw": "", "values": values, "status": "repaired", "level": "structure"}
    reading = JsonReading.model_validate(read | more)
    evaluation = evaluate(DamageCase(kind, "", [{"a": "bc"}], {}), reading)
    assert (evaluation.right, evaluation.silent) == (right, silent)


# --- Markup

#: Formats whose opening marker is not noticed yet where a key in it has a mistake.
UNFINISHED = {"gemini_computer_use"}
WRITABLE = [name for name in registry.names() if is_writable(name)]


def hermes() -> Sound:
    return bases("hermes")[0]


@pytest.mark.parametrize("name", [name for name in IN_TURN if name in WRITABLE])
def test_mistakes_in_a_format(name: str) -> None:
    """Nothing is lost or run wrong without a word, and pieces give the same reply."""
    cases = damaged_texts(bases(name, count=1), Random(f"{SEED} {name}"), 3)
    assert len(cases) == 3
    found = [read(case, name, pieces=i < 1) for i, case in enumerate(cases)]
    assert [r.case.text for r in found if r.outcome.startswith("wrong")] == []
    silent = [r.case for r in found if r.outcome == "lost" or r.differs]
    assert [case.text for case in silent if case.base.format not in UNFINISHED] == []
    assert sum(r.outcome != "meant" for r in found) <= (name in TABLES["UNSURE"])


def test_most_formats_can_be_damaged() -> None:
    assert len(WRITABLE) >= 95


def test_mistakes_are_not_beside_names_and_values() -> None:
    base = hermes()
    values = [base.items[0][1], *map(str, base.items[0][2].values())]
    for one in [one for kind in mistakes(base).values() for one in kind]:
        beside = base.text[max(one.start - 1, 0) : one.end + 1]
        assert not any(beside[:1] == v[-1:] and base.text[: one.start].endswith(v) for v in values), one
    assert all(mistakes(base).values())


def test_outcomes() -> None:
    base = hermes()
    assert outcome(parse(base.text, format="hermes"), base.items) == "meant"
    assert outcome(parse(base.text, format="text"), base.items) == "lost"
    assert outcome(parse(base.text[:-20], format="hermes"), base.items) == "flagged"
    assert outcome(parse(base.text, format="hermes"), base.items[1:]) == "wrong, ok"


# --- The command


def test_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["markup", "--only", "hermes", "text", "--per-format", "6", "--stream", "--show", "1"]) == 0
    printed = capsys.readouterr().out
    assert "ALL                           6" in printed
    assert "nothing to damage: text" in printed
    assert main(["--only", "cut", "--per-kind", "2", "--show", "1"]) == 0
    printed = capsys.readouterr().out
    assert "ALL                                      6  100.0  100.0    0.0    0.0    0.0    0.0" in printed


def test_prose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["prose", str(tmp_path), "--processes", "1"]
    (tmp_path / "code.py").write_text("rows = [f(x) for x in rows]\n", "utf-8")
    (tmp_path / "latin.txt").write_bytes(b"\xe9t\xe9")
    (tmp_path / "left_out.bin").write_bytes(b"x")
    (tmp_path / "about.md").write_text('Say <tool_call>{"name": "get_weather", "arguments": {}}</tool_call>.', "utf-8")
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "2 files, read twice" in printed
    assert "about.md\n    no tools, tool_call hermes" in printed
    (tmp_path / "code.py").write_text("[get_weather(city='Paris')]\n", "utf-8")
    assert main(arguments) == 1
    assert "with one tool: 2 files with findings, 1 of them not about formats" in capsys.readouterr().out
