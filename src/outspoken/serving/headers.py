"""Which headers go through: all but those that are about one connection, and those that the body changes."""

from __future__ import annotations

from collections.abc import Iterable

Headers = list[tuple[bytes, bytes]]

#: RFC 9110, section 7.6.1, and the older ones that proxies drop as well.
_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"trailers",
        b"transfer-encoding",
        b"upgrade",
    }
)
#: What the HTTP client says itself. A compressed stream would be held back until a block of it is full.
_OWN = frozenset({b"host", b"content-length", b"accept-encoding", b"expect"})
#: What is true of the upstream's bytes only, and what the server says itself.
_BODY = frozenset({b"content-length", b"content-encoding", b"date", b"server"})


def to_upstream(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of a request, for the upstream."""
    return [*_through(headers, _OWN), (b"accept-encoding", b"identity")]


def to_client(headers: Iterable[tuple[bytes, bytes]], content_type: bytes | None = None) -> Headers:
    """The headers of the upstream's response, for the client; `content_type` is of another body."""
    if content_type is None:
        return _through(headers, _BODY)
    return [*_through(headers, _BODY | {b"content-type"}), (b"content-type", content_type)]


def _through(headers: Iterable[tuple[bytes, bytes]], without: frozenset[bytes]) -> Headers:
    found = [(name.lower(), value) for name, value in headers]
    named = {token.strip().lower() for name, value in found if name == b"connection" for token in value.split(b",")}
    return [(name, value) for name, value in found if name not in _HOP | without | named]
