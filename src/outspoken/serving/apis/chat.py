"""Chat completions: requests pass through, and responses stay chat completions."""

from __future__ import annotations

from typing import Any

from outspoken.providers.export.sse import Protocol as EventProtocol
from outspoken.serving.http_errors import HttpError
from outspoken.serving.json_bodies import parse_object
from outspoken.serving.rewriter import CompletionRewriter
from outspoken.serving.settings import ServerSettings
from outspoken.serving.upstream import Headers

from .base import ApiRequest, OnReply


class ChatApi:
    """OpenAI's chat completions."""

    name = "chat_completions"
    path = "/v1/chat/completions"
    id_headers: tuple[bytes, ...] = ()
    protocol: EventProtocol = "openai"

    def headers(self, headers: Headers) -> Headers:
        """Return the headers as they are."""
        return headers

    def read(self, settings: ServerSettings, body: bytes, on_reply: OnReply) -> ApiRequest:
        """Read a request, which is forwarded byte for byte. Raises HttpError if it is no JSON object."""
        options = parse_object(body)
        return ApiRequest(body, options, CompletionRewriter(settings, options, on_reply))

    def error(self, error: HttpError, request_id: str) -> dict[str, Any]:
        """Return the body of an error response."""
        return error.body

    def upstream_error(self, status: int, content: bytes, request_id: str) -> bytes | None:
        """Leave the upstream's error as it is."""
        return None
