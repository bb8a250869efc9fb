"""Regions of text that are quoted: fences of code, comments, listings, here-documents, and elements of markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.replies import Reasoning, Span, Text

from .announcements import ANNOUNCES
from .doubt import FENCE_LINE, Doubt
from .said_signs import COMMENT, COMMENTS, LISTINGS, QUOTING_TAGS, RESULT_TAGS, THINKING_TAGS, may_open_region

_ATTRIBUTES = r"(?:\s[^<>\n]{0,200})?"
#: What opens a region of text that is quoted: a fence of code, a comment, a listing of LaTeX, a here-document, a tag.
_REGION = lazy_pattern(
    rf"^[ ]{{0,3}}(?P<fence>`{{3,16}}|~{{3,16}})[^`\n]*$|(?P<comment>{COMMENT})"
    rf"|\\begin\{{(?P<listing>{LISTINGS})\}}|<<-?[ ]?[\"']?(?P<here>(?-i:[A-Z_]{{2,20}}))[\"']?(?=[\s;|>)])"
    rf"|<(?P<tag>{QUOTING_TAGS}|{THINKING_TAGS}|think(?:ing)?){_ATTRIBUTES}>|^\s*<(?P<result>{RESULT_TAGS}){_ATTRIBUTES}>",
    re.IGNORECASE | re.MULTILINE,
)
#: Elements that are regions only where their tags are text.
_TEXT_TAGS = lazy_pattern(
    rf"(?!(?:pre|code|blockquote)\Z)(?:{QUOTING_TAGS}|{THINKING_TAGS}|think(?:ing)?)", re.IGNORECASE
)
#: A fence whose label says that no JSON stands in it that was asked for.
_OTHER_FENCE = lazy_pattern(r"\s*[`~]+[ ]*(?:xml|html|diff|patch|console|tool_(?:output|result)s?)\b", re.IGNORECASE)
#: A fence whose label says that calls stand in it.
_CALL_FENCE = lazy_pattern(r"\s*[`~]+[ ]*tool_(?:code|calls?)\b", re.IGNORECASE)
#: Where a call stands in a region that no tag opens.
_WHERE = {
    "fence": "in a fence", "comment": "in a comment", "listing": "in a listing", "here": "in a here-document",
}  # fmt: skip
#: So much of the text before a call shows whether a fence opens right before it.
_LONGEST_FENCE = 200
#: No text that announces a call right before a fence is longer.
_LONGEST_LEAD = 200


class Regions:
    """Follows the text of one response, and tells in which region it is. It looks at each part once.

    `at` is how far it was followed.
    """

    # class attributes, so that making one costs little
    at = 0
    #: the match that opened the region in which the text is, whether it is markup of the format, and the doubt about
    #: the calls in it
    _region: re.Match[str] | None = None
    _is_markup = False
    _doubt: Doubt | None = None

    def __init__(self, read: Callable[[int, int], str]) -> None:
        self._read = read

    def skip_to(self, offset: int) -> None:
        """What stands before an offset was decided: it opens no region."""
        self.at, self._region, self._doubt = max(self.at, offset), None, None

    def follow(self, piece: str, new: list[Any], start: int, cut: Reasoning | None, own_tags: Span) -> None:
        """Follow the text up to an offset, but for calls, and for reasoning that is not `cut` by the call there.

        The `piece` of it, with its `new` segments, the last one first, was not followed yet. Between the offsets
        `own_tags`, a tag `<think>` is the format's own.
        """
        if self._region is None and not may_open_region(piece, new):
            self.at = max(start, self.at)
            return
        texts = [segment.span for segment in new if type(segment) is Text or segment is cut]
        at = self.at
        for segment in reversed(new):
            if type(segment) is Text or segment is cut:
                continue
            self._scan(at, segment.span[0], texts, own_tags)
            at = max(at, segment.span[1])
        self._scan(at, start, texts, own_tags)
        self.at = max(start, self.at)

    def doubt_at(self, last: Any, start: int, kind: str) -> Doubt | None:
        """Why the call, action or payload at an offset, up to which the text was followed, is in doubt by its region.

        `last` is the last segment before it that is no call.
        """
        region = self._region
        if region is None or self._doubt is not None:
            return self._doubt
        if kind == "payload" and region["fence"]:
            return None  # the grammar of payloads says what a fence holds
        # JSON, or code of actions or calls, in a fence that the grammar takes for markup: prompts ask for it
        begin = self._read(start, start + 9).lstrip()[:1]
        is_habit = (
            region["fence"]
            and self._is_markup
            and (begin in ("{", "[") or (begin != "<" and (kind == "action" or self._holds_calls(region))))
        )
        before = self._read(start - _LONGEST_FENCE, start).rstrip(" \t\r\n[") if is_habit else ""
        is_beside = before.endswith(region[0].strip())  # no markup of the format stands between the fence and the JSON
        if is_beside and _OTHER_FENCE.match(region[0]):
            is_habit = False
        if is_habit and not (type(last) is Text and ANNOUNCES.search(last.text[-_LONGEST_LEAD:])):
            if (is_beside or kind == "action") and begin in ("{", "["):
                where, ends = "in a fence that holds other text, too", _closing_pattern("span", region["fence"])
                is_action = kind == "action"
                self._doubt = Doubt("quoted-call", where, start, closer=ends, wants_text=True, is_action=is_action)
            return self._doubt
        is_led = isinstance(last, Text | Reasoning) and FENCE_LINE.sub("", last.text).strip() != ""
        opened_by = region.lastgroup or ""
        where = f"in <{region[opened_by]}>" if opened_by in ("tag", "result") else _WHERE[opened_by]
        self._doubt = Doubt(
            "quoted-call",
            where,
            start,
            closer=_closer_of(region),
            is_open_certain=bool(region["result"]),
            wants_prose=bool(region["fence"]),
            is_weak=bool(region["fence"]) and is_led,
        )
        return self._doubt

    @staticmethod
    def _holds_calls(region: re.Match[str]) -> bool:
        """Does a fence say that it holds calls, and stands no other markup behind it?"""
        return _CALL_FENCE.match(region[0]) is not None and not region.string[region.end() :].strip()

    def _scan(self, offset: int, end: int, texts: list[Span], own_tags: Span) -> None:
        """Look for what opens and ends regions between two offsets. `texts` are the places of text there."""
        piece, at = self._read(offset, end) if end > offset else "", 0
        while at < len(piece):
            if self._region is None:
                match = _REGION.search(piece, at)
                if match is None:
                    return
                place = offset + match.start()
                self._is_markup = not any(first <= place < last for first, last in texts)
                tag = match["tag"] or ""
                is_own = tag[:5].lower() == "think" and own_tags[0] <= place < own_tags[1]
                if not (is_own or (self._is_markup and _TEXT_TAGS.fullmatch(tag))):
                    self._region, self._doubt = match, None
            else:
                match = _closer_of(self._region).search(piece, at)
                if match is None:
                    return
                self._region = self._doubt = None
            at = max(match.end(), at + 1)


@lru_cache(maxsize=64)
def _closing_pattern(kind: str, written: str) -> re.Pattern[str]:
    if kind == "fence":
        return re.compile(rf"^[ ]{{0,3}}{re.escape(written)}{written[0]}*[ \t\r]*$", re.MULTILINE)
    if kind == "span":
        return re.compile(f"{written}{written[0]}*")
    if kind == "here":
        return re.compile(rf"^[ \t]*{written}[ \t\r]*$", re.MULTILINE)
    end = re.escape(COMMENTS[written.lower()]) if kind == "comment" else rf"\\end\{{{written}\}}"
    return re.compile(f"</{written}>" if kind in ("tag", "result") else end, re.IGNORECASE)


def _closer_of(region: re.Match[str]) -> re.Pattern[str]:
    kind = region.lastgroup or ""
    is_span = kind == "fence" and region.end() == len(region.string)  # no line break is between it and a call
    return _closing_pattern("span" if is_span else kind, region[kind])
