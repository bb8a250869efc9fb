"""The pool: one process for each core, kept warm, replaced when it dies.

A worker has one unit at a time, and the next ones are cut while it works, so memory does not grow with the input. A row
that a worker dies of, or that takes too long, is tried once more alone. If that fails too, it is left out of its unit,
with the reason.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from .errors import BatchError, RowError
from .summary import Counts
from .units import Unit
from .worker import NO_ROW, Setup, map_cursors, receive, send

#: So many workers may die of one unit while they read no row, or before they are ready, until the batch ends.
_MAX_DEATHS = 3
#: How long workers may take to end, in seconds.
_PATIENCE = 2.0
_PROGRAM = "import sys; sys.path[:] = {path!r}; from outspoken.batch.worker import main; main()"


class StoppedError(BatchError):
    """The batch cannot go on. What was done stays, and the same command goes on from there."""


class _Process:
    """A worker as the pool sees it."""

    def __init__(
        self, setup: Setup, cursors: str, place: int, answers: queue.SimpleQueue[tuple[_Process, object]]
    ) -> None:
        self.place = place
        self.unit: Unit | None = None
        self.since = time.monotonic()
        self.row = NO_ROW
        self.is_late = self.is_ready = False
        self._errors = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for the pool alone
        )
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()
        self._send((setup, cursors, place, os.getpid()))

    def give(self, unit: Unit) -> None:
        """Let the worker read a unit. If it is dead, the pool hears of that by itself."""
        self.unit, self.since, self.row = unit, time.monotonic(), NO_ROW
        self._send(unit)

    def _send(self, message: object) -> None:
        with suppress(OSError):
            send(cast("BinaryIO", self.process.stdin), message)

    def _listen(self, answers: queue.SimpleQueue[tuple[_Process, object]]) -> None:
        try:
            while True:
                answers.put((self, receive(cast("BinaryIO", self.process.stdout))))
        except (EOFError, OSError, ValueError):  # a ValueError if the pipe is closed while it is read
            answers.put((self, EOFError()))

    def end(self) -> str:
        """End the process, and say how it ended."""
        self.process.kill() if self.is_late else None
        try:
            code = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                cast("BinaryIO", pipe).close()
        self._errors.seek(0)
        printed = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
        self._errors.close()
        how = f"ended with code {code}" if code >= 0 else f"was killed by {_signal_name(-code)}"
        return f"{how}: {printed.splitlines()[-1]}" if printed else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Pool:
    """Workers that read units. Use it as a context manager; leaving it ends the workers at once."""

    def __init__(self, setup: Setup, count: int) -> None:
        self._setup = setup
        self._count = count
        self._timeout = setup.options.row_timeout
        self._answers: queue.SimpleQueue[tuple[_Process, object]] = queue.SimpleQueue()
        self._workers: list[_Process | None] = [None] * count
        self._again: deque[Unit] = deque()
        #: how often workers died of a unit, and of a row of it (or of none of its rows)
        self._deaths: dict[tuple[tuple[int, int], int], int] = {}
        #: how many workers have ended one behind the other before they were ready
        self._false_starts = 0

    def __enter__(self) -> Pool:
        self._cursor_folder = tempfile.TemporaryDirectory(prefix="outspoken-", ignore_cleanup_errors=True)
        self._cursor_file = Path(self._cursor_folder.name) / "cursors"
        self._cursor_file.write_bytes(b"\xff" * 8 * self._count)
        self._cursors = memoryview(map_cursors(str(self._cursor_file))).cast("q")
        for place in range(self._count):
            self._start(place)
        return self

    def __exit__(self, *error: object) -> None:
        workers = [worker for worker in self._workers if worker is not None]
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.end()
        self._cursor_folder.cleanup()

    def _start(self, place: int) -> None:
        self._cursors[place] = NO_ROW
        self._workers[place] = _Process(self._setup, str(self._cursor_file), place, self._answers)

    def run(self, units: Iterable[Unit]) -> Generator[tuple[Unit, Counts]]:
        """Read units, and give the counts of each when it is done, in the order in which they are.

        Raises StoppedError if the batch cannot go on.
        """
        source, ahead, at_end, free = iter(units), deque[Unit](), False, set[int]()
        while True:
            while not at_end and len(ahead) < self._count and self._answers.empty():
                unit = next(source, None)
                at_end = unit is None
                ahead += [] if unit is None else [unit]
                self._feed(free, ahead)
            self._feed(free, ahead)
            if at_end and not ahead and not self._again and not any(w and w.unit for w in self._workers):
                return
            self._kill_late()
            try:
                worker, answer = self._answers.get(timeout=min(self._timeout / 4, 0.5))
            except queue.Empty:
                continue
            if worker is self._workers[worker.place]:
                yield from self._take(worker, answer, free)

    def _feed(self, free: set[int], ahead: deque[Unit]) -> None:
        """Give units to the workers that have none, first those that are read again."""
        for place in sorted(free):
            waiting = self._again or ahead
            worker = self._workers[place]
            if waiting and worker is not None:
                free.discard(place)
                worker.give(waiting.popleft())

    def _take(self, worker: _Process, answer: object, free: set[int]) -> Generator[tuple[Unit, Counts]]:
        """Take the answer of a worker: that it is ready, what became of its unit, or that it is gone."""
        unit, worker.unit = worker.unit, None
        if isinstance(answer, BatchError):
            raise StoppedError(str(answer))
        if isinstance(answer, EOFError):
            free.discard(worker.place)  # until the worker that replaces it is ready
            self._died(worker, unit)
            return
        worker.is_ready = True
        free.add(worker.place)
        if unit is not None and isinstance(answer, Counts):
            if unit.only is None:
                yield unit, answer
            else:  # the row did no harm alone: the whole unit is read again
                self._again.append(replace(unit, only=None))

    def _died(self, worker: _Process, unit: Unit | None) -> None:
        """Replace a worker that has died, and find out what of."""
        place, row, is_late = worker.place, self._cursors[worker.place], worker.is_late
        how = worker.end()
        self._workers[place] = None
        self._false_starts = 0 if worker.is_ready else self._false_starts + 1
        if self._false_starts >= _MAX_DEATHS:
            raise StoppedError(f"a worker cannot start; it {how}")
        if unit is not None:
            self._again.append(self._blame(unit, row, how, is_late=is_late))
        self._start(place)

    def _blame(self, unit: Unit, row: int, how: str, *, is_late: bool) -> Unit:
        """What is to be read again of a unit that a worker died of while it read a row."""
        key = unit.key, row
        count = self._deaths[key] = self._deaths.get(key, 0) + 1
        if row == NO_ROW:
            if count >= _MAX_DEATHS:
                place = f"the unit at line {unit.first:,} of `{self._setup.files[unit.file].name}`"
                raise StoppedError(f"{count} workers ended while they read {place}; the last one {how}")
            return replace(unit, only=None)
        if count == 1:
            return replace(unit, only=row)  # the row is tried alone
        if is_late:
            return unit.without(row, RowError("timeout", f"the row took longer than {self._timeout:g} s, twice"))
        return unit.without(row, RowError("worker-died", f"the worker that read this row {how}, twice"))

    def _kill_late(self) -> None:
        """Kill workers that have read one row for too long."""
        now = time.monotonic()
        for worker in self._workers:
            if worker is None or worker.unit is None:
                continue
            row = self._cursors[worker.place]
            if row != worker.row:
                worker.row, worker.since = row, now
            elif row != NO_ROW and now - worker.since > self._timeout:
                worker.is_late = True
                worker.process.kill()
