"""`BatchReader`: from a batch of Arrow to a batch of Arrow. All engines share it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Mapping, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any, cast

from .arrow import Array, DataType, RecordBatch, Schema, compute, make_column, pa, python_values
from .columns import ReadRow, columns_of
from .errors import BatchError, RowError, UnreadableRowError
from .options import BatchOptions
from .rows import NO_HINTS, Hints, RowReader, kept_value
from .schema import kept_name, make_schema, named_type


@dataclass(slots=True)
class Rows:
    """The columns of some rows before they are read, as Python lists.

    `values` are responses, or a `RowError` for a row that has none; `hints` are read once. `kept` are lists, or columns
    of Arrow that stay as they are.
    """

    values: list[Any]
    hints: Iterable[Hints] = repeat(NO_HINTS)
    ids: list[Any] | None = None
    kept: dict[str, list[Any] | Array] = field(default_factory=dict[str, Any])
    file: str | None = None
    lines: list[int] | None = None

    @classmethod
    def of(
        cls,
        options: BatchOptions,
        values: list[Any],
        column: Callable[[str], list[Any]],
        arrays: Mapping[str, Array] | None = None,
    ) -> Rows:
        """The rows with these responses. `column` gives the values of another column; `arrays` are kept as they are."""
        given = [repeat(None) if name is None else column(name) for name in options.hint_columns]
        hints = map(Hints._make, zip(*given, strict=False)) if any(options.hint_columns) else repeat(NO_HINTS)
        ids = None if options.id_column is None else column(options.id_column)
        made: dict[str, list[Any] | Array] = {}
        for name, kind in options.kept.items():
            made[name] = arrays[name] if arrays and name in arrays else _checked(column(name), kind, name, values)
        return cls(values, hints, ids, made)

    def id_of(self, row: int) -> str | None:
        """The id of a row as text."""
        return None if self.ids is None else kept_value(self.ids[row], None, "id")


class BatchReader:
    """Reads batches of rows. It pickles, and may be called by any engine that has batches of Arrow.

    Calling it with a `pyarrow.RecordBatch` gives one with the same number of rows in the same order, in the documented
    schema (`outspoken.batch.schema`). A row that cannot be read has its reason in `error`; nothing raises for the sake
    of a row.

    Raises BatchError if the batch lacks a column, and OverflowError if the result has a column of over 2 GB of text.
    """

    def __init__(self, options: BatchOptions | None = None) -> None:
        self.options = options or BatchOptions()
        self._reader: RowReader | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchReader, (self.options,)

    def __call__(self, batch: RecordBatch) -> RecordBatch:
        """Read a batch."""
        rows, schema = self.rows_of(batch), self.schema(batch.schema)
        with _without_gc():
            return self.make_batch(rows, self.read(rows), schema)

    def schema(self, given: Schema | None = None, untyped: str = "string") -> Schema:
        """The schema of the results for batches of a schema. Raises BatchError if it lacks a column, or for objects.

        Without one, as for JSON lines, `untyped` is the type of the kept columns that were given none.
        """
        for name in self.options.columns if given is not None else ():
            if pa.types.is_fixed_size_binary(_type(given, name)):  # so Polars exports where objects of Python are
                raise BatchError(f"the column `{name}` holds objects of Python; cast it to text")
        kept: dict[str, Any] = {}
        for name, kind in self.options.kept.items():
            own = named_type(untyped) if given is None else _type(given, name)
            kept[name] = named_type(kind) if kind else own
        return make_schema(kept, has_response=self.options.has_response)

    def read(self, rows: Rows, cursor: MutableSequence[int] | memoryview | None = None) -> list[ReadRow]:
        """Read rows. Before each one, its number (from 0) is written to `cursor[0]`."""
        reader = self._reader = self._reader or RowReader(self.options)
        marked, read, found = cursor if cursor is not None else [0], reader.read, list[ReadRow]()
        for number, (value, given) in enumerate(zip(rows.values, rows.hints, strict=False)):
            marked[0] = number
            found.append(read(value, given))
        return found

    def make_batch(self, rows: Rows, read: Sequence[ReadRow], schema: Schema) -> RecordBatch:
        """The batch of rows that were read."""
        count, columns = len(read), columns_of(read, schema)
        columns["file"] = pa.repeat(pa.scalar(rows.file, pa.string()), count)
        columns["line"] = pa.nulls(count, pa.int64()) if rows.lines is None else pa.array(rows.lines, pa.int64())
        columns["id"] = make_column([rows.id_of(row) for row in range(count)], pa.string())
        for name, values in rows.kept.items():
            own = kept_name(name)
            columns[own] = (
                values
                if not isinstance(values, list)
                else make_column(cast("list[Any]", values), schema.field(own).type)
            )
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)

    def rows_of(self, batch: RecordBatch) -> Rows:
        """The columns of a batch that are read."""
        values = _values(batch, self.options.response_column)
        arrays = {name: _array(batch, name) for name, kind in self.options.kept.items() if kind is None}
        return Rows.of(self.options, values, partial(_values, batch, responses=values), arrays)


def _checked(found: Sequence[Any], kind: str | None, name: str, values: list[Any]) -> list[Any]:
    """The values of a kept column as its type has them. A row with one that does not fit becomes an error."""
    made: list[Any] = []
    for row, value in enumerate(found):
        try:
            made.append(kept_value(value, kind, name))
        except UnreadableRowError as failure:
            made.append(None)
            if not isinstance(values[row], RowError):
                values[row] = failure.error
    return made


@contextmanager
def _without_gc() -> Generator[None]:
    """Pause the garbage collector, which would look at every reply again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _array(columns: Any, name: str) -> Array:
    """A column of a batch or a table, whose name may lead into structs. Raises BatchError if there is none."""
    names: list[str] = columns.schema.names
    if name in names:
        return columns.column(name)
    head, *path = name.split(".")
    try:
        return compute().struct_field(columns.column(head), path)
    except (KeyError, pa.ArrowException) as error:
        known = ", ".join([f"`{one}`" for one in names]) or "none"
        raise BatchError(f"there is no column `{name}`; the columns are {known}") from error


def _type(schema: Schema, name: str) -> DataType:
    """The type of a column. Raises BatchError if there is none."""
    return _array(schema.empty_table(), name).type


def _values(batch: RecordBatch, name: str, responses: list[Any] | None = None) -> list[Any]:
    """The values of a column of a batch as Python objects.

    A value that Python cannot hold, such as text that is not UTF-8, is a `RowError`: in `responses`, if they are given.
    """

    def error_of(_: Any, error: ValueError) -> RowError:
        if isinstance(error, UnicodeDecodeError):
            return RowError("not-utf8", f"`{name}` is not UTF-8 at byte {error.start}")
        return RowError("invalid-column", f"`{name}` cannot be read: {error}")

    values = python_values(_array(batch, name), error_of)
    for row, value in enumerate(values if responses is not None else ()):
        if isinstance(value, RowError):
            values[row] = None
            cast("list[Any]", responses)[row] = value
    return values
