"""What every response shows in which a call or action may only be said. This is fast, for sound and complete text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from outspoken.results.replies import Reasoning, Text

#: One of these is in every text that makes a call behind it doubtful, apart from quotation marks and `>`.
_REGION_SIGNS = ("```", "~~~", "<!--", "<pre>", "<code>", "<blockquote>", "<tool_response>")
#: And this one in text that is none of reasoning.
_THINK_SIGN = "<think"


#: The kinds of segments that are made or said.
MADE = frozenset({"tool_call", "action"})
#: A marker that opens reasoning begins no farther before it, and what shows that it is one is no farther behind it.
_LONGEST_OPENER, _LOOKAHEAD = 60, 1600


class ThinkMarkers(NamedTuple):
    """What finds the tags of reasoning in text: `either` has the groups `open` and `close`.

    `bare` finds what opens reasoning that nothing closes, such as a line `Thought:`; None if nothing does.
    """

    either: re.Pattern[str]
    closer: re.Pattern[str]
    bare: re.Pattern[str] | None = None

    def is_closable(self, read: Callable[[int, int], str], reasoning: Reasoning) -> bool:
        """Does a tag close reasoning? None closes a string. `read` gives the text between two offsets."""
        start = reasoning.span[0]
        if read(start, start + 1) == '"' != reasoning.text[:1]:
            return False
        if self.bare is None:
            return True
        first = max(start - _LONGEST_OPENER, 0)
        text = read(first, start + _LOOKAHEAD)
        ends = [match.end() for match in self.bare.finditer(text, 0)]
        return not any(end <= start - first and not text[end : start - first].strip() for end in ends)


def may_be_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None) -> bool:
    """May a call be quoted or thought about? `thinks` finds the tags of reasoning; None if it has none."""
    at, last = 0, None
    closer = None if thinks is None else thinks.closer
    for segment in segments:
        if segment.kind in MADE:
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
