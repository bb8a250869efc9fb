"""`run`: reads files with every core, into a folder of results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable
from itertools import chain
from pathlib import Path

from outspoken.results.arguments import check_choice

from .errors import BatchError
from .function import BatchReader
from .inputs import InputFile, UnitCutter, common_schema, find_inputs, reason_of
from .options import BatchOptions
from .outputs import SUMMARY, OutputFolder, make_manifest
from .parts import Output
from .pool import Pool, StoppedError
from .summary import Counts, Progress, Summary
from .units import Unit
from .worker import Setup

#: The least and the usual most bytes of a unit; between them, the input is cut into so many units. Memory grows with
#: the size of units, so only an input that would have too many of them has larger ones.
MIN_UNIT, MAX_UNIT, UNITS, MAX_UNITS = 256 << 10, 1 << 20, 64, 65_536


def run(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    options: BatchOptions | None = None,
    *,
    workers: int | None = None,
    output: Output = "parquet",
    restart: bool = False,
    unit_bytes: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Read all rows of some files into the folder `out`, and return what was read.

    `inputs` are files of JSON lines (also `.gz` and `.zst`) and of Parquet, folders and patterns. `output` is the kind
    of the parts: "parquet" or "jsonl". There is one process for each core unless `workers` is given. `unit_bytes` is
    how much of the input makes one part; by default it depends on the size of the input. `progress` is called for each
    unit that is done.

    If the folder holds the same batch, it goes on where that was stopped; with `restart`, it begins again.

    Raises BatchError for wrong options or inputs, and if the folder holds another batch, and StoppedError, which is
    one, if the batch cannot go on; then the same call goes on from there. So it does after any other exception.
    """
    check_choice(output, ("parquet", "jsonl"), "output")
    count = _worker_count(workers)
    options, folder = options or BatchOptions(), Path(out)
    files = find_inputs(inputs, folder)
    reader = BatchReader(options)
    schema = common_schema(files, reader)
    with OutputFolder(folder) as results:
        size = _unit_size(files, unit_bytes, results, restart=restart)
        results.open(make_manifest(options, files, output, size), restart=restart)
        setup = Setup(options, tuple(files), schema, folder.absolute(), output)
        work = _Batch(results, files, progress)
        return work.run(Pool(setup, count), UnitCutter(size, results.unit_of, reader), count)


def _worker_count(workers: int | None) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise BatchError(f"`workers` is {workers}; expected at least 1")
    return workers


def _unit_size(files: list[InputFile], given: int | None, results: OutputFolder, *, restart: bool) -> int:
    """The size of units: as given, else that of the batch that is there, else by the size of the input."""
    if given is not None:
        if given < 1:
            raise BatchError(f"`unit_bytes` is {given}; expected at least 1")
        return given
    known = None if restart else results.known_unit_bytes()
    size = sum([file.size for file in files])
    return known or max(min(max(size // UNITS, MIN_UNIT), MAX_UNIT), size // MAX_UNITS)


class _Batch:
    """One run of a batch."""

    def __init__(
        self, results: OutputFolder, files: list[InputFile], progress: Callable[[Progress], None] | None
    ) -> None:
        self._results, self._files, self._progress = results, files, progress
        self._start = time.monotonic()
        self._new = Counts()
        #: the units that were cut, and those that are done
        self._cut = self._done = 0
        _, self._before = results.totals()
        self._total_bytes = sum([file.size for file in files])

    def run(self, pool: Pool, cutter: UnitCutter, workers: int) -> Summary:
        """Read all units that are not done."""
        units = self._units(cutter)
        first = next(units, None)
        summary_file = self._results.path / SUMMARY
        if first is None and summary_file.exists():
            return self._summary(workers)  # there was nothing left to do
        try:
            summary_file.unlink(missing_ok=True)
            if first is not None:
                with pool:
                    for unit, counts in pool.run(chain([first], units)):
                        self._add(unit, counts)
            if self._cut != self._done:
                raise StoppedError(f"{self._cut - self._done} units were not answered; run the same command again")
            summary = self._summary(workers)
            self._results.write_summary(summary)
        except OSError as error:
            raise StoppedError(f"cannot write to `{self._results.path}`: {reason_of(error)}") from error
        return summary

    def _units(self, cutter: UnitCutter) -> Generator[Unit]:
        """The units of all files. Raises StoppedError if a file has changed."""
        for file in self._files:
            try:
                file.check_unchanged()
                for unit in cutter.units(file):
                    self._cut += 1
                    yield unit
                file.check_unchanged()
            except BatchError as error:
                raise StoppedError(str(error)) from error
            except OSError as error:
                raise StoppedError(f"cannot read `{file.name}`: {reason_of(error)}") from error

    def _add(self, unit: Unit, counts: Counts) -> None:
        self._results.add(unit, counts)
        self._done += 1
        self._new.add(counts)
        if self._progress is not None:
            rows = self._before.rows + self._new.rows
            bad = self._before.quarantined + self._new.quarantined
            self._progress(Progress(rows, bad, self._results.bytes_done, self._total_bytes, self._seconds()))

    def _seconds(self) -> float:
        return time.monotonic() - self._start

    def _summary(self, workers: int) -> Summary:
        units, total = self._results.totals()
        return Summary(True, len(self._files), units, total, self._new, round(self._seconds(), 3), workers)
