"""Streams of an upstream, told anew without any network: wherever they are split, and whatever is in them."""

import json
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.serving.apis.chat import CompletionRewriter
from outspoken.serving.http_errors import HttpError
from outspoken.serving.settings import ServerSettings
from tests.loops import some
from tests.serving.serving import OFFERED, chunk, completion, event, written

TEXT = """<think>Hm.</think>Über Moose.
<tool_call>
{"name": "find", "arguments": {"title": "Das \\"Moos\\""}}
</tool_call>"""
BODY = b"".join(written(TEXT, 40))


def rewriter(**settings: Any) -> CompletionRewriter:
    given: dict[str, Any] = {"upstream": "http://upstream", "format": "hermes", **settings}
    return CompletionRewriter(ServerSettings(**given), {"tools": OFFERED})


def joined(parts: list[Any]) -> tuple[Any, ...]:
    """What a client makes of chunks: its strings, and why it ends."""
    content = reasoning = name = arguments = ""
    reasons: list[str] = []
    for part in parts:
        for choice in part["choices"]:
            delta = choice["delta"]
            content += delta.get("content") or ""
            reasoning += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls", []):
                name += call["function"].get("name", "")
                arguments += call["function"].get("arguments", "")
            reasons += [choice["finish_reason"]] if choice["finish_reason"] else []
    return content, reasoning, name, arguments, reasons


WHOLE = ("Über Moose.", "Hm.", "find", '{"title": "Das \\"Moos\\""}', ["tool_calls"])


def test_split_at_every_byte() -> None:
    for place in some(range(len(BODY)), "split", 0.34):
        stream = rewriter()
        assert joined(stream.feed(BODY[:place]) + stream.feed(BODY[place:]) + stream.close()) == WHOLE


def test_byte_by_byte() -> None:
    stream = rewriter()
    parts = [part for place in range(len(BODY)) for part in stream.feed(BODY[place : place + 1])]
    assert joined(parts + stream.close()) == WHOLE


def test_stream_cut_at_any_byte_is_never_complete() -> None:
    """Unless all was said but the `[DONE]`."""
    ends = BODY.index(b'"finish_reason": "stop"') + len(b'"finish_reason": "stop"}]}')
    for place in some(range(ends), "cut", 0.34):
        stream = rewriter()
        parts = stream.feed(BODY[:place])
        try:
            parts += stream.close()
        except HttpError as error:
            parts += stream.abort(error)
            assert "error" in parts.pop()
        else:
            assert place >= ends - 1
            continue
        assert joined(parts)[-1] == []


def test_a_whole_completion_in_place_of_a_stream() -> None:
    stream = rewriter()
    parts = stream.feed(json.dumps(completion({"content": TEXT})).encode())
    assert joined(parts + stream.close()) == WHOLE


KEYS = ["choices", "delta", "message", "content", "tool_calls", "function", "index", "arguments", "name", "usage", "id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=4), st.booleans())
def test_any_chunk_is_rewritten_or_rejected(values: list[Any], begun: bool) -> None:
    stream = rewriter()
    body = event(chunk({"content": "A"})) * begun + b"".join([event(value) for value in values])
    try:
        parts = stream.feed(body) + stream.close()
    except HttpError as error:
        parts = [*stream.abort(error), {}]
    for part in parts:
        json.dumps(part)


@given(JSON)
def test_any_response_is_rewritten_or_rejected(value: Any) -> None:
    body = cast("dict[str, Any]", value) if isinstance(value, dict) else {"choices": value}
    with suppress(HttpError):
        json.dumps(rewriter().rewrite(body))


@pytest.mark.parametrize(
    "choices", [5, "a", {"a": 1}, [1], ["a"], [None], [{"index": "x"}], [{"delta": 3}], [{"index": []}]]
)
def test_invalid_choices(choices: Any) -> None:
    with pytest.raises(HttpError):
        rewriter().feed(event({"id": "x", "choices": choices}))
    with pytest.raises(HttpError):
        rewriter().rewrite({"choices": choices})
