"""What is wrong with a response, and what may be done with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from outspoken.detection.opener_index import PLAIN
from outspoken.json.read import read_json
from outspoken.notations.coerce import fits
from outspoken.notations.tools import Tools
from outspoken.results.actions.union import Action
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic
from outspoken.results.edits import NOTES as JSON_NOTES
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.replies import Reply, ToolCall
from outspoken.results.settings import Settings

from .categories import categories_of
from .config import Expect, ParserConfig
from .finish_reasons import CONTENT_FILTER, MESSAGES, TOKEN_LIMIT
from .results import Check, Processed, null_action
from .stats import Outcome
from .strategies import Found, Question, find

_OPENERS = frozenset("{[")
_WANTED: dict[Expect, str] = {
    "anything": "nothing in the response can be used",
    "tool_calls": "the response has no tool call that can be used",
    "actions": "the response has no action that can be used",
    "payloads": "the response has no payload that can be used",
    "json": "the response has no JSON value that can be used",
}


def judge(asked: Question, config: ParserConfig, settings: Settings, checks: Iterable[Check]) -> Processed:
    """Read a response, check it, and decide. Where it is of no use, `route` is not decided yet."""
    found = find(asked, config, settings)
    reply = found.reply
    notes = [*_remarks(asked, found, config.expect, settings), *_arguments(reply, asked.tools)]
    checked = [d for check in checks for d in check(reply, asked.context)]
    problems = tuple(
        [d for d in (*reply.diagnostics, *place_diagnostics(notes, reply.raw), *checked) if d.severity != "note"]
    )
    clean = found.route == "primary" and not problems
    if not clean and not problems:
        problems = tuple(place_diagnostics([_unsound(found)], reply.raw))
    outcome: Outcome = "success" if clean and found.usable else "recovered"
    if not found.usable or (config.strict_validation and not clean):
        outcome = "failed"
    return construct(
        Processed,
        {
            "reply": reply,
            "format": (reply.format or PLAIN) if asked.format == "auto" else asked.format,
            "outcome": outcome,
            "route": found.route if outcome != "failed" else "manual",
            "actions": _actions(reply, config, outcome, problems),
            "tool_calls": list(reply.tool_calls) if outcome != "failed" else [],
            "problems": problems,
            "categories": categories_of(problems),
            "attempts": 1,
            "earlier": (),
        },
    )


def _actions(reply: Reply, config: ParserConfig, outcome: Outcome, problems: tuple[Diagnostic, ...]) -> list[Action]:
    """The actions that may be carried out, in order. One that broke off leaves nothing in its place."""
    instead = config.fallback_to_null_action
    if outcome == "failed":
        wanted = instead and config.expect in ("anything", "actions")
        return [null_action(problems[0].message)] if wanted else []
    found: list[Action] = []
    for action in [s for s in reply.segments if s.kind == "action"]:
        if action.status in ("ok", "repaired"):
            found.append(action)
        elif action.status == "invalid" and instead:
            said = [d.message for d in reply.diagnostics if d.code == "invalid-action" and _within(d, action.span)]
            found.append(null_action(said[0] if said else "", action))
    return found


def _remarks(asked: Question, found: Found, expect: Expect, settings: Settings) -> Iterator[PendingDiagnostic]:
    """What is to be said of a response besides what its reader says."""
    reply, reason = found.reply, asked.reason
    end = (len(reply.raw), len(reply.raw))
    if found.usable and found.route == "fallback" and asked.format not in ("auto", reply.format):
        message = f"the response is not in the format `{asked.format}`, and was read as `{reply.format or PLAIN}`"
        yield PendingDiagnostic("other-format", message, (0, len(reply.raw)), "warning", reply.format)
    if reason in TOKEN_LIMIT:
        yield PendingDiagnostic("token-limit", MESSAGES["token-limit"], end, "warning", reply.format)
    if reason in CONTENT_FILTER:
        severity = "warning" if found.usable else "error"
        yield PendingDiagnostic("content-filter", MESSAGES["content-filter"], end, severity, reply.format)
    if found.usable and found.route == "primary" and expect == "json":
        yield from _cut_json(reply, settings)
    if found.usable or reply.status in ("truncated", "invalid"):
        return
    if reply.raw.strip():
        yield PendingDiagnostic("nothing-usable", _WANTED[expect], (0, len(reply.raw)), "error", reply.format)
    else:
        yield PendingDiagnostic("empty-response", MESSAGES["empty-response"], end, "error", reply.format)


def _cut_json(reply: Reply, settings: Settings) -> Iterator[PendingDiagnostic]:
    """A value that breaks off behind those that are complete is plain text to a reader that wants no JSON."""
    if any(s.kind == "text" and not _OPENERS.isdisjoint(s.text) for s in reply.segments):
        read = read_json(reply.raw, settings=settings)
        if read.status == "truncated":
            yield PendingDiagnostic(
                "cut-json", JSON_NOTES["cut-json"], (read.spans[-1][0], len(reply.raw)), "error", reply.format
            )


def _unsound(found: Found) -> PendingDiagnostic:
    """What is to be said of a response that is not sound, and of which nothing else is said."""
    if found.route == "fallback":
        message = "the response could be read only in another way than was asked for"
    else:
        message = f"the response is {found.reply.status}"
    return PendingDiagnostic("unsound-response", message, (0, len(found.reply.raw)), "warning", found.reply.format)


def _arguments(reply: Reply, tools: Tools | None) -> Iterator[PendingDiagnostic]:
    """Arguments of finished calls that are missing, or of another type than the tool's schema says."""
    if tools is None:
        return
    for call in reply.tool_calls:
        for key in tools.required(call.name):
            if key not in call.arguments:
                message = f"the argument `{key}` of `{call.name}` is missing"
                yield PendingDiagnostic("missing-argument", message, call.span, "warning", reply.format)
        if any(d.code == "mistyped-argument" and _within(d, call.span) for d in reply.diagnostics):
            continue
        yield from _mistyped(call, tools, reply.format)


def _mistyped(call: ToolCall, tools: Tools, format: str | None) -> Iterator[PendingDiagnostic]:
    for key, value in call.arguments.items():
        types = tools.types(call.name, key)
        if types is not None and not fits(value, types):
            message = f"the argument `{key}` of `{call.name}` should be {' or '.join(sorted(types))}"
            yield PendingDiagnostic("mistyped-argument", message, call.span, "warning", format)


def _within(diagnostic: Diagnostic, span: tuple[int, int]) -> bool:
    return span[0] <= diagnostic.span[0] and diagnostic.span[1] <= span[1]
