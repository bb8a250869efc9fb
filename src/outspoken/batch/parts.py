"""Parts: what a worker makes of a unit, and writes in one step.

The bad rows of a unit are written before its part, and both aside: a part that is there is complete, and so is what was
left out of it.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from .arrow import RecordBatch, pa, parquet, python_values
from .errors import RowError

Output = Literal["parquet", "jsonl"]

#: Columns with few different values, for which Parquet keeps a dictionary.
_DICTIONARIES = [
    "file", "format", "status",
    *[f"segments.list.element.{name}" for name in ("kind", "name", "status")],
    "tool_calls.list.element.name", "actions.list.element.type", "actions.list.element.name",
    "payloads.list.element.type",
    *[f"diagnostics.list.element.{name}" for name in ("code", "severity", "message", "format", "label")],
    *[f"repairs.list.element.{name}" for name in ("code", "level", "after")],
]  # fmt: skip


def part_path(folder: Path, name: str, output: Output) -> Path:
    """The path of a part."""
    return folder / "parts" / f"{name}.{output}"


def quarantine_path(folder: Path, name: str) -> Path:
    """The path of the bad rows of a unit."""
    return folder / "quarantine" / f"{name}.jsonl"


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """Where to write a file that is then moved into its place in one step; other processes use other names."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield aside
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def write_unit(folder: Path, name: str, batch: RecordBatch, bad: Sequence[dict[str, Any]], output: Output) -> None:
    """Write the part of a unit, and before it the rows that could not be read. Raises OSError."""
    path = quarantine_path(folder, name)
    if bad:
        text = "".join([json.dumps(row, ensure_ascii=False) + "\n" for row in bad])
        with replacing(path) as aside:
            aside.write_bytes(text.encode("utf-8", "surrogatepass"))
    else:
        path.unlink(missing_ok=True)
    with replacing(part_path(folder, name, output)) as aside:
        if output == "jsonl":
            aside.write_bytes(json_lines(batch))
        else:
            table = pa.Table.from_batches([batch])
            parquet().write_table(table, aside, compression="zstd", compression_level=1, use_dictionary=_DICTIONARIES)


def json_lines(batch: RecordBatch) -> bytes:
    """The rows of a batch as JSON lines, in the fields of the schema; `error`, which is always null, is left out."""
    lines: list[str] = []
    for row in _plain_rows(batch):
        del row["error"]
        lines.append(json.dumps(row, ensure_ascii=False, default=_plain) + "\n")
    return "".join(lines).encode("utf-8", "surrogatepass")


def _plain(value: object) -> str:
    """What JSON has no word for: bytes in base 64, other things as text."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def _plain_rows(batch: RecordBatch) -> list[dict[str, Any]]:
    """The rows as dicts. What Python cannot hold of them is bytes if it is text that is not UTF-8, or else told."""
    names: list[str] = batch.schema.names
    columns = [python_values(batch.column(name), _told) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _told(scalar: Any, error: ValueError) -> Any:
    if isinstance(error, UnicodeDecodeError):
        return scalar.as_buffer().to_pybytes() if hasattr(scalar, "as_buffer") else f"not UTF-8: {error}"
    return str(scalar.cast(pa.string()))


def bad_row(file: str, line: int, id: str | None, error: RowError, raw: str | bytes) -> dict[str, Any]:
    """A line of a quarantine: where the row stands, why it is here, and what it is, in base 64 if it is no UTF-8."""
    row = {"file": file, "line": line, "id": id, "code": error.code, "message": error.message}
    if isinstance(raw, bytes):
        try:
            raw = raw.decode()
        except UnicodeDecodeError:
            return {**row, "raw_base64": base64.b64encode(raw).decode()}
    return {**row, "raw": raw}


def raw_of(batch: RecordBatch, row: int) -> str:
    """A row of Arrow as JSON."""
    return json.dumps(_plain_rows(batch.slice(row, 1))[0], ensure_ascii=False, default=_plain)


def good_rows(batch: RecordBatch) -> RecordBatch:
    """The rows that could be read."""
    errors = batch.column("error")
    return batch.filter(errors.is_null()) if errors.null_count < batch.num_rows else batch
