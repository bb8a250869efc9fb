"""Statistics: what is counted, how rates are rounded, how counts of several places become one."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from threading import Thread
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import Diagnostic, ErrorCategory, ParseStats
from outspoken.processing.categories import categories_of, category_of
from outspoken.processing.stats import OUTCOMES, Outcome, shares
from outspoken.results.edits import CODES
from outspoken.results.pending_diagnostics import MARKUP

Row = tuple[str, Outcome, list[ErrorCategory], int]

ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.sampled_from(["hermes", "ui_tars", "json"]),
        st.sampled_from(OUTCOMES),
        st.lists(st.sampled_from(list(ErrorCategory)), unique=True),
        st.integers(0, 40),
    )
)


def counted(rows: list[Row]) -> ParseStats:
    stats = ParseStats()
    for name, outcome, categories, count in rows:
        stats.record(name, outcome, categories, count=count)
    return stats


def the_seed() -> ParseStats:
    """Counts with the rates of the first seed, of a thousand responses for each format."""
    stats = ParseStats()
    rates = {"json": (942, 41, 17), "ui_tars": (918, 63, 19), "markdown": (961, 28, 11), "text": (854, 124, 2)}
    for name, row in rates.items():
        for outcome, count in zip(OUTCOMES, row, strict=True):
            stats.record(name, outcome, count=count)
    found = {"json_syntax": 8, "incomplete": 5, "type_mismatch": 4, "missing_parameters": 3}
    for category, count in found.items():
        stats.record("text", "failed", [ErrorCategory(category)], count=count)
    return stats


def test_the_table_has_a_row_for_each_format_and_one_for_all() -> None:
    assert the_seed().to_table() == (
        "format    responses  success  recovered  failed\n"
        "json          1,000    94.2%       4.1%    1.7%\n"
        "markdown      1,000    96.1%       2.8%    1.1%\n"
        "text          1,000    85.4%      12.4%    2.2%\n"
        "ui_tars       1,000    91.8%       6.3%    1.9%\n"
        "all           4,000    91.9%       6.4%    1.7%\n"
        "\n"
        "mistakes            responses  share\n"
        "json_syntax                 8  40.0%\n"
        "incomplete                  5  25.0%\n"
        "type_mismatch               4  20.0%\n"
        "missing_parameters          3  15.0%"
    )


def test_one_format_is_all() -> None:
    stats = ParseStats()
    stats.record("hermes", "success", count=3)
    assert stats.to_table() == (
        "format  responses  success  recovered  failed\nhermes          3   100.0%       0.0%    0.0%"
    )


def test_empty_statistics_are_zeros() -> None:
    assert ParseStats().to_table() == (
        "format  responses  success  recovered  failed\nall             0     0.0%       0.0%    0.0%"
    )
    assert ParseStats().rates() == {"success": 0, "recovered": 0, "failed": 0}


def test_counts_and_rates_are_of_one_format_or_of_all() -> None:
    stats = ParseStats()
    stats.record("hermes", "recovered", [ErrorCategory.INCOMPLETE, ErrorCategory.JSON_SYNTAX])
    stats.record("hermes", "success", count=2)
    stats.record("ui_tars", "failed", [ErrorCategory.INCOMPLETE])
    assert stats.formats == ("hermes", "ui_tars")
    assert stats.counts("hermes") == {"success": 2, "recovered": 1, "failed": 0}
    assert stats.counts() == {"success": 2, "recovered": 1, "failed": 1}
    assert stats.counts("json") == {"success": 0, "recovered": 0, "failed": 0}
    assert stats.rates("hermes") == {"success": 66.7, "recovered": 33.3, "failed": 0}
    assert stats.errors("ui_tars")[ErrorCategory.INCOMPLETE] == 1
    assert stats.errors("ui_tars")[ErrorCategory.JSON_SYNTAX] == 0
    assert stats.error_rates() == {
        "json_syntax": 33.3, "incomplete": 66.7, "type_mismatch": 0, "missing_parameters": 0, "other": 0,
    }  # fmt: skip
    assert repr(stats) == "ParseStats(2 success, 1 recovered, 1 failed; formats: hermes, ui_tars)"
    stats.reset()
    assert stats == ParseStats()


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=6), st.integers(0, 3))
def test_rounded_shares_sum_to_100(counts: list[int], digits: int) -> None:
    found = shares(dict(enumerate(counts)), digits)
    whole = sum(counts)
    assert round(sum(found.values()), digits) == (100 if whole else 0)
    for key, count in enumerate(counts):
        assert whole == 0 or abs(found[key] - 100 * count / whole) < 10.0**-digits
        assert count or not found[key]


@given(ROWS, ROWS, ROWS)
def test_adding_is_associative_commutative_and_has_a_zero(one: list[Row], two: list[Row], three: list[Row]) -> None:
    a, b, c = counted(one), counted(two), counted(three)
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + ParseStats() == a
    assert sum([a, b, c], ParseStats()) == counted(one + two + three)
    assert (a, b, c) == (counted(one), counted(two), counted(three))
    assert (a + b + c).to_table() == (c + b + a).to_table()


@given(ROWS)
def test_json_and_pickle_keep_everything(rows: list[Row]) -> None:
    stats = counted(rows)
    assert ParseStats.from_json(stats.to_json()) == stats
    assert pickle.loads(pickle.dumps(stats)) == stats


def test_json_is_plain() -> None:
    stats = counted([("hermes", "failed", [ErrorCategory.OTHER], 2), ("glm_4_5", "success", [], 1)])
    assert json.loads(stats.to_json()) == {
        "formats": {
            "glm_4_5": {"success": 1, "recovered": 0, "failed": 0, "errors": {}},
            "hermes": {"success": 0, "recovered": 0, "failed": 2, "errors": {"other": 2}},
        }
    }


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"formats": {"a": {"success": 1}}}',
        '{"formats": {"a": {"success": -1, "recovered": 0, "failed": 0, "errors": {}}}}',
        '{"formats": {"a": {"success": true, "recovered": 0, "failed": 0, "errors": {}}}}',
        '{"formats": {"a": {"success": 1, "recovered": 0, "failed": 0, "errors": {"odd": 1}}}}',
    ],
)
def test_other_json_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="does not contain statistics"):
        ParseStats.from_json(text)


def test_invalid_counts_are_rejected() -> None:
    wrong: Any = "lost"
    with pytest.raises(ValueError, match="`outcome` is 'lost'; expected one of success, recovered, failed"):
        ParseStats().record("hermes", wrong)
    with pytest.raises(ValueError, match="`count` is -1; expected an integer of at least 0"):
        ParseStats().record("hermes", "success", count=-1)
    odd: Any = ["odd"]
    with pytest.raises(ValueError, match="'odd' is not a valid ErrorCategory"):
        ParseStats().record("hermes", "success", odd)
    assert ParseStats() != 3
    with pytest.raises(TypeError):
        _ = ParseStats() + odd


def test_several_threads_count_together() -> None:
    stats = ParseStats()

    def work(outcome: Outcome) -> Callable[[], None]:
        def run() -> None:
            for _ in range(2000):
                stats.record("hermes", outcome, [ErrorCategory.OTHER])

        return run

    threads = [Thread(target=work(outcome)) for outcome in (*OUTCOMES, *OUTCOMES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stats.counts() == dict.fromkeys(OUTCOMES, 4000)
    assert stats.errors()[ErrorCategory.OTHER] == 12_000


def test_outcomes_are_complete() -> None:
    assert get_args(Outcome) == OUTCOMES


@pytest.mark.parametrize(
    ("code", "message", "category"),
    [
        ("trailing-comma", "", "json_syntax"),
        ("missing-closer", "", "json_syntax"),
        ("damaged-marker", "", "json_syntax"),
        ("invalid-call", "the call of `f` cannot be read", "json_syntax"),
        ("unclosed-call", "", "incomplete"),
        ("cut-container", "", "incomplete"),
        ("token-limit", "", "incomplete"),
        ("invalid-call", "the arguments of `f` are not a JSON object", "type_mismatch"),
        ("invalid-action", "`fly` is not an action of this format", "type_mismatch"),
        ("mistyped-argument", "", "type_mismatch"),
        ("unknown-tool", "", "type_mismatch"),
        ("invalid-action", "`drag` needs `end_box`", "missing_parameters"),
        ("invalid-call", "a tool call has no name", "missing_parameters"),
        ("missing-argument", "", "missing_parameters"),
        ("empty-response", "", "other"),
    ],
)
def test_every_code_has_a_category(code: str, message: str, category: str) -> None:
    assert category_of(Diagnostic(code=code, message=message, span=(0, 0))).value == category


def test_repairs_are_of_syntax_or_truncation() -> None:
    found = {code: category_of(Diagnostic(code=code, message="", span=(0, 0))) for code in [*CODES, *MARKUP]}
    assert set(found.values()) == {ErrorCategory.JSON_SYNTAX, ErrorCategory.INCOMPLETE}
    cut = {code for code, category in found.items() if category is ErrorCategory.INCOMPLETE}
    assert cut == {"cut-string", "cut-text", "cut-container"}


def test_categories_are_ordered_and_notes_have_none() -> None:
    def said(code: str, severity: Any = "warning") -> Diagnostic:
        return Diagnostic(code=code, message="", span=(0, 0), severity=severity)

    assert categories_of(
        [said("unknown-tool"), said("cut-string"), said("unknown-tool"), said("left-out", "note")]
    ) == (
        ErrorCategory.INCOMPLETE,
        ErrorCategory.TYPE_MISMATCH,
    )
