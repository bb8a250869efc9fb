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
from outspoken.results.arguments import check_type

from .constrain import ConstrainedRequest, constrain_request
from .http_errors import HttpError, bad_upstream_response
from .rewriter import CompletionRewriter, StreamRewriter
from .settings import ServerSettings
from .upstream import Deadline, Upstream, to_client, to_upstream

_T = TypeVar("_T")


class Proxy:
    """Serves the chat completions of an upstream, with the calls and the reasoning in their text as fields."""

    def __init__(self, settings: ServerSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.settings = check_type(settings, ServerSettings, "settings")
        self._transport = transport
        self.upstream: Upstream | None = None
        #: how many completions are being served now
        self.active = 0

    def app(self) -> Starlette:
        """Return the application. Its connections to the upstream are open from its start to its stop."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/models", self.models, methods=["GET"]),
                Route("/health", self.health, methods=["GET"]),
            ],
            exception_handlers={
                HttpError: _on_error,
                HTTPException: _on_unknown_route,
                ClientDisconnect: _on_disconnect,
            },
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
        """Report that the proxy runs, and how many completions it serves, without asking the upstream."""
        return JSONResponse({"status": "ok", "active": self.active})

    async def models(self, request: Request) -> Response:
        """Forward the upstream's list of models."""
        query = f"?{request.url.query}" if request.url.query else ""
        return await self._forward(request, "GET", f"/models{query}", None, Deadline(self.settings.read_timeout))

    async def chat(self, request: Request) -> Response:
        """Serve a chat completion, whole or as a stream."""
        if self.active >= self.settings.max_concurrent:
            raise HttpError(503, "too many requests are being served; try again", "overloaded")
        self.active += 1
        streams = False
        try:
            body = await self._read_body(request)
            options = _parse_request(body)
            rewriter, deadline = CompletionRewriter(self.settings, options), Deadline(self.settings.total_timeout)
            constrained = await anyio.to_thread.run_sync(constrain_request, self.settings, body, options)
            if options.get("stream") is True:
                streams = True  # the response counts as active until it has been sent
                return _StreamResponse(self, request, constrained, rewriter, deadline)
            answer = await _while_connected(
                request.receive,
                lambda: self._forward(request, "POST", "/chat/completions", constrained.body, deadline, rewriter),
            )
            answer.raw_headers += constrained.headers
            return answer
        finally:
            self.active -= not streams

    async def _read_body(self, request: Request) -> bytes:
        """Read the body of a request. Raises HttpError if it is too large."""
        found = bytearray()
        async for piece in request.stream():
            found += piece
            if len(found) > self.settings.max_body:
                raise HttpError(413, f"the request is over {self.settings.max_body:,} bytes", "request_too_large")
        return bytes(found)

    async def _forward(
        self,
        request: Request,
        method: str,
        path: str,
        body: bytes | None,
        deadline: Deadline,
        rewriter: CompletionRewriter | None = None,
    ) -> Response:
        """Forward a request and return the upstream's answer; with a `rewriter`, a successful answer is rewritten."""
        upstream = cast("Upstream", self.upstream)
        async with upstream.request(method, path, to_upstream(request.headers.raw), deadline, body) as response:
            content = await upstream.body(response, deadline)
        content_type: bytes | None = None
        if rewriter is not None and response.is_success:
            content, content_type = _rewrite(content, rewriter), b"application/json"
        return _to_response(response, content, content_type)


class _StreamResponse(Response):
    """A stream of chunks. Each is sent at once, and the next is read when the client has taken it."""

    def __init__(
        self,
        proxy: Proxy,
        request: Request,
        constrained: ConstrainedRequest,
        rewriter: CompletionRewriter,
        deadline: Deadline,
    ) -> None:
        super().__init__()
        self._proxy, self._request = proxy, request
        self._constrained, self._rewriter, self._deadline = constrained, rewriter, deadline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; stop if the client disconnects."""
        try:
            await _while_connected(receive, lambda: self._serve(scope, receive, send))
        except ClientDisconnect:
            pass
        finally:
            self._proxy.active -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        upstream = cast("Upstream", self._proxy.upstream)
        headers = to_upstream(self._request.headers.raw)
        try:
            request = upstream.request("POST", "/chat/completions", headers, self._deadline, self._constrained.body)
            async with request as response:
                if not response.is_success:
                    content = await upstream.body(response, self._deadline)
                    failure = _to_response(response, content)
                    failure.raw_headers += self._constrained.headers
                    await failure(scope, receive, send)
                    return
                start = to_client(response.headers.raw, b"text/event-stream; charset=utf-8") + self._constrained.headers
                await send({"type": "http.response.start", "status": response.status_code, "headers": start})
                async with aclosing(self._events(upstream, response)) as events:
                    async for event in events:
                        await send({"type": "http.response.body", "body": event, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except HttpError as error:
            await JSONResponse(error.body, error.status)(scope, receive, send)

    async def _events(self, upstream: Upstream, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Return the bytes of the stream. An error is an event of the stream and ends it."""
        stream = StreamRewriter(self._rewriter)
        try:
            async with aclosing(upstream.pieces(response, self._deadline)) as pieces:
                async for piece in pieces:
                    if sent := b"".join([sse_event(part, "openai") for part in stream.feed(piece)]):
                        yield sent
                    if stream.failed:
                        break
            last = stream.close()
        except HttpError as error:
            last = stream.abort(error)
        yield b"".join([sse_event(part, "openai") for part in last]) + sse_end("openai")


def _parse_request(body: bytes) -> dict[str, Any]:
    """Parse the JSON of a request. Raises HttpError."""
    try:
        request: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise HttpError(400, "the request is not JSON", "invalid_json") from None
    if not isinstance(request, dict):
        raise HttpError(400, "the request is not a JSON object", "invalid_json")
    return cast("dict[str, Any]", request)


def _rewrite(content: bytes, rewriter: CompletionRewriter) -> bytes:
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise bad_upstream_response("answer is not JSON") from None
    if not isinstance(body, dict):
        raise bad_upstream_response("answer is not a JSON object")
    return json.dumps(rewriter.rewrite(cast("dict[str, Any]", body)), ensure_ascii=False).encode()


def _to_response(response: httpx.Response, content: bytes, content_type: bytes | None = None) -> Response:
    answer = Response(content, response.status_code)
    length = [(name, value) for name, value in answer.raw_headers if name == b"content-length"]
    answer.raw_headers = to_client(response.headers.raw, content_type) + length
    return answer


async def _while_connected(receive: Receive, work: Callable[[], Awaitable[_T]]) -> _T:
    """Await some work; cancel it and raise ClientDisconnect if the client disconnects first."""
    done: list[_T] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as group:

        async def watch_client() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch_client)
        try:
            done.append(await work())
        except Exception as error:  # the group would wrap it in an ExceptionGroup
            failed.append(error)
        group.cancel_scope.cancel()
    if failed:
        raise failed[0]
    if not done:
        raise ClientDisconnect
    return done[0]


async def _on_error(request: Request, error: Exception) -> Response:
    failure = cast("HttpError", error)
    headers = {"retry-after": "1"} if failure.status == 503 else None
    return JSONResponse(failure.body, failure.status, headers)


async def _on_unknown_route(request: Request, error: Exception) -> Response:
    status = cast("HTTPException", error).status_code
    served = "POST /v1/chat/completions, GET /v1/models and GET /health are"
    return JSONResponse(HttpError(status, f"this is not served; {served}", "not_served").body, status)


async def _on_disconnect(request: Request, error: Exception) -> Response:
    """Return a response that nobody reads."""
    return Response(status_code=499)
