"""Ray and Spark, as local clusters: the same rows as those of `BatchReader`, with ten kinds of bad rows among them.

Then the speed of each from Parquet to Parquet, beside the embedded engine, in rows a second and bytes a row.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases
from outspoken.batch import BatchOptions, run
from outspoken.batch.arrow import pa, parquet
from outspoken.batch.tables import read_table

from .processor_time import mark, processor_seconds
from .responses import hermes_texts

#: Every so many rows, one is bad.
EVERY = 97
_CORES = 2
_LIMIT = 20_000
_TOOL = {"name": "search", "parameters": {"type": "object", "properties": {"n": {"type": "string"}}}}
#: Bad rows of text, in turn: what is changed of a sound row, and the code.
_BAD_TEXTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"text": None}, "no-text"),
    ({"text": b"x" * (_LIMIT + 1)}, "too-long"),
    ({"text": b"caf\xe9 and more"}, "not-utf8"),
    ({"format": "nonsense"}, "unknown-format"),
    ({"tools": "[{"}, "invalid-tools"),
    ({"tools": '[{"x": 1}]'}, "invalid-tools"),
    ({"score": "high"}, "invalid-column"),
)
_BAD_BODIES = (("{", "not-a-response"), ('{"x": 1}', "not-a-response"))
_BAD_MESSAGES = (('[{"role": "user", "content": "Hi"}]', "no-answer"),)

#: Reads a folder of Parquet with options, to a table, or to another folder of Parquet if there is a path.
Engine = Callable[[Path, BatchOptions, "Path | None"], Any]


def check_clusters(rows: int, speed_rows: int, engines: Iterable[str]) -> bool:
    """Read the rows with each engine and compare them; then measure the speed, if there are rows for that."""
    sound = True
    mark()
    with tempfile.TemporaryDirectory() as folder:
        tables = _write_tables(Path(folder), rows)
        long = _write_long(Path(folder) / "long", speed_rows) if speed_rows else None
        for name in engines:
            with _ENGINES[name]() as engine:
                for path, options, codes in tables:
                    sound &= _agrees(name, engine, path, options, codes)
                if long is not None:
                    _measure(name, engine, long, speed_rows)
    return sound


# rows


def _write_tables(folder: Path, rows: int) -> list[tuple[Path, BatchOptions, Counter[str]]]:
    """Write text, bodies and conversations; return how each is read, and how often each code is expected."""
    texts, bodies = rows * 7 // 10, rows * 15 // 100
    keep = ("n", "score:float64")
    text_options = BatchOptions(
        format_column="format", tools_column="tools", id_column="id", keep=keep, max_chars=_LIMIT
    )
    body_options = BatchOptions(provider="openai", text_column="body", format="hermes", id_column="id")
    message_options = BatchOptions(messages_column="messages", format="hermes", id_column="id", keep=("n",))
    message_rows, message_codes = _messages(rows - texts - bodies)
    return [
        (folder / "texts", text_options, _write(folder / "texts", *_texts(texts))),
        (folder / "bodies", body_options, _write(folder / "bodies", *_bodies(bodies))),
        (folder / "messages", message_options, _write(folder / "messages", message_rows, message_codes)),
    ]


def _texts(count: int) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Responses of all formats, named and detected."""
    corpus, codes = [case for case in cases(Checkout()) if len(case.text) <= _LIMIT], Counter[str]()
    made: list[dict[str, Any]] = []
    for number, text in enumerate(hermes_texts(count)):
        case = corpus[number % len(corpus)]
        if number % 2:
            row: dict[str, Any] = {"text": case.text.encode("utf-8", "replace"), "format": case.format, "tools": None}
        else:
            row = {"text": text.encode(), "format": None if number % 8 == 0 else "hermes", "tools": json.dumps([_TOOL])}
        row |= {"score": None, "n": number}
        if number % EVERY == 0:
            changes, code = _BAD_TEXTS[codes.total() % len(_BAD_TEXTS)]
            row |= changes
            codes[code] += 1
        made.append(row)
    return made, codes


def _bodies(count: int) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Bodies of a provider."""
    made, codes = list[dict[str, Any]](), Counter[str]()
    for number, text in enumerate(hermes_texts(count, 8)):
        answer = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = json.dumps({"id": f"b{number}", "choices": [answer], "usage": {"prompt_tokens": number}})
        if number % EVERY == 0:
            body, code = _BAD_BODIES[codes.total() % len(_BAD_BODIES)]
            codes[code] += 1
        made.append({"body": body})
    return made, codes


def _messages(count: int) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Conversations, as lists of objects."""
    made, codes = list[dict[str, Any]](), Counter[str]()
    for number, text in enumerate(hermes_texts(count, 9)):
        said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": text}]
        if number % EVERY == 0:
            bad, code = _BAD_MESSAGES[codes.total() % len(_BAD_MESSAGES)]
            said = json.loads(bad)
            codes[code] += 1
        made.append({"messages": said, "n": {"row": number, "tags": ["a", None]}})
    return made, codes


def _write(folder: Path, rows: list[dict[str, Any]], codes: Counter[str]) -> Counter[str]:
    """Write rows to Parquet, in several files and with an id."""
    folder.mkdir()
    step = -(-len(rows) // 5)
    for start in range(0, len(rows), step):
        some = [{"id": f"r{start + place}", **row} for place, row in enumerate(rows[start : start + step])]
        table: Any = pa.Table.from_pylist(some)
        if "text" in table.column_names:
            table = table.set_column(table.column_names.index("text"), "text", _unchecked(table["text"]))
            for name in ("tools", "score"):
                table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.string()))
        parquet().write_table(table, folder / f"{start:08}.parquet")
    return codes


def _unchecked(column: Any) -> Any:
    """Bytes as text, though not all of them are UTF-8: as some programs write it."""
    array = column.combine_chunks()
    return pa.Array.from_buffers(pa.string(), len(array), array.buffers())


def _write_long(folder: Path, rows: int) -> Path:
    folder.mkdir()
    texts = list(hermes_texts(rows))
    step = -(-rows // 16)
    for start in range(0, rows, step):
        some = texts[start : start + step]
        ids = [f"r{start + place}" for place in range(len(some))]
        parquet().write_table(pa.table({"id": ids, "text": some}), folder / f"{start:08}.parquet")
    return folder


# comparison


def _agrees(name: str, engine: Engine, path: Path, options: BatchOptions, codes: Counter[str]) -> bool:
    """Does an engine read the rows as the function does, and has each bad row its code?"""
    wanted = _by_id(read_table(_parquet_table(path), options))
    found = _by_id(engine(path, options, None))
    failed = Counter([row["error"]["code"] for row in found if row["error"]])
    wrong = [one["id"] for one, other in zip(found, wanted, strict=False) if one != other]
    sound = found == wanted and failed == codes
    print(f"{name}: {path.name}: {len(found):,} rows, {len(wrong)} differ, in quarantine: {dict(failed)}", flush=True)
    if not sound:
        print(f"  expected {len(wanted):,} rows, {dict(codes)}; first difference: {wrong[:1]}")
    return sound


def _by_id(table: Any) -> list[dict[str, Any]]:
    """The rows of a table in the order of their ids. Where a row stands is known to the embedded engine only."""
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted([{**row, "file": None, "line": None} for row in rows], key=lambda row: row["id"])


def _parquet_table(folder: Path) -> Any:
    return pa.concat_tables([parquet().read_table(path) for path in sorted(folder.rglob("*.parquet"))])


def _measure(name: str, engine: Engine, path: Path, rows: int) -> None:
    """Print the speed of the second of two runs: the first one warms up."""
    seconds, used, size = 0.0, 0.0, 0
    for number in range(2):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / f"out{number}"
            start, before = time.perf_counter(), processor_seconds()
            engine(path, BatchOptions(format="hermes", id_column="id"), out)
            seconds, used = time.perf_counter() - start, processor_seconds() - before
            written = [file for file in out.rglob("*.parquet") if file.is_file()]
            count = sum([parquet().read_metadata(file).num_rows for file in written])
            size = sum([file.stat().st_size for file in written])
        if count != rows:
            raise SystemExit(f"{name} wrote {count:,} of {rows:,} rows")
    given = sum([file.stat().st_size for file in path.iterdir()])
    cores = 1 if name == "function" else _CORES
    print(
        f"{name}: {rows:,} rows in {seconds:.1f} s on {cores} cores: {rows / seconds:,.0f} rows a second; "
        f"{rows / used:,.0f} for each second of a processor; {given / rows:.0f} bytes a row in, {size / rows:.0f} out",
        flush=True,
    )


# engines


@contextmanager
def _function() -> Any:
    """The function itself, on one core."""

    def read(path: Path, options: BatchOptions, out: Path | None) -> Any:
        if out is None:
            return read_table(_parquet_table(path), options)
        out.mkdir()
        for file in sorted(path.iterdir()):
            parquet().write_table(read_table(parquet().read_table(file), options), out / file.name)
        return None

    yield read


@contextmanager
def _embedded() -> Any:
    """`outspoken.batch.run`, whose rows in quarantine are added to the rows that it read."""

    def read(path: Path, options: BatchOptions, out: Path | None) -> Any:
        if out is not None:
            return run(path, out, options, workers=_CORES)
        with tempfile.TemporaryDirectory() as folder:
            run(path, Path(folder) / "out", options, workers=_CORES)
            good = _parquet_table(Path(folder) / "out" / "parts")
            lines = [file.read_text().splitlines() for file in (Path(folder) / "out" / "quarantine").iterdir()]
        return _with_quarantine(good, [json.loads(line) for some in lines for line in some], path, options)

    yield read


def _with_quarantine(good: Any, quarantine: list[dict[str, Any]], path: Path, options: BatchOptions) -> Any:
    """The rows of parts and those of the quarantine, which has its own columns."""
    all_rows = read_table(_parquet_table(path), options)
    errors = {row["id"]: {"code": row["code"], "message": row["message"]} for row in quarantine}
    bad = [{**row, "error": errors[row["id"]]} for row in all_rows.to_pylist() if row["id"] in errors]
    return pa.concat_tables([good, pa.Table.from_pylist(bad, schema=good.schema)])


@contextmanager
def _ray() -> Any:
    """Ray Data on a local cluster."""
    ray, data = import_module("ray"), import_module("ray.data")
    from outspoken.batch.ray import read_dataset

    ray.init(num_cpus=_CORES, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    context: Any = data.DataContext.get_current()
    context.enable_progress_bars = False

    def read(path: Path, options: BatchOptions, out: Path | None) -> Any:
        made = read_dataset(data.read_parquet(str(path)), options)
        if out is not None:
            return made.write_parquet(str(out))
        tables = ray.get(made.to_arrow_refs())
        return pa.concat_tables([table for table in tables if table.num_rows], promote_options="default")

    try:
        yield read
    finally:
        ray.shutdown()


@contextmanager
def _spark() -> Any:
    """Spark on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session: Any = import_module("pyspark.sql").SparkSession
    from outspoken.batch.spark import read_dataframe

    builder = session.builder.master(f"local[{_CORES}]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")

    def read(path: Path, options: BatchOptions, out: Path | None) -> Any:
        made = read_dataframe(spark.read.parquet(str(path)), options)
        return made.toArrow() if out is None else made.write.parquet(str(out))

    try:
        yield read
    finally:
        spark.stop()


_ENGINES: dict[str, Callable[[], AbstractContextManager[Engine]]] = {
    "function": _function,
    "embedded": _embedded,
    "ray": _ray,
    "spark": _spark,
}
ENGINES = tuple(_ENGINES)
