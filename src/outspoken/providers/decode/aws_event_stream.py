"""The binary event streams of AWS, as Bedrock sends them.

A frame is its length, the length of its headers and a checksum; the headers; the payload; a checksum. Numbers are
big-endian, checksums are CRC-32.
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

from __future__ import annotations

import json
from base64 import b64decode
from struct import unpack_from
from typing import Any, cast
from zlib import crc32

from outspoken.providers.errors import ProviderFormatError

#: The lengths of header values by type. The types 6 and 7 have the length in two bytes before the value; 7 is a string.
_VALUE_LENGTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_SIZED_TYPES, _STRING_TYPE = (6, 7), 7
_PRELUDE_LENGTH, _CHECKSUM_LENGTH = 12, 4


class AwsEventStream:
    """Decodes the events of a stream from bytes that may be split anywhere. A frame has at most `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._buffer = bytearray()
        self._max_bytes = max_bytes
        self._count = 0

    def feed(self, piece: bytes) -> list[tuple[str, Any]]:
        """Return the events that a piece completes, each as its type and `{type: payload}`."""
        self._buffer += piece
        events: list[tuple[str, Any]] = []
        while len(self._buffer) >= _PRELUDE_LENGTH:
            length, headers_length, checksum = unpack_from(">III", self._buffer)
            if crc32(self._buffer[:8]) != checksum:
                raise self._error("its header is damaged: the checksum does not match")
            if length < _PRELUDE_LENGTH + headers_length + _CHECKSUM_LENGTH or length > self._max_bytes:
                raise self._error(f"its length is {length}")
            if len(self._buffer) < length:
                break
            frame = bytes(self._buffer[:length])
            del self._buffer[:length]
            if crc32(frame[:-_CHECKSUM_LENGTH]) != unpack_from(">I", frame, length - _CHECKSUM_LENGTH)[0]:
                raise self._error("it is damaged: the checksum does not match")
            self._count += 1
            payload_start = _PRELUDE_LENGTH + headers_length
            headers = self._headers(frame[_PRELUDE_LENGTH:payload_start])
            events.append(_decode_event(headers, frame[payload_start:-_CHECKSUM_LENGTH]))
        return events

    def close(self) -> tuple[list[tuple[str, Any]], str]:
        """Return no events, and what arrived of an incomplete frame."""
        return [], repr(bytes(self._buffer)) if self._buffer else ""

    def _error(self, found: str) -> ProviderFormatError:
        return ProviderFormatError("", f"not an event stream: {found}", "a frame", f"frame {self._count + 1}")

    def _headers(self, data: bytes) -> dict[str, str]:
        """Decode the headers that are strings."""
        headers: dict[str, str] = {}
        pos = 0
        while pos < len(data):
            start = pos + 1
            end = start + data[pos]
            name = data[start:end].decode("utf-8", "replace")
            if end >= len(data):
                raise self._error("its headers are cut off")
            kind, pos = data[end], end + 1
            if kind not in _VALUE_LENGTHS and kind not in _SIZED_TYPES:
                raise self._error(f"a header is of type {kind}")
            if kind in _SIZED_TYPES:
                if pos + 2 > len(data):
                    raise self._error("its headers are cut off")
                length = unpack_from(">H", data, pos)[0]
                pos += 2
            else:
                length = _VALUE_LENGTHS[kind]
            if kind == _STRING_TYPE:
                headers[name] = data[pos : pos + length].decode("utf-8", "replace")
            pos += length
        return headers


def _decode_event(headers: dict[str, str], payload: bytes) -> tuple[str, Any]:
    """Decode a frame to its type and its object. Exceptions are events, too."""
    kind = headers.get(":exception-type") or headers.get(":event-type") or headers.get(":error-code") or ""
    try:
        value: Any = json.loads(payload) if payload else {}
    except ValueError:
        value = {"message": payload.decode("utf-8", "replace")}
    inner = cast("dict[str, Any]", value).get("bytes") if isinstance(value, dict) else None
    if kind == "chunk" and isinstance(inner, str):
        return kind, json.loads(b64decode(inner))
    if headers.get(":message-type") == "error":
        return kind, {"error": {"message": headers.get(":error-message", ""), "type": kind}}
    return kind, {kind: cast("Any", value)}
