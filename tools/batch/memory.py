"""The memory that a batch takes for inputs of several sizes: that of the parent, and of the largest worker."""

from __future__ import annotations

import gzip
import json
import subprocess
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from outspoken.batch.arrow import pa, parquet

from .responses import hermes_texts
from .results import command

#: How much larger the memory may be for the largest input than for the second largest.
_GROWTH = 1.15


def check_memory(megabytes: list[int], suffix: str) -> bool:
    """Measure each size, print it, and say if the memory is flat."""
    peaks: list[int] = []
    print(f"{'input, MB':>10} {'parent, MB':>11} {'worker, MB':>11} {'all, MB':>8} {'seconds':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for size in megabytes:
            path = _write(Path(folder) / f"in{size}{suffix}", size)
            start = time.monotonic()
            parent, worker, together = _peaks(path, Path(folder) / f"out{size}")
            seconds = time.monotonic() - start
            print(
                f"{size:>10,} {parent >> 20:>11,} {worker >> 20:>11,} {together >> 20:>8,} {seconds:>8.1f}", flush=True
            )
            peaks.append(together)
            path.unlink()
    return len(peaks) < 2 or peaks[-1] < max(peaks[:-1]) * _GROWTH


def _write(path: Path, megabytes: int) -> Path:
    """Write so much text as lines, which repeat after 20 MB; compressed or as Parquet as the name says."""
    texts = list(hermes_texts(min(megabytes, 20) * 3200))
    block = "".join([json.dumps({"id": f"r{n}", "text": text}) + "\n" for n, text in enumerate(texts)]).encode()
    times = max(1, round(megabytes * 1_000_000 / len(block)))
    if path.suffix == ".parquet":
        table = pa.table({"id": [f"r{n}" for n in range(len(texts))], "text": texts})
        with parquet().ParquetWriter(path, table.schema) as writer:
            for _ in range(times):
                writer.write_table(table)
        return path
    with _opened(path) as file:
        for _ in range(times):
            file.write(block)
    return path


def _opened(path: Path) -> Any:
    """A file that is written, compressed as its name says."""
    if path.suffix == ".gz":
        return gzip.open(path, "wb", compresslevel=1)
    return import_module("zstandard").open(path, "wb") if path.suffix == ".zst" else path.open("wb")


def _peaks(path: Path, out: Path) -> tuple[int, int, int]:
    """The most memory of the parent, of a worker, and of all of them at one time, in bytes."""
    process = subprocess.Popen(command(path, out), stdout=subprocess.DEVNULL)
    found = [0, 0, 0]

    def watch() -> None:
        while process.poll() is None:
            parent, workers = _memory(process.pid), [_memory(one) for one in _children(process.pid)]
            found[:] = max(found[0], parent), max(found[1], *workers, 0), max(found[2], parent + sum(workers))
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    if process.returncode:
        raise SystemExit(f"the command ended with code {process.returncode}")
    return found[0], found[1], found[2]


def _children(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _memory(process: int) -> int:
    """The resident memory of a process, in bytes; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0
