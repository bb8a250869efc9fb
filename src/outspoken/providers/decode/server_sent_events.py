"""Server-sent events whose data is JSON.

An event ends with a blank line, as https://html.spec.whatwg.org/multipage/server-sent-events.html says, or with the
line that completes its JSON. Clients that hand over lines without their ends are read, too.
"""

from __future__ import annotations

import json
import re
from typing import Any

from outspoken.providers.errors import ProviderFormatError

from .json_values import DONE, MAX_SHOWN, parse_json

_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"(?:data|event|id|retry)?:")
_FIELD_NAMES = ("data", "event", "id", "retry")

_NO_JSON: Any = object()


def _try_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON


class ServerSentEvents:
    """Decodes events from text that may be split anywhere. A line has at most `max_chars`."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        #: the pieces of the line that has not ended, and their length
        self._line: list[str] = []
        self._line_length = 0
        self._data: list[str] = []
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
        first, *others = _LINE_END.split(piece)
        for line in others:
            self._line.append(first)
            self._read_line(self._take_line(), events)
            first = line
        if first:
            self._line.append(first)
            self._line_length += len(first)
        if self._line_length > self._max_chars:
            raise ProviderFormatError("", "too long", f"a line of at most {self._max_chars:,} characters")
        return events

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

    def _take_line(self) -> str:
        line = "".join(self._line)
        self._line.clear()
        self._line_length = 0
        return line

    def _line_has_ended(self, piece: str) -> bool:
        """Is the line complete before this piece, although it came without its end?"""
        if self._line[0][0] == "d" and not self._line[-1].rstrip(" ").endswith(("}", "]", ":")):
            return False
        name, colon, value = "".join(self._line).partition(":")
        if not colon:
            return False
        if name != "data":
            return bool(piece)
        text = value.strip()
        return text == DONE or (not text and bool(piece)) or _try_json("\n".join([*self._data, value])) is not _NO_JSON

    def _read_line(self, line: str, events: list[tuple[str, Any]]) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            self._end_event(events)
        elif name == "data":
            self._data.append(value)
            if value.rstrip()[-1:] in ("}", "]"):
                self._end_event_early(events)
        elif name == "event":
            self._name = value.strip()
        elif name and name not in _FIELD_NAMES:
            found = f"the line {line[:MAX_SHOWN]!r}"
            raise ProviderFormatError("", found, "server-sent events or JSON", self._place())

    def _place(self) -> str:
        return f"event {self._count + 1}"

    def _end_event_early(self, events: list[tuple[str, Any]]) -> None:
        """End the event if its data is complete JSON."""
        text = "\n".join(self._data)
        if text.strip() == DONE:
            self._data = []
        elif (value := _try_json(text)) is not _NO_JSON:
            self._add_event(value, events)

    def _end_event(self, events: list[tuple[str, Any]]) -> None:
        """End the event at a blank line. An event `error` may have text as its data."""
        text = "\n".join(self._data).strip()
        if text and self._name == "error" and _try_json(text) is _NO_JSON:
            self._add_event({"error": {"message": text}}, events)
        elif text:
            self._add_event(parse_json(text, self._place()), events)
        self._name = ""

    def _add_event(self, value: Any, events: list[tuple[str, Any]]) -> None:
        events.append((self._name, value))
        self._count += 1
        self._data = []
        self._name = ""
