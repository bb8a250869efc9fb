"""Replies of all providers, compared in full: chunks of a stream or a whole body, as their documentation says."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from outspoken.providers import ProviderFormatError, ProviderReply, parse_response
from tests.loops import in_one_item
from tests.providers.provider_events import feed
from tests.tables import tables

TABLES = tables(__file__)
#: Per case what is `sent`, the arguments with which it is read, and all of the reply that is no default.
CASES: dict[str, dict[str, Any]] = TABLES["REPLIES"]


def chat(delta: dict[str, Any]) -> dict[str, Any]:
    """The chunk of a chat with a delta, which may have the finish reason in it."""
    fields = {key: value for key, value in delta.items() if key != "finish_reason"}
    choice = {"index": 0, "delta": fields, "finish_reason": delta.get("finish_reason")}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def read(sent: dict[str, Any], options: dict[str, Any]) -> Iterator[ProviderReply]:
    """The replies to a `body`, to `chunks` of a stream, to the `deltas` of a chat, or to its `content` in pieces."""
    if "body" in sent:
        body = sent["body"]
        written = [] if isinstance(body, str) else [json.dumps(body), json.dumps(body).encode()]
        yield from [parse_response(given, **options) for given in (body, *written)]
    elif "content" in sent:
        for pieces in ([sent["content"]], sent["content"]):
            deltas = [*[{"content": piece} for piece in pieces], {"finish_reason": sent.get("finish_reason", "stop")}]
            yield feed(map(chat, deltas), **options)
    else:
        yield feed(sent["chunks"] if "chunks" in sent else map(chat, sent["deltas"]), **options)


def said(reply: ProviderReply) -> dict[str, Any]:
    """All that a reply says, with the kinds of its segments and its text as a caller has it."""
    made = reply.model_dump(mode="json", exclude_defaults=True)
    segments = zip(reply.segments, made.get("segments", ()), strict=True)
    made["segments"] = [{"kind": segment.kind, **fields} for segment, fields in segments]
    made = {"text": reply.text or None, "reasoning": reply.reasoning, **made}
    return {key: value for key, value in made.items() if value is not None}


@in_one_item("name", CASES)
def test_the_whole_reply(name: str) -> None:
    case = CASES[name]
    before = deepcopy(case)
    for sent in case["sent"]:  # all say the same
        for reply in read(sent, case["options"]):
            assert said(reply) == case["reply"]
    assert case == before


@in_one_item("provider, body, told", TABLES["REJECTED"])
def test_what_is_no_response_is_rejected(provider: Any, body: Any, told: str) -> None:
    with pytest.raises(ProviderFormatError) as caught:
        parse_response(body, provider=provider)
    assert told in str(caught.value)
