"""`PayloadRegistry`: payload types by page. `PayloadParser`: reads the responses of a page."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from importlib.metadata import entry_points
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, cast

from outspoken.parsing.event_stream import AsyncEventStream, EventStream, StreamParser
from outspoken.parsing.options import FinishReason, OnError, ReadOptions, finish_reason_of, prefix_of, read_options
from outspoken.results.arguments import check_optional, check_type, kind_of, text_of
from outspoken.results.edits import RepairLimit
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import Reply, Span

from .prompting import instructions, manifest
from .reader import PayloadReader, PayloadSession
from .replies import PayloadEvent, PayloadReply
from .types import Page, PayloadSettings, PayloadType

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from outspoken.constraints.deriving import Constraint


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


#: The entry point group in which packages provide a `PayloadType`, an iterable of them, or a function that returns one.
ENTRY_POINTS = "outspoken.payloads"


class PayloadRegistry:
    """The payload types that an application's assistant may write, by page.

    `types` are registered in their order; `actions` maps the client actions of all pages to their descriptions for the
    model. `settings` are the default settings of all calls. Thread-safe, and may be changed during reading: a response
    is read with the types that were registered when it started.
    """

    def __init__(
        self,
        types: Iterable[PayloadType] = (),
        *,
        actions: Mapping[str, str] | None = None,
        settings: PayloadSettings | None = None,
    ) -> None:
        self.settings = check_optional(settings, PayloadSettings, "settings") or PayloadSettings()
        self._lock = Lock()
        self._types: tuple[PayloadType, ...] = ()
        self._pages: dict[str, dict[str, str]] = {}
        check_optional(actions, Mapping, "actions")
        self._actions = dict(actions or {})
        check_type(types, Iterable, "types")
        for number, one in enumerate(types):
            self.add(check_type(one, PayloadType, f"types[{number}]"))

    def add(self, type_: PayloadType) -> PayloadType:
        """Register a payload type and return it.

        Raises ValueError if its name is taken, or its marker on one of its pages, and TypeError for anything else.
        """
        check_type(type_, PayloadType, "type_")
        with self._lock:
            for other in self._types:
                if other.name == type_.name:
                    raise ValueError(f"a payload `{type_.name}` is already registered")
                shared = other.pages is None or type_.pages is None or bool({*other.pages} & {*type_.pages})
                if _is_same_marker(other, type_) and shared:
                    raise ValueError(
                        f"`{type_.name}` and `{other.name}` have the marker `{type_.marker}` on the same page"
                    )
            self._types = (*self._types, type_)
        return type_

    def add_page(self, name: str, actions: Mapping[str, str] | None = None) -> None:
        """Register a page, with its client actions in addition to those of all pages."""
        with self._lock:
            self._pages = {**self._pages, name: {**self._pages.get(name, {}), **(actions or {})}}

    def load(self, group: str = ENTRY_POINTS) -> list[PayloadType]:
        """Register the payload types of installed packages, from an entry point group, in the order of their names.

        Returns the added types. Raises ValueError with the name of the entry point if it provides anything else.
        """
        added: list[PayloadType] = []
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            loaded: Any = point.load()
            provided: Any = loaded if isinstance(loaded, PayloadType) or not callable(loaded) else loaded()
            for entry in [provided] if isinstance(provided, PayloadType) else provided:
                if not isinstance(entry, PayloadType):
                    raise ValueError(
                        f"the entry point `{point.name}` of `{group}` provides {entry!r}, which is not a PayloadType"
                    )
                added.append(self.add(entry))
        return added

    @property
    def types(self) -> tuple[PayloadType, ...]:
        """All payload types, in the order of registration."""
        return self._types

    @property
    def pages(self) -> tuple[str, ...]:
        """The names of all pages, in alphabetical order."""
        return tuple(sorted({*self._pages, *[page for one in self._types for page in one.pages or ()]}))

    def page(self, name: str | None = None) -> Page:
        """The payloads of a page; without a name, all. Raises ValueError for an unknown page."""
        types, pages = self._types, self._pages
        check_optional(name, str, "page")
        if name is not None and name not in self.pages:
            near = get_close_matches(name, self.pages, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(self.pages) or 'none'}"
            raise ValueError(f"there is no page `{name}`; {hint}")
        selected = [pages.get(name, {})] if name is not None else list(pages.values())
        actions = dict(self._actions)
        for payload_type in selected:
            actions.update(payload_type)
        on = tuple([payload_type for payload_type in types if payload_type.is_on(name)])
        return Page(name, on, tuple([payload_type for payload_type in types if payload_type not in on]), actions)

    # reading

    def parser(self, page: str | None = None, **options: Unpack[PayloadOptions]) -> PayloadParser:
        """A parser for the responses of a page; without a page, all payloads count.

        `settings` replace those of the registry. With `previews`, streams send previews of payloads while they arrive.
        `repair` and `on_error` are as in `outspoken.Parser`. Raises ValueError for an unknown page.
        """
        if page is not None:
            self.page(page)  # an unknown page is refused here, not when a response is read
        return PayloadParser(partial(self.page, page), self.settings, **options)

    @by_keyword
    def parse(
        self,
        response: ContentLike,
        page: str | None = None,
        *,
        prefix: str | None = None,
        finish_reason: str | None = None,
        **options: Unpack[PayloadOptions],
    ) -> PayloadReply:
        """Parse a complete response of a page: `parser(page, **options).parse(response)`."""
        return self.parser(page, **options).parse(response, prefix=prefix, finish_reason=finish_reason)

    @by_keyword
    def stream(
        self,
        chunks: Iterable[str | bytes | None],
        page: str | None = None,
        *,
        prefix: str | None = None,
        finish_reason: FinishReason = None,
        **options: Unpack[PayloadOptions],
    ) -> EventStream[PayloadEvent, PayloadReply]:
        """Parse a response that arrives in chunks: `parser(page, **options).stream(chunks)`."""
        return self.parser(page, **options).stream(chunks, prefix=prefix, finish_reason=finish_reason)

    @by_keyword
    def astream(
        self,
        chunks: AsyncIterable[str | bytes | None],
        page: str | None = None,
        *,
        prefix: str | None = None,
        finish_reason: FinishReason = None,
        **options: Unpack[PayloadOptions],
    ) -> AsyncEventStream[PayloadEvent, PayloadReply]:
        """Parse a response that arrives in asynchronous chunks: `parser(page, **options).astream(chunks)`."""
        return self.parser(page, **options).astream(chunks, prefix=prefix, finish_reason=finish_reason)

    # prompts and constraints

    def constraint(self, page: str | None = None, *, text: bool = True) -> Constraint:
        """What a model may write on a page, for constrained decoding: text, and the page's payloads by their models.

        A response has payloads that are `beside` others, once each at most and in the order of registration, or one
        other payload, if any; without `text`, nothing else. `warnings` says what of the models is not enforced. Raises
        ValueError for an unknown page.
        """
        from .constraining import page_constraint  # few applications need it

        return page_constraint(self.page(page), text=text)

    def instructions(self, page: str | None = None) -> str:
        """A section for the system prompt that describes the payloads of a page, generated from their models.

        Raises ValueError for an unknown page and for an invalid example.
        """
        return instructions(self.page(page))

    def manifest(self, replies: Iterable[Reply]) -> str:
        """A line for each payload in the replies of a conversation, in order; "" if there are none."""
        check_type(replies, Iterable, "replies")
        found = [check_type(reply, Reply, f"replies[{number}]") for number, reply in enumerate(replies)]
        return manifest(self._types, found)


def _is_same_marker(one: PayloadType, other: PayloadType) -> bool:
    """True if a text may be the marker of both types."""
    if one.any_case or other.any_case:
        return one.marker.lower() == other.marker.lower()
    return one.marker == other.marker
