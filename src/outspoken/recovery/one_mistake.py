"""JSON with one mistake of a character: the sound values that one edit near the mistake makes of it.

An edit deletes a character, inserts punctuation or a quote, or swaps two neighbours. The standard decoder then reads
the value, so that nothing but the edit differs from what stands in the text.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from outspoken.json.decoder import UNSOUND, read_at, scan_once
from outspoken.json.edits import changes_number
from outspoken.notations.tools import Tools
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.codes import CODES
from outspoken.results.edits import Edit, RepairBudget, RepairedValue

from .costs import MISSING_MARKER

#: No edit costs less.
LEAST_COST = 2
#: Longer values are left to the levels of repair.
_MAX_LENGTH = 8000
#: How many brackets before the mistake may be one too many.
_MAX_BRACKETS = 40
#: How many tokens before the mistake may hold it.
_TOKENS_BEFORE = 4
_TOKEN = lazy_pattern(r'"(?:[^"\\\n]|\\.)*"?|[\w.+\-]+|\S')
#: A string at the end of a text, white space aside.
_LAST_STRING = lazy_pattern(r'"([^"\\\n]{1,200})"\s{0,20}\Z')
_KEY_END = lazy_pattern(r"\s*:")
#: The decoder's messages about a single character.
_DECIDED = (
    "Expecting ',' delimiter",
    "Expecting ':' delimiter",
    "Expecting property name",
    "Invalid control character",
)
#: What goes on with a number if digits follow.
_IN_NUMBER = frozenset(".eE")
_CLOSED = lazy_pattern(r'"(?:[^"\\]|\\.)*"')
_SPACE = " \t\n\r"
#: What may follow a string that is a part of a value.
_BEHIND = ("", ",", ":", "}", "]")
#: What an edit costs more that leaves a quote and its neighbour as they are, though they seem to be swapped.
_BESIDE_SWAP = 2
_WORD_EDGE, _BRACKET = lazy_pattern(r"\b"), lazy_pattern(r"[{}\[\]]")
_DELETED = {",": "extra-comma", ":": "extra-colon", "}": "extra-closer", "]": "extra-closer", '"': "stray-quote"}
_INSERTED = {
    ",": "missing-comma", ":": "missing-colon", "}": "missing-closer", "]": "missing-closer", "{": "missing-opener",
    "[": "missing-opener", '"': "lost-quote",
}  # fmt: skip


#: What an edit replaces, and by what.
_Edit = tuple[int, int, str]


class CallKeys(NamedTuple):
    """The keys of a call's name and of its arguments, as a format writes them."""

    name: tuple[str, ...]
    arguments: tuple[str, ...]


class OneEdit(NamedTuple):
    """A sound value that one edit makes, and what the edit costs."""

    value: RepairedValue
    cost: int


class OneMistake:
    """The value that begins at an offset, if it is sound but for one mistake.

    The most likely edits cost `LEAST_COST` at least, all others more. Values that are equal are listed once. With
    `quotes`, a quote may be missing.
    """

    def __init__(self, text: str, at: int, max_depth: int, budget: RepairBudget, *, quotes: bool) -> None:
        self._piece, self._at, self._max_depth, self._budget = text[at : at + _MAX_LENGTH], at, max_depth, budget
        self._mistake, self._is_decided = _mistake(self._piece)
        self._quotes, self._known = quotes, dict[str, int]()
        #: what stands before and behind the places that were looked at, white space aside
        self._before, self._behind = dict[int, str](), dict[int, str]()

    @cached_property
    def _tokens(self) -> list[tuple[int, int]]:
        """The tokens before the mistake, and those that begin soon behind it."""
        end = min((self._mistake or 0) + 40, len(self._piece))
        return [match.span() for match in _TOKEN.finditer(self._piece, 0, end)]

    @cached_property
    def _strings(self) -> tuple[list[int], list[int]]:
        """Where the strings before the mistake begin, and where they end, behind a 0. One that is open has no end."""
        piece, mistake = self._piece, self._mistake or 0
        found = [(start, end) for start, end in self._tokens if piece[start] == '"' and start < mistake]
        ends = [end if end < mistake or _CLOSED.fullmatch(piece, at, mistake) else sys.maxsize for at, end in found]
        return [start for start, _ in found], [0, *ends]

    def readings(self, *, likely: bool) -> list[OneEdit]:
        """The readings by the most likely edits, or by all others, the cheapest first."""
        piece, at, mistake, by_value = self._piece, self._at, self._mistake, dict[str, OneEdit]()
        if mistake is None:
            return []
        for start, end, after in dict.fromkeys(
            _edits(piece, self._tokens, mistake, only_there=likely, quotes=self._quotes)
        ):
            if (start <= mistake <= end + 1 and len(after) < 2 and after != '"') != likely:
                continue
            self._budget.steps -= 1 + len(piece) // 64
            if self._budget.steps < 0:
                break
            if not self._may_help(start, end, after, mistake):
                continue
            edited = piece[:start] + after + piece[end:]
            read = read_at(edited, 0, self._max_depth)
            if read is None or read[1] < min(mistake, start) or read[1] <= start:
                continue
            if changes_number(piece, start, end, after, _code(piece[start:end], after)):
                continue
            if '"' in (after, piece[start:end]) and not _is_at_key(edited, start, start + len(after)):
                continue  # a quote beside a value may be a part of it
            cost = _cost(piece, edited, start, end, after, mistake)
            key = json.dumps([read[0], at + read[1] + end - start - len(after)], sort_keys=True)
            if cost < self._known.get(key, sys.maxsize):
                self._known[key] = cost
                by_value[key] = OneEdit(_repaired(read, at, _edit(piece, at, start, end, after)), cost)
        return sorted(by_value.values(), key=lambda one: one.cost)

    def _may_help(self, start: int, end: int, after: str, mistake: int) -> bool:
        """May the value be sound with an edit? Most edits are refused without decoding it.

        The decoder has accepted what is before the mistake, where it may be decided that it stops, and the strings
        there.
        """
        if start > mistake:
            return not self._is_decided
        piece = self._piece
        starts, ends = self._strings
        last = ends[bisect_left(starts, start)]
        if start >= last:
            if (before := self._before.get(start)) is None:
                before = self._before[start] = piece[:start].rstrip(_SPACE)[-1:]
            if (behind := self._behind.get(end)) is None:
                behind = self._behind[end] = piece[end:].lstrip(_SPACE)[:1]
            if _never_follows(before, after.lstrip(_SPACE)[:1] or behind):
                return False
            return after not in ("{", "[", ",", ":") or not _never_follows(after, behind)
        ends_string = after == '"' and piece[start - 1] != "\\" and piece[0] != '"'
        if ends_string and piece[start:].lstrip(_SPACE)[:1] not in _BEHIND:
            return False  # before what never follows one
        is_plain = not {'"', "\\"} & {*after, *piece[max(start - 1, 0) : end]}
        return not (self._is_decided and is_plain and end < min(last, mistake))


def without_opener(text: str, at: int, bracket: str, max_depth: int) -> list[OneEdit]:
    """The value that begins at an offset if its opening bracket is missing there."""
    read = read_at(bracket + text[at : at + _MAX_LENGTH], 0, max_depth)
    edit = Edit(at, at, bracket, "missing-opener", CODES["missing-opener"].level)
    return [] if read is None else [OneEdit(_repaired(read, at, edit), LEAST_COST)]


def with_key(text: str, at: int, max_depth: int, keys: CallKeys, tools: Tools | None) -> list[OneEdit]:
    """The value that begins at an offset if it lacks the key of a call's name or of its arguments.

    The name is that of a tool, and the arguments are an object.
    """
    piece = text[at : at + _MAX_LENGTH]
    mistake, _ = _mistake(piece)
    if mistake is None:
        return []
    start = len(piece) - len(piece[mistake:].lstrip())
    words = keys.arguments
    if piece[start : start + 1] != "{":
        name = _LAST_STRING.search(piece, 0, mistake)
        if name is None or tools is None or name[1] not in tools:
            return []
        start, words = name.start(), keys.name
    before = piece[:start].rstrip()[-1:]
    missing_keys = [f'"{word}": ' for word in words] if before in ("{", ",") else []
    reads = [(read_at(piece[:start] + key + piece[start:], 0, max_depth), key) for key in missing_keys]
    edits = [(read, Edit(at + start, at + start, key, "missing-marker", "markup")) for read, key in reads if read]
    return [OneEdit(_repaired(read, at, edit), MISSING_MARKER) for read, edit in edits]


def _mistake(piece: str) -> tuple[int | None, bool]:
    """Where the decoder stops, and whether no later character matters for that; None if the value is sound."""
    try:
        scan_once(piece, 0)
    except json.JSONDecodeError as error:
        is_in_number = piece[error.pos : error.pos + 1] in _IN_NUMBER
        return error.pos, error.msg.startswith(_DECIDED) and not is_in_number
    except StopIteration as stop:
        return stop.value, False
    except UNSOUND:
        pass
    return None, False


def _never_follows(before: str, behind: str) -> bool:
    """Does JSON never have two characters next to each other, white space aside? The first is no part of a string.

    It is "" before the value.
    """
    if not behind:
        return False
    if not before:
        return behind in ",:}]"
    if before == "{":
        return behind not in '"}'
    if before in "[,:":
        return behind in ",:}" or (behind == "]" and before != "[")
    if before in '}]"':
        return behind not in ",:}]" or (behind == ":" and before != '"')
    return behind in '{["'


def _edits(
    piece: str, tokens: list[tuple[int, int]], mistake: int, *, only_there: bool, quotes: bool
) -> Iterator[_Edit]:
    """The edits near a mistake, or only right there: what each replaces, and by what."""
    number = next((n for n, (_, end) in enumerate(tokens) if end > mistake), len(tokens))
    near = tokens[max(number - _TOKENS_BEFORE, 0) : number + 3]
    edges = sorted({0, mistake, *[edge for token in near for edge in token]})
    for at in [at for at in edges if at - 1 <= mistake <= at + 2] if only_there else edges:
        if at < len(piece):
            yield at, at + 1, ""
        if at:
            yield at - 1, at, ""
        for char in "}],{[:":
            yield at, at, char
    for at in range(max(mistake - 3, 0), min(mistake + 2, len(piece))):
        yield at, at + 1, ""
        if at + 1 < len(piece) and piece[at] != piece[at + 1]:
            yield at, at + 2, piece[at + 1] + piece[at]
    if only_there:
        return
    brackets = [match.start() for match in _BRACKET.finditer(piece, 0, mistake)]
    for at in brackets[-_MAX_BRACKETS:]:
        yield at, at + 1, ""
    if quotes and near:
        for match in _WORD_EDGE.finditer(piece, near[0][0], near[-1][1]):
            yield match.start(), match.start(), '"'


def _least_cost(start: int, end: int, after: str, mistake: int) -> int:
    """What an edit costs at least: more away from the mistake, and for a swap or a quote."""
    return LEAST_COST + (not start <= mistake <= end + 1) + (len(after) > 1 or after == '"')


def _cost(piece: str, edited: str, start: int, end: int, after: str, mistake: int) -> int:
    """What an edit costs: more for what is part of a string, too."""
    is_doubled = end == start + 1 and not after and piece[start] in (piece[start - 1 : start], piece[end : end + 1])
    in_string = not after and _is_in_string(edited, start) and not is_doubled
    swapped = _BESIDE_SWAP * _is_beside_swap(piece, start, end, after)
    return _least_cost(start, end, after, mistake) + in_string + swapped


def _is_beside_swap(piece: str, start: int, end: int, after: str) -> bool:
    """Does an edit drop a letter, or supply a mark, that was swapped with a quote: `w"ait"`, `"x," 1`?"""
    if after:
        return after in (",", ":") and piece[:start].rstrip(_SPACE).endswith(f'{after}"')
    return piece[start:end].isalnum() and '"' in (piece[start - 1 : start], piece[end : end + 1])


def _is_in_string(text: str, at: int) -> bool:
    """Is a place within a string?"""
    token = next((match for match in _TOKEN.finditer(text) if match.end() > at), None)
    return token is not None and token.start() < at and token[0][0] == '"'


def _is_at_key(text: str, start: int, end: int) -> bool:
    """Is the string that touches a place a key? Also if none does."""
    for match in _TOKEN.finditer(text, 0, min(end + 200, len(text))):
        if match[0][0] == '"' and match.start() <= end and match.end() >= start:
            return _KEY_END.match(text, match.end()) is not None
    return True


def _edit(piece: str, at: int, start: int, end: int, after: str) -> Edit:
    code = _code(piece[start:end], after)
    return Edit(at + start, at + end, after, code, CODES[code].level)


def _code(before: str, after: str) -> str:
    return _INSERTED.get(after, "other-separator") if after else _DELETED.get(before, "dropped-text")


def _repaired(read: tuple[Any, int, str], at: int, edit: Edit) -> RepairedValue:
    value, end, text = read
    raw_end = at + end + (edit.end - edit.start) - len(edit.after)
    return RepairedValue(value, text, at, raw_end, (edit,))
