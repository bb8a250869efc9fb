"""Near misses: texts that are a marker with a mistake in it.

One mistake is a character that is missing, added or replaced, or two neighbours that are swapped; a doubled character
is an added one. A marker in another case, all of it or a part, has one mistake, too, if it is more than words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from heapq import heapify, heappop, heapreplace

from .lazy import lazy_pattern

#: A marker of at least this length may have two mistakes, a shorter one has one at most.
LONG_MARKER = 12
#: A marker that is shorter than this is recognised only where it is intact.
SHORT_MARKER = 4
#: A text that begins with a marker has no more white space before it and in it.
_SPREAD = 12
#: Words alone, which are no markup.
_WORDS = lazy_pattern(r"[\w\s:.\-]+")
#: No mistake adds a line break or the mark that opens a quotation, or puts one in the place of a character.
_ANY, _NEVER = r"[^\n“‘«]", "\n“‘«"
#: What may be in the place of the last character: neither white space, nor the first letter of a word, or the mark that
#: opens a quotation, behind a marker that ends with punctuation.
_LAST_LETTER, _LAST_SIGN, _LAST_QUOTE = r"\S", r"[^\w\s`“‘«]", r"[^\w\s]"


def mistakes_allowed(written: str) -> int:
    """How many mistakes a marker may have."""
    if len(written) < SHORT_MARKER:
        return 0
    return 2 if len(written) >= LONG_MARKER else 1


def _not_behind(written: str, at: int) -> str:
    """The condition of a missing character: it does not stand before the marker, if that begins with it alone."""
    first = written[: at + 1]
    return f"(?<!{re.escape(first)})" if first == written[0] * len(first) else ""


def _before_other(last: str) -> str:
    """The pattern of what follows a marker without its last character: not any character and the last one."""
    return rf"(?=\n|[^\n](?!{re.escape(last)}))"


@lru_cache(maxsize=4096)
def near_miss_pattern(written: str) -> str:
    """The pattern of the texts that are `written` with exactly one mistake, for `re` and for `regex`.

    No mistake is before the first character, or behind the last one, and the first one is not replaced by another than
    its upper or lower case. White space and letters behind the marker are not taken for its last character, which is
    missing then. Of several, the longest is found. The pattern matches nothing where `written` stands.
    """
    if len(written) < 2:
        return "(?!)"
    size, last = len(written) - 1, written[-1]
    ends = [f"{_ANY}{re.escape(last)}", f"{_last(last)}(?!{re.escape(last)})"]
    ends.append(f"{_not_behind(written, size)}{_before_other(last)}")
    pattern = f"(?:{re.escape(written[:-1])}(?:{'|'.join(ends)})|{_near_part(written, 0, size + 1)})"
    if _has_case(written):
        pattern = f"(?:{''.join(map(_any_case, written))}|{pattern})"
    # what begins within a row of one character is the rest of the marker itself
    rest = _not_behind(written, 0) if len(set(written)) == 1 else ""
    # a negative look-ahead matches partially, whatever stands before the end of the text: it comes second
    first = f"(?=[{re.escape(''.join(sorted({*written[:2], written[0].swapcase()})))}])"
    return f"{rest}{first}(?!{_ANY}?{re.escape(written)}){pattern}"


def _near_part(written: str, start: int, end: int) -> str:
    """The pattern of a part of a marker with a mistake at one of its characters but the last one.

    A half of the part has the mistake, and the other one is written once: so the pattern of n characters has about
    n log n, which matters, since a pattern takes time to compile by its length. Mistakes further on are tried first.
    """
    if end - start > 2:
        middle = (start + end) // 2
        left, right = re.escape(written[start:middle]), re.escape(written[middle + 1 : end])
        return f"(?:{left}{_near_part(written, middle, end)}|{_near_part(written, start, middle + 1)}{right})"
    char, following = written[start:end]
    after = re.escape(following)
    other = rf"{_ANY}{re.escape(char)}?" if start else re.escape(char.swapcase())  # one more, or another one
    swapped = [after + re.escape(char)] if char != following else []
    # the character is missing; at the end of the text so far, it may still come
    return f"(?:{'|'.join([other + after, *swapped, _not_behind(written, start) + after])})"


def near_misses(text: str, pos: int, written: str) -> list[tuple[int, int]]:
    """Where a text at a place may end that is `written` with as many mistakes as it may have.

    White space within it is a mistake only if the character behind it is the marker's own, and nothing that is no part
    of the marker is taken for its last characters: else a word behind it would be taken in.

    Returns ends with the number of mistakes, fewest mistakes first. `written` itself has none.
    """
    near = text[pos : pos + len(written) + mistakes_allowed(written)]
    return [(pos + length, mistakes) for length, mistakes in _near_lengths(near, written)]


def begins_near(text: str, forms: Sequence[str]) -> bool:
    """Does a text in lower case begin with one of some markers, with mistakes, or with white space in it?"""
    for form in forms:
        begun = text[: len(form) + _SPREAD].lstrip()
        if begun[:1] == form[0] and near_misses(re.sub(r"\s", "", begun), 0, form):
            return True
    return False


def _any_case(char: str) -> str:
    """The pattern of a character in any case. `regex` finds no part of a text behind flags that stand in a group."""
    cases = sorted({char, char.lower(), char.upper()})
    return f"[{''.join(cases)}]" if len(cases) > 1 else re.escape(char)


@lru_cache(maxsize=4096)
def _has_case(written: str) -> bool:
    """Is another case of a marker still this marker? Words such as `Action:` are also those of prose."""
    return written.lower() != written.upper() and not _WORDS.fullmatch(written)


@lru_cache(maxsize=16384)
def _near_lengths(text: str, written: str) -> tuple[tuple[int, int], ...]:
    """The same for a text that is no longer than `written` with its mistakes: lengths with the number of mistakes."""
    most = mistakes_allowed(written)
    size = len(written)
    if most and text[:size] != written and text[:size].lower() == written.lower() and _has_case(written):
        return ((size, 1),)
    lengths: list[tuple[int, int]] = []
    rows: list[list[int]] = [list(range(size + 1))]  # rows[j][i]: mistakes between text[:j] and written[:i]
    for j in range(1, len(text) + 1):
        rows.append(_next_row(rows, text[:j], written, most))
        if min(rows[-1]) > most:
            break
        mistakes = rows[-1][size]
        is_added = mistakes == rows[-2][size] + 1  # the last character is no part of it
        if mistakes <= most and not is_added and j > 1 and _ends_here(rows, text[:j], written):
            lengths.append((j, mistakes))
    return tuple(sorted(lengths, key=lambda item: (item[1], abs(item[0] - size))))


def _ends_here(rows: list[list[int]], text: str, written: str) -> bool:
    """Is the last character of a text part of the marker with mistakes that the text is, given their distances?

    A character that is not the marker's own is its last one only if nothing else is wrong.
    """
    row, above, size = rows[-1], rows[-2], len(written)
    mistakes, last = row[size], text[-1]
    if mistakes == 1 and re.fullmatch(_last(written[-1]), last):
        return True
    for missing in range(mistakes + 1):
        i = size - missing
        if row[i] + missing != mistakes:
            continue
        if last == written[i - 1] and above[i - 1] == row[i]:
            return True
        if text[-2:] == written[i - 1] + written[i - 2] and rows[-3][i - 2] + 1 == row[i]:
            return True
    return False


def _next_row(rows: list[list[int]], text: str, written: str, most: int) -> list[int]:
    """The next row of the table of distances, for the last character of the text.

    A character that is added before the first one is no mistake of the marker, so it is never cheap. Distances that are
    more than `most`, since the lengths differ by more, are not computed. What is behind white space that is no part of
    the marker is not cheap either, unless it is the marker's own.
    """
    above, last, size, length = rows[-1], text[-1], len(written), len(text)
    never, is_behind_space = size + 1, text[-2:-1].isspace()
    first = max(length - most, 1)
    row = [size + length] * first
    for i in range(first, min(length + most, size) + 1):
        char, before = written[i - 1], written[i - 2 : i - 1]
        added = never if last in _NEVER or (is_behind_space and not char.isspace()) else 1
        replaced = never if last in _NEVER or (is_behind_space and not before.isspace()) else 1
        cost = min(above[i] + added, row[i - 1] + 1, above[i - 1] + (replaced if last != char else 0))
        if i > 1 and len(text) > 1 and char == text[-2] and last == before and char != last:
            cost = min(cost, rows[-2][i - 2] + 1)
        row.append(cost)
    return row + [size + length] * (size + 1 - len(row))


def _last(char: str) -> str:
    """The pattern of what may stand in the place of a marker's last character."""
    return _LAST_LETTER if re.fullmatch(r"\w", char) else _LAST_QUOTE if char in "\"'" else _LAST_SIGN


def fragments(written: str) -> tuple[str, ...]:
    """Texts of which at least one stands in every near miss with one mistake, if case is ignored: the halves of a
    marker, and what is left of both if the characters at the middle are swapped."""
    middle = len(written) // 2
    left, right = written[:middle], written[middle:]
    swapped = written[max(middle - 3, 0) : middle - 1] + right[0] + left[-1:] + right[1:3]
    return left, right, swapped


def place_of_near_miss(text: str, low: str, pos: int, written: str) -> int:
    """A place from `pos` on before which there is no near miss with one mistake; -1 if there is none at all.

    `low` is the text in lower case, as long as the text.
    """
    waiting = [(at, offset, part) for offset, part in _parts(written) if (at := low.find(part, pos)) >= 0]
    heapify(waiting)
    while waiting:  # the parts in the order in which they stand, so that nothing behind the first place is looked at
        at, offset, part = waiting[0]
        if (place := _near_start(text, at, offset, pos, written)) >= 0:
            return place
        if (behind := low.find(part, at + 1)) >= 0:
            heapreplace(waiting, (behind, offset, part))
        else:
            heappop(waiting)
    return -1


def _near_start(text: str, at: int, offset: int, pos: int, written: str) -> int:
    """Where a near miss may begin from `pos` on that holds the part of the marker that stands at a place; -1 if none.

    The part stands in the marker at the offset.
    """
    if at >= offset and text.startswith(written, at - offset):
        return -1
    first = max(at - len(written) - 1, pos)
    if not mistakes_allowed(written):
        return first
    firsts = first_characters(written)
    starts = [i for i in range(first, min(at + 2, len(text))) if text[i] in firsts]
    return next((i for i in starts if near_misses(text, i, written)), -1)


def place_of_begun_near_miss(text: str, pos: int, last: int, written: str) -> int:
    """The first place from `pos` on and before `last` from which the text may be the beginning of a near miss.

    Its rest has not arrived. There is one mistake, or case is ignored. -1 if there is no such place.
    """
    firsts, is_word = first_characters(written), written[0].isalnum()
    for at in range(max(pos, len(text) - len(written) - 1), min(last, len(text))):
        is_within = is_word and at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")  # a word does not begin here
        if text[at] in firsts and not is_within and begins_near_miss(text[at:], written):
            return at
    return -1


def begins_near_miss(text: str, written: str) -> bool:
    """May a text be the beginning of a near miss, with one mistake or in another case? Its rest has not arrived."""
    if text.startswith(written) or text.startswith(written, 1):
        return False
    if written.startswith(text) or (_has_case(written) and written.lower().startswith(text.lower())):
        return True
    same = next(i for i, char in enumerate(text) if char != written[i : i + 1])  # the mistake
    rest, left = text[same:], written[same:]
    if left[1:].startswith(rest):  # a character is missing
        return True
    if (left[1::-1] + left[2:]).startswith(rest):  # two are swapped
        return True
    return (bool(same) or rest[0] == left[0].swapcase()) and (
        left.startswith(rest[1:]) or left[1:].startswith(rest[1:])
    )


@lru_cache(maxsize=4096)
def first_characters(written: str) -> frozenset[str]:
    """With what a near miss may begin."""
    return frozenset({*written[:2], *written[:2].swapcase()})


@lru_cache(maxsize=4096)
def _parts(written: str) -> tuple[tuple[int, str], ...]:
    """The `fragments` of a marker in lower case, and where they stand in it; for the last one, nowhere."""
    left, right, swapped = [part.lower() for part in fragments(written)]
    return (0, left), (len(written) // 2, right), (sys.maxsize, swapped)


def lacks_middle(part: str, word: str) -> bool:
    """Is a text a word without some of its letters in a row, or its last ones?"""
    begun = next((at for at, (char, other) in enumerate(zip(part, word, strict=False)) if char != other), len(part))
    return len(part) < len(word) and word.endswith(part[begun:])
