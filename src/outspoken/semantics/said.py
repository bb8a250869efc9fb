"""Whether a call was made or only said: quoted in the text, or thought about in reasoning that goes on behind it.

What precedes a call tells whether it may be one of these (`Doubt`), and what follows it decides. Both are looked up in
the raw text and in the segments round the call, so that a stream decides as whole text does, as soon as it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from outspoken.results.replies import Reasoning, Text, ToolCall

if TYPE_CHECKING:
    from outspoken.grammar.automaton import Automaton

    from .think_markers import ThinkMarkers

Verdict = Literal["made", "said"]

#: What opens a region of text that is quoted: a fence of code, a comment, a tag.
_REGION = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,16}|~{3,16})[^`\n]*$|(?P<comment><!--)|<(?P<tag>pre|code|blockquote)>"
    r"|^\s*<(?P<result>tool_response)>",
    re.IGNORECASE | re.MULTILINE,
)
#: A quotation mark at the end of the text before a call: it begins a word. Its end stands right behind the call.
_QUOTE = re.compile(r"(?:^|(?<=[\s(\[{:]))[\"'“‘«]\Z|(?<!`)`{1,2}\Z|(?<=[^\n`])`{3,16}\Z")
_CLOSING = {"“": "”", "‘": "’", "«": "»"}
#: A sentence that announces an example.
_ANNOUNCES = re.compile(r"\b(?:example|format|looks? like|such as|would (?:be|look)|e\.g\.)[^\n]*:\s*\Z", re.IGNORECASE)
#: A line of a fence, which is no prose.
_FENCE_LINE = re.compile(r"(?m)^[ ]{0,3}(?:`{3,16}|~{3,16})[^`\n]*$")
#: One of these is in every text that makes a call behind it doubtful, apart from quotation marks and `>`.
_REGION_SIGNS = ("```", "~~~", "<!--", "<pre>", "<code>", "<blockquote>", "<tool_response>")


class Doubt:
    """Why a call that starts at an offset may only be said, and what behind it decides.

    `code` is the code of the diagnostic, and `where` says in words where the call stands. `end_of` gives the place of
    what ends the region behind an offset.
    """

    def __init__(
        self,
        code: str,
        where: str,
        start: int,
        *,
        closing: str = "",
        closer: re.Pattern[str] | None = None,
        is_open_certain: bool = False,
        wants_prose: bool = False,
        otherwise: Doubt | None = None,
    ) -> None:
        self.code, self.where, self.start = code, where, start
        #: where the call begins as text, with the markup before it
        self.text_start = start
        #: the quotation mark that must stand right behind the call
        self._closing = closing
        #: what ends the region; the region counts without an end if `is_open_certain`, and with one only if prose
        #: follows if it `wants_prose`
        self._closer, self._is_open_certain, self._wants_prose = closer, is_open_certain, wants_prose
        #: what is in doubt if this is not
        self._otherwise = otherwise
        self._searched = -1
        #: where the region ends, once that is known
        self.region_end: tuple[int, int] | None = None

    def decide(
        self, call_end: int, after: Sequence[Any], read: Callable[[int, int], str], end: int, *, final: bool
    ) -> Verdict | None:
        """Was the call made or said? None if more text is needed.

        `after` are the segments behind the call, `read` gives the raw text between two offsets, of which all up to
        `end` has come.
        """
        verdict = self._decide(call_end, after, read, end, final=final)
        if verdict == "made" and self._otherwise is not None:
            return self._otherwise.decide(call_end, after, read, end, final=final)
        return verdict

    @property
    def closed_by(self) -> tuple[int, int] | None:
        """The place of the tag that closes the reasoning in which the call stands, if that is known."""
        return self.region_end if self.code == "thought-call" and self.region_end != _NONE else None

    @property
    def decisive(self) -> Doubt:
        """The doubt that a verdict "said" is about: this one, or the other one if reasoning does not go on."""
        return self if self._otherwise is None or self.closed_by is not None else self._otherwise

    def _decide(
        self, call_end: int, after: Sequence[Any], read: Callable[[int, int], str], end: int, *, final: bool
    ) -> Verdict | None:
        if self._closing:
            return self._decide_quote(after, final=final)
        if self._closer is None:
            return "said"
        if self.region_end is None and not self._find_end(call_end, read, end, final=final):
            return ("said" if self._is_open_certain else "made") if final else None
        assert self.region_end is not None
        behind = self.region_end[1]
        if self.code == "thought-call":
            if self.region_end == _NONE:
                return "made"  # another block of reasoning begins first
            return "said" if read(behind, end).strip() else "made" if final else None
        if not self._wants_prose:
            return "said"
        for segment in after:
            start, last = segment.span
            if type(segment) is Text and last > behind and _FENCE_LINE.sub("", read(max(start, behind), last)).strip():
                return "said"
        return "made" if final else None

    def _decide_quote(self, after: Sequence[Any], *, final: bool) -> Verdict | None:
        for segment in after:
            if type(segment) is ToolCall:
                continue
            if type(segment) is not Text:
                return "made"
            if body := segment.text.lstrip():
                if len(body) < len(self._closing) and not final:
                    return None
                return "said" if body.startswith(self._closing) else "made"
        return "made" if final else None

    def _find_end(self, call_end: int, read: Callable[[int, int], str], end: int, *, final: bool) -> bool:
        """Look for what ends the region. A match that touches the end of the text may still change."""
        start = max(call_end, self._searched)
        text = read(start, end)
        assert self._closer is not None
        match = self._closer.search(text)
        if match is None or (match.end() == len(text) and not final):
            self._searched = start + max(text.rfind("\n"), len(text) - _LOOKBEHIND, 0)
            return False
        is_closer = match.lastgroup != "open"
        self.region_end = (start + match.start(), start + match.end()) if is_closer else _NONE
        return True


#: The place of a closing tag that does not come.
_NONE = (-1, -1)
#: No closing tag of reasoning is longer, with the white space before it.
_LONGEST_CLOSER = 200
#: So much of the text that was searched is searched again with the next piece: more than any closing tag is long.
_LOOKBEHIND = 60


class Surroundings:
    """Follows the text round the calls of one response, and tells which of them are in doubt."""

    def __init__(self, read: Callable[[int, int], str], automaton: Automaton) -> None:
        self._read, self._automaton = read, automaton
        self._at = 0
        #: the match that opened the region in which the text is, and whether it is markup of the format
        self._region: re.Match[str] | None = None
        self._is_markup = False

    @cached_property
    def _thinks(self) -> ThinkMarkers | None:
        from .think_markers import think_markers  # with the tables, which sound text never needs

        return think_markers(self._automaton)

    def skip_to(self, offset: int) -> None:
        """What stands before an offset was decided: it opens no region."""
        self._at, self._region = max(self._at, offset), None

    def doubt_of(self, before: Sequence[Any], start: int) -> Doubt | None:
        """Why the call that starts at an offset, behind some segments, may only be said; None if it was made."""
        last = next((s for s in reversed(before) if type(s) is not ToolCall), None)
        cut = last if isinstance(last, Reasoning) and self._is_cut(last, start) else None
        self._follow(before, start, cut)
        doubt = self._doubt_in(self._region, last, start) if self._region is not None else None
        lead = last if isinstance(last, Text) else cut
        if doubt is None and lead is not None:
            doubt = self._doubt_beside(lead, start)
        if cut is not None and self._thinks is not None:
            doubt = Doubt("thought-call", "in reasoning", start, closer=self._thinks.either, otherwise=doubt)
        if doubt is not None:
            doubt.text_start = self._text_start(before, start)
        return doubt

    def _text_start(self, before: Sequence[Any], start: int) -> int:
        """Where the markup begins that leads to a call: behind the segment before it, and the tag that closes that."""
        if not before:
            return 0
        end = before[-1].span[1]
        if isinstance(before[-1], Reasoning) and self._thinks is not None:
            between = self._read(end, start)
            closer = self._thinks.closer.search(between)
            rest = between[closer.end() :] if closer is not None else between
            return start - len(rest.lstrip())
        return end if isinstance(before[-1], Text | Reasoning) else start

    def _doubt_beside(self, last: Text | Reasoning, start: int) -> Doubt | None:
        """Why the text right before a call makes it doubtful."""
        lead = last.text
        behind = self._read(last.span[1], start + 1)
        is_same_line = "\n" not in behind[: len(behind) - len(behind.lstrip())]
        if is_same_line and lead[lead.rfind("\n") + 1 :].lstrip().startswith(">"):
            return Doubt("quoted-call", "in a quotation", start)
        if (match := _QUOTE.search(lead.rstrip())) is not None:
            return Doubt("quoted-call", "in quotation marks", start, closing=_CLOSING.get(match[0], match[0]))
        return None

    def _is_cut(self, reasoning: Reasoning, start: int) -> bool:
        """Is reasoning not closed before an offset, so that a call has ended it?"""
        return self._thinks is not None and self._thinks.closer.search(self._read(reasoning.span[1], start)) is None

    def is_cut(self, reasoning: Reasoning, end: int) -> bool:
        """The same for reasoning that has ended, with no more than some markup behind it before an offset."""
        return self._is_cut(reasoning, min(end, reasoning.span[1] + _LONGEST_CLOSER))

    def _doubt_in(self, region: re.Match[str], last: Any, start: int) -> Doubt | None:
        fence = region["fence"]
        if fence:
            # JSON in a fence that the grammar takes for markup: prompts ask for it
            is_habit = self._is_markup and self._read(start, start + 9).lstrip()[:1] in ("{", "[")
            if is_habit and not (type(last) is Text and _ANNOUNCES.search(last.text)):
                return None
            closer = re.compile(rf"(?m)^[ ]{{0,3}}{re.escape(fence)}{fence[0]}*[ \t\r]*$")
            return Doubt("quoted-call", "in a fence", start, closer=closer, wants_prose=True)
        name = region["tag"] or region["result"]
        closer = re.compile("-->" if region["comment"] else rf"</{name}>", re.IGNORECASE)
        where = "in a comment" if region["comment"] else f"in <{name}>"
        return Doubt("quoted-call", where, start, closer=closer, is_open_certain=bool(region["result"]))

    def _follow(self, before: Sequence[Any], start: int, cut: Reasoning | None) -> None:
        """Follow the text up to an offset, but for calls, and for reasoning that is not `cut` by this call."""
        pieces: list[tuple[int, int]] = []
        at = self._at
        for segment in before:
            if segment.span[1] <= at or type(segment) is Text or segment is cut:
                continue
            pieces.append((at, segment.span[0]))
            at = max(at, segment.span[1])
        pieces.append((at, start))
        for first, last in pieces:
            if last > first:
                self._scan(self._read(first, last), first, before)
        self._at = start

    def _scan(self, piece: str, offset: int, before: Sequence[Any]) -> None:
        at = 0
        while at < len(piece):
            if self._region is None:
                match = _REGION.search(piece, at)
                if match is None:
                    return
                self._region, place = match, offset + match.start()
                self._is_markup = not any(type(s) is Text and s.span[0] <= place < s.span[1] for s in before)
            else:
                match = _closer_of(self._region).search(piece, at)
                if match is None:
                    return
                self._region = None
            at = max(match.end(), at + 1)


@lru_cache(maxsize=64)
def _closing_pattern(fence: str, name: str) -> re.Pattern[str]:
    if fence:
        return re.compile(rf"^[ ]{{0,3}}{re.escape(fence)}{fence[0]}*[ \t\r]*$", re.MULTILINE)
    return re.compile(f"</{name}>" if name else "-->", re.IGNORECASE)


def _closer_of(region: re.Match[str]) -> re.Pattern[str]:
    return _closing_pattern(region["fence"] or "", region["tag"] or region["result"] or "")


def may_be_said(raw: str, segments: Sequence[Any], find_closer: Callable[..., Any] | None) -> bool:
    """May a call be quoted or thought about? This is fast, for text that is sound and complete.

    `find_closer` searches for what closes reasoning, from an offset up to another; None if nothing does.
    """
    at, last = 0, None
    for segment in segments:
        if type(segment) is ToolCall:
            start = segment.span[0]
            if type(last) is Reasoning and find_closer is not None and find_closer(raw, last.span[1], start) is None:
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
