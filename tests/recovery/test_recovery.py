"""Damaged segments: how they are read, which repairs are recorded, and when nothing is repaired."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import Parser, Reply, ResponseError, parse
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.parsing import Repair
from outspoken.recovery.costs import FOREIGN_NOTATION, MAX_COST
from outspoken.recovery.path import Region
from outspoken.recovery.search import _cheapest, recover  # pyright: ignore[reportPrivateUsage]
from outspoken.results.edits import REPAIR_LIMITS, RepairBudget
from outspoken.results.settings import DEFAULT
from tests.cases import Case
from tests.invariants.replies import check, pieces
from tests.loops import in_one_item, sound_cases
from tests.streams import streamed
from tests.tables import tables

TABLES = tables(__file__)

BREW = [("brew", {"kind": "green", "minutes": 3})]


def found(reply: Reply) -> list[tuple[str, Any]]:
    """The finished calls: names and arguments."""
    return [(call.name, call.arguments) for call in reply.tool_calls]


def codes(reply: Reply) -> list[str]:
    """The codes of all repairs, in order."""
    return [repair.code for repair in reply.repairs]


def replayed(raw: str, repairs: list[Repair]) -> str:
    """The raw text with all repairs made in it."""
    for repair in reversed(repairs):
        start, end = repair.span
        assert raw[start:end] == repair.before
        raw = raw[:start] + repair.after + raw[end:]
    return raw


@pytest.mark.parametrize("begins", TABLES["BEGINNINGS"])
def test_a_key_behind_the_bracket_shows_that_it_is_a_call(begins: str) -> None:
    text = f"<tool_call>\n{begins}{' ' * 150}}}}}\n</tool_call>"
    reply = parse(text, format="hermes")
    assert found(reply) == BREW
    assert ParseArguments("hermes").stream(pieces(text, 3))[1] == reply


#: Damaged texts of `qwen3_coder`, the calls in them, and the codes of the repairs.
DAMAGED: dict[str, tuple[str, list[Any], list[str]]] = {
    name: (text, [tuple(call) for call in calls], codes) for name, (text, calls, codes) in TABLES["DAMAGED"].items()
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_call_with_damaged_markers(name: str) -> None:
    """It is repaired, with repairs that the strict grammar reads, or not at all if nothing may be repaired."""
    text, calls, expected = DAMAGED[name]
    check(text, ParseArguments("qwen3_coder"))
    for full in (text, f"Well.\n{text}\nSo far."):
        reply = parse(full, format="qwen3_coder")
        assert (found(reply), codes(reply)) == (calls, expected)
        assert reply.status == "repaired"
        assert [c.status for c in reply.unfinished_tool_calls] == []
        assert "<" not in reply.text
    reply = parse(text, format="qwen3_coder")
    if "foreign-notation" in expected:
        assert replayed(text, reply.repairs) == text
    else:
        again = parse(replayed(text, reply.repairs), format="qwen3_coder", repair="none")
        assert (found(again), again.status, again.diagnostics) == (calls, "ok", [])
    for repair_limit in ("none", "notation"):
        reply = parse(text, format="qwen3_coder", repair=repair_limit)
        assert reply.repairs == []
        assert all(call.status == "ok" for call in reply.tool_calls)
    try:
        reply = parse(text, format="qwen3_coder", on_error="raise")
    except ResponseError as error:
        reply = error.reply
    assert reply.repairs == []
    assert found(parse(text, format="qwen3_coder", on_error="raise", repair="strings")) == calls


def test_a_known_tool_counts_for_a_reading() -> None:
    text = '<|start|>assistant to=functiions.get_weather<|channel|>commentary json<|message|>{"city": "Paris"}<|call|>'
    region = replace(region_of(text, "harmony"), tools=Tools.of(TABLES["WEATHER"]))
    path = recover(region)
    assert path is not None
    assert [step.text for step in path.steps if step.transition and step.transition.terminal.short == "TOOL_NAME"] == [
        "get_weather"
    ]


def test_two_ways_that_cost_the_same_are_no_call() -> None:
    path = recover(region_of("<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n", "qwen3_coder"))
    assert path is not None
    assert not any(step.ambiguous for step in path.steps)
    text = '<tool_call>{"name": "n", "arguments": {"a": "b", "c": "d", "e": "f"", "g": "h"}}</tool_call>'
    path = recover(region_of(text, "hermes"))
    assert path is not None
    assert any(step.ambiguous for step in path.steps)


def json_call(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "brew", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize("name", TABLES["JSON_CALLS"])
def test_a_call_with_damaged_json(name: str) -> None:
    arguments, level, expected = TABLES["JSON_CALLS"][name]
    text = json_call(arguments)
    check(text, ParseArguments("hermes"))
    reply = parse(text, format="hermes")
    assert (found(reply), codes(reply)) == (BREW, expected)
    assert {repair.level for repair in reply.repairs} == {level}
    assert found(parse(replayed(text, reply.repairs), format="hermes", repair="none")) == BREW
    for repair_limit in REPAIR_LIMITS:
        allowed = REPAIR_LIMITS.index(repair_limit) >= REPAIR_LIMITS.index(level)  # pyright: ignore[reportArgumentType]
        capped = parse(text, format="hermes", repair=repair_limit)
        assert (found(capped) == BREW) == allowed
        assert all(REPAIR_LIMITS.index(r.level) <= REPAIR_LIMITS.index(repair_limit) for r in capped.repairs)  # pyright: ignore[reportArgumentType]


def test_a_call_in_wide_brackets_far_from_the_next_marker() -> None:
    call = f'｛\n{" " * 150}"name"："brew"，"arguments"：｛"kind"："green"，"minutes"：3｝｝'
    assert found(parse(f"<tool_call>\n{call}\n</tool_call>", format="hermes")) == BREW


# the cheapest way; that there is none cheaper is compared with Lark's Earley parser in `test_wrong_calls.py`


def region_of(text: str, format_: str) -> Region:
    automaton = registry.automaton(format_, lenient=True)
    return Region(
        automaton, automaton.top_level, text, 0, True, False, "strings", None, DEFAULT, RepairBudget.of(100_000),
        100_000,
    )  # fmt: skip


@in_one_item("format_, text", TABLES["READ_BY_BOTH"])
def test_the_rules_for_damaged_responses_count_only_if_they_cost_less(format_: str, text: str) -> None:
    """The second search stops at the cost of the first path: the result is that of both searches to the end."""
    region = region_of(text, format_)
    broken = region.automaton.broken
    assert broken is not None
    ways = [(0, region), (FOREIGN_NOTATION, replace(region, automaton=broken, outer=broken.top_level))]
    paths = [(extra, _cheapest(replace(way), MAX_COST)) for extra, way in ways]
    way = recover(region)
    assert way is not None
    assert way.cost == min([path.cost + extra for extra, path in paths if path is not None])


# what is sound


@sound_cases
def test_sound_text_is_read_the_same_with_repairs_off(case: Case) -> None:
    reply = case.parse()
    assert reply.repairs == []
    options = {k: v for k, v in case.options.items() if k != "repair"}
    assert parse(case.text, format=case.format, repair="none", **options) == reply
    assert parse(case.text, format=case.format, repair="heuristic", **options) == reply


@given(st.lists(st.sampled_from(TABLES["PIECES"]), max_size=14))
def test_any_mixture_of_markers(pieces: list[str]) -> None:
    text = "".join(pieces)
    for format_ in ("qwen3_coder", "auto"):
        reply = parse(text, format=format_)
        for call in reply.tool_calls:
            assert call.status == ("repaired" if call.repairs else "ok")
        assert all(r in reply.repairs for c in reply.tool_calls for r in c.repairs)
        replayed(text, reply.repairs)
        assert ParseArguments(format_).stream(text)[1] == reply


def test_a_closing_marker_with_a_mistake_is_no_name_of_an_argument() -> None:
    """Behind `</parameter>`, `/function>` is nearly the end of the call, wherever a stream is split."""
    text = "<tool_call>\n<function=f>\n<parameter=a>x y</parameter>\n/function>\n</tool_call>"
    parser = Parser("qwen3_coder", tools=[{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}])
    reply = parser.parse(text)
    assert [call.arguments for call in reply.tool_calls] == [{"a": "x y"}]
    for at in range(1, len(text)):
        assert streamed(parser, (text[:at], text[at:])) == reply
