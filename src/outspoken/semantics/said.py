"""Whether a call was made or only said: quoted in the text, or thought about in reasoning that goes on behind it.

Actions are calls here, too. What precedes a call tells whether it may be one of these (`Doubt`), and what follows it
decides. Both are looked up in the raw text and in the segments round the call, so that a stream decides as whole text
does, as soon as it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.sentences import ends_in_word, is_in_sentence
from outspoken.results.replies import Reasoning, Text

from .announcements import announces
from .doubt import LONGEST_QUOTED, LOOKBEHIND, Doubt
from .quotations import (
    IN_LINE,
    MARKS,
    SENTENCE,
    is_shown,
    open_quotes,
    stays_in_block_quotation,
    still_quoting,
    still_showing,
)
from .regions import Regions
from .said_signs import (
    MADE,
    Bare,
    ThinkMarkers,
    begins_line,
    holds_invented,
    is_field,
    is_separator,
    may_end_in_string,
    may_quote,
)

#: So much of the text before a call shows whether it stands in a line, or what opens right before it.
_LONGEST_LINE = 200
#: What leads to a call: a fence, or no markup but brackets before a name or an object.
_UNMARKED = lazy_pattern(r"""\s*(?:(?:`{3,16}|~{3,16})[^\n`]*\n|[\[\s]*(?:[\w{]\Z|\{\s*["'“]))""")
#: Keys of an object at the end of a text.
_LAST_KEYS = lazy_pattern(r"[{\[\s]{0,99}(?:\"\w{1,60}\"\s{0,9}:\s{0,9}){1,9}\Z")
#: The tag that opens reasoning.
_TAG = lazy_pattern(r"<([a-z_]{1,40})>\s*\Z", re.IGNORECASE)
#: No closing tag of reasoning is longer, with the white space before it.
_LONGEST_CLOSER = 200


#: What any text holds.
_ANYTHING = re.compile("")


class Surroundings:
    """Follows the text round the calls of one response, and tells which of them are in doubt.

    It is asked of one call after another, and looks at each part of the response once.
    """

    # class attributes, so that making one costs little
    #: the last segment that is no call, of so many segments; the doubt about calls right behind it
    _last: Any = None
    _count = 0
    #: the last reasoning of them
    _thought: Reasoning | None = None
    _beside: tuple[Any, bool, Doubt | None] = (None, False, None)
    #: reasoning, up to where its closing tag was looked for, where that ends (-1 if it was not found), and what finds
    #: its own tag, if that is another one
    _closer_of: tuple[Any, int, int, re.Pattern[str] | None] = (None, 0, -1, None)
    #: does the last call have no markers, and does it stand in a line of text?
    _is_bare = _is_in_line = False
    #: is there a call that may go on, one that was refused right behind another one in its line, as if it began in a
    #: value of that, and the doubt about calls behind it; where the last refused call ends
    _has_broken = _has_refused = False
    _refused_end = -1
    _broken_doubt: Doubt | None = None
    #: where the last call ends, or begins if it was refused, and where ends what was only said; has the model invented
    #: a result behind a call?
    _call_end = _said_to = -1
    _has_invented = False
    #: the last text that opens a quotation which no later text closes
    _quoting: Text | None = None
    #: the last text that ends in a line of a block quotation, which no later text leaves
    _showing: Text | None = None
    #: that text, and the doubt about calls behind it
    _carried: tuple[Text, Doubt] | None = None

    def __init__(
        self,
        read: Callable[[int, int], str],
        thinks: Callable[[], ThinkMarkers | None],
        prompt_end: str = "",
        bare: Callable[[], Bare | None] = lambda: None,
        ends: Callable[[], re.Pattern[str] | None] = lambda: None,
    ) -> None:
        """`bare` gives what is known of calls without markers, if the format has any, `ends` what ends bare values."""
        self._read, self._find_thinks, self._prompt_end = read, thinks, prompt_end
        self._bare, self.ends = bare, ends
        self._regions = Regions(read)

    @property
    def _thinks(self) -> ThinkMarkers | None:
        """The tags of reasoning of the format, which may be found while the text arrives."""
        return self._find_thinks()

    @property
    def _closes_think(self) -> bool:
        """Does `</think>` close the reasoning of the format?"""
        return self._thinks is not None and self._thinks.closer.search("</think>") is not None

    def skip_to(self, offset: int) -> None:
        """What stands before an offset was decided: it opens no region."""
        self._regions.skip_to(offset)
        self._said_to = max(self._said_to, offset)

    def leave_out(self, doubt: Doubt, end: int) -> None:
        """A call that ends at an offset was only said, and is no call to which a result could belong.

        One without markers may have been meant: a result behind it counts.
        """
        if not doubt.decisive.is_bare:
            self._said_to = max(self._said_to, end)

    def doubt_of(
        self, segments: Sequence[Any], count: int, start: int, open: Any = None, *, kind: str = "tool_call"
    ) -> Doubt | None:
        """Why the call, action or payload that starts at an offset may only be said; None if it was made.

        The first `count` of the segments stand before it, and then `open`, text or reasoning that has not ended.
        """
        at = min(self._regions.at, start)
        piece = self._read(at, start + 1)
        piece, first = piece[: start - at], piece[start - at :]
        last = self._last_of(segments, count)
        last = last if open is None else open
        thought = last if isinstance(last, Reasoning) else self._thought
        ends = None if thought is None else self._end_of_cut(thought, start)
        cut = thought if ends is not None else None
        stand = [*segments[max(count - 2, 0) : count], *([] if open is None else [open])]
        before, earlier = stand[-1] if stand else None, stand[-2] if len(stand) > 1 else None
        new = self._new(segments, count, open)
        self._regions.follow(piece, new, start, cut, cut.span if cut is not None and self._closes_think else (0, 0))
        doubt = self._regions.doubt_at(last, start, kind)
        if doubt is None or doubt.wants_text:
            beside = self._doubt_beside(self._lead(last, cut, before, earlier), start, first, kind)
            doubt = beside or self._doubt_of_quoting(open, start) or doubt
        if (broken := self._doubt_of_broken(start)) is not None:
            if doubt is not None and doubt is not broken:
                doubt.otherwise = broken
            doubt = doubt or broken
        if self._is_behind_invented(segments, count, open, start):
            doubt = Doubt("invented-result", "behind a tool result or a turn that the model wrote itself", start)
        if kind == "tool_call" and (bare := self._bare()) is not None:
            doubt = self._doubt_of_bare(bare, before, start, doubt)
        if cut is None:
            begun = self._end_of_opener(before, earlier, start)
            reasoning, _, closed_at, own = self._closer_of
            if begun < 0 and own is not None and reasoning is thought:
                ends, begun = own, max(closed_at, 0 if before is None else before.span[1])
        else:  # behind a call that was refused, or text, the reasoning is another one
            begun = cut.span[0] if before is None or before is cut else before.span[1]
        if begun >= 0 and self._thinks is not None:
            thinks = self._thinks
            doubt = Doubt(
                *("thought-call", "in reasoning", start),
                closer=thinks.ends if thinks.is_shared else ends or thinks.either,
                is_shared=thinks.is_shared,
                is_open_weak=cut is not None and ends is thinks.either,
                otherwise=doubt,
            )
            doubt.thought_start = begun
        if doubt is not None:
            doubt.start, doubt.text_start = start, self._text_start(before, start)
        return doubt

    def _new(self, segments: Sequence[Any], count: int, open: Any) -> list[Any]:
        """The first segments that were not followed yet, and what is `open` behind them, the last one first."""
        new: list[Any] = [] if open is None else [open]
        at = count - 1
        while at >= 0 and segments[at].span[1] > self._regions.at:
            new.append(segments[at])
            at -= 1
        return new

    def _last_of(self, segments: Sequence[Any], count: int) -> Any:
        """The last one of the first segments that is no call, nor behind text a field of one.

        The last reasoning of them is kept, too.
        """
        for segment in segments[self._count : count]:
            if segment.kind == "payload":
                continue  # what stands before it stands before the next one, too, and no result belongs to it
            if segment.kind in MADE:
                self._call_end = segment.span[segment.status in ("ok", "repaired")]  # a refused one may hold a result
                self._has_broken = self._has_broken or _may_go_on(segment, self._read)
                if (segment.kind, segment.status) == ("tool_call", "invalid"):
                    start, end = segment.span
                    is_behind = start == self._refused_end and self._read(start, start + 1) != "\n"
                    self._has_refused, self._refused_end = self._has_refused or is_behind, end
            else:
                self._thought = segment if isinstance(segment, Reasoning) else self._thought
                if type(self._last) is not Text or not is_field(segment, self._read):
                    self._last = segment
                if type(segment) is Text:
                    self._quoting = still_quoting(self._quoting, segment)
                    self._showing = still_showing(self._showing, segment)
                    if self._broken_doubt is not None and self._broken_doubt.is_ended_in(self._read(*segment.span)):
                        self._broken_doubt = None  # what stands behind that end is another question
        self._count = count
        return self._last

    def _end_of_opener(self, before: Any, earlier: Any, start: int) -> int:
        """Where the tag ends that opens reasoning right before a call and behind the segment `before`; -1 for none.

        Text may stand behind the tag, such as a damaged marker; `earlier` is the segment before it.
        """
        if self._thinks is None:
            return -1
        is_behind = type(before) is Text and self._end_of_opener(earlier, None, before.span[0]) >= 0
        if is_behind and not self._thinks.closer.search(self._read(before.span[0], start)):
            return before.span[1]
        end = 0 if before is None else before.span[1]
        between = self._read(end, start).strip()
        if not between and (before is not None or not self._prompt_end):
            return -1
        if before is not None and self._thinks.closer.fullmatch(between):
            return -1
        at = min(end, LOOKBEHIND)
        text = self._read(end - at, start) if before is not None else self._prompt_end + self._read(0, start)
        tags = [*self._thinks.either.finditer(text, at)]
        at = at if before is not None else len(self._prompt_end)
        return max(end + tags[-1].end() - at, 0) if tags and tags[-1]["open"] is not None else -1

    def _lead(self, last: Any, cut: Reasoning | None, before: Any, earlier: Any) -> Text | Reasoning | None:
        """The text right before a call; with the reasoning that it goes on with, if nothing closes that."""
        if type(last) is Text and cut is not None and before is last and earlier is cut:
            text = self._read(cut.span[0], last.span[1])
            return last.model_copy(update={"text": text, "span": (cut.span[0], last.span[1])})
        return last if isinstance(last, Text) else cut

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

    def _doubt_beside(self, lead: Text | Reasoning | None, start: int, first: str, kind: str) -> Doubt | None:
        """Why the text right before calls makes them doubtful, or a mark that was read as a part of the first one."""
        is_marked = kind == "payload"  # its name is its marker
        if lead is not None and self._beside[0] is lead and self._beside[1] == is_marked:
            return self._beside[2]
        begin = self._read(0, 1) if lead is None else ""
        is_led = may_quote(lead, begin, first)
        self._beside = lead, is_marked, self._doubt_behind(lead, begin, start, is_marked) if is_led else None
        return self._beside[2]

    def _doubt_of_quoting(self, open: Any, start: int) -> Doubt | None:
        """Why a call is in doubt by a quotation that goes on behind other segments."""
        showing = still_showing(self._showing, open) if type(open) is Text else self._showing
        is_near = showing is not None and start - showing.span[1] < LONGEST_QUOTED
        if showing is not None and is_near and stays_in_block_quotation(self._read(showing.span[1], start)):
            return Doubt("quoted-call", "in a quotation", start)
        quoting = still_quoting(self._quoting, open) if type(open) is Text else self._quoting
        if quoting is None or quoting is open:
            return None
        if self._carried is None or self._carried[0].span != quoting.span:
            quotes = open_quotes(quoting.text)
            doubt = Doubt("quoted-call", "in quotation marks", start, quotes=quotes, is_behind_other=True)
            self._carried = quoting, doubt
        return self._carried[1]

    def _doubt_of_broken(self, start: int) -> Doubt | None:
        """Why a call is in doubt behind one that may go on: the end of that one may follow as text."""
        ends = self.ends() if self._has_broken else None
        if ends is None:
            return None
        if self._broken_doubt is None:
            self._broken_doubt = Doubt("quoted-call", "in a value of another call", start, closer=ends, in_text=True)
        self._broken_doubt.in_refused = self._has_refused
        return self._broken_doubt

    def _is_behind_invented(self, segments: Sequence[Any], count: int, open: Any, start: int) -> bool:
        """Did the model write a result, or a turn of the user, between a call that it made and this one?"""
        at, first = self._call_end, count
        if self._has_invented or at <= self._said_to:
            return self._has_invented
        while first and segments[first - 1].kind not in MADE:
            first -= 1
        thoughts = [segment.span for segment in (*segments[first:count], open) if isinstance(segment, Reasoning)]
        for begin, end in (*thoughts, (start, start)):
            self._has_invented = self._has_invented or holds_invented(self._read(at, begin))
            at = end
        return self._has_invented

    def _doubt_of_bare(self, bare: Bare, before: Any, start: int, otherwise: Doubt | None) -> Doubt | None:
        """Why a call without markers may be text: it stands in a line of text, or other text follows.

        It stands behind another one, or behind nothing but brackets.
        """
        call = before if before is not None and before.kind == "tool_call" else None
        lead = self._read(self._text_start(before, start) if call is None else call.span[1], start)
        if call is None or not is_separator(lead):
            self._is_bare = bare.begins_call(lead, self._read(start, start + 1))
        if not self._is_bare:
            return otherwise
        if type(before) is Text:
            self._is_in_line = not begins_line(self._read(start - _LONGEST_LINE, start))
        else:
            self._is_in_line = call is not None and self._is_in_line and "\n" not in lead
        if self._is_in_line:
            return Doubt("quoted-call", "without markers in a line of text", start, is_bare=True)
        return Doubt(
            *("quoted-call", "on a line without markers, and other text follows", start),
            closer=_ANYTHING,
            wants_prose=True,
            is_bare=True,
            tools=bare.tools,
            otherwise=otherwise,
        )

    def _doubt_behind(self, lead: Text | Reasoning | None, begin: str, start: int, is_marked: bool) -> Doubt | None:
        if lead is None:
            return Doubt("quoted-call", "in quotation marks", start, quotes=(begin,))
        text, end = lead.text, lead.span[1]
        marker = self._read(end, min(start, end + LOOKBEHIND)).strip(" \t\r\n[{(")
        if len(marker) > 1 and text.rstrip().endswith(marker):
            text = text.rstrip()[: -len(marker)]  # the marker is there twice
        if not is_marked and text.rstrip().endswith(":"):
            text = _LAST_KEYS.sub("", text[-LONGEST_QUOTED:])  # of an object that could not be read
        behind = self._read(end, min(start + 1, end + _LONGEST_CLOSER))
        blank = behind[: len(behind) - len(behind.lstrip())]
        body = text.rstrip()
        if is_shown(body, text[len(body) :] + blank):
            return Doubt("quoted-call", "in a quotation", start)
        if announces(body.rstrip(MARKS + "`")):
            return Doubt("quoted-call", "behind a line that announces an example", start)
        quotes = open_quotes(text)
        if not quotes and not is_marked and _UNMARKED.match(behind):
            quotes = (SENTENCE,) if is_in_sentence(text) else ()
            quotes += (IN_LINE,) if ends_in_word(text) and "\n" not in behind else ()
            return Doubt("quoted-call", "in a sentence", start, quotes=quotes) if quotes else None
        if not quotes:
            return None
        is_beside = quotes[-1] != "[" and text.rstrip().endswith(quotes[-1])
        return Doubt("quoted-call", "in quotation marks", start, quotes=quotes, is_open_certain=is_beside)

    def _end_of_cut(self, reasoning: Reasoning, start: int) -> re.Pattern[str] | None:
        """What finds the end of reasoning that is not closed before an offset, so that a call has ended it, or None."""
        ends = None if self._thinks is None else self._thinks.end_of(self._read, reasoning)
        if ends is None:
            return None
        last_reasoning, searched, closed_at, own = self._closer_of
        if last_reasoning is not reasoning:
            searched, closed_at, own = reasoning.span[1], -1, None
        if closed_at < 0 and searched < start:
            if (closer := self._closer_in(ends, self._read(searched, start))) is not None:
                closed_at, own = searched + closer.end(), self._own_end(reasoning, closer[0].strip().lower())
            searched = max(start - LOOKBEHIND, reasoning.span[1])
        self._closer_of = (reasoning, searched, closed_at, own)
        return None if 0 <= closed_at <= start else ends

    def _closer_in(self, ends: re.Pattern[str], text: str) -> re.Match[str] | None:
        """What closes reasoning first in a text."""
        if self._thinks is not None and ends is self._thinks.either:
            return self._thinks.closer.search(text)
        return next((match for match in ends.finditer(text) if match["close"] is not None), None)

    def _own_end(self, reasoning: Reasoning, tag: str) -> re.Pattern[str] | None:
        """What finds the tag that closes reasoning, if another one closed it, as `</thinking>` does for `<think>`."""
        start = reasoning.span[0]
        if not tag.startswith("</"):
            return None
        lead = self._read(start - _LONGEST_LINE, start) if start > 0 else self._prompt_end
        is_own = lead.rstrip().lower().endswith(f"<{tag[2:]}")
        opener = None if is_own else _TAG.search(lead)
        return None if opener is None else re.compile(f"(?P<close></{opener[1]}>)", re.IGNORECASE)

    def may_be_cut(self, reasoning: Reasoning, end: int) -> bool:
        """May a call have ended reasoning, as its closing tag does not stand right behind it? More text may follow."""
        ends = None if self._thinks is None else self._thinks.end_of(self._read, reasoning)
        if ends is None:
            return False
        behind = self._read(reasoning.span[1], min(end, reasoning.span[1] + _LONGEST_CLOSER))
        closer = self._closer_in(ends, behind)
        return closer is None or bool(behind[: closer.start()].strip())


def _may_go_on(call: Any, read: Callable[[int, int], str]) -> bool:
    """May the text behind a call belong to it, since it is refused, a marker was missing, or a string has no end?"""
    if may_end_in_string(call, read):
        return True
    if call.status == "repaired":
        return any(repair.code == "missing-marker" for repair in call.repairs)
    return bool(call.status != "ok")
