"""The playground as an ASGI application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from .answers import ANSWERS
from .given import MOST_CHARS, Given, ProblemError
from .guard import Guard
from .lanes import Lane
from .page import live_page
from .worker import WorkerEndedError

#: How long reading a response may take, in seconds, and everything else.
READ_LIMIT, ASK_LIMIT = 30.0, 30.0
#: The largest request, in bytes: a response, a grammar and tools, each character of which JSON may write with six.
_MAX_BODY = 8 * MOST_CHARS


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
        return Starlette(
            routes=[
                Route("/", self.page, methods=["GET"]),
                *[Route(f"/api/{name}", self.answer, methods=["POST"]) for name in ANSWERS],
            ],
            middleware=[Middleware(Guard)],
            exception_handlers={ProblemError: _on_problem, HTTPException: _on_other, ClientDisconnect: _on_gone},
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
            words = f"took longer than {lane.limit:g} seconds" if error.was_slow else "made the worker end"
            message = f"this {words}; shorten the response or simplify the grammar"
            return JSONResponse(ProblemError("", message).body, 503)
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


async def _on_problem(request: Request, error: Exception) -> Response:
    problem = cast("ProblemError", error)
    return JSONResponse(problem.body, problem.status)


async def _on_other(request: Request, error: Exception) -> Response:
    return JSONResponse(
        ProblemError("", "this is not served; open the page at /").body, cast("HTTPException", error).status_code
    )


async def _on_gone(request: Request, error: Exception) -> Response:
    """Return an answer that nobody reads."""
    return Response(status_code=499)
