"""Responses in Ray Data: the rows of a dataset, read by the processes of a cluster.

```python
import ray
from outspoken.batch import BatchOptions
from outspoken.batch.ray import read_dataset, split

logs = ray.data.from_items([{"id": "a", "text": '<tool_call>{"name": "now"}</tool_call>'}, {"id": "b", "text": None}])
read = read_dataset(logs, BatchOptions(format="hermes", id_column="id")).materialize()
rows, quarantine = split(read)
print(rows.take_all()[0]["tool_calls"], quarantine.take_all()[0]["error"])
#> [{'name': 'now', 'arguments': '{}', 'id': None}] {'code': 'no-text', 'message': '`text` is null'}
```

Outspoken is installed on every node. Tasks read, not actors: Ray keeps the processes of tasks and each keeps its
readers, while actors of one CPU each leave none to the tasks that read files.
"""

from __future__ import annotations

from typing import Any, TypeVar

from outspoken.results.arguments import kind_of
from outspoken.results.packages import Package

from .options import BatchOptions
from .tables import ROWS, needed_columns, read_table, split_table

_RAY = Package("ray", "ray", "2.10", "`outspoken.batch.ray`")

Dataset = TypeVar("Dataset")

#: How often a task is tried again whose process died. Ray tries without end, so one bad row would stop all silently.
RETRIES = 5


def read_dataset(dataset: Dataset, options: BatchOptions | None = None, **settings: Any) -> Dataset:
    """Read the rows of a `ray.data.Dataset`, to one in the columns of `outspoken.batch.schema`.

    It is as lazy as `Dataset.map_batches`, which gets the `settings`: `batch_size` (4,096 rows unless it is given),
    `num_cpus`, `memory`, `concurrency`, `max_retries` (`RETRIES`) and others. Only the columns that are needed are read
    of the source, if the dataset knows its schema without running. A row that cannot be read has its reason in `error`.

    Raises BatchError if the dataset is known to lack a column (else the task that notices does), TypeError for anything
    but a dataset, and MissingPackageError.
    """
    given, options = _dataset(dataset), options or BatchOptions()
    known = given.schema(fetch_if_missing=False)
    if known is not None and known.names:
        given = given.select_columns(needed_columns(options, known.names))
    settings = {"batch_size": ROWS, "zero_copy_batch": True, "max_retries": RETRIES, **settings}
    return given.map_batches(read_table, fn_kwargs={"options": options}, batch_format="pyarrow", **settings)


def split(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """The rows of a result that were read, and those that have an `error`, with the same columns.

    Each part reads the dataset when it is used: call `materialize` before.
    """
    given = _dataset(dataset)
    rows = given.map_batches(_rows, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)
    return rows, given.map_batches(_quarantine, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)


def _dataset(dataset: object) -> Any:
    """The dataset. Raises TypeError for anything else."""
    _RAY.load("ray")
    from importlib import import_module

    if not isinstance(dataset, import_module("ray.data").Dataset):
        raise TypeError(f"`dataset` is {kind_of(dataset)}; expected ray.data.Dataset")
    return dataset


def _rows(table: Any) -> Any:
    return split_table(table)[0] if table.num_rows else table


def _quarantine(table: Any) -> Any:
    return split_table(table)[1] if table.num_rows else table
