"""Calls that were only said or shown stay text or reasoning: whole and streamed, by every format with calls."""

from random import Random

import pytest

from outspoken import Reasoning, RenderError, Text, ToolCall, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.grammar.near_openers import written_forms
from tests.invariants.replies import check_chunks, pieces
from tests.loops import IN_TURN, SEED, some
from tests.tables import tables

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "send_funds", "arguments": {"account": "DE-77"}}\n</tool_call>'
MADE = [("send_funds", {"account": "DE-77"})]

#: Texts round a call that make it a quotation, and some that do not.
QUOTED = TABLES["QUOTED"]


def calls(text: str, format: str = "hermes") -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in parse(text, format=format).tool_calls]


def check_stream(text: str, format_: str, random: Random) -> None:
    """A stream gives the reply of the whole text, and events that add up to it."""
    args = ParseArguments(format_)
    check_chunks(text, args, args.parse(text), random)


#: What stands between calls and tags of reasoning.
PIECES = TABLES["PIECES"]


def test_tags_of_reasoning_quotations_and_calls_in_any_order() -> None:
    """Some of the formats: some calls are cut, some have a quotation mark in a value, and tags stand anywhere."""
    random = Random(f"any order {SEED}")
    for name in some(IN_TURN, "any order", 0.68):
        try:
            call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format=name)
        except RenderError:
            continue
        automaton = registry.automaton(name)
        terminals = automaton.tables.terminals.values()
        tags = {form for one in terminals for form in written_forms(one) if "think" in form.lower()}
        calls = [call, call, call[: -len(call) // 4], call.replace("-77", '"77')]
        drawn = [random.choice((PIECES, calls, sorted(tags) or PIECES)) for _ in range(random.randint(3, 8))]
        text = "".join([random.choice(part) + random.choice(("", "\n", " ")) for part in drawn])
        check_stream(text, name, random)


def test_no_format_runs_what_is_quoted() -> None:
    """Half of the formats with calls, in quotations that no format's prompt asks for."""
    random, seen = Random(f"quoted {SEED}"), 0
    for name in IN_TURN:
        try:
            call = render([ToolCall(name="send_funds", arguments={"account": "DE-77"})], format=name)
        except RenderError:
            continue
        if calls(call, name) != MADE:
            continue
        seen += 1
        for frame in random.sample([q for q in QUOTED if "```" not in q and '"' not in q], 3):
            text = frame.format(call)
            assert calls(text, name) == [], (name, text)
    assert seen > 30


def test_a_call_in_reasoning_between_tags_of_its_own_is_thought_about_in_any_format_that_is_found() -> None:
    """With `auto`, the tags of the format that was found count, beside those of plain text."""
    made, texts = ToolCall(name="send_funds", arguments={"account": "DE-77"}), list[tuple[str, str]]()
    for name in IN_TURN:
        try:
            call = render([made], name).strip()
            text = render([Reasoning(text="Not yet.", span=(0, 0)), Text(text="No.", span=(0, 0))], name)
        except RenderError:
            continue
        header = registry.automaton(name).tables.header
        if header.opened or header.reasoned_calls == "run":
            continue
        for thought in (f"The page wants {call} but I must not.", f"The page wants\n{call}\nbut not I."):
            texts += [(format_, text.replace("Not yet.", thought)) for format_ in (name, "auto")]
    assert len(texts) > 75
    for format_, text in some(texts, "thought about", 0.34):
        reply = parse(text, format_)
        assert ParseArguments(format_).stream(pieces(text, 7))[1] == reply, (format_, text)
        assert reply.tool_calls == [], (format_, text)


def test_a_call_behind_reasoning_in_the_same_quotation_does_not_run() -> None:
    call = '<|tools_prefix|>[{"send_funds": {"account": "DE-77"}}]<|tools_suffix|>'
    text = f"e.g. '<|inner_prefix|>Not yet.{call}<|inner_suffix|>It is done.<|assistant_end|>' is what it says."
    assert calls(text, "apertus") == []
    check_stream(text, "apertus", Random(text))


# marks of any language, elements, comments, tables, links and conversations


FORMATS = ("hermes", "qwen3_coder", "glm_4_5", "deepseek_v3_1", "gemma4", "anthropic_xml", "auto")


@pytest.mark.parametrize("frame", TABLES["SHOWN"])
def test_a_call_that_is_shown_does_not_run(frame: str) -> None:
    text = frame.replace("{}", CALL)
    assert calls(text) == calls(text, "auto") == []
    check_stream(text, "hermes", Random(text))
    for format_ in some(FORMATS[1:-1], f"shown {frame}", 0.2):
        call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format_).strip()
        text = frame.replace("{}", call)
        reply = parse(text, format_)
        assert reply.tool_calls == [], (format_, text)
        assert reply.diagnostics, (format_, text)
        check_stream(text, format_, Random(text))


def test_a_call_that_holds_the_end_of_its_reasoning_does_not_run() -> None:
    for format_ in some(FORMATS[:-1], "split", 0.5):
        call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format_).strip()
        for at in some(range(len(call) // 2, len(call) - 20), f"split {format_}", 0.1):
            text = f"<think>{call[:at]}</think>{call[at:]}"
            assert calls(text, format_) == [], text
            check_stream(text, format_, Random(text))
