"""Where the JSON in a text is: as all of it, in fences, in prose. What is around the values is left to the caller."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import Any

from outspoken.results.edits import LEVELS, RepairBudget, RepairedValue, RepairLimit
from outspoken.results.settings import Settings

from .repair import RegionReader, bounded, region_values
from .scanner import read_at
from .tokens import ODD_SPACE

_BEGINS = re.compile(
    rf"[\s{ODD_SPACE}]*(?://[^\n]*\n\s*|/\*.*?\*/\s*)*(?:[{{\[｛［【]|\"(?:[^\"\\\n]|\\.){{0,80}}\"\s*:)", re.DOTALL
)
_PAGE = re.compile(r"\s*<(?:!doctype|html|\?xml)\b", re.IGNORECASE)
_NEXT = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<label>[^\n`]*)(?:\n|\Z)|(?P<open>[{\[｛［【])", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
#: what makes a bracket in prose worth a try
_DATA = re.compile(
    r"""[{｛]\s*(?:["'“‘`＂「『{,}｝]|//|/\*|\#|(?:[^\W0-9]|\$)[\w$.\-]*\s*[:：]|\Z)"""
    r"""|[\[［【]\s*(?:["'“‘`＂「『{｛\[［【(\]\-.0-9０-９]|//|/\*|(?:true|false|null|True|False|None)\b|\Z)"""
)
#: what makes it broken JSON, rather than prose
_KEYED = re.compile(r"""[{｛\[［【\s]+["'“‘]?[^\n"'“‘’”{}\[\]:]{1,64}["'”’]?\s*[:：]""")
_EXTENT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]｛｝［］【】]', re.DOTALL)
_STEPS = dict.fromkeys("{[｛［【", 1) | dict.fromkeys("}]｝］】", -1)
#: how many steps a try costs at least
_TRY = 60


class Document:
    """A text while the JSON in it is looked for."""

    def __init__(self, text: str, repair_limit: RepairLimit, schema: dict[str, Any] | None, settings: Settings) -> None:
        self.text, self.settings = text, settings
        self.repair_limit: RepairLimit = repair_limit
        self.schema = schema
        self.budget = RepairBudget.of(len(text))
        #: the furthest place where reading failed, what was expected there, and whether it nested too deeply
        self.failed: tuple[int, str] | None = None
        self.too_deep = False
        #: whether there is broken JSON that could not be read
        self.broken = False
        self._lines: list[tuple[int, str, tuple[int, int]]] | None = None

    def values(self) -> list[RepairedValue]:
        """All values of the text, in order."""
        stripped = self.text.lstrip(" \t\r\n")
        if stripped[:1] not in "{[" and (sound := self._sound(stripped)):
            return [sound]
        if _BEGINS.match(self.text) and (found := self._region(0, len(self.text), closed=False, whole=True)):
            return found
        if _PAGE.match(self.text):
            return []
        strong, weak = list[RepairedValue](), list[RepairedValue]()
        pos = 0
        while self.budget.steps > 0 and (match := _NEXT.search(self.text, pos)):
            if match["fence"]:
                values, pos = self._fence(match)
                strong += values
                continue
            mended = self._in_prose(match.start())
            if mended is None:
                pos = self._behind(match)
                continue
            pos = max(mended.end, match.end())
            (strong if _telling(mended) else weak).append(mended)
        return strong or [mended for mended in weak if "," in mended.text]

    def _sound(self, stripped: str) -> RepairedValue | None:
        """The text as one string, number or literal."""
        start = len(self.text) - len(stripped)
        mender = self._mender(start, len(self.text), closed=False, prose=False)
        mended = mender.value(0) if read_at(stripped, 0, self.settings.max_depth) else None
        return mended if mended and mended.level == "exact" else None

    def _mender(self, start: int, end: int, *, closed: bool, prose: bool) -> RegionReader:
        return RegionReader(
            self.text, start, end, closed, self.repair_limit, self.schema, self.settings, self.budget, prose=prose
        )

    def _region(self, start: int, end: int, *, closed: bool, whole: bool = False) -> list[RepairedValue]:
        mender = self._mender(start, end, closed=closed, prose=False)
        self.budget.steps -= _TRY + (end - start) // 20
        found = region_values(mender)
        self._note(mender, start)
        if whole and any(edit.code == "dropped-text" for mended in found for edit in mended.edits):
            return []
        return found

    def _in_prose(self, start: int) -> RepairedValue | None:
        if not _DATA.match(self.text, start):
            return None
        mender = self._mender(start, len(self.text), closed=False, prose=True)
        mended = mender.value(0)
        self._note(mender, start)
        failed = mender.failed[0] if mender.failed else 0
        self.budget.steps -= _TRY + failed // 8
        return bounded(mender.tail(mended), self.text) if mended else None

    def _note(self, mender: RegionReader, start: int) -> None:
        if mender.failed is not None and (self.failed is None or start + mender.failed[0] > self.failed[0]):
            self.failed = start + mender.failed[0], mender.failed[1]
        self.too_deep = self.too_deep or mender.too_deep

    def _behind(self, match: re.Match[str]) -> int:
        """Where to look on behind a bracket that begins no value: what is inside of broken JSON is no value, either."""
        start, depth = match.start(), 0
        if not _DATA.match(self.text, start):
            return match.end()
        for token in _EXTENT.finditer(self.text, start):
            self.budget.steps -= 1
            depth += _STEPS.get(token[0], 0)
            if not depth:
                self.broken = self.broken or _KEYED.match(self.text, start) is not None
                return token.end()
            if self.budget.steps <= 0:
                break
        keyed = _KEYED.match(self.text, start) is not None
        self.broken = self.broken or keyed
        return len(self.text) if self.too_deep or keyed else match.end()

    def _marks(self) -> list[tuple[int, str, tuple[int, int]]]:
        """The lines that may end a fence: where each begins, its mark, and its span."""
        if self._lines is None:
            self._lines = [(m.start(), m[1], m.span()) for m in _CLOSING.finditer(self.text)]
        return self._lines

    def _fence(self, match: re.Match[str]) -> tuple[list[RepairedValue], int]:
        """The values of a fence, and where the text goes on behind it. A fence may stand in a string of the JSON."""
        start = match.end()
        first = bisect_left(self._marks(), (start,))
        same = (span for _, mark, span in self._marks()[first : first + 50] if mark.startswith(match["fence"]))
        ends = list(islice(same, 2))
        last = self._marks()[-1:]
        ends += [span for at, mark, span in last if at >= start and mark.startswith(match["fence"])]
        if not _BEGINS.match(self.text, start):
            return [], ends[0][1] if ends else start
        best: tuple[tuple[bool, int, int], list[RepairedValue], int] | None = None
        for stop, last in dict.fromkeys(ends):
            values = self._region(start, stop, closed=True)
            if values and all(mended.level in ("exact", "notation") for mended in values):
                return values, last
            rank = (not values, max([LEVELS.index(m.level) for m in values], default=0), sum(m.cost for m in values))
            if best is None or rank < best[0]:
                best = rank, values, last
        if best is None:
            return self._region(start, len(self.text), closed=False), len(self.text)
        return best[1], best[2]


def _telling(mended: RepairedValue) -> bool:
    """Is there more in a value than the numbers and empty brackets that prose may have?"""
    return '"' in mended.text or "{" in mended.text[1:]
