"""Batches: `outspoken batch` beside other ways to read many responses, in one run.

All read the same file of JSON lines and write Parquet. The others write what `parse` returns as plain columns: status,
text, reasoning and calls. Times are those of the clock, with the start of all processes; the seconds of the processor
tell more if the machine has other work.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from outspoken.batch import BatchOptions, run
from outspoken.grammar.registry import names
from tools.batch.responses import write_hermes

from .peers import response

ROWS, QUICK_ROWS = 200_000, 20_000
#: How many formats are mixed, and how many rows are the first ones.
FORMATS, FIRST = 50, 2000

#: What the other engines do with a row.
_READ = """
import json
from outspoken import Parser
parser = Parser("hermes")
def read(text):
    reply = parser.parse(text)
    calls = [{"name": c.name, "arguments": c.arguments_text} for c in reply.tool_calls]
    return {"status": reply.status, "text": reply.text, "reasoning": reply.reasoning, "tool_calls": calls}
"""

_POOL = (
    _READ
    + """
import sys, os, itertools, multiprocessing
import pyarrow as pa, pyarrow.parquet as parquet
def part(job):
    number, lines, out = job
    rows = []
    for line in lines:
        data = json.loads(line)
        rows.append({"id": data["id"], **read(data["text"])})
    parquet.write_table(pa.Table.from_pylist(rows), f"{out}/{number}.parquet")
    return len(rows)
if __name__ == "__main__":
    path, out, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.makedirs(out)
    def jobs():
        with open(path, encoding="utf-8") as file:
            number = 0
            while lines := list(itertools.islice(file, 3000)):
                yield number, lines, out
                number += 1
    with multiprocessing.Pool(workers) as pool:
        sum(pool.imap_unordered(part, jobs()))
"""
)

_POLARS = (
    _READ
    + """
import sys
import polars as pl
call = pl.List(pl.Struct({"name": pl.String, "arguments": pl.String}))
kind = pl.Struct({"status": pl.String, "text": pl.String, "reasoning": pl.String, "tool_calls": call})
def batch(series):
    return pl.Series([read(text) for text in series], dtype=kind)
frame = pl.read_ndjson(sys.argv[1])
made = frame.select("id", pl.col("text").map_batches(batch, return_dtype=kind).alias("reply")).unnest("reply")
made.write_parquet(sys.argv[2])
"""
)

_DAFT = (
    _READ
    + """
import sys
import daft
from daft import DataType as T
call = T.list(T.struct({"name": T.string(), "arguments": T.string()}))
kind = T.struct({"status": T.string(), "text": T.string(), "reasoning": T.string(), "tool_calls": call})
@daft.func.batch(return_dtype=kind, use_process=True)
def batch(texts):
    return [read(text) for text in texts.to_pylist()]
if __name__ == "__main__":
    frame = daft.read_json(sys.argv[1]).into_batches(5000)
    frame.select(frame["id"], batch(frame["text"])).write_parquet(sys.argv[2])
"""
)


def batch(_: Any, rounds: int) -> None:
    """Rows a second of each engine, by the clock and by the processor; then mixed formats."""
    count = QUICK_ROWS if rounds < 20 else ROWS
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        path = write_hermes(Path(folder) / "in.jsonl", count)
        print(f"\n{count:,} responses in hermes, {path.stat().st_size / 1e6:.0f} MB, {cores} cores")
        print(f"  {'':40} {'seconds':>9} {'rows/s':>9} {'rows/s of processor':>20}")
        hermes = BatchOptions(format="hermes", id_column="id")
        one = _measure("outspoken batch, one worker", count, lambda: _ours(path, folder, hermes, 1))
        two = _measure("outspoken batch, two workers", count, lambda: _ours(path, folder, hermes, 2))
        others = [
            _measure("multiprocessing, two workers", count, lambda: _run(_POOL, path, Path(folder) / "pool", "2"))
        ]
        for name, program in (("polars", _POLARS), ("daft", _DAFT)):
            if find_spec(name) is None:
                print(f"  {name:40} not installed")
                continue
            others.append(_measure(name, count, lambda p=program, n=name: _run(p, path, Path(folder) / f"{n}.out")))
        print(f"  two workers to one: {one / two:.2f}; to the fastest of the others: {min(others) / two:.2f}")
        _mixed(Path(folder))


def _mixed(folder: Path) -> None:
    """Rows a second of mixed formats, named and detected, first and warm."""
    path = _write_mixed(folder / "mixed.jsonl", FIRST)
    long = _write_mixed(folder / "long.jsonl", FIRST * 10)
    print(f"\n{f'{FORMATS} formats mixed':42} {'seconds':>9} {'rows/s':>9} {'rows/s of processor':>20}")
    for label, options in (("named", BatchOptions(format_column="format")), ("detected", BatchOptions())):
        first = _measure(f"the first {FIRST:,} rows, {label}", FIRST, lambda o=options: _ours(path, str(folder), o, 2))
        more = _measure(f"{FIRST * 10:,} rows, {label}", FIRST * 10, lambda o=options: _ours(long, str(folder), o, 2))
        print(f"  {f'warm, {label}':40} {'':9} {FIRST * 9 / max(more - first, 1e-3):>9,.0f}")


def _write_mixed(path: Path, count: int) -> Path:
    """Write a file with responses of many formats in turn."""
    known = [name for name in names() if name != "text"]
    some = known[:: max(1, len(known) // FORMATS)][:FORMATS]
    texts = {name: [response(name, 1 + n % 3, 40 + 17 * n) for n in range(8)] for name in some}
    with path.open("w", encoding="utf-8") as file:
        for row in range(count):
            name = some[row % len(some)]
            file.write(json.dumps({"id": row, "format": name, "text": texts[name][row // len(some) % 8]}) + "\n")
    return path


def _ours(path: Path, folder: str, options: BatchOptions, workers: int) -> None:
    run(path, Path(folder) / "ours", options, workers=workers, restart=True)


def _run(program: str, path: Path, out: Path, *more: str) -> None:
    script = path.with_suffix(".py")
    script.write_text(program, "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "DAFT_PROGRESS_BAR": "0"}
    command = [sys.executable, str(script), str(path), str(out), *more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stderr[-2000:]}\n{path.name}: another engine failed")


def _measure(label: str, count: int, work: Callable[[], None]) -> float:
    """Do some work once, and print the seconds that it takes."""
    before, start = _processor(), time.perf_counter()
    work()
    seconds, used = time.perf_counter() - start, _processor() - before
    print(f"  {label:40} {seconds:>9.2f} {count / seconds:>9,.0f} {count / used:>20,.0f}", flush=True)
    return seconds


def _processor() -> float:
    """The seconds of the processor that this process and all that have ended below it have used."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum([one.ru_utime + one.ru_stime for one in both])
