"""What every response shows in which a call or action may only be said. This is fast, for sound and complete text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from outspoken.results.replies import Reasoning, Text

from .quotations import LONGEST_QUOTE, MARKS, OPENING

#: One of these is in every text that makes a call behind it doubtful, apart from quotation marks and `>`.
_REGION_SIGNS = ("```", "~~~", "<!--", "<pre>", "<code>", "<blockquote>", "<tool_response>")
#: One of these is in every text that opens a quotation.
_QUOTE_SIGN = re.compile(f"[{MARKS}`]")
#: And this one in text that is none of reasoning.
_THINK_SIGN = "<think"
#: The kinds of segments that are made or said.
MADE = frozenset({"tool_call", "action"})
#: A marker that opens reasoning begins no farther before it, and what shows that it is one is no farther behind it.
_LONGEST_OPENER, _LOOKAHEAD = 60, 1600


class ThinkMarkers(NamedTuple):
    """What finds the tags of reasoning in text: `either` has the groups `open` and `close`.

    `bare` finds what opens reasoning that no tag closes, such as a line `Thought:`; None if nothing does. `ends` has
    the same groups. If the marks that close reasoning are `shared` by calls, it finds what ends reasoning that goes on
    behind a call; else, it finds the answer that closes bare reasoning, and results, behind which that is another one.
    """

    either: re.Pattern[str]
    closer: re.Pattern[str]
    bare: re.Pattern[str] | None
    ends: re.Pattern[str] | None
    is_shared: bool

    @classmethod
    def of(cls, either: str, closer: str, bare: str, ends: str) -> ThinkMarkers | None:
        """The markers with these patterns; None if nothing closes reasoning."""
        if not closer:
            return None
        finds_bare, finds_ends = [re.compile(pattern) if pattern else None for pattern in (bare, ends)]
        return cls(re.compile(either), re.compile(closer), finds_bare, finds_ends, bool(ends) and not bare)

    def end_of(self, read: Callable[[int, int], str], reasoning: Reasoning) -> re.Pattern[str] | None:
        """What finds the end of reasoning, in the group `close`; None for a string, which nothing closes.

        `read` gives the text between two offsets.
        """
        start = reasoning.span[0]
        if read(start, start + 1) == '"' != reasoning.text[:1]:
            return None
        if self.bare is None:
            return self.either
        first = max(start - _LONGEST_OPENER, 0)
        text = read(first, start + _LOOKAHEAD)
        ends = [match.end() for match in self.bare.finditer(text, 0)]
        is_bare = any(end <= start - first and not text[end : start - first].strip() for end in ends)
        return self.ends if is_bare else self.either


def may_be_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None) -> bool:
    """May a call be quoted or thought about? `thinks` finds the tags of reasoning; None if it has none."""
    at, lower, has_sign = 0, "", False
    last: Any = None
    judged: Any = None
    for segment in segments:
        if segment.kind not in MADE:
            last = segment
            continue
        start, end = segment.span
        if not lower:
            if thinks is not None and _may_be_thought(raw, start, last, thinks):
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
            is_unmarked = text[-1:].isalpha() and (raw[start] in "{[" or raw[start].isalnum())
            if is_unmarked or _may_be_quoted(text) or (_THINK_SIGN in lower and _THINK_SIGN in text.lower()):
                return True
            judged = last
        at = end
    return False


def _may_be_quoted(text: str) -> bool:
    """May a text open a quotation at its end, or announce an example?"""
    if text[-8:].lower() == "example:" or text[-1:] in ("[", ">"):
        return True
    tail = text[-LONGEST_QUOTE:]
    if _QUOTE_SIGN.search(tail) and OPENING.search(tail):
        return True
    return ">" in text and text[text.rfind("\n") + 1 :].lstrip().startswith(">")


def _may_be_thought(raw: str, start: int, before: Any, thinks: ThinkMarkers) -> bool:
    """May the first call, behind the segment `before`, stand in reasoning?"""
    if thinks.is_shared:
        tags = thinks.either.finditer(raw, max(start - _LONGEST_OPENER, 0), start)
        if any(tag["open"] is not None for tag in tags):
            return True
    elif thinks.closer.search(raw, start) is not None:
        return True
    return before.__class__ is Reasoning and thinks.closer.search(raw, before.span[1], start) is None
