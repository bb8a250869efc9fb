"""Splits a body into JSON values: server-sent events, JSON lines or lists, or the binary event streams of AWS."""

from __future__ import annotations

import codecs
from typing import Any

from .aws_event_stream import AwsEventStream
from .json_values import JsonValueStream
from .server_sent_events import ServerSentEvents

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
        self._text_stream: ServerSentEvents | JsonValueStream | None = None
        self._binary_stream: AwsEventStream | None = None
        #: white space before the first value
        self._head = ""
        self._started = False

    def feed(self, piece: str | bytes) -> list[tuple[str, Any]]:
        """Return the values that a piece completes."""
        if isinstance(piece, bytes):
            if not self._started and piece:
                self._started = True
                if piece[0] == 0:  # the length of a frame; no text begins with it
                    self._binary_stream = AwsEventStream(self._limit)
            if self._binary_stream is not None:
                return self._binary_stream.feed(piece)
            piece = self._decoder.decode(piece)
        elif not self._started:
            self._started = bool(piece)
            piece = piece.removeprefix("\ufeff")
        if self._text_stream is None:
            self._head = (self._head + piece).lstrip(" \t\r\n")
            if not self._head:
                return []
            self._text_stream = (JsonValueStream if self._head[0] in "{[" else ServerSentEvents)(self._limit)
            piece, self._head = self._head, ""
        return self._text_stream.feed(piece)

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """Return the values that the end completes, and the text of a value that is incomplete."""
        if self._binary_stream is not None:
            return [], self._binary_stream.rest()
        rest = self._decoder.decode(b"", final=True)
        found = self.feed(rest) if rest else []
        last, incomplete = self._text_stream.close() if self._text_stream is not None else ([], "")
        return [*found, *last], incomplete
