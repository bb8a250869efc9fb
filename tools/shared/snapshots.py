"""The part of a reply that a snapshot shows, and replies that no snapshot may show."""

from __future__ import annotations

from typing import Any

from outspoken import Reply

from .corpus import Case


def markup(reply: Reply) -> list[str]:
    """The pieces of the text that are part of no segment."""
    edges = [0, *[edge for segment in reply.segments for edge in segment.span], len(reply.raw)]
    return [reply.raw[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


def readable(case: Case, reply: Reply) -> dict[str, Any]:
    """What a person compares: the text, and everything that was read in it."""
    value: dict[str, Any] = {
        "input": case.text,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "segments": reply.segments,
        "markup": markup(reply),
        "status": reply.status,
        "diagnostics": [diagnostic.frame() for diagnostic in reply.diagnostics],
    }
    if reply.envelope:
        value["needs_more_work"] = reply.needs_more_work
    if reply.final_answer_streamed:
        value["final_answer_streamed"] = True
    if "prefix" in case.options:
        value["prefix"] = case.options["prefix"]
    return value


def refusal(case: Case, reply: Reply) -> str:
    """Why a reply must not be accepted as what a case is read as; "" where it may be.

    A sound response has no diagnostic and the status "ok"; of a damaged one, something is said.
    """
    said = [str(diagnostic) for diagnostic in reply.diagnostics]
    if case.kind == "ok" and said:
        return "a case in `ok/` has a diagnostic: " + "; ".join(said)
    if case.kind == "ok" and reply.status != "ok":
        return f"a case in `ok/` is {reply.status}"
    if case.kind == "err" and not said:
        return "a case in `err/` has no diagnostic"
    return ""
