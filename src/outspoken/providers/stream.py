"""What a caller uses: one response of a provider, in chunks or at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.grammar.registry import resolve
from outspoken.notations.tools import Tools
from outspoken.parsing.session import OnError, check_repair_limit
from outspoken.results.edits import RepairLimit
from outspoken.results.errors import LimitError, ResponseError, StreamClosedError
from outspoken.results.settings import DEFAULT, Settings, with_screen

from .assembly import Assembly, Options
from .errors import ProviderFormatError
from .events import ProviderEvent
from .framing import Framer
from .nodes import Node, shown
from .plain import plain
from .reading import Reader, find_error
from .replies import ProviderReply
from .table import content_format, provider_of, reader_of

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen, Space

#: stands for the format that the provider's content has
OWN = "provider"


class ProviderStream:
    """Reads one response of a provider that arrives in chunks.

    A chunk is a dict, an object of an SDK, or a piece of the body as bytes or text, split anywhere: server-sent events,
    lines of JSON, a list of JSON, one JSON object, Bedrock's frames. Lines may come with or without their ends.

    `format` is how the content is read: the name of a format, "auto", or None for text, whatever stands in it. If
    nothing is said it is None, but for providers that are known to write their reasoning into the content. `tools`
    are the tools of the request; see `parse` for them and for the rest.

    Raises UnknownProviderError, UnknownFormatError, ToolError, and ValueError for an unknown `repair`.
    """

    def __init__(
        self,
        provider: str = "openai",
        format: str | None = OWN,
        *,
        tools: Any = None,
        prefix: str | None = None,
        on_error: OnError = "keep",
        repair: RepairLimit | None = None,
        coordinates: Space | None = None,
        screen: Screen | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._provider = provider_of(provider)
        if on_error not in ("keep", "raise"):
            raise ValueError(f'`on_error` is {on_error!r}; expected "keep" or "raise"')
        repair_limit: RepairLimit = repair if repair is not None else "none" if on_error == "raise" else "strings"
        check_repair_limit(repair_limit)
        format = content_format(provider) if format == OWN else format
        if format not in (None, "auto"):
            format = resolve(format)
        settings = with_screen(settings, coordinates, screen) or DEFAULT
        self._to = Assembly(Options(provider, format, Tools.of(tools), prefix, repair_limit, settings))
        self._raising = on_error == "raise"
        self._framer = Framer(settings.max_chars)
        self._reader: Reader | None = None
        self._count = 0
        #: the whole result, once the stream is closed
        self.reply: ProviderReply | None = None

    def feed(self, chunk: Any) -> list[ProviderEvent]:
        """Read a chunk, and return the events that it completes.

        Raises ProviderFormatError for what the provider's API does not have; the stream goes on behind it. Raises
        StreamClosedError after `close`, and LimitError over the limit of the settings.
        """
        if self.reply is not None:
            raise StreamClosedError("the stream was closed; make a new ProviderStream for the next response")
        if isinstance(chunk, (bytes, bytearray)):
            values = self._framer.feed(bytes(chunk))
        elif isinstance(chunk, str):
            values = self._framer.feed(chunk)
        else:
            values = [("", plain(chunk))]
        for name, value in values:
            self._read(name, value)
        return self._drain()

    def close(self) -> list[ProviderEvent]:
        """The response has ended. Returns the last events; closing again returns nothing.

        What was announced and never ended is unfinished then. Raises ResponseError with `on_error="raise"`, where the
        response has an error.
        """
        if self.reply is None:
            self.end()
        return self._drain()

    def end(self, *, whole: bool = False) -> ProviderReply:
        """The same, and the reply instead of the events. A `whole` response that is not whole is refused."""
        values, left = self._framer.close()
        for name, value in values:
            self._read(name, value)
        if whole and (left or not self._count):
            raise ProviderFormatError("", f"cut off: {left[:40]!r}" if left else "empty", "a JSON object")
        if self._reader is not None:
            self._reader.end()
        self._to.cut(left)
        self.reply = self._to.close()
        if self._raising:
            error = next((found for found in self.reply.diagnostics if found.severity == "error"), None)
            if error is not None:
                raise ResponseError(error, self.reply)
        return self.reply

    def _read(self, name: str, value: Any) -> None:
        """Read one JSON value of the stream."""
        if isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                self._read(name, item)
            return
        self._count += 1
        try:
            if not isinstance(value, dict):
                raise ProviderFormatError("", shown(value), "an object")
            self._take(name, Node(value))
        except LimitError as error:
            self.reply = error.reply if isinstance(error.reply, ProviderReply) else None
            raise
        except ProviderFormatError as error:
            if error.place or self._count == 1:
                raise
            raise ProviderFormatError(error.path, error.found, error.expected, f"chunk {self._count}") from None

    def _take(self, name: str, node: Node) -> None:
        error = find_error(node) if name == "error" or (self._reader is None and node.get("error")) else None
        if error is not None and not node.has("choices", "output"):
            if self._reader is not None:
                self._reader.beyond(node)
            self._to.failed(error)
            return
        if self._reader is None:
            self._reader = reader_of(self._provider, node, self._to)
        self._reader.read(node)

    def _drain(self) -> list[ProviderEvent]:
        events, self._to.events = self._to.events, []
        return events


def parse_response(
    response: Any,
    provider: str = "openai",
    format: str | None = OWN,
    *,
    tools: Any = None,
    prefix: str | None = None,
    on_error: OnError = "keep",
    repair: RepairLimit | None = None,
    coordinates: Space | None = None,
    screen: Screen | None = None,
    settings: Settings | None = None,
) -> ProviderReply:
    """Read a whole response: a dict, JSON as text or bytes, or an object of an SDK. See `ProviderStream` for the rest.

    An error that the provider reports is in `reply.error`. Raises ProviderFormatError for what is no response.
    """
    stream = ProviderStream(
        provider,
        format,
        tools=tools,
        prefix=prefix,
        on_error=on_error,
        repair=repair,
        coordinates=coordinates,
        screen=screen,
        settings=settings,
    )
    stream.feed(response)
    return stream.end(whole=True)
