"""Markers in bare values: those that nobody mentions there, and parts of the markers beside a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from .lazy import lazy_pattern
from .markup_search import MarkupSearch, ValueMarkup, is_distinct_marker
from .near_miss import begins_near, mistakes_allowed

#: The name in an opening tag, and the end of the tag.
_NAME = r"(?:[\w.:\-]{1,60}[\"']?\s?/?>)?"
#: How certain it is that the markers in a value are damage.
Looseness = Literal["", "possible", "unbalanced", "certain", "doubled"]
_IN_ORDER: tuple[Looseness, ...] = ("", "possible", "unbalanced", "certain", "doubled")
#: One mistake leaves no more markers in a value.
_FEW = 2
#: So many characters between two markers are a mistake, and more are text.
_STRAY = 2
#: What begins as a tag does, and is none; or is a closing one that does not end.
_BROKEN_TAG = lazy_pattern(r"\s{0,9}<(?![/!]?\w[\w:.-]*[^<>\n]{0,99}>|!--|[|｜/\[])|\s{0,9}</\w*\Z")
#: The tail of an opening marker that is shorter may be that of another one.
_SHORT_TAG = 5
#: The signs that markers begin with.
_SIGNS = "</|｜[]>!:@#~-"
#: A value may end with a bracket of its own.
_NO_BRACKETS = str.maketrans("", "", "])}")


class LooseMarkup:
    """Finds markers of a format in a bare value, in any case, that nobody mentions there.

    A marker within a sentence or in quotation marks is mentioned, and a group that opens and closes is a part of the
    value. Any other one is damage: a marker that is doubled, in another case, or whose neighbour is missing.
    """

    def __init__(
        self,
        closers: Collection[str],
        others: Collection[str],
        own: Iterable[str] = (),
        before: Iterable[str] = (),
        followers: Iterable[str] = (),
        openers: Iterable[str] = (),
    ) -> None:
        #: what makes the same object again
        self.data = tuple([tuple(sorted(forms)) for forms in (closers, others, own, before, followers, openers)])
        self._closers, self._own = {form.lower() for form in closers}, {form.lower() for form in own}
        self.rests = MarkerRests.of([*openers], [*own])
        self._rest = re.compile(self.rests.pattern() or "(?!)")
        #: what ends the name before the value, in lower case, if it is too short to be searched for
        short = [form.strip().lower() for form in openers if not is_distinct_marker(form)]
        self._name_ends = [form for form in short if form.strip("([{'\"")]
        name_ends = "|".join(map(re.escape, self._name_ends)) or "(?!)"
        self._named = re.compile(rf"\s{{0,9}}[\w.\-]{{1,64}}\s?(?:{name_ends})")
        #: what stands before the value; it is doubled where the value begins with it
        self._before = tuple(before)
        self._followers = tuple([form.lower() for form in followers])
        #: what opens the next value, in lower case, if it may have a mistake
        self.near = [form for form in self._followers if mistakes_allowed(form)]
        halves = "|".join([re.escape(form[: (len(form) + 1) // 2]) for form in self.near])
        self._half = re.compile(rf"\s{{0,9}}(?:{halves or '(?!)'})")
        #: one of these is in every value that holds a marker, in lower case
        self.forms = sorted({form.lower() for form in (*closers, *others)}, key=lambda form: (-len(form), form))
        patterns = [re.escape(form) + (_NAME if form.endswith(("=", '="', "='")) else "") for form in self.forms]
        self._search = re.compile("|".join(patterns) or "(?!)")

    @cached_property
    def signs(self) -> set[str]:
        """In lower case, one of these is in every value in which something is found."""
        edges = {*self._name_ends, *[text[0].lower() for text in (*self._before, *self.near)]}
        return {*edges, *self.rests.signs, *self.forms, *["<"] * any(form[:1] == "<" for form in self._own)}

    def find(self, text: str) -> Looseness:
        """How loose the markers in a value are.

        What stands before the value is "doubled". One at an edge of the value is "certain" damage, and so is an opener
        or a separator among one or two markers. Closers alone are "possible" damage, and so are more markers than that,
        which may be text about markup: something else has to speak for it. One or two of the value's own closers
        without openers, and more openers than closers, are "unbalanced": something is lost, unless the arguments that
        the tool has say otherwise.
        """
        if text.startswith(self._before):
            return "doubled"
        if _ends_with_sign(text) and any(form[:1] == "<" for form in self._own):
            return "certain"
        low = text.lower()
        if begins_near(low, self.near):
            return "certain"
        matches = [*self._search.finditer(low)]
        if not matches:
            return ""
        if self._is_followed(low, matches) or self._is_next(matches):
            return "certain"
        matches = [m for m in matches if not self._is_mentioned(low, m)]
        if self._is_closed_within([match[0] for match in matches]):
            return "certain"
        sides = [-1 if match[0] in self._closers else 1 for match in matches]
        if not sides or (sum(sides) == 0 and min(accumulate(sides)) >= 0):
            return ""
        if max(sides) < 0 and any(m[0] in self._own and self._is_line(low, m) for m in matches):
            return "certain"
        if not low[: matches[0].start()].strip() or not low[matches[-1].end() :].strip():
            return "certain"
        if len(sides) > _FEW:
            return "unbalanced" if sum(sides) > 0 else "possible"
        if max(sides) > 0:
            return "certain"
        return (
            "unbalanced"
            if all(match[0] in self._own and not _is_opened(low, match) for match in matches)
            else "possible"
        )

    def holds_rest(self, text: str) -> bool:
        """Does a value hold what may be a part of a marker beside it? See `MarkerRests`."""
        return any(sign in text for sign in self.rests.signs) and self._rest.search(text) is not None

    def begins_named(self, text: str) -> bool:
        """Does a value begin as an argument does, with a name and what ends it? Its own name is doubled then."""
        return self._named.match(text) is not None

    def _is_followed(self, text: str, markers: list[re.Match[str]]) -> bool:
        """Does the value's own closing marker stand directly before what opens the next value? In a sentence, too."""
        at = next((at for at, marker in enumerate(markers) if marker[0] in self._own), len(markers))
        if at == 0 and (_BROKEN_TAG.match(text, markers[0].end()) or self._half.match(text, markers[0].end())):
            return True
        for marker, following in pairwise(markers[at:]):
            if len(text[marker.end() : following.start()].strip()) > _STRAY:
                return False  # a format has no words between two values
            if following[0].startswith(self._followers):
                return True
        return False

    def _is_next(self, markers: list[re.Match[str]]) -> bool:
        """Are the first two markers the value's own closing one and what opens the next value? In a sentence, too."""
        pairs = pairwise(markers[:2])
        return any(one[0] in self._own and behind[0].startswith(self._followers) for one, behind in pairs)

    def _is_line(self, text: str, marker: re.Match[str]) -> bool:
        """Does a marker stand alone on its line, and markup that may have a mistake begin the next one?"""
        return text[: marker.start()].endswith("\n") and text.startswith("\n" + marker[0][0], marker.end())

    def _is_mentioned(self, text: str, marker: re.Match[str]) -> bool:
        """Does a marker stand in a sentence or in quotation marks? A closing marker may be the first word of it."""
        start, end = marker.span()
        is_first = marker[0] in self._closers and not text[:start].strip()
        return (is_first or bool(_BEFORE.search(text, max(start - 1, 0), start))) and bool(_BEHIND.match(text, end))

    def _is_closed_within(self, markers: list[str]) -> bool:
        """Does the value's own closing marker stand before an opening marker, so that the value may have ended?"""
        ends = [at for at, marker in enumerate(markers) if marker in self._own]
        return (
            bool(ends)
            and sum(marker not in self._closers for marker in markers[: ends[0]]) == 0
            and any(marker not in self._closers for marker in markers[ends[0] :])
        )


def worse(one: Looseness, other: Looseness) -> Looseness:
    """The more certain one of what was found in two values."""
    return one if _IN_ORDER.index(one) > _IN_ORDER.index(other) else other


def _ends_with_sign(text: str) -> bool:
    """Is the last line of a value nothing but the sign that tags begin with?"""
    line = text.rstrip(" \t")
    return line.endswith("<") and line[:-1].rstrip(" \t").endswith("\n")


def _is_opened(text: str, closer: re.Match[str]) -> bool:
    """Does a tag of the same name stand before a closing one?"""
    return re.search(rf"<{re.escape(closer[0].strip('</> '))}[\s>=]", text[: closer.start()]) is not None


_BEFORE = lazy_pattern(r"[ \t\"'`(“«]\Z")
_BEHIND = lazy_pattern(r"[ \t][^\s<]|[\"'`),.;:”»]")


class MarkerRests(NamedTuple):
    """Parts of the markers beside a bare value that may stand in it.

    It may begin or end with a sign of the marker beside it (`before`, `behind`), as if that was doubled
    (`moss.txt<</parameter>`). It may hold the first letters of its closing marker right behind other text
    (`moss</param.`) or at its end: these are `begun`, each with the marker. It may begin with the end of an opening
    tag, one of the patterns `tails` (`ame="path">moss.txt`), or with the quote that closes its name (`"moss.txt`).
    """

    before: str
    behind: str
    begun: dict[str, str]
    tails: list[str]
    closes_name: bool

    @classmethod
    def of(cls, openers: Collection[str], ends: Collection[str]) -> MarkerRests:
        """Those of the markers that open and close a value."""
        before, behind = _signs_of({form[-1] for form in openers}), _signs_of({form[0] for form in ends})
        begun = {form: form[: _begun_size(form)] for form in sorted(ends) if form[0] in behind}
        tails = {re.escape(form[-3:]) for form in openers if len(form) > _SHORT_TAG}
        tails |= {r"[\"']\s?>" for form in openers if form[-2:] in ('">', "'>")}
        closes_name = any(form[-2:] == '">' for form in openers)
        return cls(before, behind, begun, sorted(tails) if ">" in before else [], closes_name)

    @property
    def edge(self) -> str:
        """The signs that a value may end with as if they were doubled. A bracket may be its own."""
        return self.behind.translate(_NO_BRACKETS)

    @property
    def signs(self) -> str:
        """One of these is in each value that holds such a part."""
        return self.before + self.behind + '"' * self.closes_name

    def pattern(self) -> str:
        """What finds these parts in a value; "" if there are none."""
        parts = [rf"\A[{re.escape(self.before)}](?=[\w/.])"] if self.before else []
        parts += [rf"[{re.escape(self.edge)}](?<=[\w\])}}\"'.,;:?!/].)\Z"] if self.edge else []
        parts += sorted({_begun_pattern(form, begun) for form, begun in self.begun.items()})
        parts += [rf"\A[^<>\n]{{0,99}}(?:{'|'.join(self.tails)})"] if self.tails else []
        parts += [r'\A"[^"]*\Z'] if self.closes_name else []
        return "|".join(parts)


def _begun_size(marker: str) -> int:
    """How many of the first characters of a closing marker are taken for it."""
    signs = len(marker) - len(marker.lstrip(_SIGNS))
    return signs if signs > _FEW else signs + 1 if marker.startswith("</") else signs + _FEW


def is_name(marker: str) -> bool:
    """Is a marker a tag with a name, so that other tags are told from it?"""
    return marker.lstrip("</")[0].isalnum()


def _begun_pattern(marker: str, first: str) -> str:
    """The pattern of the first characters of a closing marker that begin neither it nor another tag."""
    tag = r"|[\w:.-]*[^<>\n\"']{0,99}>" if is_name(marker) else ""
    begun = re.escape(first)
    found = rf"{begun}(?<=\S{begun})(?!{re.escape(marker[len(first) :])}{tag})"
    if not marker.startswith("</"):
        return found
    # a tag that has no end, at the end of the value
    return rf"{found}|</(?<=\S</)(?![\w>:])(?!{re.escape(marker[2:])})|{re.escape(marker[:3])}[\w:.-]{{0,40}}\s*\Z"


def _signs_of(chars: set[str]) -> str:
    """Those of some characters that belong to no word, and that open and quote nothing."""
    return "".join(sorted({char for char in chars if not char.isalnum() and char not in "[({\"'`_"}))


class ValueCheck:
    """Tells which bare values at one place of a grammar may hold markup, or a part of it: the parser decides on them.

    `markers` are those of the format, and some of them are `weak`. `loose` and `ending` are the data of what the parser
    searches such values with. One of the `signs` is in every value for which the answer is yes; if they are given,
    nothing else is made before a value holds one.
    """

    def __init__(
        self,
        markers: Iterable[str],
        weak: Iterable[str],
        loose: Sequence[Sequence[str]],
        ending: Sequence[Sequence[str]],
        signs: Sequence[str] | None = None,
    ) -> None:
        self._loose_data, self._ending_data, self._written = loose, ending, (markers, weak)
        self.signs = self._find_signs() if signs is None else signs

    @cached_property
    def _loose(self) -> LooseMarkup:
        return LooseMarkup(*self._loose_data)

    @cached_property
    def _ending(self) -> ValueMarkup:
        return ValueMarkup(*self._ending_data)

    @cached_property
    def _markers(self) -> MarkupSearch:
        return MarkupSearch(*self._written) if self._ending.finds else MarkupSearch(())

    def _find_signs(self) -> tuple[str, ...]:
        signs = {*self._loose.signs, *self._ending.signs, *self._markers.signs}
        return tuple(sorted({sign for sign in signs if not any(other in sign for other in signs - {sign})}))

    def __call__(self, text: str) -> bool:
        lowered = text.lower()
        for sign in self.signs:
            if sign in lowered:
                break
        else:
            return False
        return (
            bool(self._loose.find(text))
            or self._loose.holds_rest(text)
            or self._loose.begins_named(lowered)
            or self._ending.is_in(text)
            or self._markers.may_hold(text)
        )
