"""Turns a reply back into events, so that exporters take replies, too. Finds what a stream of events left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, cast

from pydantic import BaseModel

from outspoken.providers import events as provider_events
from outspoken.providers.replies import ProviderReply
from outspoken.results import events as results
from outspoken.results.arguments import kind_of
from outspoken.results.replies import Reply, Segment

_T = TypeVar("_T")


def replay(reply: Reply, *, unfinished: bool = False) -> Iterator[provider_events.StreamEvent]:
    """Replay the events of a reply. `Done` alone, at the end, has incomplete calls and actions, unless `unfinished`."""
    if isinstance(reply, ProviderReply):
        yield provider_events.Started(reply.id, reply.model)
        if reply.usage is not None:
            yield provider_events.UsageReported(reply.usage)
        if reply.finish_reason is not None:
            yield provider_events.Finished(reply.finish_reason, reply.stop_reason or reply.finish_reason)
    signatures = (
        sorted(reply.signatures, key=lambda signature: signature.segment) if isinstance(reply, ProviderReply) else []
    )
    calls = 0
    for number, (segment, text) in enumerate(zip(reply.segments, reply.text_pieces(), strict=True)):
        while signatures and signatures[0].redacted and signatures[0].segment <= number:
            yield provider_events.ReasoningSigned(signatures.pop(0).data, redacted=True)
        yield from _replay_segment(segment, text, calls, unfinished)
        calls += segment.kind == "tool_call"
        while signatures and signatures[0].segment <= number:
            signed = signatures.pop(0)
            yield provider_events.ReasoningSigned(signed.data, signed.redacted)
        if segment.kind == "reasoning":
            yield results.ReasoningEnd()
    for signed in signatures:
        yield provider_events.ReasoningSigned(signed.data, signed.redacted)
    if isinstance(reply, ProviderReply):
        if reply.refusal:
            yield provider_events.RefusalDelta(reply.refusal)
        if reply.error is not None:
            yield provider_events.Failed(reply.error)
    yield results.Done(reply)


def _replay_segment(segment: Segment, text: str, index: int, unfinished: bool) -> Iterator[provider_events.StreamEvent]:
    """The events of a segment. `text` is what it adds to the text of the reply."""
    match segment.kind:
        case "text" | "json":
            yield results.TextDelta(text)
        case "reasoning":
            yield results.ReasoningDelta(segment.text)
        case "payload" if segment.status in ("ok", "repaired"):
            yield results.PayloadParsed(segment)
        case "payload":
            yield results.PayloadUnfinished(segment)
        case "action" if segment.status in ("ok", "repaired"):
            yield results.ActionParsed(segment)
        case "tool_call" if segment.status in ("ok", "repaired"):
            yield results.ToolCallStart(index, segment.id, segment.name)
            yield results.ToolCallDelta(index, segment.arguments_text)
            yield results.ToolCallEnd(index, segment)
        case "tool_call" if unfinished:
            yield results.ToolCallUnfinished(index, segment)
        case "action" if unfinished:
            yield results.ActionUnfinished(segment)
        case _:
            pass


def check_events(events: object) -> None:
    """Raise TypeError for an argument that is not an iterable of events."""
    if isinstance(events, (str, bytes, BaseModel)) or not isinstance(events, Iterable):
        raise TypeError(f"`events` is {kind_of(events)}; expected an iterable of events")


def check_event(event: object) -> None:
    """Raise TypeError for what is written already. Unknown events are left out."""
    if isinstance(event, (Mapping, str, bytes)):
        raise TypeError(f"`events` has {kind_of(cast('object', event))}; expected events")


def without(found: Sequence[_T], exported: Sequence[object]) -> list[_T]:
    """Return the items that are not exported; of equal items, as many as are left over."""
    rest = list(found)
    for item in exported:
        if item in rest:
            rest.remove(cast("_T", item))
    return rest
