"""Responses in pandas, Polars and DuckDB: the same rows as those of `BatchReader`."""

from __future__ import annotations

import json
import re
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any

import pytest

from outspoken.batch import BatchError, BatchOptions, BatchReader, MissingPackageError, duckdb, pandas, polars
from outspoken.batch.arrow import pa
from outspoken.batch.schema import COLUMNS
from outspoken.results import packages
from outspoken.results.packages import install_command
from tests.cases import CASES

# Their types are known only in part.
np: Any = import_module("numpy")
pd: Any = import_module("pandas")
pl: Any = import_module("polars")
duckdb_package: Any = import_module("duckdb")

CALL = '<tool_call>\n{"name": "find", "arguments": {"city": "Paris", "n": 3}}\n</tool_call>'
OPTIONS = BatchOptions(
    format_column="format", tools_column="tools", id_column="id", keep=("n", "score:float64"), max_chars=20_000
)
#: Responses of many formats with every kind of row that cannot be read of a column of text.
ROWS: dict[str, list[Any]] = {
    "id": [f"r{number}" for number in range(len(CASES[::120]) + 6)],
    "text": [*[case.text for case in CASES[::120]], None, "x" * 20_001, CALL, CALL, CALL, ""],
    "format": [*[case.format for case in CASES[::120]], "hermes", "hermes", "nonsense", None, "hermes", "hermes"],
    "tools": [*[None for _ in CASES[::120]], None, None, None, "{", None, None],
    "n": list(range(len(CASES[::120]) + 6)),
    "score": [*["" for _ in CASES[::120]], "", "", "", "", "high", ""],
    "more": [b"not needed" for _ in range(len(CASES[::120]) + 6)],
}
ROWS["score"] = [value or None for value in ROWS["score"]]
BAD = [None, "no-text", "too-long", "unknown-format", "invalid-tools", "invalid-column", None]


def expected(options: BatchOptions = OPTIONS, rows: dict[str, list[Any]] = ROWS) -> list[dict[str, Any]]:
    """The rows that the function for batches of Arrow reads."""
    return BatchReader(options)(pa.RecordBatch.from_pydict(rows)).to_pylist()


def codes(rows: list[dict[str, Any]]) -> list[str | None]:
    """The codes of the errors of rows."""
    return [row["error"] and row["error"]["code"] for row in rows]


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a data frame of pandas."""
    return pa.Table.from_pandas(frame, preserve_index=False).to_pylist()


@pytest.mark.parametrize("name", ["pandas", "polars", "duckdb"])
def test_the_example_of_the_module_prints_what_it_says(name: str) -> None:
    found = re.search(r"```python\n(.*?)```", import_module(f"outspoken.batch.{name}").__doc__ or "", re.DOTALL)
    assert found
    printed = StringIO()
    with redirect_stdout(printed):
        exec(found[1], {})
    assert printed.getvalue().splitlines() == [line[3:] for line in found[1].splitlines() if line.startswith("#> ")]


# pandas


@pytest.mark.parametrize("backend", ["numpy", "arrow", "categories"])
def test_pandas_reads_the_same_rows(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outspoken.batch.pandas.ROWS", 7)
    frame = pd.DataFrame(ROWS, index=[f"i{number}" for number in range(len(ROWS["id"]))])
    if backend == "arrow":
        frame = frame.convert_dtypes(dtype_backend="pyarrow")
    elif backend == "categories":
        frame["text"] = frame["text"].astype("category")
        frame["format"] = frame["format"].astype("category")
    made = pandas.read(frame, OPTIONS)
    assert rows_of(made) == expected()
    assert codes(rows_of(made))[-len(BAD) :] == BAD
    assert list(made.index) == list(frame.index)
    assert str(made["chars"].dtype) == "int64[pyarrow]"
    good, bad = pandas.split(made)
    assert list(good.columns) == list(bad.columns) == list(made.columns)
    assert list(bad["id"]) == [f"r{number}" for number in range(len(frame) - 6, len(frame) - 1)]
    assert len(good) + len(bad) == len(frame)


def test_pandas_names_what_is_no_text_in_a_column_of_objects() -> None:
    values = ["hello", 7, float("nan"), pd.NA, None, b"caf\xe9", b"caf\xc3\xa9", ["x"], 1.5, pd.NaT]
    made = rows_of(pandas.read(pd.DataFrame({"text": pd.Series(values, dtype=object)})))
    nothing = "no-text"
    assert codes(made) == [None, "not-text", *[nothing] * 3, "not-utf8", None, "not-text", "not-text", nothing]
    assert [made[0]["text"], made[6]["text"]] == ["hello", "café"]


def test_pandas_reads_objects_and_arrays_of_numpy() -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": CALL}]
    frame = pd.DataFrame({"a": [{"messages": np.array(said, dtype=object)}, {"messages": said}, {}, None]})
    made = rows_of(pandas.read(frame, BatchOptions(messages_column="a.messages", format="hermes")))
    assert [len(row["tool_calls"]) for row in made] == [1, 1, 0, 0]
    assert codes(made) == [None, None, "no-text", "no-text"]
    body = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}
    kept = rows_of(
        pandas.read(
            pd.DataFrame({"body": [body], "n": [np.int64(3)]}),
            BatchOptions(provider="openai", text_column="body", keep=("n", "body:json")),
        )
    )[0]
    assert (kept["text"], kept["n"], json.loads(kept["body"])) == ("hello", 3, body)


def test_pandas_says_what_is_wrong() -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "n": [1, "x"]})
    with pytest.raises(BatchError, match="there is no column `t`; the columns are `text`, `n`"):
        pandas.read(frame, BatchOptions(text_column="t"))
    with pytest.raises(BatchError, match="the kept column `n` has values of several types; name one, as `n:json`"):
        pandas.read(frame, BatchOptions(keep=("n",)))
    with pytest.raises(BatchError, match="there are several columns `text`; rename all but one"):
        pandas.read(pd.concat([frame, frame], axis=1))
    with pytest.raises(TypeError, match=r"`frame` is a list; expected pandas\.DataFrame"):
        pandas.read([frame])


def test_pandas_reads_no_rows() -> None:
    made = pandas.read(pd.DataFrame({"text": []}))
    assert list(made.columns) == [*COLUMNS, "error"]
    assert len(made) == 0


# Polars


@pytest.mark.parametrize("engine", ["eager", "in-memory", "streaming"])
def test_polars_reads_the_same_rows(engine: Any) -> None:
    frame = pl.DataFrame(ROWS)
    if engine == "eager":
        made = polars.read(frame, OPTIONS)
    else:
        lazy = polars.read(frame.lazy(), OPTIONS)
        made = lazy.collect(engine=engine)
        assert lazy.collect_schema() == made.schema
        assert lazy.select("chars").head(2).collect(engine=engine).shape == (2, 1)
    assert made.to_arrow().to_pylist() == expected()
    good, bad = polars.split(made)
    assert (good.columns, bad.columns) == (made.columns, made.columns)
    assert bad["id"].to_list() == ROWS["id"][-6:-1]
    assert good.height + bad.height == frame.height


def test_polars_keeps_columns_of_all_types() -> None:
    frame = pl.DataFrame({"text": ["a"], "n": [1], "day": ["2026-01-02"]}).with_columns(
        category=pl.lit("x", dtype=pl.Categorical), kind=pl.lit("y", dtype=pl.Enum(["y", "z"])),
        day=pl.col("day").str.to_date(), time=pl.lit("2026-01-02 03:04:05").str.to_datetime(time_unit="ns"),
        price=pl.lit("1.50").cast(pl.Decimal(10, 2)), small=pl.lit(3, dtype=pl.UInt8), blob=pl.lit(b"\xff"),
        list=pl.lit([1, 2]), nested=pl.struct(a=pl.lit(1), b=pl.struct(c=pl.lit("d"))), empty=pl.lit(None),
    )  # fmt: skip
    names = [name for name in frame.columns if name != "text"]
    options = BatchOptions(keep=(*names, "nested.b.c"), id_column="n")
    made = polars.read(frame, options)
    assert made.select(names).rows() == frame.select(names).rows()
    assert (made["nested.b.c"].item(), made["id"].item()) == ("d", "1")
    lazy = polars.read(frame.lazy(), options)
    assert lazy.collect().equals(made)
    assert lazy.collect_schema() == made.schema


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_polars_has_an_expression(engine: Any) -> None:
    options = BatchOptions(format_column="format", tools_column="tools", max_chars=20_000)
    read = polars.expression(options)
    lazy = pl.DataFrame(ROWS).lazy().with_columns(reply=read)
    made = lazy.collect(engine=engine)
    assert made.schema == lazy.collect_schema()
    wanted = [{k: v for k, v in row.items() if k not in ("file", "line", "id")} for row in expected(options)]
    assert made["reply"].to_list() == wanted
    assert made["n"].to_list() == ROWS["n"]
    assert made.lazy().filter(read.struct.field("error").is_not_null()).collect()["id"].to_list() == ROWS["id"][-6:-2]
    assert pl.DataFrame({"text": []}, schema={"text": pl.String}).select(polars.expression()).height == 0


def test_polars_says_what_is_wrong() -> None:
    frame = pl.DataFrame({"text": ["a"], "n": [1]})
    for one in (frame, frame.lazy()):
        with pytest.raises(BatchError, match="there is no column `t`; the columns are `text`, `n`"):
            polars.read(one, BatchOptions(text_column="t"))
        with pytest.raises(BatchError, match=r"there is no column `n\.a`"):
            polars.read(one, BatchOptions(text_column="n.a"))
    objects = pl.DataFrame({"text": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(BatchError, match="the column `text` holds Python objects; cast it to text"):
        polars.read(objects)
    with pytest.raises(BatchError, match="`keep` has no use here, as the other columns stay beside the result"):
        polars.expression(BatchOptions(keep=("n",)))
    with pytest.raises(TypeError, match=r"`frame` is a str; expected polars\.DataFrame or polars\.LazyFrame"):
        polars.read("x")


# DuckDB


def test_duckdb_reads_the_same_rows() -> None:
    options = BatchOptions(format_column="format", tools_column="tools", max_chars=20_000)
    with duckdb_package.connect() as connection:
        duckdb.register(connection, options)
        connection.execute("CREATE TABLE logs (id VARCHAR, text VARCHAR, format VARCHAR, tools VARCHAR)")
        listed = zip(*[ROWS[name] for name in ("id", "text", "format", "tools")], strict=True)
        connection.executemany("INSERT INTO logs VALUES (?, ?, ?, ?)", [list(row) for row in listed])
        made = connection.sql("SELECT id AS key, unnest(outspoken(text, format, tools)) FROM logs ORDER BY rowid")
        found = pa.table(made.to_arrow_table()).to_pylist()
        assert [{"file": None, "line": None, "id": None, **row} for row in found] == [
            {**row, "key": key} for row, key in zip(expected(options), ROWS["id"], strict=True)
        ]
        good, bad = duckdb.split(made)
        assert good.columns == bad.columns == made.columns
        assert [row[0] for row in bad.select("key").fetchall()] == ROWS["id"][-6:-2]
        assert len(good) + len(bad) == len(ROWS["id"])


def test_duckdb_reads_bodies_of_a_table_that_is_larger_than_a_vector() -> None:
    body = {"id": "c1", "choices": [{"message": {"content": CALL}, "finish_reason": "stop"}]}
    with duckdb_package.connect() as connection:
        duckdb.register(connection, BatchOptions(provider="openai", text_column="a.body", format="hermes"), "reply")
        query = (
            "SELECT count(*), count(r.error), sum(len(r.tool_calls)), min(r.response.id) FROM (SELECT reply(x) r FROM "
        )
        count, failed, calls, id = connection.sql(
            query + "(SELECT CASE WHEN range % 5 = 0 THEN '{}' ELSE ?::JSON END x FROM range(5000)))",
            params=[json.dumps(body)],
        ).fetchall()[0]
    assert (count, failed, calls, id) == (5000, 1000, 4000, "c1")


def test_duckdb_says_what_is_wrong() -> None:
    with pytest.raises(TypeError, match=r"`connection` is a str; expected duckdb\.DuckDBPyConnection"):
        duckdb.register("logs.db")
    with duckdb_package.connect() as connection, pytest.raises(BatchError, match="`id_column` has no use here"):
        duckdb.register(connection, BatchOptions(id_column="id"))


# packages


@pytest.mark.parametrize(("package", "extra"), [
    ("pandas", "pandas"), ("polars", "polars"), ("duckdb", "duckdb"), ("ray", "ray"), ("pyspark", "spark"),
])  # fmt: skip
def test_a_missing_or_old_package_is_named(package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module(f"outspoken.batch.{extra}")
    read = {"ray": "read_dataset", "spark": "read_dataframe", "duckdb": "register"}.get(extra, "read")
    monkeypatch.setitem(sys.modules, package, None)
    install = re.escape(install_command(extra))
    needs = rf"`outspoken\.batch\.{extra}` needs `{package}` [\d.]+ or newer {install}"
    with pytest.raises(MissingPackageError, match=f"^`{package}` is not installed; {needs}$"):
        getattr(module, read)(object())
    monkeypatch.setattr(packages, "version", {package: "0.7.1rc2"}.get)
    with pytest.raises(MissingPackageError, match=rf"^`{package}` 0\.7\.1rc2 is installed; {needs}$"):
        getattr(module, read)(object())
