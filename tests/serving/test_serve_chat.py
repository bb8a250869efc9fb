"""Streams, requests and answers, wherever split and whatever is in them: rewritten, or a clear error; no key."""

import copy
import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any, cast

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response

from outspoken.serving.apis.chat import CompletionRewriter
from outspoken.serving.http_errors import HttpError
from outspoken.serving.settings import ServerSettings
from tests.loops import SEED, some
from tests.serving.serving import OFFERED, OFFERED_TO, chunk, completion, event, proxied, streaming, whole, written
from tests.tables import tables

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


# requests and answers of an upstream with values of other kinds anywhere: an answer or a clear error, and no key


KEY = "sk-secret-4711"
HEADERS = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
REQUESTS: dict[str, dict[str, Any]] = tables(__file__)["REQUESTS"]
#: What is put in the place of a value.
ODD: list[Any] = [
    *(None, True, -1, 1e400, "", "x" * 300, "\ud800", "é\n\0"),
    *([], [[]], {}, {"type": "x"}, [None], [{"a": 1}]),
]
ANSWERED = {200, 400, 404, 413, 422}


def spoiled(value: Any, random: Random) -> Any:
    """A copy with one value replaced, left out or doubled, anywhere."""
    made = copy.deepcopy(value)
    places: list[tuple[Any, Any]] = []

    def visit(node: Any) -> None:
        items = [*cast("Any", node).items()] if isinstance(node, dict) else []
        items += [*enumerate(cast("Any", node))] if isinstance(node, list) else []
        for key, value in items:
            places.append((cast("Any", node), key))
            visit(value)

    visit(made)
    for _ in range(random.choice((1, 1, 2))):
        node, key = random.choice(places)
        if isinstance(node, dict) and key in node and random.random() < 0.2:
            del node[key]
        elif isinstance(node, dict) or key < len(node):
            node[key] = random.choice(ODD)
    return made


def bodies(value: Any, count: int) -> Iterator[bytes]:
    random = Random(SEED)
    for number in range(count):
        written = json.dumps(spoiled(value, random)).encode()
        yield written if number % 10 else written[: random.randrange(len(written))]


@pytest.mark.parametrize("path", REQUESTS)
def test_malformed_requests(path: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "outspoken.serving")
    answer = whole(completion({"content": '<tool_call>\n{"name": "tide", "arguments": {"a": }}\n</tool_call>'}))
    with proxied(answer, ask_again=1) as (front, _, _), httpx.Client(timeout=20, headers=HEADERS) as client:
        for body in bodies({"model": "m", "tools": OFFERED_TO[path], **REQUESTS[path]}, 30):
            found = client.post(f"{front.url}/v1/{path}", content=body)
            assert found.status_code in ANSWERED, (body, found.text)
            assert found.status_code == 200 or found.json()["error"]["message"]
            assert KEY not in found.text
        assert KEY not in client.get(f"{front.url}/metrics").text
    assert KEY not in caplog.text


USAGE = {"prompt_tokens": 1, "total_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 1}}
COMPLETION = completion({"content": "Hi.", "reasoning_content": "Hm.", "tool_calls": [CALL]}, usage=USAGE)
CHUNKS = [
    chunk({"role": "assistant", "content": "Hi."}),
    chunk({"tool_calls": [{**CALL, "index": 0}]}),
    chunk({}, "stop"),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", REQUESTS)
def test_malformed_answers(path: str, stream: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "outspoken.serving")
    left = [*bodies(CHUNKS if stream else COMPLETION, 20)]

    async def answer(asked: dict[str, Any]) -> Response:
        sent = left.pop()
        if not stream:
            return Response(sent, media_type="application/json")
        try:
            parts = json.loads(sent)
        except ValueError:
            return await streaming([b"data: " + sent])(asked)
        return await streaming([*map(event, parts), b"data: [DONE]\n\n"])(asked)

    body = {"model": "m", "tools": OFFERED_TO[path], "stream": stream, **REQUESTS[path]}
    with proxied(answer) as (front, _, _), httpx.Client(timeout=20, headers=HEADERS) as client:
        while left:
            sent = left[-1]
            found = client.post(f"{front.url}/v1/{path}", json=body)
            assert found.status_code in (200, 502), (sent, found.text)
            assert KEY not in found.text
            assert "internal_error" not in found.text, (sent, found.text)
    assert "defect of the proxy" not in caplog.text
