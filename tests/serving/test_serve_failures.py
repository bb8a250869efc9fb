"""The proxy when the upstream or the client fails, or sends invalid data."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest
from starlette.responses import JSONResponse, Response, StreamingResponse

from outspoken.providers.export.parts import StreamCalls
from outspoken.serving.app import Proxy
from tests.providers.export_streams import in_both_ways
from tests.serving.serving import (
    OFFERED,
    OFFERED_TO,
    Server,
    Upstream,
    chunk,
    completion,
    event,
    proxied,
    streaming,
    until,
    whole,
    written,
)

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": [1, 2'
ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": OFFERED}


def client(front: Server) -> Any:
    return openai.OpenAI(api_key="k", base_url=f"{front.url}/v1", max_retries=0)


def parts(front: Server) -> list[Any]:
    """The objects of a stream, and the `[DONE]` at its end."""
    found = httpx.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": True}, timeout=20)
    assert (found.status_code, found.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    lines = [line.removeprefix("data: ") for line in found.text.split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def check_broken(found: list[Any], code: str) -> None:
    """What came stands, nothing looks finished, and the error comes last."""
    assert found[-1]["error"]["code"] == code
    said = [part["choices"][0] for part in found[:-1]]
    assert not any(choice["finish_reason"] for choice in said)
    beyond = [choice["delta"]["outspoken"] for choice in said if "outspoken" in choice["delta"]]
    (unfinished,) = [items for extension in beyond for items in extension.get("unfinished_tool_calls", ())]
    assert unfinished["arguments"].startswith('{"a": [1')


def check_nothing_left(front: Server, proxy: Proxy, upstream: Upstream) -> None:
    """Neither a task nor a connection is left of what was served, but for one that may be used again."""
    behind, server = proxy.upstream, upstream.server
    assert behind
    assert server
    until(lambda: not proxy.active and not behind.open and server.connections <= 1)
    until(lambda: front.tasks() <= 5)  # the server's own, the one that counts, and idle connections


async def _breaking(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    raise RuntimeError("the upstream dies")


@in_both_ways
def test_an_incomplete_call_is_never_json(stream_calls: StreamCalls) -> None:
    """Clients that overlook the finish reason cannot run it."""
    texts = [
        '<tool_call>\n{"name": "f", "arguments": {"a": 1 2}}\n</tool_call>',
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}',
        '<tool_call>\n{"name": "f", "arguments": {',
        '<tool_call>\n{"name": "f", "arguments": {}',
    ]
    with proxied(streaming([]), stream_calls=stream_calls) as (front, _, upstream):
        for text in texts:
            upstream.answer = streaming(written(text, finish="length"))
            choices = [part["choices"][0] for part in parts(front)]
            calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
            assert choices[-1]["finish_reason"] == "length", text
            assert bool(calls) == (stream_calls == "pieces")
            arguments = "".join([call["function"]["arguments"] for call in calls])
            with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
                json.loads(arguments)


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
def test_connections_are_kept_open_while_nothing_is_sent(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outspoken.serving.exchange.PING_SECONDS", 0.01)
    pinged = threading.Event()

    async def held() -> AsyncIterator[bytes]:
        *first, last = written(CALL)
        for piece in first:
            yield piece
        while not pinged.is_set():
            await asyncio.sleep(0.01)
        yield last

    asked: Any = {"model": "m", "input": "?"} if path == "responses" else {**ASKED, "max_tokens": 9}
    asked["tools"] = OFFERED_TO[path]
    with (
        proxied(streaming(held())) as (front, _, _),
        httpx.stream("POST", f"{front.url}/v1/{path}", json={**asked, "stream": True}) as found,
    ):
        assert found.headers["x-accel-buffering"] == "no"
        for line in found.iter_lines():
            if line == ": ping":
                pinged.set()
    assert pinged.is_set()


def test_upstream_dies_in_a_call() -> None:
    async def answer(asked: dict[str, Any]) -> Response:
        return StreamingResponse(_breaking(written(CALL)[:-2]))

    with proxied(answer) as (front, proxy, upstream):
        check_broken(parts(front), "upstream_cut_off")
        with client(front) as found, pytest.raises(openai.APIError, match="broke off"):
            list(found.chat.completions.create(**ASKED, stream=True))
        check_nothing_left(front, proxy, upstream)


def test_upstream_ends_without_saying_so() -> None:
    with proxied(streaming(written(CALL)[:-2])) as (front, _, _):
        check_broken(parts(front), "upstream_cut_off")


def test_upstream_ends_inside_a_chunk() -> None:
    with proxied(streaming([*written(CALL)[:-2], b'data: {"id": "chatc'])) as (front, _, _):
        check_broken(parts(front), "upstream_cut_off")


def test_upstream_falls_silent() -> None:
    async def answer(asked: dict[str, Any]) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for piece in written(CALL)[:-2]:
                yield piece
            await asyncio.sleep(30)

        return StreamingResponse(pieces())

    with proxied(answer, read_timeout=0.3) as (front, proxy, upstream):
        check_broken(parts(front), "upstream_timeout")
        check_nothing_left(front, proxy, upstream)


def test_upstream_never_ends() -> None:
    async def answer(asked: dict[str, Any]) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for piece in written(CALL)[:-2]:
                yield piece
            while True:
                yield b": still there\n\n"
                await asyncio.sleep(0.05)

        return StreamingResponse(pieces())

    with proxied(answer, total_timeout=0.8) as (front, proxy, upstream):
        check_broken(parts(front), "upstream_timeout")
        check_nothing_left(front, proxy, upstream)


def test_error_of_the_upstream_in_the_stream() -> None:
    error = {"message": "out of memory", "type": "server_error", "code": 500, "more": [1]}
    with proxied(streaming([*written(CALL)[:-2], event({"error": error}), b"data: [DONE]\n\n"])) as (front, _, _):
        found = parts(front)
        assert found[-1] == {"error": error}
        with client(front) as known, pytest.raises(openai.APIError, match="out of memory"):
            list(known.chat.completions.create(**ASKED, stream=True))


@pytest.mark.parametrize(
    ("piece", "code"),
    [
        (b"data: 7\n\n", "bad_upstream_response"),
        (b"data: {nonsense}\n\n", "bad_upstream_response"),
        (b"<html>busy</html>\n", "bad_upstream_response"),
        (event({"choices": [{"index": 0, "delta": {"content": 5}}]}), "bad_upstream_response"),
    ],
)
def test_invalid_stream(piece: bytes, code: str) -> None:
    with proxied(streaming([*written(CALL)[:-2], piece])) as (front, _, _):
        check_broken(parts(front), code)


def test_response_over_the_limit() -> None:
    with proxied(streaming(written(CALL + "7, " * 500)), max_chars=600) as (front, _, upstream):
        check_broken(parts(front), "bad_upstream_response")
        upstream.answer = whole(completion({"content": "mosses " * 500}))
        found = httpx.post(f"{front.url}/v1/chat/completions", json=ASKED)
        assert (found.status_code, found.json()["error"]["code"]) == (502, "upstream_too_long")


@pytest.mark.parametrize("stream", [False, True])
def test_upstream_error_passes_unchanged(stream: bool) -> None:
    body = {"error": {"message": "too fast", "type": "rate", "param": None, "code": "rate_limit_exceeded"}}
    with proxied(whole(body, 429, {"retry-after": "7"})) as (front, proxy, upstream):
        found = httpx.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": stream})
        assert (found.status_code, found.json(), found.headers["retry-after"]) == (429, body, "7")
        with client(front) as known, pytest.raises(openai.RateLimitError, match="too fast"):
            known.chat.completions.create(**ASKED, stream=stream)
        check_nothing_left(front, proxy, upstream)


@pytest.mark.parametrize("stream", [False, True])
def test_unreachable_upstream(stream: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        free = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with proxied(whole({}), upstream=free) as (front, _, _):
        found = httpx.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": stream})
        error = found.json()["error"]
        assert (found.status_code, error["code"], error["type"]) == (502, "upstream_unreachable", "upstream_error")
        assert httpx.get(f"{front.url}/v1/models").status_code == 502


@pytest.mark.parametrize("stream", [False, True])
def test_upstream_timeout(stream: bool) -> None:
    released = asyncio.Event()

    async def answer(asked: dict[str, Any]) -> Response:
        await released.wait()
        return JSONResponse({})

    async def release() -> None:
        released.set()

    with proxied(answer, read_timeout=0.2) as (front, proxy, upstream):
        found = httpx.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": stream})
        assert (found.status_code, found.json()["error"]["code"]) == (504, "upstream_timeout")
        check_nothing_left(front, proxy, upstream)
        assert upstream.server
        upstream.server.run(release())  # the server waits for its answers when it shuts down


@pytest.mark.parametrize("answer", [Response(b"<html>"), JSONResponse([1]), JSONResponse({"choices": [{"index": 0}]})])
def test_invalid_response(answer: Response) -> None:
    async def give(asked: dict[str, Any]) -> Response:
        return answer

    with proxied(give) as (front, _, _):
        found = httpx.post(f"{front.url}/v1/chat/completions", json=ASKED)
        assert (found.status_code, found.json()["error"]["code"]) == (502, "bad_upstream_response")


@pytest.mark.parametrize(("sent", "status"), [(b"{", 400), (b"[]", 400), (b'{"a": "' + b"x" * 2000 + b'"}', 413)])
def test_invalid_request(sent: bytes, status: int) -> None:
    with proxied(whole({}), max_body=1000) as (front, proxy, _):
        found = httpx.post(f"{front.url}/v1/chat/completions", content=sent)
        assert (found.status_code, found.json()["error"]["type"]) == (status, "invalid_request_error")
        assert not proxy.active


class Endless:
    """An answer that goes on until somebody stops it."""

    def __init__(self, piece: bytes) -> None:
        self.piece = piece
        self.sent = 0
        self.stopped = False

    async def answer(self, asked: dict[str, Any]) -> Response:
        return StreamingResponse(self._pieces())

    async def _pieces(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield self.piece
                self.sent += 1
                await asyncio.sleep(0)
        finally:
            self.stopped = True


def _ask(front: Server) -> socket.socket:
    """A client that asks for a stream, and reads nothing of it by itself."""
    body = json.dumps({**ASKED, "stream": True}).encode()
    found = socket.create_connection(("127.0.0.1", front.port))
    found.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    return found


def test_client_disconnect_stops_the_upstream() -> None:
    endless = Endless(event(chunk({"content": "mosses "})))
    with proxied(endless.answer) as (front, proxy, upstream):
        asking = _ask(front)
        until(lambda: endless.sent > 3)
        asking.close()
        until(lambda: endless.stopped)
        check_nothing_left(front, proxy, upstream)


@pytest.mark.parametrize("stream", [False, True])
def test_client_disconnect_before_the_first_chunk(stream: bool) -> None:
    state = {"begun": False, "stopped": False}

    async def answer(asked: dict[str, Any]) -> Response:
        state["begun"] = True

        async def pieces() -> AsyncIterator[bytes]:
            try:
                yield event(chunk({"content": "a"}))
                await asyncio.sleep(30)
            finally:
                state["stopped"] = True

        return StreamingResponse(pieces())

    with proxied(answer) as (front, proxy, upstream):
        with httpx.Client(timeout=0.5) as known, pytest.raises(httpx.ReadTimeout):
            known.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": stream})
        assert state["begun"]
        until(lambda: state["stopped"])
        check_nothing_left(front, proxy, upstream)


def test_slow_client_slows_the_upstream() -> None:
    """What nobody reads is not asked for: all buffers on the way together stay small."""
    endless = Endless(event(chunk({"content": "mosses and ferns " * 500})))
    with proxied(endless.answer) as (front, proxy, upstream):
        with _ask(front) as asking:
            until(lambda: endless.sent > 5)
            sent = -1
            while sent != endless.sent:
                sent = endless.sent
                time.sleep(0.5)
            assert sent * len(endless.piece) < 30_000_000
            asking.recv(65_536)
        until(lambda: endless.stopped)
        check_nothing_left(front, proxy, upstream)


def test_too_many_at_once() -> None:
    endless = Endless(event(chunk({"content": "a"})))
    with proxied(endless.answer, max_concurrent=1) as (front, proxy, upstream):
        with _ask(front):
            until(lambda: endless.sent > 1)
            found = httpx.post(f"{front.url}/v1/chat/completions", json=ASKED)
            assert (found.status_code, found.headers["retry-after"]) == (503, "1")
            assert found.json()["error"]["code"] == "overloaded"
        until(lambda: not proxy.active)
        upstream.answer = whole(completion({"content": "Hi"}))
        assert httpx.post(f"{front.url}/v1/chat/completions", json=ASKED).status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (httpx.PoolTimeout("all are in use"), 503, "overloaded"),
        (httpx.ConnectTimeout("nobody answers"), 504, "upstream_timeout"),
    ],
)
def test_no_connection(error: Exception, status: int, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def send(self: Any, message: Any, **options: Any) -> Any:
        raise error

    with proxied(whole({})) as (front, _, _):
        monkeypatch.setattr(httpx.AsyncClient, "send", send)
        found = httpx.post(f"{front.url}/v1/chat/completions", json=ASKED)
        assert (found.status_code, found.json()["error"]["code"]) == (status, code)
