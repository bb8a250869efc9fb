"""Statistics, and a processor with what an agent has: a provider's responses, a page, a screen; and what it logs."""

import ast
import json
import logging
import pickle
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outspoken
from outspoken import Diagnostic, Parser, Reply, Screen
from outspoken.actions import PageContext
from outspoken.processing import ErrorCategory, ParseStats, ProcessorSettings, ResponseProcessor
from outspoken.processing.stats import shares
from outspoken.providers.errors import ProviderFormatError
from outspoken.results.actions.keyboard import TypeText
from outspoken.results.actions.page import VerificationCode
from outspoken.results.codes import CODES, categories_of, category_of
from outspoken.results.replies import STATUSES, Status
from tests.cases import CASES
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


# a processor with what an agent has: a provider's responses, a page, a screen, metadata; and what it logs


CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TEXT = '{"action_plan": "Go.", "actions": [{"action_type": "CLICK", "id": "AAB"}]}'
TEXT_OF = {"hermes": CALL, "skyvern": TEXT}


def responses(text: str, reason: str) -> list[Any]:
    """The response of some providers with this content, as dicts and as objects."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    blocks = [{"type": "text", "text": text}]
    found = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": reason.upper()}
    sent = SimpleNamespace(**choice | {"message": SimpleNamespace(**message)})
    return [
        {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]},
        {"id": "m", "type": "message", "role": "assistant", "content": blocks, "stop_reason": reason},
        {"candidates": [found]},
        SimpleNamespace(id="c", choices=[sent], usage=None),
    ]


@pytest.mark.parametrize("format", TEXT_OF)
def test_a_response_of_a_provider_is_read_like_its_text(format: str) -> None:
    processor = ResponseProcessor(Parser(format), settings=ProcessorSettings(log_failed_parses=False))
    for text in (TEXT_OF[format], TEXT_OF[format][:-20], ""):
        for reason in ("stop", "length"):
            expected = processor.process(text, finish_reason=reason)
            assert processor.process(text.encode(), finish_reason=reason) == expected
            for response in responses(text, reason):
                found = processor.process(response)
                assert (found.reply, found.status, found.actions) == (expected.reply, expected.status, expected.actions)


def test_calls_that_a_provider_sends_apart_from_the_text_count() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    message = {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    found = ResponseProcessor(Parser("hermes")).process({"choices": [{"message": message}]})
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("get_weather", {"city": "Paris"})]
    assert found.status == "ok"


def test_refusals_and_none_are_not_usable() -> None:
    processor = ResponseProcessor(Parser("skyvern"), settings=ProcessorSettings(log_failed_parses=False))
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    refused = processor.process({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert not refused.is_usable
    assert "refusal" in [d.code for d in refused.problems]
    assert processor.process(None).problems[0].code == "empty-response"
    odd: Any = 7
    for wrong, kind in ((odd, TypeError), ({"no": "response"}, ProviderFormatError)):
        with pytest.raises(kind):
            processor.process(wrong)


def test_metadata_are_of_one_response_and_the_screen_of_a_processor() -> None:
    text = "Thought: Go.\nAction: click(start_box='(500,250)')"
    processor = ResponseProcessor(Parser("ui_tars"))
    plain = processor.process(text)
    step = {"task": "t1", "step": 3}
    sized = processor.replace(screen=Screen(1000, 500))
    found = sized.process(text, metadata=step, page=PageContext())
    assert (sized.stats is processor.stats, sized.settings) == (True, processor.settings)
    assert (plain.metadata, found.metadata) == ({}, step)
    assert [action.metadata for action in found.actions] == [step]
    assert found.reply == Parser("ui_tars", screen=Screen(1000, 500)).parse(text)
    assert plain.reply == Parser("ui_tars").parse(text)


# categories


def _codes() -> set[str]:
    """The codes of all diagnostics that the library may make, as far as its source has them as literals."""
    makers = {"report", "PendingDiagnostic", "ActionFinding", "PayloadFinding", "Diagnostic", "warn", "_report"}
    found = set[str]()
    for file in Path(outspoken.__file__).parent.rglob("*.py"):
        if "authoring" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                values = [*node.args[:1], *[k.value for k in node.keywords if k.arg == "code"]]
                texts = [c.value for v in values for c in ast.walk(v) if isinstance(c, ast.Constant)] * (name in makers)
                found |= {text for text in texts if isinstance(text, str) and "-" in text and " " not in text}
    return found


def test_every_code_is_in_the_table_of_codes() -> None:
    codes = _codes()
    assert len(codes) > 40
    assert codes <= set(CODES)


def test_few_mistakes_of_damaged_responses_are_of_no_category() -> None:
    texts = Random(0).sample([case for case in CASES if case.kind == "err" and len(case.text) < 300], 40)
    found = [category for case in texts for category in map(category_of, _problems(case.parse()))]
    assert len(found) > 25
    assert found.count(ErrorCategory.OTHER) < 0.05 * len(found)


def _problems(reply: Reply) -> list[Diagnostic]:
    return [d for d in reply.diagnostics if d.severity != "note"]


# secrets


def test_secrets_are_in_the_data_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    random = Random(0)
    for _ in range(20):
        secret = "".join(random.choices("abcdefghkmnpqrstuvwxyz23456789", k=12))
        typed = TypeText(text=secret, sensitive=True, extra={"note": secret})
        code = VerificationCode(code=secret)
        for action in (typed, code):
            assert secret in json.dumps(action.model_dump())
            for shown in (repr(action), str(action), repr([action])):
                assert secret not in shown
                assert "[redacted]" in shown
        text = json.dumps({"actions": [{"action_type": "VERIFICATION_CODE", "verification_code": secret}]})
        with caplog.at_level(logging.DEBUG):
            processed = ResponseProcessor(Parser("skyvern")).process(text)
            ResponseProcessor(Parser("skyvern")).process(text[:-12])
        assert processed.actions[0].code == secret  # type: ignore[union-attr]
        assert all(secret not in shown for shown in (repr(processed), repr(processed.reply), str(processed)))
        assert secret not in caplog.text
    assert "hello" in repr(TypeText(text="hello"))
