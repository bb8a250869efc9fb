"""Statistics: what is counted, how rates are rounded, how counts of several places become one."""

import json
import pickle
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import Diagnostic
from outspoken.processing import ErrorCategory, ParseStats
from outspoken.processing.stats import shares
from outspoken.results.codes import CODES, categories_of, category_of
from outspoken.results.replies import STATUSES, Status
from tests.loops import in_threads
from tests.tables import tables

TABLES = tables(__file__)

Row = tuple[str, Status, list[ErrorCategory], int]

ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.sampled_from(["hermes", "ui_tars", "json"]),
        st.sampled_from(STATUSES),
        st.lists(st.sampled_from(list(ErrorCategory)), unique=True),
        st.integers(0, 40),
    )
)


def counted(rows: list[Row]) -> ParseStats:
    stats = ParseStats()
    for name, status, categories, count in rows:
        stats.record(name, status, categories, count=count)
    return stats


def the_seed() -> ParseStats:
    """Counts with the rates of the first seed, of a thousand responses for each format."""
    stats = ParseStats()
    rates = {"json": (942, 41, 17), "ui_tars": (918, 63, 19), "markdown": (961, 28, 11), "text": (854, 124, 2)}
    for name, row in rates.items():
        for status, count in zip(("ok", "repaired", "truncated"), row, strict=True):
            stats.record(name, status, count=count)
    found = {"json_syntax": 8, "truncated": 5, "type_mismatch": 4, "missing_parameters": 3}
    for category, count in found.items():
        stats.record("text", "invalid", [ErrorCategory(category)], count=count)
    return stats


def test_the_table_has_a_row_for_each_format_and_one_for_all() -> None:
    assert the_seed().to_table() == TABLES["OF_THE_SEED"]


def test_one_format_is_all_and_empty_statistics_are_zeros() -> None:
    stats = ParseStats()
    assert stats.to_table() == TABLES["OF_NOTHING"]
    assert stats.rates() == {"ok": 0, "repaired": 0, "truncated": 0, "invalid": 0}
    stats.record("hermes", "ok", count=3)
    assert stats.to_table() == TABLES["OF_ONE_FORMAT"]


def test_counts_and_rates_are_of_one_format_or_of_all() -> None:
    stats = ParseStats()
    stats.record("hermes", "repaired", [ErrorCategory.TRUNCATED, ErrorCategory.JSON_SYNTAX])
    stats.record("hermes", "ok", count=2)
    stats.record("ui_tars", "invalid", [ErrorCategory.TRUNCATED])
    stats.record("json", "ok", count=0)
    assert stats.formats == ("hermes", "ui_tars")
    assert stats.counts("hermes") == {"ok": 2, "repaired": 1, "truncated": 0, "invalid": 0}
    assert stats.counts() == {"ok": 2, "repaired": 1, "truncated": 0, "invalid": 1}
    assert stats.counts("json") == {"ok": 0, "repaired": 0, "truncated": 0, "invalid": 0}
    assert stats.rates("hermes") == {"ok": 66.7, "repaired": 33.3, "truncated": 0, "invalid": 0}
    assert stats.errors("ui_tars")[ErrorCategory.TRUNCATED] == 1
    assert stats.errors("ui_tars")[ErrorCategory.JSON_SYNTAX] == 0
    assert stats.error_rates() == {
        "json_syntax": 33.3, "truncated": 66.7, "type_mismatch": 0, "missing_parameters": 0, "other": 0,
    }  # fmt: skip
    assert repr(stats) == "ParseStats(2 ok, 1 repaired, 0 truncated, 1 invalid; formats: hermes, ui_tars)"
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
    stats = counted([("hermes", "invalid", [ErrorCategory.OTHER], 2), ("glm_4_5", "ok", [], 1)])
    assert json.loads(stats.to_json()) == TABLES["JSON_IS_PLAIN"]


@pytest.mark.parametrize("text", TABLES["OTHER_JSON_IS_REJECTED"])
def test_other_json_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="does not contain statistics"):
        ParseStats.from_json(text)


def test_several_threads_count_together() -> None:
    stats = ParseStats()

    def work(status: Status) -> None:
        for _ in range(2000):
            stats.record("hermes", status, [ErrorCategory.OTHER])

    in_threads([partial(work, status) for status in (*STATUSES, *STATUSES)])
    assert stats.counts() == dict.fromkeys(STATUSES, 4000)
    assert stats.errors()[ErrorCategory.OTHER] == 16_000


def test_statuses_are_those_of_replies() -> None:
    assert get_args(Status) == STATUSES


@pytest.mark.parametrize(("code", "message", "category"), TABLES["KINDS"])
def test_every_code_has_a_category(code: str, message: str, category: str) -> None:
    assert category_of(Diagnostic(code=code, message=message, span=(0, 0))).value == category


def test_repairs_are_of_syntax_or_truncation() -> None:
    found = {code: one.category for code, one in CODES.items() if one.level and code != "other-arguments"}
    assert set(found.values()) == {ErrorCategory.JSON_SYNTAX, ErrorCategory.TRUNCATED}
    cut = {code for code, category in found.items() if category is ErrorCategory.TRUNCATED}
    assert cut == {"cut-string", "cut-text", "cut-container"}


def test_categories_are_ordered_and_notes_have_none() -> None:
    def said(code: str, severity: Any = "warning") -> Diagnostic:
        return Diagnostic(code=code, message="", span=(0, 0), severity=severity)

    assert categories_of(
        [said("unknown-tool"), said("cut-string"), said("unknown-tool"), said("left-out", "note")]
    ) == (ErrorCategory.TRUNCATED, ErrorCategory.TYPE_MISMATCH)
