"""Formats that are written with the guide alone and resemble none of the catalogue are safe at once."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from outspoken import load_format, parse, render
from outspoken.authoring.check import findings
from outspoken.authoring.fuzz import Fuzz
from outspoken.authoring.fuzz.damage import CHARACTERS, cases
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar import registry
from tests.loops import SEED, some
from tests.tables import tables
from tools.damage.judging import read

TABLES = tables(__file__)

AUTHORED = sorted((Path(__file__).parent / "authored").glob("*.lark"))
#: Formats of lines, of indentation and of attributes, none of whose markers is long.
SHORT = sorted((Path(__file__).parent / "short_markers").glob("*.lark"))
#: A grammar has at most so many lines.
LONGEST = 40

every_file = pytest.mark.parametrize("file", AUTHORED + SHORT, ids=lambda file: file.stem)


def test_the_grammars_are_short() -> None:
    assert [len(file.read_text("utf-8").splitlines()) <= LONGEST for file in AUTHORED + SHORT] == [True] * 7


@every_file
def test_a_new_format_is_sound(file: Path) -> None:
    made = Checkout.of(file)
    with made.in_use():
        found = findings(made, file.stem)
    assert [diagnostic.frame() for diagnostic in found if diagnostic.severity != "note"] == []


@every_file
def test_a_mistake_in_the_markup_is_safe_at_once(file: Path) -> None:
    """One character, with tools: nothing runs wrong or is lost, much is read as meant, and pieces give the same reply.

    Where markers are short, the shape of a line is the evidence; there, hardly anything is lost, and half is meant.
    """
    readings = [read(case, pieces=at % 5 == 0) for at, case in enumerate(cases(load_format(file), 0, 60, CHARACTERS))]
    counts = Counter(reading.outcome for reading in readings)
    assert [reading.case.text for reading in readings if reading.differs] == []
    assert [reading.case.text for reading in readings if reading.outcome.startswith("wrong")] == []
    assert counts["lost"] <= (0.03 if file in SHORT else 0) * len(readings)
    assert counts["meant"] >= (0.45 if file in SHORT else 0.6) * len(readings)


@pytest.mark.parametrize("file", SHORT, ids=lambda file: file.stem)
def test_no_unit_of_damage_runs_or_loses_a_call_in_silence(file: Path) -> None:
    """Tags, lines, attributes, calls, values and ends, with tools."""
    made = [case for case in some(cases(load_format(file), 1, 200), file.stem, 0.25) if case.base.tools]
    outcomes = {case.text: read(case, pieces=False).outcome for case in made}
    assert [text for text, found in outcomes.items() if found in ("wrong, ok", "lost")] == []
    assert len(made) > 40


@pytest.mark.parametrize("file", some(AUTHORED + SHORT, "asked", 0.15), ids=lambda file: file.stem)
def test_what_all_formats_are_asked_holds_of_a_new_one(file: Path) -> None:
    """The fuzz finds nothing, and its example is written as it is."""
    name = load_format(file)
    fuzz = Fuzz(name, ["Well."])
    assert str(fuzz.run(Random(f"new {SEED}").randrange(1 << 30))) == "None", f"OUTSPOKEN_TEST_SEED={SEED}"
    assert fuzz.sound >= 10
    example = registry.header(name).example
    assert render(parse(example, format=name), format=name) == example


def test_a_value_that_holds_another_argument_of_the_tool_is_doubted() -> None:
    """Only if the tool has the argument and the call lacks it; in text that merely names it, nothing is doubted."""
    name = load_format(AUTHORED[1])
    tools = [{"name": "f", "parameters": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}]
    for value, why in TABLES["SWALLOWED"]:
        text = f'<perform tool="f">\n<with key="city" value="{value}"/>\n</perform>'
        reply = parse(text, format=name, tools=tools)
        assert (reply.tool_calls, reply.status) == ([], "invalid"), why
        # without tools, only an intact opener shows that a value holds another argument
        alone = parse(text, format=name)
        calls = alone.unfinished_tool_calls if '<with key="' in value else alone.tool_calls
        assert [call.name for call in calls] == ["f"], why
    for value in ("three days in Paris", "days", "some days, or more", "x\ndays later"):
        text = f'<perform tool="f">\n<with key="city" value="{value}"/>\n</perform>'
        assert parse(text, format=name, tools=tools).tool_calls[0].arguments == {"city": value}


def test_keys_that_another_marker_reads_first_are_reported(tmp_path: Path) -> None:
    """An overridden key without its priority loses against a key of any name."""
    for text, codes in (
        (TABLES["OTHER_KEYS"], []),
        (TABLES["OTHER_KEYS"].replace("_ARGUMENTS_KEY.1", "_ARGUMENTS_KEY"), ["same-text"]),
    ):
        file = tmp_path / "other_keys.lark"
        file.write_text(text, "utf-8")
        made = Checkout.of(file)
        with made.in_use():
            found = [finding.code for finding in findings(made, file.stem)]
        assert [code for code in found if code == "same-text"] == codes
        assert ("bad-example" in found) == bool(codes)
