"""The certain text of a string that is still arriving: the text of an action that types, or of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.replies import Segment, Text

if TYPE_CHECKING:
    from outspoken.results.events import Event

_STOP = lazy_pattern(r"['\"\\]")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_JSON_ESCAPES = {"\\": "\\", '"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CODE = lazy_pattern(r"u[0-9a-fA-F]{0,4}")
#: the second half of a surrogate pair, or the beginning of its escape
_LOW = lazy_pattern(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]{0,2})?)?)?)?")


class PartialString:
    """The certain text of a string that arrives in pieces.

    `sent` is the text that was certain so far. In a quoted string, text is certain up to what may get another meaning:
    an incomplete escape, which is in `held`, or an escape that cannot be read, which ends it. `key` is the argument
    that the string belongs to; `repeated` says that the argument is given twice.

    pydantic's `from_json(allow_partial="trailing-strings")` would read the string from its start with each piece, does
    not say what it leaves out at the end, and refuses lone surrogates.
    """

    __slots__ = ("_over", "_quote", "_sent", "has_sent", "held", "key", "repeated")

    #: the characters that an escape may stand for, by the one behind its backslash
    escapes: ClassVar[dict[str, str]] = _ESCAPES

    def __init__(self, key: str) -> None:
        self.key = key
        self.repeated = self.has_sent = False
        self.held: str = ""
        self._quote: str = ""
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
            self._quote, piece = piece[:1], piece[1:]
            self._over = self._quote not in ("", "'", '"')
        certain: list[str] = []
        piece, self.held = self.held + piece, ""
        pos = 0
        while not self._over and pos < len(piece):
            match = _STOP.search(piece, pos)
            certain.append(piece[pos : match.start() if match else len(piece)])
            if match is None:
                break
            pos = match.end()
            if match[0] == "\\":
                char, pos = self._escape(piece, pos)
                if char is None:
                    self.held = piece[match.start() :]
                    break
                certain.append(char)
            elif match[0] == self._quote:
                self._over = True
            else:
                certain.append(match[0])
        return self._certain("".join(certain))

    def _certain(self, text: str) -> str:
        if text:
            self._sent.append(text)
            self.has_sent = True
        return text

    def _escape(self, piece: str, pos: int) -> tuple[str | None, int]:
        """Read an escape behind its backslash. Returns its character, None if it is incomplete, and its end."""
        if pos == len(piece):
            return None, pos
        char = self.escapes.get(piece[pos])
        self._over = char is None
        return char or "", pos + 1


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
    escapes = _JSON_ESCAPES

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
        for at, char in enumerate(raw):
            held = len(read.held)
            read.feed_quoted(char)
            if read.is_over:
                return raw[at - held :]
        return ""

    def _escape(self, piece: str, pos: int) -> tuple[str | None, int]:
        if not piece.startswith("u", pos):
            return super()._escape(piece, pos)
        digits = _CODE.match(piece, pos)
        end = pos + 5
        if digits is None or digits.end() < end:
            self._over = digits is None or digits.end() < len(piece)
            return ("" if self._over else None), pos
        code = int(piece[pos + 1 : end], 16)
        if not 0xD800 <= code < 0xE000:
            return chr(code), end
        low = _LOW.match(piece, end, end + 6)
        there = low.end() - end if low is not None else 0
        if code >= 0xDC00 or (there < 6 and end + there < len(piece)):
            return "\ufffd", end
        if there < 6:
            return None, pos
        return chr(0x10000 + ((code - 0xD800) << 10) + int(piece[end + 2 : end + 6], 16) - 0xDC00), end + 6
