"""The proxy as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from outspoken.results.arguments import check_type
from outspoken.results.packages import Package

from .apis.anthropic import AnthropicApi
from .apis.base import Api
from .apis.chat import ChatApi
from .apis.responses import ResponsesApi
from .exchange import Exchange
from .http_errors import HttpError
from .metrics import Metrics
from .settings import ServerSettings
from .upstream import Upstream, find_request_id, make_request_id, to_client, to_upstream, with_request_id

_PROMETHEUS = Package("serve", "prometheus-client", needed_by="the page of metrics")
#: The APIs that the proxy speaks. An error about an unknown path has the shape of the first whose path it begins with.
_APIS: tuple[Api, ...] = (ChatApi(), ResponsesApi(), AnthropicApi())

#: Paths that clients may expect, and why they are not served.
_UNSERVED = {
    "/v1/messages/count_tokens": "tokens are not counted: the upstream's API cannot count those of a prompt",
    "/v1/messages/batches": "batches are not served: send the messages one by one, or see `outspoken batch`",
}


class Proxy:
    """Serves the chat completions of an upstream in several APIs, with the calls and reasoning in their text as fields.

    `metrics` is None if `prometheus_client` is not installed.
    """

    def __init__(self, settings: ServerSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.settings = check_type(settings, ServerSettings, "settings")
        self._transport = transport
        self.upstream: Upstream | None = None
        #: how many responses are being served now
        self.active = 0
        try:
            self.metrics: Metrics | None = Metrics(settings.format or "by model")
        except ImportError:
            self.metrics = None

    def app(self) -> Starlette:
        """Return the application. Its connections to the upstream are open from its start to its stop."""
        app = Starlette(
            routes=[
                *[Route(api.path, _Endpoint(self, api), methods=["POST"]) for api in _APIS],
                Route("/v1/models", self.models, methods=["GET"]),
                Route("/health", self.health, methods=["GET"]),
                Route("/metrics", self.show_metrics, methods=["GET"]),
            ],
            exception_handlers={HttpError: _on_error, HTTPException: _on_unknown_route},
            lifespan=self._lifespan,
        )
        app.router.redirect_slashes = False  # clients would send their keys where a header of theirs says
        return app

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None, None]:
        self.upstream = Upstream(self.settings, self._transport)
        try:
            yield
        finally:
            await self.upstream.close()

    async def health(self, request: Request) -> Response:
        """Report that the proxy runs, and how many responses it serves, without asking the upstream."""
        return JSONResponse({"status": "ok", "active": self.active})

    async def show_metrics(self, request: Request) -> Response:
        """Report the metrics in the text format of Prometheus. Raises HttpError if the library is not installed."""
        if self.metrics is None:
            raise HttpError(501, str(_PROMETHEUS.missing()), "no_metrics")
        return Response(self.metrics.text(), headers={"content-type": self.metrics.content_type})

    async def models(self, request: Request) -> Response:
        """Forward the upstream's list of models."""
        query = f"?{request.url.query}" if request.url.query else ""
        upstream, seconds = cast("Upstream", self.upstream), self.settings.read_timeout
        headers = to_upstream(request.headers.raw)
        id = find_request_id(headers) or make_request_id()
        async with upstream.request("GET", f"/models{query}", with_request_id(headers, id), seconds) as response:
            content = await upstream.body(response)
        answer = Response(content, response.status_code)
        told = find_request_id(headers) or find_request_id(response.headers.raw) or id
        answer.raw_headers += with_request_id(to_client(response.headers.raw), told)
        return answer


class _Endpoint:
    """Serves the requests of an API, as an ASGI application of its own, behind which Starlette wraps nothing."""

    def __init__(self, proxy: Proxy, api: Api) -> None:
        self._proxy, self._api = proxy, api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Exchange(self._proxy, self._api, Request(scope, receive, send))(scope, receive, send)


async def _on_error(request: Request, error: Exception) -> Response:
    failure = cast("HttpError", error)
    headers = {"retry-after": "1"} if failure.status == 503 else None
    return JSONResponse(failure.body, failure.status, headers)


async def _on_unknown_route(request: Request, error: Exception) -> Response:
    status, path = cast("HTTPException", error).status_code, request.url.path
    served = ", ".join([f"POST {api.path}" for api in _APIS])
    problem = _UNSERVED.get(path) or f"this is not served; {served}, GET /v1/models, GET /health and GET /metrics are"
    api = next((api for api in _APIS if path.startswith(api.path)), _APIS[0])
    id = find_request_id(request.headers.raw) or make_request_id()
    answer = JSONResponse(api.error(HttpError(status, problem, "not_served"), id), status)
    answer.raw_headers += with_request_id([], id, *api.id_headers)
    return answer
