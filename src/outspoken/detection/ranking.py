"""What a reading of a segment says, by which the best of several is chosen."""

from __future__ import annotations

from outspoken.semantics.output import Output


def is_text(output: Output) -> bool:
    """Is it only text?"""
    return all(segment.kind == "text" for segment in output.segments)


def has_content(output: Output) -> bool:
    """Is there more than text and reasoning?"""
    return output.outcome.answered or any(segment.kind not in ("text", "reasoning") for segment in output.segments)


def has_actions(output: Output) -> bool:
    """Is there an answer, or a call, an action or a payload that can be used?"""
    return output.outcome.answered or any(
        segment.kind in ("tool_call", "action", "payload") and segment.status != "invalid"
        for segment in output.segments
    )
