"""Errors as OpenAI's clients read them: an object `error`, with a status or in the middle of a stream."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """A request that cannot be served; `status` is that of the response."""

    def __init__(self, status: int, message: str, code: str, *, type: str | None = None) -> None:
        self.status = status
        self.type = type or ("invalid_request_error" if status < 500 else "upstream_error")
        self.message, self.code = message, code
        super().__init__(message)

    @property
    def body(self) -> dict[str, Any]:
        """What the client is sent."""
        return {"error": {"message": self.message, "type": self.type, "param": None, "code": self.code}}
