"""Source snippets of diagnostics, compared in full."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outspoken.results.diagnostics import Diagnostic
from outspoken.results.snippet import draw, locate
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)
FRAMES = TABLES["FRAMES"]


def diagnose(raw: str, span: tuple[int, int], **fields: Any) -> Diagnostic:
    line, column, excerpt, excerpt_start = locate(raw, span)
    place = {"line": line, "column": column, "excerpt": excerpt, "excerpt_start": excerpt_start}
    words = {"code": "odd-text", "message": "this text is odd", "format": "hermes"}
    return Diagnostic.model_validate({"span": span, **place, **words, **fields})


@in_one_item("name", FRAMES)
def test_a_frame(name: str) -> None:
    case = json.loads(json.dumps(FRAMES[name]).replace("LONE", "\\ud800"))
    frame = case.pop("frame")
    assert draw(diagnose(case.pop("raw"), case.pop("span"), **case)) == frame


@pytest.mark.parametrize("length", [103, 104, 105])
def test_ellipsis_always_stands_for_omitted_text(length: int) -> None:
    """Marks that take no column let all of the kept text into the frame."""
    text = draw(diagnose("e" + "\u0301" * (length - 1), (0, 1))).splitlines()[3]
    marks = text.removeprefix(" 1 | e").removesuffix("...")
    assert set(marks) == {"\u0301"}
    assert text.endswith("...") == (len(marks) < length - 1)


def test_diagnostic_without_an_excerpt() -> None:
    diagnostic = Diagnostic(code="odd-text", message="this text is odd", span=(5, 9), label="no text was kept")
    assert draw(diagnostic).splitlines()[1:] == ["  --> text:1:1 (offset 5)", "   |", " 1 |", "   | ^ no text was kept"]
    assert diagnostic.frame() == draw(diagnostic)


@pytest.mark.parametrize(
    ("raw", "span", "expected"), [*TABLES["LOCATED"], ("x" * 500, (300, 310), (1, 301, "x" * 200, 204))]
)
def test_locate(raw: str, span: tuple[int, int], expected: tuple[int, int, str, int]) -> None:
    assert locate(raw, span) == tuple(expected)


@given(
    raw=st.text(st.sampled_from("ab \t\r\n\x1b\u0301東\ud800\u200d'") | st.characters(), max_size=400),
    start=st.integers(0, 400),
    length=st.integers(0, 400),
)
@example(raw="東" * 400, start=200, length=150)
@example(raw="\u0301" * 400, start=0, length=400)
@example(raw="a" * 103 + "\nb", start=0, length=105)
def test_any_frame_is_small_and_plain(raw: str, start: int, length: int) -> None:
    start = min(start, len(raw))
    diagnostic = diagnose(raw, (start, min(start + length, len(raw))), label="label")
    assert len(diagnostic.excerpt) <= 200
    assert diagnostic.excerpt.count("\n") <= 2
    assert raw.startswith(diagnostic.excerpt, diagnostic.excerpt_start)
    rows = draw(diagnostic).split("\n")
    assert 5 <= len(rows) <= 7
    for row in rows:
        assert row.isprintable()
        assert row == row.rstrip()
        assert len(row) <= 320
    assert rows[4].lstrip(" |").startswith("^")
