"""Quotation marks round a call: what is open before it, and what closes that behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any, Literal

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.sentences import end_of_next_word
from outspoken.results.replies import Text

#: So much text before a call may open a quotation, and so much behind it may close that.
LONGEST_QUOTE = 200
#: The tag of an element, unless its name says that models act or answer in it.
_ELEMENT = (
    r"<(?!(?i:\w*(?:tool|func|call|invo|exec|action|step|command|run|answer|respon|reply|output|result|message|final"
    r"|assistant|turn|agent)))[A-Za-z]\w{0,30}(?:[ ][^<>\n]{0,99})?>"
)
#: What opens a quotation: a mark that only does that, one that begins a word, a literal or an attribute, or markup,
#: backticks, a line through text, the tag of an element at the start of a line, an address in angle brackets, or right
#: before the call such a tag, the bracket of a link, of its address, or of a command of LaTeX.
OPENING = re.compile(
    r"[“«„‚「『《〈‹❝❛〝❮‛＂](?!\s)|(?:\A|(?<=[\s(\[{:=,\\\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff])|(?<=\b[bruf]))"
    r"(?:[\"″](?!\s)|['‘»](?![\w\s]))|(?<!`)`{1,2}(?!`)|(?<=[^\n`])`{3,16}(?!`)|(?<!~)~~(?!~)"
    rf"|(?<![^\n]){_ELEMENT}|{_ELEMENT}(?=\s*\Z)"
    r"|<(?=https?://\S*\Z)|\[\Z|\]\(\Z|\\[a-zA-Z]{2,20}\{\Z"
)
#: Marks of a string of several lines. Their number tells whether one is open.
_LONG_MARKS = ('"""', "'''")
#: The mark that stands where a call begins has been taken for a part of its markup.
MARKS = "\"'“‘«„‚「»『《〈‹❝❛〝❮‛＂″"
_WHITE = " \t\r\n"
#: One of these is in every text that opens a quotation.
_SIGN = re.compile(rf"[{MARKS}`~<]")
#: A bracket that is no part of a marker such as `[CALL]`.
_LINK = re.compile(r"\s*\[(?![\w|/ ]{1,40}\])")
#: The value of an attribute, which is no quotation.
_ATTRIBUTE = re.compile(r"=([\"'])[^\"'<>\n]{0,200}\1")
#: A sentence that goes on behind a call without marks of its own quotes it; or one that does so in its line.
SENTENCE, IN_LINE = " ", "\t"
_SENTENCES = frozenset({SENTENCE, IN_LINE})
_CLOSING = {
    "“": "[”“]", "‘": "’", "«": "»", "„": "[“”]", "‚": "[‘’]", "「": "」", "»": "«", "『": "』", "《": "》", "〈": "〉",
    "‹": "›", "❝": "❞", "❛": "❜", "〝": "[〞〟]", "❮": "❯", "‛": "’",
    "<": ">", "[": r"\](?=[(\[])", "](": r"\)", "{": r"\}",
}  # fmt: skip
#: Marks that are closed by a bracket.
_OPEN_BRACKETS = frozenset({"[", "](", "{"})
#: Marks that are a part of words, too.
_LETTERS = "'‘"
#: Signs of an item of a list.
_ITEMS = ("- ", "* ", "+ ")
#: Marks that have to be closed in the line in which a call ends.
UNSURE_MARKS = frozenset({*_LETTERS, *_OPEN_BRACKETS, *_SENTENCES, "<"})
#: What is left of the markup of a call behind it: brackets, and the closing markers that are written twice or damaged.
_LEFT = lazy_pattern(r"[\s\]})]*(?:<[/|｜][\w|｜:/-]{1,40}>[\s\]})]*){0,3}")
_FENCE_END = re.compile(r"\A\s*(?:`{3,16}|~{3,16})[ \t\r]*(?=\n)")
#: The end of a line that shows what follows: the sign of a comment or a definition, the label of a result, a line of a
#: log, a turn of a conversation or an example, or a sign that takes the meaning of the next one.
_SHOWING = re.compile(
    r"\n[ \t]*(?:#{1,6}|//[/!]?|--|%{1,2}|;{1,3}|observation:|\[(?://|\^[\w-]{1,20})\]:[ #(\"']{0,4})\Z|\\\Z"
    r"|\n\[?(?:\d{4}-\d\d-\d\d[t ])?\d\d:\d\d:\d\d\b[^\n]{0,160}\Z"
    r"|\n[ \t]*(?:user|human|input|question|q)[ \t]?\d{0,3}:[^\n]{1,200}\n{1,2}"
    r"[ \t]*(?:assistant|ai|bot|model|output|answer|a)[ \t]?\d{0,3}:\Z",
    re.IGNORECASE,
)
#: The end of a line of a change of a file; of a line of a session, behind which its output follows, or of a line of
#: YAML that begins a text of several lines.
_CHANGE = re.compile(r"(?:\A|\n)[+-]\Z")
_ABOVE = re.compile(r"(?:\A|\n)(?:>>> [^\n]*|[ \t-]*[\w\"' .-]{1,40}:[ \t]*[|>][-+]?)\Z")


def is_shown(text: str, blank: str) -> bool:
    """Does a text show what follows behind some white space: in a quotation, table, comment, change or conversation?"""
    if "\n" in blank:
        return blank.count("\n") == 1 and _ABOVE.search(text) is not None
    is_quoted = text[text.rfind("\n") + 1 :].lstrip()[:1] in (">", "|")
    return (
        is_quoted
        or _SHOWING.search(f"\n{text}"[-LONGEST_QUOTE:]) is not None
        or (not blank and _CHANGE.search(text) is not None)
    )


@lru_cache(maxsize=64)
def _closing(mark: str) -> re.Pattern[str]:
    """The pattern of what closes a mark, with the character behind it."""
    if mark in _LONG_MARKS:
        return re.compile(mark)
    if mark[1:2].isalpha():  # a tag, whose element other text follows
        name = mark[1:].partition(" ")[0].rstrip(">")
        return re.compile(rf"(?i:</{name}>)\s*(?=[^\s<])")
    if mark[0] == "`":
        return re.compile(f"(?:\\A`*|(?<!`)){mark}(?!`)" + ("|''" if len(mark) == 2 else ""))
    behind = r"\w" if mark in _LETTERS else "[a-zA-Z0-9_]"  # no blank is between them and the next word in Chinese
    return re.compile(rf"(?:\A|(?<=\S)|(?<=\n)(?=.(?:[\s.,;:!?)]|\Z))){_CLOSING.get(mark, mark)}(?!{behind})")


def open_quotes(text: str) -> tuple[str, ...]:
    """The marks of the quotations that are open at the end of a text."""
    tail = text.rstrip()[-LONGEST_QUOTE:]
    marks = [mark for mark in _LONG_MARKS if tail.count(mark) % 2]
    text = _ATTRIBUTE.sub("=", tail.rpartition("\n\n")[2])
    at = 0
    while (match := OPENING.search(text, at)) is not None:
        mark = "{" if match[0][0] == "\\" else match[0]
        closer = _closing(mark).search(text, match.end())
        if closer is None:
            marks.append(mark)
        at = match.end() if closer is None else closer.end()
    return tuple(marks)


def begins_with_closer(text: str, marks: Collection[str], *, whole: bool) -> bool:
    """Does a text begin with what closes a quotation that one of these marks opens? Unless `whole`, it may go on."""
    body = text.lstrip(_WHITE)
    found = [_closing(mark).match(body) for mark in marks if mark not in _OPEN_BRACKETS | _SENTENCES]
    return any(match is not None and (whole or match.end() < len(body)) for match in found)


def ends_quote(text: str, marks: Collection[str], *, whole: bool) -> Literal["closed", "open"] | None:
    """Does a text behind a call, on another line or in another part of a message, close a quotation that began before?

    None of its own quotations may be open at its end then. None if more text is needed.
    """
    if not whole and len(text) <= LONGEST_QUOTE:
        return None
    text = text[:LONGEST_QUOTE]
    for mark in marks:
        closer, at = _closing(mark), 0
        while (end := closer.search(text, at)) is not None:
            own = OPENING.search(text, at, end.start())
            if own is None:
                if not open_quotes(text[end.end() :]):
                    return "closed"
                break
            own_end = _closing(own[0]).search(text, own.end())
            at = own.end() if own_end is None else own_end.end()
    return "open"


def still_quoting(quoting: Text | None, text: Text) -> Text | None:
    """The text that opens a quotation which goes on behind a `text`: that itself, or one before it; None for none."""
    if quoting is not None and closes_quote(text.text, open_quotes(quoting.text), whole=True) == "closed":
        quoting = None
    opened = open_quotes(text.text) if may_open_quote(text.text) else ()
    return text if opened and opened[-1] not in _OPEN_BRACKETS else quoting


def may_open_quote(text: str) -> bool:
    """May a text open a quotation that goes on behind it? This is fast."""
    return _SIGN.search(text, max(len(text) - LONGEST_QUOTE, 0)) is not None


def still_showing(showing: Text | None, text: Text) -> Text | None:
    """The text that ends in a line of a block quotation: the `text` itself, or one before it in its line; or None."""
    line = text.text[text.text.rfind("\n") + 1 :]
    if line.lstrip()[:1] == ">":
        return text
    return None if len(line) < len(text.text) else showing


def stays_in_block_quotation(text: str) -> bool:
    """Does each line of a text, but for the rest of the first one, begin with the sign of a block quotation?"""
    return all(line.lstrip()[:1] == ">" for line in text.split("\n")[1:])


def is_linked(
    read: Callable[[int, int], str], before_end: int, span: tuple[int, int], after: Sequence[Any], *, final: bool
) -> bool | None:
    """Is a call the text of a link, of which the bracket was read as markup? None if more text is needed.

    `read` gives the text between two offsets; the segment before the call ends at `before_end`, and the segments
    `after` it have come.
    """
    start, end = span
    if _LINK.match(read(before_end, start + LONGEST_QUOTE), 0) is None or read(end, end + 9).lstrip()[:1] == ",":
        return False
    if not after:
        return False if final else None
    first = after[0].span[0]
    behind = read(first, min(after[0].span[1], first + 2))
    if behind in ("", "]") and not final and len(after) == 1:
        return None
    return behind == "](" or (behind[:1] == "(" and read(end, first).endswith("]"))


def closes_quote(text: str, marks: Collection[str], *, whole: bool) -> Literal["closed", "scrap", "open"] | None:
    """Does a text behind a call close a quotation that one of these marks opens? None if more text is needed.

    The end of the mark stands in the line in which the call ends, or behind what is left of its markup, which is all
    of the text if that is "scrap". Unless the text is `whole`, it may go on.
    """
    if SENTENCE in marks:
        text = _FENCE_END.sub("", text)
    body = text.lstrip(_WHITE) if not _OPEN_BRACKETS.isdisjoint(marks) else _LEFT.sub("", text, 1)
    line, newline, _ = body[:LONGEST_QUOTE].partition("\n")
    is_whole = whole or bool(newline) or len(body) > LONGEST_QUOTE
    breaks = text[: len(text) - len(body)].count("\n")
    if breaks > (SENTENCE in marks) and (line[:1].isalnum() or line[:2] in _ITEMS):
        return "open"
    ends = [
        match.end() for mark in marks if mark not in _SENTENCES and (match := _closing(mark).search(line)) is not None
    ]
    if SENTENCE in marks or (IN_LINE in marks and not breaks):
        end = end_of_next_word(line, on_new_line=breaks > 0, two=SENTENCE not in marks)
        ends += [end] if end else []
    if ends and (is_whole or min(ends) < len(line)):
        return "closed"
    if not is_whole:
        return None
    return "open" if newline or len(body) > LONGEST_QUOTE or line[:1].isalnum() else "scrap"
