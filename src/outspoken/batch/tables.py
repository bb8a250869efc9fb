"""`read_table` and `read_batches`: responses in data frames, in results of queries, and in the processes of a cluster.

Data comes by Arrow's PyCapsule interface, which pandas, Polars and DuckDB have, and results are tables and batches of
pyarrow, which have it as well. Each process keeps its readers, so that formats are loaded once and not for each table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from outspoken.results.arguments import kind_of

from .arrow import RecordBatch, Schema, pa
from .errors import BatchError
from .function import BatchReader
from .options import BatchOptions

#: So many rows are read at once. More take more memory and no less time.
ROWS = 4096
#: So many readers are kept, one for each options.
_MAX_READERS = 32

_readers: dict[str, BatchReader] = {}


class ArrowTable(Protocol):
    """A table with Arrow's PyCapsule interface: a data frame, the result of a query, a `pyarrow.Table` and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the columns as a stream of batches."""
        ...


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


def read_table(table: ArrowTable, options: BatchOptions | None = None) -> Any:
    """Read the rows of a table: a `pyarrow.Table` with as many rows in the same order, in the documented schema.

    `table` is any object with Arrow's PyCapsule interface, such as a data frame of pandas (2.2) or Polars, a relation
    of DuckDB, or a table of pyarrow; these libraries take the result by the same interface. A row that cannot be read
    has its reason in `error`. A table without columns has no rows.

    Raises BatchError if another one lacks a column, or holds what Arrow has no type for, and TypeError for any other
    object.
    """
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"`table` is {kind_of(table)}; expected a table with `__arrow_c_stream__`")
    try:
        batches = pa.RecordBatchReader.from_stream(table)
    except (ValueError, TypeError) as error:
        reason = "; ".join([str(detail) for detail in error.args]) or type(error).__name__
        raise BatchError(f"the table has no columns of Arrow: {reason}; pass only the columns that are read") from error
    schema = schema_of(batches.schema, options)
    return pa.Table.from_batches(list(read_batches(batches, options)) if batches.schema.names else [], schema=schema)


def read_batches(batches: Iterable[RecordBatch], options: BatchOptions | None = None) -> Iterator[RecordBatch]:
    """Read batches of pyarrow one after the other, in batches of at most `ROWS` rows.

    Raises BatchError if a batch lacks a column.
    """
    reader = reader_of(options)
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield from _read(batch.slice(start, ROWS), reader)


def _read(batch: RecordBatch, reader: BatchReader) -> Iterator[RecordBatch]:
    """Read a batch; in halves if a column of the result holds too much text."""
    try:
        result = reader(batch)
    except OverflowError:
        half = batch.num_rows // 2
        if not half:
            raise
        yield from _read(batch.slice(0, half), reader)
        yield from _read(batch.slice(half), reader)
    else:
        yield result


def schema_of(given: Schema, options: BatchOptions | None = None) -> Schema:
    """The schema of the results for tables of a schema. Kept columns of one without columns have the type null.

    Raises BatchError if it lacks a column.
    """
    reader = reader_of(options)
    return reader.schema(given) if given.names else reader.schema(untyped="null")
