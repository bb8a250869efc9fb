"""pyarrow, and what columns are made with.

Raises MissingPackageError when it is imported without pyarrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from outspoken.results.packages import Package

#: What is used of pyarrow, whose own types are not known: a type, the names and types of columns, a column, and columns
#: of one length.
DataType: TypeAlias = Any
Schema: TypeAlias = Any
Array: TypeAlias = Any
RecordBatch: TypeAlias = Any

_PYARROW = Package("batch", "pyarrow", needed_by="`outspoken.batch`")

#: the module pyarrow
pa: Any = _PYARROW.load("pyarrow")


def parquet() -> Any:
    """The module pyarrow.parquet, which takes long to import."""
    return _PYARROW.load("pyarrow.parquet")


def compute() -> Any:
    """The module pyarrow.compute, which takes long to import."""
    return _PYARROW.load("pyarrow.compute")


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
    return made


def integers(values: Sequence[int | None], bits: int = 32) -> Array:
    """A column of integers."""
    return pa.array(values, pa.int32() if bits == 32 else pa.int64())


def structs(children: Sequence[Array], type: Any, mask: Sequence[bool] | None = None) -> Array:
    """A column of objects from the columns of its fields; null where `mask` is true."""
    nulls = None if mask is None else pa.array(mask, pa.bool_())
    return pa.StructArray.from_arrays(list(children), fields=list(type), mask=nulls)


def lists(offsets: Sequence[int], values: Array, type: Any) -> Array:
    """A column of lists: list `i` holds the values from `offsets[i]` to `offsets[i + 1]`."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=type)
