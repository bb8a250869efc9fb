"""The text of a string that is still being written, as far as it is certain: of an action that types, of an answer."""

from __future__ import annotations

import re
from typing import Any

from outspoken.results.events import ActionText, Event, TextDelta

_STOP = re.compile(r"['\"\\]")
_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_JSON_ESCAPED = {"\\": "\\", '"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CODE = re.compile(r"u[0-9a-fA-F]{0,4}")
#: as much of an escape as has come that may be the second half of a pair
_LOW = re.compile(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]{0,2})?)?)?)?")


class PartialString:
    """What is certain of a text that is being read.

    `sent` is what was certain so far, `has_sent` whether that is anything. Of a quoted string, what comes before
    anything that is not plain is certain: a quote that may or may not end it, an escape that few write. `held` is the
    part of an escape that has come. `key` is the argument that holds it, `again` says that it was given twice.
    """

    __slots__ = ("_over", "_quote", "_sent", "again", "has_sent", "held", "key")

    #: the event that brings more of it
    delta: type[Any] = TextDelta

    def __init__(self, key: str) -> None:
        self.key, self.again = key, False
        self.held: str = ""
        self._quote: str = ""
        self._over = self.has_sent = False
        self._sent: list[str] = []

    @property
    def sent(self) -> str:
        """All that was certain so far."""
        if len(self._sent) > 1:
            self._sent = ["".join(self._sent)]
        return self._sent[0] if self._sent else ""

    def complete(self, text: str) -> None:
        """All of it was sent."""
        self._sent, self.has_sent = [text], bool(text)

    def bare(self, piece: str) -> str:
        """More of a text without quotes. Returns what became certain."""
        return "" if self._over else self._certain(piece)

    def end(self) -> None:
        """The argument that held it is over; another one begins."""
        self._over = True

    def event(self, index: int, text: str) -> Event:
        """The event that brings more of it, of the action with this number."""
        raise NotImplementedError

    def goes_on_in(self, segment: Any, name: str | None) -> bool:
        """Does what was read at last go on from what was sent, where the call or action is called so?"""
        raise NotImplementedError

    def quoted(self, piece: str) -> str:
        """More of a literal, from its first character on, or the blanks before it. Returns what became certain."""
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
        """The character of an escape, behind its backslash, and its end. None where more of it has to come."""
        raise NotImplementedError


class PartialTypedText(PartialString):
    """The text that an action types. The last line break is kept back, since at the end it may stand for Enter."""

    __slots__ = ("_break",)
    delta = ActionText

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self._break = ""

    def event(self, index: int, text: str) -> Event:
        """More of the text that an action types."""
        return ActionText(index, text)

    def goes_on_in(self, segment: Any, name: str | None) -> bool:
        """Is it the action, with a text that begins with what was sent?"""
        typed = getattr(segment, "type", "") == "type_text" and segment.name == name
        return typed and segment.text.startswith(self.sent)

    def _certain(self, text: str) -> str:
        text = self._break + text
        self._break = "\n" if text.endswith("\n") else ""
        return super()._certain(text[: len(text) - len(self._break)])

    def _escape(self, piece: str, pos: int) -> tuple[str | None, int]:
        if pos == len(piece):
            return None, pos
        char = _ESCAPED.get(piece[pos])
        self._over = char is None
        return char or "", pos + 1


class PartialAnswer(PartialString):
    """The text of an answer: all that JSON's escapes say, which is never taken back.

    `begun` is the offset at which its value begins; `is_bare` says that it is written without quotes. The first half of
    a pair of surrogates waits for the second.
    """

    __slots__ = ("begun", "is_bare")

    def __init__(self, begun: int, *, is_bare: bool = False) -> None:
        super().__init__("")
        self.begun, self.is_bare = begun, is_bare

    def event(self, index: int, text: str) -> Event:
        """More text to show."""
        return TextDelta(text)

    def goes_on_in(self, segment: Any, name: str | None) -> bool:
        """Is it text that begins with what was sent?"""
        return segment.kind == "text" and segment.text.startswith(self.sent)

    def _escape(self, piece: str, pos: int) -> tuple[str | None, int]:
        if pos == len(piece):
            return None, pos
        if piece[pos] != "u":
            char = _JSON_ESCAPED.get(piece[pos])
            self._over = char is None
            return char or "", pos + 1
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
