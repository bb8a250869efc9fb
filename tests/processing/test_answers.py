"""`read_answer`: one value, whichever way a model answered; and the arguments of calls while they arrive."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel

from outspoken import Parser, ToolCallDelta, ToolCallStart, parse
from outspoken.json import Partial, Snapshot
from outspoken.processing import PartialCalls, aread_answer, read_answer
from outspoken.providers import ProviderFormatError, stream_response
from outspoken.results.errors import UnknownFormatError
from tests.invariants.replies import pieces
from tests.streams import later
from tests.tables import tables

TABLES = tables(__file__)


class Ferry(BaseModel):
    """What is asked for."""

    harbour: str
    seats: int = 1


class Wish(BaseModel):
    """A type that any object fits."""

    note: str | None = None


#: The types that the table asks for.
TYPES: dict[str, Any] = {"Ferry": Ferry, "Wish": Wish, "list[str]": list[str]}

YSTAD = {"harbour": "Ystad", "seats": 2}
JSON = json.dumps(YSTAD)


def chat(content: str | None = None, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A response of chat completions."""
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish_reason}]}


def call(name: str, arguments: str) -> dict[str, Any]:
    """A call in a message of chat completions."""
    return {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]}


def chunks_of(text: str) -> list[dict[str, Any]]:
    """The chunks of chat completions for a text."""
    return [{"choices": [{"index": 0, "delta": {"content": char}}]} for char in text]


ANSWERS: dict[str, tuple[Any, str]] = {
    "text": (JSON, "text"),
    "bytes": (JSON.encode(), "text"),
    "fence": (f'<think>{{"harbour": "no"}}</think>Sure:\n```json\n{JSON}\n```', "text"),
    "markup": (f'<tool_call>\n{{"name": "Ferry", "arguments": {JSON}}}\n</tool_call>', "call"),
    "bare call": (f'{{"name": "Ferry", "arguments": {JSON}}}', "call"),
    "chunks of text": (iter(JSON), "text"),
    "list of text": ([*JSON], "text"),
    "chat": (chat(JSON), "text"),
    "chat, call": (chat(**call("Ferry", JSON)), "call"),
    "chunks of chat": (chunks_of(JSON), "text"),
    "stream of chat": (iter(chunks_of(JSON)), "text"),
    "messages": ({"type": "message", "content": [{"type": "text", "text": JSON}], "stop_reason": "end_turn"}, "text"),
    "messages, call": (
        {"type": "message", "content": [{"type": "tool_use", "id": "t", "name": "Ferry", "input": YSTAD}]},
        "call",
    ),
    "gemini": ({"candidates": [{"content": {"parts": [{"text": JSON}]}, "finishReason": "STOP"}]}, "text"),
    "reply": (parse(JSON), "text"),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_any_way_to_answer(kind: str) -> None:
    """The same value from all."""
    response, source = ANSWERS[kind]
    answer = read_answer(response, Ferry)
    assert answer.value == Ferry.model_validate(YSTAD)
    assert (answer.source, answer.earlier) == (source, ())


def said(answer: Any) -> dict[str, Any]:
    """All that an answer says, without what is empty."""
    value = answer.value
    told: dict[str, Any] = {
        "value": value.model_dump() if isinstance(value, BaseModel) else value,
        "source": answer.source,
        "status": answer.status,
        "diagnostics": [f"{found.severity} {found.code}" for found in answer.diagnostics],
        "repairs": [repair.code for repair in answer.reply.repairs] if answer.reply else [],
        "asks_again": bool(answer.retry),
    }
    return {key: found for key, found in told.items() if found}


@pytest.mark.parametrize("name", TABLES["SAID"])
def test_all_that_is_said_of_an_answer(name: str) -> None:
    """Neither what was cut nor the call of another tool is an answer; what a value leaves out is named."""
    case = TABLES["SAID"][name]
    options = {"tool": case["tool"]} if "tool" in case else {}
    answer: Any = read_answer(case["response"], TYPES[case.get("type", "Ferry")], **options)
    assert said(answer) == case["said"]
    assert answer.is_valid == (answer.value is not None)


def test_asks_again_as_often_as_is_allowed() -> None:
    """The message names the mistake; the last answer counts."""
    asked: list[str] = []

    def ask(message: str) -> str:
        asked.append(message)
        return '{"harbour": []}' if len(asked) < 2 else JSON

    answer = read_answer('{"seats": 2}', Ferry, ask=ask)
    assert answer.value == Ferry.model_validate(YSTAD)
    assert "`harbour`: Field required (line 1, column 1)" in asked[0]
    assert [one.raw for one in answer.earlier] == ['{"seats": 2}', '{"harbour": []}']
    asked.clear()
    answer = read_answer("no", Ferry, ask=lambda message: asked.append(message) or "no", retries=3)
    assert (answer.value, len(asked), len(answer.earlier)) == (None, 3, 3)


def test_does_not_ask_who_refused() -> None:
    """Neither after a refusal nor after a filter."""

    def ask(message: str) -> str:
        raise AssertionError(message)

    for response in (chat(refusal="No."), chat("I", finish_reason="content_filter")):
        assert read_answer(response, Ferry, ask=ask).value is None
    assert read_answer(JSON, Ferry, ask=ask).value is not None


def test_answers_that_are_awaited() -> None:
    """Awaitables, asynchronous chunks and an asynchronous `ask`."""

    async def respond(_: str = "") -> dict[str, Any]:
        return chat(JSON)

    async def read() -> list[Any]:
        found = [await aread_answer(respond(), Ferry), await aread_answer(JSON, Ferry)]
        return [*found, await aread_answer(later("no"), Ferry, ask=respond)]

    answers = asyncio.run(read())
    assert [answer.value for answer in answers] == [Ferry.model_validate(YSTAD)] * 3
    assert [len(answer.earlier) for answer in answers] == [0, 0, 1]


def test_mistakes_of_the_caller_raise() -> None:
    """What is no response, no type and no format."""
    with pytest.raises(ProviderFormatError):
        read_answer({"some": "thing"}, Ferry)
    with pytest.raises(TypeError, match="response"):
        read_answer(3, Ferry)  # pyright: ignore
    with pytest.raises(TypeError, match="schema"):
        read_answer(JSON, object())
    with pytest.raises(UnknownFormatError):
        read_answer(JSON, Ferry, format="none_such")


# the arguments of calls while they arrive


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


TEXTS = TABLES["TEXTS"]
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
