"""Rewrites chat completions as responses of another API: what is read of them goes through an exporter.

It uses no network: bytes or objects in, objects out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, cast

from outspoken.providers.decode.framing import Framer
from outspoken.providers.events import Failed, Finished, ProviderEvent
from outspoken.providers.export.exporter import Exporter
from outspoken.providers.export.parts import Part
from outspoken.providers.replies import ProviderError, ProviderReply
from outspoken.providers.stream import ProviderStream, parse_response
from outspoken.results.errors import OutspokenError
from outspoken.results.settings import Settings
from outspoken.serving.http_errors import HttpError, bad_upstream_response
from outspoken.serving.rewriter import TAIL_LENGTH, read_tools
from outspoken.serving.settings import ServerSettings

from .base import OnReply

#: The fields of a choice in which upstreams say which stop sequence ended it (vLLM; SGLang).
_STOPS = ("stop_reason", "matched_stop")


class Target(Protocol):
    """The API that responses are written in."""

    def exporter(self) -> Exporter:
        """Return an exporter for one response."""
        ...

    def whole(self, reply: ProviderReply) -> Part:
        """Export a whole reply."""
        ...

    def complete(self, part: Part, stop: str | None) -> Part:
        """Add what only the request says. `stop` is the stop sequence that ended the response, if the upstream says."""
        ...


class ExportRewriter:
    """Rewrites the response to one request. `request` is the one that the upstream gets."""

    def __init__(self, settings: ServerSettings, request: dict[str, Any], target: Target, on_reply: OnReply) -> None:
        self.target, self.on_reply, self.max_chars = target, on_reply, settings.max_chars
        self._format, self._tools = settings.format, read_tools(request)
        self._settings = Settings(max_chars=settings.max_chars)

    def provider_stream(self) -> ProviderStream:
        """Return a reader of the upstream's stream."""
        return ProviderStream("openai", self._format, tools=self._tools, settings=self._settings)

    def rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a completion. Raises HttpError if it is malformed or an error."""
        choices: Any = body.get("choices")
        first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
        if "error" not in body and (not isinstance(first, dict) or not isinstance(first.get("message"), dict)):  # pyright: ignore[reportUnknownMemberType]
            raise bad_upstream_response("answer has no choice with a `message`")
        try:
            reply = parse_response(body, "openai", self._format, tools=self._tools, settings=self._settings)
        except OutspokenError as error:
            raise bad_upstream_response(f"answer cannot be read: {error}") from error
        if reply.error is not None:
            raise HttpError(502, f"the upstream reports an error: {reply.error.message}", "upstream_error")
        self.on_reply(reply)
        return self.target.complete(self.target.whole(reply), stop_of(body))

    def stream(self) -> ExportStream:
        """Begin a stream."""
        return ExportStream(self)


class ExportStream:
    """Rewrites a streamed completion: the upstream's bytes in, events of the API out."""

    def __init__(self, rewriter: ExportRewriter) -> None:
        self._rewriter = rewriter
        self._framer = Framer(rewriter.max_chars)
        self._stream = rewriter.provider_stream()
        self._exporter = rewriter.target.exporter()
        self._tail = b""
        self._finished = False
        self._stop: str | None = None
        #: an error was sent, which ends the stream
        self.failed = False

    def feed(self, piece: bytes) -> list[Part]:
        """Return the events that a piece of the body completes. Raises HttpError if it is no stream of completions."""
        self._tail = (self._tail + piece)[-TAIL_LENGTH:]
        try:
            return self._read(self._framer.feed(piece))
        except OutspokenError as error:
            raise bad_upstream_response(f"stream cannot be read: {error}") from error

    def close(self) -> list[Part]:
        """Return the last events. Raises HttpError if the upstream broke off."""
        if self.failed:
            return []
        try:
            values, rest = self._framer.close()
            parts = self._read(values)
        except OutspokenError as error:
            raise bad_upstream_response(f"stream cannot be read: {error}") from error
        if self.failed:
            return parts
        if b"[DONE]" not in self._tail and not self._finished:
            where = f" inside {rest[:40]!r}" if rest else ""
            raise HttpError(502, f"the upstream broke off{where}", "upstream_cut_off")
        return parts + self._end()

    def abort(self, error: HttpError) -> list[Part]:
        """Return the last events of a stream that breaks off: incomplete calls, and the error."""
        if self.failed:
            return []
        self.failed = True
        failure = ProviderError(message=error.message, type=error.type, code=error.code)
        return self._export([Failed(failure)]) + self._end()

    def _read(self, values: Iterable[tuple[str, Any]]) -> list[Part]:
        parts: list[Part] = []
        for _, value in values:
            if self.failed:
                break
            if not isinstance(value, dict):
                raise bad_upstream_response("stream has an event that is not an object")
            chunk = cast("dict[str, Any]", value)
            self._stop = stop_of(chunk) or self._stop
            parts += self._export(self._stream.feed(chunk))
            if self.failed:
                parts += self._end()
        return parts

    def _end(self) -> list[Part]:
        """Close the reader and the exporter."""
        parts = self._export(self._stream.close())
        parts += [self._complete(part) for part in self._exporter.close()]
        if self._stream.reply is not None:
            self._rewriter.on_reply(self._stream.reply)
        return parts

    def _export(self, events: Iterable[ProviderEvent]) -> list[Part]:
        parts: list[Part] = []
        for event in events:
            self._finished = self._finished or isinstance(event, Finished)
            self.failed = self.failed or isinstance(event, Failed)
            parts += self._exporter.feed(event)
        return [self._complete(part) for part in parts]

    def _complete(self, part: Part) -> Part:
        return self._rewriter.target.complete(part, self._stop)


def stop_of(body: dict[str, Any]) -> str | None:
    """Return the stop sequence that ended a completion or a chunk, if the upstream says so."""
    choices: Any = body.get("choices")
    first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    choice = cast("dict[str, Any]", first) if isinstance(first, dict) else {}
    return next((choice[key] for key in _STOPS if isinstance(choice.get(key), str)), None)
