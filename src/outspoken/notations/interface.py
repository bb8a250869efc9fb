"""The notations of embedded values behind one interface: how a value is found, read, and written.

The name of a value's terminal gives its notation. Some notations also need the string of the terminal: the mark around
strings, or the prefix of tags.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.decoder import decode, read_at
from outspoken.json.scanner import JsonScanner

from .coerce import ANY, SchemaView, to_json
from .transcoder import Notation, ReadValue, ValueScanner

if TYPE_CHECKING:
    from outspoken.grammar.tables import Terminal

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

    def open_end(self, text: str, max_depth: int) -> str:
        return self._open_end(text, '"', max_depth)

    def write(self, value: Any) -> str | None:
        return to_json(value)


@lru_cache(maxsize=256)
def notation(short: str, mark: str) -> Notation:
    """The notation of an embedded value, by the short name of its terminal and the terminal's string.

    Raises ValueError for a name that has no notation.
    """
    if short in JSON_FIRST:
        return JsonNotation(JSON_FIRST[short])
    if short == "BRACED_OBJECT":
        from .braced import BracedNotation

        return BracedNotation(mark)
    if short == "TAGGED_OBJECT":
        from .tagged import TaggedNotation

        return TaggedNotation(mark)
    if short == "PYTHON_VALUE":
        from .python_notation import PythonNotation

        return PythonNotation()
    raise ValueError(f"there is no notation for the terminal `{short}`")


def notation_of(terminal: Terminal) -> Notation:
    """The notation of an embedded value's terminal."""
    return notation(terminal.short, terminal.canonical)
