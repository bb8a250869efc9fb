"""Fast paths: the functions generated from grammars read what the parser reads, or leave it to the parser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from outspoken import parse
from outspoken.fast_path import detection, reader
from outspoken.fast_path.reader import FastPath
from outspoken.grammar import registry
from outspoken.parsing.options import read_options
from outspoken.parsing.response_reader import ResponseReader
from outspoken.results.replies import Reply
from outspoken.results.settings import DEFAULT
from tests.cases import CASES, FORMATS
from tools.fuzz.invariants import ParseArguments, cost
from tools.fuzz.mutations import Mutator

#: Of so many formats, at least, the example is read by a fast path. More formats may be added.
EXAMPLES = 63
#: How many changed texts of each format are read.
CHANGED = 12
CALL = '<tool_call>\n{"name": "look_up", "arguments": {"title": "Mosses"}}\n</tool_call>'


@pytest.fixture(autouse=True)
def _generate_at_once(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Generate functions and add branches when they are first needed."""
    monkeypatch.setattr(reader, "MIN_READS", 0)


def by_parser(text: str, format_: str, tools: Any = None, prefix: str | None = None) -> Reply:
    """What the parser reads."""
    return ResponseReader(read_options(format_, tools), prefix).read(text)


def new_path(format_: str) -> FastPath:
    """A fast path that has read nothing yet."""
    return FastPath(registry.automaton(format_, lenient=True))


@pytest.mark.parametrize("format_", FORMATS)
def test_fast_path_agrees_with_the_parser(format_: str) -> None:
    read = 0
    for case in [case for case in CASES if case.format == format_]:
        prefix, tools = case.options.get("prefix"), case.options.get("tools")
        found = reader.read(case.text, format_, prefix, tools, DEFAULT)
        if found is not None:
            assert found == by_parser(case.text, format_, tools, prefix), str(case)
            read += 1
    rules = {rule.short for rule in registry.automaton(format_).tables.rules}
    assert read or "payload" in rules or registry.header(format_).actions  # which only the parser makes


def test_fast_path_agrees_with_the_detector() -> None:
    read = 0
    for case in [case for case in CASES if not case.options.get("prefix")]:
        tools = case.options.get("tools")
        by_detector = by_parser(case.text, "auto", tools)  # at first no format is known for a marker
        found = detection.read(case.text, tools, DEFAULT)
        if found is not None:
            assert found == by_detector, str(case)
            read += 1
    assert read > len(CASES) // 3


@pytest.mark.parametrize("format_", FORMATS)
def test_fast_path_agrees_with_the_parser_on_changed_texts(format_: str) -> None:
    random = Random(format_)
    own = [case for case in CASES if case.format == format_]
    change = Mutator(random, [case.text for case in own])
    for _ in range(CHANGED):
        case = random.choice(own)
        text, tools = change(case.text), case.options.get("tools")
        found = reader.read(text, format_, None, tools, DEFAULT)
        assert found is None or found == by_parser(text, format_, tools), text
        found = detection.read(text, tools, DEFAULT)
        assert found is None or found == by_parser(text, "auto", tools), text
    for case in own[::3]:
        beginning, tools = case.text[: random.randrange(len(case.text) + 1)], case.options.get("tools")
        found = reader.read(beginning, format_, None, tools, DEFAULT)
        assert found is None or found == by_parser(beginning, format_, tools), beginning


def test_the_examples_are_read_by_a_fast_path() -> None:
    read = 0
    for format_ in FORMATS:
        example = registry.header(format_).example
        found = reader.read(example, format_, None, None, DEFAULT)
        read += found is not None
        assert found is None or found == by_parser(example, format_), format_
    assert read >= EXAMPLES


@pytest.mark.parametrize("format_", FORMATS)
def test_the_work_of_a_fast_path_grows_with_the_text(format_: str) -> None:
    args = ParseArguments(format_)
    for unit in ("word ", "<", "a <b> ", "\n\n", "'\"`[{(", registry.header(format_).example):
        less, more = [unit * (size // len(unit)) for size in (6_000, 12_000)]
        if all(reader.read(text, format_, None, None, DEFAULT) for text in (less, more)):
            assert cost(more, args) <= 3 * cost(less, args), unit


def test_function_is_generated_for_frequent_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MIN_READS", 3)
    made = new_path("hermes")
    found = [made.read(CALL, None, None, 128) for _ in range(8)]
    assert found[:3] == [None] * 3
    assert found[-1] == by_parser(CALL, "hermes").segments
    assert "def read_sound(" in made.source
    source = made.source
    made.read("<think>It is rare.</think>", None, None, 128)
    assert made.source == source  # one text is not enough


def test_generated_function_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PARTS", 4)
    made = new_path("hermes")
    assert made.read("Hello.", None, None, 128) == by_parser("Hello.", "hermes").segments
    assert made.read(f"Hello.\n{CALL}", None, None, 128) is not None
    source = made.source
    assert made.read(f"<think>Mosses?</think>{CALL}{CALL}", None, None, 128) is None
    assert made.source == source
    assert parse(f"<think>Mosses?</think>{CALL}{CALL}", "hermes").reasoning == "Mosses?"


def test_threads_share_a_fast_path() -> None:
    made = new_path("glm_4_5")
    texts = [case.text for case in CASES if case.format == "glm_4_5"]

    def read(text: str) -> list[Any] | None:
        return made.read(text, None, None, 128)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, texts * 4))
    for text, segments in zip(texts * 4, found, strict=True):
        assert segments is None or segments == by_parser(text, "glm_4_5").segments


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("look_up", "unknown"),
        CALL[:-12],
        CALL.replace('"}', '",}'),
        CALL.replace("Mosses", "Mosses\ud800"),
        '<tool_call>\n{"name": "look_up", "arguments": "{}"}\n</tool_call>',
    ],
)
def test_damaged_text_is_left_to_the_parser(text: str) -> None:
    tools = [{"name": "look_up", "parameters": {"type": "object"}}]
    assert reader.read(text, "hermes", None, tools, DEFAULT) is None
    assert parse(text, "hermes", tools=tools) == by_parser(text, "hermes", tools)


def test_spans_exclude_the_prompt_prefix() -> None:
    text = "Mosses.</think>\n\nHello."
    found = reader.read(text, "deepseek_r1", None, None, DEFAULT)
    assert found is not None
    assert found == by_parser(text, "deepseek_r1")
    assert [s.span for s in found.segments] == [(0, 7), (17, 23)]


@pytest.mark.parametrize(
    "text",
    [
        # text of one format, reasoning of none: the white space behind it is trimmed as plain text is
        "<|channel|>final<|message|>Mosses.<|return|> <think>\nWhy?\n</think>\n\nFerns.",
        f"{CALL}\n\nIt is `look_up` that knows.\n\n```py\nlook_up()\n```\n\n{CALL}  \nDone.",
        "</think>\n\nHello.",
    ],
)
def test_alternating_formats_agree_with_the_detector(text: str) -> None:
    by_detector = by_parser(text, "auto")
    assert detection.read(text, None, DEFAULT) == by_detector
