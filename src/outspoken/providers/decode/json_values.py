"""JSON values in a body that is split anywhere: one, one a line, or a list of them."""

from __future__ import annotations

import json
import re
from typing import Any

from outspoken.json.scanner import BracketCounter
from outspoken.providers.errors import ProviderFormatError

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
        shown = text[:MAX_SHOWN]
        raise ProviderFormatError("", f"not JSON ({_reason(error)}): {shown!r}", "a JSON object", place) from None


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at character {error.pos + 1}"
    return "nested too deeply"


class JsonValueStream:
    """Splits a text into JSON values: on lines of their own, or in one list. A value has at most `max_chars`."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._buffer = ""
        self._start = 0
        #: finds the end of the value that begins at `_start`; None between values
        self._counter: BracketCounter | None = None
        self._count = 0

    def feed(self, piece: str) -> list[tuple[str, Any]]:
        """Return the values that a piece completes, each with an empty event name."""
        found: list[tuple[str, Any]] = []
        self._buffer += piece
        while (end := self._find_end()) is not None:
            self._count += 1
            found.append(("", parse_json(self._buffer[self._start : end], f"value {self._count}")))
            self._start, self._counter = end, None
        self._buffer = self._buffer[self._start :]
        self._start = 0
        if len(self._buffer) > self._max_chars:
            raise ProviderFormatError("", "too long", f"a value of at most {self._max_chars:,} characters")
        return found

    def _skip_to_value(self) -> bool:
        """Skip what separates two values; is there the beginning of one behind it?"""
        match = _SEPARATORS.match(self._buffer, self._start)
        self._start = match.end() if match else self._start
        first = self._buffer[self._start : self._start + MAX_SHOWN]
        if first and DONE.startswith(first):
            return False
        if first and first[0] != "{":
            raise ProviderFormatError("", f"the text {first!r}", "a JSON object", f"value {self._count + 1}")
        return bool(first)

    def _find_end(self) -> int | None:
        """Return the end of the next value; None if it has not arrived. Each character is scanned once."""
        if self._counter is None:
            if not self._skip_to_value():
                return None
            self._counter = BracketCounter()
        self._counter.feed(self._buffer, self._start + self._counter.at)
        return None if self._counter.end is None else self._start + self._counter.end

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """Return no values, and the text of a value that is incomplete."""
        rest, self._buffer, self._counter = self._buffer.strip("[ \t\r\n"), "", None
        return [], rest
