"""What every response shows in which a call or action may only be said. This is fast, for sound and complete text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from outspoken.results.replies import Reasoning, Text

from .quotations import EXAMPLE, LONGEST_QUOTE, MARKS, OPENING, is_shown

#: The elements that show text, those of reasoning that is none of the format, and those of results.
QUOTING_TAGS = "pre|code|blockquote|samp|kbd|q|cite|xmp|textarea|script|style|details|documents?|context|page|examples?"
THINKING_TAGS = "thought|reasoning|reflection|scratchpad"
RESULT_TAGS = "tool_(?:response|result|output)s?|function_(?:response|result|output)s?"
#: Tags of regions that are quoted, and the beginning of a comment.
_TAG = re.compile(rf"<(?:!--|!\[cdata\[|(?:{QUOTING_TAGS}|{THINKING_TAGS}|{RESULT_TAGS})[\s>])|/\*|\{{#")
#: One of these is in every text that opens a quotation or announces an example.
_QUOTE_SIGN = re.compile(rf"[{MARKS}`\[:<~]|>>>")
#: Signs at the end of a text that quotes, and at the beginning of its last line.
_SIGNS, _LINE_SIGNS = frozenset("><\\#/+-"), frozenset(">|")
#: And this one in text that is none of reasoning.
THINK_SIGN = "<think"
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
    at = -1
    last: Any = None
    judged: Any = None
    if "](" in raw:  # there may be a link
        return True
    for segment in segments:
        if segment.kind not in MADE:
            last = segment
            continue
        start, end = segment.span
        if thinks is not None and (at < 0 or thinks.is_shared) and _may_be_thought(raw, start, thinks):
            return True
        if at < 0 and last.__class__ is not Text and raw[0] in MARKS:
            return True
        before = raw[max(at, 0) : start].lower()
        if opens_region(before) or (THINK_SIGN in before and _shows_think(segments)):
            return True
        if last is not judged:
            if _may_be_said_behind(last, raw, start, thinks):
                return True
            judged = last
        at = end
    return False


def _shows_think(segments: Sequence[Any]) -> bool:
    """Does a text hold a sign of a tag of reasoning?"""
    return any(segment.__class__ is Text and THINK_SIGN in segment.text.lower() for segment in segments)


def _may_be_said_behind(before: Any, raw: str, start: int, thinks: ThinkMarkers | None) -> bool:
    """May the segment before a call quote it, or be reasoning that it has cut?"""
    if before.__class__ is not Text:
        return _is_cut(raw, before, start, thinks)
    text = before.text.rstrip()
    return may_be_quoted(text) or is_unmarked(text, raw[start])


def is_unmarked(text: str, first: str) -> bool:
    """May a call stand in a sentence, since a word is before it and its first character is no mark?"""
    return text[-1:].isalpha() and (first in "{[" or first.isalnum())


def _is_cut(raw: str, before: Any, start: int, thinks: ThinkMarkers | None) -> bool:
    """Is the segment before a call reasoning that nothing closes?"""
    if before.__class__ is not Reasoning or thinks is None:
        return False
    return thinks.closer.search(raw, before.span[1], start) is None


def opens_region(lower: str) -> bool:
    """Is there a sign of a region in a text in lower case?"""
    if "```" in lower or "~~~" in lower:
        return True
    return _TAG.search(lower) is not None


def may_be_quoted(text: str) -> bool:
    """May a text open a quotation at its end, or announce an example?"""
    if text[-1:] in _SIGNS or text[text.rfind("\n") + 1 :].lstrip()[:1] in _LINE_SIGNS:
        return True
    tail = text[-LONGEST_QUOTE:]
    return _QUOTE_SIGN.search(tail) is not None and (
        OPENING.search(tail) is not None
        or EXAMPLE.search(tail) is not None
        or is_shown(text, "")
        or is_shown(text, "\n")
    )


def _may_be_thought(raw: str, start: int, thinks: ThinkMarkers) -> bool:
    """May a call, or one behind it, stand in reasoning that goes on?"""
    if thinks.is_shared:
        tags = thinks.either.finditer(raw, max(start - _LONGEST_OPENER, 0), start)
        return any(tag["open"] is not None for tag in tags)
    return thinks.closer.search(raw, start) is not None
