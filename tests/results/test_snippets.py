"""Source snippets of diagnostics, compared in full."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outspoken.results.diagnostics import Diagnostic
from outspoken.results.snippet import draw, locate


def diagnose(raw: str, span: tuple[int, int], **fields: Any) -> Diagnostic:
    line, column, excerpt, excerpt_start = locate(raw, span)
    place = {"line": line, "column": column, "excerpt": excerpt, "excerpt_start": excerpt_start}
    words = {"code": "odd-text", "message": "this text is odd", "format": "hermes"}
    return Diagnostic.model_validate({"span": span, **place, **words, **fields})


def at(raw: str, part: str) -> tuple[int, int]:
    start = raw.index(part)
    return start, start + len(part)


def check(raw: str, span: tuple[int, int], expected: str, **fields: Any) -> None:
    assert draw(diagnose(raw, span, **fields)) == dedent(expected).strip("\n")


def test_complete_frame() -> None:
    raw = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Par'
    check(
        raw,
        at(raw, "<tool_call>"),
        """
        error[unclosed-call]: tool call 1 is never closed
          --> hermes:2:1 (offset 13)
           |
         2 | <tool_call>
           | ^^^^^^^^^^^ opened here, and the text ends without `</tool_call>`
           |
           = note: arguments recovered up to offset 78
           = note: 1 string and 2 objects were closed
           = help: the model may have reached its token limit
        """,
        code="unclosed-call",
        message="tool call 1 is never closed",
        label="opened here, and the text ends without `</tool_call>`",
        notes=("arguments recovered up to offset 78", "1 string and 2 objects were closed"),
        helps=("the model may have reached its token limit",),
    )


def test_a_warning_with_a_help_alone() -> None:
    raw = "[TOOL_CALLS]get_weather[ARGS]{'city': 'Paris', 'days': 3,}"
    check(
        raw,
        at(raw, "{'city': 'Paris', 'days': 3,}"),
        """
        warning[repaired-payload]: arguments of `get_weather` are not JSON; 4 edits made them so
          --> mistral:1:30 (offset 29)
           |
         1 | [TOOL_CALLS]get_weather[ARGS]{'city': 'Paris', 'days': 3,}
           |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           |
           = help: turn repair off to get an error instead
        """,
        code="repaired-payload",
        message="arguments of `get_weather` are not JSON; 4 edits made them so",
        severity="warning",
        format="mistral",
        helps=("turn repair off to get an error instead",),
    )


def test_no_format_no_label_no_notes() -> None:
    check(
        "abc",
        (1, 2),
        """
        note[odd-text]: this text is odd
          --> text:1:2 (offset 1)
           |
         1 | abc
           |  ^
        """,
        severity="note",
        format=None,
    )


def test_the_margin_is_as_wide_as_the_highest_line_number() -> None:
    check(
        "x\n" * 8 + "nine {\nten }\n",
        (21, 27),
        """
        error[odd-text]: this text is odd
           --> hermes:9:6 (offset 21)
            |
          9 | nine {
            |      ^ these braces (to offset 27)
         10 | ten }
            |
            = note: a note stands under the bars
        """,
        label="these braces",
        notes=("a note stands under the bars",),
    )


def test_an_empty_text() -> None:
    check(
        "",
        (0, 0),
        """
        error[odd-text]: this text is odd
          --> hermes:1:1 (offset 0)
           |
         1 |
           | ^ there is nothing
        """,
        label="there is nothing",
    )


def test_an_empty_span_has_one_caret() -> None:
    check(
        '{"a": }',
        (6, 6),
        """
        error[odd-text]: this text is odd
          --> hermes:1:7 (offset 6)
           |
         1 | {"a": }
           |       ^ a value is missing here
        """,
        label="a value is missing here",
    )


def test_the_end_of_the_text() -> None:
    check(
        "one\ntwo",
        (7, 7),
        """
        error[odd-text]: this text is odd
          --> hermes:2:4 (offset 7)
           |
         2 | two
           |    ^ ends here
        """,
        label="ends here",
    )


def test_the_end_of_the_text_after_a_line_break() -> None:
    check(
        "one\ntwo\n",
        (8, 8),
        """
        error[odd-text]: this text is odd
          --> hermes:3:1 (offset 8)
           |
         3 |
           | ^ ends here
        """,
        label="ends here",
    )


def test_a_line_break_alone_is_the_end_of_its_line() -> None:
    check(
        "one\r\ntwo",
        (3, 5),
        """
        error[odd-text]: this text is odd
          --> hermes:1:4 (offset 3)
           |
         1 | one
           |    ^ a line ends
        """,
        label="a line ends",
    )


def test_a_line_break_at_the_end_of_a_span_adds_no_line() -> None:
    check(
        "<tool_call>\n{}\n",
        (0, 12),
        """
        error[odd-text]: this text is odd
          --> hermes:1:1 (offset 0)
           |
         1 | <tool_call>
           | ^^^^^^^^^^^
        """,
    )


def test_lines_that_end_as_on_windows() -> None:
    check(
        "one\r\ntwo three\r\nfour",
        (9, 14),
        """
        error[odd-text]: this text is odd
          --> hermes:2:5 (offset 9)
           |
         2 | two three
           |     ^^^^^ this one
        """,
        label="this one",
    )


def test_a_span_over_two_lines_that_end_as_on_windows() -> None:
    check(
        "one\r\ntwo three\r\nfour",
        (9, 20),
        """
        error[odd-text]: this text is odd
          --> hermes:2:5 (offset 9)
           |
         2 | two three
           |     ^^^^^ these two (to offset 20)
         3 | four
        """,
        label="these two",
    )


def test_a_span_over_many_lines_shows_three() -> None:
    check(
        "{\n  'city': 'Paris',\n  'days': 3,\n  'units': 'C',\n}\n",
        (0, 52),
        """
        error[odd-text]: this text is odd
          --> hermes:1:1 (offset 0)
           |
         1 | {
           | ^ (to offset 52)
         2 |   'city': 'Paris',
         3 |   'days': 3,
           |
           = help: write JSON
        """,
        helps=("write JSON",),
    )


def test_an_empty_line_within_a_span() -> None:
    check(
        "one\n\ntwo",
        (2, 6),
        """
        error[odd-text]: this text is odd
          --> hermes:1:3 (offset 2)
           |
         1 | one
           |   ^ (to offset 6)
         2 |
         3 | two
        """,
    )


def test_a_long_line_is_cut_on_both_sides() -> None:
    raw = "0123456789" * 30 + "<here>" + "0123456789" * 30
    check(
        raw,
        at(raw, "<here>"),
        """
        error[odd-text]: this text is odd
          --> hermes:1:301 (offset 300)
           |
         1 | ...012345678901234567890123456789012345678901234567890123456789<here>012345678901234567890123456789...
           |                                                                ^^^^^^ right here
        """,
        label="right here",
    )


def test_a_long_line_is_cut_on_the_right_alone_when_the_span_is_near_its_start() -> None:
    raw = "<here>" + "0123456789" * 30
    check(
        raw,
        at(raw, "<here>"),
        """
        error[odd-text]: this text is odd
          --> hermes:1:1 (offset 0)
           |
         1 | <here>012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789...
           | ^^^^^^
        """,
    )


def test_a_long_line_is_cut_on_the_left_alone_when_the_span_is_at_its_end() -> None:
    raw = "0123456789" * 30 + "<here>"
    check(
        raw,
        at(raw, "<here>"),
        """
        error[odd-text]: this text is odd
          --> hermes:1:301 (offset 300)
           |
         1 | ...012345678901234567890123456789012345678901234567890123456789<here>
           |                                                                ^^^^^^
        """,
    )


def test_line_that_just_fits_is_not_shortened() -> None:
    raw = "x" * 93 + "end"
    check(
        raw,
        at(raw, "end"),
        f"""
        error[odd-text]: this text is odd
          --> hermes:1:94 (offset 93)
           |
         1 | {"x" * 93}end
           | {" " * 93}^^^
        """,
    )
    check(
        raw,
        (20, 21),
        f"""
        error[odd-text]: this text is odd
          --> hermes:1:21 (offset 20)
           |
         1 | {"x" * 93}end
           | {" " * 20}^
        """,
    )


def test_a_span_that_is_longer_than_the_frame_goes_on_under_the_dots() -> None:
    raw = "before " + "0123456789" * 40
    check(
        raw,
        (7, 407),
        f"""
        error[odd-text]: this text is odd
          --> hermes:1:8 (offset 7)
           |
         1 | before 01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678...
           |        {"^" * 92} all of it (to offset 407)
        """,
        label="all of it",
    )


def test_long_span_keeps_some_text_before_it() -> None:
    raw = "x" * 50 + "0123456789" * 40
    check(
        raw,
        (50, 450),
        f"""
        error[odd-text]: this text is odd
          --> hermes:1:51 (offset 50)
           |
         1 | ...{"x" * 21}{"0123456789" * 7}01234...
           | {" " * 24}{"^" * 78} (to offset 450)
        """,
    )


def test_lines_after_the_first_are_shortened() -> None:
    raw = "{\n" + "0123456789" * 5 + "\n" + "0123456789" * 11
    check(
        raw,
        (0, len(raw)),
        """
        error[odd-text]: this text is odd
          --> hermes:1:1 (offset 0)
           |
         1 | {
           | ^ (to offset 163)
         2 | 01234567890123456789012345678901234567890123456789
         3 | 01234567890123456789012345678901234567890123456789...
        """,
    )


@pytest.mark.parametrize("length", [103, 104, 105])
def test_ellipsis_always_stands_for_omitted_text(length: int) -> None:
    """Marks that take no column let all of the kept text into the frame."""
    text = draw(diagnose("e" + "\u0301" * (length - 1), (0, 1))).splitlines()[3]
    marks = text.removeprefix(" 1 | e").removesuffix("...")
    assert set(marks) == {"\u0301"}
    assert text.endswith("...") == (len(marks) < length - 1)


def test_controls_are_shown_as_escapes_and_the_carets_stay_under_their_text() -> None:
    raw = "\x1b[31mred\x00\t<here>\x7f"
    check(
        raw,
        at(raw, "<here>"),
        r"""
        error[odd-text]: this text is odd
          --> hermes:1:11 (offset 10)
           |
         1 | \x1b[31mred\x00\t<here>\x7f
           |                  ^^^^^^ after a tab
        """,
        label="after a tab",
    )


def test_the_carets_are_as_wide_as_an_escape() -> None:
    check(
        '"a\tb"',
        (2, 3),
        r"""
        error[odd-text]: this text is odd
          --> hermes:1:3 (offset 2)
           |
         1 | "a\tb"
           |   ^^ a raw tab
        """,
        label="a raw tab",
    )


def test_a_carriage_return_within_a_line_is_a_control() -> None:
    check(
        "one\rtwo\r\n",
        (4, 7),
        r"""
        error[odd-text]: this text is odd
          --> hermes:1:5 (offset 4)
           |
         1 | one\rtwo
           |      ^^^
        """,
    )


def test_bidirectional_and_hidden_characters_are_shown() -> None:
    check(
        "a\u202eb\u200bc\xa0d\u2028e\ufefff\ud800g",
        (12, 13),
        r"""
        error[odd-text]: this text is odd
          --> hermes:1:13 (offset 12)
           |
         1 | a\u202eb\u200bc\xa0d\u2028e\ufefff\ud800g
           |                                         ^
        """,
    )


def test_wide_characters_take_two_columns() -> None:
    raw = '{"city": "東京", "days": ３}'
    check(
        raw,
        at(raw, "３"),
        """
        error[odd-text]: this text is odd
          --> hermes:1:24 (offset 23)
           |
         1 | {"city": "東京", "days": ３}
           |                          ^^ a fullwidth digit
        """,
        label="a fullwidth digit",
    )


def test_combining_marks_take_no_column() -> None:
    raw = "cafe\u0301 <here>"
    check(
        raw,
        at(raw, "<here>"),
        """
        error[odd-text]: this text is odd
          --> hermes:1:7 (offset 6)
           |
         1 | cafe\u0301 <here>
           |      ^^^^^^
        """,
    )


def test_a_long_line_of_wide_characters_is_cut_by_columns() -> None:
    raw = "東" * 100 + "<here>" + "京" * 100
    check(
        raw,
        at(raw, "<here>"),
        f"""
        error[odd-text]: this text is odd
          --> hermes:1:101 (offset 100)
           |
         1 | ...{"東" * 30}<here>{"京" * 15}...
           | {" " * 63}^^^^^^
        """,
    )


def test_model_text_cannot_break_the_frame() -> None:
    check(
        "x",
        (0, 1),
        r"""
        error[odd-text]: there is no tool `a\nb\x1b[2J`
          --> hermes:1:1 (offset 0)
           |
         1 | x
           | ^ `a\nb`
           |
           = note: `\r\ud800` was read as a name
           = help: names have no `\t`
        """,
        message="there is no tool `a\nb\x1b[2J`",
        label="`a\nb`",
        notes=("`\r\ud800` was read as a name",),
        helps=("names have no `\t`",),
    )


def test_diagnostic_without_an_excerpt() -> None:
    diagnostic = Diagnostic(code="odd-text", message="this text is odd", span=(5, 9), label="no text was kept")
    assert draw(diagnostic).splitlines()[1:] == [
        "  --> text:1:1 (offset 5)",
        "   |",
        " 1 |",
        "   | ^ no text was kept",
    ]
    assert diagnostic.frame() == draw(diagnostic)


@pytest.mark.parametrize(
    ("raw", "span", "expected"),
    [
        ("", (0, 0), (1, 1, "", 0)),
        ("one\ntwo\nthree", (4, 7), (2, 1, "two", 4)),
        ("one\ntwo\nthree", (5, 9), (2, 2, "two\nthree", 4)),
        ("one\ntwo\n", (3, 4), (1, 4, "one", 0)),
        ("one\ntwo\n", (8, 8), (3, 1, "", 8)),
        ("one\r\ntwo\r\n", (5, 8), (2, 1, "two", 5)),
        ("one\r\ntwo\r\n", (0, 8), (1, 1, "one\r\ntwo", 0)),
        ("a\nb\nc\nd\ne", (0, 9), (1, 1, "a\nb\nc", 0)),
        ("one", (2, 99), (1, 3, "one", 0)),
        ("one", (50, 99), (1, 4, "one", 0)),
        ("one", (-4, -2), (1, 1, "one", 0)),
        ("x" * 500, (300, 310), (1, 301, "x" * 200, 204)),
    ],
)
def test_locate(raw: str, span: tuple[int, int], expected: tuple[int, int, str, int]) -> None:
    assert locate(raw, span) == expected


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
