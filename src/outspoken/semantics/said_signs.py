"""What every response shows in which a call or action may only be said. This is fast, for sound and complete text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.sentences import may_be_open
from outspoken.results.replies import Reasoning, Text, ToolCall

from .announcements import announces
from .quotations import LONGEST_QUOTE, MARKS, OPENING, is_shown, may_open_quote, still_quoting, still_showing

#: The elements that show text, those of reasoning that is none of the format, and those of results.
QUOTING_TAGS = (
    "pre|code|blockquote|samp|kbd|q|quote|cite|xmp|plaintext|tt|nowiki|syntaxhighlight|textarea|script|style|template"
    "|noscript|details|del|strike|documents?|context|page|web_?page|website|emails?|mail|search_results?|observations?|source|files?"
    "|system|instructions?|examples?"
)
THINKING_TAGS = "thoughts?|reasoning|reflection|scratchpad|analysis|plan|draft"
RESULT_TAGS = "tool_(?:response|result|output)s?|function_(?:response|result|output)s?"
#: The environments of LaTeX that show text.
LISTINGS = "verbatim|lstlisting|minted|alltt"
#: What begins a comment, a block that is shown or a raw string, in lower case, and what ends it.
COMMENTS = {
    "<!--": "-->", "<![cdata[": "]]>", "<%--": "--%>", "/*": "*/", "{#": "#}", "{-": "-}", "--[[": "]]",
    "{% raw %}": "{% endraw %}", "#+begin_": "#+end_", "[code": "[/code]", "[quote": "[/quote]",
    'r#"': '"#', 'r"(': ')"', "%q{": "}", "@'\n": "\n'@", '@"\n': '\n"@',
}  # fmt: skip
COMMENT = "|".join(map(re.escape, COMMENTS))
#: What begins a message that is none of the model's, so that it made it up: the tag, token, fence or line of a tool's
#: result, or the token of another role.
_INVENTED = lazy_pattern(
    r"[<\[]/?[|｜]?(?:start[_ ])?(?:tool|function)[_▁ ](?:call[_▁ ])?(?:response|result|output)s?\b"
    r"[^<>\[\]\n]{0,99}[>\]]"
    r"|<[|｜](?:user|human|observation|tool|ipython|im_user|im_system|user_token)[|｜]>"
    r"|(?:<\|(?:im_start|start_header_id|header_start|start_of_role|start)\|>|<start_of_turn>|<\|turn>|<seed:bos>|\]~b\])"
    r"\s{0,9}(?:user|human|tool|function|ipython|observation|environment)"
    r"|(?:`{3,16}|~{3,16})[ ]?tool_(?:response|result|output)s?\b"
    r"|^[ \t]*\W{0,9}(?:return of |observation|(?:tool|function)[ _](?:response|result|output)s?)\b[^\n:\]]{0,40}[:\]]",
    re.IGNORECASE | re.MULTILINE,
)
#: Tags of regions that are quoted, and the beginning of a comment, a listing or a here-document, in lower case.
_TAG = re.compile(
    rf"<(?:<-?[ ]?[\"']?[a-z_]{{2}}|(?:{QUOTING_TAGS}|{THINKING_TAGS}|{RESULT_TAGS})[\s>])|{COMMENT}"
    rf"|\\begin\{{(?:{LISTINGS})\}}"
)
#: One of these is in every text that opens a quotation or announces an example.
_QUOTE_SIGN = re.compile(rf"[{MARKS}`\[:：<~]|>>>")
#: Signs at the end of a text that quotes, and at the beginning of its last line.
_SIGNS, _LINE_SIGNS = frozenset("><\\#/+-{%;"), frozenset(">|")
#: What opens a region begins with one of these.
REGION_SIGN = re.compile(r"[<`~{/\\\[#(@]")
#: And this one in text that is none of reasoning.
THINK_SIGN = "<think"
#: The kinds of segments that are made or said.
MADE = frozenset({"tool_call", "action", "payload"})
_UNKNOWN: Any = object()
#: What may stand between two calls without markers, and before the first one on its line.
_SEPARATORS = " \t\r\n,;"
_LEADS = f"{_SEPARATORS}["
_SENTENCE_ENDS = ".!?…。！？"
_ENDS = frozenset(_SENTENCE_ENDS)
#: One of these is in every text that opens a quotation, shows what follows, or announces an example; an
#: apostrophe in a word is none.
_NOT_PLAIN = re.compile(f"[{MARKS[0]}{MARKS[2:]}`\\[:：<~>|]")
_APOSTROPHE = re.compile(r"'(?!\w)")
#: What opens and closes a string within a value.
_STRING_MARKS = ("'", '"', "`")
#: So much of what stands behind a string shows that it is a mark of the notation: `"`, `\'`, `<|"|>`.
_SHORTEST_MARK = 4
#: A marker that opens reasoning begins no farther before it, and what shows that it is one is no farther behind it.
_LONGEST_OPENER, _LOOKAHEAD = 60, 1600
#: No words within a line that announce an example are longer.
_LONGEST_LEAD = 20
#: What opens a region that is quoted has so many characters at least, and so many the beginning of another message.
_SHORTEST_TAG, _SHORTEST_INVENTED = 2, 8


class ThinkMarkers(NamedTuple):
    """What finds the tags of reasoning in text: `either` has the groups `open` and `close`.

    `bare` finds what opens reasoning that no tag closes, such as a line `Thought:`; None if nothing does. `ends` has
    the same groups. If the marks that close reasoning are `shared` by calls, it finds what ends reasoning that goes on
    behind a call; else, it finds the answer that closes bare reasoning, and results, behind which that is another one.
    `sign` is in every text that closes reasoning.
    """

    either: re.Pattern[str]
    closer: re.Pattern[str]
    bare: re.Pattern[str] | None
    ends: re.Pattern[str] | None
    is_shared: bool
    sign: str = ""

    @classmethod
    def of(cls, either: str, closer: str, bare: str, ends: str, sign: str = "") -> ThinkMarkers | None:
        """The markers with these patterns; None if nothing closes reasoning."""
        if not closer:
            return None
        finds_bare, finds_ends = [lazy_pattern(pattern) if pattern else None for pattern in (bare, ends)]
        return cls(lazy_pattern(either), lazy_pattern(closer), finds_bare, finds_ends, bool(ends) and not bare, sign)

    def end_of(self, read: Callable[[int, int], str], reasoning: Reasoning) -> re.Pattern[str] | None:
        """What finds the end of reasoning, in the group `close`; None for a string, which nothing closes.

        `read` gives the text between two offsets.
        """
        start = reasoning.span[0]
        if is_field(reasoning, read):
            return None
        if self.bare is None:
            return self.either
        first = max(start - _LONGEST_OPENER, 0)
        text = read(first, start + _LOOKAHEAD)
        ends = [match.end() for match in self.bare.finditer(text, 0)]
        is_bare = any(end <= start - first and not text[end : start - first].strip() for end in ends)
        return self.ends if is_bare else self.either


def is_field(segment: Any, read: Callable[[int, int], str]) -> bool:
    """Is a segment reasoning that is a string of an object? `read` gives the text between two offsets."""
    if segment.__class__ is not Reasoning:
        return False
    start, end = segment.span
    mark = read(start, start + 1)
    return end - start != len(segment.text) and mark in {'"', "'", "“"} and mark != segment.text[:1]


def may_be_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None) -> bool:
    """May a call of a whole response be quoted or thought about? `thinks` finds the tags of reasoning, if it has any.

    No call is thought about if no tag that closes reasoning follows.
    """
    if "(" in raw and "](" in raw:  # there may be a link; to search for one character is fast
        return True
    at, gap, before, last, judged = 0, "", None, None, _UNKNOWN
    texts: list[Text] = []  # behind the last call
    tags = thinks
    for segment in segments:
        kind = segment.__class__
        if kind is not ToolCall and (kind is Text or segment.kind not in MADE):
            if kind is Text:
                texts.append(segment)
            elif last.__class__ is Text and is_field(segment, lambda start, end: raw[start:end]):
                continue
            before, last = last, segment
            continue
        start, end = segment.span
        if (at and holds_invented(raw[at:start])) or (tags is not None and _may_be_thought(raw, at, start, tags)):
            return True
        tags = tags if tags is not None and tags.is_shared else None
        begin = at if last is judged else _behind_plain(raw, at, last)
        if start - begin >= _SHORTEST_TAG and raw[begin:start] != gap:
            gap = raw[begin:start]
            if may_open_region(gap, segments):
                return True
        if last is not judged:
            if _is_led(texts, last, raw[0], raw[start]) or _is_cut(raw, last, before, start, thinks):
                return True
            judged = last
            texts.clear()
        at = end
    return bool(texts) and any(segment.__class__ is ToolCall and quote_at_end(segment) for segment in segments)


def quote_at_end(call: ToolCall) -> bool:
    """Does the last value of a call end with a quotation mark that opens in its last line?"""
    value = next(reversed(call.arguments.values()), None)
    if not isinstance(value, str) or value[-1:] not in _STRING_MARKS:
        return False
    return bool(value.count(value[-1], value.rfind("\n") + 1) % 2)


def may_end_in_string(call: Any, read: Callable[[int, int], str]) -> bool:
    """Does the last value of a call end with a quotation mark that opens in it, and not with one of its notation?

    `read` gives the text between two offsets.
    """
    if call.kind != "tool_call" or not quote_at_end(call):
        return False
    tail, written = next(reversed(call.arguments.values()))[-_LONGEST_LEAD:], read(*call.span)
    at = written.rfind(tail)
    behind = written[at + len(tail) :].lstrip()[:_SHORTEST_MARK]
    return at >= 0 and not any(mark in behind for mark in _STRING_MARKS)


def _behind_plain(raw: str, at: int, lead: Any) -> int:
    """Where a region may begin that is quoted: behind a text that stands at an offset, if none may begin in it."""
    if lead.__class__ is not Text or lead.span[0] > at:
        return at
    end: int = lead.span[1]
    return end if REGION_SIGN.search(raw, at, end) is None else at


def _is_led(texts: Sequence[Text], last: Any, begin: str, first: str) -> bool:
    """May the texts between two calls open a quotation, or may the last segment before the second one quote it?"""
    quoting, is_plain = None, False
    for text in texts:
        is_plain = is_plain_sentence(text.text)
        if not is_plain:
            opens = may_open_quote(text.text)
            quoting = still_quoting(quoting, text) if opens else quoting or still_showing(None, text)
    if quoting is not None:
        return True
    lead = last if last.__class__ is Text else None
    return not (is_plain and lead) and may_quote(lead, begin, first)


def is_plain_sentence(text: str) -> bool:
    """Does a text end a sentence without anything that opens a quotation, or shows or announces what follows?"""
    said = text.rstrip()
    if said[-1:] not in _ENDS or said[-3:-1].lower() == ".g":
        return False
    return _NOT_PLAIN.search(said) is None and ("'" not in said or _APOSTROPHE.search(said) is None)


class Bare(NamedTuple):
    """What is known of calls without markers: the names of the tools, if any are given, and whether they begin a call.

    If they do not, a call begins with the bracket of an object or a list.
    """

    tools: Collection[str] | None
    begins_with_name: bool

    @classmethod
    def of(cls, tools: Collection[str] | None, bare_calls: str) -> Bare | None:
        """What is known of a format; None if its calls have markers, or if a bracket may begin any other value."""
        if not bare_calls or (bare_calls == "bracket" and tools is None):
            return None
        return cls(tools, bare_calls == "name")

    def begins_call(self, lead: str, first: str) -> bool:
        """Does a call with this first character begin without a marker, behind what leads to it?"""
        is_name = first.isidentifier() and (self.begins_with_name or "[" in lead)
        return (is_name or (first == "{" and not self.begins_with_name)) and not lead.strip(_LEADS)

    def may_be_text(self, raw: str, segments: Iterable[Any]) -> bool:
        """May a call without markers be text: in a line of text, or before other text?"""
        end, before, is_bare = 0, None, False
        for segment in segments:
            kind, (start, behind) = segment.__class__, segment.span
            if kind is not ToolCall:
                if is_bare and kind is not Reasoning:
                    return True
            elif is_bare or self.begins_call(raw[end:start].rpartition(">")[2], raw[start]):
                is_bare = True
                if before.__class__ is Text and not begins_line(raw[:start]):
                    return True
            before, end = segment, behind
        return False


def begins_line(lead: str) -> bool:
    """Does nothing but separators and brackets stand between the end of a text and the start of its line?

    A sentence that ends directly before them is a line, too: templates write the text and the calls of a message so.
    """
    before = lead.rstrip(_LEADS)
    tail = lead[len(before) :]
    return not before or "\n" in tail or (before[-1] in _SENTENCE_ENDS and not tail.strip("["))


def is_separator(text: str) -> bool:
    """May a text stand between two calls without markers?"""
    return not text.strip(_SEPARATORS)


def holds_invented(text: str) -> bool:
    """Does a text behind a call begin a message that is none of the model's? This is fast for what is short."""
    return len(text) >= _SHORTEST_INVENTED and _INVENTED.search(text) is not None


def may_open_region(piece: str, segments: Iterable[Any]) -> bool:
    """May a region that is quoted begin in a piece of a response, which stands before a call?

    It may begin with a tag of reasoning that is text of one of the segments.
    """
    if REGION_SIGN.search(piece) is None:
        return False
    lower = piece.lower()
    if "```" in lower or "~~~" in lower or _TAG.search(lower) is not None:
        return True
    return THINK_SIGN in lower and any(s.__class__ is Text and THINK_SIGN in s.text.lower() for s in segments)


def may_quote(lead: Text | Reasoning | None, begin: str, first: str) -> bool:
    """May the text before a call quote it, or be a sentence that goes on behind it?

    The response begins with the character `begin`, and the call with `first`.
    """
    if lead is None:
        return begin in MARKS
    text = lead.text.rstrip()
    if _opens_quote(text):
        return True
    if text and may_be_open(text[-1]):
        return first in "{[" or first.isalnum() or announces(text)
    return text[-3:-1].lower() == ".g"  # `e.g.`


def _is_cut(raw: str, last: Any, before: Any, start: int, thinks: ThinkMarkers | None) -> bool:
    """Is one of the two segments before a call reasoning that nothing closes?"""
    if thinks is None or (last.__class__ is not Reasoning and before.__class__ is not Reasoning):
        return False
    thoughts = [segment for segment in (last, before) if segment.__class__ is Reasoning]
    return any(thinks.closer.search(raw, segment.span[1], start) is None for segment in thoughts)


def _opens_quote(text: str) -> bool:
    """May a text open a quotation at its end, or announce an example?"""
    if text[-1:] in _SIGNS or text[text.rfind("\n") + 1 :].lstrip()[:1] in _LINE_SIGNS:
        return True
    tail = text[-LONGEST_QUOTE:]
    return _QUOTE_SIGN.search(tail) is not None and (
        OPENING.search(tail) is not None or announces(text) or is_shown(text, "") or is_shown(text, "\n")
    )


def _may_be_thought(raw: str, end: int, start: int, thinks: ThinkMarkers) -> bool:
    """May a call, or one behind it, stand in reasoning that goes on? The call before it has this `end`."""
    if thinks.is_shared:
        tags = [*thinks.either.finditer(raw, max(start - _LONGEST_OPENER, end), start)]
        return bool(tags) and tags[-1]["open"] is not None
    if raw.find(thinks.sign, start) >= 0 and thinks.closer.search(raw, start) is not None:
        return True
    return thinks.bare is not None and thinks.ends is not None and thinks.ends.search(raw, start) is not None
