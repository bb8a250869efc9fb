"""`read_table` and `read_batches`: what an engine with tables of Arrow calls in its own processes.

Each process keeps its readers, so that formats are loaded once and not for each table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .arrow import RecordBatch, Schema, compute, pa
from .errors import BatchError
from .function import BatchReader
from .options import BatchOptions
from .schema import KEPT_TYPES, make_schema

#: So many rows are read at once. More take more memory and no less time.
ROWS = 4096
#: So many readers are kept, one for each options.
_MAX_READERS = 32

_readers: dict[str, BatchReader] = {}


def reader_of(options: BatchOptions | None = None) -> BatchReader:
    """The reader for some options that this process keeps."""
    options = options or BatchOptions()
    key = options.fingerprint()
    reader = _readers.get(key)
    if reader is None:
        if len(_readers) >= _MAX_READERS:
            _readers.clear()
        reader = _readers[key] = BatchReader(options)
    return reader


def read_batches(batches: Iterable[RecordBatch], options: BatchOptions | None = None) -> Iterator[RecordBatch]:
    """Read batches one after the other, in batches of at most `ROWS` rows.

    Raises BatchError if a batch lacks a column.
    """
    reader = reader_of(options)
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield from _read(batch.slice(start, ROWS), reader)


def _read(batch: RecordBatch, reader: BatchReader) -> Iterator[RecordBatch]:
    """Read a batch; in halves if a column of the result holds too much text."""
    try:
        made = reader(batch)
    except OverflowError:
        half = batch.num_rows // 2
        if not half:
            raise
        yield from _read(batch.slice(0, half), reader)
        yield from _read(batch.slice(half), reader)
    else:
        yield made


def read_table(table: Any, options: BatchOptions | None = None) -> Any:
    """Read a `pyarrow.Table`: another one with the same number of rows in the same order, in the documented schema.

    A table without columns has no rows. Raises BatchError if another one lacks a column.
    """
    schema = schema_of(table.schema, options)
    return pa.Table.from_batches(list(read_batches(table.to_batches(), options)), schema=schema)


def schema_of(given: Schema, options: BatchOptions | None = None) -> Schema:
    """The schema of the results for tables of a schema. Kept columns of one without columns have the type null.

    Raises BatchError if it lacks a column.
    """
    reader = reader_of(options)
    if given.names:
        return reader.schema(given)
    kept = {name: KEPT_TYPES[kind] if kind else pa.null() for name, kind in reader.options.kept.items()}
    return make_schema(kept, has_response=reader.options.has_response)


def needed_columns(options: BatchOptions, names: Iterable[str]) -> list[str]:
    """Which of the columns `names` are read or kept. Raises BatchError for one that is not there."""
    names, needed = list(names), dict[str, None]()
    for wanted in (*options.columns, *options.kept):
        found = wanted if wanted in names else wanted.split(".")[0]
        if found not in names:
            known = ", ".join([f"`{name}`" for name in names]) or "none"
            raise BatchError(f"there is no column `{wanted}`; the columns are {known}")
        needed[found] = None
    return list(needed)


def check_beside(options: BatchOptions) -> None:
    """Raise BatchError for options that have no meaning where results stand beside the other columns."""
    for name in ("id_column", "keep"):
        if getattr(options, name):
            raise BatchError(f"`{name}` has no use here, as the other columns stay beside the result: leave it out")


def split_table(table: Any) -> tuple[Any, Any]:
    """The rows of a table that were read, and those that have an `error`."""
    failed = compute().is_valid(table["error"])
    return table.filter(compute().invert(failed)), table.filter(failed)
