"""Compressed files, unpacked piece by piece: all that is sound before the place where a file is damaged or cut."""

from __future__ import annotations

import zlib
from collections.abc import Generator
from typing import Any, BinaryIO

from outspoken.results.packages import Package

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
