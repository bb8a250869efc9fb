"""HTTP errors as OpenAI's clients read them: an object `error`, as a response or in the middle of a stream."""

from __future__ import annotations

from typing import Any


class HttpError(Exception):
    """A request fails with the HTTP status `status` and OpenAI's error code `code`."""

    def __init__(self, status: int, message: str, code: str) -> None:
        self.status, self.message, self.code = status, message, code
        self.type = "invalid_request_error" if status < 500 else "upstream_error"
        super().__init__(message)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the response."""
        return {"error": {"message": self.message, "type": self.type, "param": None, "code": self.code}}


def bad_upstream_response(problem: str) -> HttpError:
    """Make the error for an upstream that sends no chat completion."""
    return HttpError(502, f"the upstream's {problem}", "bad_upstream_response")
