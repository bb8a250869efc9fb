"""The edits of a walk over damaged JSON: what they make of the text, the record of each, and that none changes a value.

The digits that a model wrote are the digits that a call gets, and nothing is computed. A repair may add signs round a
number (quotes, brackets, commas), or take off signs that carry nothing. What is no number as written (`12,5`, `1/2`,
`010`, `NaN`) is not made one: at most it becomes a text. `"a" + "b"` is no string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.codes import CODES
from outspoken.results.edits import Edit, RepairedValue

from .brackets import WalkState
from .parts import paths_of
from .tokens import Change, string_changes


def without_insertion_behind(repaired: RepairedValue, text: str) -> RepairedValue:
    """The value with text inserted at its end as a part of its last character, since another value begins there."""
    edits = list(repaired.edits)
    after = ""
    last_edit = Edit(0, 0, "", "", "")
    while edits and edits[-1].start == repaired.end:
        last_edit = edits.pop()
        after = last_edit.after + after
    if not after:
        return repaired
    if edits and edits[-1].end == repaired.end:
        edits[-1] = last_edit._replace(start=edits[-1].start, end=repaired.end, after=edits[-1].after + after)
    else:
        last = repaired.end - 1
        edits.append(last_edit._replace(start=last, end=repaired.end, after=text[last : repaired.end] + after))
    return repaired._replace(edits=tuple(edits))


#: the codes of strings in a walk, and those of the quotes inside
_INNER_QUOTES = {"string": "bare-quote", "guess": "heuristic"}


def changes_of(text: str, s: WalkState, bodies: dict[Change, list[Change]]) -> list[Change]:
    """The edits of a walk up to its end, in order. `bodies` keeps those of the bodies of strings, which walks share."""
    changes: list[Change] = []
    entry = s.edits
    while entry is not None:
        entry, start, end, after, code = entry
        if code in _INNER_QUOTES:
            if (body := bodies.get(change := (start, end, after, code))) is None:
                body = bodies[change] = string_changes(text, start, end, after, _INNER_QUOTES[code])[::-1]
            changes += body
        else:
            changes.append((start, end, after, code))
    changes.reverse()
    changes.sort(key=lambda change: change[:2])
    return [change for change in changes if change[1] <= s.pos]


def applied(text: str, start: int, end: int, changes: list[Change]) -> str | None:
    """text[start:end] with the changes applied; None if two of them overlap."""
    parts: list[str] = []
    pos = start
    for first, last, after, _ in changes:
        if first < pos:
            return None
        parts += (text[pos:first], after)
        pos = last
    parts.append(text[pos:end])
    return "".join(parts)


def edits_of(offset: int, changes: list[Change]) -> tuple[Edit, ...]:
    """The changes as edits, each with its level; `offset` is added to their places."""
    levels = {code: CODES[code].level for code in {change[3] for change in changes}}
    return tuple(
        [Edit(offset + first, offset + last, after, code, levels[code]) for first, last, after, code in changes]
    )


def with_paths(repaired: RepairedValue) -> RepairedValue:
    """The value, and with each of its edits the path of the part that it is in."""
    paths = paths_of_edits(repaired.edits, repaired.start, repaired.text) if repaired.edits else ()
    edits = [Edit(*edit[:5], path) for edit, path in zip(repaired.edits, paths, strict=True)]
    return repaired._replace(edits=tuple(edits))


def paths_of_edits(edits: Iterable[Edit], start: int, text: str) -> list[tuple[str | int, ...]]:
    """The paths of the parts that edits are in; `text` is the JSON of a value from `start` on, with the edits in it."""
    places: list[int] = []
    for edit in edits:
        places.append(edit.start - start)
        start += edit.end - edit.start - len(edit.after)
    return paths_of(text, places)


#: Signs of markup and of JSON, which are not dropped.
SIGNIFICANT = frozenset("{}[]()=<>\"'")
_CLOSERS = lazy_pattern(r"[}\]]")


def is_trustworthy(repaired: RepairedValue, text: str) -> bool:
    """May a repaired value be used? Not if the repair left out a part of it, or if the value was cut."""
    if sum(edit.code == "lost-quote" for edit in repaired.edits) > 1:
        return False
    for edit in repaired.edits:
        before = text[edit.start : edit.end]
        if edit.code == "missing-value":
            return False
        if edit.code == "dropped-text" and not (SIGNIFICANT | {":"}).isdisjoint(before):
            return False
        if edit.code == "lost-quote" and not _CLOSERS.search(text, edit.end, repaired.end):
            return False
        if edit.code == "bare-value" and any(word.startswith(before) for word in ("true", "false", "null")):
            return False
    return True


# -- what changes a value

#: The repairs that may touch a number; the others change strings, white space or what the text cuts off.
_TOUCHING = frozenset(
    {
        "extra-comma", "extra-colon", "extra-closer", "other-separator", "wrong-closer", "stray-quote", "missing-colon",
        "dropped-text",
    }
)  # fmt: skip
#: What a number may be made of, also where it is written as people write it.
_WRITTEN = lazy_pattern(r"[-+]?[\d.][\d.,_/%eE+\-]*")
_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def changes_number(text: str, start: int, end: int, after: str, code: str) -> bool:
    """Does a repair of a kind, which replaces text[start:end], change, join or drop digits, or compute a string?"""
    before = text[start:end]
    if code == "heuristic":
        if _JOINED.search(before) is not None:
            return True
        written = {written_number.rstrip(",.") for written_number in _WRITTEN.findall(before)}
        return any(number not in written for number in _WRITTEN.findall(_STRING.sub('""', after)))
    if code not in _TOUCHING:
        return False
    if any(char.isdigit() for char in before):
        return True
    beside = text[max(start - 1, 0) : start] + text[end : end + 1]
    return not after and len(beside) == 2 and all(char.isdigit() or char == "." for char in beside)


def changes_any_number(text: str, changes: Sequence[Change]) -> bool:
    """Does one of some repairs?"""
    return any(
        changes_number(text, *change)
        for change in changes
        if change[3] in _TOUCHING or (change[3] == "heuristic" and change[2] != '\\"')
    )


#: What joins a string with another one, or with a name, in a program.
_JOINED = lazy_pattern(r"""["']\s*[+&]\s*["']""")
_OPERATOR = lazy_pattern(r"\s*[+&]\s*")
_OPERATION = lazy_pattern(r"\s*[+&]\s*[\w.()\[\]]+")


def computes_string(text: str, changes: Sequence[Change]) -> bool:
    """Do repairs make one string of what is to be joined, and of the signs between?"""
    quotes = [(start, code) for start, _, _, code in changes if code in ("bare-quote", "lost-quote", "heuristic")]
    for (first, code), (second, other) in zip(quotes[::2], quotes[1::2], strict=False):
        regex = _OPERATION if other == "lost-quote" else _OPERATOR
        if code != "lost-quote" and regex.fullmatch(text, first + 1, second) is not None:
            return True
    return False
