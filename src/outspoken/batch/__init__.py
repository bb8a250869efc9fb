"""Batches: files of responses, or batches of Arrow from another engine, to rows in a documented schema.

- `errors`, `options`: what callers catch and choose
- `arrow`, `schema`, `columns`: pyarrow with types; the columns of a row; replies to columns
- `rows`, `function`: one row; `BatchReader`, which all engines share
- `inputs`, `packed`, `units`, `lines`: files, also compressed; the pieces that workers read, and the rows of JSON lines
- `parts`, `outputs`, `summary`: what is written: parts and quarantine, the folder of results, the counts
- `report`: one page of HTML about a folder of results
- `worker`, `pool`, `running`: one process for each core, and the run of a batch
- `tables`: responses in data frames, queries and clusters

Import the public names from here. The room may import `providers`, `parsing` and what they are made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.errors import MissingPackageError as MissingPackageError

    from .errors import BatchError as BatchError
    from .function import BatchReader as BatchReader
    from .options import BatchOptions as BatchOptions
    from .outputs import read_summary as read_summary
    from .pool import StoppedError as StoppedError
    from .report.page import write_report as write_report
    from .running import run as run
    from .summary import Counts as Counts, Progress as Progress, Summary as Summary
    from .tables import read_batches as read_batches, read_table as read_table, schema_of as schema_of

export_lazily(__name__)
