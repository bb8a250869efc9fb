"""The server behind the proxy: requests to it, within the limits of time and size."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio
import httpx

from .headers import Headers
from .http_errors import Refusal
from .settings import ServeSettings


class Deadline:
    """How long a response may still take."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, 0 where there are none."""
        return max(self._end - time.monotonic(), 0.0)


class Upstream:
    """Asks the server. Each request has its deadline, and its connection is given back however it ends."""

    def __init__(self, settings: ServeSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        times = httpx.Timeout(settings.read_timeout, connect=settings.connect_timeout)
        pool = httpx.Limits(max_connections=settings.max_concurrent, max_keepalive_connections=64)
        self._client = httpx.AsyncClient(timeout=times, limits=pool, transport=transport, follow_redirects=False)
        #: how many responses are being read
        self.open = 0

    async def close(self) -> None:
        """Give up all connections."""
        await self._client.aclose()

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, headers: Headers, deadline: Deadline, body: bytes | None = None
    ) -> AsyncGenerator[httpx.Response, None]:
        """A response, of which the head is there. Raises Refusal where there is none."""
        request = self._client.build_request(method, self._settings.base + path, headers=headers, content=body)
        with failures(), anyio.fail_after(deadline.left):
            response = await self._client.send(request, stream=True)
        self.open += 1
        try:
            yield response
        finally:
            self.open -= 1
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def pieces(self, response: httpx.Response, deadline: Deadline) -> AsyncGenerator[bytes, None]:
        """The body as it comes, one piece in hand at a time. Raises Refusal where it breaks off."""
        pieces = response.aiter_bytes()
        while True:
            with failures(), anyio.fail_after(deadline.left):
                piece = await anext(pieces, None)
            if piece is None:
                return
            yield piece

    async def body(self, response: httpx.Response, deadline: Deadline) -> bytes:
        """All of a body. Raises Refusal where it breaks off or is too long."""
        limit = 4 * self._settings.max_chars
        found: list[bytes] = []
        size = 0
        async for piece in self.pieces(response, deadline):
            size += len(piece)
            if size > limit:
                raise Refusal(502, f"the upstream's answer is over {limit:,} bytes", "upstream_too_long")
            found.append(piece)
        return b"".join(found)


@contextmanager
def failures() -> Generator[None, None, None]:
    """What can go wrong with a connection, as a Refusal."""
    try:
        yield
    except httpx.PoolTimeout as error:
        raise Refusal(503, "all connections to the upstream are in use", "overloaded") from error
    except httpx.ConnectTimeout as error:
        raise Refusal(504, "the upstream did not accept the connection in time", "upstream_timeout") from error
    except (httpx.TimeoutException, TimeoutError) as error:
        raise Refusal(504, "the upstream sent nothing in time", "upstream_timeout") from error
    except httpx.ConnectError as error:
        raise Refusal(502, f"the upstream cannot be reached: {error}", "upstream_unreachable") from error
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        why = str(error) or type(error).__name__
        raise Refusal(502, f"the upstream broke off: {why}", "upstream_cut_off") from error
