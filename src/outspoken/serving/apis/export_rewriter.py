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
from outspoken.serving.http_errors import HttpError, bad_upstream_response
from outspoken.serving.rewriter import Choice, OnReply, Rewriter
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
        self._exporter = partial(
            exporter, id=id, action_tool=settings.action_tool, stream_calls=settings.stream_calls, facts=True
        )
        self._complete = complete
        #: the one choice of a stream, and the stop sequence that ended it, if the upstream says so
        self._choice = self.choices[0] = Choice(self, self._exporter())
        self._stop: str | None = None

    def _rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        choices: Any = body.get("choices")
        first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
        if "error" not in body and (not isinstance(first, dict) or not isinstance(first.get("message"), dict)):  # pyright: ignore[reportUnknownMemberType]
            raise bad_upstream_response("answer has no choice with a `message`")
        choice = Choice(self, self._exporter())
        reply = choice.read(body)
        if reply.error is not None:
            raise HttpError(502, f"the upstream reports an error: {reply.error.message}", "upstream_error")
        return self._complete(choice.exporter.whole(reply), stop_of(body))

    def _rewrite_chunk(self, chunk: dict[str, Any]) -> list[Part]:
        self._stop = stop_of(chunk) or self._stop
        parts = self._completed(self._choice.feed(chunk))
        self.failed = self._choice.failed
        return parts + self.end() if self.failed else parts

    def _break_off(self, error: HttpError) -> list[Part]:
        failure = ProviderError(message=error.message, type=error.type, code=error.code)
        return self._completed(self._choice.export([Failed(failure)])) + self.end()

    def _completed(self, parts: list[Part]) -> list[Part]:
        return [self._complete(part, self._stop) for part in parts]


def stop_of(body: dict[str, Any]) -> str | None:
    """Return the stop sequence that ended a completion or a chunk, if the upstream says so."""
    choices: Any = body.get("choices")
    first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    choice = cast("dict[str, Any]", first) if isinstance(first, dict) else {}
    return next((choice[key] for key in STOPS if isinstance(choice.get(key), str)), None)
