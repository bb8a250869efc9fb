"""Many streams at once through the proxy, in its three APIs: nothing is lost, changed, mixed up, or left afterwards."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
from starlette.responses import Response, StreamingResponse

from tests.serving.serving import OFFERED_TO, asked_of, chunk, event, proxied, until

STREAMS, ROUNDS = 33, 2


def text_of(identity: str) -> str:
    """What the upstream writes: text, and two calls, all with its identity."""
    words = " ".join([f"w{identity}.{number}" for number in range(20)])
    calls = [{"name": f"f{number}", "arguments": {"of": identity, "n": number}} for number in range(2)]
    return f"<think>No. {identity}</think>{words}" + "".join(
        [f"\n<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls]
    )


async def answer(asked: dict[str, Any]) -> Response:
    """The text of the identity in the question, in pieces; every seventh stream fails before its last call ends."""
    found = re.search(r"stream-(\d+-\d+)", json.dumps(asked))
    assert found
    text = text_of(found[1])
    is_failing = int(found[1].partition("-")[0]) % 7 == 6

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(text) - 30 * is_failing, 9):
            yield event(chunk({"content": text[start : start + 9]}))
            await asyncio.sleep(0.001)
        yield event({"error": {"message": "it failed"}}) if is_failing else event(chunk({}, "stop"))
        yield b"data: [DONE]\n\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


def heard(data: Any) -> tuple[str, str]:
    """The text, behind its reasoning, and the arguments in an event of any of the APIs."""
    kind, delta = data.get("type"), data.get("delta")
    if kind in ("response.output_text.delta", "response.reasoning_text.delta"):
        return delta, ""
    if kind == "response.function_call_arguments.delta":
        return "", delta
    if kind == "content_block_delta":
        return delta.get("text", "") + delta.get("thinking", ""), delta.get("partial_json", "")
    said: Any = data["choices"][0].get("delta") if data.get("choices") else {}
    calls: list[Any] = said.get("tool_calls", [])
    text = (said.get("reasoning_content") or "") + (said.get("content") or "")
    return text, "".join([call["function"].get("arguments", "") for call in calls])


async def check_stream(client: httpx.AsyncClient, url: str, identity: str) -> None:
    """Read a stream and compare it with what was written; every eleventh client leaves in the middle."""
    number = int(identity.partition("-")[0])
    path = [*OFFERED_TO][number % 3]
    body = asked_of(path, question=f"stream-{identity}", stream=True)
    text, arguments, whole = "", "", ""
    async with client.stream("POST", f"{url}/v1/{path}", json=body) as response:
        assert response.status_code == 200
        async for line in response.aiter_lines():
            whole += line
            if line.startswith("data: {"):
                more = heard(json.loads(line[6:]))
                text, arguments = text + more[0], arguments + more[1]
            if number % 11 == 10 and len(text) > 40:
                break
    wanted = re.sub("</?think>", "", text_of(identity).partition("\n<tool_call>")[0])
    if number % 11 == 10:
        assert wanted.startswith(text.rstrip()), identity
        return
    is_failing = number % 7 == 6
    assert text.rstrip() == wanted, identity
    found = re.findall(r'"of": ?"([\d-]+)", ?"n": ?(\d)', arguments)
    assert found == [(identity, "0"), (identity, "1")][: 1 if is_failing else 2], identity
    assert ("it failed" in whole) == is_failing, identity


def test_many_streams_at_once() -> None:
    async def work(url: str) -> None:
        async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
            for turn in range(ROUNDS):
                await asyncio.gather(*[check_stream(client, url, f"{n}-{turn}") for n in range(STREAMS)])

    with proxied(answer) as (front, proxy, _):
        before = front.tasks()
        asyncio.run(work(front.url))
        until(lambda: not proxy.active and front.connections == 0)
        until(lambda: front.tasks() <= before)
