"""A line on standard error that says how far long work is, if that is a terminal."""

from __future__ import annotations

import sys
import time

#: The line is written at most this often, in seconds, and not before the work took as long.
_PAUSE = 0.2


class ProgressLine:
    """Counts what is done. Without a terminal, it writes nothing. `unit` is what is counted, in the plural."""

    def __init__(self, unit: str = "", total: int | None = None) -> None:
        self._unit, self._total = unit, total
        self._shows = sys.stderr is not None and sys.stderr.isatty()
        self._written = time.monotonic()
        self._done = 0
        self._width = 0

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
        now = time.monotonic()
        if self._shows and now - self._written >= _PAUSE:
            self._written = now
            self._write(text)

    def clear(self) -> None:
        """Remove the line, so that something else can be written."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text}{' ' * (self._width - len(text))}\r")
        sys.stderr.flush()
        self._width = len(text)
