"""OpenAI's Chat Completions and the dialects of it: reasoning, parts, refusals, fragments of calls, errors."""

import json
from typing import Any

import pytest

from outspoken import Settings, ToolCallStart
from outspoken.providers import ProviderFormatError, ProviderReply, ProviderStream
from outspoken.providers.assembly.tool_calls import parse_arguments
from tests.loops import in_one_item
from tests.providers.provider_events import dumped, feed
from tests.tables import tables

TABLES = tables(__file__)


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def call(index: Any, arguments: Any, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    """A fragment of a call."""
    calls_of: dict[str, Any] = {"function": {"arguments": arguments}}
    if index is not None:
        calls_of["index"] = index
    if id is not None:
        calls_of |= {"id": id, "type": "function"}
    if name is not None:
        calls_of["function"]["name"] = name
    return calls_of


def calls(*fragments: dict[str, Any], finish: str | None = "tool_calls", **options: Any) -> ProviderReply:
    """The reply to a stream of fragments, one a chunk."""
    chunks = [chunk({"tool_calls": [fragment]}) for fragment in fragments]
    return feed([*chunks, *([chunk({}, finish)] if finish else [])], "openai", **options)


# calls


DAMAGED = TABLES["DAMAGED"]


@pytest.mark.parametrize("text", DAMAGED)
def test_deltas_of_damaged_arguments_are_json_at_any_split(text: str) -> None:
    whole = dumped(calls(call(0, text, "a", "f")))
    for size in range(1, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        reply = calls(call(0, "", "a", "f"), *[call(0, piece) for piece in pieces])
        assert dumped(reply) == whole
        for one in reply.tool_calls:
            assert (one.status, json.loads(one.arguments_text)) == ("repaired", one.arguments)


def test_split_surrogate_pairs_are_joined() -> None:
    reply = feed([chunk({"content": "A \ud83d"}), chunk({"content": "\ude00 and \ud83d"}), chunk({}, "stop")], "openai")
    assert reply.text == "A \U0001f600 and \ufffd"
    (one,) = calls(call(0, '{"a": "\ud83d', "a", "f"), call(0, '\ude00"}')).tool_calls
    assert one.arguments == {"a": "\U0001f600"}


def test_invalid_chunk_is_reported_and_skipped() -> None:
    stream = ProviderStream("openai")
    stream.feed(chunk({"content": "Mo"}))
    with pytest.raises(ProviderFormatError, match=r"^chunk 2: `choices\[0\]\.delta\.content` is the number 7"):
        stream.feed(chunk({"content": 7}))
    stream.feed(chunk({"content": "ss."}))
    stream.close()
    assert stream.reply is not None
    assert stream.reply.text == "Moss."


# a name in pieces


@in_one_item("tools, pieces, first", TABLES["A_CALL_IS_ANNOUNCED_WHEN_NO_MORE_OF_ITS_NAME_MAY_ARRIVE"])  # fmt: skip
def test_a_call_is_announced_when_no_more_of_its_name_may_arrive(
    tools: list[str], pieces: list[str], first: int
) -> None:
    session = ProviderStream("openai", tools=[{"name": name, "parameters": {}} for name in tools])
    deltas = [{"index": 0, "function": {"name": piece}} for piece in pieces]
    found: list[tuple[int, str]] = []
    for number, delta in enumerate([*deltas, {"index": 0, "function": {"arguments": "{}"}}], 1):
        events = session.feed({"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]})
        found += [(number, event.name) for event in events if isinstance(event, ToolCallStart)]
    session.close()
    assert found == [(first, "".join(pieces))]


def test_arguments_that_are_two_objects_are_invalid() -> None:
    for text, status in (('{"a": 1,}', "repaired"), ('{"a": 1,} {"b": 2}', "invalid")):
        assert parse_arguments(text, True, "strings", None, Settings()).status == status
