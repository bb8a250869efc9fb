"""The strategies for reading a response: tried one after the other until one gives a usable reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from outspoken.actions.page import PageContext
from outspoken.json.read import read_json
from outspoken.parsing.options import page_changes
from outspoken.parsing.parser import Parser
from outspoken.results.construct import construct
from outspoken.results.edits import RepairLimit
from outspoken.results.replies import JsonValue, Reply, Segment, Text, is_failed_call

from .responses import Response, with_native
from .results import Strategy
from .settings import Expect, ProcessorSettings

#: The statuses of usable segments.
_SOUND = ("ok", "repaired")
_FIELDS = Reply.model_fields


class Request(NamedTuple):
    """A response and what is known of it.

    `context` is passed to the caller's checks. `page` and `given` are as in `Parser`. `metadata` is kept in
    the result.
    """

    response: Response
    prefix: str | None
    finish_reason: str | None
    context: Any = None
    page: PageContext | None = None
    given: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None

    @property
    def reason(self) -> str | None:
        """The finish reason in lower case, with `_` for `-`."""
        return self.finish_reason and self.finish_reason.strip().lower().replace("-", "_")


class Attempt(NamedTuple):
    """The reply of a strategy, and whether it is usable."""

    reply: Reply
    strategy: Strategy
    usable: bool


class Strategies:
    """Reads a response as the caller's parser does, then in other formats, with the same repairs."""

    def __init__(self, parser: Parser, settings: ProcessorSettings) -> None:
        self.parser = parser
        self.expect: Expect = settings.expect
        self._recovers = settings.enable_recovery_strategies
        self._limit: RepairLimit = parser.repair
        self._first = self._with(parser.format, parser.repair if self._recovers else "none")
        is_other = self._recovers and parser.format != "auto"
        self._fallbacks = [self._with("auto", self._limit)] if is_other else []

    def _with(self, format: str, repair: RepairLimit) -> Parser:
        return self.parser.replace(format=format, repair=repair, on_error="keep")

    def read(self, request: Request) -> Attempt:
        """The first attempt with a usable reply; if there is none, the first one with an error, or the first of all."""
        attempts: list[Attempt] = []
        for strategy, read in self._replies(request):
            found = with_native(read, request.response.native)
            usable = is_usable(found, self.expect, text=strategy != "fallback")
            attempts.append(Attempt(found, strategy, usable))
            if usable:
                return attempts[-1]
        return next((one for one in attempts if any(d.severity == "error" for d in one.reply.diagnostics)), attempts[0])

    def _replies(self, request: Request) -> Iterator[tuple[Strategy, Reply]]:
        text, prefix, reason = request.response.text, request.prefix, request.finish_reason
        changes = page_changes(request.page, request.given)
        first = self._first.replace(**changes).parse(text, prefix=prefix, finish_reason=reason)
        yield "primary" if first.status == "ok" and not first.repairs else "recovery", first
        if not self._recovers or not text.strip():
            return
        for parser in self._fallbacks:
            yield "fallback", parser.replace(**changes).parse(text, prefix=prefix, finish_reason=reason)
        if self.expect == "json":
            yield "fallback", self._json_reply(first)

    def _json_reply(self, reply: Reply) -> Reply:
        """A reply with the complete JSON values of the text."""
        text = reply.raw
        read = read_json(text, repair=self._limit, settings=self.parser.settings)
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


def is_usable(reply: Reply, expect: Expect, *, text: bool = True) -> bool:
    """True if a reply contains what is expected, sound or repaired. `text` tells whether text alone is enough."""
    if expect == "json":
        return any(s.kind == "json" for s in reply.segments)
    if expect == "tool_calls":
        return bool(reply.tool_calls)
    if expect == "payloads":
        return bool(reply.payloads)
    if expect == "actions":
        return bool(reply.actions)
    if reply.actions or reply.payloads or reply.tool_calls:
        return True
    if not text or reply.status not in _SOUND:
        return text and any(s.kind == "json" for s in reply.segments)
    if reply.envelope or any(s.kind == "json" for s in reply.segments):
        return True
    return bool(reply.text.strip()) and not is_failed_call(reply)


def _text_segments(text: str, start: int, end: int) -> list[Segment]:
    return [Text(text=text[start:end], span=(start, end))] if start < end else []
