"""`PayloadParser`: reads the responses of a page, whole and in chunks, with options that are given once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict, cast

from outspoken.parsing.event_stream import StreamParser
from outspoken.parsing.options import OnError, ReadOptions, finish_reason_of, prefix_of, read_options
from outspoken.results.arguments import check_optional, kind_of, text_of
from outspoken.results.edits import RepairLimit
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import Span

from .reader import PayloadReader, PayloadSession
from .replies import PayloadEvent, PayloadReply
from .types import Page, PayloadSettings


class ContentBlock(Protocol):
    """A content block as an object of an SDK; blocks of the type "text" also have a `text`."""

    @property
    def type(self) -> str:
        """The type of the block."""
        ...


#: A response: its text, or the content blocks of an API, whose text blocks are read as one text.
ContentLike: TypeAlias = "str | bytes | Iterable[str | Mapping[str, Any] | ContentBlock] | None"


class PayloadOptions(TypedDict, total=False):
    """The keyword arguments of `PayloadRegistry.parser`."""

    repair: RepairLimit | None
    on_error: OnError
    settings: PayloadSettings | None
    previews: bool


class PayloadParser(StreamParser[PayloadEvent, PayloadReply]):
    """Reads the responses of a page; made by `PayloadRegistry.parser`. Threads may share it.

    A response is read with the types that are registered when it starts.
    """

    __slots__ = ("_find_page", "_options", "_previews", "_settings")

    def __init__(
        self,
        find_page: Callable[[], Page],
        default_settings: PayloadSettings,
        *,
        repair: RepairLimit | None = None,
        on_error: OnError = "keep",
        settings: PayloadSettings | None = None,
        previews: bool = False,
    ) -> None:
        self._find_page, self._previews = find_page, previews
        self._settings = check_optional(settings, PayloadSettings, "settings") or default_settings
        is_default = repair is None and on_error == "keep"
        self._options = ReadOptions(None) if is_default else read_options("auto", None, repair, on_error)

    @by_keyword
    def parse(
        self, response: ContentLike, *, prefix: str | None = None, finish_reason: str | None = None
    ) -> PayloadReply:
        """Parse a complete response: a text, or content blocks, whose text blocks are read as one text.

        Where another block stands between two of them and no white space separates them, the message has a space.
        For the other arguments and what is raised, see `Parser.parse`.
        """
        reader = self._reader(prefix, None)
        text, reader.blocks, reader.borders = _join_text(response)
        reply = reader.read(text, finish_reason_of(finish_reason))
        assert isinstance(reply, PayloadReply)
        return reply

    def session(self, *, prefix: str | None = None) -> PayloadSession:
        """Start to read one response that arrives in chunks, with `feed` and `close`.

        Raises ValueError for `precedence="registration"`, which requires the whole text.
        """
        if self._settings.precedence != "text":
            raise ValueError('`precedence="registration"` requires the whole text; a stream selects the first payload')
        events: list[PayloadEvent] = []
        return PayloadSession(self._reader(prefix, events), events, previews=self._previews)

    def _reader(self, prefix: str | None, events: list[Any] | None) -> PayloadReader:
        return PayloadReader(self._find_page(), self._settings, self._options, prefix_of(prefix), events)


def _join_text(response: object) -> tuple[str, tuple[Span, ...], tuple[int, ...]]:
    """The text of a response, the span of each text block in it, and where other blocks stood between two of them.

    A plain text has no blocks. Raises TypeError.
    """
    if response is None or isinstance(response, (str, bytes)):
        return text_of(response, "response"), (), ()
    if isinstance(response, Mapping) or not isinstance(response, Iterable):
        raise TypeError(f"`response` is {kind_of(cast('object', response))}; expected text or a list of content blocks")
    texts: list[str] = []
    spans: list[Span] = []
    borders: list[int] = []
    at = 0
    for number, block in enumerate(cast("Iterable[object]", response)):
        text = _text_of_block(block, number)
        if text is not None:
            texts.append(text)
            spans.append((at, at + len(text)))
            at += len(text)
        elif at and borders[-1:] != [at]:
            borders.append(at)
    return "".join(texts), tuple(spans), tuple(borders)


def _text_of_block(block: object, number: int) -> str | None:
    """The text of a content block; None if it has another type."""
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping):
        fields = cast("Mapping[str, Any]", block)
        kind, text = fields.get("type"), fields.get("text")
    elif hasattr(block, "type"):
        kind, text = getattr(block, "type", None), getattr(block, "text", None)
    else:
        raise TypeError(f"`response[{number}]` is {kind_of(block)}; expected text or a content block")
    return text if kind == "text" and isinstance(text, str) else None
