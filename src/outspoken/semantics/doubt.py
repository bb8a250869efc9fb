"""Why a call may only be said, and what behind it decides whether it was made."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.replies import Reasoning, Text

from .announcements import DENIES
from .quotations import LONGEST_QUOTE, UNSURE_MARKS, begins_with_closer, closes_quote, ends_quote
from .said_signs import MADE, begins_line

Verdict = Literal["made", "said"]

#: A line of a fence, which is no prose.
FENCE_LINE = lazy_pattern(r"(?m)^[ ]{0,3}(?:`{3,16}|~{3,16})[^`\n]*$")
#: Prose holds words; signs may be what is left of markup. The token that ends a response is no prose.
_WORD = lazy_pattern(r"\w")
_WORDS = lazy_pattern(r"\n[ \t]*[^\W\d_]")
_END_TOKEN = lazy_pattern(r"(?:<[|｜][\w▁]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>)\s*\Z")
#: What may become such a token.
_OPEN_TAG = lazy_pattern(r"<[|｜/]?[\w▁]{0,40}[|｜]?\Z")
#: The place of a closing tag that does not come.
_NONE = (-1, -1)
#: A quotation with other text or reasoning between its calls is no longer than this, in characters.
LONGEST_QUOTED = 2000
#: The mark that ends a message is no longer.
_LONGEST_END = 40
#: No sentence behind a fence that says whether calls in it count is longer, with white space before it.
_LONGEST_SENTENCE = 200
#: So much of the text that was searched is searched again with the next piece: more than any closing tag is long.
LOOKBEHIND = 60


#: No more calls than this are looked at beside one, in its line.
_MOST_BESIDE = 50


def stands_in_line(
    read: Callable[[int, int], str],
    segments: Sequence[Any],
    count: int,
    span: tuple[int, int],
    after: Sequence[Any],
    *,
    final: bool,
) -> bool | None:
    """Does a call, or one beside it, stand in a line of text, though in markers? None if more text is needed.

    `read` gives the text between two offsets. The first `count` segments stand before the call, those `after` it have
    come.
    """
    (start, end), first = span, max(count - _MOST_BESIDE, 0)
    while count > first and segments[count - 1].kind in MADE and "\n" not in read(segments[count - 1].span[1], start):
        count -= 1
        start = segments[count].span[0]
    if count and type(segments[count - 1]) is Text:
        behind = segments[count - 1].span[1]
        gap = read(behind, start)
        if not begins_line(read(behind - LONGEST_QUOTE, behind) + gap[: -len(gap.lstrip()) or None]):
            return True
    for number, segment in enumerate(after[:_MOST_BESIDE]):
        gap = read(end, segment.span[0])
        if segment.kind not in (*MADE, "text") or "\n" in gap[len(gap.rstrip()) :]:
            return False
        if type(segment) is Text:
            line, newline, _ = read(*segment.span).partition("\n")
            is_whole, line = final or bool(newline) or number + 1 < len(after), _END_TOKEN.sub("", line)
            if _WORD.search(line if is_whole else _OPEN_TAG.sub("", line)):
                return True
            return False if is_whole else None
        end = segment.span[1]
    return False if final else None


def value_goes_on(
    read: Callable[[int, int], str], call: Any, after: Sequence[Any], ends: re.Pattern[str], *, final: bool
) -> bool | None:
    """May the last value of a call, which ends with a quotation mark, go on behind it? None if more text is needed.

    The mark stands there again, or what `ends` values or calls is in the text of the segments `after` the call.
    """
    end, value = call.span[1], next(reversed(call.arguments.values()))
    if read(end, end + 1) == value[-1]:
        return True
    texts = (read(*segment.span) for segment in after if type(segment) is Text)
    return True if any(map(ends.search, texts)) else False if final else None


class _Behind(NamedTuple):
    """What stands behind a call that ends at an offset: segments, and the text that `read` gives up to `end`."""

    call_end: int
    after: Sequence[Any]
    read: Callable[[int, int], str]
    end: int
    final: bool


@dataclass(eq=False, repr=False)
class Doubt:
    """Why a call that starts at an offset may only be said, and what behind it decides.

    `code` is the code of the diagnostic, and `where` says in words where the call stands. `quotes` are the marks of
    quotations that are open before it. `closer` finds what ends the region in which it stands; that counts without an
    end if it `is_open_certain`, and with one only if prose follows if it `wants_prose`, or if the region holds words
    behind the call if it `wants_text`. The call is repaired if it was made in spite of a doubt that `is_weak`, or in a
    region without an end, with prose behind it, that `is_open_weak`. If the calls of the format end as its reasoning
    does, that `is_shared`. A call that `is_bare` has no markers. One of none of the `tools`, if these are known, is
    text. If the `closer` counts `in_text` only, no call that stands behind this one may hold it. `otherwise` is what
    is in doubt if this is not.
    """

    code: str
    where: str
    start: int
    quotes: tuple[str, ...] = ()
    closer: re.Pattern[str] | None = None
    is_open_certain: bool = False
    is_open_weak: bool = False
    wants_prose: bool = False
    wants_text: bool = False
    #: is it about actions, whose objects hold lines of words?
    is_action: bool = False
    is_weak: bool = False
    is_shared: bool = False
    in_text: bool = False
    #: does a refused call end the region, too, since it may hold what ends it?
    in_refused: bool = False
    is_bare: bool = False
    tools: Collection[str] | None = None
    #: does other text or reasoning stand between the opening mark of the quotation and the call?
    is_behind_other: bool = False
    otherwise: Doubt | None = None
    #: the segments before this offset decide nothing
    looked_to: int = 0
    #: where the region ends, once that is known
    region_end: tuple[int, int] | None = None
    _verdict: Verdict | None = None
    _searched: int = -1
    #: where the mark stands that ends this call, if that is shared
    _own_end: tuple[int, int] | None = None
    #: does the reasoning in which the call stands have no end, though words follow the call?
    _goes_on: bool = False

    def __post_init__(self) -> None:
        #: where the call begins as text, with the markup before it, and where the reasoning in which it stands does
        self.text_start = self.thought_start = self.start
        #: where what may close the quotations begins, and whether other segments stand before that
        self._quoted_to, self._is_passed = self.start, self.is_behind_other
        #: the marks that are no letters, and no part of a sentence or a link
        self._sure_marks = [mark for mark in self.quotes if mark not in UNSURE_MARKS]

    def decide(
        self, call: Any, after: Sequence[Any], read: Callable[[int, int], str], end: int, *, final: bool
    ) -> Verdict | None:
        """Was a call or action made or said? None if more text is needed.

        `after` are the segments behind it, `read` gives the raw text between two offsets, of which all up to
        `end` has come.
        """
        if self._verdict is None and self.tools is not None and call.name not in self.tools:
            self._verdict, self.where = "said", "on a line without markers, and no such tool is given"
        if self._verdict is None:
            self._verdict = self._decide(_Behind(call.span[1], after, read, end, final))
        verdict = self._verdict  # is the same for all calls with this doubt
        if verdict == "made" and self.otherwise is not None:
            return self.otherwise.decide(call, after, read, end, final=final)
        return verdict

    @property
    def closed_by(self) -> tuple[int, int] | None:
        """The place of the tag that closes the reasoning in which the call stands, if that is known."""
        return self.region_end if self.code == "thought-call" and self.region_end != _NONE else None

    @property
    def weakness(self) -> tuple[str, str] | None:
        """The code and the words of what a call that was made lacks to be sound."""
        if self.code == "thought-call" and self.closed_by is not None:
            return "call-in-reasoning", "before the end of the reasoning"
        if self._goes_on:
            return "call-in-reasoning", "before words, in reasoning without an end"
        if self.is_weak:
            return "fenced-call", f"{self.where} at the end of the response"
        return None if self.otherwise is None else self.otherwise.weakness

    @property
    def decisive(self) -> Doubt:
        """The doubt that a verdict "said" is about: this one, or another one if this one is cleared."""
        is_own = self.otherwise is None or self.closed_by is not None or self._verdict == "said"
        return self if is_own or self.otherwise is None else self.otherwise.decisive

    def _decide(self, at: _Behind) -> Verdict | None:
        if self.quotes:
            return self._decide_quote(at)
        if self.closer is None:
            return "said"
        if self.in_text:
            return self._decide_by_text(at)
        if self.wants_text:
            return self._decide_by_words(at)
        if self.is_shared and not self._pass_own_end(at):
            return None
        if self.code == "thought-call" and not self.is_shared and self.region_end is None:
            self.region_end = self._taken_end(at)
        if self.region_end is None and not self._find_end(at):
            behind = at._replace(final=False)  # a tag that is cut is no prose
            self._goes_on = at.final and self.is_open_weak and self._is_prose_behind(at.call_end, behind)
            return ("said" if self.is_open_certain else "made") if at.final else None
        assert self.region_end is not None
        behind = self.region_end[1]
        if self.code == "thought-call":
            if self.region_end == _NONE:  # another block begins first
                return "said" if self._is_called_off(at) else "made"
            return "said" if at.read(behind, at.end).strip() else "made" if at.final else None
        if not self.wants_prose:
            return "said"
        if self._is_prose_behind(behind, at):
            return "said"
        return "made" if at.final else None

    def is_ended_in(self, text: str) -> bool:
        """Does a text hold what ends the region?"""
        return self.closer is not None and self.closer.search(text) is not None

    def _decide_by_text(self, at: _Behind) -> Verdict | None:
        """Does the end of another call follow in text, or another call that is refused?"""
        for number, segment in enumerate(at.after):
            start, last = segment.span
            self.looked_to = start
            if self.in_refused and segment.kind == "tool_call" and segment.status == "invalid":
                return "said"
            if type(segment) is Text:
                is_last = number + 1 == len(at.after)
                last = max(last, at.end) if is_last and at.final else last if is_last else at.after[number + 1].span[0]
                if self.is_ended_in(at.read(start, last)):
                    return "said"
        return "made" if at.final else None

    def _decide_by_words(self, at: _Behind) -> Verdict | None:
        """Does a line of words stand in the region behind the call, or a sentence behind it say that it is none?"""
        if self.region_end is None and not self._find_end(at):
            return "made" if at.final else None
        end, behind = self.region_end or (at.end, at.end)
        if not self.is_action and self._holds_words(at, end):
            return "said"
        text = at.read(behind, behind + _LONGEST_SENTENCE)
        if not (at.final or "\n" in text.lstrip() or len(text) == _LONGEST_SENTENCE):
            return None
        if DENIES.match(text) is None:
            return "made"
        self.where = "before a sentence that says it does not count"
        return "said"

    def _holds_words(self, at: _Behind, end: int) -> bool:
        """Does a line of words stand in the region, between or behind its calls?"""
        start = at.call_end
        for segment in at.after:
            if segment.kind in MADE and segment.span[0] < end:
                if _WORDS.search(at.read(start, segment.span[0])):
                    return True
                start = segment.span[1]
        return _WORDS.search(at.read(start, end)) is not None

    def _is_prose_behind(self, behind: int, at: _Behind) -> bool:
        """Does text stand behind a place, if only as the rest of a field, or a call of no given tool?"""
        for segment in at.after:
            start, last = segment.span
            self.looked_to = start
            if self.tools is not None and segment.kind == "tool_call" and segment.name not in self.tools:
                return True
            if type(segment) is Text or (type(segment) is Reasoning and start < behind):
                text = _END_TOKEN.sub("", FENCE_LINE.sub("", at.read(max(start, behind), last)))
                if _WORD.search(text if at.final else _OPEN_TAG.sub("", text)):
                    return True
        return False

    def _is_called_off(self, at: _Behind) -> bool:
        """Does an answer follow a call which is no message of its own, so that its end is that of the reasoning?"""
        others = [segment for segment in at.after if segment.kind not in MADE]
        if self.closer is None or self._own_end is None or not others or type(others[0]) is not Text:
            return False
        marks = [mark for mark in self.closer.finditer(at.read(self.text_start, at.call_end)) if mark["open"]]
        self.region_end = self._own_end if len(marks) == 1 else _NONE
        return len(marks) == 1

    def _decide_quote(self, at: _Behind) -> Verdict | None:
        self._quoted_to = max(at.call_end, self._quoted_to)
        for number, segment in enumerate(at.after):
            start, last = segment.span
            self.looked_to = start
            if segment.kind in MADE:
                self._quoted_to = last
                continue
            if type(segment) not in (Text, Reasoning) or start - self.start > LONGEST_QUOTED:
                return "made"
            whole = at.final or number + 1 < len(at.after)
            ending = self._find_mark(at.read, segment, whole=whole)
            if ending == "closed":
                return "said"
            if ending is None or (ending == "scrap" and whole and number + 1 < len(at.after)):
                continue
            if type(segment) is Text and not (self.is_open_certain or self._is_passed or self._sure_marks):
                return "made"
            self._is_passed = True
        if not at.final:
            return None
        if self._is_passed:
            return "made"
        ending = closes_quote(at.read(self._quoted_to, at.end), self.quotes, whole=True)
        return "said" if ending == "closed" or self.is_open_certain else "made"  # only markup is behind the calls

    def _find_mark(self, read: Callable[[int, int], str], segment: Any, *, whole: bool) -> str | None:
        """What `closes_quote` says of a text behind the calls. Behind other segments, it has to begin with the mark.

        The mark may also stand farther behind, if it surely closes the quotation.
        """
        text, ending = read(*segment.span), "open"
        if type(segment) is Text and self._is_passed:
            ending = "closed" if begins_with_closer(text, self.quotes, whole=whole) else "open"
        elif type(segment) is Text:
            markup = read(self._quoted_to, segment.span[0])
            ending = closes_quote(markup[len(markup.rstrip()) :] + text, self.quotes, whole=whole)
        return ends_quote(text, self._sure_marks, whole=whole) if ending == "open" and self._sure_marks else ending

    def _pass_own_end(self, at: _Behind) -> bool:
        """Look for the mark that ends the message of the call behind it, which is none of the reasoning's."""
        if self._searched >= 0:
            return True
        call_end, end, final = at.call_end, at.end, at.final
        for segment in at.after:
            if segment.kind not in MADE:
                end, final = segment.span[0], True
                break
            call_end = segment.span[1]
        assert self.closer is not None
        if final:
            first = max(call_end - _LONGEST_END, 0)
            tag = next((tag for tag in self.closer.finditer(at.read(first, end)) if tag.lastgroup != "open"), None)
            if tag is not None:
                self._own_end = (first + tag.start(), first + tag.end())
            self._searched = max(call_end, first + (tag.end() if tag is not None else 0))
        return final

    def _taken_end(self, at: _Behind) -> tuple[int, int] | None:
        """The place of the tag of the reasoning that a call holds, or ends with, as its own is missing."""
        text = at.read(self.start, at.call_end).rstrip()
        assert self.closer is not None
        tag = next((tag for tag in self.closer.finditer(text) if tag.lastgroup != "open"), None)
        if tag is None:
            return None
        return self.start + tag.start(), at.call_end if tag.end() == len(text) else self.start + tag.end()

    def _is_within_line(self, mark: re.Match[str]) -> bool:
        """Does what would open another block stand in the words of a line, so that it opens none?"""
        before = mark.string[mark.start() - 1 : mark.start()]
        return mark.lastgroup == "open" and not self.is_shared and before in (" ", "\t")

    def _find_end(self, at: _Behind) -> bool:
        """Look for what ends the region. A match that touches the end of the text may still change."""
        first = max(at.call_end, self._searched)
        start = max(first - LOOKBEHIND, 0)  # patterns look at what stands before a tag
        text = at.read(start, at.end)
        assert self.closer is not None
        match = next((m for m in self.closer.finditer(text, first - start) if not self._is_within_line(m)), None)
        if match is None or (match.end() == len(text) and not at.final):
            self._searched = start + max(text.rfind("\n"), len(text) - LOOKBEHIND, first - start)
            return False
        is_closer = match.lastgroup != "open"
        self.region_end = (start + match.start(), start + match.end()) if is_closer else _NONE
        return True
