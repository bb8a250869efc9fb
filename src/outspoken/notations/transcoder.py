"""What notations have in common: a `Notation` reads and writes values, a `Transcoder` reads one as it arrives."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from outspoken.json.decoder import scan_once
from outspoken.json.scanner import JsonScanner

from .coerce import ANY, SchemaView

#: a value, its end in the text, and its JSON text
ReadValue = tuple[Any, int, str]


@lru_cache(maxsize=64)
def search_mark(mark: str) -> Callable[[str], re.Match[str] | None]:
    """The search for a place where a mark may begin."""
    return re.compile(re.escape(mark[0])).search


def overlap(text: str, pos: int, mark: str) -> int:
    """How many characters at the end of a text, from `pos` on, may be the beginning of a mark."""
    at = text.find(mark[:1], max(pos, len(text) - len(mark) + 1))
    while at >= 0:
        if mark.startswith(text[at:]):
            return len(text) - at
        at = text.find(mark[0], at + 1)
    return 0


class Transcoder:
    """Collects the JSON of what was read.

    `broken` is true once what was read cannot be a value of the notation, whatever follows. `depth` is how many
    brackets or elements are open.
    """

    detects_errors = transcodes = True
    allow_controls = False
    held = depth = 0

    def __init__(self) -> None:
        self._written: list[str] = []
        #: how many of these pieces were taken
        self._taken = 0
        self.broken = False

    @property
    def search_special(self) -> Callable[[str], re.Match[str] | None] | None:
        """Inside text that is written as it arrives, the search for what may end it; None elsewhere."""
        return None

    def receive(self, piece: str) -> str:
        """Read more text in which `search_special` finds nothing. Returns its JSON."""
        raise NotImplementedError

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        """Read on from `pos`. Returns where reading stopped and whether the value ended there.

        What may be the beginning of a mark, tag or escape is not read before the rest of it arrives.
        """
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The JSON of all that was read."""
        return "".join(self._written)

    @property
    def value(self) -> Any:
        """The value, once it is complete."""
        return scan_once(self.text, 0)[0]

    def take_json(self) -> str:
        """The JSON of what was read since the last call."""
        new = "".join(self._written[self._taken :])
        self._taken = len(self._written)
        return new

    def _receive(self, json: str) -> str:
        """Write JSON that is taken at once."""
        self._written.append(json)
        self._taken += 1
        return json

    def finish(self) -> bool:
        """Is the value complete if the text ends here? Never, as its end is a mark of its own."""
        return False


#: reads one value that arrives in pieces; see `JsonScanner` for the attributes
ValueScanner: TypeAlias = JsonScanner | Transcoder


class Notation:
    """A notation of embedded values, which may begin with the characters `first`."""

    #: bare values get their types from the tool's schema
    typed_by_schema = False
    #: damaged values can be repaired as JSON or as Python literals
    repaired_as_literal = False

    def __init__(self, first: frozenset[str]) -> None:
        self._first = first

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        """A scanner for a value that arrives in pieces."""
        raise NotImplementedError

    def may_begin(self, char: str) -> bool:
        """May a value begin with the character?"""
        return char in self._first

    @property
    def first_chars(self) -> str:
        """The characters that a value may begin with, as a class of a regular expression."""
        return f"[{re.escape(''.join(sorted(self._first)))}]"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        """Read a complete value that begins at `pos`. None if there is none, or, unless `final`, if it may go on."""
        raise NotImplementedError

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        """The value that a scanner read to its end, and its JSON text. Raises NotJsonError."""
        raise NotImplementedError

    def open_end(self, text: str, max_depth: int) -> str:
        """How the text of a call ends that may not be complete: "cut" within a string, "broken" if its strings are
        damaged, "open" if brackets are open, or "" if nothing is."""
        raise NotImplementedError

    def write(self, value: Any) -> str | None:
        """The value in this notation; None if the notation cannot express it."""
        raise NotImplementedError

    def _open_end(self, text: str, mark: str, max_depth: int) -> str:
        """The same where one mark stands round strings, by how many there are."""
        plain = text.replace("\\\\", "").replace('\\"', "")
        scanner, begin = self.scanner(max_depth), plain.find("{")
        end, is_done = scanner.feed(plain.replace("\n", " "), max(begin, 0))
        if scanner.broken and (
            plain.count(mark) % 2 or (plain[:end].endswith(mark) and plain[end : end + 1].isalnum())
        ):
            return "broken"
        if plain.count(mark) % 2:
            return "cut"
        return "" if is_done or scanner.broken or begin < 0 else "open"


class MarkedNotation(Notation):
    """A notation with a mark of the format: around strings, or before tags. Its scanners transcode to JSON."""

    typed_by_schema = True
    #: what shows behind a value that it has ended, if nothing in it does
    ending = ""

    def __init__(self, mark: str, first: str) -> None:
        super().__init__(frozenset(first))
        self.mark = mark

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> Transcoder:
        raise NotImplementedError

    def read_plain(self, text: str, pos: int, view: SchemaView) -> ReadValue | None:
        """Read a complete value of the simplest form at once; None for any other."""
        raise NotImplementedError

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        plain = self.read_plain(text, pos, view)
        if plain is not None:
            return plain
        scanner = self.scanner(max_depth, view)
        end, done = scanner.feed(text, pos)
        return (scanner.value, end, scanner.text) if done else None

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        assert isinstance(scanner, Transcoder)
        return scanner.value, scanner.text

    def ends_before(self, text: str, pos: int, max_depth: int, view: SchemaView) -> list[int]:
        """Where a value that begins at `pos` may end before something that is not its own, and ends none."""
        return []

    def read_without_marks(
        self, text: str, pos: int, max_depth: int, view: SchemaView
    ) -> tuple[Any, int, str, list[int]] | None:
        """A value in which marks are missing: the value, its end, its JSON text, and the places of the marks."""
        return None
