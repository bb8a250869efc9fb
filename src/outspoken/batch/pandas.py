"""Responses in a pandas data frame.

```python
import pandas as pd
from outspoken.batch import BatchOptions
from outspoken.batch.pandas import read, split

frame = pd.DataFrame({"id": ["a", "b"], "text": ['<tool_call>{"name": "now"}</tool_call>', None]})
rows, quarantine = split(read(frame, BatchOptions(format="hermes", id_column="id")))
print(rows["tool_calls"][0], quarantine["error"][1])
#> [{'name': 'now', 'arguments': '{}', 'id': None}] {'code': 'no-text', 'message': '`text` is null'}
```

One process reads the frame, on one core. To use all of them, write the frame to Parquet and call `outspoken.batch.run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from outspoken.results.arguments import kind_of
from outspoken.results.packages import Package

from .arrow import Array, pa
from .errors import BatchError
from .function import Rows, checked_values
from .options import BatchOptions
from .rows import dig
from .schema import KEPT_TYPES, make_schema
from .tables import ROWS, reader_of

_PANDAS = Package("pandas", "pandas", "2.0", "`outspoken.batch.pandas`")

Frame = TypeVar("Frame")


def read(frame: Frame, options: BatchOptions | None = None) -> Frame:
    """Read the rows of a `pandas.DataFrame`, to one with the same index, in the columns of `outspoken.batch.schema`.

    The columns have types of Arrow (`pandas.ArrowDtype`), so that nothing is lost: integers stay integers beside null.
    A row that cannot be read has its reason in `error`, also where a column of objects holds something other than text.

    Raises BatchError if the frame lacks a column or a kept one cannot be a column of Arrow, TypeError for anything but
    a frame, and MissingPackageError.
    """
    pd, given = _frame(frame)
    reader = reader_of(options)
    options = reader.options
    kept = {name: _kept(pd, given, name) for name, kind in options.kept.items() if kind is None}
    types = {name: KEPT_TYPES[kind] if kind else kept[name].type for name, kind in options.kept.items()}
    schema = make_schema(types, has_response=options.has_response)
    made: list[Any] = []
    for start in range(0, len(given), ROWS):
        rows = _rows(pd, given.iloc[start : start + ROWS], options)
        for name, kind in options.kept.items():
            if kind is None:
                rows.kept[name] = kept[name].slice(start, ROWS)
        made.append(reader.read_rows(rows, schema))
    table = pa.Table.from_batches(made, schema=schema)
    result = table.to_pandas(types_mapper=pd.ArrowDtype)
    result.index = given.index
    return result


def split(frame: Frame) -> tuple[Frame, Frame]:
    """The rows of a result that were read, and those that have an `error`, with the same columns."""
    _, given = _frame(frame)
    failed = given["error"].notna()
    return given[~failed], given[failed]


def _frame(frame: object) -> tuple[Any, Any]:
    """pandas, and the frame. Raises TypeError for anything else."""
    pd = _PANDAS.load("pandas")
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"`frame` is {kind_of(frame)}; expected pandas.DataFrame")
    return pd, frame


def _rows(pd: Any, frame: Any, options: BatchOptions) -> Rows:
    """The columns of a frame that are read."""
    values = _values(pd, frame, options.messages_column or options.text_column)
    hinted = (options.format_column, options.tools_column, options.prefix_column, options.finish_reason_column)
    hints = tuple([None if name is None else _values(pd, frame, name) for name in hinted])
    ids = None if options.id_column is None else _values(pd, frame, options.id_column)
    kept: dict[str, list[Any] | Array] = {name: [] for name in options.kept}
    for name, kind in options.kept.items():
        if kind is not None:
            kept[name] = checked_values(_values(pd, frame, name), kind, name, values)
    return Rows(values, hints, ids, kept)


def _column(frame: Any, name: str) -> tuple[Any, Sequence[str]]:
    """A column, and the path within its objects if the name has dots. Raises BatchError if there is none."""
    path: list[str] = [] if name in frame.columns else name.split(".")
    label = path[0] if path else name
    if label not in frame.columns:
        known = ", ".join([f"`{one}`" for one in frame.columns]) or "none"
        raise BatchError(f"there is no column `{name}`; the columns are {known}")
    found = frame[label]
    if found.ndim > 1:
        raise BatchError(f"there are several columns `{label}`; rename all but one")
    return found, path[1:]


def _values(pd: Any, frame: Any, name: str) -> list[Any]:
    """The values of a column as plain Python objects."""
    found, path = _column(frame, name)
    values: list[Any] = [value if value.__class__ is str else _plain(pd, value) for value in found.tolist()]
    return [dig(value, path) for value in values] if path else values


def _plain(pd: Any, value: Any) -> Any:
    """A value without types of NumPy, and with None for what is missing (NaN, NA, NaT)."""
    if isinstance(value, dict):
        return {key: _plain(pd, one) for key, one in cast("dict[Any, Any]", value).items()}
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(pd, one) for one in cast("list[Any]", value)]
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    return value


def _kept(pd: Any, frame: Any, name: str) -> Array:
    """A kept column with the type that Arrow finds for it. Raises BatchError if it finds none."""
    found, path = _column(frame, name)
    values: Any = pd.Series(_values(pd, frame, name), dtype=object) if path else found
    try:
        made: Any = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError) as error:
        reason = str(error).split("\n", 1)[0]
        raise BatchError(
            f"the kept column `{name}` has values of several types; name one, as `{name}:json` ({reason})"
        ) from None
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
