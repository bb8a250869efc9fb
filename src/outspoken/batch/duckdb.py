"""Responses in DuckDB: a function for SQL.

```python
import duckdb
from outspoken.batch import BatchOptions
from outspoken.batch.duckdb import register, split

connection = duckdb.connect()
connection.execute("CREATE TABLE logs (id VARCHAR, text VARCHAR)")
connection.execute("INSERT INTO logs VALUES ('a', ?), ('b', NULL)", ['<tool_call>{"name": "now"}</tool_call>'])
register(connection, BatchOptions(format="hermes"))
read = connection.sql("SELECT id, unnest(outspoken(text)) FROM logs")
rows, quarantine = split(read)
print(rows.select("id, tool_calls").fetchall(), quarantine.select("id, error").fetchall())
#> [('a', [{'name': 'now', 'arguments': '{}', 'id': None}])] [('b', {'code': 'no-text', 'message': '`text` is null'})]
```

One process reads, and Python runs on one core of it. To use all of them, call `outspoken.batch.run` with the files.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any, TypeVar

from outspoken.results.arguments import check_type, kind_of
from outspoken.results.packages import Package

from .arrow import pa
from .options import BatchOptions
from .schema import FROM_ENGINE, make_schema
from .tables import check_beside, read_table

_DUCKDB = Package("duckdb", "duckdb", "1.0", "`outspoken.batch.duckdb`")

Relation = TypeVar("Relation")

_SQL = {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "bool": "BOOLEAN"}


def register(connection: object, options: BatchOptions | None = None, name: str = "outspoken") -> None:
    """Register a function of SQL that reads a response: `SELECT outspoken(text) FROM logs`.

    Its arguments are text: the columns that the options name, in the order of `BatchOptions.columns` (the response,
    then format, tools, prefix and finish reason, of those that are named); for conversations and bodies as objects,
    `messages::JSON`. Its result is a struct of the columns from `format` to `error` of `outspoken.batch.schema`;
    `unnest(outspoken(text))` makes columns of it. A row that cannot be read has its reason in `error`. The function
    stays until the connection is closed, or until `connection.remove_function(name)`.

    Raises BatchError for options with `keep` or `id_column`, as a query has the other columns itself, TypeError for
    anything but a connection, and MissingPackageError.
    """
    duckdb = _DUCKDB.load("duckdb")
    check_type(name, str, "name")
    if not isinstance(connection, duckdb.DuckDBPyConnection):
        raise TypeError(f"`connection` is {kind_of(connection)}; expected duckdb.DuckDBPyConnection")
    given: Any = connection
    options = options or BatchOptions()
    check_beside(options)
    schema = make_schema({}, has_response=options.has_response)
    fields = [field for field in schema if field.name not in FROM_ENGINE]
    result = sql_type(pa.struct([(field.name, field.type) for field in fields]))
    function = _Function(options, [field.name for field in fields])
    arguments = ["VARCHAR"] * len(options.columns)
    given.create_function(name, function, arguments, result, type="arrow", null_handling="special")


def split(relation: Relation) -> tuple[Relation, Relation]:
    """The rows of a relation that were read, and those that have an `error`, with the same columns.

    Each part runs the query of the relation when it is fetched: write it to a table before.
    """
    given: Any = relation
    return given.filter('"error" IS NULL'), given.filter('"error" IS NOT NULL')


def sql_type(type: Any) -> str:
    """A type of Arrow in the words of DuckDB."""
    if pa.types.is_struct(type):
        return f"STRUCT({', '.join([_quoted(field.name) + ' ' + sql_type(field.type) for field in type])})"
    if pa.types.is_list(type):
        return f"{sql_type(type.value_type)}[]"
    return _SQL[str(type)]


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


class _Function:
    """What DuckDB calls with columns of arguments. It asks the signature how many there are."""

    def __init__(self, options: BatchOptions, fields: list[str]) -> None:
        self._options = options
        self._fields = fields
        arguments = [Parameter(f"column_{number}", Parameter.POSITIONAL_ONLY) for number in range(len(options.columns))]
        self.__signature__ = Signature(arguments)

    def __call__(self, *columns: Any) -> Any:
        given = pa.table(list(columns), names=list(self._options.columns))
        return read_table(given, self._options).select(self._fields).to_struct_array()
