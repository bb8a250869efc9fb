"""What a reading of a segment says, by which the best of several is chosen."""

from __future__ import annotations

from outspoken.semantics.output import Output


def is_text(output: Output) -> bool:
    """Is it only text?"""
    return not [s for s in output.segments if s.kind != "text"]  # lists, which take half as long as generators


def says_something(output: Output) -> bool:
    """Is there more than markers? Several may say that there is nothing: an empty list of calls."""
    return bool(output.segments) or output.outcome.envelope or output.outcome.answered


def has_content(output: Output) -> bool:
    """Is there more than text and reasoning?"""
    return output.outcome.answered or bool([s for s in output.segments if s.kind not in ("text", "reasoning")])


def has_actions(output: Output) -> bool:
    """Is there an answer, or a call, an action or a payload that can be used?"""
    kinds = "tool_call", "action", "payload"
    usable = [s for s in output.segments if s.kind in kinds and s.status != "invalid"]
    return output.outcome.answered or bool(usable)
