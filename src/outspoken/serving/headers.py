"""Selects the headers to forward: all but those of one connection, and those that a rewritten body invalidates."""

from __future__ import annotations

from collections.abc import Iterable

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
