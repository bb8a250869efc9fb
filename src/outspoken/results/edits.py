"""Repairs: the record of an edit, of JSON or of markup; and the kinds of JSON repair with their levels and messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .construct import construct
from .diagnostics import Repair

RepairLimit = Literal["none", "notation", "structure", "strings", "heuristic"]

#: the levels of repair, lowest first, and the limits in the same order; "none" allows only "exact"
LEVELS = ("exact", "notation", "structure", "strings", "heuristic")
REPAIR_LIMITS: tuple[RepairLimit, ...] = ("none", "notation", "structure", "strings", "heuristic")

#: What one edit of a level adds to the cost of a value.
COSTS = {"notation": 1, "structure": 3, "strings": 5, "heuristic": 20}


class RepairKind(NamedTuple):
    """A kind of repair: its level, and its message, with the fields `{before}` and `{after}`."""

    level: str
    message: str


#: Every kind of repair, by its code. Codes are added, never renamed.
CODES: dict[str, RepairKind] = {
    "odd-space": RepairKind("notation", "a space or mark that JSON does not allow was dropped"),
    "comment": RepairKind("notation", "a comment was dropped"),
    "trailing-comma": RepairKind("notation", "a comma with nothing after it was dropped"),
    "quote-style": RepairKind("notation", "{before} was read as the quote {after}"),
    "wide-punctuation": RepairKind("notation", "{before} was read as {after}"),
    "bare-key": RepairKind("notation", "the key {before} has no quotes"),
    "python-literal": RepairKind("notation", "{before} was read as {after}"),
    "not-finite": RepairKind("notation", "{before} is not a number in JSON and was read as text, {after}"),
    "loose-number": RepairKind("notation", "the number {before} was read as {after}"),
    "loose-escape": RepairKind("notation", "the escape {before} was read as {after}"),
    "invalid-escape": RepairKind("notation", "{before} is not an escape sequence; the backslash was kept"),
    "raw-control": RepairKind("notation", "{before} is not escaped inside a string"),
    "lone-surrogate": RepairKind("notation", "{before} is half a character, and was read as U+FFFD"),
    "tuple": RepairKind("notation", "{before} was read as {after}: a list in round brackets"),
    "ellipsis": RepairKind("notation", "{before} stands for omitted values and was dropped"),
    "cut-string": RepairKind("notation", "the text ends inside a string"),
    "cut-text": RepairKind("notation", "the text ends inside {before}, which was dropped"),
    "cut-container": RepairKind("notation", "the text ends before {after}"),
    "missing-comma": RepairKind("structure", "a comma is missing"),
    "extra-comma": RepairKind("structure", "a comma with nothing before it was dropped"),
    "missing-colon": RepairKind("structure", "a colon is missing after a key"),
    "extra-colon": RepairKind("structure", "a second colon was dropped"),
    "other-separator": RepairKind("structure", "{before} was read as {after}"),
    "wrong-closer": RepairKind("structure", "{before} was read as {after}"),
    "extra-closer": RepairKind("structure", "{before} closes nothing and was dropped"),
    "missing-closer": RepairKind("structure", "{after} is missing"),
    "missing-opener": RepairKind("structure", "{after} is missing"),
    "doubled-brace": RepairKind("structure", "the brace {before} is doubled"),
    "stray-quote": RepairKind("structure", "a quote that belongs to no string was dropped"),
    "bare-value": RepairKind("structure", "{before} was read as a string without quotes"),
    "thousands-separator": RepairKind("structure", "{before} is no number in JSON and was read as text, {after}"),
    "missing-value": RepairKind("structure", "a key without a value was dropped: {before}"),
    "dropped-text": RepairKind("structure", "text that is not JSON was dropped: {before}"),
    "bare-quote": RepairKind("strings", "a quote inside a string is not escaped"),
    "lost-quote": RepairKind("strings", "a quote is missing at the edge of a string"),
    "heuristic": RepairKind("heuristic", "the value was guessed from damaged text and may be wrong"),
}

#: The messages of other diagnostics of JSON, by code.
NOTES: dict[str, str] = {
    "repeated-key": "the key {before} is repeated in one object; the last value counts",
    "left-out": "text around the JSON is not part of the value",
    "ambiguous-strings": "the strings of this value can be read in more than one way",
    "in-reasoning": "the value stands in reasoning, and the text has no other",
    "torn-json": "this looks like part of a JSON value that was not read",
    "cut-json": "the text ends inside the JSON value",
    "not-json": "expected {expected}, found {found}",
    "no-json": "the text holds no JSON",
    "too-deep": "the value nests deeper than {limit} levels, the limit that `Settings.max_depth` sets",
    "too-damaged": "the text is too damaged to be repaired within the limits",
}


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
    none if the level is "exact". `level` is the highest level of the edits, `cost` the sum of their costs. `complete`
    is False if the text ends inside the value. `runner_up` is the JSON of another reading that is as likely.
    """

    value: Any
    text: str
    start: int
    end: int
    edits: tuple[Edit, ...]
    level: str
    cost: int
    complete: bool
    runner_up: str | None


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


def highest_level(edits: tuple[Edit, ...]) -> str:
    """The highest level of the edits."""
    return max((edit.level for edit in edits), key=LEVELS.index, default="exact")


def cost_of(edits: tuple[Edit, ...]) -> int:
    """The sum of the costs of the edits; see `COSTS`."""
    return sum(COSTS[edit.level] for edit in edits)


def shown(text: str) -> str:
    """A piece of text for a message: in backticks, without its middle if it is long."""
    text = text if len(text) <= 40 else f"{text[:24]}...{text[-12:]}"
    return f"`{text}`"


def message_of(code: str, before: str, after: str) -> str:
    """The message of a repair."""
    return CODES[code].message.format(before=shown(before), after=shown(after))
