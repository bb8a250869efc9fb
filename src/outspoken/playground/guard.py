"""Requests that do not come from a page of this server are refused, and every answer says what a page may do.

Another site can make the user's browser send requests here: by a form or script of its own (`Origin`,
`Sec-Fetch-Site`), or under a name that it lets point to this machine (`Host`).
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_NAMES = ("127.0.0.1", "localhost")
_ALWAYS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """Lets the requests of the server's own pages through to an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wrong = refusal(scope["method"], Headers(scope=scope), int(scope["server"][1] or 80))
        app = JSONResponse({"error": {"field": "", "message": wrong, "places": []}}, 403) if wrong else self._app

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
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"http://{host}":
        return "this request comes from another site, and is refused"
    if method != "GET" and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return "this request comes from another site, and is refused"
    if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return "a request to the playground is JSON"
    return ""
