"""What the tests of batches share: files of responses, and the results of a batch as plain data."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from outspoken.batch.arrow import parquet

CALL = '<tool_call>\n{"name": "find", "arguments": {"city": "Paris", "n": %d}}\n</tool_call>'


def zstd(data: bytes) -> bytes:
    """Compress some bytes."""
    compress: Any = import_module("zstandard").compress
    return compress(data)


def write_lines(path: Path, count: int, first: int = 0) -> Path:
    """Write a file of JSON lines with calls in hermes, each another one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": f"r{n}", "text": CALL % n}) + "\n" for n in range(first, first + count)]
    path.write_text("".join(lines), "utf-8")
    return path


def results(out: Path) -> list[dict[str, Any]]:
    """The rows of all parts, in the order of their names."""
    rows: list[dict[str, Any]] = []
    for part in sorted((out / "parts").iterdir()):
        if part.suffix == ".parquet":
            rows += parquet().read_table(part).to_pylist()
        else:
            rows += [json.loads(line) for line in part.read_text("utf-8").splitlines()]
    return rows


def quarantine(out: Path) -> list[dict[str, Any]]:
    """The rows in quarantine, in the order of their files."""
    files = sorted((out / "quarantine").iterdir())
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
