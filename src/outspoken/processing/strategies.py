"""The strategies for reading a response: tried one after the other until one gives a usable reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from outspoken.json.read import read_json
from outspoken.notations.tools import Tools
from outspoken.parsing.functions import parse
from outspoken.results.construct import construct
from outspoken.results.replies import JsonValue, Reply, Segment, Text
from outspoken.results.settings import Settings

from .results import Strategy
from .settings import Expect, ProcessorSettings

#: The statuses of usable segments.
_SOUND = ("ok", "repaired")


class ParseRequest(NamedTuple):
    """A response and the arguments of `parse` for it. `context` is passed to the caller's checks."""

    text: str
    format: str
    tools: Tools | None
    prefix: str | None
    finish_reason: str | None
    context: Any

    @property
    def reason(self) -> str | None:
        """The finish reason in lower case, with `_` for `-`."""
        return self.finish_reason and self.finish_reason.strip().lower().replace("-", "_")


class Attempt(NamedTuple):
    """The reply of a strategy, and whether it is usable."""

    reply: Reply
    strategy: Strategy
    usable: bool


def run_strategies(request: ParseRequest, config: ProcessorSettings, settings: Settings | None) -> Attempt:
    """The first attempt with a usable reply; if there is none, the first one with an error, or the first of all."""
    attempts: list[Attempt] = []
    for strategy, reply in _replies(request, config, settings):
        usable = is_usable(reply, config.expect, text=strategy != "fallback")
        attempts.append(Attempt(reply, strategy, usable))
        if usable:
            return attempts[-1]
    return next((one for one in attempts if any(d.severity == "error" for d in one.reply.diagnostics)), attempts[0])


def _replies(
    request: ParseRequest, config: ProcessorSettings, settings: Settings | None
) -> Iterator[tuple[Strategy, Reply]]:
    text, prefix, reason = request.text, request.prefix, request.finish_reason
    known: dict[str, Any] = {"tools": request.tools, "prefix": prefix, "finish_reason": reason, "settings": settings}
    recover = config.enable_recovery_strategies
    first = parse(text, request.format, repair=None if recover else "none", **known)
    yield "primary" if first.status == "ok" and not first.repairs else "recovery", first
    if not recover or not text.strip():
        return
    yield "fallback", parse(text, request.format, repair="heuristic", **known)
    if request.format != "auto":
        yield "fallback", parse(text, "auto", repair="heuristic", **known)
    if config.expect == "json":
        yield "fallback", _json_reply(first, settings)


def is_usable(reply: Reply, expect: Expect, *, text: bool = True) -> bool:
    """True if a reply contains what is expected, sound or repaired. `text` tells whether text alone is enough."""
    if expect == "json":
        return any(s.kind == "json" for s in reply.segments)
    if expect == "tool_calls":
        return bool(reply.tool_calls)
    payloads = bool(reply.payloads)
    if expect == "payloads":
        return payloads
    actions = any(action.status in _SOUND for action in reply.actions)
    if expect == "actions" or actions or payloads or reply.tool_calls:
        return actions if expect == "actions" else True
    if any(s.kind == "json" for s in reply.segments):
        return True
    return text and reply.status in _SOUND and (bool(reply.text.strip()) or reply.envelope)


def _json_reply(reply: Reply, settings: Settings | None) -> Reply:
    """A reply with the complete JSON values of the text, at any repair level."""
    text = reply.raw
    read = read_json(text, settings=settings)
    complete = len(read.values) - (read.status == "truncated")
    segments: list[Segment] = []
    pos = 0
    for value, (start, end) in zip(read.values[:complete], read.spans[:complete], strict=True):
        segments += _text_segments(text, pos, start)
        segments.append(JsonValue(value=value, raw=text[start:end], span=(start, end)))
        pos = end
    segments += _text_segments(text, pos, len(text))
    values: dict[str, Any] = {name: field.get_default(call_default_factory=True) for name, field in _FIELDS.items()}
    values |= {"raw": text, "format": reply.format, "segments": segments, "status": read.status}
    return construct(Reply, {**values, "diagnostics": list(read.diagnostics), "repairs": list(read.repairs)})


_FIELDS = Reply.model_fields


def _text_segments(text: str, start: int, end: int) -> list[Segment]:
    return [Text(text=text[start:end], span=(start, end))] if start < end else []
