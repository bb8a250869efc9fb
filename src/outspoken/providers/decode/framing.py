"""Splits a body into JSON values: server-sent events, JSON lines or lists, or the binary event streams of AWS."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from outspoken.json.scanner import BracketCounter
from outspoken.providers.errors import ProviderFormatError

from .aws_event_stream import AwsEventStream

#: What ends the streams of Chat Completions.
DONE = "[DONE]"
#: How many characters an error message shows.
MAX_SHOWN = 40

_SEPARATORS = re.compile(r"(?:\[DONE\]|[\s,\]]|\[(?!D|\Z))*")


def parse_json(text: str, place: str) -> Any:
    """Parse a JSON text. Raises ProviderFormatError with `place`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply"
        if isinstance(error, json.JSONDecodeError):
            why = f"{error.msg.lower()} at character {error.pos + 1}"
        raise ProviderFormatError("", f"not JSON ({why}): {text[:MAX_SHOWN]!r}", "a JSON object", place) from None


class JsonValueStream:
    """Splits a text into JSON values: on lines of their own, or in one list. A value has at most `max_chars`."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        #: what separates two values, as far as it cannot be skipped yet
        self._between = ""
        #: finds the end of the value that is being read; None between values
        self._counter: BracketCounter | None = None
        #: the pieces of that value
        self._pieces: list[str] = []
        self._count = 0

    def feed(self, piece: str) -> list[tuple[str, Any]]:
        """Return the values that a piece completes, each with an empty event name. Each character is read once."""
        values: list[tuple[str, Any]] = []
        text, at, self._between = self._between + piece, 0, ""
        while at < len(text):
            if self._counter is None:
                at = self._value_start(text, at)
                if text[at : at + 1] != "{":
                    self._between = text[at:]
                    break
                self._counter = BracketCounter()
            read = self._counter.at
            self._counter.feed(text, at)
            if self._counter.end is None:
                self._pieces.append(text[at:])
                if self._counter.at > self._max_chars:
                    raise ProviderFormatError("", "too long", f"a value of at most {self._max_chars:,} characters")
                break
            end = at + self._counter.end - read
            self._count += 1
            values.append(("", parse_json("".join([*self._pieces, text[at:end]]), f"value {self._count}")))
            self._pieces, self._counter, at = [], None, end
        return values

    def _value_start(self, text: str, at: int) -> int:
        """Where the next value begins, or what may become the end of the stream. Raises ProviderFormatError."""
        match = _SEPARATORS.match(text, at)
        at = match.end() if match else at
        first = text[at : at + MAX_SHOWN]
        if first and first[0] != "{" and not DONE.startswith(first):
            raise ProviderFormatError("", f"the text {first!r}", "a JSON object", f"value {self._count + 1}")
        return at

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """Return no values, and the text of a value that is incomplete."""
        rest = "".join(self._pieces) or self._between
        self._pieces, self._between, self._counter = [], "", None
        return [], rest.strip("[ \t\r\n")


_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"(?:data|event|id|retry)?:")
_FIELD_NAMES = ("data", "event", "id", "retry")

_NO_JSON: Any = object()
#: The beginning of an event whose data is a JSON object, and what reads that object, with its end.
_OBJECT, _read_value = "data: {", json.JSONDecoder().raw_decode


def _try_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON


class ServerSentEvents:
    """Decodes events from text that may be split anywhere. A line has at most `max_chars`.

    An event ends with a blank line, as https://html.spec.whatwg.org/multipage/server-sent-events.html says, or with the
    line that completes its JSON. Clients that hand over lines without their ends are read, too.
    """

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        #: the pieces of the line that has not ended, and their length
        self._line: list[str] = []
        self._line_length = 0
        self._data: list[str] = []
        #: counts the brackets of the event's data, so that it is parsed only once they are closed
        self._brackets = BracketCounter()
        #: the data is not JSON, although its brackets are closed
        self._is_broken = False
        self._name = ""
        self._count = 0
        #: the last piece ended with `\r`, which a `\n` at the start of the next one belongs to
        self._after_cr = False

    def feed(self, piece: str) -> list[tuple[str, Any]]:
        """Return the events that a piece completes, each as its name and its JSON value."""
        events: list[tuple[str, Any]] = []
        if self._after_cr and piece.startswith("\n"):
            piece = piece[1:]
        if piece:
            self._after_cr = piece.endswith("\r")
        if self._line and (not piece or _FIELD.match(piece)) and self._line_has_ended(piece):
            self._read_line(self._take_line(), events)
        if not self._line and not self._data and piece.startswith(_OBJECT):
            piece = piece[self._read_objects(piece, events) :]
            if not piece:
                return events
        first, *others = _LINE_END.split(piece)
        for line in others:
            self._add(first)
            self._read_line(self._take_line(), events)
            first = line
        self._add(first)
        if self._line_length > self._max_chars:
            raise ProviderFormatError("", "too long", f"a line of at most {self._max_chars:,} characters")
        return events

    def _read_objects(self, piece: str, events: list[tuple[str, Any]]) -> int:
        """Read the events at the start of a piece that are one line each and no more than a JSON object.

        Returns the offset behind them. What is not such an event is left to `_read_line`.
        """
        at = 0
        while piece.startswith(_OBJECT, at):
            try:
                value, end = _read_value(piece, at + len(_OBJECT) - 1)
            except (ValueError, RecursionError):
                break
            if piece[end : end + 1] != "\n" or piece.find("\n", at, end) >= 0 or piece.find("\r", at, end) >= 0:
                break
            events.append((self._name, value))
            self._name, self._count = "", self._count + 1
            at = end + 2 if piece.startswith("\n", end + 1) else end + 1
        return at

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """Return the events that the end completes, and the text of one that is incomplete."""
        events: list[tuple[str, Any]] = []
        line = self._take_line()
        name = line.partition(":")[0]
        if line and name in _FIELD_NAMES:
            self._read_line(line, events)
        rest = "\n".join(self._data)
        if line and not rest and not events and name not in ("", *_FIELD_NAMES):
            rest = line
        self._data = []
        return events, rest

    def _add(self, piece: str) -> None:
        """Add a piece to the line."""
        if piece:
            self._line.append(piece)
            self._line_length += len(piece)
            if self._line[0][0] == "d":
                self._brackets.feed(piece)

    def _take_line(self) -> str:
        line, self._line, self._line_length = "".join(self._line), [], 0
        return line

    def _may_be_complete(self) -> bool:
        """May the data be complete, with the line so far?"""
        return self._brackets.end is not None and not self._is_broken

    def _line_has_ended(self, piece: str) -> bool:
        """Is the line complete before this piece, although it came without its end?"""
        if self._line[0][0] == "d":
            if not self._line[-1].rstrip(" ").endswith(("}", "]", ":")):
                return False
            if self._line_length > MAX_SHOWN and not self._may_be_complete():
                return False
        name, colon, value = "".join(self._line).partition(":")
        if not colon:
            return False
        if name != "data":
            return bool(piece)
        text = value.strip()
        return text == DONE or (not text and bool(piece)) or self._try_data([*self._data, value]) is not _NO_JSON

    def _try_data(self, lines: list[str]) -> Any:
        """The JSON value of an event's data, or `_NO_JSON`."""
        value = _try_json("\n".join(lines))
        self._is_broken = value is _NO_JSON and self._brackets.end is not None
        return value

    def _read_line(self, line: str, events: list[tuple[str, Any]]) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            self._end_event(events)
        elif name == "data":
            self._data.append(value)
            if value.rstrip()[-1:] in ("}", "]") and self._may_be_complete():
                if "\n".join(self._data).strip() == DONE:
                    self._clear_data()
                elif (data := self._try_data(self._data)) is not _NO_JSON:
                    self._add_event(data, events)
        elif name == "event":
            self._name = value.strip()
        elif name and name not in _FIELD_NAMES:
            shown_line = f"the line {line[:MAX_SHOWN]!r}"
            raise ProviderFormatError("", shown_line, "server-sent events or JSON", f"event {self._count + 1}")

    def _end_event(self, events: list[tuple[str, Any]]) -> None:
        """End the event at a blank line. An event `error` may have text as its data."""
        text = "\n".join(self._data).strip()
        self._clear_data()
        if text and self._name == "error" and _try_json(text) is _NO_JSON:
            self._add_event({"error": {"message": text}}, events)
        elif text:
            self._add_event(parse_json(text, f"event {self._count + 1}"), events)
        self._name = ""

    def _add_event(self, value: Any, events: list[tuple[str, Any]]) -> None:
        events.append((self._name, value))
        self._count += 1
        self._clear_data()
        self._name = ""

    def _clear_data(self) -> None:
        self._data, self._brackets, self._is_broken = [], BracketCounter(), False


#: A frame may be this many times as long as a response, since it may hold pictures.
_FRAME_FACTOR = 4


class Framer:
    """Takes the pieces of a body, and returns the JSON values that they complete.

    A value comes with the name of its event, empty if it has none. `max_chars` is the limit for a response. Raises
    ProviderFormatError for anything else than JSON.
    """

    def __init__(self, max_chars: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._limit = _FRAME_FACTOR * max_chars
        self._stream: ServerSentEvents | JsonValueStream | AwsEventStream | None = None
        #: white space before the first value
        self._head = ""
        self._started = False
        #: the decoder holds nothing, so that it need not see text that is ASCII
        self._is_between = False

    def feed(self, piece: str | bytes) -> list[tuple[str, Any]]:
        """Return the values that a piece completes."""
        if isinstance(piece, bytes):
            if not self._started and piece:
                self._started = True
                if piece[0] == 0:  # the length of a frame; no text begins with it
                    self._stream = AwsEventStream(self._limit)
            if isinstance(self._stream, AwsEventStream):
                return self._stream.feed(piece)
            if self._is_between and piece.isascii():
                piece = piece.decode("ascii")
            else:
                piece = self._decoder.decode(piece)
                self._is_between = self._decoder.getstate() == (b"", 0)
        elif not self._started:
            self._started = bool(piece)
            piece = piece.removeprefix("\ufeff")
        if self._stream is None:
            self._head = (self._head + piece).lstrip(" \t\r\n")
            if not self._head:
                return []
            self._stream = (JsonValueStream if self._head[0] in "{[" else ServerSentEvents)(self._limit)
            piece, self._head = self._head, ""
        return [] if isinstance(self._stream, AwsEventStream) else self._stream.feed(piece)

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """Return the values that the end completes, and the text of a value that is incomplete."""
        rest = self._decoder.decode(b"", final=True)
        found = self.feed(rest) if rest else []
        last, incomplete = self._stream.close() if self._stream is not None else ([], "")
        return [*found, *last], incomplete
