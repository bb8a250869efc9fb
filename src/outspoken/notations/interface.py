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

from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.decoder import decode, read_at
from outspoken.json.scanner import JsonScanner

from .coerce import to_json
from .schema import ANY, SchemaView
from .transcoder import Transcoder

if TYPE_CHECKING:
    from outspoken.grammar.tables import Terminal

    from .python_literals import PythonScanner

#: a value, its end in the text, and its JSON text
ReadValue = tuple[Any, int, str]


#: reads one value that arrives in pieces; see `JsonScanner` for the attributes
ValueScanner: TypeAlias = "JsonScanner | PythonScanner | Transcoder"


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

    def write(self, value: Any) -> str | None:
        """The value in this notation; None if the notation cannot express it."""
        raise NotImplementedError


#: What closes a JSON value that begins with one of these.
_CLOSERS = {"{": "}", "[": "]", '"': '"'}


class JsonNotation(Notation):
    """JSON."""

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        return JsonScanner()

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        closer = "" if final else _CLOSERS.get(text[pos], "")
        if closer and text.find(closer, pos + 1) < 0:
            return None  # this is seen sooner than read
        found = read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text) and text[pos] not in _CLOSERS):
            return None
        return found

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        return decode(text, max_depth), text

    def write(self, value: Any) -> str | None:
        return to_json(value)


class PythonNotation(Notation):
    """Python literals. `module` reads them; it is loaded for the few formats that need it."""

    repaired_as_literal = True

    def __init__(self, module: ModuleType) -> None:
        super().__init__(frozenset())
        self._module = module

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        return self._module.PythonScanner(max_depth)

    def may_begin(self, char: str) -> bool:
        return char != "" and char not in ",)]}=:"

    @property
    def first_chars(self) -> str:
        return r"[^,)\]}=:]"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        found = self._module.read_at(text, pos, max_depth, joins=False)
        if found is None or (not final and found[1] == len(text)):
            return None
        return found[0], found[1], to_json(found[0])

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        value = self._module.decode(text, max_depth, joins=False)
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
        super().__init__(frozenset(first))
        self.mark, self._scanner, self._read_plain = mark, scanner, read_plain
        self._write, self._find_missing = write, find_missing

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> ValueScanner:
        return self._scanner(self.mark, max_depth, view)

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
        return JsonNotation(JSON_FIRST[short])
    if short == "BRACED_OBJECT":
        from . import braced

        return MarkedNotation(
            mark, "{(", braced.BracedScanner, braced.read_plain, braced.write_braced, braced.find_missing_marks
        )
    if short == "TAGGED_OBJECT":
        from . import tagged

        return MarkedNotation(
            tagged.prefix_of(mark), mark[:1], tagged.TaggedScanner, tagged.read_plain, tagged.write_tagged
        )
    if short == "PYTHON_VALUE":
        from . import python_literals

        return PythonNotation(python_literals)
    raise ValueError(f"there is no notation for the terminal `{short}`")


def notation_of(terminal: Terminal) -> Notation:
    """The notation of an embedded value's terminal."""
    return notation(terminal.short, terminal.canonical)
