"""Values that have taken in the next argument, or a part of their closing marker, since a marker has a mistake.

Markers that are long enough not to occur by chance are found in values by themselves; see `grammar/value_markup.py`.
What is shorter says something only beside the name of an argument that the call lacks, or where a marker is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.value_markup import survey
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import is_distinct_marker
from outspoken.patterns.near_miss import SHORT_MARKER, near_misses
from outspoken.results.edits import Edit

from .value_edges import has_odd_end, has_odd_start

#: This many characters that are no letters may stand between the name of an argument and what ends it.
_NEAR = 6
#: A line break, and at most two more characters, before a name.
_LINE_START = lazy_pattern(r"\n[^\w\n]{0,2}\Z")
_PUNCTUATION_BEFORE = lazy_pattern(r"[^\w\n]{1,3}\Z")
#: Signs that values often begin with, so that they are no part of a marker.
_VALUE_SIGNS = frozenset("\"'`()[]{}/.-#@$,;")
#: One or more numbers, maybe in brackets.
_NUMBERS = r"[ ]?[\[(<]*-?\d[\d\s,.\-]*[\])>]*"
#: What is left of a marker has at most so many characters more than the marker.
_REST = 3
#: A tag that is closed is opened in so many characters before.
_FAR = 400
_TAG = lazy_pattern(r"<[^\s<>]*>\Z|</?\w[^<>]*>\Z")
_LAST_TAGS = lazy_pattern(r"<[^\s<>]+>(?=.{0,3}\Z)", re.DOTALL)
_CLOSING_TAG = lazy_pattern(r"</(\w+)>\Z")
#: The end of a value of JSON, and what stands between a key and its value.
_REST_OF_JSON = lazy_pattern(r"([\"'])\s{0,9}[}\]]{1,9}\s*\Z")
_LAST_CLOSING_TAG = lazy_pattern(r"</([\w:]{1,40})>?\s*\Z")
_BEHIND_KEY = lazy_pattern(r"\s{0,9}[\"']\s{0,3}:\s{0,3}[\"'{\[\d]")
#: What is left of an opener of one sign or word between blanks that lost it.
_GAP_BEFORE = lazy_pattern(r"[^\s][ \t]{2,3}\Z")


class ArgumentMarks(NamedTuple):
    """The markers before the names of arguments, the characters of those behind them, and those that open quotes."""

    openers: tuple[str, ...] = ()
    behind: frozenset[str] = frozenset()
    quoted: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def argument_marks(automaton: Automaton) -> ArgumentMarks:
    """What stands round the names of arguments with bare values; nothing if the format has none."""
    found = survey(automaton)
    behind = {char for form in found.behind_arguments for char in form}
    has_bare = any(terminal.short == "ARG_VALUE" for terminal in automaton.tables.terminals.values())
    marks = frozenset([char for char in behind if not char.isalnum() and not char.isspace()])
    quoted = tuple([form for form in found.behind_arguments if form[-1:] in ("'", '"')])
    return ArgumentMarks(found.argument_openers, marks, quoted) if has_bare and marks else ArgumentMarks()


def takes_in_argument(
    marks: ArgumentMarks, names: Iterable[str], arguments: Mapping[str, Any], *, on_lines: bool
) -> str:
    """The argument whose value holds one of these names as the beginning of another argument, mistakes aside; or "".

    If arguments stand `on_lines` without closing markers, the marker before the name may be missing, too.
    """
    for key, value in arguments.items():
        if value.__class__ is str and any(
            True for name in names for _ in _places(marks, name, value, on_lines=on_lines)
        ):
            return key
    return ""


def _places(marks: ArgumentMarks, name: str, text: str, *, on_lines: bool) -> Iterator[int]:
    if marks.behind and name in text and (last := re.search(_last_number(marks, name), text)) is not None:
        yield last.start()
    if marks.quoted and name in text and (quoted := re.search(_quoted(marks, name), text)) is not None:
        yield quoted.start()
    for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)([^\w\n]{{0,{_NEAR}}})", text):
        at, signs = match.start(), {*match[1]} - {" ", "\t"}
        is_named, is_line = not marks.behind.isdisjoint(signs), on_lines and text[at - 1 : at] == "\n"
        lacks_opener = is_line and signs <= marks.behind and len(match[1].strip()) > 1
        is_open = is_named or match[1][:2].isspace()
        if lacks_opener or (
            is_open and any(_is_before(opener, text, at, is_named=is_named) for opener in marks.openers)
        ):
            yield at


@lru_cache(maxsize=512)
def _last_number(marks: ArgumentMarks, name: str) -> str:
    """The pattern of an argument that is a number, at the end of a text, if a marker before or behind it is lost."""
    signs = re.escape("".join(sorted(marks.behind)))
    openers = "|".join([re.escape(opener) for opener in marks.openers if opener]) or "(?!)"
    return rf"(?:(?<=\w){re.escape(name)}[ ]?[{signs}]|(?:{openers})\s?{re.escape(name)}){_NUMBERS}\Z"


@lru_cache(maxsize=512)
def _quoted(marks: ArgumentMarks, name: str) -> str:
    """The pattern of an argument with a quoted value, or of its name behind the quotation mark that ends a value."""
    behind = "|".join(map(re.escape, marks.quoted))
    ends = re.escape("".join(sorted({form[-1] for form in marks.quoted})))
    return rf"\s{re.escape(name)}(?:{behind})|[{ends}]\s{{1,3}}{re.escape(name)}(?![^\W\d])"


def _is_before(opener: str, text: str, at: int, *, is_named: bool) -> bool:
    """Does a marker stand before a name, maybe with a mistake?

    If the marker behind the name is missing, the name is not `is_named`, and what is left of a short marker or a line
    break is not enough. A word has half of the letters of the marker, or all of them if the name is not named.
    """
    is_word = opener.isalpha()
    if not opener:
        return is_named and _LINE_START.search(text, max(at - 3, 0), at) is not None
    if (
        is_named
        and len(opener) > 1
        and not is_word
        and _is_nearly(opener.lower(), text[max(at - _NEAR, 0) : at].lower())
    ):
        return True
    if is_distinct_marker(opener):
        first = max(at - len(opener) - 2, 0)
        near = text[first:at]  # not all of a long value, which may hold the name many times
        starts = range(max(at - len(opener) + 3, 0) - first)
        return any(end == len(near) for start in starts for end, _ in near_misses(near, start, opener))
    if is_named and (is_word or len(opener) == 1) and _GAP_BEFORE.search(text, max(at - 4, 0), at) is not None:
        return True
    if is_word:
        word = "".join(filter(str.isalpha, (text[max(at - len(opener) - 6, 0) : at].split() or [""])[-1]))
        return word == opener or (is_named and 2 * len({*word.lower()} & {*opener.lower()}) >= len(opener))
    sign_match = _PUNCTUATION_BEFORE.search(text, max(at - 3, 0), at)
    return sign_match is not None and not set(sign_match[0]).isdisjoint(opener)


def _is_nearly(opener: str, text: str) -> bool:
    """Does a text end with the characters of a short marker, of which one may be missing and others between them?"""
    kept = "".join([char for char in text if char in opener])
    return any(kept.endswith(opener[:at] + opener[at + 1 :]) for at in range(len(opener)))


class BareValues(NamedTuple):
    """The bare values of a repaired call that ends at `end`, and what stands round them.

    `text` gives the response between two offsets; `openers` and `closers` are the markers before and behind values.
    """

    edits: Collection[Edit]
    text: Callable[[int, int], str]
    end: int
    openers: Collection[str]
    closers: Collection[str]
    values: Collection[str]

    def hold_part_of_marker(self) -> bool:
        """Is what stands beside a missing or damaged marker a part of it? Then a value begins or ends in markup.

        What another edit read as markup or dropped is in no value. In place of the marker, that of
        another format may stand.
        """
        if any(edit.code == "missing-marker" for edit in self.edits) and any(map(_holds_other_end, self.values)):
            return True
        return any(self._is_beside(edit, edit.after.strip()) for edit in self.edits if edit.after.strip())

    def _is_beside(self, edit: Edit, marker: str) -> bool:
        text, is_missing = self.text, edit.start == edit.end
        if edit.code == "damaged-marker" and len(marker) >= SHORT_MARKER and self._takes_sign(edit, marker):
            return True
        if edit.code not in ("missing-marker", "damaged-marker"):
            return False
        if len(marker) == 1:
            behind = text(edit.end, self.end)[:3].strip()[:2]
            return is_missing and marker not in _VALUE_SIGNS and marker in behind
        is_short, size = is_missing and len(marker) < SHORT_MARKER, len(marker) + _REST
        before, behind = text(max(edit.start - _FAR, 0), edit.start), text(edit.end, self.end)[:size]
        stop = edit.start - len(before) + len(before.rstrip())
        behind = behind[: min([at for closer in self.closers if (at := behind.find(closer)) >= 0], default=size)]
        ends = (is_short or marker in self.closers) and _ends_in_part(
            _behind_opener(before.rstrip(), self.openers), marker
        )
        if ends and not any(other.start < stop <= other.end for other in self.edits):
            return True
        begins = is_missing and (is_short or marker in self.openers) and _begins_with_part(behind, marker)
        return begins and not any(other.start <= edit.end < other.end for other in self.edits)

    def _takes_sign(self, edit: Edit, marker: str) -> bool:
        """Does a value begin or end with a sign that may stand for one of the damaged marker beside it?"""
        written, before = self.text(*edit[:2]).strip(), self.text(max(edit.start - _FAR, 0), edit.start)
        if marker in self.closers:
            ends = written[:1] != marker[0] and any(value[-1:] == before[-1:] for value in self.values)
            return ends and has_odd_end(before)
        behind = self.text(edit.end, self.end)
        return any(value[:1] == behind[:1] for value in self.values) and _is_cut_short(marker, written, behind)


def _holds_other_end(value: str) -> bool:
    """Does a value end as in JSON, with a bracket behind a quotation mark without another one, or with a closing tag?

    Or does it begin with the colon behind a key.
    """
    if _BEHIND_KEY.match(value):
        return True
    end = _REST_OF_JSON.search(value)
    if end is not None:
        return value.count(end[1]) % 2 == 1
    tag = _LAST_CLOSING_TAG.search(value)
    return tag is not None and f"<{tag[1]}" not in value


def _behind_opener(text: str, openers: Collection[str]) -> str:
    """The text behind the last one of the markers that occur in no value by chance."""
    found = [(text.rfind(opener), len(opener)) for opener in openers if len(opener) >= SHORT_MARKER]
    return text[max([at + length for at, length in found if at >= 0], default=0) :]


def _is_cut_short(marker: str, written: str, behind: str) -> bool:
    """Does a marker lack its last sign, and a sign that begins no value or more of the marker follow?"""
    if marker[-1].isalnum() or written[-1:] == marker[-1]:
        return False
    if behind.startswith("...") or (behind[1:2].strip() and marker.startswith(written + behind[:2])):
        return True
    first, line = behind[:1], behind[: len(marker)].partition("\n")[0]
    if has_odd_start(line) or marker[-2:] in line:
        return True
    return behind[1:2].isspace() and not (first.isalnum() or first.isspace())


def _ends_in_part(text: str, marker: str) -> bool:
    """Does a text end in what is left of a marker?

    That is any sign of a short one. Of a longer one, it is the first sign, the last three, or the first two with others
    behind them that are no words or end as the marker does. A whole tag that closes what the text opens is none.
    """
    last = text[-1:]
    if len(marker) < SHORT_MARKER:
        return bool(last) and last in marker
    tag, closing = _TAG.search(text), _CLOSING_TAG.search(text)
    if closing is not None and re.search(rf"<{closing[1]}[\s>]", text):
        return False
    tags = _LAST_TAGS.findall(text, max(len(text) - len(marker) - _REST, 0))
    if any(len(whole_tag) >= SHORT_MARKER and set(whole_tag).issubset(marker) for whole_tag in tags):
        return True
    if tag is None and not marker[-1].isalnum() and text.endswith(marker[-3:]):
        return True
    at = text.rfind(marker[:2], max(len(text) - len(marker) - _REST, 0))
    if at < 0 or marker[1].isalnum() or "\n" in text[at:]:
        return last == marker[0] and last not in _VALUE_SIGNS and not last.isalnum()
    rest = text[at:]
    return last == marker[-1] or not any(map(str.isalnum, rest[_alike(rest, marker) :]))


def _begins_with_part(text: str, marker: str) -> bool:
    """Does a text begin with what is left of a marker?

    That is the first sign of a short one, or its last one behind others; of a longer one, several signs, or two and the
    last one, or the end of it in the first line of the text.
    """
    if len(marker) < SHORT_MARKER:
        return text[:1] == marker[0] or (marker[-1] not in _VALUE_SIGNS and marker[-1] in text[:_REST])
    text = text.lstrip().partition("\n")[0]
    if text.startswith(marker[:2]) and not marker[:2].isalnum():
        return _alike(text, marker) >= min(SHORT_MARKER, len(text)) or marker[-1] in text[2:]
    return not marker[-2:].isalnum() and marker[-2:] in text


def _alike(text: str, marker: str) -> int:
    """So many characters at the beginning of two texts are the same ones."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, marker, strict=False)))


def is_behind_odd(edits: Collection[Edit], at: int) -> bool:
    """Does a value begin at an offset right behind a marker that is not written as the grammar expects it?"""
    return any(edit.code == "odd-marker" and edit.end == at for edit in edits)
