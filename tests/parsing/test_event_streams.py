"""`stream`, `stream_response` and their asynchronous twins: the events of `feed` and `close`, and the reply."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from typing import Any

import pytest

from outspoken import Done, Parser, astream, parse, stream
from outspoken.providers import ProviderStream, astream_response, parse_response, stream_response
from tests.invariants.replies import pieces
from tests.streams import collected, later

TEXT = 'Let me look.\n<tool_call>\n{"name": "find", "arguments": {"mosses": 3}}\n</tool_call>'
PIECES = pieces(TEXT, 7)
CHUNKS: list[Any] = [{"choices": [{"delta": {"content": piece}}]} for piece in PIECES]
CHUNKS.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})


def fed(source: Any, chunks: Iterable[Any]) -> list[Any]:
    """The events of `feed` and `close`."""
    return [*[event for chunk in chunks for event in source.feed(chunk)], *source.close()]


def test_the_events_are_those_of_feed_and_close() -> None:
    assert list(stream(PIECES, format="hermes")) == fed(Parser("hermes").session(), PIECES)
    options: dict[str, Any] = {"provider": "openai", "format": "hermes"}
    assert list(stream_response(CHUNKS, **options)) == fed(ProviderStream(**options), CHUNKS)


def test_the_reply_is_that_of_the_whole_text() -> None:
    events = stream(PIECES, format="hermes")
    last = [*events][-1]
    assert events.reply == parse(TEXT, format="hermes")
    assert isinstance(last, Done)
    assert last.reply is events.reply
    message = {"role": "assistant", "content": TEXT}
    whole = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    responses = stream_response(CHUNKS, format="hermes")
    assert [*responses]
    assert responses.reply == parse_response(whole, format="hermes")


def test_asynchronous_chunks_give_the_same() -> None:
    options: dict[str, Any] = {"provider": "openai", "format": "hermes"}
    assert collected(astream(later(PIECES), format="hermes")) == list(stream(PIECES, format="hermes"))
    assert collected(astream_response(later(CHUNKS), **options)) == list(stream_response(CHUNKS, **options))


def test_events_may_be_taken_one_by_one() -> None:
    events = stream(iter(PIECES), format="hermes")
    first = next(events)
    with pytest.raises(RuntimeError, match="no reply before its last event"):
        _ = events.reply
    assert [first, *events] == list(stream(PIECES, format="hermes"))
    assert next(events, None) is None


def test_an_asynchronous_stream_may_be_left() -> None:
    async def read() -> list[Any]:
        async with aclosing(astream(later(PIECES), format="hermes")) as events:
            await anext(events)
        return [event async for event in events]

    assert asyncio.run(read()) == []
