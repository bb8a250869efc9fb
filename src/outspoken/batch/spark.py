"""Responses in Spark: the rows of a data frame, read by the Python workers of a cluster.

```python
from pyspark.sql import SparkSession
from outspoken.batch import BatchOptions
from outspoken.batch.spark import read_dataframe, split

spark = SparkSession.builder.getOrCreate()
logs = spark.createDataFrame([("a", '<tool_call>{"name": "now"}</tool_call>'), ("b", None)], "id string, text string")
read = read_dataframe(logs, BatchOptions(format="hermes", id_column="id")).cache()
rows, quarantine = split(read)
print(rows.first()["tool_calls"][0].asDict(), quarantine.first()["error"].asDict())
#> {'name': 'now', 'arguments': '{}', 'id': None} {'code': 'no-text', 'message': '`text` is null'}
```

Outspoken and pyarrow are installed on every node. Spark keeps the Python workers of an executor, and each keeps its
readers.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any, TypeVar, cast

from outspoken.results.arguments import kind_of
from outspoken.results.packages import Package

from .arrow import pa
from .errors import BatchError
from .options import BatchOptions
from .schema import KEPT_TYPES, make_schema
from .tables import needed_columns, read_batches

_PYSPARK = Package("spark", "pyspark", "3.5", "`outspoken.batch.spark`")

DataFrame = TypeVar("DataFrame")

_JSON = {"string": "string", "int32": "integer", "int64": "long", "double": "double", "bool": "boolean"}


def read_dataframe(frame: DataFrame, options: BatchOptions | None = None) -> DataFrame:
    """Read the rows of a Spark data frame, to one in the columns of `outspoken.batch.schema`.

    It is as lazy as `DataFrame.mapInArrow`. Only the columns that are needed are read of the source. A row that cannot
    be read has its reason in `error`. `spark.sql.execution.arrow.maxRecordsPerBatch` decides how many rows a worker
    gets at once.

    Raises BatchError if the frame lacks a column, or if two columns of the result differ only in case, which Spark does
    not tell apart; TypeError for anything but a data frame, and MissingPackageError.
    """
    given, options = _frame(frame), options or BatchOptions()
    needed = needed_columns(options, given.columns)
    selected = given.select(*[given[_quoted(name)] for name in needed])
    described = result_schema(selected.schema.jsonValue(), options)
    schema = import_module("pyspark.sql.types").StructType.fromJson(described)
    return selected.mapInArrow(partial(read_batches, options=options), schema)


def split(frame: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The rows of a result that were read, and those that have an `error`, with the same columns.

    Each part reads the frame when it is used: call `cache` before, or write it and read what was written.
    """
    given = _frame(frame)
    return given.filter("error IS NULL"), given.filter("error IS NOT NULL")


def _frame(frame: object) -> Any:
    """The data frame, of a session or of Spark Connect. Raises TypeError for anything else."""
    _PYSPARK.load("pyspark")
    if not (type(frame).__module__.startswith("pyspark.") and hasattr(frame, "mapInArrow")):
        raise TypeError(f"`frame` is {kind_of(frame)}; expected pyspark.sql.DataFrame")
    return frame


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def result_schema(given: dict[str, Any], options: BatchOptions) -> dict[str, Any]:
    """The schema of the result in Spark's JSON, for a frame of a schema in the same. Kept columns have their types."""
    types: dict[str, Any] = {}
    for name, kind in options.kept.items():
        types[name] = json_type(KEPT_TYPES[kind]) if kind else _type_in(given, name)
    # Arrow has no types for some of Spark's, so those of kept columns do not become types of Arrow.
    schema = make_schema({name: pa.null() for name in types}, has_response=options.has_response)
    names = list(schema.names)
    kept = dict(zip(names[-1 - len(types) : -1], types.values(), strict=True))
    repeated = next((name for name in kept if [one.lower() for one in names].count(name.lower()) > 1), None)
    if repeated is not None:
        raise BatchError(f"Spark does not tell the kept column `{repeated}` from another of the result: rename it")
    return _struct({field.name: kept.get(field.name) or json_type(field.type) for field in schema})


def _type_in(given: dict[str, Any], name: str) -> Any:
    """The type of a column, whose name may lead into structs. Raises BatchError if there is none."""
    members = _members(given)
    if name in members:
        return members[name]
    found: Any = given
    for key in name.split("."):
        found = _members(found).get(key)
    if found is None:
        known = ", ".join([f"`{one}`" for one in members])
        raise BatchError(f"there is no column `{name}`; the columns are {known}")
    return found


def _members(type: Any) -> dict[str, Any]:
    """The types of the fields of a struct, by name; none for anything else."""
    if not isinstance(type, dict):
        return {}
    fields: list[dict[str, Any]] = cast("dict[str, Any]", type).get("fields", [])
    return {field["name"]: field["type"] for field in fields}


def json_type(type: Any) -> Any:
    """A type of Arrow in Spark's JSON."""
    if pa.types.is_struct(type):
        return _struct({field.name: json_type(field.type) for field in type})
    if pa.types.is_list(type):
        return {"type": "array", "elementType": json_type(type.value_type), "containsNull": True}
    return _JSON[str(type)]


def _struct(fields: dict[str, Any]) -> dict[str, Any]:
    """A struct in Spark's JSON."""
    described = [{"name": name, "type": type} for name, type in fields.items()]
    return {"type": "struct", "fields": [{**field, "nullable": True, "metadata": {}} for field in described]}
