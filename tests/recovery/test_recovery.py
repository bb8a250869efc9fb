"""Damaged segments: how they are read, which repairs are recorded, and when nothing is repaired."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import (
    Parser,
    Reply,
    ResponseError,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
    parse,
    stream,
)
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.parsing import Repair
from outspoken.recovery.costs import FOREIGN_NOTATION, MAX_COST
from outspoken.recovery.edges import EdgeFinder
from outspoken.recovery.marker_lexer import is_closed, marker_lexer
from outspoken.recovery.path import Node, Region, name_after
from outspoken.recovery.search import _cheapest, recover  # pyright: ignore[reportPrivateUsage]
from outspoken.results.edits import REPAIR_LIMITS, RepairBudget
from outspoken.results.settings import DEFAULT
from tests.cases import Case
from tests.invariants.replies import pieces
from tests.loops import in_one_item, sound_cases
from tests.tables import tables

TABLES = tables(__file__)

QWEN = TABLES["QWEN"]
BREW = [("brew", {"kind": "green", "minutes": 3})]


def found(reply: Reply) -> list[tuple[str, Any]]:
    """The finished calls: names and arguments."""
    return [(call.name, call.arguments) for call in reply.tool_calls]


def codes(reply: Reply) -> list[str]:
    """The codes of all repairs, in order."""
    return [repair.code for repair in reply.repairs]


def without(text: str, *parts: str) -> str:
    """A text without the first occurrence of each part."""
    for part in parts:
        assert part in text
        text = text.replace(part, "", 1)
    return text


def replayed(raw: str, repairs: list[Repair]) -> str:
    """The raw text with all repairs made in it."""
    for repair in reversed(repairs):
        start, end = repair.span
        assert raw[start:end] == repair.before
        raw = raw[:start] + repair.after + raw[end:]
    return raw


@pytest.mark.parametrize(
    "begins",
    [
        '{ // a, b: {c}\n  "name": "brew", "arguments": {"kind": "green", "minutes": 3',
        '{\n  "name": /* the "final" name */ "brew", "arguments": {"kind": "green", "minutes": 3',
        "{\n    “name”: “brew”, “arguments”: {“kind”: “green”, “minutes”: 3",
        "{„name“: „brew“, „arguments“: {„kind“: „green“, „minutes“: 3",
        '{\n    name: "brew", arguments: {kind: "green", minutes: 3',
    ],
)
def test_a_key_behind_the_bracket_shows_that_it_is_a_call(begins: str) -> None:
    text = f"<tool_call>\n{begins}{' ' * 150}}}}}\n</tool_call>"
    reply = parse(text, format="hermes")
    assert found(reply) == BREW
    *_, done = stream([text[i : i + 3] for i in range(0, len(text), 3)], format="hermes")
    assert done.reply == reply  # type: ignore[union-attr]


#: Damaged texts of `qwen3_coder`, the calls in them, and the codes of the repairs.
DAMAGED: dict[str, tuple[str, list[Any], list[str]]] = {
    name: (text, [tuple(call) for call in calls], codes) for name, (text, calls, codes) in TABLES["DAMAGED"].items()
}
PATH = {"type": "string"}
SHELF: Any = [{"name": "write_file", "parameters": {"properties": {"path": PATH, "text": PATH}}}]


@pytest.mark.parametrize("name", DAMAGED)
def test_a_call_with_damaged_markers(name: str) -> None:
    text, calls, expected = DAMAGED[name]
    for full in (text, f"Well.\n{text}\nSo far."):
        reply = parse(full, format="qwen3_coder")
        assert (found(reply), codes(reply)) == (calls, expected)
        assert reply.status == "repaired"
        assert [c.status for c in reply.unfinished_tool_calls] == []
        assert "<" not in reply.text


WEATHER = TABLES["WEATHER"]
#: Responses with one mistake of a character, which all mean the same call: format, text, and the code of the repair.
MISTAKES = TABLES["MISTAKES"]


def test_one_mistake_of_a_character() -> None:
    for format_, text, code in MISTAKES:
        reply = parse(text, format=format_, tools=WEATHER, finish_reason="stop")
        assert (found(reply), codes(reply)) == ([("get_weather", {"city": "Paris", "days": 3})], [code]), format_
        for size in (1, 3, 7):
            session = Parser(format_, tools=WEATHER).session()
            for at in range(0, len(text), size):
                session.feed(text[at : at + size])
            session.close("stop")
            assert session.reply == reply, (format_, size)


def test_a_known_tool_counts_for_a_reading() -> None:
    text = '<|start|>assistant to=functiions.get_weather<|channel|>commentary json<|message|>{"city": "Paris"}<|call|>'
    region = replace(region_of(text, "harmony"), tools=Tools.of(WEATHER))
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


@in_one_item("format_, reason, text, known", TABLES["READINGS"].values())
def test_what_is_known_of_a_reading(format_: str, reason: str | None, text: str, known: dict[str, Any]) -> None:
    """Readings of the same cost, two calls in one, calls that contradict what was sent, brackets that are cut.

    A reading that is rejected leaves the nodes round it alone: a fork has read the envelope to its end and reported
    what is unknown in it, which is reported without it, too. Where a tool's name ends and that of its argument begins,
    what separates them is missing (vllm#47190); two tools may be meant by `write_textfile`.
    """
    reply = parse(
        text, format=format_, tools=TABLES["NEIGHBOURS"] if "arg_key>" in text else None, finish_reason=reason
    )
    read = {
        "calls": [list(call) for call in found(reply)],
        "unfinished": [[call.name, call.status] for call in reply.unfinished_tool_calls],
        "status": reply.status,
        "diagnostics": [str(diagnostic) for diagnostic in reply.diagnostics],
        "noted": [diagnostic.code for diagnostic in reply.diagnostics],
        "text": reply.text,
    }
    assert {key: read[key] for key in known} == known


@pytest.mark.parametrize("name", DAMAGED)
def test_replayed_repairs_are_what_the_strict_grammar_reads(name: str) -> None:
    text, calls, expected = DAMAGED[name]
    reply = parse(text, format="qwen3_coder")
    if "foreign-notation" in expected:
        assert replayed(text, reply.repairs) == text
        return
    again = parse(replayed(text, reply.repairs), format="qwen3_coder", repair="none")
    assert (found(again), again.status, again.diagnostics) == (calls, "ok", [])


@pytest.mark.parametrize("name", DAMAGED)
def test_without_repair_nothing_is_repaired(name: str) -> None:
    text = DAMAGED[name][0]
    for repair_limit in ("none", "notation"):
        reply = parse(text, format="qwen3_coder", repair=repair_limit)
        assert reply.repairs == []
        assert all(call.status == "ok" for call in reply.tool_calls)


JSON_CALLS = TABLES["JSON_CALLS"]


@pytest.mark.parametrize("name", JSON_CALLS)
def test_a_call_with_damaged_json(name: str) -> None:
    arguments, level, expected = JSON_CALLS[name]
    text = f'<tool_call>\n{{"name": "brew", "arguments": {arguments}}}\n</tool_call>'
    reply = parse(text, format="hermes")
    assert (found(reply), codes(reply)) == (BREW, expected)
    assert {repair.level for repair in reply.repairs} == {level}
    assert found(parse(replayed(text, reply.repairs), format="hermes", repair="none")) == BREW
    for repair_limit in REPAIR_LIMITS:
        allowed = REPAIR_LIMITS.index(repair_limit) >= REPAIR_LIMITS.index(level)  # pyright: ignore[reportArgumentType]
        capped = parse(text, format="hermes", repair=repair_limit)
        assert (found(capped) == BREW) == allowed
        assert all(REPAIR_LIMITS.index(r.level) <= REPAIR_LIMITS.index(repair_limit) for r in capped.repairs)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("arguments", "meant"), TABLES["ENDS_OF_STRINGS"])
def test_the_end_of_a_string_is_not_sent_before_its_quote(arguments: str, meant: dict[str, object]) -> None:
    text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'
    reply = parse(text, format="hermes")
    assert (found(reply), set(codes(reply))) == ([("f", meant)], {"lost-quote"})
    for length in (1, 3, 40):
        session = Parser("hermes").session()
        events = [event for chunk in pieces(text, length) for event in session.feed(chunk)] + session.close()
        assert session.reply == reply
        sent = "".join([event.arguments for event in events if isinstance(event, ToolCallDelta)])
        assert sent == reply.tool_calls[0].arguments_text


def test_a_string_that_is_cut_keeps_its_end() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "One, two: thr'
    reply = parse(text, format="hermes")
    assert reply.unfinished_tool_calls[0].arguments_text == '{"a": "One, two: thr'
    session = Parser("hermes").session()
    events = [event for chunk in text for event in session.feed(chunk)] + session.close()
    sent = "".join([event.arguments for event in events if isinstance(event, ToolCallDelta)])
    assert (session.reply, sent) == (reply, '{"a": "One, two: thr')


@pytest.mark.parametrize("text", TABLES["PROSE"])
@pytest.mark.parametrize("format_", ["qwen3_coder", "hermes", "glm_4_5", "auto"])
def test_prose_about_calls_stays_prose(text: str, format_: str) -> None:
    reply = parse(text, format=format_)
    assert (reply.text, reply.tool_calls, reply.unfinished_tool_calls, reply.repairs) == (text, [], [], [])


# the end of the text


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "end_turn", "STOP", "tool-calls"])
def test_missing_closer_is_tolerated_after_a_natural_stop(reason: str) -> None:
    text = '<tool_call>\n{"name": "brew", "arguments": {"kind": "green", "minutes": 3}}'
    reply = parse(text, format="hermes", finish_reason=reason)
    assert (found(reply), codes(reply)) == (BREW, ["missing-marker"])
    session = Parser("hermes").session()
    session.feed(text)
    session.close(reason)
    assert session.reply == reply


@pytest.mark.parametrize("reason", ["length", "max_tokens", "content_filter", None])
def test_truncated_response_has_no_complete_call(reason: str | None) -> None:
    for text in (
        '<tool_call>\n{"name": "brew", "arguments": {"kind": "green", "minutes": 3}}',
        '<tool_call>\n{"name": "brew", "arguments": {"kind": "green", "minutes": 3',
        without(QWEN, "\n</tool_call>"),
    ):
        reply = parse(text, finish_reason=reason)
        assert (reply.tool_calls, reply.status) == ([], "truncated")
        assert [(c.name, c.status) for c in reply.unfinished_tool_calls] == [("brew", "truncated")]


@pytest.mark.parametrize("white", ["", "\n", " \n\n "])
def test_white_space_behind_an_inner_closing_marker_is_no_part_of_its_value(white: str) -> None:
    text = without(QWEN, "\n</function>\n</tool_call>") + white
    reply = parse(text, format="qwen3_coder", finish_reason="stop")
    assert (found(reply), codes(reply)) == (BREW, ["missing-marker"] * 2)


def test_complete_arguments_survive_truncation() -> None:
    reply = parse('<tool_call>\n{"name": "f", "arguments": {"a": "x", "b": [1, 2, {"c": "yz', format="hermes")
    (call,) = reply.unfinished_tool_calls
    assert call.arguments == {"a": "x", "b": [1, 2, {"c": "yz"}]}
    assert call.arguments_text == '{"a": "x", "b": [1, 2, {"c": "yz'


# raising


@pytest.mark.parametrize("name", DAMAGED)
def test_on_error_raise_repairs_nothing(name: str) -> None:
    text = DAMAGED[name][0]
    try:
        reply = parse(text, format="qwen3_coder", on_error="raise")
    except ResponseError as error:
        reply = error.reply
    assert reply.repairs == []
    assert found(parse(text, format="qwen3_coder", on_error="raise", repair="strings")) == DAMAGED[name][1]


def test_unknown_repair_limit() -> None:
    message = '`repair` is \'all\'; expected one of "none", "notation", "structure", "strings", "heuristic"'
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse("", repair="all")  # pyright: ignore[reportArgumentType]


# streams


@pytest.mark.parametrize("name", [*DAMAGED, *JSON_CALLS])
def test_later_events_never_contradict_events_of_damaged_calls(name: str) -> None:
    text = (
        DAMAGED[name][0]
        if name in DAMAGED
        else f'<tool_call>\n{{"name": "brew", "arguments": {JSON_CALLS[name][0]}}}\n</tool_call>'
    )
    format_ = "qwen3_coder" if name in DAMAGED else "hermes"
    for size in (1, 3, 1000):
        session = Parser(format_).session()
        events = [e for at in range(0, len(text), size) for e in session.feed(text[at : at + size])] + session.close()
        assert session.reply == parse(text, format=format_)
        started = {e.index: e.name for e in events if isinstance(e, ToolCallStart)}
        for end in [e for e in events if isinstance(e, ToolCallEnd)]:
            assert started.pop(end.index) == end.call.name
            deltas = [e.arguments for e in events if isinstance(e, ToolCallDelta) and e.index == end.index]
            assert "".join(deltas) == end.call.arguments_text
        left = [e.index for e in events if isinstance(e, ToolCallUnfinished)]
        assert sorted(started) == sorted(i for i in left if i in started)


# the cheapest way


def every_cost(region: Region) -> int | None:
    """The cost of the cheapest way by relaxing every edge until nothing gets cheaper (Bellman and Ford)."""
    tokens = marker_lexer(region.automaton).tokens(region.text, 400)
    assert tokens is not None
    region.tokens, region.near = tokens
    finder = EdgeFinder(region)
    start: tuple[Any, ...] = (0, region.outer, True, "", False)
    best: dict[tuple[Any, ...], int] = {start: 0}
    queue = [start]
    while queue:
        state = queue.pop()
        pos, config, fresh, name, bare = state
        for edge in finder.edges(pos, config, fresh, Node((), None, name, bare)):
            missing = bare or any(s.transition is not None and s.transition.inserted for s in edge.steps)
            onward = (edge.end, edge.target, not edge.steps[-1].is_text, name_after(edge.steps, name), missing)
            cost = best[state] + edge.cost
            if cost <= MAX_COST and cost < best.get(onward, MAX_COST + 1):
                best[onward] = cost
                queue.append(onward)
    ends = [c for (at, config, *_), c in best.items() if not region.text[at:].strip() and is_closed(config)]
    return min(ends, default=None)


def region_of(text: str, format_: str) -> Region:
    automaton = registry.automaton(format_, lenient=True)
    return Region(
        automaton,
        automaton.top_level,
        text,
        0,
        True,
        False,
        "strings",
        None,
        DEFAULT,
        RepairBudget.of(100_000),
        100_000,
    )


@pytest.mark.parametrize("name", [name for name in DAMAGED if DAMAGED[name][2] != ["foreign-notation"]])
def test_recovery_takes_the_cheapest_path(name: str) -> None:
    text = DAMAGED[name][0]
    way = recover(region_of(text, "qwen3_coder"))
    assert way is not None
    assert way.cost == every_cost(region_of(text, "qwen3_coder"))


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
        session = Parser(format_).session()
        for char in text:
            session.feed(char)
        session.close()
        assert session.reply == reply


@in_one_item("format, lead, tail", TABLES["PATH_OF_A_REPAIR_LEADS_FROM_THE_ARGUMENTS"])
def test_path_of_a_repair_leads_from_the_arguments(format: str, lead: str, tail: str) -> None:
    """Repairs of the same arguments have the same paths in every format."""
    wanted = {
        '{"a": {"b": [1, 2,]}, "c": 3}': ("a", "b"),
        '{"a": {"b": [1, 2]}, "c": {"d": True}}': ("c", "d"),
        '{"a": {"b" [1, 2]}}': ("a", "b"),
    }
    for arguments, path in wanted.items():
        call = parse(lead + arguments + tail, format=format, finish_reason="stop").tool_calls[0]
        paths = {repair.path for repair in call.repairs if repair.level != "markup" and repair.path}
        assert paths == {path}, (arguments, call.repairs)


@in_one_item("format, text", TABLES["PATH_OF_A_REPAIR_IN_ONE_ARGUMENT_BEGINS_WITH"])
def test_path_of_a_repair_in_one_argument_begins_with_its_name(format: str, text: str) -> None:
    call = parse(text, format=format, finish_reason="stop").tool_calls[0]
    assert [repair.path for repair in call.repairs] == [("a", "b")] * len(call.repairs)


@in_one_item("format_, reason, text, status, arguments", TABLES["UNCERTAIN"].values())
def test_what_is_uncertain_is_not_repaired(
    format_: str, reason: Any, text: str, status: str, arguments: dict[str, Any] | None
) -> None:
    """Values that are read in no or in two ways, words and markers that are cut, and names that hold markup."""
    reply = parse(text, format=format_, tools=SHELF if "write_file" in text else None, finish_reason=reason)
    assert reply.status == status
    assert [call.arguments for call in reply.unfinished_tool_calls] == [arguments]
    assert reply.tool_calls == []


def test_damage_says_the_format_only_if_it_is_read_by_one() -> None:
    """Reasoning whose closing tag is missing is plain text's own."""
    assert parse("<think>\nThe lich", finish_reason="stop").format is None
