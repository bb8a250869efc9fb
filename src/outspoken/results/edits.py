"""Repairs: the record of an edit, of JSON or of markup, and the levels of repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .construct import construct
from .diagnostics import Repair

RepairLimit = Literal["none", "notation", "structure", "strings", "heuristic"]

#: the levels of repair, lowest first, and the limits in the same order; "none" allows only "exact"
LEVELS = ("exact", "notation", "structure", "strings", "heuristic")
REPAIR_LIMITS: tuple[RepairLimit, ...] = ("none", "notation", "structure", "strings", "heuristic")


class Edit(NamedTuple):
    """One repair, without its line and column: `after` replaces text[start:end]."""

    start: int
    end: int
    after: str
    code: str
    level: str
    path: tuple[str | int, ...] = ()

    def as_repair(self, span: tuple[int, int], before: str, line: int, column: int) -> Repair:
        """The repair that a result reports: the edit with its place in the raw text and the text there."""
        values = {"code": self.code, "level": self.level, "span": span, "path": self.path, "before": before}
        return construct(Repair, {**values, "after": self.after, "line": line, "column": column})


class RepairedValue(NamedTuple):
    """One value that was read.

    `text` is its JSON: text[start:end] with the edits applied. The edits are in order and do not overlap; there are
    none if the level is "exact". `complete` is False if the text ends inside the value. `runner_up` is the JSON of
    another reading that is as likely.
    """

    value: Any
    text: str
    start: int
    end: int
    edits: tuple[Edit, ...] = ()
    complete: bool = True
    runner_up: str | None = None

    @property
    def level(self) -> str:
        """The highest level of the edits."""
        return max({edit.level for edit in self.edits}, key=LEVELS.index, default="exact")


@dataclass(slots=True)
class RepairBudget:
    """The work that may still be spent on the damaged JSON of one response, so that hostile text cannot stall a reader.

    `steps` counts tokens of the walk, `search` nodes of the search for the ends of strings. `spans`, `chars` and `work`
    (characters times quotes) limit what the level "heuristic" reads.
    """

    steps: int
    search: int
    spans: int = 8
    chars: int = 128 * 1024
    work: int = 20_000_000

    @classmethod
    def of(cls, length: int) -> RepairBudget:
        """The budget of a response of so many characters."""
        return cls(20_000 + 2 * length, min(4_000 + length // 2, 40_000))

    def copy(self) -> RepairBudget:
        """An independent budget of the same size."""
        return RepairBudget(self.steps, self.search, self.spans, self.chars, self.work)


def shown(text: str) -> str:
    """A piece of text for a message: in backticks, without its middle if it is long."""
    text = text if len(text) <= 40 else f"{text[:24]}...{text[-12:]}"
    return f"`{text}`"
