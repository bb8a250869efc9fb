"""Reads one response of a provider: `parse_response` at once, `stream_response` and `ProviderStream` in chunks."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Any, cast

from outspoken.grammar.registry import prompt_end
from outspoken.parsing.event_stream import AsyncEventStream, EventStream, OneResponse
from outspoken.parsing.options import ParserOptions, prefix_of, read_options
from outspoken.results.arguments import check_async_chunks, check_chunks, check_type
from outspoken.results.errors import LimitError, ResponseError, StreamClosedError
from outspoken.results.old_names import by_keyword

from .assembly.assembler import Assembler
from .assembly.recorder import ContentOptions
from .decode.framing import DONE, Framer, parse_json
from .decode.json_object import JsonObject, describe_value
from .decode.sdk_objects import ChunkLike, chunk_data
from .errors import ProviderFormatError
from .events import ProviderEvent
from .registry import Provider, find_provider, make_reader
from .replies import ProviderReply
from .wire.reader import ApiReader, find_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The keys of an object that stands for a server-sent event.
_EVENT_KEYS = frozenset({"data", "event", "id", "retry"})
#: The value of `format` that selects the format of the provider's content.
PROVIDER_FORMAT = "provider"


class ProviderOptions(ParserOptions, total=False):
    """The options of `ProviderStream` and `parse_response`; see `ProviderStream`."""

    prefix: str | None
    thinking: bool | None
    choice: int
    tool_choice: str
    parallel: bool
    stops: bool
    shows_invalid: bool


class ProviderStream(OneResponse):
    """Reads one response of a provider that arrives in chunks.

    A chunk is a dict, an object of an SDK, or a piece of the body as bytes or text, split anywhere: server-sent events,
    lines of JSON, a list of JSON, one JSON object, the frames of Bedrock. Lines may come with or without line ends.

    `format` says how the content is read: the name of a format, "auto", or None for plain text. By default it is None,
    except for providers that are known to write reasoning into the content. `tools` are the tools of the request; see
    `Parser` for them and the other options, and `Parser.parse` for `prefix`. `thinking` says whether the prompt asked a
    model to think whose id the `format` is; None for what is usual. Of several choices, the one with the index `choice`
    is read; the others are reported as `other-choices`.

    The others say what the request asked for. `tool_choice` is "auto", "none", "required" or the name of a tool: with
    "none", markup of calls is text, and native calls are refused, as calls of other tools than the named one are, and
    without `parallel` all calls but the first (`unwanted-call`); a call that is required and not there is a
    `missing-call`. With `stops`, the model was to stop at texts of the request, so its end proves nothing. With
    `shows_invalid`, the text of an invalid call is a part of the reply's text.

    Raises UnknownProviderError, and what `Parser` raises.
    """

    @by_keyword
    def __init__(
        self,
        provider: Provider = "openai",
        *,
        format: str | None = PROVIDER_FORMAT,
        prefix: str | None = None,
        thinking: bool | None = None,
        choice: int = 0,
        tool_choice: str = "auto",
        parallel: bool = True,
        stops: bool = False,
        shows_invalid: bool = False,
        **options: Unpack[ParserOptions],
    ) -> None:
        self._usual_reader, usual = find_provider(provider)
        format = usual if format == PROVIDER_FORMAT else format
        if tool_choice == "none":
            options["calls"] = False
        checked = read_options("text" if format is None else format, **options)
        if thinking is not None and format not in (None, checked.format, "auto"):
            checked = checked._replace(prefix=prompt_end(format, thinking))
        name, settings = format and (checked.format or "auto"), checked.settings
        check_type(tool_choice, str, "tool_choice")
        wanted = (choice, tool_choice, parallel, stops, shows_invalid)
        self._assembler = Assembler(ContentOptions(provider, name, checked, prefix_of(prefix), *wanted))
        self._raise_errors = checked.on_error == "raise"
        self._framer = Framer(settings.max_chars)
        self._reader: ApiReader | None = None
        self._count = 0
        #: the reply, once the stream is closed
        self.reply: ProviderReply | None = None

    def feed(self, chunk: ChunkLike) -> list[ProviderEvent]:
        """Read a chunk and return the events that it completes.

        Raises ProviderFormatError if the provider's API has no such chunk; you may go on with the next one. Raises
        StreamClosedError after `close`, LimitError if the response exceeds a limit of the settings, and TypeError for
        anything but a dict, an object of an SDK, str or bytes.
        """
        return self._feed(chunk, "chunk")

    def _feed(self, chunk: ChunkLike, argument: str) -> list[ProviderEvent]:
        if self.reply is not None:
            raise StreamClosedError
        if isinstance(chunk, (str, bytes, bytearray)):
            for name, value in self._framer.feed(chunk if isinstance(chunk, str) else bytes(chunk)):
                if name == "error" or not self._read_content(value):
                    self._read(name, value)
        elif not self._read_content(chunk):
            self._read("", chunk_data(chunk, argument))
        return self._assembler.take_events()

    def feed_content(self, chunk: dict[str, Any]) -> list[ProviderEvent] | None:
        """Read a chunk as `feed` does if it has a piece of the content and nothing else; None if it was not read."""
        return self._assembler.take_events() if self.reply is None and self._read_content(chunk) else None

    def close(self) -> list[ProviderEvent]:
        """End the response and return the last events; closing again returns none.

        A call that has not ended is unfinished. With `on_error="raise"`, raises ResponseError if there is an error.
        """
        if self.reply is None:
            self.end()
        return self._assembler.take_events()

    def end(self, *, whole: bool = False) -> ProviderReply:
        """End the response and return the reply. With `whole`, raises ProviderFormatError if it is cut off or empty."""
        values, rest = self._framer.close()
        for name, value in values:
            self._read(name, value)
        if whole and (rest or not self._count):
            raise ProviderFormatError("", f"cut off: {rest[:40]!r}" if rest else "empty", "a JSON object")
        if self._reader is not None:
            self._reader.end()
        self._assembler.cut_off(rest)
        self.reply = self._assembler.close()
        if self._raise_errors:
            error = next((diagnostic for diagnostic in self.reply.diagnostics if diagnostic.severity == "error"), None)
            if error is not None:
                raise ResponseError(error, self.reply)
        return self.reply

    def read(self, response: ChunkLike) -> ProviderReply:
        """Read a whole response at once; see `parse_response`."""
        self._assembler.read_whole()
        self._feed(response, "response")
        return self.end(whole=True)

    def _read_content(self, chunk: Any) -> bool:
        """Read a chunk with a piece of the content and nothing else, as most are. Returns whether it is one."""
        fields: dict[str, Any] = chunk
        text = self._reader.content_of(fields) if self._reader is not None and type(fields) is dict else None
        if text is None:
            return False
        self._count += 1
        try:
            self._assembler.add("text", text)
        except LimitError as error:
            self._stop_at(error)
            raise
        return True

    def _stop_at(self, error: LimitError) -> None:
        """The response ends at a limit."""
        self.reply = error.reply if isinstance(error.reply, ProviderReply) else None

    def _read(self, name: str, value: Any) -> None:
        """Read a JSON value, with the name of its event."""
        name, value = _without_event(name, value)
        if isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                self._read(name, item)
            return
        self._count += 1
        try:
            if not isinstance(value, dict):
                raise ProviderFormatError("", describe_value(value), "an object")
            self._read_object(name, JsonObject(value))
        except LimitError as error:
            self._stop_at(error)
            raise
        except ProviderFormatError as error:
            if error.place or self._count == 1:
                raise
            raise ProviderFormatError(error.path, error.found, error.expected, f"chunk {self._count}") from None

    def _read_object(self, name: str, body: JsonObject) -> None:
        """Read an object. An error in place of a response is the same for all APIs."""
        error = find_error(body) if name == "error" or (self._reader is None and body.get("error")) else None
        if error is not None and not body.has("choices", "output"):
            if self._reader is not None:
                self._reader.read_extension(body)
            self._assembler.failed(error)
            return
        if self._reader is None:
            self._reader = make_reader(self._usual_reader, body, self._assembler)
        self._reader.read(body)


def _without_event(name: str, value: Any) -> tuple[str, Any]:
    """The name and the value in an object that stands for a server-sent event, as some SDKs return them."""
    event: dict[str, Any] = cast("Any", value) if isinstance(value, dict) else {}
    if "data" not in event or not _EVENT_KEYS.issuperset(event):
        return name, cast("Any", value)
    data: Any = event["data"]
    if isinstance(data, str):
        data = cast("Any", []) if data.strip() in ("", DONE) else parse_json(data, "the data of an event")
    return str(event.get("event") or name), data


@by_keyword
def parse_response(
    response: ChunkLike,
    provider: Provider = "openai",
    *,
    format: str | None = PROVIDER_FORMAT,
    **options: Unpack[ProviderOptions],
) -> ProviderReply:
    """Read a whole response: a dict, an object of an SDK, or JSON as text or bytes. See `ProviderStream` for options.

    If the provider reports an error, it is in `reply.error`. Raises ProviderFormatError if this is no response, and
    TypeError for anything else.
    """
    return ProviderStream(provider, format=format, **options).read(response)


@by_keyword
def stream_response(
    chunks: Iterable[ChunkLike],
    provider: Provider = "openai",
    *,
    format: str | None = PROVIDER_FORMAT,
    **options: Unpack[ProviderOptions],
) -> EventStream[ProviderEvent, ProviderReply]:
    """Read a response that arrives in chunks: an iterator of events, each as soon as it is certain.

    The last event is `Done`. Its reply, which is also the `reply` of the iterator, equals that of `parse_response` for
    the whole response. See `ProviderStream` for chunks and options, and for what they raise.
    """
    check_chunks(chunks, "parse_response", "astream_response")
    source = ProviderStream(provider, format=format, **options)
    return EventStream(source, chunks, source.close)


@by_keyword
def astream_response(
    chunks: AsyncIterable[ChunkLike],
    provider: Provider = "openai",
    *,
    format: str | None = PROVIDER_FORMAT,
    **options: Unpack[ProviderOptions],
) -> AsyncEventStream[ProviderEvent, ProviderReply]:
    """Like `stream_response`, for an asynchronous iterable of chunks."""
    check_async_chunks(chunks, "stream_response")
    source = ProviderStream(provider, format=format, **options)
    return AsyncEventStream(source, chunks, source.close)
