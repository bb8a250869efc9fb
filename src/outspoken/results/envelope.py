"""The reply as one plain object, as agent loops take it: `content`, `toolCalls` and `needsMoreWork`.

A key that the response says nothing about is absent, so that "no calls" and "an empty list" stay apart.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conventions import Conventions
    from .replies import Reply, ToolCall

#: What stands round calls that are nothing but JSON: a list's punctuation, and a code fence.
_JSON_ONLY = re.compile(r"(?:[\s,\[\]]|(?:```|~~~)\w*)*")


def to_envelope(reply: Reply, names: Conventions) -> dict[str, Any]:
    """The reply as a plain object. Its values are copies; it contains complete calls only."""
    calls = [_call(call) for call in reply.tool_calls]
    content = _content(reply, names.placeholder)
    more = reply.needs_more_work
    if more is None and calls:
        more = True
    envelope: dict[str, Any] = {}
    if content is not None:
        envelope[names.content] = content
    if calls:
        envelope[names.tool_calls] = calls
    if more is not None:
        envelope[names.needs_more_work] = more
    return envelope


def _call(call: ToolCall) -> dict[str, Any]:
    made: dict[str, Any] = {"name": call.name, "arguments": deepcopy(call.arguments)}
    if call.id is not None:
        made["id"] = call.id
    return made


def _content(reply: Reply, placeholder: str) -> str | None:
    """What to show: the model's own content, the text round the calls, or words that stand for it."""
    if reply.envelope_content is not None:
        return reply.envelope_content
    if reply.unfinished and not reply.tool_calls:
        return reply.raw.strip()
    if reply.envelope:
        return None
    text = _text(reply).strip()
    if text or not reply.tool_calls:
        return text
    return "" if _is_bare(reply) else placeholder


def _text(reply: Reply) -> str:
    """The text, in order. Pieces that markup stood between are kept apart, if white space kept them apart there."""
    pieces, end = [""], 0
    for segment in reply.segments:
        shown = segment.text if segment.kind == "text" else segment.raw if segment.kind == "json" else ""
        if not shown:
            continue
        pieces += [gap(reply.raw[end : segment.span[0]], pieces[-1], shown), shown]
        end = segment.span[1]
    return "".join(pieces)


def gap(between: str, before: str, after: str) -> str:
    """What keeps two pieces of text apart that markup stood between: white space, if white space stood beside it."""
    blanks = between[: len(between) - len(between.lstrip())] + between[len(between.rstrip()) :]
    if not blanks or before[-1:].isspace() or after[:1].isspace():
        return ""
    return "\n\n" if "\n" in blanks else " "


def _is_bare(reply: Reply) -> bool:
    """Is the response nothing but JSON: one object that is a call, or a list of them?"""
    outside: list[str] = []
    end = 0
    for segment in reply.segments:
        outside.append(reply.raw[end : segment.span[0]])
        end = segment.span[1]
    outside.append(reply.raw[end:])
    objects = all(reply.raw.startswith("{", call.span[0]) for call in reply.tool_calls)
    return objects and _JSON_ONLY.fullmatch("".join(outside)) is not None
