"""Replies of all providers, compared in full: chunks of a stream or a whole body, as their documentation says."""

from typing import Any

import pytest

from outspoken.providers import ProviderFormatError, ProviderReply, parse_response
from tests.loops import in_one_item
from tests.providers.provider_events import feed
from tests.tables import tables

#: Per case what is `sent`, the arguments with which it is read, and all of the reply that is no default.
CASES: dict[str, dict[str, Any]] = tables(__file__)["REPLIES"]


def chat(delta: dict[str, Any]) -> dict[str, Any]:
    """The chunk of a chat with a delta, which may have the finish reason in it."""
    fields = {key: value for key, value in delta.items() if key != "finish_reason"}
    choice = {"index": 0, "delta": fields, "finish_reason": delta.get("finish_reason")}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def read(sent: dict[str, Any], options: dict[str, Any]) -> ProviderReply:
    """The reply to a whole `body`, to `chunks` of a stream or to the `deltas` of a chat."""
    if "body" in sent:
        return parse_response(sent["body"], **options)
    return feed(sent["chunks"] if "chunks" in sent else map(chat, sent["deltas"]), **options)


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
    for sent in case["sent"]:  # all say the same
        assert said(read(sent, case["options"])) == case["reply"]


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock", "cohere", "ollama", "openai_responses"])
def test_other_bodies_are_rejected(provider: Any) -> None:
    with pytest.raises(ProviderFormatError, match="expected"):
        parse_response({"embedding": [0.1]}, provider=provider)
