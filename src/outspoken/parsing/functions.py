"""`parse`, `stream` and `astream`: shorthands of `Parser`."""

from __future__ import annotations

import marshal
from collections.abc import AsyncIterable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outspoken.grammar import registry
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import Reply

from .event_stream import AsyncEventStream, EventStream
from .options import FinishReason, ParserOptions
from .parser import Parser

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from outspoken.results.events import Event
    from outspoken.semantics.special_text import Spans


#: To compare more tools than this takes longer than to read them.
_FEW = 4
#: The version of `marshal` that writes equal values alike.
_PLAIN = 2


@registry.cached
def _parser(format: str, edition: int) -> Parser:
    """A parser without options; to make one takes a third of the time of parsing a short response."""
    return Parser(format)


@lru_cache(maxsize=64)
def _parser_with(format: str, tools: bytes, edition: int) -> Parser:
    """A parser with tools that are given by their content: callers may change theirs. It is never given away."""
    return Parser(format, tools=marshal.loads(tools))


def _parser_of(format: str, options: ParserOptions) -> Parser:
    """The parser with some options. The last ones with few tools and nothing else are kept."""
    tools: Any = options.get("tools")
    if tools.__class__ is list and len(options) == 1 and format.__class__ is str and len(tools) <= _FEW:
        try:
            return _parser_with(format, marshal.dumps(tools, _PLAIN), registry.edition())
        except ValueError:  # they hold objects that are no JSON, or are nested too deeply
            pass
    return Parser(format, **options)


def parse(
    text: str | bytes | None,
    format: str = "auto",
    *,
    prefix: str | None = None,
    finish_reason: str | None = None,
    special: Spans | None = None,
    **options: Unpack[ParserOptions],
) -> Reply:
    """Parse a complete response: `Parser(format, **options).parse(text)`.

    For the arguments and what is raised, see `Parser` and `Parser.parse`.
    """
    if options or format.__class__ is not str:
        parser = _parser_of(format, options)
    else:
        parser = _parser(format, registry.edition())
    return parser.parse(text, prefix=prefix, finish_reason=finish_reason, special=special)


@by_keyword
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


@by_keyword
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
