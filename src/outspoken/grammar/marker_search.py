"""Fast searches for markers in free text.

`re` finds a class of characters much faster than an expression of many alternatives. So a search looks for the
characters with which a marker may begin, and tries the markers only there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # generated functions search without automata
    from .automaton import MissingCloser
    from .tables import Terminal

    Marker = Terminal | MissingCloser

#: `search` or `match` of a compiled pattern of `re` or `regex`, called as `find(text, pos)`; those of `regex` also take
#: `partial=True`. The two modules have no common type for what is returned: a match, or None.
Find = Callable[..., Any]


#: So many places are looked at one by one; a search takes less for more, unless it finds nothing in a long text.
_FEW = 12

#: A look-behind that lets nothing stand before a marker but characters that are not in a class.
_ASKS = r"\(\?<!(\[\^(?:[^\]\\]|\\.)+\])\)"


def find_nothing(text: str, pos: int = 0, **_: bool) -> None:
    """The search for no markers at all."""


def compile_search(source: str, markers: Sequence[Marker]) -> tuple[Find, Find]:
    """What searches with `re` for `source`, the alternatives of the markers, and what matches it at a place."""
    found = searched_chars(markers)
    if found is None:
        chars = first_char_class(markers)  # a prefilter takes longer to make than it saves
        compiled = re.compile(f"(?={chars})(?:{source})" if chars else source)
        return compiled.search, compiled.match
    match = re.compile(source).match
    return search_by_chars(match, *found), match


def searched_chars(markers: Sequence[Marker]) -> tuple[str, str] | None:
    """The white space with which a marker may begin, and the characters that may follow it, if a search for them helps.

    None if they are too many, or too frequent.
    """
    leading = _leading(markers)
    if leading is None or not leading[1] or any(char.isalnum() for char in leading[1]):
        return None
    return "".join(sorted(leading[0])), "".join(sorted(leading[1]))


def search_by_chars(match: Find, spaces: str, chars: str) -> Find:
    """A search with `match` at places with one of `chars`, and from the `spaces` before them."""
    first = re.compile(f"[{re.escape(chars)}]").search

    def find(text: str, pos: int) -> Any:
        for char in chars:  # much text holds none, and one character is found faster than any of several
            if text.find(char, pos) >= 0:
                break
        else:
            return None
        while (place_match := first(text, pos)) is not None:
            start = at = place_match.start()
            while start > pos and text[start - 1] in spaces:
                start -= 1
            while start < at:
                place_match = match(text, start)
                if place_match is not None:
                    return place_match
                start += 1
            place_match = match(text, at)
            if place_match is not None:
                return place_match
            pos = at + 1
        return None

    return find


def search_before(search: Find, match: Find, signs: str) -> Find:
    """A search, with what matches at a place, for what has one of some characters in it or behind it."""

    def find(text: str, pos: int) -> Any:
        last = max([text.rfind(sign, pos) for sign in signs])
        if last - pos > _FEW:
            return search(text, pos)
        for at in range(pos, last + 1):  # each place sees the text behind the last one, too
            if (place_match := match(text, at)) is not None:
                return place_match
        return None

    return find


def compile_start_search(markers: Sequence[Marker], nearly: Sequence[str] = ()) -> Find | None:
    """A search for a place where a marker may begin, in a chunk with more to come; None if that is anywhere.

    One with a mistake of a character, which is `nearly` one of some texts, begins as that does, or with its second and
    third character. A second one alone is frequent: it is a letter. What precedes the place is looked at if markers ask
    for it: most white space in prose is not at the beginning of a line.
    """
    marks = {char for text in nearly for char in (text[0], text[0].swapcase())}
    rest = "".join([f"|{re.escape(text[0])}(?:{re.escape(text[1])}|\\Z)" for text in sorted({t[1:3] for t in nearly})])
    first = {char for marker in markers for char in marker.first}
    if not first | marks or not all(marker.first for marker in markers):
        return None if markers else find_nothing
    leading, within = _leading(markers), _leading(markers, within=True)
    if leading is None or within is None or (not leading[0] and leading == within):
        return re.compile(_one_of(first | marks) + rest).search
    bound, spaces, lead = leading[1] - within[1], _one_of(leading[0]), _one_of(within[0])
    places = f"(?<={_one_of(first - leading[0] - bound | marks)})"
    # White space is looked at where it ends: the last character of it begins the marker, or stands behind more of it.
    places += f"|(?:(?<={_one_of(first & within[0])})|(?<={lead}{lead}))(?:{_one_of(within[1] | marks)}|\\Z)"
    if leading != within:
        classes = sorted({chars for marker in markers for chars in re.findall(_ASKS, marker.regex)})
        asked = f"(?i:{'|'.join([f'(?<!{chars}(?s:.))' for chars in classes])})"
        behind = f"(?:(?<={spaces}{spaces})|(?<={spaces}){asked})"
        places += f"|(?<={_one_of(bound)}){asked}|{behind}(?:{_one_of(leading[1] | marks)}|\\Z)"
    # The expression begins with a class of characters, since those are found very fast.
    return re.compile(f"{_one_of(first | marks | leading[0] | bound)}(?:{places}){rest}").search


def first_char_class(markers: Sequence[Marker]) -> str | None:
    """The class of the characters with which a marker may begin; None if that is any, "" if there are no markers."""
    if not all(marker.first for marker in markers):
        return None
    return _one_of({char for marker in markers for char in marker.first}) if markers else ""


def _one_of(chars: Iterable[str]) -> str:
    return f"[{re.escape(''.join(sorted(chars)))}]" if chars else "(?!)"


def _leading(markers: Sequence[Marker], *, within: bool = False) -> tuple[set[str], set[str]] | None:
    """The white space with which a marker may begin, and the characters that may follow it; None if those are any.

    `within` leaves out what frequent characters begin where a marker asks what stands before them.
    """
    from outspoken.patterns.analysis import leading_chars  # generated functions search without an analysis

    spaces, chars = set[str](), set[str]()
    for marker in markers:
        regex = re.sub(_ASKS, "\0", marker.regex) if within else marker.regex
        is_known = marker.first and not any(char.isspace() or (within and char.isalnum()) for char in marker.first)
        leading = (frozenset[str](), frozenset(marker.first)) if is_known else leading_chars(regex)
        if leading is None:
            return None
        spaces |= leading[0]
        chars |= leading[1]
    return spaces, chars
