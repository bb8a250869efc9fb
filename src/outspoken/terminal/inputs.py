"""Input of the commands: files, standard input, tools, and a port to listen on."""

from __future__ import annotations

import codecs
import errno
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from outspoken.notations.tools import Tools
from outspoken.results.errors import ToolError, nearest
from outspoken.results.snippet import visible

from .errors import UsageError

if TYPE_CHECKING:
    import socket

    from outspoken.results.geometry import Screen

#: How many bytes are read at once.
CHUNK_SIZE = 65_536
#: So many characters of a path are shown in a message.
_LONGEST = 200
#: The encodings that byte order marks stand for. Editors and shells of Windows write them.
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def screen_size(value: str) -> Screen:
    """The size of a screen, as `1280x720`. Raises UsageError for other words."""
    from outspoken.results.geometry import Screen  # not every command needs it

    width, _, height = value.lower().replace("×", "x").partition("x")
    try:
        return Screen(int(width), int(height))
    except ValueError:
        raise UsageError(f"`{value}` is no size; write it as 1280x720") from None


def unescaped(prefix: str) -> str:
    r"""A prefix with line breaks where it has `\n`, which is what can be typed in a shell."""
    return prefix.replace("\\n", "\n")


def read_tools(path: str) -> Tools | None:
    """Read a JSON list of tools. Raises UsageError if the file has none."""
    try:
        return Tools.of(read_json(path))
    except ToolError as error:
        raise UsageError(f"{path}: {error}") from error


def read_json(path: str) -> Any:
    """Read a file of JSON. Raises UsageError if it cannot be read."""
    data = b"".join(read_chunks(path))
    try:
        return json.loads(data)
    except RecursionError as error:
        raise UsageError(f"{path}: this JSON is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: this is not JSON: byte {error.start} is not {error.encoding.upper()}") from error
    except ValueError as error:  # its message depends on the version of Python
        place = f":{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(f"{path}{place}: this is not JSON{'' if data.strip() else ', the file is empty'}") from error


def read_text(path: str) -> str:
    """Read a file, or standard input for `-`, as UTF-8, or as what its byte order mark says.

    Bytes that are no text become U+FFFD, and a warning says so. Raises UsageError if the file cannot be read.
    """
    data = b"".join(read_chunks(path))
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = "standard input" if path == "-" else f"`{path}`"
        words = f"byte {error.start} of {name} is not {encoding.upper()}; such bytes are read as U+FFFD"
        print(f"outspoken: warning: {visible(words)}", file=sys.stderr)
        return data.decode(encoding, errors="replace")


def check_file(path: str) -> None:
    """Raise UsageError if there is no file of this name, before others are read."""
    try:
        if stat.S_ISDIR(Path(path).stat().st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_chunks(path: str, size: int = CHUNK_SIZE) -> Iterator[bytes]:
    """Read a file, or standard input for `-`, in chunks of at most `size` bytes as they arrive."""
    try:
        file = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    with nullcontext() if path == "-" else file:
        while chunk := cast("BufferedReader", file).read1(size):
            yield chunk


def _unreadable(path: str, error: Exception) -> UsageError:
    # what Python says of a ValueError depends on its version
    reason = error.strerror or str(error) if isinstance(error, OSError) else "no file can have this name"
    if isinstance(error, IsADirectoryError):
        hint = "; `outspoken batch` reads folders"
    elif len(path.split()) > 2 or any(mark in path for mark in "<{\n"):
        hint = "; pass a response itself as `--text`"
    else:
        near = _nearest(path)
        hint = f"; did you mean `{near}`?" if near else ""
    shown = path if len(path) <= _LONGEST else f"{path[:_LONGEST]}…"
    return UsageError(f"cannot read `{shown}`: {reason}{hint}")


def _nearest(path: str) -> str | None:
    """The file in the same folder whose name is most like that of a path."""
    given = Path(path)
    try:
        found = nearest(given.name, [one.name for one in given.parent.iterdir()], 0.8)
    except (OSError, ValueError):
        return None
    return str(given.with_name(found[0])) if found else None


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port, 0 for a free one. Raises UsageError if that cannot be; a server would only log it."""
    import socket  # few commands need it

    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family, backlog=64)
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is in use; choose another with `--port`") from error
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        reason = reason.partition(" (while attempting")[0]  # which names the address again
        raise UsageError(f"cannot listen on {host}, port {port}: {reason}; choose others with `--port`") from error
