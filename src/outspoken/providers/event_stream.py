"""Amazon's binary event streams, as Bedrock sends them: length, length of the headers and checksum; headers; payload;
checksum. All numbers are big-endian, the checksums CRC-32.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

from __future__ import annotations

import json
from base64 import b64decode
from struct import unpack_from
from typing import Any, cast
from zlib import crc32

from .errors import ProviderFormatError

#: The lengths of the values of headers, by type; of the types 6 and 7 it stands before the value, in two bytes.
_LENGTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_SIZED = (6, 7)
_PRELUDE, _CHECKSUM = 12, 4


class EventStream:
    """Takes bytes that may be split anywhere, and gives the events that they complete."""

    def __init__(self, limit: int) -> None:
        self._bytes = b""
        self._limit = limit
        self._count = 0

    def feed(self, piece: bytes) -> list[tuple[str, Any]]:
        """The events that a piece completes, each as a pair of its type and `{type: payload}`."""
        self._bytes += piece
        found: list[tuple[str, Any]] = []
        while len(self._bytes) >= _PRELUDE:
            length, headers, checksum = unpack_from(">III", self._bytes)
            if crc32(self._bytes[:8]) != checksum:
                raise self._wrong("its header is damaged: the checksum is another one")
            if length < _PRELUDE + headers + _CHECKSUM or length > self._limit:
                raise self._wrong(f"its length is {length}")
            if len(self._bytes) < length:
                break
            frame, self._bytes = self._bytes[:length], self._bytes[length:]
            if crc32(frame[:-_CHECKSUM]) != unpack_from(">I", frame, length - _CHECKSUM)[0]:
                raise self._wrong("it is damaged: the checksum is another one")
            self._count += 1
            event = self._event(frame[_PRELUDE : _PRELUDE + headers], frame[_PRELUDE + headers : -_CHECKSUM])
            found.append(event)
        return found

    def rest(self) -> str:
        """What is left over of an event that never ended."""
        return repr(self._bytes) if self._bytes else ""

    def _wrong(self, found: str) -> ProviderFormatError:
        return ProviderFormatError("", f"no event stream: {found}", "a frame", f"frame {self._count + 1}")

    def _event(self, headers: bytes, payload: bytes) -> tuple[str, Any]:
        """A frame as a pair of the event's type and its content. An exception is an event, too."""
        found = self._headers(headers)
        kind = found.get(":exception-type") or found.get(":event-type") or found.get(":error-code") or ""
        try:
            value: Any = json.loads(payload) if payload else {}
        except ValueError:
            value = {"message": payload.decode("utf-8", "replace")}
        inner = cast("dict[str, Any]", value).get("bytes") if isinstance(value, dict) else None
        if kind == "chunk" and isinstance(inner, str):
            return kind, json.loads(b64decode(inner))
        if found.get(":message-type") == "error":
            return kind, {"error": {"message": found.get(":error-message", ""), "type": kind}}
        return kind, {kind: cast("Any", value)}

    def _headers(self, text: bytes) -> dict[str, str]:
        """The headers that are strings."""
        found: dict[str, str] = {}
        pos = 0
        while pos < len(text):
            start = pos + 1
            end = start + text[pos]
            name = text[start:end].decode("utf-8", "replace")
            if end >= len(text):
                raise self._wrong("its headers are cut off")
            kind, pos = text[end], end + 1
            if kind not in _LENGTHS and kind not in _SIZED:
                raise self._wrong(f"a header is of type {kind}")
            if kind in _SIZED:
                if pos + 2 > len(text):
                    raise self._wrong("its headers are cut off")
                length = unpack_from(">H", text, pos)[0]
                pos += 2
            else:
                length = _LENGTHS[kind]
            if kind == _SIZED[1]:
                found[name] = text[pos : pos + length].decode("utf-8", "replace")
            pos += length
        return found
