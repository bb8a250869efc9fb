"""Markers of damaged text: where opening markers with a mistake, and the ends of values without a marker, may stand.

Their patterns are long: to compile them takes up to seconds. So free text is searched with those alone of which a cheap
search finds that they may stand in it. Sound text has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from outspoken.grammar.automaton import MissingCloser, Transition
from outspoken.grammar.leading_space import BREAKS, INDENTATION
from outspoken.patterns.near_miss import (
    begins_near_miss,
    first_characters,
    mistakes_allowed,
    near_misses,
    place_of_begun_near_miss,
    place_of_near_miss,
)

from .text_buffer import TextBuffer

#: A closing marker that is missing had a line break before it and one behind it, and so many more may begin a marker.
_LINES, _MOST_LINES = 2, 99


class RareMarkers:
    """Searches the text for markers of damaged text, and for what they begin with.

    Positions are those of the window on the text. No text is searched twice for the same.
    """

    def __init__(self, text: TextBuffer) -> None:
        self.text = text
        #: what was searched for: the offsets from where on, where it was found or the text ended, and that end
        self._searched: dict[tuple[str, str], tuple[int, int, int]] = {}
        #: the text, and the same in lower case
        self._lowered = "", ""

    def next_place(self, prefilter: str, pos: int, nearly: str = "") -> int:
        """The first place from a position on where a pattern may match; the end of the text if it does nowhere.

        Or, if that is given, where something is `nearly` a marker.
        """
        key, text, base, end = (prefilter, nearly), self.text.text, self.text.base, self.text.end
        start, next_at, searched_to = self._searched.get(key, (0, -1, -1))
        if searched_to != end or not start <= base + pos <= next_at:
            if nearly:
                place = place_of_near_miss(text, self._lower(text), pos, nearly)
            else:
                match = re.compile(prefilter).search(text, pos)
                place = -1 if match is None else match.start()
            next_at = end if place < 0 else base + place
            self._searched[key] = base + pos, next_at, end
        return next_at - base

    def absent(self, mistaken: Sequence[Transition], at: int, end: int) -> tuple[Transition, ...]:
        """Those of some markers with a mistake that stand nowhere from a position up to where free text ends.

        One that goes before other markers may stand where they do.
        """
        return tuple([m for m in mistaken if self.next_place(m.prefilter, at, m.nearly) >= _last(m, end)])

    def absent_at(self, mistaken: Sequence[Transition], pos: int) -> tuple[Transition, ...]:
        """Those of some markers with a mistake that do not begin at a position."""
        return tuple([m for m in mistaken if not self._may_begin(m, pos)])

    def _may_begin(self, marker: Transition, pos: int) -> bool:
        text, written = self.text.text, marker.nearly
        if not written:
            return re.compile(marker.prefilter).match(text, pos) is not None
        if not mistakes_allowed(written):
            return True
        return text[pos : pos + 1] in first_characters(written) and bool(near_misses(text, pos, written))

    def arriving(
        self, mistaken: tuple[Transition, ...], at: int, end: int
    ) -> tuple[tuple[Transition, ...], int | None]:
        """The same, and where the first of them may have begun whose rest has not arrived; None if nowhere."""
        if not mistaken:
            return (), None
        beginnings, is_first = _beginnings(mistaken)
        if beginnings.search(self.text.text, at, end + is_first) is None:
            return mistaken, None
        absent = self.absent(mistaken, at, end)
        places = [_begun_at(self.text.text, marker, at, _last(marker, end)) for marker in absent]
        return absent, min([place for place in places if place >= 0], default=None)

    def closers(
        self, closers: tuple[MissingCloser, ...], at: int, end: int
    ) -> tuple[tuple[MissingCloser, ...], int | None]:
        """The closers, if one may stand from a position up to where free text ends; else none of them.

        And where the first one may have begun whose rest has not arrived; None if nowhere.
        """
        if not closers:
            return (), None
        text, begun_at = self.text.text, None
        beginning = _beginning_of(closers)
        for place_match in beginning.places.finditer(text, at):
            if place_match.start() >= end:
                break
            state = beginning.state_at(text, place_match.start())
            if state == "begun" and begun_at is None:
                begun_at = place_match.start()
            if state == "there":
                return closers, begun_at
        return (), begun_at

    def _lower(self, text: str) -> str:
        """A text in lower case, of the same length."""
        if self._lowered[0] is not text:
            low = text.lower()
            self._lowered = text, low if len(low) == len(text) else "".join([char.lower()[:1] for char in text])
        return self._lowered[1]


@lru_cache(maxsize=1024)
def _beginnings(mistaken: tuple[Transition, ...]) -> tuple[re.Pattern[str], bool]:
    """With what some markers with a mistake may begin, and whether one may go before other markers.

    Their second character alone is frequent: it is a letter.
    """
    is_first = any(marker.terminal.priority > 0 for marker in mistaken)
    chars, pairs = set[str](), set[str]()
    for marker in mistaken:
        written = marker.nearly
        if not (written or marker.terminal.first):
            return re.compile(""), is_first
        chars |= {written[0], written[0].swapcase()} if written else {*marker.terminal.first}
        pairs |= {char + written[2:3] for char in (written[1:2], written[1:2].swapcase()) if written}
    seconds = [rf"{re.escape(pair[:1])}(?:{re.escape(pair[1:])}|\Z)" for pair in sorted(pairs) if pair]
    return re.compile("|".join([f"[{re.escape(''.join(sorted(chars)))}]", *seconds])), is_first


def _last(marker: Transition, end: int) -> int:
    return end + (marker.terminal.priority > 0)


def _begun_at(text: str, marker: Transition, at: int, last: int) -> int:
    """Where a marker with a mistake may have begun before a place; -1 if nowhere."""
    if marker.nearly:
        return place_of_begun_near_miss(text, at, last, marker.nearly)
    first = marker.terminal.first
    if first and not any(char in first for char in text[at:last]):
        return -1
    match = _arriving(marker.prefilter).search(text, at, partial=True)
    return match.start() if match is not None and match.partial and match.start() < last else -1


@lru_cache(maxsize=1024)
def _arriving(pattern: str) -> Any:
    from outspoken.patterns.alike import compile_arriving  # whole texts need no `regex`

    return compile_arriving(pattern)


class _ClosersBeginning(NamedTuple):
    """With what some closers begin: a pattern of the `places`, texts of which each is nearly one, and patterns.

    `lines` are the line breaks that may precede all of them, and `rest` is the same at the end of the text.
    """

    places: re.Pattern[str]
    forms: tuple[str, ...]
    patterns: tuple[str, ...]
    lines: re.Pattern[str]
    rest: re.Pattern[str]

    def state_at(self, text: str, place: int) -> Literal["there", "begun"] | None:
        """What stands at a place of what a closer begins with: all of it, or the beginning."""
        if self.rest.match(text, place):
            return "begun"
        matches = [_arriving(pattern).match(text, place, partial=True) for pattern in self.patterns]
        lines = self.lines.match(text, place)
        place = place if lines is None else lines.end()
        near = [form for form in self.forms if text[place] in first_characters(form)]
        if any(match is not None and not match.partial for match in matches) or any(
            text.startswith(form, place) or near_misses(text, place, form) for form in near
        ):
            return "there"
        rest = [form for form in near if begins_near_miss(text[place : place + len(form) + 2], form)]
        return "begun" if rest or any(matches) else None


@lru_cache(maxsize=1024)
def _beginning_of(closers: tuple[MissingCloser, ...]) -> _ClosersBeginning:
    """With what some closers begin."""
    forms = dict.fromkeys([form for closer in closers for form in closer.nearly])
    begins = dict.fromkeys([closer.begins for closer in closers if closer.begins])
    count = _LINES + max(map(_leading_breaks, begins), default=0)
    lines = rf"(?:\r?\n{INDENTATION}){{0,{count}}}"
    chars = {char for form in forms for char in first_characters(form)}
    chars |= {char for closer in closers for char in closer.first}
    is_any = any(closer.begins and not closer.first for closer in closers)
    firsts = re.escape("".join(sorted(chars - {*BREAKS})))
    first_char, begun = (r"[^\n]", r"(?s:.)") if is_any else (f"[{firsts}]", rf"[\r\n{firsts}]")
    behind = rf"{INDENTATION}(?:\r?\n{INDENTATION}){{0,{count - 1}}}(?:{first_char}|\r?\Z)"
    places = rf"{begun}(?:(?<=[^\r\n])|(?<=\n){behind}|(?<=\r)(?:\n{behind}|\Z))"
    patterns = tuple([rf"{lines}(?:{pattern})" for pattern in begins])
    rest = re.compile(rf"(?!\Z){lines}\r?\Z")
    return _ClosersBeginning(re.compile(places), tuple(forms), patterns, re.compile(lines), rest)


def _leading_breaks(pattern: str) -> int:
    """How many line breaks a match of a pattern may begin with."""
    match = _arriving(pattern).match
    breaks = range(1, _MOST_LINES + 1)
    return next((count for count in breaks if match("\n" * count, partial=True) is None), _MOST_LINES + 1) - 1
