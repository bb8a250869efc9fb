"""The proxy as an ASGI application."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar, cast

import anyio
import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from outspoken.providers.export.sse import sse_end, sse_event

from .headers import to_client, to_upstream
from .http_errors import Refusal
from .rewriter import ChatStream, Telling
from .settings import ServeSettings
from .upstream import Deadline, Upstream

_T = TypeVar("_T")


class Proxy:
    """Serves chat completions of an upstream, with what stands in their text taken out of it."""

    def __init__(self, settings: ServeSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.settings = settings
        self._transport = transport
        self.upstream: Upstream | None = None
        #: how many completions are being served
        self.active = 0

    def app(self) -> Starlette:
        """The application. Its connections to the upstream live as long as it does."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/models", self.models, methods=["GET"]),
                Route("/health", self.health, methods=["GET"]),
            ],
            exception_handlers={Refusal: _refused, HTTPException: _not_served, ClientDisconnect: _gone},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None, None]:
        self.upstream = Upstream(self.settings, self._transport)
        try:
            yield
        finally:
            await self.upstream.close()

    async def health(self, request: Request) -> Response:
        """That the proxy runs, and how many completions it serves. The upstream is not asked."""
        return JSONResponse({"status": "ok", "active": self.active})

    async def models(self, request: Request) -> Response:
        """The upstream's models, as it lists them."""
        query = f"?{request.url.query}" if request.url.query else ""
        return await self._passed(request, "GET", f"/models{query}", None, Deadline(self.settings.read_timeout))

    async def chat(self, request: Request) -> Response:
        """A chat completion, whole or as a stream."""
        if self.active >= self.settings.max_concurrent:
            raise Refusal(503, "too many requests are being served; come again", "overloaded")
        self.active += 1
        handed_on = False
        try:
            body = await self._body(request)
            asked = _asked(body)
            telling, deadline = Telling(self.settings, asked), Deadline(self.settings.total_timeout)
            if asked.get("stream") is True:
                handed_on = True
                return _Streamed(self, request, body, telling, deadline)
            return await _while_there(request.receive, lambda: self._whole(request, body, telling, deadline))
        finally:
            self.active -= not handed_on

    async def _body(self, request: Request) -> bytes:
        """The body of a request, as far as it may go."""
        found = bytearray()
        async for piece in request.stream():
            found += piece
            if len(found) > self.settings.max_body:
                raise Refusal(413, f"the request is over {self.settings.max_body:,} bytes", "request_too_large")
        return bytes(found)

    async def _whole(self, request: Request, body: bytes, telling: Telling, deadline: Deadline) -> Response:
        return await self._passed(request, "POST", "/chat/completions", body, deadline, telling)

    async def _passed(
        self,
        request: Request,
        method: str,
        path: str,
        body: bytes | None,
        deadline: Deadline,
        telling: Telling | None = None,
    ) -> Response:
        """The upstream's answer; a completion that is one is told anew."""
        upstream = cast("Upstream", self.upstream)
        async with upstream.ask(method, path, to_upstream(request.headers.raw), deadline, body) as response:
            content = await upstream.body(response, deadline)
        kind: bytes | None = None
        if telling is not None and response.is_success:
            content, kind = _told(content, telling), b"application/json"
        return _answer(response, content, kind)


class _Streamed(Response):
    """A stream of chunks: each is sent as soon as it is there, and none is read before the last one was taken."""

    def __init__(self, proxy: Proxy, request: Request, body: bytes, telling: Telling, deadline: Deadline) -> None:
        super().__init__()
        self._proxy, self._request = proxy, request
        self._sent, self._telling, self._deadline = body, telling, deadline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it, unless the client goes away."""
        try:
            await _while_there(receive, lambda: self._serve(scope, receive, send))
        except ClientDisconnect:
            pass
        finally:
            self._proxy.active -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        upstream = cast("Upstream", self._proxy.upstream)
        headers = to_upstream(self._request.headers.raw)
        try:
            asking = upstream.ask("POST", "/chat/completions", headers, self._deadline, self._sent)
            async with asking as response:
                if not response.is_success:
                    content = await upstream.body(response, self._deadline)
                    await _answer(response, content)(scope, receive, send)
                    return
                start = to_client(response.headers.raw, b"text/event-stream; charset=utf-8")
                await send({"type": "http.response.start", "status": response.status_code, "headers": start})
                async with aclosing(self._events(upstream, response)) as events:
                    async for event in events:
                        await send({"type": "http.response.body", "body": event, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Refusal as refusal:
            await JSONResponse(refusal.body, refusal.status)(scope, receive, send)

    async def _events(self, upstream: Upstream, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """The stream's bytes. What goes wrong in it is said in it, and ends it."""
        told = ChatStream(self._telling)
        try:
            async with aclosing(upstream.pieces(response, self._deadline)) as pieces:
                async for piece in pieces:
                    if sent := b"".join([sse_event(part, "openai") for part in told.feed(piece)]):
                        yield sent
                    if told.failed:
                        break
            last = told.close()
        except Refusal as refusal:
            last = told.leave(refusal)
        yield b"".join([sse_event(part, "openai") for part in last]) + sse_end("openai")


def _asked(body: bytes) -> dict[str, Any]:
    """What a request asks for. Raises Refusal."""
    try:
        asked: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "the request is not JSON", "invalid_json") from None
    if not isinstance(asked, dict):
        raise Refusal(400, "the request is not a JSON object", "invalid_json")
    return cast("dict[str, Any]", asked)


def _told(content: bytes, telling: Telling) -> bytes:
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise Refusal(502, "the upstream's answer is not JSON", "bad_upstream_response") from None
    if not isinstance(body, dict):
        raise Refusal(502, "the upstream's answer is not a JSON object", "bad_upstream_response")
    return json.dumps(telling.whole(cast("dict[str, Any]", body)), ensure_ascii=False).encode()


def _answer(response: httpx.Response, content: bytes, kind: bytes | None = None) -> Response:
    answer = Response(content, response.status_code)
    length = [(name, value) for name, value in answer.raw_headers if name == b"content-length"]
    answer.raw_headers = to_client(response.headers.raw, kind) + length
    return answer


async def _while_there(receive: Receive, work: Callable[[], Awaitable[_T]]) -> _T:
    """Do something as long as the client is there. Raises ClientDisconnect where it goes away before that is done."""
    done: list[_T] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        try:
            done.append(await work())
        except Exception as error:  # it would come out of the group as a group of errors
            failed.append(error)
        group.cancel_scope.cancel()
    if failed:
        raise failed[0]
    if not done:
        raise ClientDisconnect
    return done[0]


async def _refused(request: Request, error: Exception) -> Response:
    refusal = cast("Refusal", error)
    headers = {"retry-after": "1"} if refusal.status == 503 else None
    return JSONResponse(refusal.body, refusal.status, headers)


async def _not_served(request: Request, error: Exception) -> Response:
    status = cast("HTTPException", error).status_code
    served = "POST /v1/chat/completions, GET /v1/models and GET /health are"
    return JSONResponse(Refusal(status, f"this is not served; {served}", "not_served").body, status)


async def _gone(request: Request, error: Exception) -> Response:
    """The client went away: nobody reads this."""
    return Response(status_code=499)
