"""What every response shows in which a call may only be said. This is fast, for text that is sound and complete."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from outspoken.results.replies import Reasoning, Text, ToolCall

#: One of these is in every text that makes a call behind it doubtful, apart from quotation marks and `>`.
_REGION_SIGNS = ("```", "~~~", "<!--", "<pre>", "<code>", "<blockquote>", "<tool_response>")


class ThinkMarkers(NamedTuple):
    """What finds the tags of reasoning in text: `either` has the groups `open` and `close`."""

    either: re.Pattern[str]
    closer: re.Pattern[str]


def may_be_said(raw: str, segments: Sequence[Any], closer: re.Pattern[str] | None) -> bool:
    """May a call be quoted or thought about? `closer` finds the tag that ends reasoning; None if there is none."""
    at, last = 0, None
    for segment in segments:
        if type(segment) is ToolCall:
            start = segment.span[0]
            if at == 0 and type(last) is Reasoning and closer and closer.search(raw, last.span[1], start) is None:
                return True
            before = raw[at:start]
            if any(sign in before for sign in _REGION_SIGNS) or (type(last) is Text and _ends_in_quote(last.text)):
                return True
            at = segment.span[1]
        else:
            last = segment
    return False


def _ends_in_quote(text: str) -> bool:
    stripped = text.rstrip()
    return stripped[-1:] in "\"'“‘«`" or stripped[stripped.rfind("\n") + 1 :].lstrip().startswith(">")
