"""Prefilters: cheap searches for the places where one of many markers may begin, before any marker is tried.

The markers of all formats begin with many characters, letters among them, which are frequent in prose. A prefilter also
looks at the characters that follow and at what must precede the marker.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from string import ascii_lowercase

from .prefixes import Lookbehinds, leading_prefixes, prefix_pattern
from .prepared import PrefilterSource
from .syntax import parse

#: How many characters of a marker are looked at (fewer if it has many spellings), and of white space before it.
_LENGTHS, _MAX_SPACES = (7, 4, 3, 1), 11
#: Rare in prose: nothing else is looked at in markers that begin with one of these.
_RARE = "<[{`"
_SPACES = rf"\s{{0,{_MAX_SPACES}}}"

#: What may follow the first character of a marker, and the look-behinds before that character.
_Rest = tuple[str, Lookbehinds]
#: Whether white space leads, the prefix behind it, and the look-behinds before both.
_Prefix = tuple[bool, str, Lookbehinds]


def prefilter_pattern(patterns: Iterable[str], *, partial: bool = False) -> str | None:
    """A pattern that matches wherever one of the patterns does, and rarely elsewhere; None if one may begin anyhow.

    With `partial`, it also matches what may be the beginning of a marker at the end of the text.
    """
    split = _split(patterns)
    if split is None:
        return None
    return _join(*split, partial=partial)


def _join(anywhere: list[_Prefix], outside_words: list[_Prefix], *, partial: bool) -> str:
    parts = [_one_of(anywhere, partial=partial)] if anywhere else []
    if outside_words:
        parts.append(f"(?<![a-z])(?:{_one_of(outside_words, partial=partial)})")
    return "|".join(parts)


def prefilter_source(patterns: Iterable[str], *, partial: bool) -> PrefilterSource | None:
    """The source of a search for places where one of the patterns may begin; None if that is anywhere."""
    split = _split(patterns)
    if split is None:
        return None
    anywhere, outside_words = split
    in_words = [text for spaced, text, _ in anywhere if not spaced and text[0] in ascii_lowercase]
    if in_words or not (anywhere and outside_words):
        return PrefilterSource(_join(anywhere, outside_words, partial=partial), False)
    # No marker begins inside a lowercase word, so the search skips words: it looks at every other character, for a
    # marker that begins with it, or (the empty group) right behind it.
    free = _one_of(anywhere, partial=partial, first_is_read=True)
    firsts = {text[0] for is_spaced, text, _ in outside_words if not is_spaced}
    spaces = r"\s" if any(is_spaced for is_spaced, _, _ in outside_words) else ""
    bound = f"(?=[{prefix_pattern(''.join(sorted(firsts)))}{spaces}])(?:{_one_of(outside_words, partial=partial)})"
    return PrefilterSource(f"[^a-z](?:{free}|(?={bound})())", True)


def _split(patterns: Iterable[str]) -> tuple[list[_Prefix], list[_Prefix]] | None:
    """The prefixes that may stand inside lowercase words, and the others; None if one is unknown."""
    anywhere, outside_words = list[_Prefix](), list[_Prefix]()
    for pattern in patterns:
        for prefix in _prefixes(pattern):
            if prefix[1] in ("", " "):
                return None
            (outside_words if _excludes_lowercase(prefix[2]) else anywhere).append(prefix)
    return anywhere, outside_words


def _one_of(prefixes: Iterable[_Prefix], *, partial: bool, first_is_read: bool = False) -> str:
    """A pattern for one of several prefixes; with `first_is_read`, for what follows their first character."""
    by_first: dict[str, set[_Rest]] = {}
    spaced = set[_Rest]()
    for is_spaced, text, behind in prefixes:
        if is_spaced:
            spaced.add((text, behind))
        else:
            by_first.setdefault(text[0], set()).add((text[1:], behind))
    by_rest: dict[str, str] = {}
    for char in sorted(by_first):
        rest = _rest(by_first[char], "", partial=partial)
        by_rest[rest] = by_rest.get(rest, "") + char
    branches = [(f"[{prefix_pattern(chars)}]", rest) for rest, chars in sorted(by_rest.items())]
    spaces: list[tuple[str, str]] = []
    if spaced:
        firsts = "".join(sorted({text[0] for text, _ in spaced}))
        lead, end = _rest(spaced, _SPACES, partial=partial), r"|\Z" if partial else ""
        rest = rf"(?:(?={_SPACES}(?:[{prefix_pattern(firsts)}]{end})){lead}|\s{{{_MAX_SPACES + 1}}})"
        spaces = [(r"\s", rest)]
    if not first_is_read:
        return "|".join([char + rest for char, rest in branches + spaces])
    joined = [(f"[{prefix_pattern(''.join(sorted(by_first)))}]", _after_first(branches))] if branches else []
    return _after_first(joined + spaces)


def _after_first(branches: list[tuple[str, str]]) -> str:
    """A pattern for what follows a first character that was read already, by the class of that character."""
    return "(?:" + "|".join([f"(?<={char}){rest}" for char, rest in branches]) + ")"


def _excludes_lowercase(behind: Lookbehinds) -> bool:
    """Do the look-behinds exclude every lowercase letter?"""
    single = [(is_negative, re.compile(chars)) for is_negative, chars in behind if len(parse(chars)) == 1]
    return any(all(bool(known.match(char)) == is_negative for char in ascii_lowercase) for is_negative, known in single)


def _rest(found: set[_Rest], spaces: str, *, partial: bool) -> str:
    """A pattern for what follows a first character, with the look-behinds before that character."""
    free = {text for text, behind in found if not behind}
    if "" in free:
        return spaces
    parts: list[str] = []
    for behind in sorted({behind for _, behind in found}):
        texts = {text for text, other in found if other == behind} - (free if behind else set())
        if texts:
            parts.append(_lookbehinds(behind) + spaces + any_of(texts, partial=partial))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _lookbehinds(behind: Lookbehinds) -> str:
    """Look-behinds from one character further on."""
    return "".join([f"(?<{'!' if is_negative else '='}{chars}(?s:.))" for is_negative, chars in behind])


def any_of(texts: Collection[str], *, partial: bool = False, exact: bool = False) -> str:
    """A pattern for one of several texts; with `partial`, the end of the input may cut it off.

    Of texts that begin alike it matches the shortest, and any white space for a blank; with `exact`, the longest, and
    the blank alone.
    """
    is_optional = "" in texts
    if is_optional and not (exact and len(texts) > 1):
        return ""
    written = re.escape if exact else prefix_pattern
    by_first: dict[str, set[str]] = {}
    for text in texts:
        if text:
            by_first.setdefault(text[0], set()).add(text[1:])
    by_rest: dict[str, str] = {}
    for char, rests in sorted(by_first.items()):
        rest = any_of(rests, partial=partial, exact=exact)
        by_rest[rest] = by_rest.get(rest, "") + char
    branches = [
        (written(chars) if len(chars) == 1 else f"[{written(chars)}]") + rest for rest, chars in by_rest.items()
    ]
    if partial:
        branches.append(r"\Z")
    if is_optional:
        branches.append("")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


@lru_cache(maxsize=4096)
def _prefixes(pattern: str) -> frozenset[_Prefix]:
    """The prefixes of a pattern behind white space; of those that begin with a rare character, only that."""
    found = leading_prefixes(pattern, _LENGTHS[0])
    for length in _LENGTHS[1:]:
        if all(text for _, text, _ in found):
            break
        found = leading_prefixes(pattern, length)
    return frozenset(
        [(led, text[:1] if text[:1] in _RARE and not led else text, behind) for led, text, behind in found]
    )
