"""The notations of embedded values behind one interface: how a value is found, read, and written.

The name of a value's terminal gives its notation. Some notations also need the string of the terminal: the mark around
strings, or the prefix of tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.scanner import JsonScanner, decode, read_at

from .coerce import to_json
from .schema import ANY, SchemaView
from .transcoder import Transcoder

if TYPE_CHECKING:
    from .python_literals import PythonScanner

#: a value, its end in the text, and its JSON text
ReadValue = tuple[Any, int, str]


#: reads one value that arrives in pieces; see `JsonScanner` for the attributes
ValueScanner: TypeAlias = "JsonScanner | PythonScanner | Transcoder"


class Notation:
    """A notation of embedded values."""

    #: bare values get their types from the tool's schema
    typed_by_schema = False
    #: damaged values can be repaired as JSON or as Python literals
    repairable = False

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        """A scanner for a value that arrives in pieces."""
        raise NotImplementedError

    def may_begin(self, char: str) -> bool:
        """May a value begin with the character?"""
        raise NotImplementedError

    @property
    def first(self) -> str:
        """The characters that a value may begin with, as a class of a regular expression."""
        raise NotImplementedError

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        """Read a complete value that begins at `pos`. None if there is none, or, unless `final`, if it may go on."""
        raise NotImplementedError

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        """The value that a scanner read to its end, and its JSON text. Raises NotJsonError."""
        raise NotImplementedError

    def write(self, value: Any) -> str | None:
        """The value in this notation; None if the notation cannot express it."""
        raise NotImplementedError


class JsonNotation(Notation):
    """JSON."""

    def __init__(self, name: str) -> None:
        self._first = JSON_FIRST[name]

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        return JsonScanner()

    def may_begin(self, char: str) -> bool:
        return char in self._first

    @property
    def first(self) -> str:
        return f"[{re.escape(''.join(sorted(self._first)))}]"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        found = read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text) and text[pos] not in '{["'):
            return None
        return found

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        return decode(text, max_depth), text

    def write(self, value: Any) -> str | None:
        return to_json(value)


@lru_cache(maxsize=1)
def _python() -> ModuleType:
    """The module of Python literals, which few formats need."""
    from . import python_literals

    return python_literals


class PythonNotation(Notation):
    """Python literals."""

    repairable = True

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        return _python().PythonScanner(max_depth)

    def may_begin(self, char: str) -> bool:
        return char != "" and char not in ",)]}=:"

    @property
    def first(self) -> str:
        return r"[^,)\]}=:]"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        found = _python().read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text)):
            return None
        return found[0], found[1], to_json(found[0])

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        value = _python().decode(text, max_depth)
        return value, to_json(value)

    def write(self, value: Any) -> str | None:
        return repr(value)


class MarkedNotation(Notation):
    """A notation with a mark of the format: around strings, or before tags. Its scanners transcode to JSON.

    `read_plain` reads simple values at once. `find_missing` finds where marks are missing.
    """

    typed_by_schema = True

    def __init__(
        self,
        mark: str,
        first: str,
        scanner: Callable[[str, int, SchemaView], Transcoder],
        read_plain: Callable[[str, int, str, SchemaView], ReadValue | None],
        write: Callable[[Any, str], str | None],
        find_missing: Callable[[str, int, str, int], list[int] | None] | None = None,
    ) -> None:
        self.mark, self._first, self._scanner = mark, first, scanner
        self._read_plain, self._write, self._find_missing = read_plain, write, find_missing

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        return self._scanner(self.mark, max_depth, view)

    def may_begin(self, char: str) -> bool:
        return char != "" and char == self._first

    @property
    def first(self) -> str:
        return f"[{re.escape(self._first)}]"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        plain = self._read_plain(text, pos, self.mark, view)
        if plain is not None:
            return plain
        scanner = self._scanner(self.mark, max_depth, view)
        end, done = scanner.feed(text, pos)
        return (scanner.value, end, scanner.text) if done else None

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        transcoder = cast("Transcoder", scanner)
        return transcoder.value, transcoder.text

    def read_without_marks(
        self, text: str, pos: int, max_depth: int, view: SchemaView
    ) -> tuple[Any, int, str, list[int]] | None:
        """A value in which marks are missing: the value, its end, its JSON text, and the places of the marks."""
        places = self._find_missing(text, pos, self.mark, max_depth) if self._find_missing else None
        if not places:
            return None
        whole = text
        for place in reversed(places):
            whole = f"{whole[:place]}{self.mark}{whole[place:]}"
        value, end, written = self.read_at(whole, pos, max_depth, True, view) or (None, 0, "")
        return value, end - len(places) * len(self.mark), written, places

    def write(self, value: Any) -> str | None:
        return self._write(value, self.mark)


@lru_cache(maxsize=256)
def notation(short: str, mark: str) -> Notation:
    """The notation of an embedded value, by the short name of its terminal and the terminal's string.

    Raises ValueError for a name that has no notation.
    """
    if short in JSON_FIRST:
        return JsonNotation(short)
    if short == "BRACED_OBJECT":
        from . import braced

        return MarkedNotation(
            mark, "{", braced.BracedScanner, braced.read_plain, braced.write_braced, braced.find_missing_marks
        )
    if short == "TAGGED_OBJECT":
        from . import tagged

        return MarkedNotation(mark, mark[:1], tagged.TaggedScanner, tagged.read_plain, tagged.write_tagged)
    if short == "PYTHON_VALUE":
        return PythonNotation()
    raise ValueError(f"there is no notation for the terminal `{short}`")


def notation_of(terminal: Terminal) -> Notation:
    """The notation of an embedded value's terminal."""
    return notation(terminal.short, terminal.canonical)
