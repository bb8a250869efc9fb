"""Chat completions: requests pass through, and responses stay chat completions."""

from __future__ import annotations

from outspoken.providers.export.sse import Protocol as EventProtocol
from outspoken.serving.json_bodies import parse_object
from outspoken.serving.rewriter import CompletionRewriter, OnReply
from outspoken.serving.settings import ServerSettings

from .base import Api, ApiRequest


class ChatApi(Api):
    """OpenAI's chat completions."""

    name = "chat_completions"
    path = "/v1/chat/completions"
    protocol: EventProtocol = "openai"

    def read(self, settings: ServerSettings, body: bytes, on_reply: OnReply) -> ApiRequest:
        """Read a request, which is forwarded byte for byte. Raises HttpError if it is no JSON object."""
        options = parse_object(body)
        return ApiRequest(body, options, CompletionRewriter(settings, options, on_reply))
