"""The notations of islands: how the values of each are read, whole or in pieces, and written.

A notation belongs to a terminal. For some it is the terminal's own string that makes it: the mark that stands round
strings, the prefix of tags.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.scanner import JsonScanner, decode, read_at

from .coerce import to_json
from .schema import ANY, SchemaView


class JsonNotation:
    """JSON."""

    #: values are typed by the tool's schema
    typed = False
    #: damaged values are read as JSON or as Python literals that need repair
    mends = False

    def __init__(self, name: str) -> None:
        self._first = JSON_FIRST[name]

    def scanner(self, max_depth: int, schema_view: SchemaView = ANY) -> Any:
        """A scanner for a value that arrives in pieces."""
        return JsonScanner()

    def may_begin(self, char: str) -> bool:
        """May a value of this island begin with the character?"""
        return char in self._first

    @property
    def first(self) -> str:
        """The same as the class of a regular expression."""
        return f"[{re.escape(''.join(sorted(self._first)))}]"

    def read_at(
        self, text: str, pos: int, max_depth: int, final: bool, schema_view: SchemaView = ANY
    ) -> tuple[Any, int, str] | None:
        """A value that is all there: the value, its end, its JSON text."""
        found = read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text) and text[pos] not in '{["'):
            return None
        return found

    def result(self, scanner: Any, text: str, max_depth: int) -> tuple[Any, str]:
        """The value of a text that the scanner found, and its JSON text. Raises NotJsonError."""
        return decode(text, max_depth), text

    def write(self, value: Any) -> str | None:
        """A value in this notation; None where it cannot be carried."""
        return to_json(value)


@lru_cache(maxsize=1)
def _python() -> Any:
    """The module that reads Python literals, which few formats need."""
    from . import python_literals

    return python_literals


class PythonNotation:
    """Python literals."""

    typed = False
    mends = True

    def scanner(self, max_depth: int, schema_view: SchemaView = ANY) -> Any:
        """A scanner for a value that arrives in pieces."""
        return _python().PythonScanner(max_depth)

    def may_begin(self, char: str) -> bool:
        """May a literal begin with the character?"""
        return char != "" and char not in ",)]}=:"

    @property
    def first(self) -> str:
        """The same as the class of a regular expression."""
        return r"[^,)\]}=:]"

    def read_at(
        self, text: str, pos: int, max_depth: int, final: bool, schema_view: SchemaView = ANY
    ) -> tuple[Any, int, str] | None:
        """A value that is all there: the value, its end, its JSON text."""
        found = _python().read_at(text, pos, max_depth)
        if found is None or (not final and found[1] == len(text)):
            return None
        return found[0], found[1], to_json(found[0])

    def result(self, scanner: Any, text: str, max_depth: int) -> tuple[Any, str]:
        """The value of a text that the scanner found, and its JSON text. Raises NotJsonError."""
        value = _python().decode(text, max_depth)
        return value, to_json(value)

    def write(self, value: Any) -> str | None:
        """A value in this notation."""
        return repr(value)


class SpelledNotation:
    """A notation that a string is a part of; its scanners say in JSON what they read."""

    typed = True
    mends = False

    def __init__(
        self, spelling: str, first: str, scanner: Any, read_plain: Any, write: Any, unopened: Any = None
    ) -> None:
        self._spelling, self._first, self._scanner, self._write = spelling, first, scanner, write
        self._read_plain, self._unopened = read_plain, unopened

    def scanner(self, max_depth: int, schema_view: SchemaView = ANY) -> Any:
        """A scanner for a value that arrives in pieces."""
        return self._scanner(self._spelling, max_depth, schema_view)

    def may_begin(self, char: str) -> bool:
        """May a value of this island begin with the character?"""
        return char != "" and char == self._first

    @property
    def first(self) -> str:
        """The same as the class of a regular expression."""
        return f"[{re.escape(self._first)}]"

    def read_at(
        self, text: str, pos: int, max_depth: int, final: bool, schema_view: SchemaView = ANY
    ) -> tuple[Any, int, str] | None:
        """A value that is all there: the value, its end, its JSON text."""
        plain = self._read_plain(text, pos, self._spelling, schema_view)
        if plain is not None:
            return plain
        scanner = self.scanner(max_depth, schema_view)
        end, done = scanner.feed(text, pos)
        return (scanner.value, end, scanner.text) if done else None

    def result(self, scanner: Any, text: str, max_depth: int) -> tuple[Any, str]:
        """The value that the scanner found, and its JSON text."""
        return scanner.value, scanner.text

    def supplied(
        self, text: str, pos: int, max_depth: int, schema_view: SchemaView
    ) -> tuple[Any, int, str, list[int]] | None:
        """A value in which marks are missing: the value, its end, its JSON text, and where they are missing."""
        places = self._unopened(text, pos, self._spelling, max_depth) if self._unopened else None
        if not places:
            return None
        whole = text
        for place in reversed(places):
            whole = f"{whole[:place]}{self._spelling}{whole[place:]}"
        value, end, said = self.read_at(whole, pos, max_depth, True, schema_view) or (None, 0, "")
        return value, end - len(places) * len(self._spelling), said, places

    @property
    def mark(self) -> str:
        """What stands round strings, or before tags."""
        return self._spelling

    def write(self, value: Any) -> str | None:
        """A value in this notation; None where it cannot be carried."""
        return self._write(value, self._spelling)


@lru_cache(maxsize=256)
def notation(short: str, spelling: str) -> Any:
    """The notation of an island, by the name of its terminal and, where that is made of one, its string."""
    if short in JSON_FIRST:
        return JsonNotation(short)
    if short == "BRACED_OBJECT":
        from . import braced

        return SpelledNotation(
            spelling, "{", braced.BracedScanner, braced.read_plain, braced.write_braced, braced.unopened
        )
    if short == "TAGGED_OBJECT":
        from . import tagged

        return SpelledNotation(spelling, spelling[:1], tagged.TaggedScanner, tagged.read_plain, tagged.write_tagged)
    return PythonNotation()


def notation_of(terminal: Any) -> Any:
    """The notation of an island's terminal."""
    return notation(terminal.short, terminal.canonical)
