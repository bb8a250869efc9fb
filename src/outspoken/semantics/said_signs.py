"""What every response shows in which a call may only be said. This is fast, for text that is sound and complete."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from outspoken.results.replies import Reasoning, Text, ToolCall

#: One of these is in every text that makes a call behind it doubtful, apart from quotation marks and `>`.
_REGION_SIGNS = ("```", "~~~", "<!--", "<pre>", "<code>", "<blockquote>", "<tool_response>")
#: And this one in text that is none of reasoning.
_THINK_SIGN = "<think"
#: And one of these at the end of such a text.
_QUOTES = "\"'“‘«`"


class ThinkMarkers(NamedTuple):
    """What finds the tags of reasoning in text: `either` has the groups `open` and `close`."""

    either: re.Pattern[str]
    closer: re.Pattern[str]


def may_be_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None) -> bool:
    """May a call be quoted or thought about? `thinks` finds the tags of reasoning; None if it has none."""
    at, lower, has_sign = 0, "", False
    last: Any = None
    judged: Any = None
    for segment in segments:
        if segment.__class__ is not ToolCall:
            last = segment
            continue
        start, end = segment.span
        if not lower:
            if thinks is not None and _may_be_thought(raw, start, last, thinks.closer):
                return True
            lower = raw.lower()
            for sign in _REGION_SIGNS:
                if sign in lower:
                    has_sign = True
        if has_sign:
            before = raw[at:start].lower()
            if any(sign in before for sign in _REGION_SIGNS):
                return True
        if last is not judged and last.__class__ is Text:
            text = last.text.rstrip()
            if text[-1:] in _QUOTES or (_THINK_SIGN in lower and _THINK_SIGN in text.lower()):
                return True
            if ">" in text and text[text.rfind("\n") + 1 :].lstrip().startswith(">"):
                return True
            judged = last
        at = end
    return False


def _may_be_thought(raw: str, start: int, before: Any, closer: re.Pattern[str]) -> bool:
    """May the first call, behind the segment `before`, stand in reasoning?"""
    if closer.search(raw, start) is not None:
        return True
    return before.__class__ is Reasoning and closer.search(raw, before.span[1], start) is None
