"""Brackets in damaged JSON: which one closes what, and what is done where none fits."""

from __future__ import annotations

import re

from .scanner import read_at
from .state import State, Stop
from .strings import HALF
from .tokens import CLOSERS, CLOSING, COMMAS, DATA, NAMES, OPENERS

#: a comma and a key
NAMED = re.compile(r"""\s*,\s*(?:"(?:[^"\\\n]|\\.){0,80}"|'[^'\\\n]{0,80}'|[A-Za-z_]\w{0,40})\s*:""")
#: brackets in brackets are walked over, so that no depth is tried again and again
_NESTED = re.compile(r"[\[{]\s*[\[{]")
#: after so many brackets that are no sound values, no other one is tried as a whole: a try may take long
_MAX_TORN = 300
_COMMA = re.compile(r"\s*,")


class Brackets:
    """The text that is walked over, and its brackets and commas."""

    def __init__(
        self, text: str, max_depth: int, *, closed: bool, opaque: bool = True, bare: bool = True, forks: bool = False
    ) -> None:
        self.text, self.end, self.max_depth, self.closed_end = text, len(text), max_depth, closed
        self.opaque, self.bare, self.forks = opaque, bare, forks
        self.too_deep = False
        self.steps: int = 0
        #: how many brackets were no sound values as a whole
        self._torn = 0

    def _open(self, s: State, char: str) -> Stop | None:
        """An opening bracket: a sound value as a whole, or a step inwards."""
        whole = bool(s.stack) and not (self.forks and self.opaque) and not _NESTED.match(self.text, s.pos)
        tried = whole and self._torn < _MAX_TORN
        found = read_at(self.text, s.pos, self.max_depth - len(s.stack)) if tried else None
        self._torn += tried and found is None
        if found is not None and (found[2].isascii() or not HALF.search(found[2])) and "\\u" not in found[2]:
            s.pos = found[1]
            s.valued("container")
            return None
        if len(s.stack) >= self.max_depth:
            self.too_deep = True
            return "stuck"
        name = OPENERS[char]
        if char in "(（":
            if s.mode == "T":
                return "stuck"
            s.put(s.pos, s.pos + 1, "[", "tuple")
        elif char not in "{[":
            s.put(s.pos, s.pos + 1, "{" if name == "}" else "[", "wide-punctuation")
        s.pos += 1
        s.stack += name
        s.mode = "F" if name == "}" else "E"
        s.last, s.comma, s.pending, s.kind = s.pos, None, False, ""
        return None

    def _closer(self, s: State, char: str) -> Stop | None:
        """A closing bracket. Where it is open which one it should be, the walk stops; see `fork`."""
        if s.mode in "TC":
            return "stuck"
        if s.mode == "V":
            s.drop(s.key, s.last, "missing-value")
            s.mode, s.pending = ("K", True) if s.comma else ("F", False)
        if CLOSERS[char] != s.stack[-1].translate(NAMES):
            return "fork"
        if s.mode == "A":
            if s.stack[-1] == ")":
                return "stuck"
            if len(s.stack) == 1 and CLOSERS[char] == "}" and NAMED.match(self.text, s.pos + 1):
                return "fork"
            if self.forks and s.kind == "container" and _COMMA.match(self.text, s.pos + 1):
                return "fork"
        return self._close(s, char)

    def fork(self, s: State) -> list[State]:
        """The states after a bracket where the walk stopped: it closes, others are missing, it is a typo or stray."""
        char = self.text[s.pos]
        name, names = CLOSERS[char], s.stack.translate(NAMES)
        if name == names[-1]:
            closed, dropped = s.copy(), s.copy()
            self._close(closed, char)
            dropped.put(s.pos, s.pos + 1, "", "extra-closer")
            dropped.pos += 1
            return [closed, dropped]
        self._unpend(s)
        ways: list[State] = []
        outer = names.rfind(name)
        if outer >= 0:
            way = s.copy()
            for opened in reversed(s.stack[outer + 1 :]):
                way.put(s.last, s.last, CLOSING[opened], "missing-closer")
            way.stack, way.mode, way.kind = s.stack[: outer + 1], "A", "container"
            self._close(way, char)
            ways.append(way)
        instead = s.copy()
        instead.put(s.pos, s.pos + 1, CLOSING[s.stack[-1]], "wrong-closer")
        self._pop(instead, s.pos + 1)
        if s.mode != "A":
            return [*ways, instead]
        s.put(s.pos, s.pos + 1, "", "extra-closer")
        s.pos += 1
        return [*ways, instead, s]

    def _close(self, s: State, char: str) -> None:
        """The closing bracket that belongs here."""
        top, pos = s.stack[-1], s.pos
        self._unpend(s)
        if char != CLOSING[top]:
            s.put(pos, pos + 1, CLOSING[top], "tuple" if top in ")t" else "wide-punctuation")
        if top == "D" and self.text.startswith(char, pos + 1):
            s.put(pos + 1, pos + 2, "", "doubled-brace")
            pos += 1
        self._pop(s, pos + 1)

    def _pop(self, s: State, end: int) -> None:
        s.stack, s.pos, s.comma = s.stack[:-1], end, None
        s.valued("container")

    def _flush(self, s: State) -> None:
        """What the last comma separates has come: it was one."""
        if s.pending and s.comma:
            start, end = s.comma
            if self.text[start:end] != ",":
                s.put(start, end, ",", COMMAS.get(self.text[start:end], "missing-comma"))
            s.pending = False

    def _unpend(self, s: State) -> None:
        """Nothing came behind the last comma."""
        if s.pending and s.comma:
            s.put(*s.comma, "", "trailing-comma")
            s.pending = False

    def _no_key(self, s: State) -> Stop | None:
        """A brace where a key belongs: a doubled one, or a closing one is missing before it."""
        if s.mode == "K":
            return self._close_objects(s)
        if s.last != s.pos or s.stack[-1] == "D":
            return "stuck"
        s.put(s.pos, s.pos + 1, "", "doubled-brace")
        s.stack = s.stack[:-1] + "D"
        s.pos += 1
        s.last = s.pos
        return None

    def _close_objects(self, s: State) -> Stop | None:
        """Another object begins where this one has not ended: its closing brace is missing."""
        inner = s.stack.rstrip("}D")
        if not inner and not DATA.match(self.text, s.pos):
            return "stuck"
        for _ in range(len(s.stack) - len(inner)):
            s.put(s.last, s.last, "}", "missing-closer")
        s.stack, s.kind = inner, "container"
        s.mode = "I" if s.pending and inner else "A"
        if not inner:
            s.pos, s.pending = s.last, False
        return None

    def _close_list(self, s: State) -> Stop | None:
        """A colon in a list: the string before it is a key of the object around, and the list had ended."""
        if s.kind != "string" or not s.comma or s.comma[0] == s.comma[1] or s.stack[-2:-1] not in ("}", "D"):
            return "stuck"
        s.put(s.comma[0], s.comma[0], "]", "missing-closer")
        s.stack, s.mode = s.stack[:-1], "C"
        return None
