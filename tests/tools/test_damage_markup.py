"""Mistakes of one character in the markup of sound responses, from `tools/damage`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from outspoken import parse
from outspoken.grammar import registry
from tests.loops import in_one_item
from tools.damage import markup, prose
from tools.damage.markup_cases import (
    KINDS,
    SEED,
    Base,
    bases,
    damaged_texts,
    is_writable,
    mistakes,
    same_items,
)
from tools.damage.oracle import readings

#: Formats whose opening marker is not noticed yet where a key in it has a mistake.
UNFINISHED = {"gemini_computer_use"}
WRITABLE = [name for name in registry.names() if is_writable(name)]


def hermes() -> Base:
    return bases("hermes", SEED)[0]


def test_mistakes_in_every_format() -> None:
    """Nothing is lost or run wrong without a word, and pieces give the same reply."""
    assert len(WRITABLE) >= 95
    readings: list[markup.MarkupReading] = []
    for name in WRITABLE:
        cases = damaged_texts(bases(name, SEED, count=1), Random(f"{SEED} {name}"), 12)
        assert len(cases) == 12, name
        readings += [markup.read(case, name, pieces=i < 3) for i, case in enumerate(cases)]
    counts = Counter(reading.outcome for reading in readings)
    assert [r.case.text for r in readings if r.outcome == "wrong, ok"] == []
    silent = [r.case for r in readings if r.outcome == "lost" or r.differs]
    assert [case.text for case in silent if case.base.format not in UNFINISHED] == []
    assert counts["wrong, flagged"] <= 0.005 * len(readings)
    assert counts["meant"] >= 0.94 * len(readings)


def test_mistakes_are_not_beside_names_and_values() -> None:
    base = hermes()
    values = [base.items[0][1], *map(str, base.items[0][2].values())]
    for one in [one for kind in mistakes(base).values() for one in kind]:
        beside = base.text[max(one.start - 1, 0) : one.end + 1]
        assert not any(beside[:1] == v[-1:] and base.text[: one.start].endswith(v) for v in values), one
    assert set(mistakes(base)) == set(KINDS)


def test_outcomes() -> None:
    base = hermes()
    assert markup.outcome(parse(base.text, "hermes"), base.items) == "meant"
    assert markup.outcome(parse(base.text, "text"), base.items) == "lost"
    assert markup.outcome(parse(base.text[:-20], "hermes"), base.items) == "flagged"
    assert markup.outcome(parse(base.text, "hermes"), base.items[1:]) == "wrong, ok"


@in_one_item("name", ["mistral", "pythonic", "xlam", "ui_tars", "functionary_v3_1", "hermes", "qwen3_coder"])
def test_mistakes_are_read_as_by_brute_force(name: str) -> None:
    """Where only one reading makes sense, the parser gives it, or says that it cannot."""
    made = sorted(bases(name, SEED), key=lambda base: len(base.text))[:1]
    for case in damaged_texts(made, Random(name), 3):
        found = readings(case.text, name, case.base.tools)
        assert any(same_items(one, case.base.items) for one in found), case.text
        if len(found) == 1:
            assert markup.outcome(markup.read(case, name).reply, found[0]) in ("meant", "flagged"), case.text


def test_a_text_that_is_sound_has_one_reading() -> None:
    base = hermes()
    assert [list(one) for one in readings(base.text, "hermes", base.tools)] == [list(base.items)]
    assert readings("No calls here.", "hermes", base.tools) == []


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert markup.main(["--only", "hermes", "text", "--per-format", "6", "--stream", "--show", "1"]) == 0
    printed = capsys.readouterr().out
    assert "ALL                           6" in printed
    assert "nothing to damage: text" in printed


def test_prose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "code.py").write_text("rows = [f(x) for x in rows]\n", "utf-8")
    (tmp_path / "latin.txt").write_bytes(b"\xe9t\xe9")
    (tmp_path / "left_out.bin").write_bytes(b"x")
    assert prose.main([str(tmp_path), "--processes", "1"]) == 0
    assert "1 files, 0.0 MB" in capsys.readouterr().out
    (tmp_path / "about.md").write_text('Say <tool_call>{"name": "get_weather", "arguments": {}}</tool_call>.', "utf-8")
    assert prose.main([str(tmp_path), "--processes", "1"]) == 0
    assert "about.md\n    no tools, tool_call hermes" in capsys.readouterr().out
    (tmp_path / "code.py").write_text("[get_weather(city='Paris')]\n", "utf-8")
    assert prose.main([str(tmp_path), "--processes", "1"]) == 1
    assert "with one tool: 2 files with findings, 1 of them not about formats" in capsys.readouterr().out
