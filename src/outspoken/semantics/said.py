"""Whether a call was made or only said: quoted in the text, or thought about in reasoning that goes on behind it.

Actions are calls here, too. What precedes a call tells whether it may be one of these (`Doubt`), and what follows it
decides. Both are looked up in the raw text and in the segments round the call, so that a stream decides as whole text
does, as soon as it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.replies import Reasoning, Text

from .said_signs import MADE, ThinkMarkers

Verdict = Literal["made", "said"]

#: What opens a region of text that is quoted: a fence of code, a comment, a tag.
_REGION = lazy_pattern(
    r"^[ ]{0,3}(?P<fence>`{3,16}|~{3,16})[^`\n]*$|(?P<comment><!--)|<(?P<tag>pre|code|blockquote|think(?:ing)?)>"
    r"|^\s*<(?P<result>tool_response)>",
    re.IGNORECASE | re.MULTILINE,
)
#: Tags of reasoning, which are regions where they are text.
_THINK_TAGS = ("think", "thinking")
#: A quotation mark at the end of the text before a call: it begins a word. Its end stands right behind the call.
_QUOTE = lazy_pattern(r"(?:^|(?<=[\s(\[{:]))[\"'“‘«]\Z|(?<!`)`{1,2}\Z|(?<=[^\n`])`{3,16}\Z")
_CLOSING = {"“": "”", "‘": "’", "«": "»"}
#: A sentence that announces an example.
_ANNOUNCES = lazy_pattern(
    r"\b(?:example|format|looks? like|such as|would (?:be|look)|e\.g\.)[^\n]*:\s*\Z", re.IGNORECASE
)
#: A line of a fence, which is no prose.
_FENCE_LINE = lazy_pattern(r"(?m)^[ ]{0,3}(?:`{3,16}|~{3,16})[^`\n]*$")


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
        #: where the reasoning begins in which the call stands
        self.thought_start = start
        #: the quotation mark that must stand right behind the call
        self._closing = closing
        #: what ends the region; the region counts without an end if `is_open_certain`, and with one only if prose
        #: follows if it `wants_prose`
        self._closer, self._is_open_certain, self._wants_prose = closer, is_open_certain, wants_prose
        #: what is in doubt if this is not
        self._otherwise = otherwise
        self._searched = -1
        #: the segments before this offset decide nothing
        self.looked_to = 0
        self._verdict: Verdict | None = None
        #: where the region ends, once that is known
        self.region_end: tuple[int, int] | None = None

    def decide(
        self, call_end: int, after: Sequence[Any], read: Callable[[int, int], str], end: int, *, final: bool
    ) -> Verdict | None:
        """Was the call made or said? None if more text is needed.

        `after` are the segments behind the call, `read` gives the raw text between two offsets, of which all up to
        `end` has come.
        """
        if self._verdict is None:
            self._verdict = self._decide(call_end, after, read, end, final=final)
        verdict = self._verdict  # is the same for all calls with this doubt
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
            self.looked_to = start
            if type(segment) is Text and last > behind and _FENCE_LINE.sub("", read(max(start, behind), last)).strip():
                return "said"
        return "made" if final else None

    def _decide_quote(self, after: Sequence[Any], *, final: bool) -> Verdict | None:
        for segment in after:
            self.looked_to = segment.span[0]
            if segment.kind in MADE:
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
        first = max(call_end, self._searched)
        start = max(first - _LOOKBEHIND, 0)  # patterns look at what stands before a tag
        text = read(start, end)
        assert self._closer is not None
        match = self._closer.search(text, first - start)
        if match is None or (match.end() == len(text) and not final):
            self._searched = start + max(text.rfind("\n"), len(text) - _LOOKBEHIND, first - start)
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
#: So much of the text before a call shows whether it ends in a quotation mark.
_LONGEST_QUOTE = 20


class Surroundings:
    """Follows the text round the calls of one response, and tells which of them are in doubt.

    It is asked of one call after another, and looks at each part of the response once.
    """

    def __init__(
        self, read: Callable[[int, int], str], thinks: Callable[[], ThinkMarkers | None], prompt_end: str = ""
    ) -> None:
        self._read, self._find_thinks, self._prompt_end = read, thinks, prompt_end
        self._at = 0
        #: the match that opened the region in which the text is, whether it is markup of the format, and the doubt
        #: about the calls in it
        self._region: re.Match[str] | None = None
        self._is_markup = False
        self._region_doubt: Doubt | None = None
        #: the last segment that is no call, of so many segments; the doubt about calls right behind it
        self._last: Any = None
        self._count = 0
        self._beside: tuple[Any, Doubt | None] = (None, None)
        #: reasoning, up to where its closing tag was looked for, and where that ends; -1 if it was not found
        self._closer_of: tuple[Any, int, int] = (None, 0, -1)

    @cached_property
    def _thinks(self) -> ThinkMarkers | None:
        return self._find_thinks()

    def skip_to(self, offset: int) -> None:
        """What stands before an offset was decided: it opens no region."""
        self._at, self._region, self._region_doubt = max(self._at, offset), None, None

    def doubt_of(
        self, segments: Sequence[Any], count: int, start: int, open: Any = None, *, is_action: bool = False
    ) -> Doubt | None:
        """Why the call or action that starts at an offset may only be said; None if it was made.

        The first `count` of the segments stand before it, and then `open`, text or reasoning that has not ended.
        """
        last = open if open is not None else self._last_of(segments, count)
        cut = last if isinstance(last, Reasoning) and self._is_cut(last, start) else None
        self._follow(segments, count, start, cut, open)
        doubt = self._doubt_in(self._region, last, start, is_action) if self._region is not None else None
        lead = last if isinstance(last, Text) else cut
        if doubt is None and lead is not None:
            doubt = self._doubt_beside(lead, start)
        before = open if open is not None else segments[count - 1] if count else None
        if cut is None:
            begun = self._end_of_opener(before, start)
        else:  # behind a call that was refused, the reasoning is another one
            begun = before.span[1] if before is not None and before.kind in MADE else cut.span[0]
        if begun >= 0 and self._thinks is not None:
            doubt = Doubt("thought-call", "in reasoning", start, closer=self._thinks.either, otherwise=doubt)
            doubt.thought_start = begun
        if doubt is not None:
            doubt.start, doubt.text_start = start, self._text_start(before, start)
        return doubt

    def _last_of(self, segments: Sequence[Any], count: int) -> Any:
        """The last one of the first segments that is no call."""
        for at in range(count - 1, self._count - 1, -1):
            if segments[at].kind not in MADE:
                self._last = segments[at]
                break
        self._count = count
        return self._last

    def _end_of_opener(self, before: Any, start: int) -> int:
        """Where the tag ends that opens reasoning right before a call and behind the segment `before`; -1 for none."""
        if self._thinks is None:
            return -1
        end = 0 if before is None else before.span[1]
        lead = self._prompt_end if before is None else self._read(max(end - _LOOKBEHIND, 0), end)
        text, at = lead + self._read(end, start), 0 if before is None else len(lead)
        tags = [*self._thinks.either.finditer(text, at)]
        return max(end + tags[-1].end() - len(lead), 0) if tags and tags[-1]["open"] is not None else -1

    def _text_start(self, before: Any, start: int) -> int:
        """Where the markup begins that leads to a call: behind the segment before it, and the tag that closes that."""
        if before is None:
            return 0
        end = before.span[1]
        if isinstance(before, Reasoning) and self._thinks is not None:
            between = self._read(end, start)
            closer = self._thinks.closer.search(between)
            rest = between[closer.end() :] if closer is not None else between
            return start - len(rest.lstrip())
        return end if isinstance(before, Text | Reasoning) else start

    def _doubt_beside(self, lead: Text | Reasoning, start: int) -> Doubt | None:
        """Why the text right before calls makes them doubtful."""
        if self._beside[0] is not lead:
            self._beside = (lead, self._doubt_behind(lead, start))
        return self._beside[1]

    def _doubt_behind(self, lead: Text | Reasoning, start: int) -> Doubt | None:
        text, end = lead.text, lead.span[1]
        behind = self._read(end, min(start + 1, end + _LONGEST_CLOSER))
        is_same_line = "\n" not in behind[: len(behind) - len(behind.lstrip())]
        if is_same_line and text[text.rfind("\n") + 1 :].lstrip().startswith(">"):
            return Doubt("quoted-call", "in a quotation", start)
        if (match := _QUOTE.search(text.rstrip()[-_LONGEST_QUOTE:])) is not None:
            return Doubt("quoted-call", "in quotation marks", start, closing=_CLOSING.get(match[0], match[0]))
        return None

    def _is_cut(self, reasoning: Reasoning, start: int) -> bool:
        """Is reasoning not closed before an offset, so that a call has ended it?"""
        if self._thinks is None or not self._thinks.is_closable(self._read, reasoning):
            return False
        known, searched, closed_at = self._closer_of
        if known is not reasoning:
            searched, closed_at = reasoning.span[1], -1
        if closed_at < 0 and searched < start:
            if (closer := self._thinks.closer.search(self._read(searched, start))) is not None:
                closed_at = searched + closer.end()
            searched = max(start - _LOOKBEHIND, reasoning.span[1])
        self._closer_of = (reasoning, searched, closed_at)
        return not 0 <= closed_at <= start

    def may_be_cut(self, reasoning: Reasoning, end: int) -> bool:
        """May a call have ended reasoning, as its closing tag does not stand right behind it? More text may follow."""
        if self._thinks is None or not self._thinks.is_closable(self._read, reasoning):
            return False
        behind = self._read(reasoning.span[1], min(end, reasoning.span[1] + _LONGEST_CLOSER))
        closer = self._thinks.closer.search(behind)
        return closer is None or bool(behind[: closer.start()].strip())

    def _doubt_in(self, region: re.Match[str], last: Any, start: int, is_action: bool) -> Doubt | None:
        # JSON, or code of actions, in a fence that the grammar takes for markup: prompts ask for it
        begin = self._read(start, start + 9).lstrip()[:1]
        is_habit = region["fence"] and self._is_markup and (begin in ("{", "[") or (is_action and begin != "<"))
        if is_habit and not (type(last) is Text and _ANNOUNCES.search(last.text[-_LONGEST_CLOSER:])):
            return None
        if self._region_doubt is None:
            name = region["tag"] or region["result"]
            where = "in a fence" if region["fence"] else "in a comment" if region["comment"] else f"in <{name}>"
            self._region_doubt = Doubt(
                "quoted-call",
                where,
                start,
                closer=_closer_of(region),
                is_open_certain=bool(region["result"]),
                wants_prose=bool(region["fence"]),
            )
        return self._region_doubt

    def _follow(self, segments: Sequence[Any], count: int, start: int, cut: Reasoning | None, open: Any) -> None:
        """Follow the text up to an offset, but for calls, and for reasoning that is not `cut` by this call."""
        new: list[Any] = [] if open is None else [open]
        at = count - 1
        while at >= 0 and segments[at].span[1] > self._at:
            new.append(segments[at])
            at -= 1
        texts = [segment.span for segment in new if type(segment) is Text]
        at = self._at
        for segment in reversed(new):
            if type(segment) is Text or segment is cut:
                continue
            self._scan(at, segment.span[0], texts)
            at = max(at, segment.span[1])
        self._scan(at, start, texts)
        self._at = max(start, self._at)

    def _scan(self, offset: int, end: int, texts: list[tuple[int, int]]) -> None:
        """Look for what opens and ends regions between two offsets. `texts` are the places of text there."""
        piece, at = self._read(offset, end) if end > offset else "", 0
        while at < len(piece):
            if self._region is None:
                match = _REGION.search(piece, at)
                if match is None:
                    return
                place = offset + match.start()
                self._is_markup = not any(first <= place < last for first, last in texts)
                if not (self._is_markup and match["tag"] in _THINK_TAGS):
                    self._region, self._region_doubt = match, None
            else:
                match = _closer_of(self._region).search(piece, at)
                if match is None:
                    return
                self._region = self._region_doubt = None
            at = max(match.end(), at + 1)


@lru_cache(maxsize=64)
def _closing_pattern(fence: str, name: str) -> re.Pattern[str]:
    if fence:
        return re.compile(rf"^[ ]{{0,3}}{re.escape(fence)}{fence[0]}*[ \t\r]*$", re.MULTILINE)
    return re.compile(f"</{name}>" if name else "-->", re.IGNORECASE)


def _closer_of(region: re.Match[str]) -> re.Pattern[str]:
    return _closing_pattern(region["fence"] or "", region["tag"] or region["result"] or "")


def is_any_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None, prompt_end: str) -> bool:
    """May a call of a whole response be quoted or thought about? `thinks` finds the tags of reasoning.

    `prompt_end` is what the prompt ended with that the response continues.
    """

    def read(start: int, end: int) -> str:
        return raw[max(start, 0) : max(end, 0)]

    surroundings = Surroundings(read, lambda: thinks, prompt_end)
    for at, segment in enumerate(segments):
        if segment.kind not in MADE:
            continue
        doubt = surroundings.doubt_of(segments, at, segment.span[0], is_action=segment.kind == "action")
        if doubt is None:
            continue
        verdict = doubt.decide(segment.span[1], segments[at + 1 :], read, len(raw), final=True)
        if verdict == "said" or doubt.closed_by is not None:
            return True
    return False
