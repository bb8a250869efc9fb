"""The folder of results as a report reads it: what batch it is, and its rows in chunks of a few columns."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from outspoken.batch.arrow import compute, pa, parquet
from outspoken.batch.errors import BatchError
from outspoken.batch.inputs import MANIFEST, reason_of
from outspoken.batch.options import kept_columns
from outspoken.batch.outputs import OutputFolder
from outspoken.batch.parts import quarantine_path
from outspoken.batch.schema import kept_name
from outspoken.batch.summary import Summary

#: The columns that are read, and the fields of segments.
_NAMES = ("line", "id", "format", "status", "chars", "tool_calls", "diagnostics", "repairs")
_SEGMENT = ("kind", "name", "status", "start", "end")
#: So many rows are read at once.
ROWS = 4096
_PART = re.compile(r"part-(\d+)-(\d+)\.(?:parquet|jsonl)")


#: Some rows of a file, by its number, and their times if a column of times was asked for.
Chunk = tuple[int, list[dict[str, Any]], list[Any] | None]


class Source:
    """A folder of results. Raises BatchError if it holds no batch, or one that is not complete unless that is wanted.

    `options` are those of the batch, `inputs` the names of its files, and `lasts` the numbers of their last lines that
    are read. `time_column` is the name of a kept column of the input.
    """

    def __init__(self, folder: Path, *, time_column: str | None = None, partial: bool = False) -> None:
        self.folder = folder
        results = OutputFolder(folder)
        self.summary: Summary = results.read_summary()
        self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
        self.options: dict[str, Any] = self.manifest["options"]
        self.inputs: list[str] = [entry["name"] for entry in self.manifest["inputs"]]
        self.time_column = time_column
        self._time_name = None if time_column is None else self._kept(time_column)
        self.parts = _parts(folder, len(self.inputs))
        if self.summary.complete:
            results.read_units()
        self.lasts = [0] * len(self.inputs)
        for unit in results.units():
            self.lasts[unit.file] = max(self.lasts[unit.file], unit.first + unit.lines - 1)
        size = sum([entry["size"] for entry in self.manifest["inputs"]])
        #: about how much of the bytes of the input is done
        self.share = min(1.0, results.bytes_done / max(1, size))
        if not self.summary.complete and not partial:
            raise BatchError(
                f"the batch in `{folder}` is not complete: {self.summary.total.lines:,} lines are done, "
                f"about {self.share:.0%} of the input; run the same `outspoken batch` again to go on, "
                "or use `--partial` for a report of what is done"
            )

    def _kept(self, name: str) -> str:
        """The name of a kept column in the results. Raises BatchError if it is not kept."""
        kept = kept_columns(self.options["keep"])
        if name not in kept:
            known = f"the batch keeps {', '.join([f'`{one}`' for one in kept])}" if kept else "the batch keeps none"
            raise BatchError(f"`{name}` is no column that is kept; {known}; see `--keep` of `outspoken batch`")
        return kept_name(name)

    def chunks(self) -> Generator[Chunk]:
        """The rows of all parts in their order. Raises BatchError for a part that cannot be read."""
        for file, path in self.parts:
            try:
                for rows, times in self._read_lines(path) if path.suffix == ".jsonl" else self._read_parquet(path):
                    yield file, rows, times
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise BatchError(
                    f"cannot read the part `{path}`: {reason_of(error)}; remove it and run the same "
                    "`outspoken batch` again, which makes it anew"
                ) from error

    def quarantine(self) -> Generator[dict[str, Any]]:
        """The rows in quarantine. Raises BatchError if a file of them cannot be read."""
        for _, part in self.parts:
            path = quarantine_path(self.folder, part.stem)
            if not path.exists():
                continue
            try:
                with path.open("rb") as lines:
                    for line in lines:
                        yield json.loads(line.decode("utf-8", "surrogatepass"))
            except (OSError, ValueError) as error:
                raise BatchError(f"cannot read `{path}`: {reason_of(error)}") from error

    def _read_parquet(self, path: Path) -> Iterator[tuple[list[dict[str, Any]], list[Any] | None]]:
        names = [*_NAMES, *[f"segments.list.element.{name}" for name in _SEGMENT]]
        time = self._time_name
        with parquet().ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROWS, columns=names if time is None else [*names, time]):
                rows = batch.select([*_NAMES, "segments"]).to_pylist()
                yield rows, None if time is None else _times(batch.column(time))

    def _read_lines(self, path: Path) -> Iterator[tuple[list[dict[str, Any]], list[Any] | None]]:
        with path.open("rb") as lines:
            while rows := [json.loads(line.decode("utf-8", "replace")) for line in islice(lines, ROWS)]:
                read = [{name: row[name] for name in (*_NAMES, "segments")} for row in rows]
                yield read, None if self._time_name is None else [row[self._time_name] for row in rows]


def _times(column: Any) -> list[Any]:
    """The values of a column of times: numbers of seconds for times of Arrow, else as they are."""
    if pa.types.is_temporal(column.type) and not pa.types.is_time(column.type):
        return [None if t is None else t / 1e6 for t in _microseconds(column)]
    return column.to_pylist() if not pa.types.is_nested(column.type) else [None] * len(column)


def _microseconds(column: Any) -> list[int | None]:
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    if not pa.types.is_timestamp(column.type):
        return [None] * len(column)
    made = compute().cast(column, pa.timestamp("us", column.type.tz), safe=False)
    return made.cast(pa.int64()).to_pylist()


def _parts(folder: Path, files: int) -> list[tuple[int, Path]]:
    """The parts of a folder in the order of the input, each with the number of its file."""
    found: list[tuple[int, int, Path]] = []
    for path in (folder / "parts").glob("part-*"):
        match = _PART.fullmatch(path.name)
        if match is not None and int(match[1]) < files:
            found.append((int(match[1]), int(match[2]), path))
    return [(file, path) for file, _, path in sorted(found)]
