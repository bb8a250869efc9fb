"""`PayloadRegistry`: the payload types of an application, and the pages on which they count."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import entry_points
from threading import Lock
from typing import Any, TypeAlias

from outspoken.parsing.options import OnError
from outspoken.results.edits import RepairLimit
from outspoken.results.events import Event
from outspoken.results.replies import Reply, Span

from .prompting import instructions, manifest
from .replies import PayloadReply
from .session import PayloadSession
from .settings import PayloadSettings
from .streaming import PayloadStream
from .types import Page, PayloadType

#: A response: its text, or the content blocks of an API, whose text blocks are read as one text.
Content: TypeAlias = str | Iterable[str | Mapping[str, Any]]

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
        self.settings = settings or PayloadSettings()
        self._lock = Lock()
        self._types: tuple[PayloadType, ...] = ()
        self._pages: dict[str, dict[str, str]] = {}
        self._actions = dict(actions or {})
        for one in types:
            self.add(one)

    def add(self, type_: PayloadType) -> PayloadType:
        """Register a payload type and return it.

        Raises ValueError if its name is taken, or its marker on one of its pages.
        """
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
            found: Any = loaded if isinstance(loaded, PayloadType) or not callable(loaded) else loaded()
            for one in [found] if isinstance(found, PayloadType) else found:
                if not isinstance(one, PayloadType):
                    raise ValueError(
                        f"the entry point `{point.name}` of `{group}` provides {one!r}, which is not a PayloadType"
                    )
                added.append(self.add(one))
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
        if name is not None and name not in self.pages:
            near = get_close_matches(name, self.pages, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(self.pages) or 'none'}"
            raise ValueError(f"there is no page `{name}`; {hint}")
        selected = [pages.get(name, {})] if name is not None else list(pages.values())
        actions = dict(self._actions)
        for one in selected:
            actions.update(one)
        on = tuple([one for one in types if one.is_on(name)])
        return Page(name, on, tuple([one for one in types if one not in on]), actions)

    # reading

    def parse(
        self,
        content: Content,
        page: str | None = None,
        *,
        prefix: str | None = None,
        finish_reason: str | None = None,
        on_error: OnError = "keep",
        repair: RepairLimit | None = None,
        settings: PayloadSettings | None = None,
    ) -> PayloadReply:
        """Read a response: a text, or content blocks, whose text blocks are read as one text.

        `settings` replaces the registry's settings. For the other arguments and exceptions see `outspoken.parse`.
        Raises ValueError for an unknown page.
        """
        session = PayloadSession(self.page(page), settings or self.settings, prefix, on_error, repair, None)
        text, session.blocks = _join_text(content)
        reply = session.read(text, finish_reason)
        assert isinstance(reply, PayloadReply)
        return reply

    def parser(
        self,
        page: str | None = None,
        *,
        prefix: str | None = None,
        on_error: OnError = "keep",
        repair: RepairLimit | None = None,
        settings: PayloadSettings | None = None,
        previews: bool = False,
    ) -> PayloadStream:
        """A stream that reads one response in chunks, with `feed` and `close`.

        With `previews`, it sends previews of payloads while they arrive. Raises ValueError for an unknown page, and for
        `precedence="registration"`, which requires the whole text.
        """
        settings = settings or self.settings
        if settings.precedence != "text":
            raise ValueError('`precedence="registration"` requires the whole text; a stream selects the first payload')
        events: list[Event] = []
        session = PayloadSession(self.page(page), settings, prefix, on_error, repair, events)
        return PayloadStream(session, events, previews=previews)

    def stream(self, chunks: Iterable[str | bytes], page: str | None = None, **how: Any) -> Iterator[Event]:
        """The events of a response that arrives in chunks; see `parser` for `how`. The last one is `Done`."""
        parser = self.parser(page, **how)
        for chunk in chunks:
            yield from parser.feed(chunk)
        yield from parser.close()

    async def astream(
        self, chunks: AsyncIterable[str | bytes], page: str | None = None, **how: Any
    ) -> AsyncIterator[Event]:
        """`stream` for chunks that arrive asynchronously."""
        parser = self.parser(page, **how)
        async for chunk in chunks:
            for event in parser.feed(chunk):
                yield event
        for event in parser.close():
            yield event

    # prompts

    def instructions(self, page: str | None = None) -> str:
        """A section for the system prompt that describes the payloads of a page, generated from their models.

        Raises ValueError for an unknown page and for an invalid example.
        """
        return instructions(self.page(page))

    def manifest(self, replies: Iterable[Reply]) -> str:
        """A line for each payload in the replies of a conversation, in order; "" if there are none."""
        return manifest(self._types, replies)


def _join_text(content: Content) -> tuple[str, tuple[Span, ...]]:
    """The text of a response, and the span of each text block in it; no spans for a plain text."""
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    spans: list[Span] = []
    at = 0
    for block in content:
        text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else None
        if isinstance(text, str):
            texts.append(text)
            spans.append((at, at + len(text)))
            at += len(text)
    return "".join(texts), tuple(spans)


def _is_same_marker(one: PayloadType, other: PayloadType) -> bool:
    """True if a text may be the marker of both types."""
    if one.any_case or other.any_case:
        return one.marker.lower() == other.marker.lower()
    return one.marker == other.marker
