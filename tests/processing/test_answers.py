"""`read_answer`: one value, whichever way a model answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from outspoken import parse
from outspoken.processing import aread_answer, read_answer
from outspoken.providers import ProviderFormatError
from outspoken.results.errors import UnknownFormatError


class Ferry(BaseModel):
    """What is asked for."""

    harbour: str
    seats: int = 1


class Wish(BaseModel):
    """A type that any object fits."""

    note: str | None = None


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


@pytest.mark.parametrize(
    "response",
    [
        "",
        None,
        "I cannot say.",
        '{"harbour": "Ystad", "seats": "many"}',
        '{"harbour": "Ystad", "seats": 2',
        '<tool_call>\n{"name": "search", "arguments": {"harbour": "Ystad"}}\n</tool_call>',
        '{"name": "search", "arguments": {"q": "{\\"harbour\\": \\"Ystad\\"}"}}',
        f'As an example: `<tool_call>{{"name": "Ferry", "arguments": {JSON}}}</tool_call>`, nothing else.',
        f'The syntax is "<tool_call>{{"name": "Ferry", "arguments": {JSON}}}</tool_call>" as they say.',
        '<tool_call>\n{"name": "Ferry", "arguments": {"harbour": "Ystad", "seats": 2}',
        chat(**call("search", JSON)),
        chat(finish_reason="length", **call("Ferry", '{"harbour": "Ystad", "seats": 2')),
        chat(**call("Ferry", '["Ystad"]')),
    ],
)
def test_no_answer_has_no_value_and_a_message(response: Any) -> None:
    """Neither what was cut nor the call of another tool is an answer."""
    answer = read_answer(response, Ferry)
    assert (answer.value, answer.is_valid) == (None, False)
    assert answer.retry
    assert answer.status in ("invalid", "truncated")


def test_an_answer_in_a_repaired_call_is_repaired() -> None:
    """What the markup needed is in the reply, and the status says so."""
    answer = read_answer(f'<tool_call>\n<tool_call>\n{{"name": "Ferry", "arguments": {JSON}}}\n</tool_call>', Ferry)
    assert (answer.value, answer.source, answer.status) == (Ferry.model_validate(YSTAD), "call", "repaired")
    assert [one.code for one in answer.reply.repairs] == ["stray-marker"]


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


def test_the_calls_of_other_tools_are_not_taken_for_values() -> None:
    """Also where the type would take any object: what it leaves out is named."""
    answer = read_answer('<tool_call>\n{"name": "drop", "arguments": {"note": "x"}}\n</tool_call>', Wish)
    assert answer.value is None
    answer = read_answer('{"name": "drop", "arguments": {}} {"note": "x"}', Wish)
    assert answer.value == Wish(note="x")
    answer = read_answer(
        'The syntax is "<tool_call>{"name": "Ferry", "arguments": {}}</tool_call>", so:\n{"note": "x"}', Wish
    )
    assert (answer.value, [one.code for one in answer.diagnostics]) == (Wish(note="x"), ["left-out"])
    answer = read_answer('{"error": "none"}', Wish)
    assert [one.code for one in answer.diagnostics] == ["ignored-key"]
    assert answer.diagnostics[0].severity == "warning"
    assert read_answer('{"note": "x", "more": 1}', Wish).diagnostics[0].severity == "note"


def test_the_name_of_the_tool_can_be_given() -> None:
    """A list has no name of its own."""
    response = chat(**call("final_result", '["a", "b"]'))
    many: TypeAdapter[list[str]] = TypeAdapter(list[str])
    assert read_answer(chat('["a", "b"]'), many).value == ["a", "b"]
    assert read_answer(response, many).value is None
    response = chat(**call("final_result", JSON))
    assert read_answer(response, Ferry, tool="final_result").value == Ferry.model_validate(YSTAD)


def test_answers_that_are_awaited() -> None:
    """Awaitables, asynchronous chunks and an asynchronous `ask`."""

    async def respond(_: str = "") -> dict[str, Any]:
        return chat(JSON)

    async def stream() -> AsyncIterator[str]:
        for char in "no":
            yield char

    async def read() -> Iterator[Any]:
        found = [await aread_answer(respond(), Ferry), await aread_answer(JSON, Ferry)]
        return iter([*found, await aread_answer(stream(), Ferry, ask=respond)])

    answers = [*asyncio.run(read())]
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
