"""Output of the commands: styled text and progress on a terminal, plain text elsewhere, JSON, and files."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from outspoken.results.snippet import visible

from .errors import UsageError

if TYPE_CHECKING:
    from outspoken.results.replies import Reply
    from outspoken.viewer.lines import Line

#: Writes a text in a style, without a line break.
Writer = Callable[[str, str], None]

#: The codes of each style, as terminals take them (ECMA-48, SGR). Those of others are that of headings.
COLORS = {
    "head": "1", "": "", "text": "", "reasoning": "3;35", "tool_call": "32", "action": "36", "payload": "34",
    "json": "33", "markup": "2", "error": "31", "warning": "33", "note": "",
}  # fmt: skip


#: The line of progress is written at most this often, in seconds, and not before the work took as long.
_PAUSE = 0.2


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
        codes = COLORS.get(style, COLORS["head"]) if colored else ""
        if codes:
            body = text.rstrip("\n")
            text = f"\x1b[{codes}m{body}\x1b[0m{text[len(body) :]}" if body else text
        print(text, end="", flush=True)

    return write


def print_lines(lines: Iterable[Line], color: str) -> None:
    """Print styled lines; see `wants_color` for `color`."""
    write = make_writer(color)
    for style, line in lines:
        write(style, line + "\n")


def print_title(file: str | None) -> None:
    """Print the name of one of several files above what is in it."""
    if file is not None:
        print(f"==> {visible(file)} <==")


def print_json(value: object, file: str | None = None, *, line: bool = False) -> None:
    """Print a value, which may hold models, as JSON: indented, or as a line.

    Of several files, it is a line with `file` as its first field.
    """
    from pydantic_core import to_json  # the list of commands need not wait for it

    line = line or file is not None
    text = to_json(value, indent=None if line else 2, inf_nan_mode="null").decode()
    print(text if file is None else f'{{"file":{json.dumps(file, ensure_ascii=False)},{text[1:]}', flush=line)


def exit_code(reply: Reply) -> int:
    """Return 1 if a reply has errors, otherwise 0."""
    return int(any(diagnostic.severity == "error" for diagnostic in reply.diagnostics))


def print_written(path: str, *, as_json: bool = False) -> int:
    """Print the path of a file that was written. Returns 0, the exit code."""
    if as_json:
        print_json({"written": path})
    else:
        print(f"written: {visible(path)}")
    return 0


def write_file(path: str | Path, text: str) -> None:
    """Write a file. Raises UsageError if it cannot be written."""
    try:
        Path(path).write_text(text, "utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}") from error


class ProgressLine:
    """A line on standard error that says how far long work is, if that is a terminal. `unit` is what is counted."""

    def __init__(self, unit: str = "", total: int | None = None) -> None:
        self._unit, self._total = unit, total
        self._shows = sys.stderr is not None and sys.stderr.isatty()
        self._written, self._done, self._width = time.monotonic(), 0, 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()

    def step(self, count: int = 1) -> None:
        """Count, and write the line if it is time."""
        self._done += count
        self.show(f"{self._done:,}{f' of {self._total:,}' if self._total else ''} {self._unit}")

    def show(self, text: str) -> None:
        """Write a text as the line if it is time."""
        if self._shows and time.monotonic() - self._written >= _PAUSE:
            self._written = time.monotonic()
            self._write(text)

    def clear(self) -> None:
        """Remove the line, so that something else can be written."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        print(f"\r{text}{' ' * (self._width - len(text))}\r", end="", file=sys.stderr, flush=True)
        self._width = len(text)
