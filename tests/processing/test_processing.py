"""Processing: what is of use, on which way it was found, what each setting changes, retries, and what is kept."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from outspoken import Diagnostic, Parser, Reply, Screen, Settings, load_format, processing
from outspoken.actions import PageContext
from outspoken.processing import ParseStats, ProcessorSettings, ResponseCache, ResponseProcessor, RetryRequest
from tests.cases import CASES, Case
from tests.loops import in_one_item, in_threads
from tests.tables import tables

TABLES = tables(__file__)

SOUND = '<tool_call>\n{"name": "lend", "arguments": {"book": "Emma", "days": 14}}\n</tool_call>'
COMMA = SOUND.replace("14}", "14,}")
CUT = SOUND[:-25]
PROSE = "The ferry leaves at nine."
CLICK = "Thought: There it is.\nAction: click(start_box='(3,4)')"
FLY = "Action: fly(start_box='(3,4)')"
TOOL = TABLES["TOOL"]
QUIET = ProcessorSettings(log_failed_parses=False)


#: The arguments of `ResponseProcessor`; all others of `quiet_processor` are those of `Parser`.
OWN = ("settings", "checks", "cache", "stats")


def quiet_processor(**options: Any) -> ResponseProcessor:
    """A processor that logs nothing, by the options of its parser and its own."""
    own: dict[str, Any] = {"settings": QUIET} | {key: options.pop(key) for key in OWN if key in options}
    return ResponseProcessor(Parser(**options), **own)


def process_case(case: Case, **own: Any) -> processing.Processed:
    """What becomes of a text of the corpus."""
    options = dict(case.options)
    known: dict[str, Any] = {key: options.pop(key) for key in ("prefix", "finish_reason") if key in options}
    return quiet_processor(format=case.format, **options, **own).process(case.text, **known)


def processed(text: str, finish: str | None = None, **settings: Any) -> processing.Processed:
    """What becomes of a response with some settings."""
    return quiet_processor(settings=replace(QUIET, **settings)).process(text, finish_reason=finish)


def said(found: processing.Processed) -> dict[str, Any]:
    """All that a result says, without what is empty."""
    told: dict[str, Any] = {
        "status": found.status,
        "strategy": found.strategy,
        "read_as": found.reply.format if found.reply.format != found.format else None,
        "categories": [category.value for category in found.categories],
        "problems": [str(problem) for problem in found.problems],
        "calls": [[call.name, call.arguments] for call in found.tool_calls],
        "actions": [f"{action.raw}: {action!r}".removeprefix(": ") for action in found.actions],
        "repairs": [repair.code for repair in found.reply.repairs],
        "values": found.values,
        "failed": found.reply.looks_like_failed_tool_call,
    }
    return {key: value for key, value in told.items() if value}


@in_one_item("name", TABLES["PROCESSED"])
def test_what_becomes_of_a_response(name: str) -> None:
    case = TABLES["PROCESSED"][name]
    options = {"format": case.get("format", "auto"), "tools": [TOOL] if case.get("tools") else None}
    settings = replace(QUIET, **case.get("settings", {}))
    found = quiet_processor(**options, **case.get("options", {}), settings=settings).process(
        case["text"], finish_reason=case.get("finish_reason")
    )
    assert said(found) == case["said"]
    assert found.is_usable == (found.status in ("ok", "repaired"))
    assert (found.needs_retry, found.needs_manual) == (not found.is_usable, False)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("recovery", [False, True])
def test_results_of_the_corpus_are_consistent(recovery: bool, strict: bool) -> None:
    settings = replace(QUIET, enable_recovery_strategies=recovery, strict_validation=strict)
    stats = ParseStats()
    for case in CASES[::20]:
        processor = quiet_processor(format=case.format, settings=settings, stats=stats)
        found = processor.process(case.text)
        assert (found.status == "ok") == (not found.problems) == (not found.categories)
        assert found.needs_retry == (not found.is_usable)
        assert found.is_usable or not found.tool_calls
        assert found.status != "repaired" or not strict
        assert (found.status == "truncated") == (
            not found.is_usable and processing.ErrorCategory.TRUNCATED in found.categories
        )
        assert all(action.status in ("ok", "repaired") for action in found.actions)
    assert sum(stats.counts().values()) == len(CASES[::20])
    assert min(stats.counts().values()) > 0 or strict


def test_sound_case_with_more_than_reasoning_is_ok() -> None:
    stats = ParseStats()
    sound = [case for case in CASES if case.kind == "ok"][::4]
    for case in sound:
        found = process_case(case, stats=stats)
        # an empty list of actions says nothing, nor does white space
        reported = {s.kind for s in case.parse().segments if s.kind != "text" or s.text.strip()}
        assert (found.status == "ok") is bool(reported - {"reasoning"}), str(case)
    assert stats.counts()["ok"] > 0.9 * len(sound) > 150


# the settings of the seed


def test_default_settings() -> None:
    seed = TABLES["DEFAULT_SETTINGS"]
    config: Any = ProcessorSettings(**seed)  # pyright: ignore[reportArgumentType]
    assert config == ProcessorSettings()


def test_failure_is_logged_unless_disabled(caplog: pytest.LogCaptureFixture) -> None:
    secret = CUT.replace("Emma", "s3cret " * 200)
    with caplog.at_level(logging.INFO):
        quiet_processor().process(secret)
        ResponseProcessor().process(SOUND)
        ResponseProcessor().process(COMMA)
        assert caplog.messages == []
        ResponseProcessor().process(secret)
        ResponseProcessor(settings=ProcessorSettings(max_retry_attempts=0, strict_validation=True)).process(COMMA + CUT)
    assert [(record.name, record.levelname) for record in caplog.records] == [("outspoken", "WARNING")] * 2
    digests = [sha256(text.encode()).hexdigest()[:12] for text in (secret, COMMA + CUT)]
    assert caplog.messages == [
        f"response 1 is truncated (hermes, 1,455 characters, sha256 {digests[0]}): "
        "hermes:1:1 unclosed-call: the call of `lend` never ends; may be retried",
        f"response 1 is truncated (hermes, {len(COMMA + CUT)} characters, sha256 {digests[1]}): "
        "hermes:3:13 unclosed-call: the call of `lend` never ends and 1 more; will not be retried",
    ]


def test_a_line_of_the_log_is_short_and_shows_no_control_characters(caplog: pytest.LogCaptureFixture) -> None:
    ResponseProcessor().process(
        '<tool_call>\n{"name": "\\u001b[31m' + "x" * 5000 + '", "arguments": [1]}\n</tool_call>'
    )
    (message,) = caplog.messages
    assert len(message) < 400
    assert message.isprintable()


@pytest.mark.parametrize(("wrong", "message"), TABLES["INVALID_SETTINGS_ARE_REJECTED"])
def test_invalid_settings_are_rejected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        ProcessorSettings(**wrong)
    assert str(error.value).startswith(message)


# retries


class Model:
    """A model that gives these answers, and notes what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers: Iterator[Any] = iter(answers)
        self.asked: list[RetryRequest] = []

    def __call__(self, request: RetryRequest) -> Any:
        self.asked.append(request)
        return next(self.answers)

    async def later(self, request: RetryRequest) -> Any:
        await asyncio.sleep(0)
        return self(request)


def test_retries_until_the_response_is_usable() -> None:
    model, processor = Model(FLY, SOUND, PROSE), quiet_processor()
    found = processor.process(CUT, retry=model)
    assert (found.status, found.strategy, found.attempts) == ("ok", "primary", 3)
    assert [earlier.reply.raw for earlier in found.earlier] == [CUT, FLY]
    assert [(earlier.attempts, earlier.needs_retry, earlier.earlier) for earlier in found.earlier] == [
        (1, True, ()),
        (2, True, ()),
    ]
    assert [request.number for request in model.asked] == [1, 2]
    assert model.asked[0].message == (
        "Your last response could not be used:\n"
        "- line 1, column 1: the call of `lend` never ends\n"
        "Write the whole response again, without these mistakes. It broke off before its end: make it shorter."
    )
    assert model.asked[1].result.reply.raw == FLY
    assert processor.stats.counts() == {"ok": 1, "repaired": 0, "truncated": 1, "invalid": 1}


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_retries_respect_the_limit(limit: int) -> None:
    model = Model(*[CUT] * 9)
    found = quiet_processor(settings=replace(QUIET, max_retry_attempts=limit)).process(CUT, retry=model)
    assert (len(model.asked), found.attempts, len(found.earlier)) == (limit, limit + 1, limit)
    assert (found.needs_retry, found.needs_manual) == (False, True)


def test_manual_retries_pass_the_attempt_number() -> None:
    processor = quiet_processor(settings=replace(QUIET, max_retry_attempts=1))
    assert processor.process(CUT).needs_retry
    assert processor.process(CUT, attempt=2).needs_manual
    with pytest.raises(ValueError, match="`attempt` is 0; expected an integer of at least 1"):
        processor.process(CUT, attempt=0)


def test_retry_can_give_up_or_return_a_finish_reason() -> None:
    processor = quiet_processor()
    found = processor.process(CUT, retry=Model(None))
    assert (found.needs_retry, found.needs_manual, found.attempts, found.earlier) == (False, True, 1, ())
    open_ended = SOUND.removesuffix("\n</tool_call>")
    assert processor.process(PROSE + CUT, retry=Model(open_ended, None)).status == "truncated"
    assert processor.process(PROSE + CUT, retry=Model((open_ended, "stop"))).status == "repaired"


def test_filtered_response_is_not_retried() -> None:
    model = Model(SOUND)
    found = quiet_processor().process("", finish_reason="content-filter", retry=model)
    assert (found.status, found.needs_manual, model.asked) == ("invalid", True, [])
    assert {d.code for d in found.problems} == {"content-filter", "empty-response"}


def test_an_asynchronous_retry_is_awaited() -> None:
    model = Model(FLY, SOUND)
    found = asyncio.run(quiet_processor().aprocess(CUT, retry=model.later))
    assert found == quiet_processor().process(CUT, retry=Model(FLY, SOUND))
    assert asyncio.run(quiet_processor().aprocess(CUT)) == quiet_processor().process(CUT)


def test_retry_prompt_is_short() -> None:
    def check(reply: Reply, context: Any) -> list[Diagnostic]:
        return [Diagnostic(code="odd", message="x " * 500, span=(0, 0), severity="warning")] * 7

    processor = quiet_processor(settings=replace(QUIET, strict_validation=True), checks=[check])
    lines = processor.process(SOUND).retry_message().splitlines()
    assert len(lines) == 8
    assert all(len(line) < 240 for line in lines)
    assert lines[1].endswith("x...")
    assert lines[6] == "- and 2 more"


def test_retry_prompt_lists_errors_first() -> None:
    message = processed(COMMA + CUT, strict_validation=True).retry_message()
    assert message.splitlines()[1:3] == [
        "- line 3, column 13: the call of `lend` never ends",
        "- line 2, column 58: a comma with nothing after it was dropped",
    ]


# what is checked


def test_checks_receive_the_context() -> None:
    def known(reply: Reply, context: Any) -> list[Diagnostic]:
        return [
            Diagnostic(code="unknown-book", message=f"there is no book `{call.arguments['book']}`", span=call.span)
            for call in reply.tool_calls
            if call.arguments["book"] not in context
        ]

    processor = quiet_processor(checks=[known])
    assert processor.process(SOUND, context=["Emma"]).status == "ok"
    found = processor.process(SOUND, context=["Persuasion"])
    assert (found.status, [d.code for d in found.problems]) == ("repaired", ["unknown-book"])


PAGE = PageContext.of({"AAB": {"tagName": "input", "attributes": {"type": "checkbox"}}}, {"AAB": "5d41402a"})


def test_actions_are_checked_on_the_page() -> None:
    processor = quiet_processor(format="skyvern")
    select = '{"actions": [{"action_type": "SELECT_OPTION", "id": "AAB", "option": {"label": "Breakfast"}}]}'
    for format_ in ("skyvern", "auto"):
        result = quiet_processor(format=format_).process(select, page=PAGE)
        assert result.reply == processing.parse_actions(select, parser="skyvern", page=PAGE)
        assert [(action.type, result.status) for action in result.actions] == [("set_checked", "repaired")]
        assert [problem.code for problem in result.problems] == ["wrong-element"]
    assert [action.type for action in processor.process(select).actions] == ["select_option"]


def test_what_is_wrong_on_the_page_is_asked_for_again() -> None:
    asked: list[str] = []

    def retry(request: RetryRequest) -> str:
        asked.append(request.message)
        return '{"actions": [{"action_type": "CLICK", "id": "AAB"}]}'

    extract = '{"actions": [{"action_type": "EXTRACT"}]}'
    processor = quiet_processor(format="skyvern", settings=replace(QUIET, expect="actions"))
    result = processor.process(extract, page=PAGE, retry=retry)
    assert (result.attempts, result.status, len(asked)) == (2, "ok", 1)
    assert result.actions[0].element.hash == "5d41402a"  # type: ignore[union-attr]
    given = {"data_extraction_goal": "all tides"}
    (action,) = processor.process(extract, page=PAGE, given=given, retry=retry).actions
    assert action.type == "extract"
    assert (action.query, len(asked)) == ("all tides", 1)


# what is kept


def test_repeated_response_comes_from_the_cache() -> None:
    cache = ResponseCache()
    processor = quiet_processor(cache=cache, tools=[TOOL])
    first = processor.process(SOUND)
    first.tool_calls[0].arguments.clear()
    first.reply.segments.clear()
    for _ in range(2):
        again = processor.process(SOUND)
        assert again == quiet_processor(tools=[TOOL]).process(SOUND)
        again.tool_calls.clear()
        again.reply.tool_calls[0].arguments["days"] = 15
    assert cache.info()[:3] == (2, 1, 1)
    assert processor.stats.counts()["ok"] == 3


def test_cached_failure_is_retried_like_any_other() -> None:
    processor = quiet_processor(settings=replace(QUIET, max_retry_attempts=1), cache=ResponseCache())
    may_retry = [processor.process(CUT, attempt=attempt).needs_retry for attempt in (2, 1, 2)]
    assert may_retry == [False, True, False]
    assert processor.cache is not None
    assert processor.cache.info().hits == 2


@pytest.mark.parametrize(
    "other",
    [
        *({"response": SOUND + " "}, {"prefix": ""}, {"finish_reason": "stop"}, {"context": 0}, {"context": [None]}),
        *({"page": PageContext()}, {"given": {"query": "tides"}}, {"metadata": {"step": 1}}),
    ],
    ids=str,
)
def test_everything_that_is_known_of_a_response_is_in_the_cache_key(other: dict[str, Any]) -> None:
    processor = quiet_processor(cache=(cache := ResponseCache()))
    known: dict[str, Any] = {"response": SOUND}
    for given in (known, {**known, **other}):
        processor.process(**given)
        processor.process(**given)
    assert cache.info()[:3] == (2, 2, 2)


def test_processors_with_equal_settings_share_cache_entries() -> None:
    cache = ResponseCache()

    def check(reply: Reply, context: Any) -> list[Diagnostic]:
        return []

    others: list[dict[str, Any]] = [
        *({}, {}, {"settings": replace(QUIET, strict_validation=True)}, {"format": "hermes"}, {"repair": "strings"}),
        *({"settings": replace(QUIET, expect="tool_calls")}, {"screen": Screen(width=10, height=10)}),
        *({"tools": [TOOL]}, {"checks": [check]}, {"checks": [check]}),
    ]
    processors = [quiet_processor(cache=cache, **other) for other in others]
    processors.append(ResponseProcessor(Parser(settings=Settings(max_depth=5)), settings=QUIET, cache=cache))
    for processor in processors:
        processor.process(COMMA)
    assert cache.info()[:3] == (1, len(processors) - 1, len(processors) - 1)


def test_results_without_digest_are_not_cached() -> None:
    processor = quiet_processor(cache=(cache := ResponseCache()))
    assert processor.process(SOUND, context=object()) == processor.process(SOUND, context=object())
    assert cache.info()[:3] == (0, 0, 0)


def test_unpicklable_results_are_not_cached() -> None:
    class Remark(Diagnostic):
        """Of a class that nobody else can find."""

    def check(reply: Reply, context: Any) -> list[Diagnostic]:
        return [Remark(code="odd", message="odd", span=(0, 0), severity="warning")]

    processor = quiet_processor(checks=[check], cache=(cache := ResponseCache()))
    assert [processor.process(SOUND).status for _ in "ab"] == ["repaired", "repaired"]
    assert cache.info()[:3] == (0, 2, 0)


def test_every_kind_of_response_can_be_cached_and_serialised() -> None:
    cache, stats = ResponseCache(2000), ParseStats()
    cases = CASES[::9]
    for case in cases:
        found, again = [process_case(case, cache=cache, stats=stats) for _ in "ab"]
        assert found == again
        assert processing.Processed.model_validate_json(found.model_dump_json()) == found
    assert cache.info().hits == len(cases) == sum(stats.counts().values()) / 2


@pytest.mark.usefixtures("other_grammars")
def test_adding_a_format_invalidates_the_cache() -> None:
    template = {"start_anchor": "<|ferry|>", "fields": {"content": {"open": "<|plain|>", "close": "<|/plain|>"}}}
    processor = quiet_processor(cache=(cache := ResponseCache()))
    processor.process(PROSE)
    load_format(template, name="ferry_notes")
    processor.process(PROSE)
    assert cache.info()[:2] == (0, 2)


def test_several_threads_share_a_processor() -> None:
    processor = quiet_processor(cache=ResponseCache(3), stats=(stats := ParseStats()))
    texts = [SOUND, COMMA, CUT, PROSE, CLICK, FLY]
    expected = {text: quiet_processor().process(text) for text in texts}
    wrong: list[str] = []

    def work() -> None:
        for _ in range(10):
            wrong.extend([text for text in texts if processor.process(text) != expected[text]])

    in_threads([work] * 4)
    assert wrong == []
    assert stats.counts() == {"ok": 120, "repaired": 40, "truncated": 40, "invalid": 40}
