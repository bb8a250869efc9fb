"""What a text says, as plain tuples that the reader of the library and the reference reader can be compared by."""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
from outspoken.actions.encoding import effect_of

#: What says something of text that is text all the same; `advice.py` checks it.
ADVICE = frozenset({"unread-markup"})


class Content(NamedTuple):
    """The content of a text: its segments as tuples, the codes of its diagnostics, the fields of an envelope.

    The codes are those that say what was not read, without advice on text.
    """

    segments: tuple[tuple[Any, ...], ...]
    codes: tuple[str, ...] = ()
    envelope: bool = False
    needs_more_work: bool | None = None

    @property
    def but_for_text(self) -> list[tuple[Any, ...]]:
        """The segments except text and JSON; reasoning is stripped."""
        others = [s for s in self.segments if s[0] not in ("text", "json") and (s[0] != "think" or s[1].strip())]
        return [(s[0], s[1].strip()) if s[0] == "think" else s for s in others]

    def __str__(self) -> str:
        noted = f", with {', '.join(self.codes)}" if self.codes else ""
        return f"{list(self.segments)!r}{noted}"


def content_of(reply: Reply) -> Content:
    """The content of a reply."""
    codes = tuple([diagnostic.code for diagnostic in reply.diagnostics if diagnostic.code not in ADVICE])
    return Content(tuple([_segment_content(s) for s in reply.segments]), codes, reply.envelope, reply.needs_more_work)


def _segment_content(segment: Segment) -> tuple[Any, ...]:
    """A segment as a tuple, without its span."""
    match segment:
        case Text():
            return "text", segment.text
        case Reasoning():
            return "think", segment.text
        case ToolCall():
            return "tool_call", segment.name, segment.arguments, segment.id
        case Payload():
            return "payload", segment.type, segment.data
        case JsonValue():
            return "json", segment.value
        case _:
            return "action", action_content(segment)


def action_content(action: Any) -> dict[str, Any]:
    """What an action says, without its place."""
    return {"name": action.name, "status": action.status, "extra": action.extra, **effect_of(action)}
