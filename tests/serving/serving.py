"""Servers of the tests, each on a port of this machine and in a thread of its own; an upstream that does as told."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from outspoken.serving.app import Proxy
from outspoken.serving.settings import ServerSettings


class _Promptly(uvicorn.Server):
    """A server that looks every hundredth of a second whether it should exit, not every tenth."""

    async def main_loop(self) -> None:
        counter = 0
        while not await self.on_tick(counter // 10):
            counter += 1
            await asyncio.sleep(0.01)


class Server:
    """An application that is being served."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(app, "127.0.0.1", 0, log_level="critical", ws="none", timeout_graceful_shutdown=1)
        self._server = _Promptly(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve()

    @property
    def port(self) -> int:
        """The port that it was given."""
        return self._server.servers[0].sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections to it are open."""
        return len(self._server.server_state.connections)

    def tasks(self) -> int:
        """How many tasks there are in it."""

        async def count() -> int:
            return len(asyncio.all_tasks())

        return self.run(count())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something in its thread."""
        assert self._loop
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(5)

    def __enter__(self) -> Server:
        self._thread.start()
        until(lambda: self._server.started)
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()


def until(true: Callable[[], bool], seconds: float = 10) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


#: Tools of the names that the texts of the tests call, as the APIs take them.
_NAMES = ("find", "get_weather", "tide", "wind", "a", "b", "f0", "f1")
OFFERED: Any = [{"type": "function", "function": {"name": name}} for name in _NAMES]
OFFERED_TO: Any = {
    "chat/completions": OFFERED,
    "responses": [{"type": "function", "name": name} for name in _NAMES],
    "messages": [{"name": name, "input_schema": {"type": "object"}} for name in _NAMES],
}


def asked_of(path: str, **more: Any) -> dict[str, Any]:
    """A request of an API, by its path, with a `question`."""
    question = more.pop("question", "?")
    asked = {"input": question} if path == "responses" else {"messages": [{"role": "user", "content": question}]}
    asked |= {"max_tokens": 99} if path == "messages" else {}
    return {"model": "m", "tools": OFFERED_TO[path], **asked, **more}


Answer = Callable[[dict[str, Any]], Awaitable[Response]]


class Upstream:
    """A server of chat completions whose answers a test gives."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.server: Server | None = None
        self.headers: dict[str, str] = {}
        self.asked: dict[str, Any] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[Route("/v1/chat/completions", self._chat, methods=["POST"]), Route("/v1/models", self._models)]
        )

    async def _chat(self, request: Request) -> Response:
        self.headers = dict(request.headers)
        self.asked = await request.json()
        return await self.answer(self.asked)

    async def _models(self, request: Request) -> Response:
        self.headers = dict(request.headers)
        return JSONResponse({"object": "list", "data": [{"id": "mosses-2", "q": request.url.query}]})


@contextmanager
def proxied(answer: Answer, **settings: Any) -> Generator[tuple[Server, Proxy, Upstream]]:
    """A proxy in front of an upstream."""
    upstream = Upstream(answer)
    with Server(upstream.app()) as behind:
        upstream.server = behind
        given: dict[str, Any] = {"upstream": behind.url, "format": "hermes", **settings}
        proxy = Proxy(ServerSettings(**given))
        with Server(proxy.app()) as front:
            yield front, proxy, upstream


def event(data: Any) -> bytes:
    """One server-sent event."""
    return f"data: {json.dumps(data)}\n\n".encode()


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    choice = {"index": index, "delta": delta, "finish_reason": finish, **more}
    return {
        "id": "chatcmpl-9",
        "object": "chat.completion.chunk",
        "created": 5,
        "model": "mosses-2",
        "choices": [choice],
    }


def written(text: str, size: int = 5, finish: str = "stop") -> list[bytes]:
    """A text as a server streams it that knows of nothing but text."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    chunks = [chunk({"role": "assistant", "content": ""}), *[chunk({"content": piece}) for piece in pieces]]
    return [event(part) for part in [*chunks, chunk({}, finish)]] + [b"data: [DONE]\n\n"]


def streaming(pieces: Iterable[bytes] | AsyncIterator[bytes], **more: Any) -> Answer:
    """An answer that is a stream."""

    async def answer(asked: dict[str, Any]) -> Response:
        return StreamingResponse(pieces if isinstance(pieces, AsyncIterator) else _each(pieces), **more)

    return answer


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
        await asyncio.sleep(0)


def completion(*messages: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A whole completion, with a choice for each message."""
    choices = [
        {"index": index, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": None}
        for index, message in enumerate(messages)
    ]
    frame = {"id": "chatcmpl-9", "object": "chat.completion", "created": 5, "model": "mosses-2"}
    return {**frame, "choices": choices, **more}


def answering(text: str, finish: str = "stop", *, size: int = 5, usage: Any = None) -> Answer:
    """A text whole or streamed, as the request says, with the usage if the request asks for it."""

    async def answer(asked: dict[str, Any]) -> Response:
        if asked.get("stream") is not True:
            more = {"usage": usage} if usage else {}
            return JSONResponse(completion({"content": text}, finish=finish, **more))
        pieces = written(text, size, finish)
        options: Any = asked.get("stream_options") or {}
        if usage and options.get("include_usage"):
            pieces.insert(-1, event({**chunk({}), "choices": [], "usage": usage}))
        return await streaming(pieces)(asked)

    return answer


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def is_open(port: int) -> bool:
    """Does somebody listen at a port of this machine?"""
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


def whole(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """An answer that comes at once."""

    async def answer(asked: dict[str, Any]) -> Response:
        return JSONResponse(body, status, headers)

    return answer
