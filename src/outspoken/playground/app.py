"""The playground as an ASGI application.

Requests that do not come from a page of this server are refused, and every answer says what a page may do. Another site
can make the user's browser send requests here: by a form or script of its own (`Origin`, `Sec-Fetch-Site`), or under a
name that it lets point to this machine (`Host`).
"""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from outspoken import formats
from outspoken.constraints.deriving import TARGETS
from outspoken.terminal.inputs import listen
from outspoken.viewer.page import document, own_file

from .answers import ANSWERS
from .given import FIRST, MOST_CHARS, Asked, Given, ProblemError, checked
from .worker import Lane

#: How long an answer may take, in seconds.
LIMIT = 30.0
#: The largest request, in bytes: a response, a grammar and tools, each character of which JSON may write with six.
_MAX_BODY = 8 * MOST_CHARS
#: The only address that is served: this machine's own.
HOST = "127.0.0.1"
_HERE = Path(__file__).parent
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

    def __init__(self, first: Given | None = None, *, limit: float = LIMIT) -> None:
        self._first = first
        #: responses are read in one process, everything else is answered by another
        self.reading, self.asking = Lane(limit), Lane(limit)

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", self.page, methods=["GET"]),
                *[Route(f"/api/{name}", self.answer, methods=["POST"]) for name in ANSWERS],
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
            exception_handlers={ProblemError: _problem, HTTPException: _problem, ClientDisconnect: _problem},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None, None]:
        """Start a process, so that the first request need not wait for it."""
        first = asyncio.create_task(self.reading.ask("grammar", Asked(given=Given(format="json"))))
        yield
        first.cancel()

    async def page(self, request: Request) -> Response:
        """The page."""
        return Response(live_page(self._first), headers=_ALWAYS, media_type="text/html")

    async def answer(self, request: Request) -> Response:
        """Answer what the page asks, off the event loop; stop if the page does not wait any more."""
        _check_origin(request)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > _MAX_BODY:
                raise ProblemError("", f"the request is over {_MAX_BODY:,} bytes; shorten the response", status=413)
        asked, what = checked(Asked.model_validate_json, bytes(body)), request.url.path.rpartition("/")[2]
        answer = asyncio.create_task((self.reading if what == "read" else self.asking).ask(what, asked))
        gone = asyncio.ensure_future(request.receive())  # behind the body, only a disconnect comes
        try:
            await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ClientDisconnect
            status, data = answer.result()
        finally:
            answer.cancel()
            gone.cancel()
        return Response(data, status, headers=_ALWAYS, media_type="application/json")


async def _problem(request: Request, error: Exception) -> Response:
    """What is wrong with a request, as JSON; nobody reads it if the client has gone."""
    if not isinstance(error, ProblemError):
        status = error.status_code if isinstance(error, HTTPException) else 499
        error = ProblemError("", "this is not served; open the page at /", status=status)
    return Response(error.body, error.status, headers=_ALWAYS, media_type="application/json")


def _check_origin(request: Request) -> None:
    """Raise ProblemError for a request that no page of this server has sent."""
    headers, own = request.headers, f"http://{request.headers['host'].lower()}"
    is_own = headers.get("origin", own).lower() == own
    if not is_own or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise ProblemError("", "this request comes from another site, and is refused", status=403)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ProblemError("", "a request to the playground is JSON", status=403)


def live_page(first: Given | None = None) -> str:
    """The page, as HTML. It asks nobody but the server that it comes from."""
    live = {
        "given": (first or FIRST).model_dump(),
        "formats": [[format_info.name, format_info.title, format_info.example] for format_info in formats()],
        "targets": TARGETS,
        "most": MOST_CHARS,
    }
    parts: dict[str, Any] = {name: own_file(f"{name}.html", _HERE) for name in ("actions", "input", "keys")}
    script = "\n".join([own_file(f"{name}.js", _HERE) for name in ("editors", "live", "files")])
    title, style = "Outspoken playground", own_file("live.css", _HERE)
    return document({"live": live}, title, script=script, style=style, mode="live", connect="'self'", **parts)


def serve(first: Given | None = None, *, port: int = 0, open_browser: bool = True) -> None:
    """Serve the playground on this machine until the process is asked to stop, and print where it is.

    `first` is what the page begins with (see `begin_with`), `port` 0 takes a free one.

    Raises UsageError if the port is in use.
    """
    listening = listen(HOST, port)
    url = f"http://{HOST}:{listening.getsockname()[1]}/"
    print(f"The playground is at {url} (Ctrl-C stops it)", flush=True)
    config = uvicorn.Config(
        Playground(first).app(),
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    if open_browser:  # the socket listens already, so the browser may be faster than the server
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    with listening:
        uvicorn.Server(config).run(sockets=[listening])
