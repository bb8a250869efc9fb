"""Quotation marks round a call: what is open before it, and what closes that behind it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Literal

#: So much text before a call may open a quotation, and so much behind it may close that.
LONGEST_QUOTE = 200
#: What opens a quotation: a mark that begins a word or an attribute, one that begins markup, backticks, or the bracket
#: of a link right before the call.
OPENING = re.compile(
    r"(?:\A|(?<=[\s(\[{:=]))(?:[\"“«„「](?!\s)|['‘»](?![\w\s]))|(?<!`)`{1,2}(?!`)|(?<=[^\n`])`{3,16}(?!`)|\[\Z"
)
#: The mark that stands where a call begins has been taken for a part of its markup.
MARKS = "\"'“‘«„「»"
_WHITE = " \t\r\n"
#: A sentence that goes on behind a call without marks of its own quotes it.
SENTENCE = " "
_CLOSING = {"“": "[”“]", "‘": "’", "«": "»", "„": "[“”]", "「": "」", "»": "«", "[": r"\](?=\()"}
#: The words of a sentence that is open at the end of a text, and how it goes on.
_WORDS = re.compile(r"[^\W\d_]['’]?[ \t,]{1,3}[^\W\d_]+,?[ \t]{0,9}\n?[ \t]{0,9}\Z")
_FENCE_END = re.compile(r"\A\s*(?:`{3,16}|~{3,16})[ \t\r]*(?=\n)")
_GOES_ON = re.compile(r"\A[,;]?[ \t]{0,9}(?![A-ZÀ-Þ])[^\W\d_]")


#: A sentence that says no more than that an example follows, and maybe a tag of another format.
EXAMPLE = re.compile(
    r"(?:\A|[\n.!?}\])>][ \t]{0,9})(?:(?:an|for) )?example:(?:\s{1,9}<[\w|:]{1,40}>)?\Z", re.IGNORECASE
)


@lru_cache(maxsize=64)
def _closing(mark: str) -> re.Pattern[str]:
    """The pattern of what closes a mark, with the character behind it."""
    if mark == SENTENCE:
        return _GOES_ON
    if mark[0] == "`":
        return re.compile(f"(?:\\A`*|(?<!`)){mark}(?!`)")
    return re.compile(rf"(?:\A|(?<=\S)){_CLOSING.get(mark, mark)}(?!\w)")


def open_quotes(text: str) -> tuple[str, ...]:
    """The marks of the quotations that are open at the end of a text."""
    text = text.rstrip()[-LONGEST_QUOTE:].rpartition("\n\n")[2]
    found: list[str] = []
    at = 0
    while (match := OPENING.search(text, at)) is not None:
        closer = _closing(match[0]).search(text, match.end())
        if closer is None:
            found.append(match[0])
        at = match.end() if closer is None else closer.end()
    return tuple(found)


def is_in_sentence(text: str) -> bool:
    """Does a text end within a sentence?"""
    return _WORDS.search(text[-LONGEST_QUOTE:]) is not None


def closes_quote(text: str, marks: Collection[str], *, whole: bool) -> Literal["closed", "scrap", "open"] | None:
    """Does a text behind a call close a quotation that one of these marks opens? None if more text is needed.

    The end of the mark stands in the line in which the call ends, or behind what is left of its markup, which is all
    of the text if that is "scrap". Unless the text is `whole`, it may go on.
    """
    if SENTENCE in marks:
        text = _FENCE_END.sub("", text)
    body = text.lstrip(_WHITE if "[" in marks else _WHITE + "]})")
    line, newline, _ = body[:LONGEST_QUOTE].partition("\n")
    is_whole = whole or bool(newline) or len(body) > LONGEST_QUOTE
    breaks = text[: len(text) - len(body)].count("\n")
    if breaks > (SENTENCE in marks) and line[:1].isalnum():
        return "open"
    found = [match.end() for mark in marks if (match := _closing(mark).search(line)) is not None]
    if found and (is_whole or min(found) < len(line)):
        return "closed"
    if not is_whole:
        return None
    return "open" if newline or len(body) > LONGEST_QUOTE or line[:1].isalnum() else "scrap"
