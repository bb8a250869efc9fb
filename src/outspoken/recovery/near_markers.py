"""Near misses of a format's markers in a damaged text: where each may stand, and what it costs to read it so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.near_miss import LONG_MARKER, fragments, mistakes_allowed, near_misses

from . import costs

#: A text in which more places than this look like a part of a marker is searched no further.
_MAX_PLACES = 4000

#: What ends a tag behind a name: it is so short that a near miss of it is one only where the name begins, with a quote
#: or without one.
TAG_END = '">'
_OPEN_NAME = lazy_pattern(r"(?:(?<==\")|(?<=\w=))[\w.\-]{1,60}(?P<end>>(?!\")\n?|\"(?=[\w/]))")

#: By offset and spelling: where a near miss may end, with its cost.
NearMarkers = dict[int, dict[str, tuple[tuple[int, int], ...]]]


def find_near(text: str, spellings: Collection[str]) -> NearMarkers:
    """The near misses of spellings in a text. Where one stands intact, it has none."""
    near: NearMarkers = {}
    places, low = 0, _lowered(text)
    for written in spellings:
        if written == TAG_END:
            _add_tag_ends(near, text)
            continue
        most, firsts, parts = _form(written)
        starts = _starts(low, parts, most)
        places += len(starts)
        if places > _MAX_PLACES:
            break
        longest = len(written) + most + 1
        for start in starts:
            if text[start] not in firsts or text.startswith(written, start):
                continue
            ends = _near_ends(text[start : start + longest], written)
            if ends:
                near.setdefault(start, {})[written] = tuple([(start + length, cost) for length, cost in ends])
    if not near:
        return near
    intact = [span for written in spellings if len(written) >= LONG_MARKER for span in _places(text, written)]
    return _without_tails(without_parts(near, intact, begins=True), text)


def _places(text: str, written: str) -> Iterator[tuple[int, int]]:
    """Where a marker stands intact."""
    at = text.find(written)
    while at >= 0:
        yield at, at + len(written)
        at = text.find(written, at + 1)


def _add_tag_ends(found: NearMarkers, text: str) -> None:
    """Add where the quote before the end of a tag is missing behind a name, or the end of the tag before a value."""
    for match in _OPEN_NAME.finditer(text):
        found.setdefault(match.start("end"), {})[TAG_END] = ((match.end(), costs.DAMAGED_MARKER),)


def _without_tails(found: NearMarkers, text: str) -> NearMarkers:
    """The near misses without those that hold an intact marker, or are the rest of a marker that begins before."""
    kept: NearMarkers = {}
    for start, by_spelling in found.items():
        before = [found[at] for at in (start - 1, start - 2) if at in found]
        for written, ends in by_spelling.items():
            if text.startswith(written, max(start - 1, 0)) or text.startswith(written, max(start - 2, 0)):
                continue  # none stands at its own start
            costs_before = {end: cost for others in before for end, cost in others.get(written, ())}
            left = [
                (end, cost)
                for end, cost in ends
                if costs_before.get(end, 99) > cost and text.find(written, start, end) < 0
            ]
            if left:
                kept.setdefault(start, {})[written] = tuple(left)
    return kept


def _lowered(text: str) -> str:
    """A text in lower case, of the same length."""
    low = text.lower()
    return low if len(low) == len(text) else "".join([char.lower()[:1] for char in text])


def _starts(text: str, parts: tuple[tuple[int, str], ...], most: int) -> set[int]:
    """Where a near miss may begin: round the places of its parts, of which it holds at least one intact."""
    starts: set[int] = set()
    for offset, part in parts:
        at = text.find(part)
        while at >= 0:
            starts.update(range(max(at - offset - most, 0), min(at - offset + most + 1, len(text))))
            if len(starts) > _MAX_PLACES:
                return starts
            at = text.find(part, at + 1)
    return starts


@lru_cache(maxsize=4096)
def _form(written: str) -> tuple[int, set[str], tuple[tuple[int, str], ...]]:
    """How many mistakes a spelling may have, how a near miss begins, and its parts in lower case with their offsets."""
    most, size, low = mistakes_allowed(written), len(written), written.lower()
    firsts = {c for char in written[: most + 1] for c in (char, char.swapcase())}
    if size < LONG_MARKER:
        left, right, swapped = fragments(low)
        return most, firsts, ((0, left), (size // 2, right), (max(size // 2 - 3, 0), swapped))
    third = size // 3
    return most, firsts, ((0, low[:third]), (third, low[third : 2 * third]), (2 * third, low[2 * third :]))


@lru_cache(maxsize=32768)
def _near_ends(text: str, written: str) -> tuple[tuple[int, int], ...]:
    """The lengths of the near misses at the beginning of a text, with their costs; the cheapest first."""
    most = mistakes_allowed(written)
    cost_by_end: dict[int, int] = {}
    for end, mistakes in near_misses(text, 0, written):
        cost_by_end[end] = min(cost_by_end.get(end, 99), _cost(text[:end], written, mistakes))
    broken = text.find("\n", 1)
    if broken > 0 and "\n" not in written:  # a line break within it is a mistake, too
        joined = text[:broken] + text[broken + 1 :]
        ends = [(len(written), 0)] if joined.startswith(written) else near_misses(joined, 0, written)
        for end, mistakes in ends:
            if end > broken and mistakes < most and written.endswith(joined[broken:end]):
                cost_by_end.setdefault(end + 1, costs.DAMAGED_MARKER * (mistakes + 1))
    least = min(cost_by_end.values(), default=0)
    return tuple(
        sorted([(end, cost) for end, cost in cost_by_end.items() if cost <= least + 1], key=lambda item: item[1])
    )


def _cost(text: str, written: str, mistakes: int) -> int:
    """What a near miss costs. A character that is replaced by another one is less likely than other mistakes."""
    cost = costs.DAMAGED_MARKER * mistakes
    if text.casefold() == written.casefold():
        return costs.DAMAGED_MARKER
    is_replaced = len(text) == len(written) and sorted(text) != sorted(written)
    return cost + (mistakes == 1 and is_replaced)


def without_parts(near: NearMarkers, intact: Iterable[tuple[int, int]], *, begins: bool = False) -> NearMarkers:
    """The near misses that neither begin nor end in the middle of an intact marker, given where those stand.

    Only those that begin there are left out if that is all that is asked.
    """
    middle = {at for start, end in intact for at in range(start + 1, end)}
    kept: NearMarkers = {}
    for start in near.keys() - middle:
        for written, ends in near[start].items():
            left = tuple([(end, cost) for end, cost in ends if begins or end not in middle])
            if left:
                kept.setdefault(start, {})[written] = left
    return kept
