"""Brackets in damaged JSON: the state of a walk over the tokens, and what it does at brackets and commas."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from outspoken.patterns.lazy import lazy_pattern

from .costs import REPAIRS
from .decoder import read_at
from .parts import end_of_object, items_behind
from .tokens import CLOSERS, CLOSING, COMMAS, DATA, NAMES, OPENERS, half_at, truncated_end

Stop = Literal["done", "stuck", "string", "choice", "end"]
#: What comes next: the value itself; the first item, or the end of a list; an item; the first key, or the end of an
#: object; a key; a colon; the value of a member; what follows a value.
Mode = Literal["start", "first item", "item", "first key", "key", "colon", "value", "after"]
KEYS: frozenset[Mode] = frozenset({"first key", "key"})

#: The edits of a walk, a linked list, latest first: (earlier, start, end, replacement, code). The codes "string" and
#: "guess" mark the body of a string, with its opening quote as replacement: what it needs is found when the edits are
#: applied. With "guess", its end is not sure.
EditChain: TypeAlias = "tuple[EditChain | None, int, int, str, str]"

#: a comma and a key
NEXT_MEMBER = lazy_pattern(r"""\s*,\s*(?:"(?:[^"\\\n]|\\.){0,80}"|'[^'\\\n]{0,80}'|[A-Za-z_]\w{0,40})\s*:""")
#: nested brackets are not tried as a sound value, as each level would be read again
_NESTED = lazy_pattern(r"[\[{]\s*[\[{]")
#: after so many brackets that were no sound values, no other one is tried: a try may read the whole text
_MAX_UNSOUND = 300
_COMMA = lazy_pattern(r"\s*,")

_EXPECTED: dict[Mode, str] = {
    "start": "a value", "first item": "a value or `]`", "item": "a value", "value": "a value",
    "first key": "a key or `}`", "key": "a key", "colon": "`:`",
}  # fmt: skip


class WalkState:
    """Where a walk is: all that it knows, so that a copy can be walked on in another way.

    `mode` is what comes next.
    """

    __slots__ = ("pos", "mode", "stack", "edits", "weight", "last", "kind", "comma", "pending", "key", "opened")

    def __init__(self, pos: int) -> None:
        self.pos = pos
        self.mode: Mode = "start"
        #: the open brackets, as keys of `CLOSING`
        self.stack = ""
        self.edits: EditChain | None = None
        self.weight = 0
        #: the end of the last token that belongs to the value, and the kind of value that ended there
        self.last = pos
        self.kind = ""
        #: the last comma; `pending` until something follows it
        self.comma: tuple[int, int] | None = None
        self.pending = False
        #: where the last key begins
        self.key = pos
        #: where the string begins that the text ended in
        self.opened = -1

    def copy(self) -> WalkState:
        """An independent copy."""
        other: WalkState = object.__new__(WalkState)
        other.pos, other.mode, other.stack, other.edits = self.pos, self.mode, self.stack, self.edits
        other.weight, other.last, other.kind, other.comma = self.weight, self.last, self.kind, self.comma
        other.pending, other.key, other.opened = self.pending, self.key, self.opened
        return other

    def record(self, start: int, end: int, after: str, code: str) -> None:
        """Record an edit: `after` replaces text[start:end]."""
        self.edits = (self.edits, start, end, after, code)
        self.weight += REPAIRS.get(code, 2)

    def replace(self, end: int, after: str, code: str) -> None:
        """Record that `after` replaces the text up to `end`, and go on there."""
        self.record(self.pos, end, after, code)
        self.pos = end

    def drop(self, start: int, end: int, code: str) -> None:
        """Record that text[start:end] is left out, and discard the edits inside it."""
        while self.edits is not None and self.edits[1] >= start:
            self.edits = self.edits[0]
        self.record(start, end, "", code)

    def end_value(self, kind: str) -> None:
        """A value of a kind ends here."""
        self.last, self.kind, self.mode = self.pos, kind, "after"

    def expected(self) -> str:
        """What JSON allows here, for a message."""
        if self.mode == "after":
            return f"`,` or `{CLOSING[self.stack[-1]]}`" if self.stack else "the end"
        return _EXPECTED[self.mode]


class WalkOptions(NamedTuple):
    """How damaged JSON is walked over.

    `closed`: the format proves where the value ends. `first_quote_ends`: a string ends at the first quote that can
    close it; otherwise the walk stops at each string. `allow_bare`: words without quotes may be values.
    `try_brackets`: the walk stops at each bracket that may be wrong. `allow_tuple`: the value may be a tuple.
    """

    closed: bool
    first_quote_ends: bool = True
    allow_bare: bool = True
    try_brackets: bool = False
    allow_tuple: bool = False


class BracketRules:
    """The part of a walk that reads brackets and commas. The text is sound up to `damage`."""

    def __init__(self, text: str, max_depth: int, options: WalkOptions, damage: int) -> None:
        self.text, self.end, self.max_depth, self.damage = text, len(text), max_depth, damage
        self.closed, self.first_quote_ends, self.allow_bare, self.try_brackets, self.allow_tuple = options
        self.too_deep = False
        #: how many tokens were read
        self.steps: int = 0
        self._unsound = 0
        #: members before this place are not tried as a sound rest of their object
        self._tried = 0
        #: a place, and where `_half_at` is from there on
        self._halves = (0, -1)

    def _open(self, s: WalkState, char: str) -> Stop | None:
        """Read an opening bracket: a whole sound value, or one level deeper."""
        if s.stack and self._unsound < _MAX_UNSOUND and not _NESTED.match(self.text, s.pos) and self._sound(s, char):
            return None
        if len(s.stack) >= self.max_depth:
            self.too_deep = True
            return "stuck"
        name = OPENERS[char]
        if char in "(（":
            if s.mode == "start" and not self.allow_tuple:
                return "stuck"
            s.record(s.pos, s.pos + 1, "[", "tuple")
        elif char not in "{[":
            s.record(s.pos, s.pos + 1, "{" if name == "}" else "[", "wide-punctuation")
        s.pos += 1
        s.stack += name
        s.mode = "first key" if name == "}" else "first item"
        s.last, s.comma, s.pending, s.kind = s.pos, None, False, ""
        return None

    def _sound(self, s: WalkState, char: str) -> bool:
        """Read a sound value, and the objects and lists that follow it in a list. Returns whether there is one.

        Where brackets are tried, only objects are read so that have another one behind a comma.
        """
        depth, tries = self.max_depth - len(s.stack), self.try_brackets and self.first_quote_ends
        if tries and (char != "{" or s.stack[-1] != "]"):
            return False
        value_read = read_at(self.text, s.pos, depth)
        self._unsound += value_read is None
        limit = self._half_at(s.pos) if value_read is not None else 0
        if value_read is None or value_read[1] > limit:
            return False
        limit = min(limit, self.damage) if value_read[1] < self.damage else limit
        items = items_behind(self.text, value_read[1], limit, depth) if s.stack[-1] == "]" else None
        if items is not None and tries:
            s.pos = items.comma
        elif items is not None:
            s.pos, s.comma = items.end, (items.comma, items.comma + 1)
        elif tries:
            return False
        else:
            s.pos = value_read[1]
        s.end_value("container")
        return True

    def _sound_members(self, s: WalkState) -> bool:
        """Read the rest of an object that is sound, with the bracket behind it. Returns whether it is."""
        if self.try_brackets or len(s.stack) < 2 or s.stack[-1] != "}" or s.pos < self._tried:
            return False
        depth = self.max_depth - len(s.stack) + 1
        sound, end = end_of_object(self.text, s.pos, self._half_at(s.pos), depth)
        if not sound:
            self._tried = end
            return False
        self._confirm_comma(s)
        self._pop(s, end)
        return True

    def _half_at(self, pos: int) -> int:
        """Where the next half of a surrogate pair stands, or an escape of one, which needs a look; else the end."""
        if not self._halves[0] <= pos <= self._halves[1]:
            self._halves = pos, half_at(self.text, pos)
        return self._halves[1]

    def _closer(self, s: WalkState, char: str) -> Stop | None:
        """Read a closing bracket. Stop with "choice" if it may be a wrong one; see `choices`."""
        if s.mode in ("start", "colon"):
            return "stuck"
        if s.mode == "value":
            s.drop(s.key, s.last, "missing-value")
            s.mode, s.pending = ("key", True) if s.comma else ("first key", False)
        if CLOSERS[char] != s.stack[-1].translate(NAMES):
            return "choice"
        if s.mode == "after":
            if s.stack[-1] == ")":
                return "stuck"
            if len(s.stack) == 1 and CLOSERS[char] == "}" and NEXT_MEMBER.match(self.text, s.pos + 1):
                return "choice"
            if self.try_brackets and s.kind == "container" and _COMMA.match(self.text, s.pos + 1):
                return "choice"
        return self._close(s, char)

    def choices(self, s: WalkState) -> list[WalkState]:
        """The states after a doubtful bracket: it closes, others are missing before it, it is wrong, or surplus."""
        char = self.text[s.pos]
        name, names = CLOSERS[char], s.stack.translate(NAMES)
        if name == names[-1]:
            closed, dropped = s.copy(), s.copy()
            self._close(closed, char)
            dropped.replace(s.pos + 1, "", "extra-closer")
            return [closed, dropped]
        self._drop_pending_comma(s)
        options: list[WalkState] = []
        outer = names.rfind(name)
        if outer >= 0:
            state = s.copy()
            for opened in reversed(s.stack[outer + 1 :]):
                state.record(s.last, s.last, CLOSING[opened], "missing-closer")
            state.stack, state.mode, state.kind = s.stack[: outer + 1], "after", "container"
            self._close(state, char)
            options.append(state)
        instead = s.copy()
        instead.record(s.pos, s.pos + 1, CLOSING[s.stack[-1]], "wrong-closer")
        self._pop(instead, s.pos + 1)
        if s.mode != "after":
            return [*options, instead]
        s.replace(s.pos + 1, "", "extra-closer")
        return [*options, instead, s]

    def _close(self, s: WalkState, char: str) -> None:
        """Close the last open bracket."""
        top, pos = s.stack[-1], s.pos
        self._drop_pending_comma(s)
        if char != CLOSING[top]:
            s.record(pos, pos + 1, CLOSING[top], "tuple" if top in ")t" else "wide-punctuation")
        if top == "D" and self.text.startswith(char, pos + 1):
            s.record(pos + 1, pos + 2, "", "doubled-brace")
            pos += 1
        self._pop(s, pos + 1)

    def _pop(self, s: WalkState, end: int) -> None:
        s.stack, s.pos, s.comma = s.stack[:-1], end, None
        s.end_value("container")

    def _confirm_comma(self, s: WalkState) -> None:
        """Something follows the last comma, so the comma stands."""
        if s.pending and s.comma:
            start, end = s.comma
            if self.text[start:end] != ",":
                s.record(start, end, ",", COMMAS.get(self.text[start:end], "missing-comma"))
            s.pending = False

    def _drop_pending_comma(self, s: WalkState) -> None:
        """Nothing follows the last comma."""
        if s.pending and s.comma:
            s.record(*s.comma, "", "trailing-comma")
            s.pending = False

    def _brace_as_key(self, s: WalkState) -> Stop | None:
        """Read a brace in place of a key: a doubled one, or a closing one is missing before it."""
        if s.mode == "key":
            return self._close_objects(s)
        if s.last != s.pos or s.stack[-1] == "D":
            return "stuck"
        s.replace(s.pos + 1, "", "doubled-brace")
        s.stack, s.last = s.stack[:-1] + "D", s.pos
        return None

    def _close_objects(self, s: WalkState) -> Stop | None:
        """Supply missing closing braces before the next object."""
        inner = s.stack.rstrip("}D")
        if not inner and not DATA.match(self.text, s.pos):
            return "stuck"
        for _ in range(len(s.stack) - len(inner)):
            s.record(s.last, s.last, "}", "missing-closer")
        s.stack, s.kind = inner, "container"
        s.mode = "item" if s.pending and inner else "after"
        if not inner:
            s.pos, s.pending = s.last, False
        return None

    def _close_list(self, s: WalkState) -> Stop | None:
        """Read a colon in a list: the list ended before the last string, which is a key of the object around it."""
        if s.kind != "string" or not s.comma or s.comma[0] == s.comma[1] or s.stack[-2:-1] not in ("}", "D"):
            return "stuck"
        s.record(s.comma[0], s.comma[0], "]", "missing-closer")
        s.stack, s.mode = s.stack[:-1], "colon"
        return None

    # -- the end of the text

    def finish(self, s: WalkState) -> bool:
        """Close what is open where the text ends. Returns whether there is a value.

        If the value is known to be complete (`closed`), only closing brackets are missing. Otherwise the text is
        truncated: an incomplete member or item is left out, an incomplete string is kept as far as it goes.
        """
        if self.closed:
            if s.opened >= 0 or s.mode == "start":
                return False
            self._drop_member(s, "missing-value")
        elif s.opened >= 0 and (s.mode not in KEYS):
            self._close_string(s)
        elif s.mode == "start":
            return False
        elif s.mode in ("key", "item") and s.comma and s.pending:
            s.drop(s.comma[0], self.end, "cut-text")
            s.pending = False
        elif s.mode != "after" and (s.mode not in ("first item", "first key") or s.pos < self.end):
            self._drop_member(s, "cut-text")
        self._drop_pending_comma(s)
        at = s.last if self.closed and (s.edits is None or s.edits[2] <= s.last) else self.end
        for name in reversed(s.stack):
            s.record(at, at, CLOSING[name], "missing-closer" if self.closed else "cut-container")
        s.pos = max(s.pos, at)
        return True

    def _drop_member(self, s: WalkState, code: str) -> None:
        """Leave out the member or item that the text ends in."""
        if s.mode == "after" or (code == "missing-value" and s.mode not in ("colon", "value")):
            return
        start = s.key if s.mode in ("colon", "value", "first key", "key") else s.pos
        if s.comma:
            start, s.pending = min(s.comma[0], start), False
        if start < self.end:
            s.drop(start, self.end, code)

    def _close_string(self, s: WalkState) -> None:
        """End the string that the text ends in."""
        quote = self.text[s.opened]
        end = truncated_end(self.text, s.opened + 1, self.end)
        if quote != '"':
            s.record(s.opened, s.opened + 1, '"', "quote-style")
        s.edits = (s.edits, s.opened + 1, end, quote, "string")
        if end < self.end:
            s.record(end, self.end, "", "cut-text")
        s.record(self.end, self.end, '"', "cut-string")
        s.mode = "after"
