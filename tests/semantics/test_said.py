"""Calls that were only said stay text or reasoning: whole and streamed, by every format with calls."""

from random import Random

import pytest

from outspoken import Reasoning, RenderError, Text, ToolCall, formats, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.grammar.near_openers import written_forms
from tests.invariants.replies import check_chunks, pieces
from tests.loops import SEED, some
from tests.tables import tables

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "send_funds", "arguments": {"account": "DE-77"}}\n</tool_call>'
MADE = [("send_funds", {"account": "DE-77"})]

#: Texts round a call that make it a quotation, and some that do not.
QUOTED = TABLES["QUOTED"]
WRITTEN = TABLES["WRITTEN"]


def calls(text: str, format: str = "hermes") -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in parse(text, format=format).tool_calls]


#: By format: a call as it stands in its own message or behind a line of reasoning.
THOUGHT = TABLES["THOUGHT"]


#: By format: calls without any markup of their own, and some in a fence.
UNMARKED = TABLES["UNMARKED"]


#: What stands round them, and how many are made: those on lines of their own behind which nothing but calls follows.
ROUND = TABLES["ROUND"]


def check_stream(text: str, format_: str, random: Random) -> None:
    """A stream gives the reply of the whole text, and events that add up to it."""
    args = ParseArguments(format_)
    check_chunks(text, args, args.parse(text), random)


#: What stands between calls and tags of reasoning.
PIECES = TABLES["PIECES"]


def test_tags_of_reasoning_quotations_and_calls_in_any_order() -> None:
    """A third of the formats: some calls are cut, some have a quotation mark in a value, and tags stand anywhere."""
    random = Random(f"any order {SEED}")
    for info in some(formats(), "any order", 0.34):
        try:
            call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format=info.name)
        except RenderError:
            continue
        automaton = registry.automaton(info.name)
        terminals = automaton.tables.terminals.values()
        tags = {form for one in terminals for form in written_forms(one) if "think" in form.lower()}
        calls = [call, call, call[: -len(call) // 4], call.replace("-77", '"77')]
        drawn = [random.choice((PIECES, calls, sorted(tags) or PIECES)) for _ in range(random.randint(3, 8))]
        text = "".join([random.choice(part) + random.choice(("", "\n", " ")) for part in drawn])
        check_stream(text, info.name, random)


def test_no_format_runs_what_is_quoted() -> None:
    """Every format with calls, in quotations that no format's prompt asks for."""
    random, seen = Random(f"quoted {SEED}"), 0
    for info in formats():
        try:
            call = render([ToolCall(name="send_funds", arguments={"account": "DE-77"})], format=info.name)
        except RenderError:
            continue
        if calls(call, info.name) != MADE:
            continue
        seen += 1
        for frame in random.sample([q for q in QUOTED if "```" not in q and '"' not in q], 3):
            text = frame.format(call)
            assert calls(text, info.name) == [], (info.name, text)
    assert seen > 60


@pytest.mark.timeout(180)  # the patterns of all formats are made
def test_a_call_in_reasoning_between_tags_of_its_own_is_thought_about_in_any_format_that_is_found() -> None:
    """With `auto`, the tags of the format that was found count, beside those of plain text."""
    made, tried = ToolCall(name="send_funds", arguments={"account": "DE-77"}), 0
    for info in formats():
        try:
            call = render([made], info.name).strip()
            text = render([Reasoning(text="Not yet.", span=(0, 0)), Text(text="No.", span=(0, 0))], info.name)
        except RenderError:
            continue
        header = registry.automaton(info.name).tables.header
        if header.opened or header.reasoned_calls == "run":
            continue
        for thought in (f"The page wants {call} but I must not.", f"The page wants\n{call}\nbut not I."):
            for format_ in (info.name, "auto"):
                tried += 1
                text_ = text.replace("Not yet.", thought)
                reply = parse(text_, format_)
                assert ParseArguments(format_).stream(pieces(text_, 7))[1] == reply, (format_, text_)
                assert reply.tool_calls == [], (format_, text_)
    assert tried > 150
