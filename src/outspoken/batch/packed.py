"""Whole lines of files, also of compressed ones, of which no more is in memory than a line."""

from __future__ import annotations

import zlib
from collections.abc import Generator
from functools import partial
from typing import Any, BinaryIO

from outspoken.results.packages import Package

#: A line of over so many bytes is put in quarantine unread; its first bytes are kept there.
MAX_LINE, LINE_HEAD = 256 << 20, 64 << 10


class LineStream:
    """Takes whole lines from a file. It never holds more than a long line, however much one byte unpacks to.

    `error` is why the file cannot be read to its end, and `rest` then what stands behind the last whole line. `dropped`
    is the length of the line that was just taken if it is too long; then only its beginning was taken.
    """

    def __init__(self, raw: BinaryIO, compression: str | None) -> None:
        self._pieces = unpacked(raw, compression) if compression else iter(partial(raw.read, _CHUNK), b"")
        self._at_end = False
        self.rest = b""
        self.error: Exception | None = None
        self.dropped = 0

    def take(self, size: int) -> bytes:
        """The next lines that end within so many bytes, or the next one if it is longer; b"" at the end."""
        self.dropped = 0
        parts, length, has_end = [self.rest], len(self.rest), b"\n" in self.rest
        while (length < size or (not has_end and length <= MAX_LINE)) and (chunk := self._read()):
            parts.append(chunk)
            length += len(chunk)
            has_end = has_end or b"\n" in chunk
        data = b"".join(parts)
        first = data.find(b"\n")
        if first >= MAX_LINE or (first < 0 and length > MAX_LINE):
            return self._drop(data)
        end = data.rfind(b"\n", 0, size) + 1 or first + 1
        if self.error is None and (length < size or not end):  # the last line may have no line break
            end = length
        self.rest = data[end:]
        return data[:end]

    def _read(self) -> bytes:
        """The next bytes; b"" at the end, or where they cannot be read."""
        if self._at_end:
            return b""
        try:
            chunk = next(self._pieces, b"")
        except (OSError, ValueError) as error:
            self.error, chunk = error, b""
        self._at_end = not chunk
        return chunk

    def _drop(self, data: bytes) -> bytes:
        """Leave out a line that is too long; returns its beginning."""
        head = data[:LINE_HEAD]
        while (at := data.find(b"\n")) < 0 and data:
            self.dropped += len(data)
            data = self._read()
        self.dropped, self.rest = self.dropped + at + 1, data[at + 1 :]
        return head


#: So much is read at once of a plain file.
_CHUNK = 1 << 16
#: So much is unpacked at once: what is lost before a damaged place is not more than this.
_PIECE = 8192
#: zstd: the memory that a file may ask for, that of `--ultra --long=31`
_WINDOW = 1 << 31


def unpacked(raw: BinaryIO, compression: str) -> Generator[bytes]:
    """The content of a file of gzip or zstd, of one member or several, in pieces.

    Raises ValueError where it is damaged, and at its end if that is missing.
    """
    unpacker: Any = None
    count = 0
    while piece := raw.read(_PIECE):
        while piece:
            if unpacker is None:
                piece = piece.lstrip(b"\0") if count and compression == "gzip" else piece  # padding, as gzip allows it
                if not piece:
                    break
                unpacker, count = _unpacker(compression), count + 1
            data, error = _unpack(unpacker, piece)
            if data:
                yield data
            if error is not None:
                raise ValueError(f"its {compression} data is damaged: {error}") from error
            piece = unpacker.unused_data if unpacker.eof else b""
            unpacker = None if unpacker.eof else unpacker
    if unpacker is not None:
        raise ValueError(f"its {compression} data is cut off")


def _unpack(unpacker: Any, piece: bytes) -> tuple[bytes, Exception | None]:
    try:
        return unpacker.decompress(piece), None
    except Exception as error:  # zstandard's errors have no other base
        return b"", error


def _unpacker(compression: str) -> Any:
    if compression == "gzip":
        return zlib.decompressobj(wbits=31)
    zstandard = Package("batch", "zstandard", needed_by="`outspoken.batch`").load("zstandard")
    return zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
