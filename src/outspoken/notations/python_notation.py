"""Python literals as a notation: a scanner finds where one ends that arrives in pieces; `python_literals` reads it."""

from __future__ import annotations

import re
from typing import Any

from outspoken.patterns.lazy import lazy_pattern

from .coerce import ANY, SchemaView, to_json
from .python_literals import decode, read_at
from .transcoder import Notation, ReadValue, Transcoder, ValueScanner

_BRACKETS = lazy_pattern(r"['\"()\[\]{}]")
_STOPS = lazy_pattern(r"['\"()\[\]{},\r\n]")
_STRING = lazy_pattern(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
#: a word right behind a string
_JOINED = lazy_pattern(r"''\w")
_INSIDE = {"'": re.compile(r"['\\]"), '"': re.compile(r'["\\]')}


class PythonScanner(Transcoder):
    """Finds the end of one Python literal in text that arrives in pieces. Its JSON is known only when it is complete.

    `depth` is how many brackets are open. `too_deep` says that the limit was passed; the literal is still scanned to
    its end, but not read.
    """

    #: errors show only when the complete literal is read
    detects_errors = False
    depth = 0

    def __init__(self, max_depth: int) -> None:
        super().__init__()
        self._max = max_depth
        self._started = self._escaped = self.too_deep = False
        self._quote = ""
        self._quotes = self._width = 0

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        """Read on from `pos`. Returns where reading stopped and whether the literal ended there."""
        length = len(text)
        self._started = self._started or pos < length
        while pos < length:
            if self._quote:
                pos = self._inside(text, pos)
                continue
            if (match := (_BRACKETS if self.depth else _STOPS).search(text, pos)) is None:
                return length, False
            if self._outside(match[0]):
                return match.start(), True
            pos = match.end()
        return pos, False

    def finish(self) -> bool:
        """Is the literal complete if the text ends here? Yes, unless a string or a bracket is open."""
        empty_string = not self._width and self._quotes == 2
        return self._started and not self.depth and (not self._quote or empty_string)

    def _outside(self, char: str) -> bool:
        """Note a quote, a bracket or a stop outside strings. Returns whether the literal ends before it."""
        if char == "'" or char == '"':
            self._quote, self._quotes, self._width = char, 1, 0
        elif char in "([{":
            self.depth += 1
            self.too_deep = self.too_deep or self.depth > self._max
        elif self.depth:
            self.depth -= 1
        else:
            return True
        return False

    def _inside(self, text: str, pos: int) -> int:
        """Read on in a string, and return where reading stopped.

        `_width` is how many quotes close it, 0 if not known yet; `_quotes` is how many were read last.
        """
        if not self._width:
            return self._open(text[pos], pos)
        if self._escaped:
            self._escaped = False
            return pos + 1
        match = _INSIDE[self._quote].search(text, pos)
        if match is None or match[0] == "\\":
            self._quotes, self._escaped = 0, match is not None
            return match.end() if match else len(text)
        self._quotes = self._quotes + 1 if match.start() == pos else 1
        if self._quotes == self._width:
            self._quote = ""
        return match.end()

    def _open(self, char: str, pos: int) -> int:
        """Read on behind one or two quotes, which open a string or are an empty one."""
        if char == self._quote:
            self._quotes += 1
            if self._quotes == 3:
                self._quotes, self._width = 0, 3
            return pos + 1
        if self._quotes == 2:
            self._quote = ""
        self._quotes, self._width = 0, 1
        return pos


class PythonNotation(Notation):
    """Python literals."""

    repaired_as_literal = True

    def __init__(self) -> None:
        super().__init__(frozenset())

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> PythonScanner:
        return PythonScanner(max_depth)

    def may_begin(self, char: str) -> bool:
        return char != "" and char not in ",)]}=:"

    @property
    def first_chars(self) -> str:
        return r"[^,)\]}=:]"

    def read_at(self, text: str, pos: int, max_depth: int, final: bool, view: SchemaView = ANY) -> ReadValue | None:
        found = read_at(text, pos, max_depth, joins="lines")
        if found is None or (not final and found[1] == len(text)):
            return None
        return found[0], found[1], to_json(found[0])

    def result(self, scanner: ValueScanner, text: str, max_depth: int) -> tuple[Any, str]:
        value = decode(text, max_depth, joins="lines")
        return value, to_json(value)

    def open_end(self, text: str, max_depth: int) -> str:
        rest = _STRING.sub("''", text)
        if _JOINED.search(rest) is not None:
            return "broken"
        return "cut" if rest.count("'") % 2 or '"' in rest else ""

    def write(self, value: Any) -> str | None:
        return repr(value)
