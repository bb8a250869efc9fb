"""One request and its response: what is forwarded, rewritten, counted and logged."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar, cast

import anyio
import anyio.lowlevel
import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from outspoken.providers.wire.parts import Part
from outspoken.providers.wire.writing import sse_end, sse_event

from .apis.base import Api, ApiRequest
from .constrain import constrain_request
from .http_errors import HttpError, bad_upstream_response, parse_object, write_object
from .metrics import Metrics
from .rewriter import OnReply, Rewriter
from .settings import ServerSettings
from .upstream import (
    Headers,
    Upstream,
    find_request_id,
    make_request_id,
    to_client,
    to_upstream,
    with_request_id,
)

_T = TypeVar("_T")
_LOG = logging.getLogger("outspoken.serving")
#: The status in metrics and logs if the client disconnects before the response begins.
CLIENT_GONE = 499
#: So many seconds pass between two comments in a stream, which keep connections open while a call is held.
PING_SECONDS = 15.0
#: After so many pieces of a stream at most, others have their turn, even if more pieces have arrived already.
_TURN = 8


class Shared(Protocol):
    """What all exchanges of a proxy share; `active` counts those that are being served."""

    settings: ServerSettings
    upstream: Upstream | None
    metrics: Metrics | None
    active: int


class Exchange:
    """Serves one request of an API: an ASGI application that reads the request and sends the response.

    Each event of a stream is sent at once, and the next is read when the client has taken it.
    """

    def __init__(self, proxy: Shared, api: Api, request: Request) -> None:
        self._proxy, self._api, self._request, self._settings = proxy, api, request, proxy.settings
        self._upstream = cast("Upstream", proxy.upstream)
        self._count: Callable[..., None] = _ignore if proxy.metrics is None else proxy.metrics.add
        self._count_reply: OnReply = _ignore if proxy.metrics is None else proxy.metrics.reply
        self._given_id = find_request_id(request.headers.raw)
        self._id = self._given_id or make_request_id()
        self._start = time.monotonic()
        self._status, self._outcome = CLIENT_GONE, "ok"
        #: the headers that say what was ignored and constrained
        self._notes: Headers = []
        #: sends to the client, once a stream has begun; an event is sent as a whole
        self._send: Send | None = None
        self._lock, self._is_first = asyncio.Lock(), True
        self._is_full = proxy.active >= self._settings.max_concurrent
        proxy.active += 1
        self._count("active_requests", api.name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the request and send the response; an error is one, too. Stop if the client disconnects."""
        response = None
        try:
            response = await self._respond(receive, send)
            self._status = self._status if response is None else response.status_code
        except ClientDisconnect:
            self._outcome = "client_disconnected"
            self._count("dropped_clients", self._api.name)
        finally:
            self._end()
        if response is not None:
            await response(scope, receive, send)

    async def _respond(self, receive: Receive, send: Send) -> Response | None:
        """Return a whole response or an error; None for a stream, which has been sent."""
        try:
            if self._is_full:
                raise HttpError(503, "too many requests are being served; try again", "overloaded")
            read = self._api.read(self._settings, await self._read_body(), self._count_reply)
            self._notes += read.headers()
            body, request = read.body, read.rewriter.request
            if self._settings.render_history:
                request = await anyio.to_thread.run_sync(read.rewriter.with_rendered_history)
                body = write_object(request)
            if self._settings.constrain is not None:
                body, told = await anyio.to_thread.run_sync(constrain_request, self._settings, body, request)
                self._notes += told
            return await while_running(lambda: self._watch(receive), lambda: self._serve(read, body, send))
        except HttpError as error:
            return self._error_response(error)
        except ClientDisconnect:
            raise
        except Exception:
            if self._send is not None:
                raise
            return self._error_response(self._internal_error())

    async def _read_body(self) -> bytes:
        """Read the body of the request. Raises HttpError if it is too large."""
        found = bytearray()
        limit = self._settings.max_body
        async for piece in self._request.stream():
            found += piece
            if len(found) > limit:
                raise HttpError(413, f"the request is over {limit:,} bytes", "request_too_large")
        return bytes(found)

    async def _watch(self, receive: Receive) -> None:
        """Return when the client disconnects. Until then, send comments in a stream."""
        while True:
            with anyio.move_on_after(PING_SECONDS):
                while (await receive())["type"] != "http.disconnect":
                    pass
                return
            if self._send is not None:
                await self._send_piece(b": ping\n\n")

    async def _serve(self, read: ApiRequest, body: bytes, send: Send) -> Response | None:
        """Do what `_respond` does, behind the request. Once a stream has begun, an error is an event that ends it."""
        rewriter = read.rewriter
        try:
            response = await self._ask(read, body, send)
            if response is not None:
                return response
            if rewriter.failed:
                self._failed("error_in_stream")
        except Exception as error:
            if self._send is None:
                raise
            told = error if isinstance(error, HttpError) else self._internal_error()
            self._failed(told.code, told.status)
            await self._send_parts(self._abort(rewriter, told))
        await self._send_piece(sse_end(self._api.wire), is_last=True)
        return None

    def _abort(self, rewriter: Rewriter, error: HttpError) -> list[Part]:
        """Return the last parts of a stream that breaks off; after a defect, they may be the error alone."""
        try:
            return rewriter.abort(error)
        except Exception:
            return [self._api.error_event(self._internal_error(), self._id)]

    async def _ask(self, read: ApiRequest, body: bytes, send: Send) -> Response | None:
        """Ask the upstream, and again if the rewriter says so."""
        rewriter, upstream = read.rewriter, self._upstream
        while True:
            headers = with_request_id(self._api.headers(to_upstream(self._request.headers.raw)), self._id)
            left = self._start + self._settings.total_timeout - time.monotonic()
            async with upstream.request("POST", "/chat/completions", headers, left, body) as response:
                if self._given_id is None:  # that of the upstream's log
                    self._id = self._given_id = find_request_id(response.headers.raw) or self._id
                if response.is_success and read.streams:
                    answer = await self._pass_on(response, rewriter, send)
                elif self._send is not None:
                    raise HttpError(502, f"the upstream answers with {response.status_code}", "upstream_error")
                else:
                    answer = self._answer(response, await upstream.body(response), rewriter)
            if rewriter.again is None:
                return answer
            request = parse_object(body)
            body = write_object({**request, "messages": [*request["messages"], *rewriter.begin_again()]})

    def _answer(self, response: httpx.Response, content: bytes, rewriter: Rewriter) -> Response:
        """Return the whole response of an upstream, or its error, in the shape of the API."""
        if response.is_success:
            body = parse_object(content, bad_upstream_response, "answer")
            written: bytes | None = write_object(rewriter.rewrite(body))
        else:
            self._failed(f"status_{response.status_code}")
            written = self._api.upstream_error(response.status_code, content, self._id)
        answer = Response(content if written is None else written, response.status_code)
        answer.raw_headers += self._headers(response, None if written is None else b"application/json")
        return answer

    async def _pass_on(self, response: httpx.Response, rewriter: Rewriter, send: Send) -> None:
        """Send the events of a stream, or of one more response that continues it."""
        if self._send is None:
            self._status = response.status_code
            headers = self._headers(response, b"text/event-stream; charset=utf-8")
            headers.append((b"x-accel-buffering", b"no"))  # nginx would hold events back
            await send({"type": "http.response.start", "status": self._status, "headers": headers})
            self._send = send
        count = 0
        raw = cast("httpx.AsyncByteStream", response.stream)  # each layer of httpx above it takes time for each piece
        async for piece in response.aiter_bytes() if "content-encoding" in response.headers else raw:
            await self._send_parts(rewriter.feed(piece))
            if rewriter.failed:
                break
            count += 1
            if count % _TURN == 0:
                await anyio.lowlevel.checkpoint()
        await self._send_parts(rewriter.close())

    async def _send_parts(self, parts: list[Part]) -> None:
        if parts and self._is_first:
            self._is_first = False
            self._count("first_piece_seconds", self._api.name, amount=time.monotonic() - self._start)
        if parts:
            await self._send_piece(b"".join([sse_event(part, self._api.wire) for part in parts]))

    async def _send_piece(self, piece: bytes, *, is_last: bool = False) -> None:
        async with self._lock:
            await cast("Send", self._send)({"type": "http.response.body", "body": piece, "more_body": not is_last})

    def _headers(self, response: httpx.Response, content_type: bytes | None) -> Headers:
        """Return the upstream's headers for the client, with those of the proxy."""
        headers = to_client(response.headers.raw, content_type) + self._notes
        return with_request_id(headers, self._id, *self._api.id_headers)

    def _error_response(self, error: HttpError) -> Response:
        """Return an error of the proxy in the shape of the API."""
        self._failed(error.code, error.status)
        body = write_object(self._api.error(error, self._id))
        answer = Response(body, error.status, {"retry-after": "1"} if error.status == 503 else None, "application/json")
        answer.raw_headers += with_request_id(list(self._notes), self._id, *self._api.id_headers)
        return answer

    def _internal_error(self) -> HttpError:
        """Log the exception that is being handled, a defect of the proxy, and return an error for the client."""
        _LOG.exception("request_id=%s fails because of a defect of the proxy", self._id)
        return HttpError(500, "the proxy failed; its log says why", "internal_error")

    # what is counted and logged

    def _failed(self, code: str, status: int = 502) -> None:
        """Note an error of the response, and count it if it is the upstream's."""
        self._outcome = code
        if status >= 500 and code not in ("overloaded", "internal_error"):
            self._count("upstream_errors", code)

    def _end(self) -> None:
        """Count and log the request, once its response is known, or its stream has been sent."""
        name, seconds = self._api.name, time.monotonic() - self._start
        self._count("active_requests", name, amount=-1)
        self._count("requests", name, str(self._status))
        self._count("request_duration_seconds", name, amount=seconds)
        _LOG.info(
            "request_id=%s endpoint=%s status=%d outcome=%s seconds=%.3f",
            *(self._id, name, self._status, self._outcome, seconds),
        )
        self._proxy.active -= 1


def _ignore(*given: object, **more: object) -> None:
    """Count nothing: the library of metrics is not installed."""


async def while_running(background: Callable[[], Awaitable[None]], work: Callable[[], Awaitable[_T]]) -> _T:
    """Await some work; cancel it and raise ClientDisconnect if what runs in the background ends first."""
    done: list[_T] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as group:

        async def run(task: Callable[[], Awaitable[Any]], results: list[Any]) -> None:
            try:
                results.append(await task())
            except Exception as error:  # the group would wrap it in an ExceptionGroup
                failed.append(error)
            group.cancel_scope.cancel()

        group.start_soon(run, background, list[None]())
        await run(work, done)
    if failed:
        raise failed[0]
    if not done:
        raise ClientDisconnect
    return done[0]
