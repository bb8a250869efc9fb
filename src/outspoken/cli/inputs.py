"""Input of the commands: files, standard input, tools, and registries of payloads."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from outspoken.notations.tools import Tools
from outspoken.results.errors import ToolError

if TYPE_CHECKING:
    from outspoken.payloads import PayloadRegistry

#: How many bytes are read at once.
CHUNK_SIZE = 65_536


class UsageError(Exception):
    """The command cannot run with these arguments."""


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
    return UsageError(f"cannot read `{path}`: {reason}")


def load_registry(named: str) -> PayloadRegistry:
    """Load the registry `module:name`, or the one that the function of that name returns.

    Modules in the working directory are found, too. Raises UsageError if there is no registry.
    """
    from outspoken.payloads import PayloadRegistry  # imports Lark, which the other commands need not wait for

    module, _, name = named.partition(":")
    if not module or not name:
        raise UsageError(f"`{named}` is not a registry; write it as `module:name`")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        registry = found() if callable(found) else found
    except Exception as error:
        raise UsageError(f"cannot load `{named}`: {type(error).__name__}: {error}") from error
    if not isinstance(registry, PayloadRegistry):
        raise UsageError(f"`{named}` is of type {type(registry).__name__}; expected a PayloadRegistry")
    return registry
