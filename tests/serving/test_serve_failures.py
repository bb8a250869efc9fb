"""The proxy when the upstream or the client fails, or sends invalid data."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx
import openai
import pytest
from starlette.responses import JSONResponse, Response, StreamingResponse

from outspoken.providers.wire.parts import StreamCalls
from outspoken.serving.app import Proxy
from tests.providers.export_streams import in_both_ways
from tests.serving import serving
from tests.serving.serving import Server, asked_of, chunk, completion, event, proxied, streaming, until, whole, written

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": [1, 2'
#: The stream of an upstream that has not come to its end.
BEGUN = written(CALL)[:-2]
ASKED = asked_of("chat/completions")
PATHS = list(serving.OFFERED_TO)


def create(front: Server, path: str, asked: Any) -> Any:
    """What the client of an API returns for a request."""
    if path == "messages":
        messages: Any = anthropic.Anthropic(api_key="k", base_url=front.url, max_retries=0).messages
        return messages.create(**asked)
    known: Any = openai.OpenAI(api_key="k", base_url=f"{front.url}/v1", max_retries=0)
    return (known.responses if path == "responses" else known.chat.completions).create(**asked)


def check_nothing_left(front: Server, proxy: Proxy, upstream: serving.Upstream) -> None:
    """Neither a task nor a connection is left of what was served, but for one that may be used again."""
    behind, server = proxy.upstream, upstream.server
    assert behind
    assert server
    until(lambda: not proxy.active and not behind.open and server.connections <= 1)
    until(lambda: front.tasks() <= 5)  # the server's own, the one that counts, and idle connections


async def dying() -> AsyncIterator[bytes]:
    for piece in BEGUN:
        yield piece
    raise RuntimeError("the upstream dies")


async def silent() -> AsyncIterator[bytes]:
    for piece in BEGUN:
        yield piece
    await asyncio.sleep(30)


async def endless() -> AsyncIterator[bytes]:
    for piece in BEGUN:
        yield piece
    while True:
        yield b": still there\n\n"
        await asyncio.sleep(0.05)


OUT_OF_MEMORY = {"message": "out of memory", "type": "server_error", "code": 500, "more": [1]}
#: Streams that break off in a call: what follows `BEGUN`, or the stream; the settings; the error's code and words.
BROKEN: dict[str, tuple[Any, dict[str, Any], Any, str]] = {
    "it dies": (dying, {}, "upstream_cut_off", "broke off"),
    "it ends without saying so": ([], {}, "upstream_cut_off", "broke off"),
    "it dies, and the model might be asked again": (dying, {"ask_again": 1}, "upstream_cut_off", "broke off"),
    "it ends inside a chunk": ([b'data: {"id": "chatc'], {}, "upstream_cut_off", "broke off inside"),
    "it falls silent": (silent, {"read_timeout": 0.3}, "upstream_timeout", "nothing in time"),
    "it never ends": (endless, {"total_timeout": 0.8}, "upstream_timeout", "nothing in time"),
    "an error": ([event({"error": OUT_OF_MEMORY}), b"data: [DONE]\n\n"], {}, 500, "out of memory"),
    "no object": ([b"data: 7\n\n"], {}, "bad_upstream_response", "not an object"),
    "no JSON": ([b"data: {nonsense}\n\n"], {}, "bad_upstream_response", "not JSON"),
    "no events": ([b"<html>busy</html>\n"], {}, "bad_upstream_response", "html"),
    "no text": ([event(chunk({"content": 5}))], {}, "bad_upstream_response", "the number 5"),
    "too much": (written(CALL[-3:] + "7, " * 500), {"max_chars": 600}, "bad_upstream_response", "600"),
}


def check_broken(path: str, text: str, code: Any, words: str) -> None:
    """What came stands, nothing looks finished, and the error comes last. Chat completions pass its code on."""
    lines = [line for line in text.split("\n") if line.startswith("data: ")]
    assert (lines[-1] == "data: [DONE]") == (path == "chat/completions")
    found = [json.loads(line.removeprefix("data: ")) for line in lines if line != "data: [DONE]"]
    last = found[-1]
    if path == "chat/completions":
        deltas = [part["choices"][0]["delta"] for part in found[:-1]]
        assert not any(part["choices"][0]["finish_reason"] for part in found[:-1])
        assert last["error"] == OUT_OF_MEMORY if code == 500 else last["error"]["code"] == code
        error, extensions = last["error"], [delta["outspoken"] for delta in deltas if "outspoken" in delta]
    elif path == "responses":
        assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
        assert {item["type"] for item in last["response"]["output"]} <= {"message"}
        error, extensions = last["response"]["error"], [last["response"]["outspoken"]]
    else:
        assert (last["type"], "message_stop" in text) == ("error", False)
        error, extensions = last["error"], [last["outspoken"]]
    assert words in error["message"]
    (unfinished,) = [call for extension in extensions for call in extension.get("unfinished_tool_calls", ())]
    assert unfinished["arguments"].startswith('{"a": [1')
    assert any("problems" in extension for extension in extensions)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_that_breaks(name: str, path: str) -> None:
    rest, settings, code, words = BROKEN[name]
    pieces: Any = rest() if callable(rest) else [*BEGUN, *rest]
    asked = asked_of(path, stream=True)
    with proxied(streaming(pieces), **settings) as (front, proxy, upstream):
        found = httpx.post(f"{front.url}/v1/{path}", json=asked, timeout=20)
        assert (found.status_code, found.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        check_broken(path, found.text, code, words)
        if not callable(rest) and path != "responses":  # where the event says it
            with pytest.raises((openai.APIError, anthropic.APIError), match=words):
                list(create(front, path, asked))
        check_nothing_left(front, proxy, upstream)


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
            sent = httpx.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": True}).text
            lines = [line.removeprefix("data: ") for line in sent.split("\n") if line.startswith("data: {")]
            choices = [json.loads(line)["choices"][0] for line in lines]
            calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
            assert choices[-1]["finish_reason"] == "length", text
            assert bool(calls) == (stream_calls == "pieces")
            arguments = "".join([call["function"]["arguments"] for call in calls])
            with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
                json.loads(arguments)


@pytest.mark.parametrize("path", PATHS)
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

    with (
        proxied(streaming(held())) as (front, _, _),
        httpx.stream("POST", f"{front.url}/v1/{path}", json=asked_of(path, stream=True)) as found,
    ):
        assert found.headers["x-accel-buffering"] == "no"
        for line in found.iter_lines():
            if line == ": ping":
                pinged.set()
    assert pinged.is_set()


@pytest.mark.parametrize("stream", [False, True])
def test_upstream_error_passes_unchanged(stream: bool) -> None:
    body = {"error": {"message": "too fast", "type": "rate", "param": None, "code": "rate_limit_exceeded"}}
    with proxied(whole(body, 429, {"retry-after": "7"})) as (front, proxy, upstream):
        found = httpx.post(f"{front.url}/v1/chat/completions", json={**ASKED, "stream": stream})
        assert (found.status_code, found.json(), found.headers["retry-after"]) == (429, body, "7")
        with pytest.raises(openai.RateLimitError, match="too fast"):
            create(front, "chat/completions", {**ASKED, "stream": stream})
        check_nothing_left(front, proxy, upstream)


@pytest.mark.parametrize("stream", [False, True])
def test_unreachable_upstream(stream: bool) -> None:
    with proxied(whole({}), upstream=f"http://127.0.0.1:{serving.free_port()}") as (front, _, _):
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


@pytest.mark.parametrize("error", [{"error": OUT_OF_MEMORY}, {"choices": [{"error": OUT_OF_MEMORY}]}], ids=str)
def test_calls_of_an_answer_that_failed_are_left_out(error: dict[str, Any]) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "mosses"'}}
    answer = completion({"content": "Let me see.", "tool_calls": [call]})
    answer["choices"][0] |= error.get("choices", [{}])[0]
    if "error" in error:
        answer |= error
    with proxied(whole(answer)) as (front, _, _):
        body = httpx.post(f"{front.url}/v1/chat/completions", json=ASKED).json()
        assert body["choices"][0]["message"] == {"role": "assistant", "content": "Let me see."}
        assert OUT_OF_MEMORY in (body.get("error"), body["choices"][0].get("error"))


@pytest.mark.parametrize("path", PATHS)
def test_limits(path: str) -> None:
    answer = whole(completion({"content": "mosses " * 500}))
    with proxied(answer, max_body=2000, max_chars=600) as (front, proxy, upstream):
        with pytest.raises((openai.InternalServerError, anthropic.InternalServerError), match="over 2,400 bytes"):
            create(front, path, asked_of(path))
        check_nothing_left(front, proxy, upstream)
        for asked, status, word in ({"user": "x" * 3000}, 413, "request_too_large"), ({}, 503, "overloaded"):
            found = httpx.post(f"{front.url}/v1/{path}", json=asked_of(path, **asked))
            told = found.json()["error"]
            assert (found.status_code, word in (told.get("code") or told["type"])) == (status, True)
            assert found.headers.get("retry-after") == ("1" if status == 503 else None)
            proxy.active += proxy.settings.max_concurrent


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
