"""Where one of many markers may begin: a search that looks at a few characters only, before any marker is tried.

The markers of all formats begin with many characters, letters among them, which prose is full of. A guard knows more of
each: its first characters, and what must stand before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from string import ascii_lowercase

from .prefixes import Behind, beginnings, written
from .syntax import sre

#: How many characters of a marker are looked at, fewer where it is spelled in many ways, and of white space before it.
_LENGTHS, _BLANKS = (6, 3, 1), 11
#: What prose seldom has: of markers that begin with one of these, no more is looked at.
_RARE = "<[{`"
_SPACES = rf"\s{{0,{_BLANKS}}}"

#: What may follow the first character of a marker, and what must stand before that.
_More = tuple[str, Behind]
#: Does white space lead, what comes then, and what must stand before it all?
_Beginning = tuple[bool, str, Behind]
#: Finds in a text, from a place on, where a marker may begin; -1 where none may.
Begins = Callable[[str, int], int]


def guard(patterns: Iterable[str], *, partial: bool = False) -> str | None:
    """A pattern that matches wherever one of several does, and rarely elsewhere; None where one may begin anyhow.

    It looks at the first characters, behind white space where that leads, and at what a marker must stand behind. With
    `partial`, it matches what may be the beginning of a marker at the end of the text, too.
    """
    split = _split(patterns)
    if split is None:
        return None
    free, bound = split
    parts = [_choice(free, partial=partial)] if free else []
    if bound:
        parts.append(f"(?<![a-z])(?:{_choice(bound, partial=partial)})")
    return "|".join(parts)


def _split(patterns: Iterable[str]) -> tuple[list[_Beginning], list[_Beginning]] | None:
    """The beginnings that may stand within a word, which most of prose is, and the others; None where one is open."""
    free, bound = list[_Beginning](), list[_Beginning]()
    for pattern in patterns:
        for known in _beginnings(pattern):
            if known[1] in ("", " "):
                return None
            (bound if _refuses_words(known[2]) else free).append(known)
    return free, bound


def _choice(found: Iterable[_Beginning], *, partial: bool, read: bool = False) -> str:
    """A pattern for one of several beginnings; with `read`, its first character has been read."""
    firsts: dict[str, set[_More]] = {}
    blank = set[_More]()
    for led, text, behind in found:
        if led:
            blank.add((text, behind))
        else:
            firsts.setdefault(text[0], set()).add((text[1:], behind))
    alike: dict[str, str] = {}
    for char in sorted(firsts):
        more = _following(firsts[char], "", partial=partial)
        alike[more] = alike.get(more, "") + char
    ways = [(f"[{written(chars)}]", more) for more, chars in sorted(alike.items())]
    spaces: list[tuple[str, str]] = []
    if blank:
        soon = "".join(sorted({text[0] for text, _ in blank}))
        lead, end = _following(blank, _SPACES, partial=partial), r"|\Z" if partial else ""
        more = rf"(?:(?={_SPACES}(?:[{written(soon)}]{end})){lead}|\s{{{_BLANKS + 1}}})"
        spaces = [(r"\s", more)]
    if not read:
        return "|".join([char + more for char, more in ways + spaces])
    any_ = [(f"[{written(''.join(firsts))}]", _one_of(ways))] if ways else []
    return _one_of(any_ + spaces)


def _one_of(ways: list[tuple[str, str]]) -> str:
    """A pattern for what may follow a character that has been read, and may be several."""
    return "(?:" + "|".join([f"(?<={char}){more}" for char, more in ways]) + ")"


def _refuses_words(behind: Behind) -> bool:
    """Does what must stand before refuse every lower-case letter?"""
    single = [(refused, re.compile(chars)) for refused, chars in behind if sre.parse(chars).getwidth() == (1, 1)]
    return any(all(bool(known.match(char)) == refused for char in ascii_lowercase) for refused, known in single)


def beginning(patterns: Sequence[str], chars: str | None, *, partial: bool) -> Begins | None:
    """A search for where one of several patterns may begin, whose first characters are of the class `chars`.

    None where that is anywhere.
    """
    split = _split(patterns) if chars else None
    if split is None:
        return None
    free, bound = split
    within = [text for led, text, _ in free if not led and text[0] in ascii_lowercase]
    if within or not (free and bound):
        search = re.compile(f"(?={chars})(?:{guard(patterns, partial=partial)})").search
        return lambda text, pos: -1 if (found := search(text, pos)) is None else found.start()
    first = f"(?={chars})(?:{_choice(bound, partial=partial)})"
    here = re.compile(f"(?<![a-z]){first}").match
    # within a word, nothing is looked at: what stands there begins in front of it or is no small letter
    own = _choice(free, partial=partial, read=True)
    next_ = re.compile(f"[^a-z](?:{own}|(?={first})())").search

    def begins(text: str, pos: int) -> int:
        if here(text, pos) is not None:
            return pos
        found = next_(text, pos)
        if found is None:
            return -1
        return found.start() if found.lastindex is None else found.start() + 1

    return begins


def _following(found: set[_More], spaces: str, *, partial: bool) -> str:
    """What must stand behind a first character that was read, and before it."""
    free = {text for text, behind in found if not behind}
    if "" in free:
        return spaces
    parts: list[str] = []
    for behind in sorted({behind for _, behind in found}):
        texts = {text for text, other in found if other == behind} - (free if behind else set())
        if texts:
            parts.append(_before(behind) + spaces + _texts(sorted(texts), partial=partial))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _before(behind: Behind) -> str:
    """Look-behinds, past a character that was read."""
    return "".join([f"(?<{'!' if refused else '='}{chars}(?s:.))" for refused, chars in behind])


def _texts(texts: list[str], *, partial: bool) -> str:
    """A pattern for one of several texts; with `partial`, the end of the whole text may cut it off."""
    if "" in texts:
        return ""
    short = [text for text in texts if not any(text != other and text.startswith(other) for other in texts)]
    ways = [_cut(text) if partial else written(text) for text in short]
    return f"(?:{'|'.join(ways)})"


def _cut(text: str) -> str:
    return f"(?:\\Z|{written(text[0])}{_cut(text[1:])})" if text else ""


@lru_cache(maxsize=4096)
def _beginnings(pattern: str) -> frozenset[_Beginning]:
    """The beginnings of a pattern: does white space lead, and what comes then, one character where that is rare."""
    known = beginnings(pattern, _LENGTHS[0])
    for length in _LENGTHS[1:]:
        if all(text for _, text, _ in known):
            break
        known = beginnings(pattern, length)
    rare = {text for led, text, _ in known if text[:1] in _RARE and not led}
    return frozenset([(led, text[:1] if text in rare and not led else text, behind) for led, text, behind in known])
