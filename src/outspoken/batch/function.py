"""`BatchReader`: from a batch of Arrow to a batch of Arrow. All engines share it."""

from __future__ import annotations

import gc
from collections.abc import Generator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from .arrow import Array, RecordBatch, Schema, compute, pa, strings
from .columns import ReplyColumns
from .errors import BatchError, RowError, UnreadableRowError
from .options import BatchOptions
from .rows import NO_HINTS, Hints, RowReader, kept_value
from .schema import COLUMNS, KEPT_TYPES, make_schema


@dataclass(slots=True)
class Rows:
    """The columns of some rows before they are read, as Python lists.

    `values` are responses, or a `RowError` for a row that has none. The lists of `hints` are those of `Hints`, in its
    order; None for a column that is not used. `kept` are lists, or columns of Arrow that stay as they are.
    """

    values: list[Any]
    hints: tuple[list[Any] | None, ...] = (None, None, None, None)
    ids: list[Any] | None = None
    kept: dict[str, list[Any] | Array] = field(default_factory=dict[str, Any])
    file: str | None = None
    lines: list[int] | None = None


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
            columns = self.read(rows)
        return self.make_batch(rows, columns, schema)

    def schema(self, given: Schema) -> Schema:
        """The schema of the results for batches of a schema. Raises BatchError if it lacks a column, or for objects."""
        for name in self.options.columns:
            if pa.types.is_fixed_size_binary(_field_of(given, name)):  # so Polars exports where objects of Python are
                raise BatchError(f"the column `{name}` holds objects of Python; cast it to text")
        kept: dict[str, Any] = {}
        for name, kind in self.options.kept.items():
            found = _field_of(given, name)
            kept[name] = KEPT_TYPES[kind] if kind else found
        return make_schema(kept, has_response=self.options.has_response)

    def line_schema(self) -> Schema:
        """The schema of the results for JSON lines."""
        kept = {name: KEPT_TYPES[kind or "string"] for name, kind in self.options.kept.items()}
        return make_schema(kept, has_response=self.options.has_response)

    def read(self, rows: Rows, cursor: MutableSequence[int] | memoryview | None = None) -> ReplyColumns:
        """Read rows. Before each one, its number (from 0) is written to `cursor[0]`."""
        reader = self._reader = self._reader or RowReader(self.options)
        columns, marked = ReplyColumns(), cursor if cursor is not None else [0]
        if any(rows.hints):
            empty = [None] * len(rows.values)
            hints = zip(*[values or empty for values in rows.hints], strict=True)
            for number, (value, given) in enumerate(zip(rows.values, hints, strict=True)):
                marked[0] = number
                reader.read(value, Hints(*given), columns)
            return columns
        read = reader.read
        for number, value in enumerate(rows.values):
            marked[0] = number
            read(value, NO_HINTS, columns)
        return columns

    def make_batch(self, rows: Rows, columns: ReplyColumns, schema: Schema) -> RecordBatch:
        """The batch of rows that were read."""
        count = len(rows.values)
        lines = pa.nulls(count, COLUMNS["line"]) if rows.lines is None else pa.array(rows.lines, pa.int64())
        ids = strings([None] * count if rows.ids is None else [kept_value(value, None, "id") for value in rows.ids])
        made = [pa.repeat(pa.scalar(rows.file, COLUMNS["file"]), count), lines, ids]
        made += columns.arrays(has_response=self.options.has_response)
        for name, values in rows.kept.items():
            kind = self.options.kept[name]
            made.append(_kept_array(cast("list[Any]", values), kind) if isinstance(values, list) else values)
        made.append(columns.error_array())
        return pa.RecordBatch.from_arrays(made, schema=schema)

    def id_of(self, rows: Rows, row: int) -> str | None:
        """The id of a row as text."""
        return None if rows.ids is None else kept_value(rows.ids[row], None, "id")

    def rows_of(self, batch: RecordBatch) -> Rows:
        """The columns of a batch that are read."""
        options = self.options
        values = _values(batch, options.messages_column or options.text_column)
        hints = tuple([None if name is None else _values(batch, name, values) for name in options.hint_columns])
        ids = None if options.id_column is None else _values(batch, options.id_column, values)
        kept: dict[str, list[Any] | Array] = {}
        for name, kind in options.kept.items():
            if kind is None:
                kept[name] = _array(batch, name)
            else:
                kept[name] = checked_values(_values(batch, name, values), kind, name, values)
        return Rows(values, hints, ids, kept)


def checked_values(found: Sequence[Any], kind: str | None, name: str, values: list[Any]) -> list[Any]:
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


def _kept_array(values: list[Any], kind: str | None) -> Array:
    type = KEPT_TYPES[kind or "string"]
    return strings(values) if type == pa.string() else pa.array(values, type)


def _field_of(schema: Schema, name: str) -> Any:
    """The type of a column, whose name may lead into structs. Raises BatchError if there is none."""
    if name in schema.names:
        return schema.field(name).type
    head, *path = name.split(".")
    type = schema.field(head).type if head in schema.names else None
    for key in path:
        type = _member_type(type, key)
    if type is None:
        known = ", ".join([f"`{one}`" for one in schema.names]) or "none"
        raise BatchError(f"there is no column `{name}`; the columns are {known}")
    return type


def _member_type(type: Any, key: str) -> Any:
    """The type of a field of a struct; None for anything else."""
    if type is None or not pa.types.is_struct(type):
        return None
    at: int = type.get_field_index(key)
    return type.field(at).type if at >= 0 else None


def _array(batch: RecordBatch, name: str) -> Array:
    """A column of a batch, whose name may lead into structs."""
    _field_of(batch.schema, name)
    if name in batch.schema.names:
        return batch.column(name)
    head, *path = name.split(".")
    return compute().struct_field(batch.column(head), path)


def _values(batch: RecordBatch, name: str, responses: list[Any] | None = None) -> list[Any]:
    """The values of a column of a batch as Python objects.

    A value that Python cannot hold, such as text that is not UTF-8, is a `RowError`: in `responses`, if they are given.
    """
    array = _array(batch, name)
    try:
        return array.to_pylist()
    except ValueError:
        found = [_value(scalar, name) for scalar in array]
    for row, value in enumerate(found if responses is not None else ()):
        if isinstance(value, RowError):
            found[row] = None
            cast("list[Any]", responses)[row] = value
    return found


def _value(scalar: Any, name: str) -> Any:
    """A value of a column as a Python object, or the reason why it cannot be one."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return RowError("not-utf8", f"`{name}` is not UTF-8 at byte {error.start}")
    except ValueError as error:
        return RowError("invalid-column", f"`{name}` cannot be read: {error}")
