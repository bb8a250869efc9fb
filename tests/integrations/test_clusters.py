"""Ray and Spark, as local clusters: the examples of the page on batches, and the same rows as in one process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from outspoken.batch import BatchOptions, read_batches, read_table, schema_of

PAGE = Path(__file__).resolve().parents[2] / "src" / "outspoken" / "batch" / "README.md"
CALL = '<tool_call>\n{"name": "find", "arguments": {"n": %d}}\n</tool_call>'
#: Rows in turn: what is changed of a sound one, and the code of the error.
CHANGES: list[tuple[dict[str, Any], str | None]] = [
    ({}, None),
    ({"text": CALL[:-14]}, None),
    ({"format": "qwen3_coder"}, None),
    ({"text": None}, "no-text"),
    ({"text": b"x" * 500}, "too-long"),
    ({"text": b"caf\xe9"}, "not-utf8"),
    ({"format": "nonsense"}, "unknown-format"),
    ({"tools": "[{"}, "invalid-tools"),
    ({"score": "high"}, "invalid-column"),
]
OPTIONS = BatchOptions(
    format_column="format", tools_column="tools", id_column="id", keep=("n", "score:float64"), max_chars=400
)
MESSAGES = BatchOptions(messages_column="messages", format="hermes", id_column="id", keep=("n",))


def write_texts(folder: Path) -> None:
    """Write files of Parquet with text, some of it no UTF-8."""
    for number in range(3):
        rows: list[dict[str, Any]] = [
            {"id": f"{number}-{at:03}", "text": CALL % at, "format": "hermes", "tools": None, "n": at, "score": None}
            | CHANGES[at % len(CHANGES)][0]
            for at in range(90)
        ]
        texts = [text.encode() if isinstance(text := row["text"], str) else text for row in rows]
        binary = pa.array(texts, pa.binary())
        names = ("id", "format", "tools", "score")
        columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in names}
        columns["text"] = pa.Array.from_buffers(pa.string(), len(binary), binary.buffers())  # as some programs write it
        columns["n"] = pa.array([row["n"] for row in rows])
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet")


def write_messages(folder: Path) -> None:
    """Write a file of Parquet with conversations, and a kept column of objects."""
    said = [[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": CALL % at}] for at in range(50)]
    said[7].pop()
    rows = [{"id": f"m{at:03}", "messages": said[at], "n": {"row": at, "tags": ["a", None]}} for at in range(50)]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "messages.parquet")


Engine = Callable[[Path, BatchOptions], Any]


@contextmanager
def ray_data() -> Generator[Engine]:
    """Reads files with Ray Data."""
    import ray

    def read(path: Path, options: BatchOptions) -> Any:
        given = ray.data.read_parquet(str(path))
        made = given.map_batches(read_table, fn_kwargs={"options": options}, batch_format="pyarrow", batch_size=64)
        tables = ray.get(made.to_arrow_refs())
        return pa.concat_tables([table for table in tables if table.num_rows], promote_options="default")

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        yield read
    finally:
        ray.shutdown()


@contextmanager
def spark() -> Generator[Engine]:
    """Reads files with Spark."""
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    def read(path: Path, options: BatchOptions) -> Any:
        given = session.read.parquet(str(path))
        schema = from_arrow_schema(schema_of(to_arrow_schema(given.schema), options))
        return given.mapInArrow(partial(read_batches, options=options), schema).toArrow()

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield read
    finally:
        session.stop()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", [ray_data, spark])
def test_clusters_read_the_same_rows(engine: Callable[[], AbstractContextManager[Engine]], tmp_path: Path) -> None:
    codes = [code for _, code in CHANGES] * 30, [*[None] * 7, "no-answer", *[None] * 42]
    with engine() as read:
        for write, options, expected in ((write_texts, OPTIONS, codes[0]), (write_messages, MESSAGES, codes[1])):
            folder = tmp_path / write.__name__
            folder.mkdir()
            write(folder)
            table = pa.concat_tables([parquet.read_table(path) for path in sorted(folder.iterdir())])
            found = sorted(read(folder, options).to_pylist(), key=lambda row: row["id"])
            assert found == read_table(table, options).to_pylist()
            assert [row["error"] and row["error"]["code"] for row in found] == expected


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["Ray", "Spark"])
def test_the_example_prints_what_it_says(engine: str) -> None:
    section = PAGE.read_text("utf-8").partition(f"\n## {engine}\n")[2].partition("\n## ")[0]
    code = re.search(r"^```py\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert code is not None
    variables = os.environ | {"PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run([sys.executable, "-c", code[1]], env=variables, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [line[3:] for line in code[1].splitlines() if line.startswith("#> ")]
