"""Rewrites chat completions as responses of another API: what is read of them goes through an exporter.

It uses no network: bytes or objects in, objects out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, cast

from outspoken.providers.events import Failed
from outspoken.providers.export.exporter import Exporter
from outspoken.providers.export.parts import Part
from outspoken.providers.readers.chat_completions import STOPS
from outspoken.providers.replies import ProviderError
from outspoken.results.errors import OutspokenError
from outspoken.serving.http_errors import HttpError, bad_upstream_response
from outspoken.serving.rewriter import OnReply, ResponseStream, Rewriter, StreamedChoice
from outspoken.serving.settings import ServerSettings

#: Adds to a part what only the request says, given the stop sequence that ended the response if the upstream says so.
Complete: TypeAlias = Callable[[Part, str | None], Part]


class ExportRewriter(Rewriter):
    """Rewrites the response to one request, which gets the `id`, with an exporter and a function that completes it."""

    def __init__(
        self, settings: ServerSettings, request: dict[str, Any], on_reply: OnReply,
        exporter: type[Exporter], id: str, complete: Complete,
    ) -> None:  # fmt: skip
        super().__init__(settings, request, on_reply)
        self.exporter = partial(
            exporter, id=id, action_tool=settings.action_tool, stream_calls=settings.stream_calls, facts=True
        )
        self.complete = complete

    def rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a completion. Raises HttpError if it is malformed or an error."""
        choices: Any = body.get("choices")
        first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
        if "error" not in body and (not isinstance(first, dict) or not isinstance(first.get("message"), dict)):  # pyright: ignore[reportUnknownMemberType]
            raise bad_upstream_response("answer has no choice with a `message`")
        try:
            reply = self.read(self.with_usage(body))
        except OutspokenError as error:
            raise bad_upstream_response(f"answer cannot be read: {error}") from error
        if reply.error is not None:
            raise HttpError(502, f"the upstream reports an error: {reply.error.message}", "upstream_error")
        return self.complete(self.exporter().whole(reply), stop_of(body))

    def stream(self) -> ResponseStream:
        """Begin a stream, which is of one choice."""
        stream = ResponseStream(self)
        stream.choices[0] = StreamedChoice(self, self.exporter())
        return stream

    def rewrite_chunk(self, stream: ResponseStream, chunk: dict[str, Any]) -> list[Part]:
        """Return the parts for a chunk, or for an error."""
        stream.stop, choice = stop_of(chunk) or stream.stop, stream.choices[0]
        parts = self.completed(stream, choice.feed(chunk))
        stream.failed = choice.failed
        return parts + stream.end() if choice.failed else parts

    def break_off(self, stream: ResponseStream, error: HttpError) -> list[Part]:
        """Return the last parts of a stream that breaks off."""
        failure = ProviderError(message=error.message, type=error.type, code=error.code)
        return self.completed(stream, stream.choices[0].export([Failed(failure)])) + stream.end()

    def completed(self, stream: ResponseStream, parts: list[Part]) -> list[Part]:
        """Add to parts what only the request says."""
        return [self.complete(part, stream.stop) for part in parts]


def stop_of(body: dict[str, Any]) -> str | None:
    """Return the stop sequence that ended a completion or a chunk, if the upstream says so."""
    choices: Any = body.get("choices")
    first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    choice = cast("dict[str, Any]", first) if isinstance(first, dict) else {}
    return next((choice[key] for key in STOPS if isinstance(choice.get(key), str)), None)
