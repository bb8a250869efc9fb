"""What a caller may pass as a response: text, or the response of a provider."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from outspoken.parsing.parser import Parser
from outspoken.providers.decode.sdk_objects import ChunkLike
from outspoken.providers.registry import Provider
from outspoken.providers.stream import parse_response
from outspoken.results.arguments import text_of
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic, PendingDiagnostic, place_diagnostics
from outspoken.results.replies import Reply, Segment

#: A response: its text, or the response of a provider as a dict or as an object of its SDK. None is an empty one.
ResponseLike: TypeAlias = "str | bytes | ChunkLike | None"


class Response(NamedTuple):
    """The content of a response as text, and what a provider sent beside it.

    `native` are the calls and the reasoning that the provider sent apart from the content, each with an empty span at
    its place in it. `problems` are a refusal and an error that the provider reports.
    """

    text: str
    finish_reason: str | None = None
    native: tuple[Segment, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def read_response(response: ResponseLike, provider: Provider, parser: Parser, argument: str) -> Response:
    """The content of a response. Raises TypeError for anything else, and ProviderFormatError.

    Of the parser of its text are the settings and the tools.
    """
    if response is None or isinstance(response, (str, bytes, bytearray)):
        return Response(text_of(response, argument))
    read = parse_response(response, provider=provider, format=None, settings=parser.settings, tools=parser.tools)
    native = [s for s in read.segments if s.kind in ("tool_call", "reasoning") and s.span[0] == s.span[1]]
    problems_found: list[PendingDiagnostic] = []
    end = (len(read.raw), len(read.raw))
    if read.refusal is not None:
        problems_found.append(PendingDiagnostic("refusal", "the model refused to answer", end, "error", None))
    if read.error is not None:
        message = f"the provider reports: {read.error.message}"
        problems_found.append(PendingDiagnostic("provider-error", message, end, "error", None))
    problems = tuple(place_diagnostics(problems_found, read.raw))
    return Response(read.raw, read.stop_reason, tuple(native), problems)


def with_native(reply: Reply, native: tuple[Segment, ...]) -> Reply:
    """A reply with the segments that a provider sent apart from its text."""
    if not native:
        return reply
    # of segments at the same place, those that the provider sent come first
    segments = sorted([*native, *reply.segments], key=lambda segment: segment.span[0])
    return changed(reply, segments=segments)


def changed(reply: Reply, **fields: Any) -> Reply:
    """A reply with other values of some fields."""
    return construct(Reply, {name: fields.get(name, getattr(reply, name)) for name in Reply.model_fields})
