"""Units: the pieces of the input that workers read, with borders that depend on the input and the size alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .errors import RowError

#: What the data of a unit is: lines, or a batch of Arrow; or the beginning of what cannot be read: one line, or all of
#: the file from there on.
UnitKind = Literal["lines", "arrow", "unreadable"]


@dataclass(frozen=True)
class Unit:
    """Some rows of a file, to be read at once and written as one part.

    `first` is the line, or the row, of the first one, from 1, and `lines` the number of lines or rows. `offset` and
    `length` are its place in a plain file; for other files, `offset` is how much of the file had been read behind the
    unit, for the progress. `skipped` are the rows that workers died of, by their places in the unit. With `only`, no
    other row is read and nothing is written.
    """

    file: int
    number: int
    kind: UnitKind
    first: int
    lines: int
    offset: int
    length: int
    data: bytes = b""
    error: RowError | None = None
    skipped: tuple[tuple[int, RowError], ...] = ()
    only: int | None = None

    @property
    def key(self) -> tuple[int, int]:
        """The file and the number of the unit in it."""
        return self.file, self.number

    @property
    def place(self) -> dict[str, int]:
        """Where the unit is in its file: what is needed to go on behind it."""
        return {"first": self.first, "lines": self.lines, "offset": self.offset, "length": self.length}

    @property
    def name(self) -> str:
        """The name of the unit's part, without a suffix."""
        return f"part-{self.file:05}-{self.number:06}"

    def without(self, row: int, error: RowError) -> Unit:
        """The unit without a row, and with the reason."""
        return replace(self, only=None, skipped=(*self.skipped, (row, error)))
