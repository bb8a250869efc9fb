"""Anthropic's Messages in front of chat completions."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from outspoken.providers.wire.messages.exporter import AnthropicExporter
from outspoken.providers.wire.messages.request import THREADS, to_chat
from outspoken.providers.wire.parts import Part
from outspoken.providers.wire.writing import Wire
from outspoken.serving.http_errors import HttpError, write_object
from outspoken.serving.rewriter import Complete
from outspoken.serving.upstream import Headers

from .base import TranslatedApi, read_upstream_error

#: Anthropic's word for an HTTP status; others are `invalid_request_error` below 500, else `api_error`.
_ERROR_TYPES = {
    401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip
_API_KEY, _AUTHORIZATION = b"x-api-key", b"authorization"


def _name_stop(stops: list[Any], part: Part, stop: str | None) -> Part:
    """Name the stop sequence that ended the message, if it is one of the request."""
    ending = part.get("delta") if part["type"] == "message_delta" else part
    if stop in stops and ending and ending.get("stop_reason") == "end_turn":
        ending |= {"stop_reason": "stop_sequence", "stop_sequence": stop}
    return part


class AnthropicApi(TranslatedApi):
    """Anthropic's Messages."""

    name = "messages"
    path = "/v1/messages"
    id_headers: tuple[bytes, ...] = (b"request-id",)
    wire: Wire = "anthropic"
    exporter = AnthropicExporter
    translate = staticmethod(to_chat)

    def headers(self, headers: Headers) -> Headers:
        """Return the headers with the API key where upstreams of chat completions expect it."""
        key = next((value for name, value in headers if name == _API_KEY), None)
        kept = [(name, value) for name, value in headers if name != _API_KEY]
        if key is not None and not any(name == _AUTHORIZATION for name, _ in kept):
            kept.append((_AUTHORIZATION, b"Bearer " + key))
        return kept

    def completion(self, request: dict[str, Any], chat: dict[str, Any]) -> Complete:
        """Return what names the stop sequence."""
        return partial(_name_stop, cast("list[Any]", chat.get("stop") or []))

    def error(self, error: HttpError, request_id: str) -> dict[str, Any]:
        """Return the body of an error response."""
        body = _error_body(error.status, error.message, request_id)
        if error.code == THREADS:
            body["error"]["details"] = {"error_code": THREADS, "unsupported": ["thread"]}
        return body

    def upstream_error(self, status: int, content: bytes, request_id: str) -> bytes | None:
        """Return the upstream's error in Anthropic's shape."""
        body = _error_body(status, read_upstream_error(status, content).message, request_id)
        return write_object(body)


def _error_body(status: int, message: str, request_id: str) -> dict[str, Any]:
    kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}
