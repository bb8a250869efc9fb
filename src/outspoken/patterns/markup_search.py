"""Markup in text: finds where text holds a marker, intact or with mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from .escaped_text import plain_text
from .near_miss import SHORT_MARKER, fragments, lacks_middle, mistakes_allowed, near_misses

#: A JSON key that is shorter than this, with its quotes and its colon, is in much JSON that is no call.
_SHORT_KEY = 8
#: What may stand between two markers: white space, and at most one other character.
_GAP = re.compile(r"\s{0,9}\S?\s{0,9}")
#: No marker with a mistake begins further before the next one.
_MAX_GAP = 20
#: Two weak markers that are farther apart are no evidence of a call.
_FAR = 300
#: The name of an action, and what follows it in a call: its arguments in brackets, a field, or the end of a string.
#: The mark that opens the string may be missing before the next key or the end of the object.
_ACTION = (
    r"(?<!\w)(?:{names})(?=\(\s?(?:\)|\w{{1,30}}\s?=|[\"'\d\[(<{{])|\s?\[\[?\w|\t\w{{1,30}}:)"
    r"|(?<=[\"'“„])\s{{0,3}}(?:{names})(?=\s{{0,3}}[\"'”“]\s{{0,9}}(?:[,}})]|:\s{{0,9}}\{{)|,\s{{0,3}}[\"'“„])"
    r"|(?<!\w)(?:{names})(?=[\"']\s{{0,9}}(?:\}}|:\s{{0,9}}\{{|,\s{{0,9}}(?:[\"']\w{{1,40}}[\"']\s{{0,9}}:|\w{{1,30}}=[\"'\d\[])))"
    r"|(?<![\w<])(?:{names})(?=[(<](?!\w{{1,3}}\))[\w\"'=]|[^\w\s]{{0,2}}\w{{1,30}}=[\"']|[({{]\W?[)}}]|\)\(|>)"
    # the name behind what opens it, which is damaged, and alone; or before a value of which the bracket is damaged
    r"|(?<![^\n])\W{{0,9}}\w{{0,20}}[\s.]?[:：]\s{{0,3}}(?:{names})(?=\W{{0,5}}$|;?\s?\[)"
    r"|(?<!\w)(?:{names})(?=\s?[^\s\]\n(]{{1,40}}\])"
    # the name before a value between fences, and before arguments of which the first one is damaged
    r"|(?:{names})(?=(?:\s?\[[^\]]{{1,300}}\]){{1,4}}\W{{0,5}}$|\s?```)|(?<!\w)(?:{names})(?=\([^()\s]{{1,80}}\s?[=,][^()\n]{{0,200}}\)\W{{0,9}}$)"
    # the name alone on its line, or twice, or with a bracket; or with what is left behind it of a string
    r"|^(?:{names}){{1,2}}[.!]?$|^\W{{0,9}}(?:{names})(?=\)\W{{0,9}}$|\(\W{{0,9}}\Z)|^(?:{names})(?=[\"']\s?\)\W{{0,9}}$)"
)
#: A line that is a call of something, though its name, what stands before it or a bracket may be damaged.
_CALL_ON_LINE = re.compile(
    r"^\W{0,9}(?:\w{1,20}\s?[:：]\s?)?(?P<word>[\w.]{1,60}\s)?(?P<name>[\w.]{0,60})"
    r"(?:\((?:\)|[\"'\d\[{<-][^\n]{0,500}\)|\w{1,30}\s?=[^\n]{0,500}\))|\[\w{1,30}=[^\n]{0,500}\])\W{0,9}$"
    r"|(?<=:)\s?\(\w{1,30}=[\"'\d]"
    r"|^\W{0,9}\{[^\n]{0,20}\baction[^\n]{1,500}\}\W{0,9}$"
    # the end of a call with a value, also if its name and bracket are damaged
    r"|(?<!\w)\w{1,20}\((?=[^()\n]{0,200}\w=[\[\"'\d])[^()\s][^()\n]{0,300}\)\W{0,9}$"
    r"|^\W{0,9}\w{4,60}=[\"'\[][^\n]{0,300}\)\W{0,9}$|\w\(=\s?[\"'\[(]"
    # values in brackets, fields between tabs, and a value in brackets between fences
    r"|\[\w{1,20}\]\s?;\s?\[[^\]\n]{1,300}\]"
    r"|(?:^|\t)\w{0,20}:[^\n\t]{0,300}\t\w{1,20}:|\{\s{0,9}\"\"\s{0,9}:|\"\w{1,20}\s{1,9}\"\s{0,9}:\s?\{|```\s?\W?\w{0,30}\W?[^\n]{1,300}\]\s?```",
    re.MULTILINE,
)
#: An argument with its name.
_KEYWORD = re.compile(r"\w=[\"'\[]")
#: What is left of an action's name has so many letters at least.
_SHORTEST_PART = 2
#: The name of an action, and its first argument, with what gives that a value: `type" text="`, `click\nat: `. What
#: stands between a key of JSON and its value may have a mistake.
_FIELD = (
    r"(?<![\w.])(?:{names})(?![\"']\s{{0,3}}:)"
    r"(?=[ ]{{0,3}}[^\w .]\W{{0,9}}(?:{arguments})(?:[\"']?\s?[=:>\[]|\s?[\"'\d])|[ ]{{1,3}}(?:{arguments})=[\"'])"
)
#: The last word of a text, behind a sign.
LAST_WORD = re.compile(r"[^\w\s]\s*(\w+)\Z")
#: A text that is a point, and nothing else.
_POINT = re.compile(r"\W{0,9}\d?\W{0,3}[\d.]{1,9}[^\w]{1,9}[\d.]{0,9}\W{0,9}")
#: What stands before an action in the last line of reasoning.
_BEFORE_ACTION = re.compile(r"\W{0,9}(?:\w{1,20}\W{1,9})?")
#: These characters are frequent in prose.
_PROSE = ".,:'"
#: How text begins that goes on with the arguments of the call before it, which ended too early, or is what ends them.
_MORE_ARGUMENTS = re.compile(
    r"""\s{0,20}[,}\]]?\s{0,20}(?:"(?:[^"\n]{1,60}"\s{0,20}:|\s{0,9}[}\]])|'\w{1,60}'\s{0,20}:|[<>{}\[\]()|]{1,9}\s{0,9}\Z|\[\w{1,20}\]\s{0,9}\Z)"""
)
#: No more places of one text than this are looked at.
_MAX_PLACES = 200


class FoundMarkup(NamedTuple):
    """A marker that stands in a text from `start` to `end`, as it is `written` without mistakes."""

    start: int
    end: int
    written: str

    def moved(self, by: int) -> FoundMarkup:
        """The same with other offsets."""
        return FoundMarkup(self.start + by, self.end + by, self.written)


def is_distinct_marker(written: str) -> bool:
    """Is a marker long enough not to occur by chance? Words, the fences of code and short JSON keys are not."""
    if not written or len(written) < (_SHORT_KEY if written[:1] == '"' else SHORT_MARKER) or written[0] in "`~":
        return False
    return not written.replace(" ", "").isalnum()


def goes_on_with_arguments(text: str) -> bool:
    """Does the text behind a call begin with a key of an object, or with what ends a string and its object?"""
    return _MORE_ARGUMENTS.match(text) is not None


class MarkupSearch:
    """Searches texts for markers, given as they are written.

    `arguments` are the names of those of the `actions` that stand in markers of their own.
    """

    def __init__(
        self,
        markers: Iterable[str],
        weak: Iterable[str] = (),
        lines: Iterable[str] = (),
        actions: Iterable[str] = (),
        arguments: Iterable[str] = (),
    ) -> None:
        #: they begin a call where they begin a line, also in reasoning
        self.lines = tuple(lines)
        self._actions, self._arguments = tuple(actions), tuple(arguments)
        #: they count only where another one of them is near
        self.weak = frozenset(weak)
        self.markers = sorted({marker for marker in markers if is_distinct_marker(marker)} | self.weak)
        #: one of these is in every text that holds a marker, also with mistakes; in lower case
        self.signs = _signs(self.markers)
        #: by fragment that was found, the markers that it may be of, and where they begin
        self._places: dict[str, tuple[int, list[tuple[str, int]]]] = {}
        self.has_actions = bool(self._actions)
        self._has_letters = any(sign.upper() != sign for sign in self.signs)

    def is_in(self, text: str, end: int | None = None) -> bool:
        """Does a text hold a marker that begins before `end`, or one that is written in another way?"""
        if self._actions and self.find_action(text[:end]) is not None:
            return True
        folded = _folded(text)
        for sign in self.signs:
            if sign in folded:
                last = len(text) if end is None else end
                if self._next(text, folded, 0, last) is not None and next(self.find(text, end), None) is not None:
                    return True
                break
        return bool(self.find_escaped(text[:end]))

    def find_action(self, text: str) -> re.Match[str] | None:
        """The name of an action where a call of it may begin, or a line that is like a call."""
        if not self._actions:
            return None
        found = self._search_action(text) if any(sign in text for sign in self._action_signs) else None
        if found is None and any(char in text for char in "([{\t]"):
            called = (match for match in _CALL_ON_LINE.finditer(text) if self._is_part_of_action(match))
            found = next(called, None) or _POINT.fullmatch(text)
        return found

    def _is_part_of_action(self, called: re.Match[str]) -> bool:
        """May the name on the line of a call be what is left of that of an action, or hold one?"""
        name = (called["name"] or "").casefold()
        if not name or name[0] == "." or _KEYWORD.search(called[0]):
            return True
        end, whole = name[name.rfind(".", 0, -1) + 1 :].rstrip("."), name.rstrip(".")
        joined = (called["word"] or "").strip().casefold() + name
        return any(
            action in joined
            or (len(end) >= _SHORTEST_PART and action.endswith(end))
            or action.startswith(whole)
            or (len(whole) > _SHORTEST_PART and lacks_middle(whole, action))
            for action in self._folded
        )

    @cached_property
    def _folded(self) -> list[str]:
        return [action.casefold() for action in self._actions]

    @cached_property
    def _action_signs(self) -> list[str]:
        """One of these is in every text that holds the name of an action: names, and those before the dots in them."""
        return list(dict.fromkeys([name[: name.rfind(".") + 1] or name for name in self._actions]))

    @cached_property
    def _search_action(self) -> Callable[[str], re.Match[str] | None]:
        names = "|".join([re.escape(name) for name in self._actions])
        more = [f"^(?i:{re.escape(line)})" for line in self.lines]
        spaces = [sign for sign in self._action_signs if sign[-1] == "."]
        more += [rf"(?<!\w){re.escape(name)}(?!\w)" for name in self._actions if "." in name]
        more += [rf"^\s{{0,9}}{re.escape(space)}(?=\w{{1,40}}[^\w\s.])" for space in spaces]
        if self._arguments:
            more.append(_FIELD.format(names=names, arguments="|".join(map(re.escape, self._arguments))))
        return re.compile("|".join([_ACTION.format(names=names), *more]), re.MULTILINE).search

    def line_in(self, reasoning: str, *, leads_on: bool) -> str:
        """The marker that begins a line of reasoning, or that it ends with, as a call does; "" if there is none.

        An action may stand in it behind a damaged marker: in its last line if it `leads_on` to a call, else anywhere.
        """
        end = reasoning.rstrip()
        marker_line = next((line for line in self.lines if f"\n{line}" in reasoning), "")
        marker_line = marker_line or next((marker for marker in self.markers if end.endswith(marker)), "")
        if marker_line or not self._actions:
            return marker_line
        line = end[end.rfind("\n") + 1 :] if leads_on else reasoning
        action = self.find_action(line)
        if action is None or (leads_on and not _BEFORE_ACTION.fullmatch(line, 0, action.start())):
            return ""
        return action[0]

    def may_hold(self, text: str) -> bool:
        """May a text hold a marker? This is fast."""
        folded = text.lower() if self._has_letters else text
        for sign in self.signs:
            if sign in folded:
                return self._search(_folded(text)) is not None
        return False

    def find_escaped(self, text: str) -> list[FoundMarkup]:
        """The first marker of a text that is written in another way, at the first escape of it, if there is one."""
        plain = plain_text(text)
        if plain is None:
            return []
        written, at = plain
        found = next(self.find(written.replace("｜", "|").replace("|", self._bar) if self._bar else written), None)
        return [] if found is None else [FoundMarkup(at, at + 1, found.written)]

    @cached_property
    def _bar(self) -> str:
        """The bar that the markers hold; "" if some hold one and others the other one."""
        bars = [bar for bar in "|｜" if any(bar in marker for marker in self.markers)]
        return bars[0] if len(bars) == 1 else ""

    @cached_property
    def _search(self) -> Callable[..., re.Match[str] | None]:
        """Finds the next fragment in a text in lower case, the longest one that begins there."""
        from .prefilter import any_of

        return re.compile(any_of(self._by_fragment, exact=True) if self.markers else "(?!)").search

    @cached_property
    def _by_fragment(self) -> dict[str, list[tuple[str, int]]]:
        """By fragment in lower case, the markers that it is of, and where it is in each."""
        found: dict[str, list[tuple[str, int]]] = {}
        for marker in self.markers:
            left, right, swapped = fragments(marker)
            places = (left, 0), (right, len(left)), (swapped, max(len(left) - 3, 0))
            for piece, at in places:
                found.setdefault(piece.lower(), []).append((marker, at))
        return found

    def find(self, text: str, end: int | None = None) -> Iterator[FoundMarkup]:
        """The markers in a text that begin before `end`, in their order.

        Those behind many places that are none are not found.
        """
        folded = _folded(text)
        if not any(sign in folded for sign in self.signs):
            return
        last = len(text) if end is None else end
        waiting: FoundMarkup | None = None
        for markup in self._find(text, folded, last):
            if markup.start >= last:
                return
            if markup.written in self.weak:
                if waiting is None or waiting.written == markup.written or markup.start - waiting.end > _FAR:
                    waiting = markup
                    continue
                yield waiting
                waiting = None
            yield markup

    def _find(self, text: str, folded: str, last: int) -> Iterator[FoundMarkup]:
        pos = first = 0
        for _ in range(_MAX_PLACES):
            match = self._next(text, folded, pos, last)
            if match is None:
                return
            pos = match.start() + 1
            found = self._around(text, match, self._places_of(match[0])[1], first, last)
            if found is not None:
                yield found
                pos = first = max(found.end, match.end())

    def _next(self, text: str, folded: str, pos: int, last: int) -> re.Match[str] | None:
        """The next fragment of a marker that may begin before `last`; None if an intact one behind that comes first."""
        for _ in range(_MAX_PLACES):
            match = self._search(folded, pos)
            if match is None:
                return None
            lowest, places = self._places_of(match[0])
            if match.start() + lowest < last:
                return match
            for marker, at in places:
                if text.startswith(marker, match.start() + at):
                    return None
            pos = match.start() + 1
        return None

    def _places_of(self, piece: str) -> tuple[int, list[tuple[str, int]]]:
        """The markers that a fragment in lower case may be of, and where they begin; and how far before it one may.

        A marker of which the beginning was found begins with that: else, it would have more mistakes.
        """
        places_known = self._places.get(piece)
        if places_known is None:
            within = [(piece.find(part), ats) for part, ats in self._by_fragment.items() if part in piece]
            places = [(marker, i - at) for i, ats in within for marker, at in ats]
            lowest = min([i - at - (at > 0) for i, ats in within for _, at in ats])
            places_known = self._places[piece] = lowest, places
        return places_known

    def _around(
        self, text: str, match: re.Match[str], places: list[tuple[str, int]], first: int, last: int
    ) -> FoundMarkup | None:
        """The marker of which a fragment was found; of several, the one with the fewest mistakes, then the longest.

        Of those that begin at `last` or behind it, the intact one is as good as any other.
        """
        begun = match.start()
        begins = [(marker, begun + i) for marker, i in places]
        intact = [FoundMarkup(at, at + len(m), m) for m, at in begins if at >= first and text.startswith(m, at)]
        sound = max(intact, key=lambda near: near.end - near.start, default=None)
        most = last - 1 if sound is not None and sound.start >= last else match.start() + 1
        near = self._near(text, match, begins, sound, first, most)
        if near and most < match.start() + 1:
            near = self._near(text, match, begins, sound, first, match.start() + 1)
        if not near:
            return sound
        best = min(near)[2]
        if sound is not None:  # it is a part of a longer marker, which has a mistake
            return best if best.start < sound.start or best.end > sound.end else sound
        others = [marker for marker in self.markers if marker not in best.written]
        # it may be a part of a marker that is intact
        return None if any(self._is_across(text, match, marker) for marker in others) else best

    def _near(
        self,
        text: str,
        match: re.Match[str],
        known: list[tuple[str, int]],
        sound: FoundMarkup | None,
        first: int,
        most: int,
    ) -> list[tuple[int, int, FoundMarkup]]:
        """The markers round a fragment that begin between two places, with what the best one has the least of."""
        return [
            (mistakes, start - end, FoundMarkup(start, end, marker))
            for marker, start in {(m, at + i) for m, at in known for i in (-1, 0, 1)}
            if first <= start <= most and (sound is None or sound.written in marker)
            for end, mistakes in near_misses(text, start, marker)[:1]
            if end >= match.end()
        ]

    def _is_across(self, text: str, match: re.Match[str], marker: str) -> bool:
        """Does an intact marker stand where a fragment was found?"""
        first = max(match.start() - len(marker) + 1, 0)
        return text.find(marker, first, match.end() + len(marker) - 1) >= 0


def _folded(text: str) -> str:
    """A text in lower case, as long as the text."""
    folded = text.lower()
    return folded if len(folded) == len(text) else "".join([char.lower()[:1] for char in text])


def _signs(markers: list[str]) -> list[str]:
    """Characters that near misses of the markers need.

    Of markers that have none, or frequent ones, characters and texts that all their fragments hold.
    """
    signs = set[str]()
    for marker in markers:
        chars = _needed_of(marker)
        if chars is None or not chars.isdisjoint(_PROSE):
            pieces = [piece.lower() for piece in fragments(marker)]
            chars = {next((char for char in _special(piece) if char not in _PROSE), piece) for piece in pieces}
        signs |= chars
    return sorted({sign for sign in signs if not any(other in sign for other in signs - {sign})})


def _special(text: str) -> list[str]:
    """The characters that are neither of words nor between them."""
    return [char for char in text if not char.isalnum() and char not in "_ \n"]


def _needed_of(marker: str) -> set[str] | None:
    """The characters of which one is left in every near miss of a marker that holds one of its fragments."""
    special = _special(marker)
    if mistakes_allowed(marker) < 2:
        if len(special) < 2:
            return None
        return set(special[:1] if special[0] == special[1] else special)
    left, right, _ = fragments(marker)
    in_left, in_right = set(special) & set(left), set(special) & set(right)
    if in_left and in_right and left[-1] != right[0]:  # else the third fragment is in the marker as it is
        return {min(in_left & in_right)} if in_left & in_right else set(special)
    return set(special) if len(special) > 2 else None


class ValueMarkup:
    """Finds a closing marker of values that a marker follows which may follow it. Both may have mistakes.

    A value that is written without escapes runs on to its closing marker. If that has a mistake, or what must follow,
    the value takes in the next arguments or the next call. `phrases` are words that open a call.
    """

    def __init__(self, closers: Sequence[str], followers: Sequence[str], phrases: Sequence[str] = ()) -> None:
        self.closers, self.followers = closers, followers
        self._search = MarkupSearch([*closers, *followers])
        self._phrases = MarkupSearch(phrases) if phrases else None
        #: can it find anything?
        self.finds = bool(closers or phrases)

    @property
    def data(self) -> tuple[tuple[str, ...], ...]:
        """What makes the same object again."""
        return tuple(self.closers), tuple(self.followers), tuple(self._phrases.markers if self._phrases else ())

    @property
    def signs(self) -> list[str]:
        """In lower case, one of these is in every text in which something is found."""
        return [*self._search.signs, *(self._phrases.signs if self._phrases is not None else ())]

    def holds_phrase(self, text: str) -> bool:
        """Does a value hold words that open a call?"""
        return self._phrases is not None and self._phrases.is_in(text)

    def is_in(self, text: str) -> bool:
        """Does a value hold what would end it?"""
        if self.holds_phrase(text):
            return True
        if not self.closers or not self._search.may_hold(text):
            return False
        for markup in self._search.find(text):
            if markup.written in self.closers and self._is_followed(text, markup.end):
                return True
            if markup.written in self.followers and self._is_preceded(text, markup.start):
                return True
        return False

    def _is_followed(self, text: str, at: int) -> bool:
        gap = _GAP.match(text, at)
        ends = {at, gap.end(), len(text[: gap.end()].rstrip())} if gap is not None else {at}
        starts = {start for end in ends for start in (end, end - 1) if start >= at}
        return any(near_misses(text, start, marker) for start in starts for marker in self.followers)

    def _is_preceded(self, text: str, at: int) -> bool:
        for marker in self.closers:
            first = max(at - len(marker) - _MAX_GAP, 0)
            begun = text.find(marker[0], first, at)
            while begun >= 0:
                if any(_GAP.fullmatch(text, end, at) for end, _ in near_misses(text[:at], begun, marker)):
                    return True
                begun = text.find(marker[0], begun + 1, at)
        return False
