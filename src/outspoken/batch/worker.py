"""What runs in a worker: it reads units and writes their parts, until its standard input ends.

Before each row, the worker writes the number of the row into memory that it shares with the pool. So the pool knows
which row a worker died of, or does not get done with.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from .arrow import RecordBatch, Schema, pa, parquet
from .columns import count_rows
from .errors import BatchError, RowError
from .function import BatchReader, Rows
from .inputs import InputFile, reason_of
from .lines import LineReader
from .options import BatchOptions
from .parts import Output, bad_row, good_rows, raw_of, write_unit
from .summary import Counts
from .units import Unit

#: What stands in the shared memory while no row is read.
NO_ROW = -1
#: Linux: send a signal when the parent ends.
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Setup:
    """What a worker is told once: how to read, and where to write."""

    options: BatchOptions
    files: tuple[InputFile, ...]
    schema: Schema
    folder: Path
    output: Output


def send(file: BinaryIO, message: object) -> None:
    """Write a message to a pipe."""
    pickle.dump(message, file, pickle.HIGHEST_PROTOCOL)
    file.flush()


def receive(file: BinaryIO) -> Any:
    """Read a message from a pipe. Raises EOFError at its end."""
    try:
        return pickle.load(file)
    except pickle.UnpicklingError as error:  # the other process was killed while it wrote
        raise EOFError from error


def map_cursors(path: str) -> mmap.mmap:
    """The shared memory of the pool: a number for each worker."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


class Worker:
    """Reads units with the setup of a pool; `cursor` is its part of the shared memory."""

    def __init__(self, setup: Setup, cursor: memoryview) -> None:
        self._setup, self._cursor = setup, cursor
        self._reader = BatchReader(setup.options)
        self._lines = LineReader(setup.options)

    def warm(self) -> None:
        """Load what the first row needs, so that it is there before the first unit."""
        parquet()
        self._reader.read(Rows([""]))
        gc.collect()
        gc.freeze()
        gc.disable()

    def run(self, unit: Unit) -> Counts | BatchError:
        """Read a unit. A BatchError says why the batch cannot go on: an input has changed, or a part is not written."""
        try:
            if unit.kind == "arrow":
                counts = self._read_arrow(unit)
            elif unit.kind == "unreadable":
                counts = self._refuse(unit)
            else:
                counts = self._read_lines(unit)
        except BatchError as error:
            return error
        except OSError as error:
            return BatchError(f"cannot write to `{self._setup.folder}`: {reason_of(error)}")
        finally:
            self._cursor[0] = NO_ROW
        gc.collect(0)  # what the rows of this unit have left behind; older objects are tables, and stay
        return counts

    def _read_lines(self, unit: Unit) -> Counts:
        rows, raws = self._lines.read(unit.data, unit.first, self._setup.files[unit.file].name)
        return self._write(unit, rows, raws.__getitem__)

    def _read_arrow(self, unit: Unit) -> Counts:
        batch: RecordBatch = pa.ipc.open_stream(unit.data).read_next_batch()
        rows = self._reader.rows_of(batch)
        rows.file, rows.lines = self._setup.files[unit.file].name, list(range(unit.first, unit.first + unit.lines))
        return self._write(unit, rows, partial(raw_of, batch))

    def _refuse(self, unit: Unit) -> Counts:
        """Write that the rest of a file, or a line, cannot be read."""
        setup, error = self._setup, unit.error
        assert error is not None
        bad = bad_row(setup.files[unit.file].name, unit.first, None, error, unit.data)
        bad |= {"offset": unit.offset, "bytes": unit.length} if unit.length else {}
        write_unit(setup.folder, unit.name, pa.RecordBatch.from_pylist([], setup.schema), [bad], setup.output)
        return Counts(lines=1, quarantine={error.code: 1})

    def _write(self, unit: Unit, rows: Rows, raw_at: Callable[[int], str | bytes]) -> Counts:
        """Read rows, and write what comes of them; `raw_at` gives the raw text of a row."""
        setup, values = self._setup, rows.values
        for row, error in unit.skipped:
            values[row] = error
        if unit.only is not None:
            values[:] = [value if n == unit.only else _NOT_NOW for n, value in enumerate(values)]
        read = self._reader.read(rows, self._cursor)
        self._cursor[0] = NO_ROW
        counts = count_rows(read)
        counts.lines, counts.blank = unit.lines, unit.lines - len(values)
        if unit.only is None:
            file, lines = rows.file or "", rows.lines or ()
            bad = [
                bad_row(file, lines[number], rows.id_of(number), row.error, raw_at(number))
                for number, row in enumerate(read)
                if row.error is not None
            ]
            batch = self._reader.make_batch(rows, read, setup.schema)
            write_unit(setup.folder, unit.name, good_rows(batch), bad, setup.output)
        return counts


_NOT_NOW = RowError("failed", "another row is tried alone")


# the process


def main() -> None:
    """Run a worker: the setup and the units come by standard input, and the answers go to what was standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool sees to the end
    units, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    setup, cursors, place, parent = receive(units)
    _end_with(parent)
    pa.set_cpu_count(1)  # there is a process for each core
    worker = Worker(setup, memoryview(map_cursors(cursors)).cast("q")[place : place + 1])
    worker.warm()
    waiting: queue.SimpleQueue[Unit] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(units, waiting), daemon=True).start()
    send(answers, None)
    while True:
        try:
            send(answers, worker.run(waiting.get()))
        except BrokenPipeError:
            os._exit(1)


def _listen(units: BinaryIO, waiting: queue.SimpleQueue[Unit]) -> NoReturn:
    """Take units as they come. When there are no more, or the pool is gone, the process ends, whatever it is doing."""
    try:
        while True:
            waiting.put(receive(units))
    except (EOFError, OSError):
        os._exit(0)


def _end_with(parent: int) -> None:
    """End the process when the pool's does, even if a row holds the interpreter."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        except (OSError, AttributeError):
            return
        if os.getppid() != parent:
            os._exit(1)
