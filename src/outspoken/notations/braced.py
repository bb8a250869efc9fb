"""Objects in braces with marks around strings: `{city:<|"|>Rome<|"|>,days:3}`.

Keys are bare, between marks, or JSON strings. Values are the same, or objects and lists. There are no escapes between
marks. Bare values get their types from the tool's schema, or are read as JSON. Models also write `city='Rome'` and
`` `Rome` ``: such a string ends where something may follow one. Whether a backslash before such a quote is an escape is
not known, so that breaks the object. In place of the outermost braces, parentheses are read: `(city='Rome')`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

from outspoken.json.decoder import BLANKS, TotalPattern, decode, total_pattern
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import MarkupSearch

from .coerce import ANY, SchemaView, escape, to_json
from .transcoder import MarkedNotation, ReadValue, Transcoder, overlap, search_mark

_JSON_STRING = total_pattern(r'(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_ESCAPE_BEGUN = lazy_pattern(r"\\(?:u[0-9a-fA-F]{0,3})?")
#: a bare value with this in it lacks a comma before the next key
_NEXT_KEY = lazy_pattern(r"\s[\w.$\-]+\s{0,9}:(?!//)")
_PLAIN_KEY = lazy_pattern(r"[\w.$\-]+")
#: how many opening marks may be missing, and how many places are tried for each mark
_MAX_UNOPENED, _MAX_PLACES = 8, 8

#: what stands behind a string and before one
_BEHIND, _BEFORE = frozenset(",}]"), frozenset(":,[{")

#: other signs around strings, and what is expected behind a string but has not arrived as a whole
_QUOTES = frozenset("'`")
_AFTER_BEGUN = lazy_pattern(r"\s{0,99}(?:,\s{0,99}(?:[\w.$\-]{1,200}\s{0,99})?)?")

#: the characters of short bare values and keys
_SHORT = string.ascii_letters + string.digits + "_.-"

#: What a scanner expects next: a value; the first item or the end of a list; a key; the first key or the end of an
#: object; a colon; a comma or the end.
_VALUE, _FIRST, _KEY, _FIRST_KEY, _COLON, _AFTER = range(6)


class _Level:
    """An open object or list, and the key of the next value."""

    __slots__ = ("is_list", "schema_view", "key", "more")

    def __init__(self, schema_view: SchemaView, *, is_list: bool) -> None:
        self.schema_view, self.is_list = schema_view, is_list
        self.key = ""
        self.more = False


class _Patterns(NamedTuple):
    value: TotalPattern
    key: TotalPattern
    #: a bare key with a short bare value or with text between marks
    pair: re.Pattern[str]
    #: what follows a string in other quotes; it takes a mark that closes nothing with it
    after_quote: re.Pattern[str]


@lru_cache(maxsize=64)
def _patterns(mark: str, closers: str = "}]") -> _Patterns:
    """The patterns for a mark. Bare values and keys hold no punctuation, and not the first character of the mark.

    `closers` end an object or a list.
    """
    first, whole = re.escape(mark[0]), re.escape(mark)
    quoted = rf"[^{first}]*(?:(?!{whole}){first}[^{first}]*)*"
    short, ends = re.escape(_SHORT.replace(mark[0], "")), re.escape(closers)
    openers = "{\\[(" if ")" in closers else "{\\["
    return _Patterns(
        total_pattern(rf"[^,{openers}{ends}\r\n{first}]*"),
        total_pattern(rf'[^,:={{}}\[\]"\r\n{first}]*'),
        re.compile(rf"([{short}]+):(?:{whole}({quoted}){whole}|([{short}]+))([,}}])"),
        re.compile(
            rf"(?:{whole})?(?=\s{{0,99}}(?:[{ends}]|,\s{{0,99}}(?:[\w.$\-]{{1,200}}\s{{0,99}}[:=]|{whole}|[\"'`{{\[])))"
        ),
    )


@lru_cache(maxsize=64)
def _marks_in(mark: str) -> MarkupSearch:
    """Finds a mark, intact or with a mistake."""
    return MarkupSearch([mark])


def _holds_mark(text: str, mark: str) -> bool:
    """Does a mark with a mistake end or begin a string in the text between two marks? Then it is more than one."""
    marks = _marks_in(mark)
    return marks.may_hold(text) and any(
        text[found.end : found.end + 1] in _BEHIND or text[max(found.start - 1, 0) : found.start] in _BEFORE
        for found in marks.find(text)
        if found.start > 0
    )


class BracedScanner(Transcoder):
    """Reads one object in braces that arrives in pieces, and transcodes it to JSON."""

    def __init__(self, mark: str, max_depth: int, schema_view: SchemaView) -> None:
        super().__init__()
        self._mark, self._max, self._schema_view = mark, max_depth, schema_view
        self._bare = _patterns(mark)
        self._want = _VALUE
        self._levels: list[_Level] = []
        #: what ends an object or a list; the outermost object may be in parentheses
        self._closers = "}]"
        #: the mark or quote that opened the string being read, "" in a bare value or key, None between tokens
        self._reading: str | None = None
        self._pieces: list[str] = []
        self._live = False

    @property
    def depth(self) -> int:
        return len(self._levels)

    @property
    def search_special(self) -> Callable[[str], re.Match[str] | None] | None:
        return search_mark(self._mark) if self._live and self._reading == self._mark else None

    def receive(self, piece: str) -> str:
        self._pieces.append(piece)
        return self._receive(escape(piece))

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        length, done = len(text), False
        while pos < length and not done and not self.broken:
            begun = pos
            if self._reading is None:
                pos = BLANKS.match(text, pos).end()
                if pos < length:
                    pos, done, waits = self._token(text, pos)
                    if waits:
                        break
            elif self._reading == "":
                pos = self._in_bare(text, pos)
            elif self._reading == '"':
                pos = self._in_json(text, pos)
                if pos == begun:
                    break
            elif self._reading in _QUOTES:
                pos, waits = self._in_quotes(text, pos)
                if waits:
                    break
            else:
                pos, waits = self._in_marks(text, pos)
                if waits:
                    break
        return pos, done

    # -- punctuation

    def _token(self, text: str, pos: int) -> tuple[int, bool, bool]:
        """Read what begins here. Returns where to go on, whether the object ended, and whether more text is needed."""
        char, want = text[pos], self._want
        if want == _COLON:
            self.broken = char not in ":="
            self._want = _VALUE
            return pos + (not self.broken), False, False
        if want == _AFTER and char == ",":
            self._want = _VALUE if self._levels[-1].is_list else _KEY
            return pos + 1, False, False
        if char in self._closers:
            return self._close(char, pos)
        if want == _AFTER or (not self._levels and char not in "{("):
            self.broken = True
            return pos, False, False
        if char in "{[" or not self._levels:
            self._open(char)
            return pos + (not self.broken), False, False
        if char == '"' or (char in _QUOTES and char != self._mark[0] and want in (_VALUE, _FIRST)):
            self._begin(char)
            return pos + 1, False, False
        if text.startswith(self._mark, pos):
            self._begin(self._mark)
            return pos + len(self._mark), False, False
        if char == self._mark[0]:
            waits = self._mark.startswith(text[pos:])
            self.broken = not waits
            return pos, False, waits
        self._begin("")
        return pos, False, False

    def _open(self, char: str) -> None:
        if self._want in (_KEY, _FIRST_KEY) or len(self._levels) >= self._max:
            self.broken = True
            return
        schema_view = self._place()
        if char == "(":
            self._closers = "}])"
            self._bare = _patterns(self._mark, self._closers)
        self._lead("[" if char == "[" else "{")
        self._levels.append(_Level(schema_view, is_list=char == "["))
        self._want = _FIRST if char == "[" else _FIRST_KEY

    def _close(self, char: str, pos: int) -> tuple[int, bool, bool]:
        level = self._levels[-1] if self._levels else None
        closer = "]" if level is not None and level.is_list else "}"
        due = ")" if len(self._levels) == 1 and ")" in self._closers else closer
        if level is None or char != due or self._want not in (_AFTER, _FIRST_KEY, _FIRST):
            self.broken = True
            return pos, False, False
        self._levels.pop()
        self._written.append(closer)
        self._want = _AFTER
        return pos + 1, not self._levels, False

    def _place(self) -> SchemaView:
        """The schema of the next value."""
        if not self._levels:
            return self._schema_view
        level = self._levels[-1]
        return level.schema_view.item if level.is_list else level.schema_view.member(level.key)

    def _lead(self, text: str) -> None:
        """Write a value, or its beginning, with the comma and key before it."""
        lead = ""
        if self._levels:
            level = self._levels[-1]
            lead = ", " if level.more else ""
            level.more = True
            if not level.is_list:
                lead += f"{to_json(level.key)}: "
        self._written.append(lead + text)

    # -- strings, bare values and keys

    def _begin(self, how: str) -> None:
        self._reading, self._pieces = how, []
        self._live = how == self._mark and self._want not in (_KEY, _FIRST_KEY) and self._place().may_be_text
        if self._live:
            self._lead('"')

    def _in_marks(self, text: str, pos: int) -> tuple[int, bool]:
        """Read text between marks. Returns where to go on, and whether more text is needed."""
        mark = self._mark
        end = text.find(mark, pos)
        stop = end if end >= 0 else len(text) - overlap(text, pos, mark)
        if stop > pos:
            self._pieces.append(text[pos:stop])
            if self._live:
                self._written.append(escape(text[pos:stop]))
        if end < 0:
            return stop, True
        quoted_text = "".join(self._pieces)
        if _holds_mark(quoted_text, mark):
            self.broken = True
            return stop, True
        self._end(quoted_text)
        return end + len(mark), False

    def _in_quotes(self, text: str, pos: int) -> tuple[int, bool]:
        """Read a string in other quotes. Returns where to go on, and whether more text is needed."""
        end = text.find(cast("str", self._reading), pos)
        stop = end if end >= 0 else len(text)
        self._pieces.append(text[pos:stop])
        if end < 0:
            return stop, True
        if "".join(self._pieces)[-1:] == "\\":
            self.broken = True
            return stop, True
        if (after := self._bare.after_quote.match(text, end + 1)) is not None:
            self._end("".join(self._pieces))
            return after.end(), False
        behind = end + 1 + len(self._mark) * text.startswith(self._mark, end + 1)
        if _AFTER_BEGUN.fullmatch(text, behind, len(text) - overlap(text, behind, self._mark)):
            return stop, True
        self._pieces.append(text[end])
        return end + 1, False

    def _in_json(self, text: str, pos: int) -> int:
        """Read a JSON string, up to an incomplete escape at the end of the text."""
        end = _JSON_STRING.match(text, pos).end()
        self._pieces.append(text[pos:end])
        if end == len(text):
            return end
        if text[end] == '"':
            self._end(decode(f'"{"".join(self._pieces)}"', 1))
            return end + 1
        begun = _ESCAPE_BEGUN.match(text, end)
        self.broken = begun is None or begun.end() < len(text)
        return end

    def _in_bare(self, text: str, pos: int) -> int:
        """Read a bare value or key."""
        key = self._want in (_KEY, _FIRST_KEY)
        end = (self._bare.key if key else self._bare.value).match(text, pos).end()
        self._pieces.append(text[pos:end])
        if end == len(text):
            return end
        word = "".join(self._pieces).strip()
        sound = text[end] in ":=" if key else text[end] in f",{self._closers}\r\n" and not _NEXT_KEY.search(word)
        if word and sound:
            self._end(word)
        else:
            self.broken = True
        return end

    def _end(self, text: str) -> None:
        """A string, a bare value or a key is complete."""
        how, self._reading = self._reading, None
        if self._want in (_KEY, _FIRST_KEY):
            self._levels[-1].key = text
            self._want = _COLON
            return
        self._want = _AFTER
        if self._live:
            self._written.append('"')
        else:
            schema_view = self._place()
            self._lead(to_json(schema_view.bare(text) if how == "" else schema_view.quoted(text)))


class BracedNotation(MarkedNotation):
    """Objects in braces with a mark around strings."""

    def __init__(self, mark: str) -> None:
        super().__init__(mark, "{(")

    def open_end(self, text: str, max_depth: int) -> str:
        return self._open_end(text, self.mark, max_depth)

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> BracedScanner:
        return BracedScanner(self.mark, max_depth, view)

    def read_plain(self, text: str, pos: int, view: SchemaView) -> ReadValue | None:
        """Read a complete object of pairs of bare keys and of bare values or text between marks."""
        if not text.startswith("{", pos):
            return None
        match_pair = _patterns(self.mark).pair.match
        value: dict[str, Any] = {}
        written: list[str] = []
        pos += 1
        while (match := match_pair(text, pos)) is not None:
            key, quoted, bare, after = match.groups()
            if quoted and _holds_mark(quoted, self.mark):
                return None
            member_view = view.member(key)
            member = value[key] = member_view.quoted(quoted) if bare is None else member_view.bare(bare)
            written.append(f"{to_json(key)}: {to_json(member)}")
            pos = match.end()
            if after == "}":
                return value, pos, f"{{{', '.join(written)}}}"
        return None

    def read_without_marks(
        self, text: str, pos: int, max_depth: int, view: SchemaView
    ) -> tuple[Any, int, str, list[int]] | None:
        """The same for an object in which opening marks are missing, with their places: `{city:Rome<|"|>}`.

        A mark that closes nothing shows that one is missing. Its string began behind punctuation; the nearest is tried
        first.
        """
        mark, places = self.mark, list[int]()
        end, done = self.scanner(max_depth).feed(text, pos)
        while not done and len(places) < _MAX_UNOPENED and text.startswith(mark, end):
            last = max(text.rfind(mark, pos, end) + len(mark) - 1, pos)
            for place in [i for i in range(end, last, -1) if text[i - 1] in ":,["][:_MAX_PLACES]:
                tried = f"{text[:place]}{mark}{text[place:]}"
                further, done = self.scanner(max_depth).feed(tried, pos)
                if done or further > end + 2 * len(mark):
                    places.append(place - len(mark) * len(places))
                    text, end = tried, further
                    break
            else:
                return None
        if not (done and places):
            return None
        value, end, written = self.read_at(text, pos, max_depth, True, view) or (None, 0, "")
        return value, end - len(places) * len(mark), written, places

    def write(self, value: Any) -> str | None:
        mark = self.mark
        if isinstance(value, str):
            return f"{mark}{value}{mark}" if f"{value}{mark}".find(mark) == len(value) else None
        if isinstance(value, dict):
            pairs = cast("dict[str, Any]", value).items()
            keys = [key if _PLAIN_KEY.fullmatch(key) else self.write(key) for key, _ in pairs]
            texts = [self.write(inner) for _, inner in pairs]
            whole = "{" + ",".join([f"{key}:{text}" for key, text in zip(keys, texts, strict=True)]) + "}"
            return None if None in keys or None in texts else whole
        if isinstance(value, list):
            items = [self.write(inner) for inner in cast("list[Any]", value)]
            return None if None in items else f"[{','.join(map(str, items))}]"
        return to_json(value)
