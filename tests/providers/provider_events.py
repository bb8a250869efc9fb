"""What holds of the events of every provider's stream, and replies in the shape in which they are compared."""

from typing import Any

import outspoken
from outspoken import providers


def check_events(events: list[Any], reply: providers.ProviderReply) -> None:
    """The events say what the reply does, in an order that never takes anything back."""
    of: dict[Any, list[Any]] = {}
    for event in events:
        of.setdefault(type(event), []).append(event)
    assert [type(event) for event in events[:1]] == [providers.Started]
    assert events[-1] == outspoken.Done(reply)
    assert len(of[providers.Started]) == len(of[outspoken.Done]) == 1
    assert "".join([event.text for event in of.get(outspoken.TextDelta, [])]) == reply.text
    thoughts = [segment.text for segment in reply.segments if segment.kind == "reasoning"]
    assert thoughts_of(events) == thoughts
    assert "".join([event.text for event in of.get(providers.RefusalDelta, [])]) == (reply.refusal or "")
    assert [event.error for event in of.get(providers.Failed, [])][:1] == ([reply.error] if reply.error else [])
    assert [(e.reason, e.raw) for e in of.get(providers.Finished, [])] == (
        [(reply.finish_reason, reply.stop_reason)] if reply.stop_reason is not None else []
    )
    assert [event.usage for event in of.get(providers.UsageReported, [])][-1:] == ([reply.usage] if reply.usage else [])
    for kind, payloads in (
        (outspoken.PayloadParsed, reply.payloads),
        (outspoken.PayloadUnfinished, reply.unfinished_payloads),
    ):
        assert sorted([e.payload for e in of.get(kind, [])], key=repr) == sorted(payloads, key=repr)
    acted = [
        event.action for kind in (outspoken.ActionParsed, outspoken.ActionUnfinished) for event in of.get(kind, [])
    ]
    assert len(acted) == len(reply.actions) + len(reply.unfinished_actions)
    signed = {(event.signature, event.redacted) for event in of.get(providers.ReasoningSigned, [])}
    assert {(signature.data, signature.redacted) for signature in reply.signatures} <= signed
    _check_calls(events, reply)
    _check_spans(reply)


def thoughts_of(events: list[Any]) -> list[str]:
    """The blocks of reasoning of a stream, each of which has ended."""
    blocks = [""]
    for event in events:
        if isinstance(event, outspoken.ReasoningDelta):
            blocks[-1] += event.text
        elif isinstance(event, outspoken.ReasoningEnd):
            blocks.append("")
    assert blocks[-1] == ""
    return blocks[:-1]


def _check_calls(events: list[Any], reply: providers.ProviderReply) -> None:
    begun: dict[int, outspoken.ToolCallStart] = {}
    pieces: dict[int, str] = {}
    ended: dict[int, Any] = {}
    for event in events:
        if isinstance(event, outspoken.ToolCallStart):
            assert event.index == len(begun)
            begun[event.index] = event
        elif isinstance(event, outspoken.ToolCallDelta):
            assert event.index in begun
            assert event.index not in ended
            pieces[event.index] = pieces.get(event.index, "") + event.arguments
        elif isinstance(event, (outspoken.ToolCallEnd, outspoken.ToolCallUnfinished)):
            assert event.index not in ended
            assert isinstance(event, outspoken.ToolCallEnd) == (event.call.status in ("ok", "repaired"))
            ended[event.index] = event.call
    assert begun.keys() <= ended.keys()
    for index, start in begun.items():
        assert ended[index].name == start.name
        assert pieces.get(index, "") == ended[index].arguments_text
    calls = [segment for segment in reply.segments if segment.kind == "tool_call"]
    assert sorted(ended.values(), key=repr) == sorted(calls, key=repr)


def _check_spans(reply: providers.ProviderReply) -> None:
    last = 0
    for segment in reply.segments:
        start, end = segment.span
        assert 0 <= start <= end <= len(reply.raw)
        if start < end:  # what stands beside a text has an empty span, which may lie within that of the text
            assert last <= start
            last = end
    for signature in reply.signatures:
        assert 0 <= signature.segment <= len(reply.segments)


def feed(chunks: Any, provider: Any, format: str | None = "provider", **options: Any) -> providers.ProviderReply:
    """The reply of a stream, whose events are checked."""
    stream = providers.ProviderStream(provider, format=format, **options)
    events: list[Any] = []
    for chunk in chunks:
        events += stream.feed(chunk)
    events += stream.close()
    assert stream.reply is not None
    check_events(events, stream.reply)
    return stream.reply


def calls_of(reply: providers.ProviderReply) -> list[tuple[Any, ...]]:
    """The finished calls, as (id, name, arguments)."""
    return [(c.id, c.name, c.arguments) for c in reply.tool_calls]


def dumped(reply: providers.ProviderReply) -> dict[str, Any]:
    """A reply without the texts that only say how it was sent."""
    return reply.model_dump()
