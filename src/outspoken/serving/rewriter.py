"""Rewrites the chat completions of an upstream: calls and reasoning in their text get fields of their own.

`Rewriter` is what all APIs share, and `ResponseStream` its streams; `CompletionRewriter` writes chat completions again.

It uses no network: bytes or objects in, objects out.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, cast

from outspoken.notations.tools import Tools
from outspoken.providers.decode.framing import Framer
from outspoken.providers.events import Failed, Finished, ProviderEvent
from outspoken.providers.export.chat_completions import ChatCompletionsExporter, ChatCompletionsOptions
from outspoken.providers.export.exporter import Exporter
from outspoken.providers.export.parts import Part
from outspoken.providers.export.wires import to_wire
from outspoken.providers.replies import EXTENSION, ProviderReply
from outspoken.providers.stream import ProviderOptions, ProviderStream, parse_response
from outspoken.results.errors import OutspokenError, UnknownFormatError
from outspoken.results.events import Done, TextDelta
from outspoken.results.replies import has_failed_call, retry_of
from outspoken.results.settings import Settings

from .answers import JsonAnswer, schema_of
from .http_errors import HttpError, bad_upstream_response
from .settings import ServerSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The fields of a message or delta that are rewritten; all others pass through.
_MESSAGE_FIELDS = frozenset({
    "role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "thinking",
})  # fmt: skip
#: The reasons for which a response ended that asking again would not change.
_FINAL = frozenset({"length", "content_filter", "refusal", "error"})
#: The same of a choice, and of a chunk.
_CHOICE_FIELDS = frozenset({"index", "delta", "message", "finish_reason"})
_CHUNK_FIELDS = frozenset({"id", "object", "created", "model", "choices"})
#: The fields in which upstreams send reasoning.
_REASONING_FIELDS = ("reasoning_content", "reasoning")
#: How many bytes of the end of a stream are kept to find `[DONE]`.
_TAIL_LENGTH = 32

#: Takes what was read of a response, for the metrics.
OnReply = Callable[[ProviderReply], None]


class Rewriter(ABC):
    """Rewrites the response to one request, whole or as a stream. `request` is the one that the upstream gets.

    `on_reply` takes what was read of the response, or of each of its choices. Raises HttpError for a model whose format
    is not known.
    """

    def __init__(self, settings: ServerSettings, request: dict[str, Any], on_reply: OnReply) -> None:
        self.settings, self.on_reply = settings, on_reply
        self._format = format_of(settings, request)
        messages: Any = request.get("messages")
        self._options: ProviderOptions = {
            "thinking": _thinking_of(request),
            "prefix": settings.prefix,
            "tools": read_tools(request),
            "settings": Settings(max_chars=settings.max_chars),
            "context": cast("list[Any]", messages) if isinstance(messages, list) else None,
            "tool_choice": choice_of(request),
            "parallel": request.get("parallel_tool_calls") is not False,
            "stops": bool(request.get("stop")),
            "shows_invalid": settings.show_invalid and not settings.ask_again,
        }
        self._schema = schema_of(request)
        #: how often the model may be asked again, which is for one choice
        self._left = settings.ask_again if request.get("n") in (None, 1) and isinstance(messages, list) else 0
        #: the messages with which the model is to be asked again; None if it is not
        self.again: list[Any] | None = None
        self._usage: Any = None
        self._spent: Any = None

    def read(self, body: dict[str, Any]) -> ProviderReply:
        """Read a completion."""
        reply, answer = parse_response(body, format=self._format, **self._options), self.answer()
        reply = reply if answer is None or reply.error is not None else answer.read(reply)
        self.end(reply, answer)
        return reply

    def provider_stream(self) -> ProviderStream:
        """Return a reader of the upstream's stream."""
        return ProviderStream(format=self._format, **self._options)

    def answer(self) -> JsonAnswer | None:
        """Return what reads the text of a response as the JSON that the request wants; None if it wants text."""
        return None if self._schema is None else JsonAnswer(self._schema, holds=self._left > 0)

    def end(self, reply: ProviderReply, answer: JsonAnswer | None) -> bool:
        """Note the end of a response, and return whether the model is to be asked `again`."""
        if reply.error is None:
            self.on_reply(reply)
        told = answer.retry if answer is not None else ""
        told = told or (retry_of(reply) if has_failed_call(reply) else "")
        if not told or not self._left or reply.tool_calls or reply.finish_reason in _FINAL or reply.error is not None:
            return False
        self._left -= 1
        self._spent = self._usage
        self.again = [{"role": "assistant", "content": reply.raw}, {"role": "user", "content": told}]
        return True

    def with_usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a completion or chunk whose usage counts the responses before, for which the model was asked again."""
        if body.get("usage") is None:
            return body
        self._usage = _sum(self._spent, body["usage"])
        return body | {"usage": deepcopy(self._usage)}

    def stream(self) -> ResponseStream:
        """Begin a stream."""
        return ResponseStream(self)

    @abstractmethod
    def rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a completion. Raises HttpError if it is malformed."""

    @abstractmethod
    def rewrite_chunk(self, stream: ResponseStream, chunk: dict[str, Any]) -> Iterable[Part]:
        """Return the parts for a chunk of a stream, or for an error."""

    @abstractmethod
    def break_off(self, stream: ResponseStream, error: HttpError) -> list[Part]:
        """Return the last parts of a stream that breaks off."""

    def completed(self, stream: ResponseStream, parts: list[Part]) -> list[Part]:
        """Add to parts what only the request says."""
        return parts


class ResponseStream:
    """Rewrites a streamed completion: the upstream's bytes in, the parts of an API out."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter, self._max_chars = rewriter, rewriter.settings.max_chars
        self._framer = Framer(self._max_chars)
        self._tail = b""
        self.choices: dict[int, StreamedChoice] = {}
        #: an error was sent, which ends the stream
        self.failed = False
        #: the stop sequence that ended the response, if the upstream says so
        self.stop: str | None = None

    @property
    def has_finished(self) -> bool:
        """Has the upstream said why the response ends?"""
        return bool(self.choices) and all(choice.finished for choice in self.choices.values())

    def begin_again(self) -> None:
        """Read another response, which takes the place of the one that has ended."""
        self._framer, self._tail = Framer(self._max_chars), b""
        self._rewriter.again = None

    def feed(self, piece: bytes) -> list[Part]:
        """Return the parts that a piece of the body completes. Raises HttpError if it is no stream of completions."""
        self._tail = (self._tail + piece)[-_TAIL_LENGTH:]
        try:
            return self._read(self._framer.feed(piece))
        except OutspokenError as error:
            raise bad_upstream_response(f"stream cannot be read: {error}") from error

    def close(self) -> list[Part]:
        """Return the last parts. Raises HttpError if the upstream broke off."""
        try:
            values, rest = self._framer.close()
            parts = self._read(values)
        except OutspokenError as error:
            raise bad_upstream_response(f"stream cannot be read: {error}") from error
        if self.failed or self._rewriter.again:
            return parts
        if b"[DONE]" not in self._tail and not self.has_finished:
            where = f" inside {rest[:40]!r}" if rest else ""
            raise HttpError(502, f"the upstream broke off{where}", "upstream_cut_off")
        return parts + self.end()

    def end(self) -> list[Part]:
        """Return the last parts of a response; only those before its end if the model is to be asked again."""
        parts: list[Part] = []
        for choice in self.choices.values():
            parts += choice.close()
            parts += [] if self._rewriter.again else choice.exporter.close()
            if choice.failed:
                self.failed = True
                break
        return self._rewriter.completed(self, parts)

    def abort(self, error: HttpError) -> list[Part]:
        """Return the last parts of a stream that breaks off: incomplete calls, and the error."""
        if self.failed:
            return []
        self.failed = True
        return self._rewriter.break_off(self, error)

    def _read(self, values: Iterable[tuple[str, Any]]) -> list[Part]:
        parts: list[Part] = []
        for _, value in values:
            if self.failed or self._rewriter.again:
                break
            if not isinstance(value, dict):
                raise bad_upstream_response("stream has an event that is not an object")
            chunk = self._rewriter.with_usage(cast("dict[str, Any]", value))
            parts += self._rewriter.rewrite_chunk(self, chunk)
        return parts


def format_of(settings: ServerSettings, request: dict[str, Any]) -> str:
    """The format of the model that a request names. Raises HttpError if it is not known."""
    try:
        return settings.format_of(request.get("model"))
    except UnknownFormatError as error:
        problem = f"{error}; set it where the proxy is started: --model 'MODEL=FORMAT', or --format"
        raise HttpError(400, problem, "unknown_model", "model") from None


def choice_of(request: dict[str, Any]) -> str:
    """What a request lets the model call: "auto", "none", "required", or a tool by its name."""
    choice: Any = request.get("tool_choice", request.get("function_call"))
    if not any(isinstance(request.get(key), list) and request[key] for key in ("tools", "functions")):
        return "none"
    if isinstance(choice, dict):
        given = cast("dict[str, Any]", choice)
        function: Any = given.get("function", given)
        choice = cast("dict[str, Any]", function).get("name") if isinstance(function, dict) else None
        return choice if isinstance(choice, str) and choice else "auto"
    return choice if choice in ("none", "required") else "auto"


def _sum(one: Any, other: Any) -> Any:
    """The sum of two usages: of their numbers, and of those in their objects."""
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return {**first, **{key: _sum(first.get(key), value) for key, value in second.items()}}
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return cast("Any", one if other is None else other)


def _thinking_of(request: dict[str, Any]) -> bool | None:
    """Does a request ask the model to think, as it tells the chat template? None if it says nothing."""
    given: Any = request.get("chat_template_kwargs")
    named = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    found = [named[key] for key in ("enable_thinking", "thinking") if isinstance(named.get(key), bool)]
    return found[0] if found else None


def read_tools(request: dict[str, Any]) -> Tools | None:
    """Return the functions among the tools of a request; the upstream runs all others."""
    listed: Any = request.get("tools")
    found: list[Any] = []
    for tool in cast("list[Any]", listed) if isinstance(listed, list) else []:
        try:
            Tools.of([tool])
        except OutspokenError:
            continue
        found.append(tool)
    return Tools.of(found) if found else None


def _read_choices(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the choices of a completion or chunk, each with its index. Raises HttpError if they are malformed."""
    listed: Any = body.get("choices")
    found: list[tuple[int, dict[str, Any]]] = []
    for item in cast("list[Any]", listed) if isinstance(listed, list) else [None]:
        choice = cast("dict[str, Any]", item) if isinstance(item, dict) else {"index": "none"}
        index: Any = choice.get("index")
        if not isinstance(index, int | None) or not isinstance(choice.get("delta"), dict | None):
            raise bad_upstream_response("answer has malformed `choices`")
        found.append((index or 0, choice))
    return found


def _seed_of(request: dict[str, Any]) -> str:
    """Return a seed for the ids of calls: the same for a request and its stream, and another in each turn.

    The id of a completion is not enough. Some servers give few, and agents reject an id that an earlier turn had.
    """
    messages = json.dumps(request.get("messages"), sort_keys=True)
    return hashlib.sha256(messages.encode()).hexdigest()[:16]


class _ServedExporter(ChatCompletionsExporter):
    """Exports a choice; `seed` and the id of the completion determine the ids of its calls."""

    def __init__(self, seed: str, **options: Unpack[ChatCompletionsOptions]) -> None:
        super().__init__(**options)
        self._seed = f"{self.id}:{seed}"

    @property
    def _call_id_seed(self) -> str:
        return f"{self._seed}:{self._index}" if self._index else self._seed


class CompletionRewriter(Rewriter):
    """Rewrites completions, with the settings of the proxy and the tools of a request."""

    def __init__(
        self, settings: ServerSettings, request: dict[str, Any], on_reply: OnReply = lambda reply: None
    ) -> None:
        super().__init__(settings, request, on_reply)
        self.call_seed = _seed_of(request)

    def rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a completion. Raises HttpError if it is malformed."""
        if "error" in body and "choices" not in body:
            return body
        body = self.with_usage(body)
        try:
            choices = [self._rewrite_choice(body, index, choice) for index, choice in _read_choices(body)]
        except OutspokenError as error:
            raise bad_upstream_response(f"answer cannot be read: {error}") from error
        return body | {"choices": choices}

    def _rewrite_choice(self, body: dict[str, Any], index: int, choice: dict[str, Any]) -> dict[str, Any]:
        message: Any = choice.get("message")
        if not isinstance(message, dict):
            raise bad_upstream_response("answer has a choice without `message`")
        message = cast("dict[str, Any]", message)
        read = {key: value for key, value in message.items() if key != EXTENSION}  # passes through
        reply = self.read(body | {"choices": [{**choice, "index": 0, "message": read}]})
        completion = to_wire(
            reply,
            "openai",
            id=f"{body.get('id')}:{self.call_seed}",  # only the ids of calls come from it
            index=index,
            reasoning_field=self.reasoning_field(message),
            action_tool=self.settings.action_tool,
            facts=True,
        )
        if "error" in completion:
            return choice
        (new,) = completion["choices"]
        kept = {key: value for key, value in message.items() if key not in _MESSAGE_FIELDS}
        return choice | {"message": kept | new["message"], "finish_reason": new["finish_reason"]}

    def break_off(self, stream: ResponseStream, error: HttpError) -> list[Part]:
        """Return the last parts of a stream that breaks off."""
        return [part for choice in _rewriters(stream) for part in choice.abort()] + [error.body]

    def rewrite_chunk(self, stream: ResponseStream, chunk: dict[str, Any]) -> Iterator[Part]:
        """Rewrite a chunk, or an error. A chunk without choices, such as the usage, follows their end."""
        if chunk.get("error"):
            for choice in _rewriters(stream):
                yield from choice.abort()
            stream.failed = True
            yield {"error": chunk["error"]}
        elif chunk.get("choices"):
            kept = {key: found for key, found in chunk.items() if key not in _CHUNK_FIELDS and found is not None}
            for index, choice in _read_choices(chunk):
                if index not in stream.choices:
                    stream.choices[index] = _ChoiceRewriter(self, index, chunk)
                rewriter = cast("_ChoiceRewriter", stream.choices[index])
                yield from [part | kept for part in rewriter.feed_choice(chunk, choice)]
        else:
            if stream.has_finished:
                yield from stream.end()
            if self.again is None:
                yield chunk

    def reasoning_field(self, message: dict[str, Any]) -> str:
        """Return the field for reasoning: the upstream's own, or that of the settings."""
        return next((key for key in _REASONING_FIELDS if message.get(key)), self.settings.reasoning_field)


class StreamedChoice:
    """Reads one choice of a stream, of one response or several, and writes it with an exporter."""

    def __init__(self, rewriter: Rewriter, exporter: Exporter) -> None:
        self._rewriter, self.exporter = rewriter, exporter
        self._has_text = False
        self._begin()

    def _begin(self) -> None:
        self._stream, self._answer = self._rewriter.provider_stream(), self._rewriter.answer()
        self.finished = self.failed = False

    def feed(self, chunk: dict[str, Any]) -> list[Part]:
        """Return the parts for a chunk."""
        return self.export(self._stream.feed(chunk))

    def close(self) -> list[Part]:
        """Return the last parts of a response; only those before its end if the model is to be asked again."""
        return self.export(self._stream.close())

    def export(self, events: Iterable[ProviderEvent]) -> list[Part]:
        """Return the parts for some events."""
        parts: list[Part] = []
        for event in events:
            self.finished = self.finished or isinstance(event, Finished)
            self.failed = self.failed or isinstance(event, Failed)
            for sent in (event,) if self._answer is None else self._answer.events(event):
                self._has_text = self._has_text or isinstance(sent, TextDelta)
                if isinstance(sent, Done) and self._rewriter.end(sent.reply, self._answer):
                    self.exporter.begin_again()
                    self._begin()
                    return parts + self.exporter.feed(TextDelta("\n\n" if self._has_text else ""))
                parts += self.exporter.feed(sent)
        return parts


class _ChoiceRewriter(StreamedChoice):
    """Rewrites one choice of a stream of completions; `chunk` is the first with it."""

    exporter: _ServedExporter

    def __init__(self, rewriter: CompletionRewriter, index: int, chunk: dict[str, Any]) -> None:
        settings, created = rewriter.settings, chunk.get("created")
        self._field = rewriter.reasoning_field
        exporter = _ServedExporter(
            rewriter.call_seed,
            id=str(chunk.get("id") or "") or None,
            model=str(chunk.get("model") or "") or None,
            created=created if isinstance(created, int) else None,
            index=index,
            include_usage=False,
            reasoning_field=settings.reasoning_field,
            action_tool=settings.action_tool,
            stream_calls=settings.stream_calls,
            facts=True,
        )
        super().__init__(rewriter, exporter)

    def feed_choice(self, chunk: dict[str, Any], choice: dict[str, Any]) -> list[Part]:
        """Rewrite the choice of a chunk. Its other fields are in the first chunk that is returned."""
        delta = cast("dict[str, Any]", choice.get("delta") or {})
        if any(delta.get(key) for key in _REASONING_FIELDS):
            self.exporter.reasoning_field = self._field(delta)
        read = {key: value for key, value in delta.items() if key != EXTENSION}  # passes through
        chunk = chunk | {"choices": [{**choice, "index": 0, "delta": read}], "usage": None}
        parts = self.export([event for event in self._stream.feed(chunk) if not isinstance(event, Failed)])
        kept_choice = {key: value for key, value in choice.items() if key not in _CHOICE_FIELDS and value is not None}
        kept_delta = {key: value for key, value in delta.items() if key not in _MESSAGE_FIELDS and value is not None}
        if kept_choice or kept_delta:
            parts = parts or [self.exporter.empty_chunk()]
            first = parts[0]["choices"][0]
            first |= kept_choice
            first["delta"] |= kept_delta
        return parts

    def abort(self) -> list[Part]:
        """Return the last chunks of a choice that breaks off: incomplete calls, and no finish reason."""
        if self.finished:
            self.close()
            return []
        return [part for part in self.close() if "error" not in part and not part["choices"][0]["finish_reason"]]


def _rewriters(stream: ResponseStream) -> list[_ChoiceRewriter]:
    return cast("list[_ChoiceRewriter]", [*stream.choices.values()])
