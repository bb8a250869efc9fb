"""The id of a request, by which its client, the proxy's log and the upstream's log find each other."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

from .upstream import Headers

HEADER = b"x-request-id"
_VALID = re.compile(rb"[\x21-\x7e]{1,200}")


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
