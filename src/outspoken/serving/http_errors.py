"""HTTP errors of the proxy. Each API writes them in its own shape; see `outspoken.serving.apis`."""

from __future__ import annotations

from typing import Any


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
