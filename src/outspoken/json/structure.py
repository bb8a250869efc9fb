"""The walk over the tokens of damaged JSON. It builds no value: it records the edits that make the text JSON.

All that a walk knows is in its `WalkState`, so that a search can copy the state and try two readings. The walk is
deterministic; it stops where it has to choose, at the end of the text, and where no rule fits.
"""

from __future__ import annotations

import re

from outspoken.patterns.lazy import lazy_pattern

from . import tokens
from .brackets import KEYS, BracketRules, Stop, WalkOptions, WalkState
from .decoder import BLANKS, total_pattern

#: a comma and those behind it; only used at a comma
_COMMAS = total_pattern(r"[,，、;；](?:[ \t\r\n]*[,，、;；])*")
_ENDED = lazy_pattern(r"\s*(?:[,}\]，｝］】]|\Z)")
_KEYED = lazy_pattern(r"\s*[:：]")
#: a key without quotes, and what begins its value
_BARE_MEMBER = lazy_pattern(r"[A-Za-z_]\w*\s*[:：]\s*(?:[\"'“‘＂{\[｛［【]|-?[0-9]|(?:[Tt]rue|[Ff]alse|null|None)\b)")
#: a key that lost its first quote
_LOST_KEY = lazy_pattern(r"[\w$][\w$ .\-]{0,40}\"(?=\s*:)")
KEY_FIRST = lazy_pattern(r'"(?:[^"\\\n]|\\.){0,80}"\s*:')
_TRIPLE = lazy_pattern(
    r"(?P<mark>\"\"\"|''')(?P<body>(?:\\.|[^\\])*?)(?P=mark)(?![\"'])(?=\s*(?:[,}\]:]|\Z))", re.DOTALL
)


class StructureWalk(BracketRules):
    """Walks over the tokens of one value."""

    def __init__(self, text: str, max_depth: int, options: WalkOptions, damage: int = 0) -> None:
        super().__init__(text, max_depth, options, damage)
        #: tripled quotes that are not found a second time
        self._untripled: set[str] = set()
        self._rules = {
            "start": self._value, "first item": self._value, "item": self._value, "value": self._value,
            "first key": self._key, "key": self._key, "colon": self._colon, "after": self._after,
        }  # fmt: skip

    def run(self, s: WalkState, steps: int) -> Stop:
        """Walk on until the value is done, a choice is needed, the text ends, or no rule fits."""
        stop: Stop | None = None
        rules, text, end = self._rules, self.text, self.end
        if s.mode == "start" and KEY_FIRST.match(self.text, s.pos):
            s.record(s.pos, s.pos, "{", "missing-opener")
            s.stack, s.mode = "}", "first key"
        for _ in range(steps):
            self.steps += 1
            if s.mode == "after" and not s.stack:
                return "done"
            pos = s.pos
            if not ((pos < end and " " < text[pos] < "\x7f" and text[pos] not in "/#") or self._blank(s)):
                return "end"
            if (stop := rules[s.mode](s)) is not None:
                return stop
        return "stuck"

    def _blank(self, s: WalkState) -> bool:
        """Skip white space and comments. Returns whether there is more text."""
        text = self.text
        pos = BLANKS.match(text, s.pos).end()
        while pos < self.end and (text[pos] in "/#" or not text[pos].isascii() or text[pos] in "\f\v"):
            match = tokens.BLANK.match(text, pos)
            if match is None:
                break
            if match.lastgroup == "comment":
                s.record(pos, match.end(), "", "comment")
            elif match.lastgroup:
                s.record(pos, match.end(), "", "odd-space")
            pos = BLANKS.match(text, match.end()).end()
        s.pos = pos
        return pos < self.end

    # -- values

    def _value(self, s: WalkState) -> Stop | None:
        """Read a value, or the end of a list."""
        char = self.text[s.pos]
        if char in tokens.QUOTES:
            self._confirm_comma(s)
            return self.string(s, char) if self.first_quote_ends else None if self._triple(s) else "string"
        if char in tokens.OPENERS:
            self._confirm_comma(s)
            return self._open(s, char)
        if char in tokens.CLOSERS:
            return self._closer(s, char)
        if char in tokens.COMMAS:
            return self._no_value(s)
        if s.mode == "value" and char in ":：":
            return s.replace(s.pos + 1, "", "extra-colon")
        if s.mode in ("first item", "item") and self._skip_ellipsis(s):
            return None
        self._confirm_comma(s)
        return self._scalar(s)

    def _scalar(self, s: WalkState) -> Stop | None:
        """Read a number, a literal or bare words."""
        text, pos = self.text, s.pos
        if s.mode == "value" and (match := tokens.THOUSANDS.match(text, pos)):
            return self._read(s, match.end(), f'"{match[0]}"', "thousands-separator")
        if match := tokens.STRICT.match(text, pos):
            if match.lastgroup == "number" and self._unended(s, match.end()):
                return "end"
            s.pos = match.end()
            return s.end_value("scalar")
        if match := tokens.WORDS.match(text, pos):
            if match[0] in tokens.LITERALS:
                return self._read(s, match.end(), tokens.LITERALS[match[0]], "python-literal")
            if match[0] in tokens.NOT_FINITE:
                return self._read(s, match.end(), f'"{match[0]}"', "not-finite")
        if (match := tokens.LOOSE.match(text, pos)) and (number := tokens.loose_number(match[0])) is not None:
            return "end" if self._unended(s, match.end()) else self._read(s, match.end(), number, "loose-number")
        if s.stack and not self.closed and tokens.CUT_SCALAR.match(text, pos):
            return "end"
        return self._bare(s)

    def _unended(self, s: WalkState, end: int) -> bool:
        """Is a number perhaps incomplete, as the text is truncated behind it?"""
        return end == self.end and not self.closed and bool(s.stack)

    def _read(self, s: WalkState, end: int, after: str, code: str) -> Stop | None:
        s.replace(end, after, code)
        return s.end_value("scalar")

    def _bare(self, s: WalkState) -> Stop | None:
        """Read words without quotes inside an object, if nothing else can be meant."""
        match = tokens.BARE.match(self.text, s.pos) if self.allow_bare and ("}" in s.stack or "D" in s.stack) else None
        if match is None or (s.comma and s.comma[0] == s.comma[1] == s.last and s.mode == "item"):
            return "stuck"
        end = match.end()
        if (closing := tokens.BARE_END.match(self.text, end)) is None or end - s.pos > 200:
            return "stuck"
        word = self.text[s.pos : end].rstrip()
        if closing.end() == self.end and not self.closed:
            return "end"
        if not any(char.isalnum() for char in word):
            return "stuck"
        escaped = word if tokens.ESCAPED.fullmatch(word) else word.replace("\\", "\\\\")
        s.replace(s.pos + len(word), f'"{escaped}"', "bare-value")
        return s.end_value("scalar")

    def _no_value(self, s: WalkState) -> Stop | None:
        """Read a comma in place of a value."""
        if s.mode == "start":
            return "stuck"
        if s.mode == "value":
            s.drop(s.key, s.last, "missing-value")
            s.mode, s.pending = ("key", True) if s.comma else ("first key", False)
            return None
        return self._extra_comma(s)

    def _extra_comma(self, s: WalkState) -> None:
        """Drop commas with nothing before them."""
        s.replace(_COMMAS.match(self.text, s.pos).end(), "", "extra-comma")

    def _skip_ellipsis(self, s: WalkState) -> bool:
        """Drop dots that stand for omitted items, with the comma behind them. Returns whether they do."""
        if (match := tokens.ELLIPSIS.match(self.text, s.pos)) is None:
            return False
        end = match.end()
        after = BLANKS.match(self.text, end).end()
        char = self.text[after : after + 1]
        if char and char in tokens.COMMAS:
            end = after + 1
        elif char not in tokens.CLOSERS:
            return False
        s.replace(end, "", "ellipsis")
        return True

    # -- strings

    def string(self, s: WalkState, quote: str) -> Stop | None:
        """Read a string up to the first quote that closes it."""
        text = self.text
        if quote == '"' and (match := tokens.SOUND.match(text, s.pos)) and not text.startswith('"""', s.pos):
            self.end_string(s, match.end())
            return None
        if self._triple(s):
            return None
        match = tokens.STRING_REST[quote].match(text, s.pos + 1)
        if match is None:
            s.opened = s.pos
            return "end"
        self.take_string(s, s.pos, s.pos + 1, match.start(1), match.end(), quote)
        return None

    def _triple(self, s: WalkState) -> bool:
        """Read a string in tripled quotes, as in Python. Returns whether there is one."""
        mark = self.text[s.pos : s.pos + 3]
        if mark not in ('"""', "'''") or mark in self._untripled:
            return False
        if (match := _TRIPLE.match(self.text, s.pos)) is None:
            self._untripled.add(mark)
            return False
        start, end = match.span("body")
        if self.text.startswith(mark[0], start) and self.text.startswith(mark[0], end - 1):
            return False  # tripled quotes inside a string
        s.record(s.pos, start, '"', "quote-style")
        s.edits = (s.edits, start, end, match["mark"], "string")
        s.record(end, match.end(), '"', "quote-style")
        self.end_string(s, match.end())
        return True

    def take_string(
        self, s: WalkState, start: int, body: int, close: int, end: int, quote: str, *, is_guess: bool = False
    ) -> None:
        """Read a string whose quotes are text[start:body] and text[close:end]; either may be missing."""
        for first, last in ((start, body), (close, end)):
            if first == close:
                s.edits = (s.edits, body, close, quote, "guess" if is_guess else "string")
            if first == last:
                s.record(first, last, '"', "lost-quote")
            elif self.text[first:last] != '"':
                s.record(first, last, '"', "quote-style")
        self.end_string(s, end)

    def end_string(self, s: WalkState, end: int) -> None:
        """A key or a value ends here, which was a string."""
        if s.mode in KEYS:
            s.key, s.pos, s.last, s.mode = s.pos, end, end, "colon"
        else:
            s.key, s.pos = s.pos, end
            s.end_value("string")

    # -- members

    def _key(self, s: WalkState) -> Stop | None:
        """Read a key, or the end of an object."""
        text, pos = self.text, s.pos
        char = text[pos]
        if char in tokens.QUOTES:
            if char == '"' and s.mode == "key" and self._sound_members(s):
                return None
            self._confirm_comma(s)
            s.key = pos
            return self.string(s, char) if self.first_quote_ends else "string"
        if char in tokens.CLOSERS:
            return self._closer(s, char)
        if char in tokens.COMMAS:
            return self._extra_comma(s)
        if char in "{｛":
            return self._brace_as_key(s)
        if self._skip_ellipsis(s):
            return None
        if match := tokens.BARE_KEY.match(text, pos) or (self.allow_bare and tokens.KEY_ALONE.match(text, pos)) or None:
            self._confirm_comma(s)
            s.record(pos, match.end(), f'"{match[0]}"', "bare-key")
            self.end_string(s, match.end())
            return None
        if not self.first_quote_ends and (match := _LOST_KEY.match(text, pos)):
            self._confirm_comma(s)
            s.record(pos, pos, '"', "lost-quote")
            self.end_string(s, match.end())
            s.key = pos
            return None
        return "stuck"

    def _colon(self, s: WalkState) -> Stop | None:
        """Read the colon between a key and its value."""
        text, pos = self.text, s.pos
        if match := tokens.COLON.match(text, pos):
            if match.lastgroup:
                s.record(pos, match.end(), ":", "wide-punctuation" if match.lastgroup == "wide" else "other-separator")
            s.pos = s.last = match.end()
        elif text[pos] in tokens.OPENERS or self._word(pos) or self._value_string(s):
            s.record(s.last, s.last, ":", "missing-colon")
        else:
            return "stuck"
        s.mode = "value"
        return None

    def _value_string(self, s: WalkState) -> bool:
        """Does a string begin here that can be the value of the last key?"""
        if self.text[s.pos] not in tokens.QUOTES:
            return False
        return s.pos > s.last or self._is_followed(s.pos, _ENDED) or self._is_followed(s.pos, _BARE_MEMBER)

    def _is_followed(self, pos: int, what: re.Pattern[str]) -> bool:
        """Does a string begin here, and is it followed by a match?"""
        quote = self.text[pos]
        match = tokens.STRING_REST[quote].match(self.text, pos + 1) if quote in tokens.QUOTES else None
        return match is not None and what.match(self.text, match.end()) is not None

    def _word(self, pos: int) -> bool:
        """Does a number or a literal stand here?"""
        if tokens.STRICT.match(self.text, pos) or tokens.LOOSE.match(self.text, pos):
            return True
        match = tokens.WORDS.match(self.text, pos)
        return match is not None and match[0] in tokens.LITERALS

    def _after(self, s: WalkState) -> Stop | None:
        """Read what follows a value in an object or list."""
        text, pos, top = self.text, s.pos, s.stack[-1]
        char = text[pos]
        if char in tokens.COMMAS:
            s.comma, s.pending, s.pos = (pos, pos + 1), True, pos + 1
            s.mode = "key" if top in "}D" else "item"
            if top == ")":
                s.stack = s.stack[:-1] + "t"
            return None
        if char in tokens.CLOSERS:
            return self._closer(s, char)
        if s.kind == "container" and char in "\"'”" and _ENDED.match(text, pos + 1):
            s.record(pos, pos + 1, "", "stray-quote")
            s.pos = s.last = pos + 1
            return None
        if top in "}D":
            if char in "{｛":
                return self._close_objects(s)
            starts = char in tokens.QUOTES or tokens.BARE_KEY.match(text, pos) or tokens.KEY_ALONE.match(text, pos)
        elif char in ":：":
            return self._close_list(s)
        else:
            starts = char in tokens.QUOTES or char in tokens.OPENERS or self._word(pos)
        if not starts or (pos == s.last and char not in tokens.OPENERS and not self._apart(s)):
            return "stuck"
        s.record(s.last, s.last, ",", "missing-comma")
        s.comma, s.mode = (s.last, s.last), "key" if top in "}D" else "item"
        return None

    def _apart(self, s: WalkState) -> bool:
        """Is the text directly behind a value certainly another token?"""
        if s.kind == "container":
            return True
        if s.stack[-1] not in "}D":
            return (s.kind == "string" and self._word(s.pos)) or self._is_followed(s.pos, _ENDED)
        if s.kind == "string" and _BARE_MEMBER.match(self.text, s.pos):
            return True
        return self._is_followed(s.pos, _KEYED)
