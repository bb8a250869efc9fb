"""The titles and values of segments, as texts."""

from __future__ import annotations

from outspoken.results.printing import several_lines
from outspoken.results.replies import JsonValue, Payload, Reasoning, Segment, Text, ToolCall
from outspoken.results.snippet import visible


def segment_title(segment: Segment) -> str:
    """Return the kind, the place and the name of a segment."""
    status = getattr(segment, "status", "ok")
    start, end = segment.span
    title = f"{segment.kind.replace('_', ' ')} {start}-{end}"
    if isinstance(segment, ToolCall):
        title += f": {segment.name}" + (f" (id {segment.id})" if segment.id is not None else "")
    elif isinstance(segment, Payload):
        title += f": {segment.type}"
    elif segment.kind == "action":
        title += f": {segment.name}"
    return visible(title + ("" if status == "ok" else f", {status}"))


def segment_value(segment: Segment) -> str:
    """Return the text of a segment, or its `repr`."""
    if isinstance(segment, (Text, Reasoning)):
        return segment.text
    return segment.raw if isinstance(segment, JsonValue) else several_lines(segment)
