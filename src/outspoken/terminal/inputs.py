"""Input of the commands: files, standard input, and tools."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from outspoken.notations.tools import Tools
from outspoken.results.errors import ToolError

from .errors import UsageError

#: How many bytes are read at once.
CHUNK_SIZE = 65_536


def read_tools(path: str) -> Tools | None:
    """Read a JSON list of tools. Raises UsageError if the file has none."""
    try:
        return Tools.of(read_json(path))
    except ToolError as error:
        raise UsageError(f"{path}: {error}") from error


def read_json(path: str) -> Any:
    """Read a file of JSON. Raises UsageError if it cannot be read."""
    try:
        return json.loads(_read_bytes(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: this is not JSON") from error


def read_text(path: str) -> str:
    """Read a file, or standard input for `-`. Raises UsageError if it cannot be read."""
    data = sys.stdin.buffer.read() if path == "-" else _read_bytes(path)
    return data.decode("utf-8", errors="replace")


def _read_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_chunks(path: str, size: int = CHUNK_SIZE) -> Iterator[bytes]:
    """Read a file, or standard input for `-`, in chunks of at most `size` bytes as they arrive."""
    if path == "-":
        yield from _chunks(cast("BufferedReader", sys.stdin.buffer), size)
        return
    try:
        file = open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    with file:
        yield from _chunks(file, size)


def _chunks(file: BufferedReader, size: int) -> Iterator[bytes]:
    while chunk := file.read1(size):
        yield chunk


def _unreadable(path: str, error: Exception) -> UsageError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    hint = "; `outspoken batch` reads folders" if isinstance(error, IsADirectoryError) else ""
    return UsageError(f"cannot read `{path}`: {reason}{hint}")
