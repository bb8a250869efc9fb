"""A reply that is all there, as the events that exporters take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outspoken.providers.events import (
    Failed,
    Finished,
    ProviderEvent,
    ReasoningSigned,
    RefusalDelta,
    Started,
    UsageReported,
)
from outspoken.providers.replies import ProviderReply, Signature
from outspoken.results import events as said

if TYPE_CHECKING:
    from outspoken.results.replies import Reply, Segment


def retold(reply: Reply) -> Iterator[ProviderEvent]:
    """The events of a reply; what is unfinished is in the `Done` at the end only."""
    if isinstance(reply, ProviderReply):
        yield Started(reply.id, reply.model)
        if reply.usage is not None:
            yield UsageReported(reply.usage)
        if reply.finish_reason is not None:
            yield Finished(reply.finish_reason, reply.stop_reason or reply.finish_reason)
    signatures = sorted(reply.signatures, key=_segment) if isinstance(reply, ProviderReply) else []
    calls = 0
    for number, segment in enumerate(reply.segments):
        while signatures and signatures[0].redacted and signatures[0].segment <= number:
            yield ReasoningSigned(signatures.pop(0).data, redacted=True)
        yield from _events(segment, calls)
        calls += segment.kind == "tool_call"
        while signatures and signatures[0].segment <= number:
            found = signatures.pop(0)
            yield ReasoningSigned(found.data, found.redacted)
        if segment.kind == "reasoning":
            yield said.ReasoningEnd()
    for found in signatures:
        yield ReasoningSigned(found.data, found.redacted)
    if isinstance(reply, ProviderReply):
        if reply.refusal:
            yield RefusalDelta(reply.refusal)
        if reply.error is not None:
            yield Failed(reply.error)
    yield said.Done(reply)


def _segment(signature: Signature) -> int:
    return signature.segment


def _events(segment: Segment, index: int) -> Iterator[ProviderEvent]:
    match segment.kind:
        case "text":
            yield said.TextDelta(segment.text)
        case "json":
            yield said.TextDelta(segment.raw)
        case "reasoning":
            yield said.ReasoningDelta(segment.text)
        case "payload":
            yield said.PayloadParsed(segment)
        case "action" if segment.status in ("ok", "repaired"):
            yield said.ActionParsed(segment)
        case "tool_call" if segment.status in ("ok", "repaired"):
            yield said.ToolCallStart(index, segment.id, segment.name)
            yield said.ToolCallDelta(index, segment.arguments_text)
            yield said.ToolCallEnd(index, segment)
        case _:
            pass
