"""Evaluates a response: what is wrong with it, and what is safe to carry out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from outspoken.grammar.registry import PLAIN
from outspoken.json.read import read_json
from outspoken.parsing.parser import Parser
from outspoken.results.actions.union import Action
from outspoken.results.codes import CODES, ErrorCategory, categories_of
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic, PendingDiagnostic, Severity, place_diagnostics
from outspoken.results.finish_reasons import is_cut, is_filtered
from outspoken.results.replies import Reply, Status
from outspoken.results.settings import Settings

from .results import Check, Processed, null_action
from .settings import Expect, ProcessorSettings
from .strategies import Attempt, Request, Strategies

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
    found, parser = strategies.read(request), strategies.parser
    reply = found.reply
    pending = [*_response_diagnostics(request, found, settings.expect, parser)]
    every = [*request.response.problems, *reply.diagnostics, *place_diagnostics(pending, reply.raw)]
    every += [d for check in checks for d in check(reply, request.context)]
    problems = tuple([d for d in every if d.severity != "note"])
    clean = found.strategy == "primary" and not problems
    if not clean and not problems:
        problems = tuple(place_diagnostics([_generic_problem(found)], reply.raw))
    categories = categories_of(problems)
    is_usable = found.usable and (clean or not settings.strict_validation)
    status: Status = "ok" if clean else "repaired"
    if not is_usable:
        status = "truncated" if ErrorCategory.TRUNCATED in categories else "invalid"
    found_actions = _actions(reply, settings) if is_usable else _no_actions(settings, problems)
    return construct(
        Processed,
        {
            "reply": reply,
            "format": (reply.format or PLAIN) if parser.format == "auto" else parser.format,
            "status": status,
            "strategy": found.strategy,
            "actions": _with_metadata(request, found_actions),
            "tool_calls": list(reply.tool_calls) if is_usable else [],
            "problems": problems,
            "categories": categories,
            "needs_retry": False,
            "needs_manual": False,
            "metadata": request.metadata or {},
            "attempts": 1,
            "earlier": (),
        },
    )


def _with_metadata(request: Request, actions: list[Action]) -> list[Action]:
    """The actions with the metadata of the response beside their own."""
    shared = request.metadata
    return [a.model_copy(update={"metadata": {**shared, **a.metadata}}) for a in actions] if shared else actions


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
    reply, reason = found.reply, request.reason
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
