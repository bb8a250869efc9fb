"""What may be wrong with JSON, and how much of it is a guess: one table of codes, and the records that carry them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

RepairLimit = Literal["none", "notation", "structure", "strings", "heuristic"]

#: the rungs of the ladder, lowest first; a cap of "none" allows the first alone
LEVELS = ("exact", "notation", "structure", "strings", "heuristic")
REPAIR_LIMITS: tuple[RepairLimit, ...] = ("none", "notation", "structure", "strings", "heuristic")

#: What one edit of a rung adds to the cost of a value.
COSTS = {"notation": 1, "structure": 3, "strings": 5, "heuristic": 20}


class Code(NamedTuple):
    """A kind of repair: the rung that it belongs to, and what it says; `{before}` and `{after}` are put in."""

    level: str
    message: str


#: Every kind of repair. Codes are added, never renamed.
CODES: dict[str, Code] = {
    "odd-space": Code("notation", "a space or mark that JSON does not know was dropped"),
    "comment": Code("notation", "a comment was dropped"),
    "trailing-comma": Code("notation", "a comma with nothing after it was dropped"),
    "quote-style": Code("notation", "{before} was read as the quote {after}"),
    "wide-punctuation": Code("notation", "{before} was read as {after}"),
    "bare-key": Code("notation", "the key {before} has no quotes"),
    "python-literal": Code("notation", "{before} was read as {after}"),
    "not-finite": Code("notation", "{before} is no number that JSON can hold, and was read as {after}"),
    "loose-number": Code("notation", "the number {before} was read as {after}"),
    "loose-escape": Code("notation", "the escape {before} was read as {after}"),
    "invalid-escape": Code("notation", "{before} is no escape; its backslash was kept"),
    "raw-control": Code("notation", "{before} stands in a string as it is, not escaped"),
    "lone-surrogate": Code("notation", "{before} is half a character, and was read as U+FFFD"),
    "tuple": Code("notation", "{before} was read as {after}: a list in round brackets"),
    "ellipsis": Code("notation", "{before} stands for values that were left out"),
    "cut-string": Code("notation", "the text ended inside a string"),
    "cut-text": Code("notation", "the text ended inside {before}, which was left out"),
    "cut-container": Code("notation", "the text ended before {after}"),
    "missing-comma": Code("structure", "a comma is missing"),
    "extra-comma": Code("structure", "a comma with nothing before it was dropped"),
    "missing-colon": Code("structure", "a colon is missing after a key"),
    "extra-colon": Code("structure", "a second colon was dropped"),
    "other-separator": Code("structure", "{before} was read as {after}"),
    "wrong-closer": Code("structure", "{before} was read as {after}"),
    "extra-closer": Code("structure", "{before} closes nothing, and was dropped"),
    "missing-closer": Code("structure", "{after} is missing"),
    "missing-opener": Code("structure", "{after} is missing"),
    "doubled-brace": Code("structure", "the brace {before} is doubled"),
    "stray-quote": Code("structure", "a quote that belongs to no string was dropped"),
    "bare-value": Code("structure", "{before} was read as a string without quotes"),
    "thousands-separator": Code("structure", "{before} was read as {after}"),
    "missing-value": Code("structure", "a key without a value was left out: {before}"),
    "dropped-text": Code("structure", "text that is no JSON was dropped: {before}"),
    "bare-quote": Code("strings", "a quote inside a string is not escaped"),
    "lost-quote": Code("strings", "a quote is missing at the edge of a string"),
    "heuristic": Code("heuristic", "the text was read by guesswork, and may mean something else"),
}

#: What is said of a text besides its repairs.
NOTES: dict[str, str] = {
    "repeated-key": "the key {before} stands twice in one object; the last one counts",
    "left-out": "text around the JSON is no part of the value",
    "ambiguous-strings": "the strings of this value can be read in more than one way",
    "torn-json": "this looks like a part of JSON that was read for too short, or not at all",
    "cut-json": "the text ends inside the JSON value",
    "not-json": "{expected} expected; found {found}",
    "no-json": "there is no JSON in this text",
    "too-deep": "the value nests deeper than {limit} levels, the limit that `Settings.max_depth` sets",
    "too-damaged": "there is more damage here than is worth the effort of reading it",
}


class Edit(NamedTuple):
    """One repair before its line and column are known: `after` is read in place of text[start:end]."""

    start: int
    end: int
    after: str
    code: str
    level: str
    path: tuple[str | int, ...] = ()


class RepairedValue(NamedTuple):
    """One value that was read.

    `text` is its JSON: what stands from `start` to `end`, with the edits applied. The edits are in order and do not
    overlap; there are none where the rung is "exact". `complete` is False where the text ended inside the value.
    `runner_up` is the JSON of another reading that is as likely.
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
    """What may still be spent on the damaged JSON of one response, so that hostile text takes no more than its share.

    `steps` are tokens that are walked over, `search` nodes of the search for the edges of strings; `spans`,
    `chars` and `work` (characters times quotes) bound what is handed to the heuristic rung.
    """

    steps: int
    search: int
    spans: int = 8
    chars: int = 128 * 1024
    work: int = 20_000_000
    #: the names in the schemas that were asked for, by the schema's identity
    names: dict[int, tuple[dict[str, Any], frozenset[str]]] = field(default_factory=dict[int, Any])

    @classmethod
    def of(cls, length: int) -> RepairBudget:
        """The effort that a response of so many characters is worth."""
        return cls(20_000 + 2 * length, min(4_000 + length // 2, 40_000))

    def copy(self) -> RepairBudget:
        """As much again, for something else that may spend it."""
        return RepairBudget(self.steps, self.search, self.spans, self.chars, self.work, self.names)


def highest_level(edits: tuple[Edit, ...]) -> str:
    """The highest rung that the edits use."""
    return max((edit.level for edit in edits), key=LEVELS.index, default="exact")


def cost_of(edits: tuple[Edit, ...]) -> int:
    """The sum of the damages: see `COSTS`."""
    return sum(COSTS[edit.level] for edit in edits)


def shown(text: str) -> str:
    """A piece of text in a message: in backticks, its middle cut out where it is long."""
    text = text if len(text) <= 40 else f"{text[:24]}...{text[-12:]}"
    return f"`{text}`"


def message_of(code: str, before: str, after: str) -> str:
    """What a repair says to a person."""
    return CODES[code].message.format(before=shown(before), after=shown(after))
