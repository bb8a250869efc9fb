"""HTTP errors of the proxy, which each API writes in its own shape (see `outspoken.serving.apis`), and JSON bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast


class HttpError(Exception):
    """A request fails with the HTTP status `status` and OpenAI's error code `code`; `param` is the field concerned."""

    def __init__(self, status: int, message: str, code: str, param: str | None = None) -> None:
        self.status, self.message, self.code, self.param = status, message, code, param
        self.type = "invalid_request_error" if status < 500 else "upstream_error"
        super().__init__(message)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the response, as OpenAI's clients read it."""
        return {"error": {"message": self.message, "type": self.type, "param": self.param, "code": self.code}}


def bad_upstream_response(problem: str) -> HttpError:
    """Make the error for an upstream that sends no chat completion."""
    return HttpError(502, f"the upstream's {problem}", "bad_upstream_response")


def bad_request(problem: str) -> HttpError:
    """Make the error for a client that sends no JSON object."""
    return HttpError(400, f"the {problem}", "invalid_json")


def parse_object(body: bytes, fail: Callable[[str], HttpError] = bad_request, name: str = "request") -> dict[str, Any]:
    """Parse a JSON object, by default that of a request. Raises the HttpError that `fail` makes."""
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise fail(f"{name} is not JSON") from None
    if not isinstance(found, dict):
        raise fail(f"{name} is not a JSON object")
    return cast("dict[str, Any]", found)


def write_object(body: dict[str, Any]) -> bytes:
    """Write JSON as UTF-8, or as ASCII if it has half a character, which UTF-8 cannot encode."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()
