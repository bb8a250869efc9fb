"""Finds the JSON values of a text: bare, in fences, in prose, behind reasoning; and what a reading of them holds."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from functools import cached_property
from itertools import islice
from typing import Any

from pydantic import Field

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.codes import CODES
from outspoken.results.construct import FrozenModel
from outspoken.results.diagnostics import Diagnostic, PendingDiagnostic, Repair, Severity
from outspoken.results.edits import LEVELS, Edit, RepairBudget, RepairedValue, RepairLimit
from outspoken.results.replies import Status
from outspoken.results.schemas.schema import Schema
from outspoken.results.settings import Settings

from .decoder import read_at
from .edits import with_paths, without_insertion_behind
from .repair import RegionReader, RepairContext
from .tokens import ODD_SPACE

Span = tuple[int, int]


def note_of(
    code: str, span: Span, severity: Severity = "warning", *, notes: tuple[str, ...] = (), **values: object
) -> PendingDiagnostic:
    """A diagnostic with the message of its code."""
    return PendingDiagnostic(code, CODES[code].message.format(**values), span, severity, None, notes=notes)


_BEGINS = lazy_pattern(
    rf"[\s{ODD_SPACE}]*(?://[^\n]*\n\s*|/\*.*?\*/\s*)*(?:[{{\[｛［【]|\"(?:[^\"\\\n]|\\.){{0,80}}\"\s*:)", re.DOTALL
)
_PAGE = lazy_pattern(r"\s*<(?:!doctype|html|\?xml)\b", re.IGNORECASE)
#: a fence, whose line holds no JSON, or a bracket
_NEXT = lazy_pattern(r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n`{\[｛［【]*(?:\n|\Z)|[{\[｛［【]", re.MULTILINE)
_CLOSING = lazy_pattern(r"^[ \t]*(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
#: a bracket in prose that may begin JSON
DATA = lazy_pattern(
    r"""[{｛]\s*(?:["'“‘`＂「『{,}｝]|//|/\*|\#|(?:[^\W0-9]|\$)[\w$.\-]*\s*[:：]|\Z)"""
    r"""|[\[［【]\s*(?:["'“‘`＂「『{｛\[［【(\]\-.0-9０-９]|//|/\*|(?:true|false|null|True|False|None)\b|\Z)"""
)
#: a bracket that begins damaged JSON rather than prose
_KEYED = lazy_pattern(r"""[{｛\[［【\s]+["'“‘]?[^\n"'“‘’”{}\[\]:]{1,64}["'”’]?\s*[:：]""")
_EXTENT = lazy_pattern(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]｛｝［］【】]', re.DOTALL)
_STEPS = dict.fromkeys("{[｛［【", 1) | dict.fromkeys("}]｝］】", -1)
#: the steps that each attempt at damaged JSON costs at least
_ATTEMPT = 60
#: what an edit of each level says against an end of a fence
_LEVEL_COSTS = {"notation": 1, "structure": 3, "strings": 5, "heuristic": 20}
_OPENERS = frozenset("{[")
#: JSON of which the quotes are escaped, and an escape
_ESCAPED = lazy_pattern(r"[{\[](?:[\s{\[]|\\[nrt])*\\\"")
_ESCAPE = lazy_pattern(r"(?:\\u[0-9a-fA-F]{4})+|\\.", re.DOTALL)
#: what stands in code before a value that a variable gets
_ASSIGNED = lazy_pattern(
    r"\s*(?:(?:const|let|var|final|auto)\s{1,9})?[A-Za-z_$][\w$]{0,63}(?:\s?:[\w<>\[\], ]{1,64})?"
    r"\s{0,9}=\s{0,9}(?=[{\[])"
)
#: so much of the text behind a sound value tells whether it ends there
_REST = 2000
_TAGS = ("think", "thinking", "thought", "reasoning")
#: what opens the reasoning that a response begins with
REASONING_OPENERS = (*[f"<{tag}>" for tag in _TAGS], "[think]")
_REASONING = lazy_pattern(rf"\s*(?:<({'|'.join(_TAGS)})>.*?</\1>|\[think\].*?\[/think\])", re.DOTALL | re.IGNORECASE)
#: what ends it, or such that the prompt began
REASONING_END = lazy_pattern(rf"</(?:{'|'.join(_TAGS)})>|\[/think\]", re.IGNORECASE)


class JsonReading(FrozenModel):
    """The JSON values of a text.

    `status` is "ok" if the text holds the values as they are, "repaired" if repairs were needed, "truncated" if the
    text ends inside a value, and "invalid" if there is no value. `spans` are the offsets (start, end) of the values in
    `raw`, `texts` their JSON: the text of the span with the repairs applied. `level` is the highest level of repair
    that was needed: "exact", "notation", "structure", "strings" or "heuristic". `repairs` lists every change.
    `diagnostics` describes the repairs and other findings, such as text around the values, which does not change the
    status. `ambiguous` says that another reading of a value is as likely.
    """

    raw: str = Field(repr=False)
    values: tuple[Any, ...] = ()
    status: Status
    level: str | None = None
    repairs: tuple[Repair, ...] = ()
    spans: tuple[Span, ...] = Field(default=(), repr=False)
    texts: tuple[str, ...] = Field(default=(), repr=False)
    diagnostics: tuple[Diagnostic, ...] = ()
    ambiguous: bool = False

    @property
    def value(self) -> Any:
        """The first value; None if there is none. `status` tells that from a `null`."""
        return self.values[0] if self.values else None


class Document:
    """Finds the values of one text."""

    def __init__(self, text: str, repair_limit: RepairLimit, schema: Schema | None, settings: Settings) -> None:
        self.text, self.max_depth, self.budget = text, settings.max_depth, RepairBudget.of(len(text))
        self._context = RepairContext(repair_limit, schema, settings, self.budget)
        #: the furthest place where reading failed, and what was expected there
        self.failed: tuple[int, str] | None = None
        self.too_deep = False
        #: is there damaged JSON that could not be read?
        self.broken = False
        #: what else is to be said of the text
        self.notes: list[PendingDiagnostic] = []

    def said_values(self) -> list[RepairedValue]:
        """The values behind reasoning; those in it if there are no others, which is reported."""
        reasoning = _REASONING.match(self.text)
        if reasoning is not None and (values := self.values(reasoning.end())):
            return values
        values = self.values()
        if reasoning is not None:
            self.notes += [note_of("in-reasoning", (value.start, value.end)) for value in values]
        closer = REASONING_END.search(self.text) if reasoning is None and len(values) > 1 else None
        if closer is None or any(value.start < closer.start() < value.end for value in values):
            return values
        return [value for value in values if value.start >= closer.end()] or values

    def values(self, start: int = 0) -> list[RepairedValue]:
        """All values from a place of the text on, in order."""
        stripped = self.text[start:].lstrip(" \t\r\n")
        if stripped[:1] not in "{[" and (sound := self._sound(stripped)):
            return [sound]
        if stripped[:1] in _OPENERS and _ESCAPED.match(stripped) and (escaped := self._escaped(stripped.rstrip())):
            return [escaped]
        begins = _BEGINS.match(self.text, start) or (stripped[:1] == "(" and self._context.is_list)
        if begins and (values_read := self._region(start, len(self.text), closed=False, whole=True)):
            return values_read
        if _PAGE.match(self.text, start):
            return []
        strong, weak = list[RepairedValue](), list[RepairedValue]()
        pos = start
        while match := _NEXT.search(self.text, pos):
            if self.budget.steps <= 0:
                self.notes.append(note_of("too-damaged", (match.start(), len(self.text))))
                break
            if match["fence"]:
                values, pos = self._fence(match)
                strong += values
                continue
            repaired = self._in_prose(match.start())
            if repaired is None:
                pos = self._behind(match)
                continue
            pos = max(repaired.end, match.end())
            (strong if is_evidently_json(repaired.text) else weak).append(repaired)
        return strong or [repaired for repaired in weak if "," in repaired.text]

    def _sound(self, stripped: str) -> RepairedValue | None:
        """The text as one sound string, number or literal."""
        start = len(self.text) - len(stripped)
        reader = self._reader(start, len(self.text), closed=False, prose=False)
        return reader.sound_value(0)

    def _escaped(self, stripped: str) -> RepairedValue | None:
        """The text as JSON of which all quotes are escaped, as in a string that has lost its own."""
        escapes = list(_ESCAPE.finditer(stripped))
        if self._context.repair_limit == "none" or '"' in _ESCAPE.sub("", stripped):
            return None
        try:
            plain = _ESCAPE.sub(lambda escape: json.loads(f'"{escape[0]}"'), stripped)
            plain.encode()
        except ValueError:
            return None
        sound = read_at(plain, 0, self.max_depth)
        if sound is None or sound[1] < len(plain):
            return None
        start = self.text.rindex(stripped)
        spans = [(start + match.start(), start + match.end(), json.loads(f'"{match[0]}"')) for match in escapes]
        edits = tuple([Edit(begin, end, after, "loose-escape", "notation") for begin, end, after in spans])
        return RepairedValue(sound[0], plain, start, start + len(stripped), edits)

    def _reader(self, start: int, end: int, *, closed: bool, prose: bool) -> RegionReader:
        return RegionReader(self.text, start, end, closed, self._context, prose=prose)

    def _region(self, start: int, end: int, *, closed: bool, whole: bool = False) -> list[RepairedValue]:
        """The values of a region; with `whole`, only if no text of it has to be dropped."""
        reader = self._reader(start, end, closed=closed, prose=False)
        cost = _ATTEMPT + (end - start) // 20
        self.budget.steps -= cost
        values = reader.values()
        if values and not any(repaired.edits for repaired in values):
            self.budget.steps += cost  # what is sound is read once
        self._note_failure(reader, start)
        if whole and any(edit.code == "dropped-text" for repaired in values for edit in repaired.edits):
            return []
        return [with_paths(repaired) for repaired in values]

    def _in_prose(self, start: int) -> RepairedValue | None:
        """The value that begins at a bracket in prose."""
        if not DATA.match(self.text, start):
            return None
        sound = read_at(self.text, start, self.max_depth)
        if sound is not None:
            reader = self._reader(start, min(sound[1] + _REST, len(self.text)), closed=False, prose=True)
            repaired = reader.sound_value(0)
            if repaired is not None:
                return without_insertion_behind(reader.with_surplus(repaired), self.text)
        reader = self._reader(start, len(self.text), closed=False, prose=True)
        repaired = reader.value(0)
        self._note_failure(reader, start)
        failed = reader.failed[0] if reader.failed else 0
        self.budget.steps -= _ATTEMPT + failed // 8
        return with_paths(without_insertion_behind(reader.with_surplus(repaired), self.text)) if repaired else None

    def _note_failure(self, reader: RegionReader, start: int) -> None:
        if reader.failed is not None and (self.failed is None or start + reader.failed[0] > self.failed[0]):
            self.failed = start + reader.failed[0], reader.failed[1]
        self.too_deep = self.too_deep or reader.too_deep

    def _behind(self, match: re.Match[str]) -> int:
        """Where to go on behind a bracket that begins no value. What is inside damaged JSON is skipped."""
        start, depth = match.start(), 0
        if not DATA.match(self.text, start):
            return match.end()
        keyed = _KEYED.match(self.text, start) is not None
        self.broken = self.broken or keyed
        for token in _EXTENT.finditer(self.text, start):
            self.budget.steps -= 1
            depth += _STEPS.get(token[0], 0)
            if not depth:
                return token.end()
            if self.budget.steps <= 0:
                break
        return len(self.text) if self.too_deep or keyed else match.end()

    @cached_property
    def _fence_ends(self) -> list[tuple[int, str, Span]]:
        """The lines that may end a fence: the start, mark and span of each."""
        return [(m.start(), m[1], m.span()) for m in _CLOSING.finditer(self.text)]

    def _fence(self, match: re.Match[str]) -> tuple[list[RepairedValue], int]:
        """The values of a fence, and where the text goes on behind it.

        A string of the JSON may hold the mark of a fence, so the next two ends and the last one are tried.
        """
        start = match.end()
        first = bisect_left(self._fence_ends, (start,))
        same = (span for _, mark, span in self._fence_ends[first : first + 50] if mark.startswith(match["fence"]))
        ends = list(islice(same, 2))
        last = self._fence_ends[-1:]
        ends += [span for at, mark, span in last if at >= start and mark.startswith(match["fence"])]
        assigned = _ASSIGNED.match(self.text, start)
        if assigned is not None and ends:
            sound = read_at(self.text, assigned.end(), self.max_depth)
            if sound is not None and not self.text[sound[1] : ends[0][0]].strip(" \t\r\n;"):
                return self._region(assigned.end(), sound[1], closed=True), ends[0][1]
        if not _BEGINS.match(self.text, start):
            return [], ends[0][1] if ends else start
        best: tuple[tuple[bool, int, int], list[RepairedValue], int] | None = None
        for stop, last in dict.fromkeys(ends):
            values = self._region(start, stop, closed=True)
            if values and all(repaired.level in ("exact", "notation") for repaired in values):
                return values, last
            cost = sum(_LEVEL_COSTS[edit.level] for repaired in values for edit in repaired.edits)
            rank = (not values, max([LEVELS.index(repaired.level) for repaired in values], default=0), cost)
            if best is None or rank < best[0]:
                best = rank, values, last
        if best is None:
            return self._region(start, len(self.text), closed=False), len(self.text)
        return best[1], best[2]


def is_evidently_json(text: str) -> bool:
    """Does a value hold more than numbers and empty brackets, which prose may have?"""
    return '"' in text or "{" in text[1:]
