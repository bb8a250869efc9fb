"""What the proxy needs of an API: how to read a request, rewrite the response, and write errors."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.replies import ProviderError
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.fields import RequestError, Translated
from outspoken.providers.wire.reader import find_error
from outspoken.providers.wire.writing import Wire
from outspoken.serving.http_errors import HttpError, parse_object, write_object
from outspoken.serving.rewriter import Complete, ExportRewriter, OnReply, Rewriter
from outspoken.serving.settings import ServerSettings
from outspoken.serving.upstream import Headers, header_value

#: How many characters of an upstream's error are shown if it is no JSON, and how many a header may have.
_MAX_ERROR, _MAX_HEADER = 500, 1000


@dataclass(frozen=True)
class ApiRequest:
    """A request as the upstream takes it.

    `body` is its JSON. `ignored` are the fields of the client's request that cannot be translated and change nothing
    that the client relies on, `forwarded` those that are passed on as they are.
    """

    body: bytes
    rewriter: Rewriter
    ignored: list[str] = field(default_factory=list[str])
    forwarded: list[str] = field(default_factory=list[str])

    @property
    def streams(self) -> bool:
        """Does the client want a stream?"""
        return self.rewriter.request.get("stream") is True

    def headers(self) -> Headers:
        """The headers that name what was ignored or passed on, if anything was."""
        names = ((b"outspoken-ignored", self.ignored), (b"outspoken-forwarded", self.forwarded))
        return [(name, _header(found)) for name, found in names if found]


def _header(names: list[str]) -> bytes:
    joined = ", ".join(names)
    shown = joined if len(joined) <= _MAX_HEADER else joined[:_MAX_HEADER].rsplit(", ", 1)[0] + ", ..."
    return header_value(shown)


class Api:
    """An API that the proxy speaks; by default, one whose requests and errors are those of chat completions."""

    #: its name in metrics and logs
    name: str
    path: str
    #: how its events are written
    wire: Wire
    #: the headers beside `x-request-id` in which its clients look for the id of a request
    id_headers: tuple[bytes, ...] = ()

    def headers(self, headers: Headers) -> Headers:
        """Return the headers of a request as an upstream of chat completions takes them."""
        return headers

    def read(self, settings: ServerSettings, body: bytes, on_reply: OnReply) -> ApiRequest:
        """Read a request. Raises HttpError, with the field that cannot be translated."""
        raise NotImplementedError

    def error(self, error: HttpError, request_id: str) -> dict[str, Any]:
        """Return the body of an error response."""
        return error.body

    def error_event(self, error: HttpError, request_id: str) -> dict[str, Any]:
        """Return the event that ends a stream for an error."""
        return self.error(error, request_id)

    def upstream_error(self, status: int, content: bytes, request_id: str) -> bytes | None:
        """Return the body of an upstream's error in the shape of the API; None if it stays as it is."""
        return None


class TranslatedApi(Api):
    """An API whose requests become chat completions, and whose responses are exported."""

    exporter: type[Exporter]
    #: translates a request, with the name of the field for reasoning
    translate: Callable[[dict[str, Any], str], Translated]

    def read(self, settings: ServerSettings, body: bytes, on_reply: OnReply) -> ApiRequest:
        """Translate a request. Raises HttpError, with the field that cannot be translated."""
        request = parse_object(body)
        try:
            chat, ignored, forwarded = self.translate(request, settings.reasoning_field)
        except RequestError as error:
            raise HttpError(400, str(error), error.code, error.place) from None
        id = self.exporter.id_prefix + secrets.token_hex(12)
        rewriter = ExportRewriter(settings, chat, on_reply, self.exporter, id, self.completion(request, chat))
        return ApiRequest(write_object(chat), rewriter, ignored, forwarded)

    def completion(self, request: dict[str, Any], chat: dict[str, Any]) -> Complete:
        """Return what adds to the parts of a response what only the request says."""
        raise NotImplementedError


def read_upstream_error(status: int, content: bytes) -> ProviderError:
    """Read the error that an upstream answers with, whatever its shape."""
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    found = find_error(JsonObject(value)) if isinstance(value, dict) else None
    if found is not None and found.message:
        return found
    text = " ".join(content.decode("utf-8", "replace").split())[:_MAX_ERROR]
    return ProviderError(message=text or f"the upstream answered with the status {status}")
