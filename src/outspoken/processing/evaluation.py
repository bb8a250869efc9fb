"""Reads a response by strategies, and evaluates it: what is wrong with it, and what is safe to carry out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from outspoken.actions.page import PageContext
from outspoken.grammar.registry import PLAIN
from outspoken.json.read import read_json
from outspoken.parsing.options import page_changes
from outspoken.parsing.parser import Parser
from outspoken.results.actions.union import Action
from outspoken.results.codes import CODES, ErrorCategory, categories_of
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic, PendingDiagnostic, Severity, place_diagnostics
from outspoken.results.finish_reasons import is_cut, is_filtered
from outspoken.results.replies import JsonValue, Reply, Segment, Status, Text, is_failed_call
from outspoken.results.settings import Settings

from .responses import Response, with_native
from .results import Check, Processed, Strategy, null_action
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
        self._first = parser.replace(repair=parser.repair if self._recovers else "none", on_error="keep")
        self._fallback = parser.replace(format="auto", on_error="keep")

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
        if self.parser.format != "auto":
            yield "fallback", self._fallback.replace(**changes).parse(text, prefix=prefix, finish_reason=reason)
        if self.expect == "json":
            yield "fallback", self._json_reply(first)

    def _json_reply(self, reply: Reply) -> Reply:
        """A reply with the complete JSON values of the text."""
        text = reply.raw
        read = read_json(text, repair=self.parser.repair, settings=self.parser.settings)
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


_OPENERS = frozenset("{[")
_UNUSABLE: dict[Expect, str] = {
    "anything": "the response contains nothing usable",
    "tool_calls": "the response contains no usable tool call",
    "actions": "the response contains no usable action",
    "payloads": "the response contains no usable payload",
    "json": "the response contains no usable JSON value",
}


def evaluate(
    request: Request, strategies: Strategies, settings: ProcessorSettings, checks: Iterable[Check]
) -> Processed:
    """Read a response, check it, and determine its status. The caller decides on retries."""
    attempt, parser = strategies.read(request), strategies.parser
    reply = attempt.reply
    pending = [*_response_diagnostics(request, attempt, settings.expect, parser)]
    every = [*request.response.problems, *reply.diagnostics, *place_diagnostics(pending, reply.raw)]
    every += [d for check in checks for d in check(reply, request.context)]
    problems = tuple([d for d in every if d.severity != "note"])
    clean = attempt.strategy == "primary" and not problems
    if not clean and not problems:
        problems = tuple(place_diagnostics([_generic_problem(attempt)], reply.raw))
    categories = categories_of(problems)
    is_usable = attempt.usable and (clean or not settings.strict_validation)
    status: Status = "ok" if clean else "repaired"
    if not is_usable:
        status = "truncated" if ErrorCategory.TRUNCATED in categories else "invalid"
    found_actions, shared = (
        _actions(reply, settings) if is_usable else _no_actions(settings, problems),
        request.metadata,
    )
    if shared:  # beside their own
        found_actions = [a.model_copy(update={"metadata": {**shared, **a.metadata}}) for a in found_actions]
    return construct(
        Processed,
        {
            "reply": reply,
            "format": (reply.format or PLAIN) if parser.format == "auto" else parser.format,
            "status": status,
            "strategy": attempt.strategy,
            "actions": found_actions,
            "tool_calls": list(reply.tool_calls) if is_usable else [],
            "problems": problems,
            "categories": categories,
            "needs_retry": False,
            "needs_manual": False,
            "metadata": shared or {},
            "attempts": 1,
            "earlier": (),
        },
    )


def _no_actions(settings: ProcessorSettings, problems: tuple[Diagnostic, ...]) -> list[Action]:
    """The actions of a response that is not usable: at most the one that does nothing."""
    wanted = settings.fallback_to_null_action and settings.expect in ("anything", "actions")
    return [null_action(problems[0].message)] if wanted else []


def _actions(reply: Reply, settings: ProcessorSettings) -> list[Action]:
    """The actions that are safe to carry out, in order. Nothing replaces a truncated one."""
    found: list[Action] = []
    for action in [s for s in reply.segments if s.kind == "action"]:
        if action.status in ("ok", "repaired"):
            found.append(action)
        elif action.status == "invalid" and settings.fallback_to_null_action:
            reasons = [d.message for d in reply.diagnostics if d.code == "invalid-action" and _within(d, action.span)]
            found.append(null_action(reasons[0] if reasons else "", action))
    return found


def _response_diagnostics(
    request: Request, found: Attempt, expect: Expect, parser: Parser
) -> Iterator[PendingDiagnostic]:
    """The diagnostics of a response beyond those of its reply."""
    reply, reason = found.reply, request.finish_reason
    end = (len(reply.raw), len(reply.raw))
    if found.usable and found.strategy == "fallback" and parser.format not in ("auto", reply.format):
        message = f"the response is not in the format `{parser.format}`; it was read as `{reply.format or PLAIN}`"
        yield PendingDiagnostic("other-format", message, (0, len(reply.raw)), "warning", reply.format)
    if is_cut(reason):
        yield _problem("token-limit", end, "warning", reply)
    if is_filtered(reason):
        yield _problem("content-filter", end, "warning" if found.usable else "error", reply)
    if found.usable and found.strategy == "primary" and expect == "json":
        yield from _cut_json(reply, parser.settings)
    if found.usable or reply.status in ("truncated", "invalid"):
        return
    if reply.raw.strip():
        yield PendingDiagnostic("nothing-usable", _UNUSABLE[expect], (0, len(reply.raw)), "error", reply.format)
    else:
        yield _problem("empty-response", end, "error", reply)


def _cut_json(reply: Reply, settings: Settings) -> Iterator[PendingDiagnostic]:
    """A truncated JSON value after complete ones, which `parse` reads as plain text."""
    if any(s.kind == "text" and not _OPENERS.isdisjoint(s.text) for s in reply.segments):
        read = read_json(reply.raw, settings=settings)
        if read.status == "truncated":
            yield _problem("cut-json", (read.spans[-1][0], len(reply.raw)), "error", reply)


def _problem(code: str, span: tuple[int, int], severity: Severity, reply: Reply) -> PendingDiagnostic:
    """The diagnostic of a code with a message of its own."""
    return PendingDiagnostic(code, CODES[code].message, span, severity, reply.format)


def _generic_problem(found: Attempt) -> PendingDiagnostic:
    """The diagnostic of a response that is not sound and has no other diagnostic."""
    if found.strategy == "fallback":
        message = "the response could not be read in the requested way"
    else:
        message = f"the response is {found.reply.status}"
    return PendingDiagnostic("unsound-response", message, (0, len(found.reply.raw)), "warning", found.reply.format)


def _within(diagnostic: Diagnostic, span: tuple[int, int]) -> bool:
    return span[0] <= diagnostic.span[0] and diagnostic.span[1] <= span[1]
