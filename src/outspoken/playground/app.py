"""The playground as an ASGI application.

Requests that do not come from a page of this server are refused, and every answer says what a page may do. Another site
can make the user's browser send requests here: by a form or script of its own (`Origin`, `Sec-Fetch-Site`), or under a
name that it lets point to this machine (`Host`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outspoken import formats
from outspoken.viewer.page import document

from .answers import ANSWERS, TARGETS
from .given import FIRST, MOST_CHARS, Given, ProblemError, as_json
from .worker import Lane, WorkerEndedError

#: How long reading a response may take, in seconds, and everything else.
READ_LIMIT, ASK_LIMIT = 30.0, 30.0
#: The largest request, in bytes: a response, a grammar and tools, each character of which JSON may write with six.
_MAX_BODY = 8 * MOST_CHARS
_HERE = Path(__file__).parent
_NAMES = ("127.0.0.1", "localhost")
_ALWAYS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Playground:
    """Serves the page and answers what it asks. `first` is what the page begins with."""

    def __init__(
        self, first: Given | None = None, *, read_limit: float = READ_LIMIT, ask_limit: float = ASK_LIMIT
    ) -> None:
        self._first = first
        #: responses are read in one process, everything else is answered by another
        self.reading, self.asking = Lane(read_limit), Lane(ask_limit)

    def app(self) -> Starlette:
        """Return the application. Its workers run from its start to its stop."""
        other = ProblemError("", "this is not served; open the page at /")
        return Starlette(
            routes=[
                Route("/", self.page, methods=["GET"]),
                *[Route(f"/api/{name}", self.answer, methods=["POST"]) for name in ANSWERS],
            ],
            middleware=[Middleware(Guard)],
            exception_handlers={
                ProblemError: _answering(lambda error: (cast("ProblemError", error), 0)),
                HTTPException: _answering(lambda error: (other, cast("HTTPException", error).status_code)),
                ClientDisconnect: _answering(lambda error: (other, 499)),  # nobody reads it
            },
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None, None]:
        self.reading.warm()
        try:
            yield
        finally:
            self.reading.close()
            self.asking.close()

    async def page(self, request: Request) -> Response:
        """The page."""
        return HTMLResponse(live_page(self._first))

    async def answer(self, request: Request) -> Response:
        """Answer what the page asks, off the event loop; stop if the page does not wait any more."""
        asked = await _read_json(request)
        asked["do"] = request.url.path.rpartition("/")[2]
        lane = self.reading if asked["do"] == "read" else self.asking
        try:
            status, data = await _while_connected(request, lane, asked)
        except WorkerEndedError as error:
            raise ProblemError("", error.said(lane.limit), status=503) from None
        return Response(data, status, media_type="application/json")


async def _read_json(request: Request) -> dict[str, Any]:
    """The object that a request holds. Raises ProblemError."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > _MAX_BODY:
            raise ProblemError("", f"the request is over {_MAX_BODY:,} bytes; shorten the response", status=413)
    try:
        asked: Any = json.loads(found)
    except (ValueError, RecursionError):
        raise ProblemError("", "the request is not JSON", status=400) from None
    if not isinstance(asked, dict) or not isinstance(cast("dict[str, Any]", asked).get("given"), dict):
        raise ProblemError("", "the request has no object `given`", status=400)
    return cast("dict[str, Any]", asked)


async def _while_connected(request: Request, lane: Lane, asked: dict[str, Any]) -> tuple[int, bytes]:
    """The answer of a lane. Raises ClientDisconnect if the page does not wait for it any more."""
    answer = asyncio.ensure_future(lane.ask(asked))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        for task in (answer, gone):
            task.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _answering(problem: Callable[[Exception], tuple[ProblemError, int]]) -> Any:
    """What answers an error as a problem, with its own status or the one that is given."""

    async def answer(request: Request, error: Exception) -> Response:
        found, status = problem(error)
        return Response(as_json(found.body), status or found.status, media_type="application/json")

    return answer


class Guard:
    """Lets the requests of the server's own pages through to an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        app = self._app
        if scope["type"] == "http" and (wrong := refusal(scope["method"], Headers(scope=scope), scope["server"][1])):
            app = Response(as_json(ProblemError("", wrong).body), 403, media_type="application/json")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_ALWAYS)
            await send(message)

        await app(scope, receive, send_with_headers)


def refusal(method: str, headers: Headers, port: int) -> str:
    """Why a request is refused, in a sentence; "" if it is not."""
    own = {f"{name}:{port}" for name in _NAMES} | (set(_NAMES) if port == 80 else set[str]())
    host = headers.get("host", "").lower()
    if host not in own:
        return f"`{host}` is not the address of this playground; open http://127.0.0.1:{port}"
    is_own = headers.get("origin", f"http://{host}").lower() == f"http://{host}"
    if not is_own or (method != "GET" and headers.get("sec-fetch-site", "none") not in ("same-origin", "none")):
        return "this request comes from another site, and is refused"
    if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return "a request to the playground is JSON"
    return ""


def live_page(first: Given | None = None) -> str:
    """The page, as HTML. It asks nobody but the server that it comes from."""
    live = {
        "given": (first or FIRST).model_dump(),
        "formats": [[one.name, one.title, one.example] for one in formats()],
        "targets": TARGETS,
        "most": MOST_CHARS,
    }
    return document(
        {"live": live},
        "Outspoken playground",
        script="\n".join([_file(f"{name}.js") for name in ("editors", "live", "files")]),
        style=_file("live.css"),
        mode="live",
        connect="'self'",
        **{name: _file(f"{name}.html") for name in ("actions", "input", "keys")},
    )


@cache
def _file(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
