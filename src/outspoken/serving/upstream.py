"""The server behind the proxy: the headers to forward, and requests within limits of time and size."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy

import anyio
import httpx

from .http_errors import HttpError
from .settings import ServerSettings

Headers = list[tuple[bytes, bytes]]

#: The headers of one connection: RFC 9110, section 7.6.1, and older ones.
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer trailers"
    b" transfer-encoding upgrade".split()
)
#: Request headers that the HTTP client sets. Compression is off, since it delays a stream until a block is full.
_CLIENT_HEADERS = frozenset({b"host", b"content-length", b"accept-encoding", b"expect"})
#: Response headers about the upstream's bytes, and those that our server sets.
_BODY_HEADERS = frozenset({b"content-length", b"content-encoding", b"date", b"server"})


def to_upstream(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers of a request for the upstream."""
    return [*_forward(headers, _CLIENT_HEADERS), (b"accept-encoding", b"identity")]


def to_client(headers: Iterable[tuple[bytes, bytes]], content_type: bytes | None = None) -> Headers:
    """Return the headers of a response for the client. With `content_type`, its body was replaced."""
    if content_type is None:
        return _forward(headers, _BODY_HEADERS)
    return [*_forward(headers, _BODY_HEADERS | {b"content-type"}), (b"content-type", content_type)]


def _forward(headers: Iterable[tuple[bytes, bytes]], without: frozenset[bytes]) -> Headers:
    found = [(name.lower(), value) for name, value in headers]
    named = {token.strip().lower() for name, value in found if name == b"connection" for token in value.split(b",")}
    return [(name, value) for name, value in found if name not in _HOP_BY_HOP | without | named]


#: The statuses of success of which the response has no body.
_WITHOUT_BODY = frozenset({204, 205})
#: Seconds after which an idle connection is not used again: uvicorn, in which vLLM and SGLang run, closes it after 5.
_IDLE = 3.0


class Upstream:
    """Sends requests, each within a time. The connection is released however a request ends."""

    def __init__(self, settings: ServerSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        times = httpx.Timeout(settings.read_timeout, connect=settings.connect_timeout)
        pool = httpx.Limits(
            max_connections=settings.max_concurrent, max_keepalive_connections=64, keepalive_expiry=_IDLE
        )
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))  # those of one client are not another's
        self._client = httpx.AsyncClient(timeout=times, limits=pool, transport=transport, cookies=cookies)
        #: how many responses are open
        self.open = 0

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    @asynccontextmanager
    async def request(
        self, method: str, path: str, headers: Headers, seconds: float, body: bytes | None = None
    ) -> AsyncGenerator[httpx.Response, None]:
        """Send a request; the response has its headers but not its body.

        Raises HttpError if there is none, if it is neither an answer nor an error (a redirection, or one that cannot
        have a body), if its body breaks off, or if all that is done with it takes more `seconds`.
        """
        message = self._client.build_request(method, self._settings.base + path, headers=headers, content=body)
        with _http_errors(), anyio.fail_after(max(seconds, 0.0)):
            response = await self._client.send(message, stream=True)
            self.open += 1
            try:
                if response.status_code in _WITHOUT_BODY or not (response.is_success or response.is_error):
                    raise HttpError(
                        502, f"the upstream answers with the status {response.status_code}", "bad_upstream_response"
                    )
                yield response
            finally:
                self.open -= 1
                with anyio.CancelScope(shield=True):
                    await response.aclose()

    async def body(self, response: httpx.Response) -> bytes:
        """Read a whole body. Raises HttpError if it is too long."""
        limit = 4 * self._settings.max_chars
        found = bytearray()
        async for piece in response.aiter_bytes():
            found += piece
            if len(found) > limit:
                raise HttpError(502, f"the upstream's answer is over {limit:,} bytes", "upstream_too_long")
        return bytes(found)


@contextmanager
def _http_errors() -> Generator[None, None, None]:
    """Turn the errors of a connection into HttpError."""
    try:
        yield
    except httpx.PoolTimeout as error:
        raise HttpError(503, "all connections to the upstream are in use", "overloaded") from error
    except httpx.ConnectTimeout as error:
        raise HttpError(504, "the upstream did not accept the connection in time", "upstream_timeout") from error
    except (httpx.TimeoutException, TimeoutError) as error:
        raise HttpError(504, "the upstream sent nothing in time", "upstream_timeout") from error
    except httpx.ConnectError as error:
        raise HttpError(502, f"the upstream cannot be reached: {error}", "upstream_unreachable") from error
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise HttpError(502, f"the upstream broke off: {reason}", "upstream_cut_off") from error


HEADER = b"x-request-id"
_VALID = re.compile(rb"[\x21-\x7e]{1,200}")


def header_value(text: str) -> bytes:
    """A text as the value of a header, with question marks for what headers cannot have."""
    return "".join([char if " " <= char <= "~" else "?" for char in text]).encode()


def find_request_id(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the request id among some headers; None if there is none, or one that does not fit into a log."""
    found = next((value for name, value in headers if name.lower() == HEADER), b"")
    return found.decode("ascii") if _VALID.fullmatch(found) else None


def make_request_id() -> str:
    """Make a new request id."""
    return f"req_{secrets.token_hex(12)}"


def with_request_id(headers: Headers, request_id: str, *more: bytes) -> Headers:
    """Return headers with this request id, under `x-request-id` and other names, in place of any other."""
    names = (HEADER, *more)
    return [header for header in headers if header[0] not in names] + [(name, request_id.encode()) for name in names]
