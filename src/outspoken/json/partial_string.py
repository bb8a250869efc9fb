"""The certain text of a string that is still arriving: the text of an action that types, or of an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Segment, Text

if TYPE_CHECKING:
    from outspoken.results.events import Event

_TEXT = r"(?P<text>[^'\"\\]+|['\"])"
_XX, _XXX = "[0-9a-fA-F]{2}", "[0-9a-fA-F]{0,3}"
_HIGH = rf"[dD][89abAB]{_XX}"
#: The tokens of a string literal of Python, and of one of JSON; `begun` is an escape that more text may complete.
_PYTHON = lazy_pattern(rf"{_TEXT}|(?P<escape>\\[\\'\"nrt])|(?P<begun>\\\Z)|(?P<wrong>\\)")
_JSON = lazy_pattern(
    rf"{_TEXT}|(?P<begun>\\(?:u(?:{_XXX}|{_HIGH}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?))?\Z)"
    rf"|(?P<escape>\\(?:[\"\\/bfnrt]|u{_HIGH}\\u[dD][c-fC-F]{_XX}|u{_XX}{_XX}))|(?P<wrong>\\)"
)


class PartialString:
    """The certain text of a string that arrives in pieces.

    `sent` is the text that was certain so far. In a quoted string, text is certain up to what may get another meaning:
    an incomplete escape, which is in `held`, or an escape that cannot be read, which ends it; `rest` is what was read
    from there on. `key` is the argument that the string belongs to; `repeated` says that the argument is given twice.

    pydantic's `from_json(allow_partial="trailing-strings")` would read the string from its start with each piece, does
    not say what it leaves out at the end, and refuses lone surrogates.
    """

    __slots__ = ("_over", "_quote", "_sent", "has_sent", "held", "key", "repeated", "rest")

    #: what a quoted string is made of
    tokens: ClassVar = _PYTHON

    def __init__(self, key: str) -> None:
        self.key = key
        self.repeated = self.has_sent = False
        self.held = self.rest = self._quote = ""
        self._over = False
        self._sent: list[str] = []

    @property
    def sent(self) -> str:
        """All text that was certain so far."""
        if len(self._sent) > 1:
            self._sent = ["".join(self._sent)]
        return self._sent[0] if self._sent else ""

    def complete(self, text: str) -> None:
        """All of the text was sent by other means."""
        self._sent, self.has_sent = [text], bool(text)

    @property
    def is_over(self) -> bool:
        """Has the string ended, or can no more of it be read?"""
        return self._over

    def close(self) -> None:
        """The string is over: another argument begins."""
        self._over = True

    def event(self, index: int, text: str) -> Event:
        """The event that carries more of the text; `index` is the number of the action."""
        raise NotImplementedError

    def continues_in(self, segment: Segment, name: str | None) -> bool:
        """Is a recovered segment the same call or action, with a text that begins with `sent`?"""
        raise NotImplementedError

    def feed_bare(self, piece: str) -> str:
        """Read more of a text without quotes. Returns what became certain."""
        return "" if self._over else self._certain(piece)

    def feed_quoted(self, piece: str) -> str:
        """Read more of a string literal, white space before it included. Returns what became certain."""
        if self._over:
            return ""
        if not self._quote:
            piece = piece.lstrip(" \t\r\n")
            if piece and piece[0] not in "'\"":
                self._over, self.rest = True, piece
                return ""
            self._quote, piece = piece[:1], piece[1:]
        certain: list[str] = []
        piece, self.held = self.held + piece, ""
        for match in self.tokens.finditer(piece):
            kind, token = match.lastgroup, match[0]
            if kind == "begun":
                self.held = token
            elif kind == "wrong" or token == self._quote:
                self._over, self.rest = True, piece[match.start() :]
                break
            else:
                certain.append(self._unescaped(token) if kind == "escape" else token)
        return self._certain("".join(certain))

    def _unescaped(self, escape: str) -> str:
        """The character that an escape stands for."""
        return {"n": "\n", "r": "\r", "t": "\t"}.get(escape[1], escape[1])

    def _certain(self, text: str) -> str:
        if text:
            self._sent.append(text)
            self.has_sent = True
        return text


class PartialTypedText(PartialString):
    """The text that an action types, with Python escapes. A last line break is held back: it may stand for Enter."""

    __slots__ = ("_break", "_start")

    def __init__(self, key: str, start: int) -> None:
        super().__init__(key)
        self._break, self._start = "", start

    def event(self, index: int, text: str) -> Event:
        from outspoken.results.events import PlacedActionText  # which only streams need

        return PlacedActionText(index, text, self._start)

    def continues_in(self, segment: Segment, name: str | None) -> bool:
        from outspoken.results.actions.keyboard import TypeText

        if not isinstance(segment, TypeText) or segment.name != name:
            return False
        return (segment.text or "").startswith(self.sent)

    def _certain(self, text: str) -> str:
        text = self._break + text
        self._break = "\n" if text.endswith("\n") else ""
        return super()._certain(text[: len(text) - len(self._break)])


class PartialAnswer(PartialString):
    """The text of an answer, with JSON escapes.

    `begun` is the offset where its value begins; `is_bare` says that it has no quotes. The first half of a surrogate
    pair is held back until the second half arrives.
    """

    __slots__ = ("begun", "is_bare")
    tokens = _JSON

    def __init__(self, begun: int, *, is_bare: bool = False) -> None:
        super().__init__("")
        self.begun, self.is_bare = begun, is_bare

    def event(self, index: int, text: str) -> Event:
        from outspoken.results.events import PlacedText  # which only streams need

        return PlacedText(text, self.begun, self.begun, exact=not self.is_bare)

    def continues_in(self, segment: Segment, name: str | None) -> bool:
        return isinstance(segment, Text) and segment.text.startswith(self.sent)

    def rest_of(self, raw: str) -> str:
        """What stands behind `sent` in the raw text of the value; "" if nothing ended the string before."""
        if self.is_bare:
            return ""
        read = PartialAnswer(self.begun)
        read.feed_quoted(raw)
        return read.rest

    def _unescaped(self, escape: str) -> str:
        return replace_surrogates(json.loads(f'"{escape}"'))
