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


class ThinkMarkers(NamedTuple):
    """What finds the tags of reasoning in text: `either` has the groups `open` and `close`."""

    either: re.Pattern[str]
    closer: re.Pattern[str]


def may_be_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None) -> bool:
    """May a call be quoted or thought about? `thinks` finds the tags of reasoning; None if it has none."""
    at, last = 0, None
    closer = None if thinks is None else thinks.closer
    for segment in segments:
        if type(segment) is ToolCall:
            start = segment.span[0]
            if at == 0 and closer and closer.search(raw, start) is not None:
                return True
            if at == 0 and type(last) is Reasoning and closer and closer.search(raw, last.span[1], start) is None:
                return True
            before = raw[at:start].lower()
            if any(sign in before for sign in _REGION_SIGNS) or (type(last) is Text and _is_doubtful(last.text)):
                return True
            at = segment.span[1]
        else:
            last = segment
    return False


def _is_doubtful(text: str) -> bool:
    """May calls behind a text stand in reasoning, or in quotation marks?"""
    stripped = text.rstrip()
    if _THINK_SIGN in stripped.lower():
        return True
    return stripped[-1:] in "\"'“‘«`" or stripped[stripped.rfind("\n") + 1 :].lstrip().startswith(">")
