"""`parse`, `stream` and `astream`: shorthands of `Parser`."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING

from outspoken.grammar import registry
from outspoken.results.replies import Reply

from .event_stream import AsyncEventStream, EventStream
from .options import FinishReason, ParserOptions
from .parser import Parser

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from outspoken.results.events import Event


@registry.cached
def _parser(format: str, edition: int) -> Parser:
    """A parser without options; to make one takes a third of the time of parsing a short response."""
    return Parser(format)


def parse(
    text: str | bytes | None,
    format: str = "auto",
    *,
    prefix: str | None = None,
    finish_reason: str | None = None,
    **options: Unpack[ParserOptions],
) -> Reply:
    """Parse a complete response: `Parser(format, **options).parse(text)`.

    For the arguments and what is raised, see `Parser` and `Parser.parse`.
    """
    if options or format.__class__ is not str:
        parser = Parser(format, **options)
    else:
        parser = _parser(format, registry.edition())
    return parser.parse(text, prefix=prefix, finish_reason=finish_reason)


def stream(
    chunks: Iterable[str | bytes | None],
    format: str = "auto",
    *,
    prefix: str | None = None,
    finish_reason: FinishReason = None,
    **options: Unpack[ParserOptions],
) -> EventStream[Event, Reply]:
    """Parse a response that arrives in chunks: `Parser(format, **options).stream(chunks)`.

    For the arguments and what is raised, see `Parser` and `Parser.stream`.
    """
    return Parser(format, **options).stream(chunks, prefix=prefix, finish_reason=finish_reason)


def astream(
    chunks: AsyncIterable[str | bytes | None],
    format: str = "auto",
    *,
    prefix: str | None = None,
    finish_reason: FinishReason = None,
    **options: Unpack[ParserOptions],
) -> AsyncEventStream[Event, Reply]:
    """Parse a response that arrives in asynchronous chunks: `Parser(format, **options).astream(chunks)`.

    For the arguments and what is raised, see `Parser` and `Parser.astream`.
    """
    return Parser(format, **options).astream(chunks, prefix=prefix, finish_reason=finish_reason)
