"""Requests and answers of an upstream with values of other kinds anywhere: an answer or a clear error, and no key."""

import copy
import json
import logging
from collections.abc import Iterator
from random import Random
from typing import Any, cast

import httpx
import pytest
from starlette.responses import Response

from tests.loops import SEED
from tests.serving.serving import OFFERED_TO, chunk, completion, event, proxied, streaming, whole
from tests.tables import tables

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
WHOLE = completion({"content": "Hi.", "reasoning_content": "Hm.", "tool_calls": [CALL]}, usage=USAGE)
CHUNKS = [
    chunk({"role": "assistant", "content": "Hi."}),
    chunk({"tool_calls": [{**CALL, "index": 0}]}),
    chunk({}, "stop"),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", REQUESTS)
def test_malformed_answers(path: str, stream: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "outspoken.serving")
    left = [*bodies(CHUNKS if stream else WHOLE, 20)]

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
