"""Where a walk over damaged JSON is, and what it noted so far."""

from __future__ import annotations

from typing import Any, Literal

from .tokens import CLOSING

Stop = Literal["done", "stuck", "string", "fork", "end"]

#: How unlikely a repair is, in tenths, where readings are compared; the others are 2.
WEIGHTS = {
    "missing-comma": 40, "missing-colon": 40, "wrong-closer": 30, "extra-closer": 30, "stray-quote": 30,
    "bare-value": 25, "missing-value": 60, "missing-closer": 30, "extra-comma": 25, "extra-colon": 25,
    "doubled-brace": 10, "thousands-separator": 10, "other-separator": 25, "comment": 12, "ellipsis": 15,
    "quote-style": 1, "bare-key": 5, "lost-quote": 60, "missing-opener": 30, "not-finite": 10, "wide-punctuation": 1,
}  # fmt: skip

_EXPECTED = {
    "E": "a value or `]`", "I": "a value", "V": "a value", "F": "a key or `}`", "K": "a key", "C": "`:`",
    "T": "a value",
}  # fmt: skip


class State:
    """Where a walk is. `edits` is a linked list, latest first: (earlier, start, end, after, code)."""

    __slots__ = ("pos", "mode", "stack", "edits", "weight", "last", "kind", "comma", "pending", "key", "opened")

    def __init__(self, pos: int) -> None:
        self.pos = pos
        self.mode = "T"
        #: the brackets that are open, by what closes them; see `CLOSING`
        self.stack = ""
        self.edits: Any = None
        self.weight = 0
        #: the end of the last token that belongs to the value, and what kind of value ended there
        self.last = pos
        self.kind = ""
        #: the last comma; `pending` while it is open what it separates
        self.comma: tuple[int, int] | None = None
        self.pending = False
        self.key = pos
        #: where the string begins in which the text ended
        self.opened = -1

    def copy(self) -> State:
        """A state that can be walked on from, apart from this one."""
        other: State = object.__new__(State)
        other.pos, other.mode, other.stack, other.edits = self.pos, self.mode, self.stack, self.edits
        other.weight, other.last, other.kind, other.comma = self.weight, self.last, self.kind, self.comma
        other.pending, other.key, other.opened = self.pending, self.key, self.opened
        return other

    def put(self, start: int, end: int, after: str, code: str) -> None:
        """Note that `after` is read in place of what stands there."""
        self.edits = (self.edits, start, end, after, code)
        self.weight += WEIGHTS.get(code, 2)

    def drop(self, start: int, end: int, code: str) -> None:
        """Note that all of this is left out, with the edits that were made in it."""
        while self.edits is not None and self.edits[1] >= start:
            self.edits = self.edits[0]
        self.put(start, end, "", code)

    def valued(self, kind: str) -> None:
        """Note that a value of a kind has ended here."""
        self.last, self.kind, self.mode = self.pos, kind, "A"

    def expected(self) -> str:
        """What should have come here."""
        if self.mode == "A":
            return f"`,` or `{CLOSING[self.stack[-1]]}`" if self.stack else "the end"
        return _EXPECTED[self.mode]
