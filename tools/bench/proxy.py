"""What the proxy costs: how much later each chunk of a stream arrives through it than straight from the upstream.

An upstream of this module writes one stream per request, a piece every few milliseconds, and each piece says when it
was sent. The same streams are read straight from the upstream and through the proxy, by turns in one run, from one
client and from many at once; upstream and proxy are processes of their own. The latency of a chunk is the time from
when the upstream sends a piece to when the client has the text of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from statistics import median
from typing import Any, NamedTuple

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

#: how many pieces a stream has, and how many seconds lie between two
PIECES, PAUSE = 40, 0.05
FORMAT = "hermes"
#: the paths of the APIs
APIS = {"chat_completions": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


class Figures(NamedTuple):
    """Latencies of chunks, in milliseconds."""

    median: float
    p99: float


def _chunk(content: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def _chat(request: Request) -> Response:
    async def pieces() -> AsyncGenerator[bytes, None]:
        await asyncio.sleep(random.random() * PAUSE)  # no two streams keep step
        for _ in range(PIECES):
            yield _chunk(f"{time.monotonic():.6f} ")  # the clock is the same for all processes
            await asyncio.sleep(PAUSE)
        yield _chunk("", "stop") + b"data: [DONE]\n\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


def upstream(port: int) -> None:
    """Serve the streams."""
    app = Starlette(routes=[Route("/v1/chat/completions", _chat, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical", ws="none")


def _text(event: Any) -> str:
    """The text in an event of any of the APIs."""
    delta: Any = event["choices"][0]["delta"] if event.get("choices") else event.get("delta") or {}
    if event.get("type") == "response.output_text.delta":
        return delta
    if event.get("type") not in (None, "content_block_delta"):
        return ""
    return delta.get("content") or delta.get("text") or ""


async def _read(client: httpx.AsyncClient, url: str, api: str) -> list[float]:
    """The latencies of one stream."""
    found: list[float] = []
    body = {"model": "m", "stream": True, "max_tokens": 1000, "messages": [{"role": "user", "content": "?"}]}
    if api == "responses":
        body = {"model": "m", "stream": True, "input": "?"}
    async with client.stream("POST", f"{url}{APIS[api]}", json=body) as response:
        async for line in response.aiter_lines():
            now = time.monotonic()
            if line.startswith("data: {"):
                found += [now - float(word) for word in _text(json.loads(line[6:])).split()]
    return found


async def _measure(url: str, streams: int, api: str) -> list[float]:
    """The latencies of all chunks, where each has come."""
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
        await _read(client, url, api)  # the format is made ready
        found: list[float] = []
        for latencies in await asyncio.gather(*[_read(client, url, api) for _ in range(streams)]):
            if len(latencies) != PIECES:
                raise SystemExit(f"{PIECES - len(latencies)} chunks were lost")
            found += latencies
    return found


def figures(latencies: list[float]) -> Figures:
    """The median and the 99th percentile, in milliseconds."""
    ordered = sorted(latencies)
    return Figures(median(ordered) * 1000, ordered[int(len(ordered) * 0.99)] * 1000)


def _free() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _wait(port: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("a server did not start")


def run(counts: list[int], rounds: int, apis: list[str]) -> None:
    """Measure, and print a line for each number of streams at once and each API. Rounds take turns, as load changes."""
    behind, front = _free(), _free()
    straight, through = f"http://127.0.0.1:{behind}", f"http://127.0.0.1:{front}"
    proxy = [sys.executable, "-m", "outspoken", "serve", "--upstream", straight, "--format", FORMAT]
    commands = [
        [sys.executable, "-m", "tools.bench.proxy", "--upstream", str(behind)],
        [*proxy, "--port", str(front), "--no-log-requests"],
    ]
    servers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
    try:
        _wait(behind)
        _wait(front)
        print(f"{'streams':7} {'API':16}  straight: median     p99  through: median     p99  added: median     p99")
        for count, api in [(count, api) for count in counts for api in apis]:
            pairs: tuple[list[float], list[float]] = ([], [])
            for _ in range(rounds):
                pairs[0].extend(asyncio.run(_measure(straight, count, "chat_completions")))
                pairs[1].extend(asyncio.run(_measure(through, count, api)))
            alone, proxied = figures(pairs[0]), figures(pairs[1])
            added = Figures(proxied.median - alone.median, proxied.p99 - alone.p99)
            shown = "".join([f"{f.median:13.2f} ms {f.p99:4.1f} ms" for f in (alone, proxied, added)])
            print(f"{count:7} {api:16} {shown}", flush=True)
    finally:
        for server in servers:
            server.terminate()
            server.wait(10)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="How much later chunks arrive through the proxy.")
    parser.add_argument("streams", nargs="*", type=int, default=[1, 20, 50], help="streams at once; default: 1 20 50")
    parser.add_argument("--api", choices=list(APIS), help="only this API; default: all three")
    parser.add_argument("--rounds", type=int, default=2, help="default: 2")
    parser.add_argument("--upstream", type=int, metavar="PORT", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.upstream:
        upstream(given.upstream)
    else:
        run(given.streams, given.rounds, [given.api] if given.api else list(APIS))


if __name__ == "__main__":
    main()
