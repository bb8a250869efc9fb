"""OpenAI's Responses in front of chat completions."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from outspoken.providers.wire.parts import Part
from outspoken.providers.wire.responses.exporter import ResponsesExporter
from outspoken.providers.wire.responses.request import to_chat
from outspoken.providers.wire.writing import Wire, without_halves
from outspoken.serving.http_errors import HttpError, write_object
from outspoken.serving.rewriter import Complete

from .base import TranslatedApi, read_upstream_error

#: What a response repeats of its request, and the values where the request says nothing.
_REPEATED: dict[str, Any] = {
    "instructions": None, "max_output_tokens": None, "metadata": {}, "parallel_tool_calls": True, "reasoning": None,
    "temperature": None, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": None,
    "user": None,
}  # fmt: skip
#: What holds for all responses of the proxy, which stores none.
_FIXED: dict[str, Any] = {"background": False, "previous_response_id": None, "store": False, "truncation": "disabled"}


def _repeat(fields: dict[str, Any], part: Part, stop: str | None) -> Part:
    """Add the fields of the request to a response, or to an event that has one."""
    response = part.get("response", part if part.get("object") == "response" else None)
    if response is not None:
        response |= fields
    return part


class ResponsesApi(TranslatedApi):
    """OpenAI's Responses."""

    name = "responses"
    path = "/v1/responses"
    wire: Wire = "openai_responses"
    exporter = ResponsesExporter
    translate = staticmethod(to_chat)

    def completion(self, request: dict[str, Any], chat: dict[str, Any]) -> Complete:
        """Return what repeats the request in a response."""
        given = {key: request[key] for key in _REPEATED if request.get(key) is not None}
        return partial(_repeat, _REPEATED | _FIXED | without_halves(given))

    def error_event(self, error: HttpError, request_id: str) -> dict[str, Any]:
        """Return the event that ends a stream for an error."""
        return {**error.body["error"], "type": "error", "sequence_number": 0}

    def upstream_error(self, status: int, content: bytes, request_id: str) -> bytes | None:
        """Return the upstream's error in OpenAI's shape, with all that it says."""
        found = read_upstream_error(status, content)
        kind = found.type or ("invalid_request_error" if status < 500 else "server_error")
        raw: object = found.raw
        told = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        error = told | {"message": found.message, "type": kind, "param": told.get("param"), "code": found.code}
        return write_object({"error": error})
