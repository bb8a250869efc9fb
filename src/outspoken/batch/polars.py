"""Responses in Polars: data frames, lazy frames and expressions.

```python
import polars as pl
from outspoken.batch import BatchOptions
from outspoken.batch.polars import expression, read, split

frame = pl.LazyFrame({"id": ["a", "b"], "text": ['<tool_call>{"name": "now"}</tool_call>', None]})
rows, quarantine = split(read(frame, BatchOptions(format="hermes", id_column="id")).collect())
print(rows["tool_calls"].to_list(), quarantine["error"].to_list())
#> [[{'name': 'now', 'arguments': '{}', 'id': None}]] [{'code': 'no-text', 'message': '`text` is null'}]
beside = frame.with_columns(reply=expression(BatchOptions(format="hermes")))
print(beside.select("id", pl.col("reply").struct.field("status")).collect().rows())
#> [('a', 'ok'), ('b', None)]
```

One process reads, and Python runs on one core of it. To use all of them, call `outspoken.batch.run` with the files.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from outspoken.results.arguments import kind_of
from outspoken.results.packages import Package

from .arrow import Schema
from .errors import BatchError
from .options import BatchOptions
from .schema import FROM_ENGINE, make_schema
from .tables import check_beside, needed_columns, read_table, schema_of

_POLARS = Package("polars", "polars", "1.20", "`outspoken.batch.polars`")

Frame = TypeVar("Frame")


def read(frame: Frame, options: BatchOptions | None = None) -> Frame:
    """Read the rows of a `polars.DataFrame` or `LazyFrame`, to the same in the columns of `outspoken.batch.schema`.

    A lazy frame stays lazy: its schema is known, only the columns that are needed are read of its source, and the
    streaming engine reads it in pieces. A row that cannot be read has its reason in `error`.

    Raises BatchError if the frame lacks a column, TypeError for anything but a frame, and MissingPackageError.
    """
    pl, given = _frame(frame)
    options = options or BatchOptions()
    schema = given.collect_schema()
    selected = given.select(_checked(pl, schema, needed_columns(options, schema.names())))
    if isinstance(given, pl.DataFrame):
        return _read(options, selected)
    before = pl.DataFrame(schema=selected.collect_schema()).to_arrow().schema
    after = _polars_schema(pl, schema_of(before, options))
    return selected.map_batches(partial(_read, options), schema=after, streamable=True)


def expression(options: BatchOptions | None = None) -> Any:
    """A `polars.Expr`: the columns that the options name, to a struct of the columns from `format` to `error`.

    It is an expression for `select` and `with_columns`; its fields are those of `outspoken.batch.schema` but `file`,
    `line` and `id`. The names of columns may not lead into structs.

    Raises BatchError for options with `keep` or `id_column`, as the other columns stay beside it, and
    MissingPackageError.
    """
    pl = _POLARS.load("polars")
    options = options or BatchOptions()
    check_beside(options)
    schema = _polars_schema(pl, make_schema({}, has_response=options.has_response))
    fields = {name: type for name, type in schema.items() if name not in FROM_ENGINE}
    function = partial(_read_series, options, list(fields))
    columns = pl.struct(list(options.columns))
    return columns.map_batches(function, return_dtype=pl.Struct(fields), is_elementwise=True)


def split(frame: Frame) -> tuple[Frame, Frame]:
    """The rows of a result that were read, and those that have an `error`, with the same columns.

    Both parts of a lazy frame read it: collect it before, or write each to a file.
    """
    pl, given = _frame(frame)
    failed = pl.col("error").is_not_null()
    return given.filter(~failed), given.filter(failed)


def _frame(frame: object) -> tuple[Any, Any]:
    """Polars, and the frame. Raises TypeError for anything else."""
    pl = _POLARS.load("polars")
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"`frame` is {kind_of(frame)}; expected polars.DataFrame or polars.LazyFrame")
    return pl, frame


def _checked(pl: Any, schema: Any, names: list[str]) -> list[str]:
    """Names of columns whose types Arrow has. Raises BatchError for columns of Python objects."""
    for name in names:
        if schema[name] == pl.Object:
            raise BatchError(f"the column `{name}` holds Python objects; cast it to text (`pl.String`)")
    return names


def _polars_schema(pl: Any, schema: Schema) -> Any:
    """A schema of Arrow in the types of Polars."""
    empty: Any = schema
    return pl.from_arrow(empty.empty_table()).schema


def _read(options: BatchOptions, frame: Any) -> Any:
    """Read a data frame."""
    return _POLARS.load("polars").from_arrow(read_table(frame.to_arrow(), options))


def _read_series(options: BatchOptions, fields: list[str], series: Any) -> Any:
    """Read a series of structs."""
    pl = _POLARS.load("polars")
    given = series.struct.unnest()
    _checked(pl, given.schema, given.columns)
    return _read(options, given).select(fields).to_struct(series.name)
