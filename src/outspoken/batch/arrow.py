"""pyarrow, and columns from Python values.

Raises MissingPackageError when it is imported without pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
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


def make_column(values: Sequence[Any], type: DataType) -> Array:
    """A column of a type: objects from tuples of their fields, or None; lists from sequences of their items.

    Lone surrogates, which Arrow cannot hold, become U+FFFD. Raises OverflowError for more than 2 GB of text, the most
    that a column of this type holds.
    """
    if pa.types.is_struct(type):
        missing = [value is None for value in values]
        if all(missing):
            return pa.nulls(len(values), type)
        mask = pa.array(missing, pa.bool_()) if any(missing) else None
        rows = [value or (None,) * type.num_fields for value in values] if mask is not None else values
        fields = [make_column(own, field.type) for own, field in zip(zip(*rows, strict=True), type, strict=True)]
        return pa.StructArray.from_arrays(fields, fields=list(type), mask=mask)
    if pa.types.is_list(type):
        items = make_column([item for value in values for item in value], type.value_type)
        offsets = [0, *accumulate([len(value) for value in values])]
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, type=type)
    try:
        column = pa.array(values, type)
    except UnicodeEncodeError:
        from outspoken.results.encoding import replace_surrogates

        column = pa.array([value and replace_surrogates(value) for value in values], type)
    if isinstance(column, pa.ChunkedArray):
        raise OverflowError("the text of a column is over 2 GB; pass fewer rows at once")
    return column


def python_values(array: Array, otherwise: Callable[[Any, ValueError], Any]) -> list[Any]:
    """The values of a column; `otherwise` makes those that Python cannot hold, such as text that is not UTF-8."""
    try:
        return array.to_pylist()
    except ValueError:
        return [_python_value(scalar, otherwise) for scalar in array]


def _python_value(scalar: Any, otherwise: Callable[[Any, ValueError], Any]) -> Any:
    try:
        return scalar.as_py()
    except ValueError as error:
        return otherwise(scalar, error)
