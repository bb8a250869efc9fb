"""A reply as the plain object that an agent loop consumes: its text, its calls, and whether it wants another turn.

A key that the response does not determine is absent, so that "no calls" differs from "an empty list". What else the
model's own object says is kept under its keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .replies import Reply, ToolCall


class Conventions(NamedTuple):
    """Key names and fixed words of an application.

    `content`, `tool_calls` and `needs_more_work` are the keys of an envelope; `placeholder` is the content of an
    envelope for a reply that calls tools and contains no text. `message_keys` are the types of the payloads that have
    a key of their own in a message.
    """

    content: str = "content"
    tool_calls: str = "tool_calls"
    needs_more_work: str = "needs_more_work"
    placeholder: str = ""
    message_keys: tuple[str, ...] = ()


_load: Callable[[], Conventions] = Conventions


def register_conventions(load: Callable[[], Conventions]) -> None:
    """Set the function that returns the default conventions. It is called each time they are needed."""
    global _load
    _load = load


def default_conventions() -> Conventions:
    """The conventions that apply unless a call passes others."""
    return _load()


#: The text around calls in a response that is JSON only: list punctuation and code fences.
_JSON_ONLY = r"(?:[\s,\[\]]|(?:```|~~~)\w*)*"

#: The key of an empty list of calls in `Reply.unread`.
_NO_CALLS = "tool_calls"


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
    if calls or reply.unread.get(_NO_CALLS) == []:
        envelope[names.tool_calls] = calls
    if more is not None:
        envelope[names.needs_more_work] = more
    for key, value in reply.unread.items():
        if key != _NO_CALLS:
            envelope.setdefault(names.content if key == "content" else key, deepcopy(value))
    return envelope


def _call(call: ToolCall) -> dict[str, Any]:
    made: dict[str, Any] = {"name": call.name, "arguments": deepcopy(call.arguments)}
    if call.id is not None:
        made["id"] = call.id
    return made


def _content(reply: Reply, placeholder: str) -> str | None:
    """The model's own content, the text around the calls, or the placeholder; None if the model's object has none."""
    if reply.envelope_content is not None:
        return reply.envelope_content
    if reply.unfinished_tool_calls and not reply.tool_calls:
        return reply.raw.strip()
    if reply.envelope:
        return None
    text = reply.text
    if text.strip() or not reply.tool_calls:
        return text
    return "" if _is_bare(reply) else placeholder


def _is_bare(reply: Reply) -> bool:
    """True if the response is JSON only: a call object, or a list of them."""
    outside: list[str] = []
    end = 0
    for segment in reply.segments:
        outside.append(reply.raw[end : segment.span[0]])
        end = segment.span[1]
    outside.append(reply.raw[end:])
    objects = all(reply.raw.startswith("{", call.span[0]) for call in reply.tool_calls)
    return objects and re.fullmatch(_JSON_ONLY, "".join(outside)) is not None
