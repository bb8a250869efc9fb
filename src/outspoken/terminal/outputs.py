"""Output of the commands: styled text on a terminal, plain text elsewhere."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from .errors import UsageError

#: A style and a text; the styles are the names in `COLORS`, or empty.
Line = tuple[str, str]
#: Writes a text in a style, without a line break.
Writer = Callable[[str, str], None]

#: The colours and attributes of each style, in the words of rich.
COLORS = {
    "head": "bold",
    "text": "default",
    "reasoning": "italic magenta",
    "tool_call": "green",
    "action": "cyan",
    "payload": "blue",
    "json": "yellow",
    "markup": "dim",
    "error": "red",
    "warning": "yellow",
    "note": "default",
}

#: The codes of terminals (ECMA-48, SGR) for those words.
_CODES = {"bold": 1, "dim": 2, "italic": 3, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


def use_utf8() -> None:
    """Write UTF-8 to files and pipes, whatever the locale; a terminal shows an escape for what it cannot show."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        if out.isatty():
            out.reconfigure(errors="backslashreplace")
        else:
            out.reconfigure(encoding="utf-8", newline="\n")


def wants_color(color: str, out: TextIO) -> bool:
    """Should an output be coloured? `color` is "always", "never", or "auto".

    "auto" colours a terminal. `NO_COLOR` turns that off, and `FORCE_COLOR` turns it on for files and pipes; an empty
    variable counts as absent. If both are set, `NO_COLOR` counts. A terminal of the type `dumb` has no colours.
    """
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (out.isatty() and os.environ.get("TERM") != "dumb")


def make_writer(color: str) -> Writer:
    """Make the writer to standard output; see `wants_color` for `color`."""
    colored = wants_color(color, sys.stdout)
    if colored and sys.platform == "win32":
        os.system("")  # a call of any command makes the console read escape sequences

    def write(style: str, text: str) -> None:
        codes = _codes(style) if colored else ""
        if codes:
            body = text.rstrip("\n")
            text = f"\x1b[{codes}m{body}\x1b[0m{text[len(body) :]}" if body else text
        print(text, end="", flush=True)

    return write


def _codes(style: str) -> str:
    """The codes of a style; empty if it has none."""
    words = COLORS.get(style, "").split()
    return ";".join([str(_CODES[word]) for word in words if word in _CODES])


def print_lines(lines: Iterable[Line], color: str) -> None:
    """Print styled lines; see `wants_color` for `color`."""
    write = make_writer(color)
    for style, line in lines:
        write(style, line + "\n")


def write_file(path: str | Path, text: str) -> None:
    """Write a file. Raises UsageError if it cannot be written."""
    try:
        Path(path).write_text(text, "utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}") from error
