"""Events out, and back in again: what a protocol carries comes back as it was said."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given

from outspoken import ProviderFormatError, ProviderReply, ProviderStream
from outspoken.providers.out_anthropic import to_anthropic_events
from outspoken.providers.out_openai import to_openai_chunks
from outspoken.providers.out_responses import to_openai_responses
from outspoken.providers.out_sse import Protocol, sse
from tests.outgoing import (
    Events,
    calls_of,
    corpus_streams,
    error_of,
    reasoning_of,
    reply_of,
    streams,
    text_of,
    unfinished,
)
from tests.test_providers_recorded import RECORDED, provider, rows

WAYS: dict[Protocol, Callable[..., Iterator[Any]]] = {
    "openai": to_openai_chunks,
    "anthropic": to_anthropic_events,
    "openai_responses": to_openai_responses,
}


def again(events: Events, protocol: Protocol) -> tuple[Events, ProviderReply]:
    """What a stream says after it has gone out and come back in, in pieces of any size."""
    body = b"".join(sse(WAYS[protocol](events), protocol))
    stream = ProviderStream(protocol, None)
    found: Events = []
    chance = random.Random(len(body))
    while body:
        size = chance.randint(1, 90)
        found += stream.feed(body[:size])
        body = body[size:]
    found += stream.close()
    assert stream.reply
    return found, stream.reply


def check_same(before: Events, protocol: Protocol) -> None:
    events, found = again(before, protocol)
    reply = reply_of(before)
    assert found.text == text_of(before) == reply.text
    thoughts = [segment.text for segment in found.segments if segment.kind == "reasoning" and segment.text]
    between = "" if protocol == "openai" else "\n\n"  # chat completions have the blank line in the text
    assert between.join(thoughts) == (reasoning_of(reply) or "")
    if isinstance(reply, ProviderReply) and reply.id:
        assert (found.id, found.model) == (reply.id, reply.model)
    error = error_of(reply) if isinstance(reply, ProviderReply) else None
    assert (found.error.message if found.error else None) == (error.message if error else None)
    known, said = calls_of(before), calls_of(events)
    assert [call.name for call in said] == [call.name for call in known]
    for mine, call in zip(said, known, strict=True):
        if call.finished:
            assert json.loads(mine.arguments) == json.loads(call.arguments)
    if not error:
        assert found.finish_reason in ("length", "content_filter", "refusal") or not unfinished(reply)
    if not unfinished(reply) and not error:
        assert [call.arguments for call in found.tool_calls] == [call.arguments for call in reply.tool_calls]


@pytest.mark.parametrize("protocol", WAYS)
def test_corpus(protocol: Protocol) -> None:
    for events in corpus_streams():
        check_same(events, protocol)


@pytest.mark.parametrize("protocol", WAYS)
@given(before=streams())
def test_any_stream(protocol: Protocol, before: Events) -> None:
    check_same(before, protocol)


def recorded() -> Iterator[tuple[str, Events]]:
    """The events of all answers that were recorded, streams and whole ones."""
    for row in rows():
        stream = ProviderStream(provider(row), None)
        try:
            events = stream.feed(row.body.encode()) + stream.close()
        except ProviderFormatError:
            continue  # no answer of a model: embeddings and the like
        yield row.id, events


@pytest.mark.parametrize("protocol", WAYS)
def test_recorded(protocol: Protocol) -> None:
    count = 0
    for name, events in recorded():
        count += 1
        try:
            check_same(events, protocol)
        except AssertionError as error:
            raise AssertionError(name) from error
    assert count > 200 or not RECORDED.exists()
