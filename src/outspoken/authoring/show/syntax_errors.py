"""The places where the grammar rejects the text, as diagnostics."""

from __future__ import annotations

import json
from itertools import islice

from outspoken import Reply
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.snippet import visible

from .conditions import unmet, unmet_openers
from .configurations import acceptable, described
from .trace import Step

#: This many terminals are named of those that were expected.
_MOST = 8
#: This many tokens are shown of those that were read before, and this many characters of each.
_TOKENS, _LONG = 4, 40


def refusals(log: list[Step], reply: Reply, name: str) -> list[str]:
    """The places where a grammar refused the text, those that no format reads, and openers that open nothing, drawn.

    `name` is the format that the text was read in, "" for none.
    """
    notes: list[PendingDiagnostic] = []
    begun = 0
    for number, step in enumerate(log):
        if step.kind == "read":
            begun = step.end
        elif step.kind == "refused":
            notes.append(_refused(step, log[:number], _outcome(log, number + 1), begun, reply.raw))
        elif step.kind == "tried":
            notes.append(_tried(step))
    notes = notes or list(unmet_openers(reply, name))
    return [diagnostic.frame() for diagnostic in place_diagnostics(notes, reply.raw)]


def _refused(step: Step, before: list[Step], outcome: str, begun: int, raw: str) -> PendingDiagnostic:
    """A place that was refused, behind some steps; the last token before it ended at `begun`."""
    config, embedded = step.config, step.transition
    if embedded is not None:
        message = f"`{embedded.terminal.short}` cannot be read on here"
    elif config.free is not None and config.free.terminal.short == "ARG_VALUE":
        message = "`ARG_VALUE` seems to end here without its closing marker"
    else:
        message = "the grammar has no place for what stands here"
    wrong = _json_error(raw, begun) if embedded is not None and embedded.terminal.short in JSON_FIRST else ""
    read = _read(before, raw)
    notes = [*([read] if read else []), wrong or _expected(step)]
    notes += unmet(acceptable(config), raw, max(step.start, 0)) if embedded is None else []
    notes += [outcome] if outcome else []
    return PendingDiagnostic("refused", message, _span(step, raw), "note", _format(step), "refused here", tuple(notes))


def _read(before: list[Step], raw: str) -> str:
    """The last tokens that were read in the segment before a place."""
    tokens: list[str] = []
    for step in reversed(before):
        if step.kind != "read" or step.transition is None or step.transition.terminal.short == "TEXT":
            break
        text = visible(raw[max(step.start, 0) : max(step.end, 0)].strip())
        shown = text if len(text) <= _LONG else f"{text[: _LONG // 2]}...{text[-_LONG // 3 :]}"
        tokens.append(f"`{step.transition.terminal.short}` {shown}".strip())
        if len(tokens) == _TOKENS:
            break
    return f"read before it: {', '.join(reversed(tokens))}" if tokens else ""


def _tried(step: Step) -> PendingDiagnostic:
    notes = [f"{trial.name}: {_why(trial.log)}" for trial in step.trials] or ["too much was tried before this"]
    span = max(step.start, 0), max(step.start + 1, 1)
    message = "a marker stands here, and no format reads on from it"
    return PendingDiagnostic("unclaimed", message, span, "note", None, "", tuple(notes))


def _why(log: list[Step]) -> str:
    """Why a format did not read a segment."""
    step = next((step for step in log if step.kind == "refused"), None)
    return f"refused at {step.start}; {_expected(step)}" if step is not None else "nothing but text is in it"


def _expected(step: Step) -> str:
    config = described(step.config)
    if step.transition is not None:
        return f"expected more of `{step.transition.terminal.short}`"
    names = [str(expected) for expected in config.expected]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    inside = f" in {config.inside}" if config.inside else ""
    return f"expected{inside}: {', '.join(names[:_MOST]) or 'the end'}{more}"


def _json_error(raw: str, begun: int) -> str:
    """What the standard decoder says of the JSON value behind a token."""
    start = len(raw) - len(raw[begun:].lstrip()) if begun >= 0 else 0
    try:
        json.JSONDecoder().raw_decode(raw, start)
    except json.JSONDecodeError as error:
        return f"as JSON: {error.msg[0].lower()}{error.msg[1:]}"
    except RecursionError:
        return "as JSON: it nests too deeply"
    return ""


def _outcome(log: list[Step], first: int) -> str:
    """What became of a refused segment."""
    for step in islice(log, first, None):
        if step.kind == "recovered":
            return f"{step.start} to {step.end} was read again as damaged, at a cost of {step.cost}"
        if step.kind == "rejected":
            return f"read as damaged, at a cost of {step.cost}, it contradicts what was sent or can be read in two ways"
        if step.kind == "text":
            return f"{step.start} to {step.end} is text"
        if step.kind == "unread":
            return f"{step.start} to {step.end} was given up"
        if step.kind == "refused":
            return ""
    return ""


def _span(step: Step, raw: str) -> tuple[int, int]:
    start = min(max(step.start, 0), len(raw))
    return start, min(max(step.end, start + 1), len(raw))


def _format(step: Step) -> str:
    return step.config.automaton.tables.header.format
