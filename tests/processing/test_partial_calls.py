"""The arguments of calls while they arrive."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel

from outspoken import Parser, ToolCallDelta, ToolCallStart
from outspoken.json import Partial, Snapshot
from outspoken.processing import PartialCalls
from outspoken.providers import stream_response
from tests.invariants.replies import pieces


class Book(BaseModel):
    """A tool with parts that are shown when they are complete, and one that grows."""

    ferry: str
    seats: int = 1


class Keys(TypedDict):
    """The same as a dict."""

    ferry: str
    seats: int


class Odd:
    """What JSON schema cannot express."""


class Strange(BaseModel, arbitrary_types_allowed=True):
    """A tool with such a field."""

    ferry: str
    odd: Odd | None = None


def tide(ferry: str, seats: int = 1) -> None:
    """A tool."""


class Moment(NamedTuple):
    """A snapshot, and what it showed when it was taken: what is shown grows in place."""

    snapshot: Snapshot[Any]
    partial: str
    states: tuple[str, str]


def moments(tool: Any, text: str, format: str) -> list[Moment]:
    """The snapshots of a response that arrives in characters."""
    calls, found = PartialCalls([tool]), list[Moment]()
    for event in Parser(format, tools=[tool]).stream([*text]):
        if (one := calls.feed(event)) is not None:
            found.append(Moment(one, repr(one.partial), (one.state("/ferry"), one.state("/seats"))))
    return found


TEXTS = {
    "hermes": '<tool_call>\n{{"name": "{name}", "arguments": {{"ferry": "Ystad", "seats": 12}}}}\n</tool_call>',
    "qwen3_coder": "<tool_call>\n<function={name}>\n<parameter=ferry>\nYstad\n</parameter>\n<parameter=seats>\n12\n"
    "</parameter>\n</function>\n</tool_call>",
}
#: What a part of the arguments is, and what all of them are.
TOOLS: list[tuple[Any, Any, Any]] = [
    (Book, Partial(ferry="Yst", seats=None), Book(ferry="Ystad", seats=12)),
    (Keys, {"ferry": "Yst"}, {"ferry": "Ystad", "seats": 12}),
    (tide, {"ferry": "Yst"}, {"ferry": "Ystad", "seats": 12}),
    ({"name": "raw", "parameters": {"type": "object"}}, {"ferry": "Yst"}, {"ferry": "Ystad", "seats": 12}),
]


@pytest.mark.parametrize("format", TEXTS)
@pytest.mark.parametrize(("tool", "part", "whole"), TOOLS)
def test_arguments_grow_and_are_complete_at_the_end(tool: Any, part: Any, whole: Any, format: str) -> None:
    text = TEXTS[format].format(name=getattr(tool, "__name__", "raw"))
    *growing, last = moments(tool, text, format)
    assert growing[0].partial == "None"
    assert repr(part) in [one.partial for one in growing]
    assert [*dict.fromkeys(one.states for one in growing)][:3] == [
        ("absent", "absent"),
        ("growing", "absent"),
        ("complete", "absent"),
    ]
    assert all(one.snapshot.reading is None for one in growing)
    assert (last.snapshot.value, last.states) == (whole, ("complete", "complete"))


def test_each_call_has_its_own_and_other_events_have_none() -> None:
    text = "Hi." + 2 * TEXTS["hermes"].format(name="Book") + TEXTS["hermes"].format(name="other")
    calls, found = PartialCalls([Book]), dict[str, list[Any]]()
    for event in Parser("hermes").stream([*text]):
        found.setdefault(event.type, []).append(calls.feed(event))
    assert set(found["text_delta"] + found["done"]) == {None}
    values = [one.value for one in found["tool_call_end"]]
    assert values == [Book(ferry="Ystad", seats=12)] * 2 + [{"ferry": "Ystad", "seats": 12}]


def test_a_tool_that_has_no_schema_is_shown_as_far_as_it_goes() -> None:
    text = '<tool_call>\n{"name": "Strange", "arguments": {"ferry": "Y"}}\n</tool_call>'
    assert moments(Strange, text, "hermes")[-1].partial == "{'ferry': 'Y'}"


def test_calls_of_a_provider() -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "Book", "arguments": '{"ferry": "Y'}}
    more = {"index": 0, "function": {"arguments": 'stad"}'}}
    body: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]} for one in (call, more)]
    body.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    calls = PartialCalls([Book])
    snapshots = [one for event in stream_response(body, tools=[Book]) if (one := calls.feed(event)) is not None]
    assert snapshots[-1].value == Book(ferry="Ystad")


def test_the_cost_of_a_piece_does_not_grow() -> None:
    def seconds(size: int) -> float:
        text = json.dumps({"ferry": "x" * size})
        calls, start = PartialCalls([Book]), time.process_time()
        calls.feed(ToolCallStart(0, None, "Book"))
        for piece in pieces(text, 7):
            calls.feed(ToolCallDelta(0, piece))
        return time.process_time() - start

    seconds(7_000)
    assert seconds(280_000) < 40 * max(seconds(28_000), 0.02)
