"""The ways on which a response is read, one after the other until one gives something of use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from outspoken.json.read import read_json
from outspoken.notations.tools import Tools
from outspoken.parsing.functions import parse
from outspoken.results.construct import construct
from outspoken.results.replies import JsonValue, Reply, Segment, Text
from outspoken.results.settings import Settings

from .config import Expect, ParserConfig
from .results import Route

#: The statuses of what may be used.
_SOUND = ("ok", "repaired")


class Question(NamedTuple):
    """A response, and what is known of it; see `parse`. `context` is what the caller's checks are told."""

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


class Found(NamedTuple):
    """A reply, the way on which it was found, and whether it is of use."""

    reply: Reply
    route: Route
    usable: bool


def find(asked: Question, config: ParserConfig, settings: Settings | None) -> Found:
    """Read a response on the first way that gives something of use.

    If none does, it is what the first one gives that says what is wrong.
    """
    found: list[Found] = []
    for route, reply in _readings(asked, config, settings):
        usable = is_usable(reply, config.expect, text=route != "fallback")
        found.append(Found(reply, route, usable))
        if usable:
            return found[-1]
    return next((one for one in found if any(d.severity == "error" for d in one.reply.diagnostics)), found[0])


def _readings(asked: Question, config: ParserConfig, settings: Settings | None) -> Iterator[tuple[Route, Reply]]:
    text, prefix, reason = asked.text, asked.prefix, asked.finish_reason
    known: dict[str, Any] = {"tools": asked.tools, "prefix": prefix, "finish_reason": reason, "settings": settings}
    recover = config.enable_recovery_strategies
    first = parse(text, asked.format, repair=None if recover else "none", **known)
    yield "primary" if first.status == "ok" and not first.repairs else "recovery", first
    if not recover or not text.strip():
        return
    yield "fallback", parse(text, asked.format, repair="heuristic", **known)
    if asked.format != "auto":
        yield "fallback", parse(text, "auto", repair="heuristic", **known)
    if config.expect == "json":
        yield "fallback", _json_reply(first, settings)


def is_usable(reply: Reply, expect: Expect, *, text: bool = True) -> bool:
    """Does a reply hold what is expected, sound or repaired? `text` says whether text alone may do."""
    if expect == "json":
        return any(s.kind == "json" for s in reply.segments)
    if expect == "tool_calls":
        return bool(reply.tool_calls)
    payloads = any(p.status in _SOUND for p in reply.payloads)
    if expect == "payloads":
        return payloads
    actions = any(action.status in _SOUND for action in reply.actions)
    if expect == "actions" or actions or payloads or reply.tool_calls:
        return actions if expect == "actions" else True
    if any(s.kind == "json" for s in reply.segments):
        return True
    return text and reply.status in _SOUND and (bool(reply.text.strip()) or reply.envelope)


def _json_reply(reply: Reply, settings: Settings | None) -> Reply:
    """A reply with the JSON of its text, as far as it is complete, on whichever rung of the ladder it can be read."""
    text = reply.raw
    read = read_json(text, settings=settings)
    complete = len(read.values) - (read.status == "truncated")
    segments: list[Segment] = []
    pos = 0
    for value, (start, end) in zip(read.values[:complete], read.spans[:complete], strict=True):
        segments += _text(text, pos, start)
        segments.append(JsonValue(value=value, raw=text[start:end], span=(start, end)))
        pos = end
    segments += _text(text, pos, len(text))
    values: dict[str, Any] = {name: field.get_default(call_default_factory=True) for name, field in _FIELDS.items()}
    values |= {"raw": text, "format": reply.format, "segments": segments, "status": read.status}
    return construct(Reply, {**values, "diagnostics": list(read.diagnostics), "repairs": list(read.repairs)})


_FIELDS = Reply.model_fields


def _text(text: str, start: int, end: int) -> list[Segment]:
    return [Text(text=text[start:end], span=(start, end))] if start < end else []
