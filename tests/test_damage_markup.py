"""Mistakes of one character in the markup of sound responses, from `tools/damage`."""

from __future__ import annotations

from random import Random

import pytest

from outspoken import parse
from outspoken.grammar import registry
from tools.damage import markup
from tools.damage.markup_cases import KINDS, SEED, Base, bases, damaged_texts, is_writable, mistakes

WRITABLE = [name for name in registry.names() if is_writable(name)]


def hermes() -> Base:
    return bases("hermes", SEED)[0]


def test_every_format_with_calls_has_sound_responses() -> None:
    assert len(WRITABLE) >= 95
    for name in WRITABLE:
        made = bases(name, SEED, count=1)
        assert made, name
        assert len(damaged_texts(made, Random(0), 20)) == 20, name


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


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert markup.main(["--only", "hermes", "text", "--per-format", "6", "--stream", "--show", "1"]) == 0
    printed = capsys.readouterr().out
    assert "ALL                           6" in printed
    assert "nothing to damage: text" in printed
