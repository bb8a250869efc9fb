"""Rewrites the chat completions of an upstream: calls and reasoning in their text get fields of their own.

`Rewriter` is what all APIs share, for whole responses and streams. It uses no network: bytes or objects in, objects
out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias, cast

from outspoken.providers import requested
from outspoken.providers.decode.framing import Framer
from outspoken.providers.events import Failed, Finished, ProviderEvent
from outspoken.providers.replies import ProviderError, ProviderReply
from outspoken.providers.stream import ProviderOptions, ProviderStream
from outspoken.providers.wire.chat_completions.reader import STOPS
from outspoken.providers.wire.exporter import Exporter
from outspoken.providers.wire.parts import Part
from outspoken.rendering.history import render_history
from outspoken.results.errors import OutspokenError, RenderError, UnknownFormatError
from outspoken.results.events import Done, TextDelta
from outspoken.results.replies import has_failed_call, retry_of
from outspoken.results.settings import Settings

from .answers import JsonAnswer, object_of, schema_of
from .http_errors import HttpError, bad_upstream_response
from .settings import ServerSettings

#: The reasons for which a response ended that asking again would not change.
_FINAL = frozenset({"length", "content_filter", "refusal", "error"})
#: How many bytes of the end of a stream are kept to find `[DONE]`.
_TAIL_LENGTH = 32

#: Takes what was read of a response, for the metrics.
OnReply = Callable[[ProviderReply], None]
#: Adds to a part what only the request says, given the stop sequence that ended the response if the upstream says so.
Complete: TypeAlias = Callable[[Part, "str | None"], Part]


class Rewriter(ABC):
    """Rewrites the response to one request: a whole one with `rewrite`, or a stream, the upstream's bytes by `feed`.

    `request` is the one that the upstream gets. `on_reply` takes what was read of the response, or of each of its
    choices. Raises HttpError for a model whose format is not known.
    """

    def __init__(
        self, settings: ServerSettings, request: dict[str, Any], on_reply: OnReply = lambda reply: None
    ) -> None:
        self.settings, self.request, self._on_reply = settings, request, on_reply
        self._format, self._options = format_of(settings, request), provider_options(settings, request)
        self._schema = schema_of(request)
        #: how often the model may be asked again, which is for one choice
        can_ask = request.get("n") in (None, 1) and isinstance(request.get("messages"), list)
        self._left = settings.ask_again if can_ask else 0
        #: the messages with which the model is to be asked again; None if it is not
        self.again: list[Any] | None = None
        #: the usage so far, and that of the responses before
        self._usage: Any = None
        self._spent: Any = None
        #: the choices of a stream
        self.choices: dict[int, Choice] = {}
        #: an error was sent, which ends the stream
        self.failed = False
        self._begin()

    def _begin(self) -> None:
        self._framer, self._tail = Framer(self.settings.max_chars), b""

    def begin_again(self) -> list[Any]:
        """Read another response, in place of the one that has ended; return the messages that the model is told."""
        messages, self.again = self.again, None
        self._begin()
        return messages or []

    def with_rendered_history(self) -> dict[str, Any]:
        """The request with messages that are text in the format of its model. Raises HttpError if they cannot be."""
        messages, tools = self.request.get("messages"), self._options.get("tools")
        if not isinstance(messages, list):
            return self.request
        listed, action_tool = cast("list[Any]", messages), self.settings.action_tool
        try:
            rendered = render_history(listed, self._format, tools=tools, action_tool=action_tool)
        except (RenderError, TypeError) as error:
            raise HttpError(400, str(error), "history_not_rendered", "messages") from error
        return {**self.request, "messages": rendered}

    def source(self) -> tuple[ProviderStream, JsonAnswer | None]:
        """Return a reader of a response, and what reads its text as the JSON that the request wants, if it does."""
        answer = None if self._schema is None else JsonAnswer(self._schema, holds=self._left > 0)
        return ProviderStream(format=self._format, **self._options), answer

    def asks_again(self, reply: ProviderReply, answer: JsonAnswer | None) -> bool:
        """Note the end of a response, and return whether the model is to be asked `again`."""
        if reply.error is None:
            self._on_reply(reply)
        told = answer.retry if answer is not None else ""
        told = told or (retry_of(reply) if has_failed_call(reply) else "")
        if not told or not self._left or self.failed or reply.tool_calls or reply.error is not None:
            return False
        if reply.finish_reason in _FINAL:
            return False
        self._left -= 1
        self._spent = self._usage
        self.again = [{"role": "assistant", "content": reply.raw}, {"role": "user", "content": told}]
        return True

    def _with_usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a completion or chunk whose usage counts the responses before, for which the model was asked again."""
        if body.get("usage") is None:
            return body
        self._usage = _sum(self._spent, body["usage"])
        return body | {"usage": deepcopy(self._usage)}

    # whole responses

    def rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a completion. Raises HttpError if it is malformed."""
        try:
            return self._rewrite(self._with_usage(body))
        except OutspokenError as error:
            raise _unread("answer", error) from error

    # streams

    @property
    def has_finished(self) -> bool:
        """Has the upstream said why the response ends?"""
        return bool(self.choices) and all(choice.finished for choice in self.choices.values())

    def feed(self, piece: bytes) -> list[Part]:
        """Return the parts that a piece of the body completes. Raises HttpError if it is no stream of completions."""
        self._tail = (self._tail + piece)[-_TAIL_LENGTH:]
        try:
            return self._read(self._framer.feed(piece))
        except OutspokenError as error:
            raise _unread("stream", error) from error

    def close(self) -> list[Part]:
        """Return the last parts, only those before the end of the response if the model is to be asked again.

        Raises HttpError if the upstream broke off.
        """
        try:
            values, rest = self._framer.close()
            parts = self._read(values)
        except OutspokenError as error:
            raise _unread("stream", error) from error
        if self.failed or self.again:
            return parts
        if b"[DONE]" not in self._tail and not self.has_finished:
            where = f" inside {rest[:40]!r}" if rest else ""
            raise HttpError(502, f"the upstream broke off{where}", "upstream_cut_off")
        return parts + self.end()

    def end(self) -> list[Part]:
        """Return the last parts of a response."""
        parts: list[Part] = []
        for choice in self.choices.values():
            parts += choice.close()
            parts += [] if self.again else choice.exporter.close()
            if choice.failed:
                self.failed = True
                break
        return self._completed(parts)

    def _broken(self, error: ProviderError) -> list[Part]:
        """Return the last parts of choices that break off: incomplete calls, and the error."""
        self.failed = True
        parts: list[Part] = []
        for choice in self.choices.values():
            parts += choice.export([Failed(error)]) + choice.close() + choice.exporter.close()
        return parts

    def _read(self, values: Iterable[tuple[str, Any]]) -> list[Part]:
        parts: list[Part] = []
        for _, value in values:
            if self.failed or self.again:
                break
            chunk: dict[str, Any] = value
            if not isinstance(value, dict):
                raise bad_upstream_response("stream has an event that is not an object")
            parts += self._rewrite_chunk(chunk if chunk.get("usage") is None else self._with_usage(chunk))
        return parts

    # what an API writes

    @abstractmethod
    def _rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a completion."""

    @abstractmethod
    def _rewrite_chunk(self, chunk: dict[str, Any]) -> Iterable[Part]:
        """Return the parts for a chunk of a stream, or for an error."""

    @abstractmethod
    def abort(self, error: HttpError) -> list[Part]:
        """Return the last parts of a stream that breaks off: incomplete calls, and the error."""

    def _completed(self, parts: list[Part]) -> list[Part]:
        """Add to parts what only the request says."""
        return parts


class Choice:
    """Reads one choice, whole or in chunks, of one response or several, and writes it with an exporter."""

    def __init__(self, rewriter: Rewriter, exporter: Exporter) -> None:
        self._rewriter, self.exporter = rewriter, exporter
        self._has_text = False
        self._begin()

    def _begin(self) -> None:
        self._source, self._answer = self._rewriter.source()
        self.finished = self.failed = False

    def read(self, body: dict[str, Any]) -> ProviderReply:
        """Read a whole response."""
        reply = self._source.read(body)
        reply = reply if self._answer is None or reply.error is not None else self._answer.read(reply)
        self._rewriter.asks_again(reply, self._answer)
        return reply

    def feed(self, chunk: dict[str, Any]) -> list[Part]:
        """Return the parts for a chunk."""
        return self.export(self._source.feed(chunk))

    def close(self) -> list[Part]:
        """Return the last parts of a response; only those before its end if the model is to be asked again."""
        return self.export(self._source.close())

    def export(self, events: Iterable[ProviderEvent]) -> list[Part]:
        """Return the parts for some events."""
        parts: list[Part] = []
        for event in events:
            if self._answer is None and type(event) is TextDelta:
                self._has_text = True
                parts += self.exporter.feed(event)
                continue
            self.finished = self.finished or isinstance(event, Finished)
            self.failed = self.failed or isinstance(event, Failed)
            for sent in (event,) if self._answer is None else self._answer.events(event):
                self._has_text = self._has_text or isinstance(sent, TextDelta)
                if isinstance(sent, Done) and self._rewriter.asks_again(sent.reply, self._answer):
                    self.exporter.begin_again()
                    self._begin()
                    return parts + self.exporter.feed(TextDelta("\n\n" if self._has_text else ""))
                parts += self.exporter.feed(sent)
        return parts


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
        if "error" not in body and not isinstance(_first_choice(body).get("message"), dict):
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

    def abort(self, error: HttpError) -> list[Part]:
        failure = ProviderError(message=error.message, type=error.type, code=error.code)
        return [] if self.failed else self._completed(self._broken(failure))

    def _completed(self, parts: list[Part]) -> list[Part]:
        return [self._complete(part, self._stop) for part in parts]


def stop_of(body: dict[str, Any]) -> str | None:
    """Return the stop sequence that ended a completion or a chunk, if the upstream says so."""
    choice = _first_choice(body)
    return next((choice[key] for key in STOPS if isinstance(choice.get(key), str)), None)


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    return object_of(next(iter(_list_of(body.get("choices"))), None))


def _unread(subject: str, error: OutspokenError) -> HttpError:
    """The error of what cannot be read, as one for the client."""
    return bad_upstream_response(f"{subject} cannot be read: {error}")


def _sum(one: Any, other: Any) -> Any:
    """The sum of two usages: of their numbers, and of those in their objects."""
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return {**first, **{key: _sum(first.get(key), value) for key, value in second.items()}}
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return cast("Any", one if other is None else other)


def provider_options(settings: ServerSettings, request: dict[str, Any]) -> ProviderOptions:
    """The options of `ProviderStream` for the response to a chat completion, beside the format."""
    messages: list[Any] = [
        message if isinstance(message, dict) else "" for message in _list_of(request.get("messages"))
    ]
    return {
        "thinking": _thinking_of(request),
        "prefix": settings.prefix,
        "tools": requested.readable_tools(_list_of(request.get("tools"))),
        "settings": Settings(max_chars=settings.max_chars),
        "context": messages or None,  # of others than objects, the upstream says what is wrong with them
        "tool_choice": choice_of(request),
        "parallel": request.get("parallel_tool_calls") is not False,
        "stops": bool(request.get("stop")),
        "shows_invalid": settings.show_invalid and not settings.ask_again,
    }


def _list_of(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def format_of(settings: ServerSettings, request: dict[str, Any]) -> str:
    """The format of the model that a request names. Raises HttpError if it is not known."""
    try:
        return settings.format_of(request.get("model"))
    except UnknownFormatError as error:
        problem = f"{error}; set it where the proxy is started: --model 'MODEL=FORMAT', or --format"
        raise HttpError(400, problem, "unknown_model", "model") from None


def choice_of(request: dict[str, Any]) -> str:
    """What a request lets the model call; see `requested.choice_of`."""
    if not any(isinstance(request.get(key), list) and request[key] for key in ("tools", "functions")):
        return "none"
    return requested.choice_of(request.get("tool_choice", request.get("function_call")))


def _thinking_of(request: dict[str, Any]) -> bool | None:
    """Does a request ask the model to think, as it tells the chat template? None if it says nothing."""
    named = object_of(request.get("chat_template_kwargs"))
    found = [named[key] for key in ("enable_thinking", "thinking") if isinstance(named.get(key), bool)]
    return found[0] if found else None
