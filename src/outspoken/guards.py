"""Where one of many markers may begin: a search that looks at a few characters only, before any marker is tried.

The markers of all formats begin with many characters, letters among them, which prose is full of. A guard knows more of
each: its first characters, and what must stand before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from .prefixes import Behind, beginnings, written

#: How many characters of a marker are looked at, fewer where it is spelled in many ways, and of white space before it.
_LENGTHS, _BLANKS = (6, 3, 1), 11
#: What prose seldom has: of markers that begin with one of these, no more is looked at.
_RARE = "<[{`"
_SPACES = rf"\s{{0,{_BLANKS}}}"

#: What may follow the first character of a marker, and what must stand before that.
_More = tuple[str, Behind]


def guard(patterns: Iterable[str], *, partial: bool = False) -> str | None:
    """A pattern that matches wherever one of several does, and rarely elsewhere; None where one may begin anyhow.

    It looks at the first characters, behind white space where that leads, and at what a marker must stand behind. With
    `partial`, it matches what may be the beginning of a marker at the end of the text, too.
    """
    firsts: dict[str, set[_More]] = {}
    blank = set[_More]()
    for pattern in patterns:
        for led, text, behind in _beginnings(pattern):
            if text in ("", " "):
                return None
            if led:
                blank.add((text, behind))
            else:
                firsts.setdefault(text[0], set()).add((text[1:], behind))
    alike: dict[str, str] = {}
    for char in sorted(firsts):
        more = _following(firsts[char], "", partial=partial)
        alike[more] = alike.get(more, "") + char
    parts = [f"[{written(chars)}]{more}" for more, chars in sorted(alike.items())]
    if blank:
        soon = "".join(sorted({text[0] for text, _ in blank}))
        led, end = _following(blank, _SPACES, partial=partial), r"|\Z" if partial else ""
        parts.append(rf"\s(?:(?={_SPACES}(?:[{written(soon)}]{end})){led}|\s{{{_BLANKS + 1}}})")
    return "|".join(parts)


def beginning(patterns: Iterable[str], chars: str | None, *, partial: bool) -> Any:
    """A search for where one of several patterns may begin, whose first characters are of the class `chars`.

    None where that is anywhere.
    """
    found = guard(patterns, partial=partial) if chars else None
    return None if found is None else re.compile(f"(?={chars})(?:{found})").search


def search(begins: Any, match: Any) -> Callable[..., Any]:
    """A search for what `match` matches, at the places that `begins` finds."""

    def find(text: str, pos: int = 0, **how: bool) -> Any:
        while (place := begins(text, pos)) is not None:
            pos = place.start()
            found = match(text, pos, **how)
            if found is not None:
                return found
            pos += 1
        return None

    return find


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
def _beginnings(pattern: str) -> frozenset[tuple[bool, str, Behind]]:
    """The beginnings of a pattern: does white space lead, and what comes then, one character where that is rare."""
    tried = [beginnings(pattern, length) for length in _LENGTHS]
    known = next((found for found in tried if all(text for _, text, _ in found)), tried[-1])
    rare = {text for led, text, _ in known if text[:1] in _RARE and not led}
    return frozenset([(led, text[:1] if text in rare and not led else text, behind) for led, text, behind in known])
