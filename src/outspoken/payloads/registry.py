"""`PayloadRegistry`: the payloads of an application, and the pages on which they count."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import entry_points
from threading import Lock
from typing import Any, TypeAlias

from outspoken.parsing.session import OnError
from outspoken.results.edits import RepairLimit
from outspoken.results.events import Event
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings

from .blocks import joined
from .grammar import Marker, markers_of
from .options import Options
from .page import Page
from .replies import PayloadReply
from .session import PayloadSession
from .streaming import PayloadStream
from .teaching import instructions, manifest
from .types import PayloadType

#: A response: its text, or the content blocks of an API, of which those of text are read as one text.
Content: TypeAlias = str | Iterable[str | Mapping[str, Any]]

#: Where packages say which payloads they bring along: a `PayloadType`, some of them, or a function that returns them.
ENTRY_POINTS = "outspoken.payloads"


class PayloadRegistry:
    """The payloads that an application's assistant may write, page by page.

    `types` are registered in their order; `actions` are those of the client that are there on every page, each with
    what is said of it to the model. `options` is how payloads are judged, where a call does not say otherwise. May be
    used from any thread, and changed while others read: a response is read with what was registered when it began.
    """

    def __init__(
        self,
        types: Iterable[PayloadType] = (),
        *,
        actions: Mapping[str, str] | None = None,
        options: Options | None = None,
    ) -> None:
        self.options = options or Options()
        self._lock = Lock()
        self._types: tuple[PayloadType, ...] = ()
        self._pages: dict[str, dict[str, str]] = {}
        self._actions = dict(actions or {})
        for one in types:
            self.add(one)

    def add(self, type_: PayloadType) -> PayloadType:
        """Register a payload, and return it.

        Raises ValueError where its name is taken, or its marker on one of its pages.
        """
        with self._lock:
            for other in self._types:
                if other.name == type_.name:
                    raise ValueError(f"there is a payload `{type_.name}` already")
                shared = other.pages is None or type_.pages is None or bool({*other.pages} & {*type_.pages})
                if _is_same_marker(other, type_) and shared:
                    raise ValueError(
                        f"the marker `{type_.marker}` of `{type_.name}` is that of `{other.name}` on the same page"
                    )
            self._types = (*self._types, type_)
        return type_

    def add_page(self, name: str, actions: Mapping[str, str] | None = None) -> None:
        """Say that there is a page, and what the client can do there besides what it can everywhere."""
        with self._lock:
            self._pages = {**self._pages, name: {**self._pages.get(name, {}), **(actions or {})}}

    def load(self, group: str = ENTRY_POINTS) -> list[PayloadType]:
        """Register what installed packages bring along under an entry point group, in the order of their names.

        Returns what was added. Raises ValueError, which names the entry point, for what is no payload.
        """
        added: list[PayloadType] = []
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            loaded: Any = point.load()
            found: Any = loaded if isinstance(loaded, PayloadType) or not callable(loaded) else loaded()
            for one in [found] if isinstance(found, PayloadType) else found:
                if not isinstance(one, PayloadType):
                    raise ValueError(
                        f"the entry point `{point.name}` of `{group}` gives {one!r}, which is no PayloadType"
                    )
                added.append(self.add(one))
        return added

    @property
    def types(self) -> tuple[PayloadType, ...]:
        """All payloads, in the order in which they were registered."""
        return self._types

    @property
    def pages(self) -> tuple[str, ...]:
        """The names of all pages, in alphabetical order."""
        return tuple(sorted({*self._pages, *[page for one in self._types for page in one.pages or ()]}))

    def page(self, name: str | None = None) -> Page:
        """What counts on a page; without a name, all that is registered. Raises ValueError for an unknown page."""
        types, pages = self._types, self._pages
        if name is not None and name not in self.pages:
            near = get_close_matches(name, self.pages, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(self.pages) or 'none'}"
            raise ValueError(f"there is no page `{name}`; {hint}")
        there = [pages.get(name, {})] if name is not None else list(pages.values())
        actions = dict(self._actions)
        for some in there:
            actions.update(some)
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
        settings: Settings | None = None,
        options: Options | None = None,
    ) -> PayloadReply:
        """Read a response: a text, or content blocks, of which those of text are read as one.

        `options` takes the place of the registry's. For the rest see `outspoken.parse`. Raises ValueError for an
        unknown page.
        """
        session = self._session(page, prefix, on_error, repair, settings, options or self.options, None)
        text, session.blocks = joined(content)
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
        settings: Settings | None = None,
        options: Options | None = None,
        previews: bool = False,
    ) -> PayloadStream:
        """What reads one response in pieces, with `feed` and `close`.

        With `previews`, payloads are shown while they come. Raises ValueError for an unknown page, and for
        `precedence="registration"`, which can be known only at the end.
        """
        options = options or self.options
        if options.precedence != "text":
            raise ValueError('`precedence="registration"` is for whole texts; a stream takes the first payload')
        events: list[Event] = []
        session = self._session(page, prefix, on_error, repair, settings, options, events)
        return PayloadStream(session, events, previews=previews)

    def stream(self, chunks: Iterable[str | bytes], page: str | None = None, **how: Any) -> Iterator[Event]:
        """Read a response that arrives in chunks; see `parser` for the rest. The last event is `Done`."""
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

    def _session(
        self,
        page: str | None,
        prefix: str | None,
        on_error: OnError,
        repair: RepairLimit | None,
        settings: Settings | None,
        options: Options,
        events: list[Event] | None,
    ) -> PayloadSession:
        known = self.page(page)
        markers: tuple[Marker, ...] = markers_of((*known.types, *known.elsewhere))
        return PayloadSession(known, markers, options, prefix, on_error, repair, settings, events)

    # teaching

    def instructions(self, page: str | None = None) -> str:
        """The section of a system prompt that teaches the model the payloads of a page, made of their models.

        Raises ValueError for an unknown page, and for an example that is not valid.
        """
        return instructions(self.page(page))

    def manifest(self, replies: Iterable[Reply]) -> str:
        """A line for each payload in the replies of a conversation, in order; "" where there is none."""
        return manifest(self._types, replies)


def _is_same_marker(one: PayloadType, other: PayloadType) -> bool:
    """Would what is written be the marker of both?"""
    if one.any_case or other.any_case:
        return one.marker.lower() == other.marker.lower()
    return one.marker == other.marker
