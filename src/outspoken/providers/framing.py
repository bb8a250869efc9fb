"""From bytes or text, split anywhere, to the JSON values in them: server-sent events, JSON lines, JSON lists.

Server-sent events are those of https://html.spec.whatwg.org/multipage/server-sent-events.html, read a little more
kindly: an event is complete with the line that completes its JSON.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from outspoken.json.scanner import BracketCounter

from .errors import ProviderFormatError
from .event_stream import EventStream

_LINE = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"(?:data|event|id|retry)?:")
_DONE = "[DONE]"
_BETWEEN = re.compile(r"(?:\[DONE\]|[\s,\]]|\[(?!D|\Z))*")
#: what may begin the line of an event
_NAMES = ("data", "event", "id", "retry")
#: A frame may be so many times as long as a response, since it may hold pictures besides.
_ROOM = 4

_SHOWN = 40
_NONE: Any = object()


def decoded(text: str, place: str) -> Any:
    """The JSON value of a text. Raises ProviderFormatError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProviderFormatError("", f"no JSON ({_why(error)}): {text[:_SHOWN]!r}", "a JSON object", place) from None


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at character {error.pos + 1}"
    return "nested too deeply"


class Framer:
    """Takes the pieces of a body, and gives the JSON values that they complete, as pairs of the event's name and it."""

    def __init__(self, max_chars: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._limit = _ROOM * max_chars
        self._reader: _Events | _Values | None = None
        self._frames: EventStream | None = None
        self._early = ""
        self._started = False

    def feed(self, piece: str | bytes) -> list[tuple[str, Any]]:
        """The values that a piece completes."""
        if isinstance(piece, bytes):
            if not self._started and piece:
                self._started = True
                if piece[0] == 0:
                    self._frames = EventStream(self._limit)
            if self._frames is not None:
                return self._frames.feed(piece)
            piece = self._decoder.decode(piece)
        elif not self._started:
            self._started = bool(piece)
            piece = piece.removeprefix("\ufeff")
        if self._reader is None:
            self._early = (self._early + piece).lstrip(" \t\r\n")
            if not self._early:
                return []
            self._reader = (_Values if self._early[0] in "{[" else _Events)(self._limit)
            piece, self._early = self._early, ""
        return self._reader.feed(piece)

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """The values that the end completes, and what is left over then of a value that never ended."""
        if self._frames is not None:
            return [], self._frames.rest()
        rest = self._decoder.decode(b"", final=True)
        found = self.feed(rest) if rest else []
        last, left = self._reader.close() if self._reader is not None else ([], "")
        return [*found, *last], left


class _Events:
    """Server-sent events."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        #: the line that has not ended, in pieces, and its length
        self._parts: list[str] = []
        self._length = 0
        self._data: list[str] = []
        self._name = ""
        self._count = 0
        self._returned = False

    def feed(self, piece: str) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        if self._returned and piece.startswith("\n"):
            piece = piece[1:]
        if piece:
            self._returned = piece.endswith("\r")
        if self._parts and (not piece or _FIELD.match(piece)) and self._is_whole(piece):
            self._take(self._line(), found)
        first, *others = _LINE.split(piece)
        for line in others:
            self._parts.append(first)
            self._take(self._line(), found)
            first = line
        if first:
            self._parts.append(first)
            self._length += len(first)
        if self._length > self._limit:
            raise ProviderFormatError("", "without an end", f"a line of at most {self._limit:,} characters")
        return found

    def _line(self) -> str:
        """The line, which ends here."""
        line = "".join(self._parts)
        self._parts.clear()
        self._length = 0
        return line

    def _is_whole(self, piece: str) -> bool:
        """Has the line ended, although its end was not sent, since lines come without their ends?"""
        if self._parts[0][0] == "d" and not self._parts[-1].rstrip(" ").endswith(("}", "]", ":")):
            return False
        name, colon, value = "".join(self._parts).partition(":")
        if not colon:
            return False
        if name != "data":
            return bool(piece)
        text = value.strip()
        return text == _DONE or (not text and bool(piece)) or _loaded("\n".join([*self._data, value])) is not _NONE

    def _take(self, line: str, found: list[tuple[str, Any]]) -> None:
        """One line."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            self._end(found)
        elif name == "data":
            self._data.append(value)
            if value.rstrip()[-1:] in ("}", "]"):
                self._try(found)
        elif name == "event":
            self._name = value.strip()
        elif name and name not in _NAMES:
            raise ProviderFormatError("", f"the line {line[:_SHOWN]!r}", "server-sent events or JSON", self._place())

    def _place(self) -> str:
        return f"event {self._count + 1}"

    def _try(self, found: list[tuple[str, Any]]) -> None:
        """The event, if its data is complete."""
        text = "\n".join(self._data)
        if text.strip() == _DONE:
            self._data = []
        elif (value := _loaded(text)) is not _NONE:
            self._send(value, found)

    def _send(self, value: Any, found: list[tuple[str, Any]]) -> None:
        found.append((self._name, value))
        self._count += 1
        self._data = []
        self._name = ""

    def _end(self, found: list[tuple[str, Any]]) -> None:
        """A blank line: the event has ended."""
        text = "\n".join(self._data).strip()
        if text and self._name == "error" and _loaded(text) is _NONE:
            self._send({"error": {"message": text}}, found)
        elif text:
            self._send(decoded(text, self._place()), found)
        self._name = ""

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        found: list[tuple[str, Any]] = []
        line = self._line()
        if line and line.partition(":")[0] in _NAMES:
            self._take(line, found)
        left = "\n".join(self._data)
        if line and not left and not found and line.partition(":")[0] not in ("", *_NAMES):
            left = line
        self._data = []
        return found, left


def _loaded(text: str) -> Any:
    """The JSON value of a text, or a sign that there is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NONE


class _Values:
    """JSON values, one after another: on lines of their own, or in one list."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._text = ""
        self._start = self._count = 0
        #: finds the end of the value that begins at `_start`; None between values
        self._counter: BracketCounter | None = None

    def feed(self, piece: str) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        self._text += piece
        while (end := self._end()) is not None:
            self._count += 1
            found.append(("", decoded(self._text[self._start : end], f"value {self._count}")))
            self._start, self._counter = end, None
        self._text = self._text[self._start :]
        self._start = 0
        if len(self._text) > self._limit:
            raise ProviderFormatError("", "without an end", f"a value of at most {self._limit:,} characters")
        return found

    def _begins(self) -> bool:
        """Does a value begin behind what stands between two?"""
        match = _BETWEEN.match(self._text, self._start)
        self._start = match.end() if match else self._start
        first = self._text[self._start : self._start + _SHOWN]
        if first and _DONE.startswith(first):
            return False
        if first and first[0] != "{":
            raise ProviderFormatError("", f"the text {first!r}", "a JSON object", f"value {self._count + 1}")
        return bool(first)

    def _end(self) -> int | None:
        """The end of the value that begins next; None before all of it is there. Each character is read once."""
        if self._counter is None:
            if not self._begins():
                return None
            self._counter = BracketCounter()
        self._counter.feed(self._text, self._start + self._counter.at)
        return None if self._counter.end is None else self._start + self._counter.end

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        left, self._text, self._counter = self._text.strip("[ \t\r\n"), "", None
        return [], left
