"""One request and its response: what is forwarded, rewritten, counted and logged."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from typing import Any, TypeVar

import anyio
import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from outspoken.providers.export.wires import sse_end, sse_event

from .apis.base import Api, ApiRequest
from .constrain import constrain_request
from .http_errors import HttpError, bad_upstream_response, parse_object, write_object
from .metrics import Metrics
from .rewriter import OnReply, Rewriter
from .settings import ServerSettings
from .upstream import (
    Deadline,
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


class Exchange:
    """Serves one request of an API. `on_end` is called when the response has been sent."""

    def __init__(
        self, api: Api, request: Request, settings: ServerSettings, upstream: Upstream, metrics: Metrics | None,
        on_end: Callable[[], None],
    ) -> None:  # fmt: skip
        self.api, self._request, self._settings, self.upstream = api, request, settings, upstream
        self._count: Callable[..., None] = _ignore if metrics is None else metrics.add
        self._count_reply: OnReply = _ignore if metrics is None else metrics.reply
        self._on_end = on_end
        self._given_id = find_request_id(request.headers.raw)
        self.id = self._given_id or make_request_id()
        self._start, self.deadline = time.monotonic(), Deadline(settings.total_timeout)
        self._status, self._outcome = 200, "ok"
        #: the headers that say what was ignored and constrained
        self._notes: Headers = []
        self._count("active_requests", api.name)

    async def serve(self) -> Response:
        """Read the request and return the response; an error is one, too."""
        response: Response
        try:
            response = await self._respond()
        except HttpError as error:
            response = self.error_response(error)
        except ClientDisconnect:
            self.client_gone()
            response = Response(status_code=CLIENT_GONE)  # nobody reads it
        except Exception:
            response = self.error_response(self.internal_error())
        except BaseException:  # the server stops
            self.end(CLIENT_GONE)
            raise
        if not isinstance(response, StreamResponse):
            self._status = response.status_code
            self.end()
        return response

    def reject(self, error: HttpError) -> Response:
        """Return an error without reading the request."""
        response = self.error_response(error)
        self.end(error.status)
        return response

    async def _respond(self) -> Response:
        body = await self._read_body()
        read = self.api.read(self._settings, body, self._count_reply)
        self._notes += read.headers()
        body = read.body
        if self._settings.constrain is not None:
            body, told = await anyio.to_thread.run_sync(constrain_request, self._settings, body, read.options)
            self._notes += told
        if read.streams:
            return StreamResponse(self, read, body)
        return await while_connected(self._request.receive, lambda: self._whole(read.rewriter, body))

    async def _read_body(self) -> bytes:
        """Read the body of the request. Raises HttpError if it is too large."""
        found = bytearray()
        limit = self._settings.max_body
        async for piece in self._request.stream():
            found += piece
            if len(found) > limit:
                raise HttpError(413, f"the request is over {limit:,} bytes", "request_too_large")
        return bytes(found)

    async def _whole(self, rewriter: Rewriter, body: bytes) -> Response:
        while True:
            async with self.ask(body) as response:
                content = await self.upstream.body(response, self.deadline)
            if not response.is_success:
                return self.upstream_failed(response, content)
            written = write_object(rewriter.rewrite(parse_object(content, bad_upstream_response, "answer")))
            if rewriter.again is None:
                break
            body = with_messages(body, rewriter.begin_again())
        answer = Response(written, response.status_code)
        answer.raw_headers += self.answer_headers(response, b"application/json")
        return answer

    def ask(self, body: bytes) -> AbstractAsyncContextManager[httpx.Response]:
        """Send the request to the upstream; the response has its headers but not its body."""
        headers = self.api.headers(to_upstream(self._request.headers.raw))
        headers = with_request_id(headers, self.id)
        return self.upstream.request("POST", "/chat/completions", headers, self.deadline, body)

    def upstream_failed(self, response: httpx.Response, content: bytes) -> Response:
        """Return an upstream's error in the shape of the API."""
        self._count_upstream_error(f"status_{response.status_code}")
        self._take_id(response)
        written = self.api.upstream_error(response.status_code, content, self.id)
        answer = Response(content if written is None else written, response.status_code)
        answer.raw_headers += self.answer_headers(response, None if written is None else b"application/json")
        return answer

    def answer_headers(self, response: httpx.Response, content_type: bytes | None) -> Headers:
        """Return the upstream's headers for the client, with those of the proxy."""
        self._take_id(response)
        headers = to_client(response.headers.raw, content_type) + self._notes
        return with_request_id(headers, self.id, *self.api.id_headers)

    def _take_id(self, response: httpx.Response) -> None:
        """Use the id of the upstream if the client gave none: it is that of the upstream's log."""
        if self._given_id is None:
            self.id = self._given_id = find_request_id(response.headers.raw) or self.id

    def error_response(self, error: HttpError) -> Response:
        """Return an error of the proxy in the shape of the API."""
        self.failed(error.code, error.status)
        body = write_object(self.api.error(error, self.id))
        answer = Response(body, error.status, {"retry-after": "1"} if error.status == 503 else None, "application/json")
        answer.raw_headers += with_request_id(list(self._notes), self.id, *self.api.id_headers)
        return answer

    def internal_error(self) -> HttpError:
        """Log the exception that is being handled, a defect of the proxy, and return an error for the client."""
        _LOG.exception("request_id=%s fails because of a defect of the proxy", self.id)
        return HttpError(500, "the proxy failed; its log says why", "internal_error")

    # what is counted and logged

    def failed(self, code: str, status: int = 502) -> None:
        """Note an error of the response, and count it if it is the upstream's."""
        self._outcome = code
        if status >= 500 and code not in ("overloaded", "internal_error"):
            self._count_upstream_error(code)

    def _count_upstream_error(self, code: str) -> None:
        self._outcome = code
        self._count("upstream_errors", code)

    def client_gone(self) -> None:
        """Count a client that has disconnected."""
        self._outcome = "client_disconnected"
        self._count("dropped_clients", self.api.name)

    def first_piece(self) -> None:
        """Note that the first piece of a stream is sent."""
        self._count("first_piece_seconds", self.api.name, amount=time.monotonic() - self._start)

    def end(self, status: int | None = None) -> None:
        """Count and log the request, once its response has been sent."""
        self._status = self._status if status is None else status
        self._count("active_requests", self.api.name, amount=-1)
        self._count("requests", self.api.name, str(self._status))
        seconds = time.monotonic() - self._start
        self._count("request_duration_seconds", self.api.name, amount=seconds)
        _LOG.info(
            "request_id=%s endpoint=%s status=%d outcome=%s seconds=%.3f",
            *(self.id, self.api.name, self._status, self._outcome, seconds),
        )
        self._on_end()


def _ignore(*given: object, **more: object) -> None:
    """Count nothing: the library of metrics is not installed."""


class StreamResponse(Response):
    """A stream of parts. Each is sent at once, and the next is read when the client has taken it."""

    def __init__(self, exchange: Exchange, read: ApiRequest, body: bytes) -> None:
        super().__init__()
        self._exchange, self._read, self._body = exchange, read, body
        self._sent_status = CLIENT_GONE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; stop if the client disconnects."""
        try:
            await while_connected(receive, lambda: self._serve(scope, receive, send))
        except ClientDisconnect:
            self._exchange.client_gone()
        finally:
            self._exchange.end(self._sent_status)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = self._exchange
        try:
            async with exchange.ask(self._body) as response:
                if not response.is_success:
                    content = await exchange.upstream.body(response, exchange.deadline)
                    answer = exchange.upstream_failed(response, content)
                else:
                    answer = None
                    await self._send_events(response, send)
        except HttpError as error:
            answer = exchange.error_response(error)
        except Exception:
            if self._sent_status != CLIENT_GONE:
                raise
            answer = exchange.error_response(exchange.internal_error())
        if answer is not None:
            self._sent_status = answer.status_code
            await answer(scope, receive, send)

    async def _send_events(self, response: httpx.Response, send: Send) -> None:
        headers = self._exchange.answer_headers(response, b"text/event-stream; charset=utf-8")
        headers.append((b"x-accel-buffering", b"no"))  # nginx would hold events back
        self._sent_status = response.status_code
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        lock = anyio.Lock()  # an event is sent as a whole

        async def send_body(body: bytes) -> None:
            async with lock:
                await send({"type": "http.response.body", "body": body, "more_body": True})

        async def ping() -> None:
            while True:
                await anyio.sleep(PING_SECONDS)
                await send_body(b": ping\n\n")

        async def send_events() -> bool:
            async with aclosing(self._events(response)) as events:
                async for event in events:
                    await send_body(event)
            return True

        await while_running(ping, send_events)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _events(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Return the bytes of the stream. An error is an event of the stream and ends it."""
        exchange, wire = self._exchange, self._exchange.api.wire
        rewriter, body, waiting = self._read.rewriter, self._body, True
        try:
            async with AsyncExitStack() as responses:
                while True:
                    pieces = exchange.upstream.pieces(response, exchange.deadline)
                    async for piece in await responses.enter_async_context(aclosing(pieces)):
                        if sent := b"".join([sse_event(part, wire) for part in rewriter.feed(piece)]):
                            if waiting:
                                waiting = False
                                exchange.first_piece()
                            yield sent
                        if rewriter.failed:
                            break
                    last = rewriter.close()
                    if rewriter.again is None:
                        break
                    yield b"".join([sse_event(part, wire) for part in last])
                    body = with_messages(body, rewriter.begin_again())
                    response = await responses.enter_async_context(exchange.ask(body))
                    if not response.is_success:
                        raise HttpError(502, f"the upstream answers with {response.status_code}", "upstream_error")
            if rewriter.failed:
                exchange.failed("error_in_stream")
        except Exception as error:
            told = error if isinstance(error, HttpError) else exchange.internal_error()
            exchange.failed(told.code, told.status)
            last = rewriter.abort(told)
        yield b"".join([sse_event(part, wire) for part in last]) + sse_end(wire)


def with_messages(body: bytes, messages: list[Any]) -> bytes:
    """The body of a request with more messages at the end."""
    request = parse_object(body)
    return write_object({**request, "messages": [*request["messages"], *messages]})


async def while_connected(receive: Receive, work: Callable[[], Awaitable[_T]]) -> _T:
    """Await some work; cancel it and raise ClientDisconnect if the client disconnects first."""

    async def watch_client() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    return await while_running(watch_client, work)


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
