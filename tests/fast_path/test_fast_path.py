"""Fast paths: the functions generated from grammars read what the parser reads, or leave it to the parser."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from outspoken import parse, render, stream
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.authoring.fuzz.sound import calling, has_node, sound_of
from outspoken.authoring.fuzz.texts import damaged
from outspoken.detection import sound_text
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.grammar.marker_search import search_before
from outspoken.grammar.value_markup import written_forms
from outspoken.parsing.options import read_options
from outspoken.parsing.response_reader import ResponseReader
from outspoken.patterns.analysis import first_chars, required_text
from outspoken.patterns.spellings import look_ahead, spellings, without_conditions
from outspoken.results.errors import RenderError
from outspoken.results.events import Done
from outspoken.results.replies import Reply
from outspoken.results.settings import DEFAULT
from outspoken.semantics.output import Output
from tests.cases import CASES, FORMATS
from tests.invariants.cost import cost
from tests.invariants.replies import pieces
from tests.loops import DRAWN, IN_TURN, SEED, some
from tests.tables import tables

#: The sound cases that are left to the parser, by format. Most hold markers in prose or in values, which the grammar
#: refuses there, or are read with a warning. Text that holds a sign of a call or of the end of reasoning is read again
#: by the detector, unless the sign is in code or quoted.
TABLES = tables(__file__)
LEFT_TO_THE_PARSER: dict[str, list[str]] = TABLES["LEFT_TO_THE_PARSER"]
#: How many changed texts of each format are read.
CHANGED = 6
CALL = '<tool_call>\n{"name": "look_up", "arguments": {"title": "Mosses"}}\n</tool_call>'


#: Markers that many formats have, and what begins one.
SHARED_MARKERS = ("<think>", "</think>", "<|im_end|>", "</s>", "<tool_call>", "</", "```", "Thought:", "\nAction: x")


def markers_of(format_: str) -> set[str]:
    """The markers of a format as they are written."""
    terminals = registry.automaton(format_).tables.terminals.values()
    return {form for terminal in terminals for form in written_forms(terminal)}


def by_parser(text: str, format_: str, tools: Any = None, prefix: str | None = None) -> Reply:
    """What the parser reads."""
    return ResponseReader(read_options(format_, tools), prefix).read(text)


def check_agreement(text: str, format_: str, tools: Any = None) -> None:
    """The fast path reads a text as the parser does, or leaves it to that."""
    found = reader.read(text, format_, None, tools, DEFAULT)
    assert found is None or found == by_parser(text, format_, tools), text


@pytest.mark.parametrize("format_", FORMATS)
def test_fast_path_agrees_with_the_parser(format_: str) -> None:
    left: set[str] = set()
    for case in [case for case in DRAWN if case.format == format_]:
        prefix, tools = case.options.get("prefix"), case.options.get("tools")
        found = reader.read(case.text, format_, prefix, tools, DEFAULT)
        if found is not None:
            assert found == by_parser(case.text, format_, tools, prefix), str(case)
        elif case.kind == "ok" and not prefix and not case.parse().diagnostics:
            left.add(case.name)
    assert left <= {*LEFT_TO_THE_PARSER.get(format_, ())}


def is_read_as(found: Reply | Output, reply: Reply) -> bool:
    """Is that a reply, or else what was read where something is to be reported?"""
    return found == reply if isinstance(found, Reply) else (found.segments, None) == (reply.segments, reply.format)


def test_fast_path_agrees_with_the_detector() -> None:
    drawn, read = some([case for case in CASES if not case.options.get("prefix")], "detector", 0.05), 0
    for case in drawn:
        tools = case.options.get("tools")
        by_detector = by_parser(case.text, "auto", tools)  # at first no format is known for a marker
        found = sound_text.read(case.text, tools, DEFAULT)
        if found is not None:
            assert is_read_as(found, by_detector), str(case)
            read += isinstance(found, Reply)
    assert read > len(drawn) // 3


@pytest.mark.parametrize("format_", IN_TURN)
def test_fast_path_agrees_with_the_parser_on_changed_texts(format_: str) -> None:
    random = Random(f"changed {SEED} {format_}")
    own = [case for case in CASES if case.format == format_]
    others = [case.text for case in own]
    for _ in range(CHANGED):
        case = random.choice(own)
        text, tools = damaged(case.text, others, random), case.options.get("tools")
        check_agreement(text, format_, tools)
        found = sound_text.read(text, tools, DEFAULT)
        assert found is None or is_read_as(found, by_parser(text, "auto", tools)), text
    for case in own[::3]:
        check_agreement(case.text[: random.randrange(len(case.text) + 1)], format_, case.options.get("tools"))


@pytest.mark.parametrize("format_", IN_TURN)
def test_fast_path_agrees_with_the_parser_on_values_that_hold_a_marker(format_: str) -> None:
    random = Random(f"values {SEED} {format_}")
    text = calling(format_, random, (1, 1)) if has_node(format_, "tool_call") else None
    sound = sound_of(format_, text) if text else None
    if text is None or sound is None:
        return
    for form in sorted({*markers_of(format_), "\n<"}):
        place = random.choice(random.choice(sound.data))
        check_agreement(text[:place] + form + text[place:], format_, sound.tools)


@pytest.mark.parametrize("format_", IN_TURN)
def test_fast_path_agrees_with_the_parser_on_texts_that_hold_a_marker(format_: str) -> None:
    random = Random(f"markers {SEED} {format_}")
    own = [case for case in CASES if case.format == format_]
    forms = sorted({*markers_of(format_), *SHARED_MARKERS})
    for _ in range(2 * CHANGED):
        case, form = random.choice(own), random.choice(forms)
        hole = random.randrange(len(form) + 1)
        form = random.choice(
            [form, form, f"\n{form}", f"\n{form.strip()}6", form.upper(), form[:hole] + form[hole + 1 :]]
        )
        place = random.randrange(len(case.text) + 1)
        check_agreement(case.text[:place] + form + case.text[place:], format_, case.options.get("tools"))


@pytest.mark.parametrize("format_", IN_TURN)
def test_fast_path_agrees_with_the_parser_on_texts_without_their_signs(format_: str) -> None:
    """What is left of a call without all punctuation, or a part of it, may still look like one."""
    random = Random(f"signs {SEED} {format_}")
    own = [case for case in CASES if case.format == format_]
    for _ in range(2 * CHANGED):
        case = random.choice(own)
        signs = sorted({char for char in case.text if not char.isalnum() and not char.isspace()})
        lost = "".join(random.sample(signs, random.randint(len(signs) // 2, len(signs))))
        text = re.sub(f"[{re.escape(lost)}]", random.choice(["", "", " "]), case.text) if lost else case.text
        check_agreement(text.strip(), format_, random.choice([None, case.options.get("tools")]))


def test_the_examples_are_read_by_a_fast_path() -> None:
    for format_ in FORMATS:
        example = registry.header(format_).example
        assert reader.read(example, format_, None, None, DEFAULT) == by_parser(example, format_), format_


@pytest.mark.parametrize("format_", IN_TURN)
def test_the_work_of_a_fast_path_grows_with_the_text(format_: str) -> None:
    args = ParseArguments(format_)
    for unit in some(
        ("word ", "<", "a <b> ", "\n\n", "'\"`[{(", registry.header(format_).example), f"work {format_}", 0.34
    ):
        less, more = [unit * (size // len(unit)) for size in (6_000, 12_000)]
        if all(reader.read(text, format_, None, None, DEFAULT) for text in (less, more)):
            assert cost(more, args) <= 3 * cost(less, args), unit


def test_tags_without_the_suffix_that_all_may_have_cost_no_more() -> None:
    call = {"name": "look_up", "arguments": {"title": "Mosses", "copies": 2}}
    written = render([call, call], format="hy_v3")
    short = written.replace(":opensource", "")
    assert short != written
    args = ParseArguments("hy_v3")
    found = [[(made.name, made.arguments) for made in args.parse(text).tool_calls] for text in (written, short)]
    assert found[0] == found[1]
    assert cost(short, args) <= 1.2 * cost(written, args)


@pytest.mark.parametrize("lead", [0, 3, 60])
@pytest.mark.parametrize("text", ["", "to=a", "to=a|", "to=a |b to=c|", "|to=a", "to=a|" + "-" * 60, "|" * 60])
def test_a_search_before_the_last_sign_finds_what_a_search_finds(text: str, lead: int) -> None:
    pattern = re.compile(r"to=(?=\w\s?\|)|\|b")
    find = search_before(pattern.search, pattern.match, "|")
    for pos in (0, lead):
        found, wanted = find("-" * lead + text, pos), pattern.search("-" * lead + text, pos)
        assert (found and found.span()) == (wanted and wanted.span())


@pytest.mark.parametrize(("pattern", "text"), TABLES["REQUIRED"])
def test_the_longest_text_in_every_match(pattern: str, text: str) -> None:
    assert required_text(pattern) == text


def test_a_format_that_is_loaded_is_left_to_the_parser() -> None:
    grammar = (registry.grammars_folder() / "hermes.lark").read_text("utf-8")
    own = re.sub(r"(?m)^// (format: +)hermes$", r"// \1mercury", grammar)
    path = registry.grammars_folder() / "mercury.lark"
    registry.add("mercury", own, path)
    assert reader.read(CALL, "hermes", None, None, DEFAULT) is not None
    assert reader.read(CALL, "mercury", None, None, DEFAULT) is None
    assert parse(CALL, format="mercury").tool_calls


def test_nothing_is_compiled_while_a_response_is_read() -> None:
    for path in Path(reader.__file__).parents[1].rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(r"\b(exec|eval|compile)\(", text) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("exec", "eval", "compile"), path


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("look_up", "unknown"),
        CALL[:-12],
        CALL.replace('"}', '",}'),
        CALL.replace("Mosses", "Mosses\ud800"),
        '<tool_call>\n{"name": "look_up", "arguments": "{"}\n</tool_call>',
    ],
)
def test_damaged_text_is_left_to_the_parser(text: str) -> None:
    tools = [{"name": "look_up", "parameters": {"type": "object"}}]
    assert reader.read(text, "hermes", None, tools, DEFAULT) is None
    assert parse(text, format="hermes", tools=tools) == by_parser(text, "hermes", tools)


def test_blank_text_is_read_without_the_prompt_prefix() -> None:
    for format_ in ("inkling", "deepseek_r1", "harmony"):
        for text in (" ", "\n", "\n\n ", ""):
            assert parse(text, format=format_) == by_parser(text, format_), (format_, text)


def test_a_response_that_begins_with_the_rest_of_a_marker_and_a_mistake() -> None:
    """The prompt ends with the beginning of the marker, so the response has only its end."""
    call = [{"name": "find_book", "arguments": {"title": "Moss"}}]
    for format_ in [name for name in FORMATS if registry.header(name).opened]:
        try:
            text = render(call, format=format_).lstrip()
        except RenderError:  # no tool calls
            continue
        for mistake in ('"', '" ', "> ", "x", "."):
            for rest in (text, text[1:], text[text.find(" to=") :]):
                raw = mistake + rest
                assert parse(raw, format=format_) == by_parser(raw, format_), (format_, raw)


def test_no_leading_marker_of_plain_text_begins_with_a_letter_or_a_digit() -> None:
    markers = registry.automaton(registry.PLAIN).start.leading_markers
    assert markers
    for marker in markers:  # so the fast path of detection does not look for them before one
        first = first_chars(marker.terminal.regex)
        assert first
        assert not any(char.isalnum() for char in first)


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
    assert sound_text.read(text, None, DEFAULT) == by_detector


@pytest.mark.parametrize("format_", IN_TURN)
def test_calls_behind_the_beginning_of_reasoning_are_read_alike_whole_and_streamed(format_: str) -> None:
    """A tag that is text in the format opens reasoning, also where other text or reasoning stands before the call."""
    own = [case for case in CASES if case.format == format_ and case.kind == "ok"]
    for case in some(own, f"thought {format_}", 0.3):
        text = f"<think>I could write {case.text} now</think>Done."
        tools = case.options.get("tools")
        assert [*stream([text], format=format_, tools=tools)][-1] == Done(parse(text, format=format_, tools=tools)), (
            text
        )


def _beginnings(name: str) -> Iterator[str]:
    """The beginnings of what opens a call of a format, up to the second marker behind the first one."""
    automaton = registry.automaton(name, lenient=True)
    for config in {automaton.start: None, automaton.top_level: None}:
        for opener in config.strict_transitions()[2]:
            ahead = look_ahead(opener.terminal.regex)
            written = [opener.terminal.canonical.strip(), *spellings(without_conditions(opener.terminal.regex))[:2]]
            follows = [*spellings(without_conditions(ahead))[:3]] if ahead else []
            for step in opener.target.strict_transitions()[2][:4]:
                inner = [next_step.terminal.canonical for next_step in step.target.strict_transitions()[2][:6]]
                follows += [step.terminal.canonical.strip() + one for one in inner]
            for text in dict.fromkeys([form + follow for form in written[:2] for follow in follows]):
                yield from (text[:at] for at in range(1, len(text) + 1))


def test_texts_that_end_in_an_opening_marker_are_read_alike_whole_and_streamed() -> None:
    """A text may end where a marker begins, or behind it and a part of what it looks ahead at, with white space or not.

    The fast path leaves such texts to the parser if that may take them for an opening marker with a mistake.
    """
    random, read = Random(f"openers {SEED}"), 0
    for name in some(FORMATS, "openers", 0.17):
        texts = sorted(set(_beginnings(name)))
        for text in random.sample(texts, min(len(texts), 12)):
            before, behind = random.choice(("", "Hi.", "Hi.\n")), random.choice(("", "\n", "\n", " ", "\r\n", " " * 25))
            raw = f"{before}{text}{behind}"
            parts = pieces(raw, random.choice((1, 3)))
            assert ParseArguments(name).stream(parts)[1] == parse(raw, format=name), (name, raw)
            if read % 4 == 0:
                assert ParseArguments().stream(parts)[1] == parse(raw), raw
            read += 1
    assert read > 125
    begun = {"xlam": '[{"name"\n', "anthropic_computer_use": '{"type" ', "browser_use": '{"thinking"\r\n'}
    for name, raw in begun.items():
        assert parse(raw, format=name).status == parse(f"Hi. {raw}", format=name).status == "truncated"
    assert "```" in parse("action:summary:```\n").text
