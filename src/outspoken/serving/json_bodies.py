"""Reads and writes the JSON of bodies."""

from __future__ import annotations

import json
from typing import Any, cast

from .http_errors import HttpError


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse the JSON object of a request. Raises HttpError."""
    try:
        request: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise HttpError(400, "the request is not JSON", "invalid_json") from None
    if not isinstance(request, dict):
        raise HttpError(400, "the request is not a JSON object", "invalid_json")
    return cast("dict[str, Any]", request)


def write_object(body: dict[str, Any]) -> bytes:
    """Write JSON as UTF-8, or as ASCII if it has half a character, which UTF-8 cannot encode."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


def without_halves(body: dict[str, Any]) -> dict[str, Any]:
    """Copy JSON, with a question mark for each half of a character, which server-sent events cannot have."""
    return json.loads(json.dumps(body, ensure_ascii=False).encode(errors="replace"))
