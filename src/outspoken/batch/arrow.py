"""pyarrow, with types for what is used of it; the package has none of its own.

Raises MissingPackageError when it is imported without pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, cast

from outspoken.results.packages import Package


class DataType(Protocol):
    """A type of Arrow."""

    def equals(self, other: object) -> bool:
        """Is this the same type?"""
        ...


class Field(Protocol):
    """A field of a schema: a name and a type."""

    name: str
    type: DataType


class Schema(Protocol):
    """The names and types of columns, in order."""

    names: list[str]

    def __iter__(self) -> Iterator[Field]: ...

    def field(self, name: str) -> Field:
        """The field of a name."""
        ...

    def equals(self, other: object) -> bool:
        """Is this the same schema?"""
        ...


class Array(Protocol):
    """A column."""

    type: DataType
    null_count: int

    def __len__(self) -> int: ...

    def to_pylist(self) -> list[Any]:
        """The values as Python objects."""
        ...

    def slice(self, offset: int, length: int) -> Array:
        """A part of the column, without a copy."""
        ...

    def take(self, indices: object) -> Array:
        """The values at some places."""
        ...

    def cast(self, target_type: object) -> Array:
        """The values as another type. Raises ValueError for a value that does not fit."""
        ...


class RecordBatch(Protocol):
    """Columns of one length, with a schema."""

    schema: Schema
    num_rows: int
    nbytes: int

    def column(self, name: str) -> Array:
        """The column of a name."""
        ...

    def slice(self, offset: int = 0, length: int | None = None) -> RecordBatch:
        """Some of the rows, without a copy."""
        ...

    def filter(self, mask: object) -> RecordBatch:
        """The rows where a boolean array is true."""
        ...

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        ...


_PYARROW = Package("batch", "pyarrow", needed_by="`outspoken.batch`")

#: the module pyarrow
pa: Any = _PYARROW.load("pyarrow")


def parquet() -> Any:
    """The module pyarrow.parquet, which takes long to import."""
    return _PYARROW.load("pyarrow.parquet")


def compute() -> Any:
    """The module pyarrow.compute, which takes long to import."""
    return _PYARROW.load("pyarrow.compute")


def make_batch(columns: Iterable[Array], schema: Schema) -> RecordBatch:
    """A record batch of columns in the order of a schema."""
    return cast("RecordBatch", pa.RecordBatch.from_arrays(list(columns), schema=schema))


def strings(values: Sequence[str | None]) -> Array:
    """A column of text. Lone surrogates, which Arrow cannot hold, become U+FFFD.

    Raises OverflowError for more than 2 GB of text, the most that a column of this type holds.
    """
    try:
        made = pa.array(values, pa.string())
    except UnicodeEncodeError:
        from outspoken.results.encoding import replace_surrogates

        made = pa.array([value and replace_surrogates(value) for value in values], pa.string())
    if isinstance(made, pa.ChunkedArray):
        raise OverflowError("the text of a column is over 2 GB; pass fewer rows at once")
    return cast("Array", made)


def integers(values: Sequence[int | None], bits: int = 32) -> Array:
    """A column of integers."""
    return cast("Array", pa.array(values, pa.int32() if bits == 32 else pa.int64()))


def structs(children: Sequence[Array], type: Any, mask: Sequence[bool] | None = None) -> Array:
    """A column of objects from the columns of its fields; null where `mask` is true."""
    nulls = None if mask is None else pa.array(mask, pa.bool_())
    return cast("Array", pa.StructArray.from_arrays(list(children), fields=list(type), mask=nulls))


def lists(offsets: Sequence[int], values: Array, type: Any) -> Array:
    """A column of lists: list `i` holds the values from `offsets[i]` to `offsets[i + 1]`."""
    return cast("Array", pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=type))


def nulls(count: int, type: object) -> Array:
    """A column of nulls."""
    return cast("Array", pa.nulls(count, type))


def repeated(value: object, count: int, type: object) -> Array:
    """A column with one value in each row."""
    return cast("Array", pa.repeat(pa.scalar(value, type), count))
