"""Tables of pyarrow, pandas, Polars and DuckDB: the same rows as those of `BatchReader`.

`tests/integrations/test_clusters.py` reads them in the processes of Ray and Spark.
"""

import json
import pickle
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from outspoken.batch import BatchError, BatchOptions, BatchReader, read_batches, read_table, run, schema_of, tables
from outspoken.batch.arrow import pa, parquet
from outspoken.batch.schema import COLUMNS
from outspoken.batch.tables import reader_of
from tests.batch.batch_files import quarantine, results
from tests.cases import CASES

# Their types are known only in part.
np: Any = import_module("numpy")
pd: Any = import_module("pandas")
pl: Any = import_module("polars")
duckdb: Any = import_module("duckdb")

CALL = '<tool_call>\n{"name": "find", "arguments": {"n": %d}}\n</tool_call>'
OPTIONS = BatchOptions(format="hermes", id_column="id", keep=("n",), max_chars=200)


def rows(count: int) -> dict[str, list[Any]]:
    """Rows of which every third one cannot be read."""
    bad = (None, "x" * 201)
    texts = [bad[number % 2] if number % 3 == 2 else CALL % number for number in range(count)]
    return {"id": [f"r{number}" for number in range(count)], "text": texts, "n": list(range(count))}


def unchecked(values: list[bytes | None], type: Any) -> Any:
    """Bytes as text, though not all of them are UTF-8."""
    made = pa.array(values, pa.binary() if type == pa.string() else pa.large_binary())
    return pa.Array.from_buffers(type, len(made), made.buffers())


def codes(found: Any) -> list[str | None]:
    """The codes of the errors of a table."""
    return [error and error["code"] for error in found.column("error").to_pylist()]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_pieces_of_any_size_give_the_same_rows(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(rows(20))
    wanted = BatchReader(OPTIONS)(table.to_batches()[0]).to_pylist()
    monkeypatch.setattr(tables, "ROWS", size)
    assert read_table(table, OPTIONS).to_pylist() == wanted
    chunked = pa.concat_tables([table.slice(0, 3), table.slice(3, 0), table.slice(3, 9), table.slice(12)])
    assert read_table(chunked, OPTIONS).to_pylist() == wanted
    batches = read_batches(iter(chunked.to_batches()), OPTIONS)
    assert [row for batch in batches for row in batch.to_pylist()] == wanted
    assert codes(read_table(table, OPTIONS))[:6] == [None, None, "no-text", None, None, "too-long"]


def test_what_is_sent_to_other_processes_pickles() -> None:
    options = BatchOptions(tools=[{"name": "find", "parameters": {"type": "object"}}], keep=("n:json",))
    assert pickle.loads(pickle.dumps(options)) == options
    sent = pickle.loads(pickle.dumps(partial(read_batches, options=OPTIONS)))
    assert len(list(sent(pa.table(rows(5)).to_batches()))) == 1
    assert pickle.loads(pickle.dumps((read_table, {"options": OPTIONS}))) == (read_table, {"options": OPTIONS})


def test_a_process_keeps_its_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_readers", {})
    monkeypatch.setattr(tables, "_MAX_READERS", 2)
    first = reader_of(OPTIONS)
    assert reader_of(pickle.loads(pickle.dumps(OPTIONS))) is first
    assert reader_of() is reader_of(BatchOptions())
    reader_of(BatchOptions(max_chars=7))
    assert reader_of(OPTIONS) is not first


TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_text_of_any_type_of_arrow(type: Any) -> None:
    given = rows(9)
    plain = pa.array(given["text"])
    text = plain.dictionary_encode().cast(type) if pa.types.is_dictionary(type) else plain.cast(type)
    table = pa.table({**given, "text": text})
    wanted = read_table(pa.table(given), OPTIONS)
    assert read_table(table, OPTIONS).equals(wanted)
    assert read_table(table.slice(4, 3), OPTIONS).equals(wanted.slice(4, 3))


def test_tables_of_other_types_and_without_rows() -> None:
    empty = read_table(pa.table(rows(0)), OPTIONS)
    full = read_table(pa.table(rows(3)), OPTIONS)
    assert empty.num_rows == 0
    assert read_table(pa.table(rows(3)).slice(0, 0), OPTIONS).schema.equals(full.schema)
    nothing = read_table(pa.table({}), OPTIONS)
    assert nothing.schema.names == full.schema.names == [*COLUMNS, "n", "error"]
    assert pa.concat_tables([nothing, full], promote_options="default").schema.equals(full.schema)
    nulls = read_table(pa.table({"id": pa.nulls(2), "text": pa.nulls(2), "n": pa.nulls(2)}), OPTIONS)
    assert codes(nulls) == ["no-text", "no-text"]
    assert pa.concat_tables([nulls, full], promote_options="default").num_rows == 5
    with pytest.raises(BatchError, match="there is no column `id`; the columns are `text`"):
        read_table(pa.table({"text": ["a"]}), OPTIONS)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()], ids=str)
def test_text_that_is_not_utf8_costs_its_row(type: Any) -> None:
    text = unchecked([b"a", b"caf\xe9", None, "é".encode()], type)
    found = read_table(pa.table({"text": text}))
    assert codes(found) == [None, "not-utf8", "no-text", None]
    assert found.column("text").to_pylist() == ["a", None, None, "é"]
    assert found.column("error").to_pylist()[1]["message"] == "`text` is not UTF-8 at byte 3"
    options = BatchOptions(format_column="f", id_column="f", keep=("f:json",))
    table = pa.table({"text": ["a", "b"], "f": unchecked([b"hermes", b"\xff"], type)})
    assert codes(read_table(table, options)) == [None, "not-utf8"]
    nested = pa.StructArray.from_arrays([text], ["b"])
    assert codes(read_table(pa.table({"a": nested}), BatchOptions(text_column="a.b"))) == codes(found)
    assert codes(read_table(pa.table({"a": nested}), BatchOptions(text_column="a")))[1] == "not-utf8"


@pytest.mark.parametrize("output", ["parquet", "jsonl"])
def test_text_of_parquet_that_is_not_utf8_is_in_quarantine(output: Any, tmp_path: Path) -> None:
    table = pa.table({"text": unchecked([b"a", b"caf\xe9", b"b"], pa.string()), "n": [1, 2, 3]})
    parquet().write_table(table, tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", tmp_path / "out", BatchOptions(keep=("n",)), workers=1, output=output)
    assert [(row["text"], row["n"]) for row in results(tmp_path / "out")] == [("a", 1), ("b", 3)]
    (bad,) = quarantine(tmp_path / "out")
    assert (bad["line"], bad["code"]) == (2, "not-utf8")
    assert json.loads(bad["raw"]) == {"text": "Y2Fm6Q==", "n": 2}


def test_too_much_text_is_read_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = read_table(pa.table(rows(9)), OPTIONS)
    make_batch = BatchReader.make_batch

    def fails(self: BatchReader, given: Any, *more: Any) -> Any:
        if len(given.values) > 2:
            raise OverflowError
        return make_batch(self, given, *more)

    monkeypatch.setattr(BatchReader, "make_batch", fails)
    assert read_table(pa.table(rows(9)), OPTIONS).equals(wanted)


# data frames and queries

#: Responses of many formats with every kind of row that cannot be read of a column of text.
SOME = CASES[::120]
FRAME_OPTIONS = BatchOptions(
    format_column="format", tools_column="tools", id_column="id", keep=("n", "score:float64"), max_chars=20_000
)
ROWS: dict[str, list[Any]] = {
    "id": [f"r{number}" for number in range(len(SOME) + 6)],
    "text": [*[case.text for case in SOME], None, "x" * 20_001, CALL, CALL, CALL, ""],
    "format": [*[case.format for case in SOME], "hermes", "hermes", "nonsense", None, "hermes", "hermes"],
    "tools": [*[None for _ in SOME], None, None, None, "{", None, None],
    "n": list(range(len(SOME) + 6)),
    "score": [*[None for _ in SOME], None, None, None, None, "high", None],
    "more": [b"not needed" for _ in range(len(SOME) + 6)],
}
BAD = [None, "no-text", "too-long", "unknown-format", "invalid-tools", "invalid-column", None]


@pytest.mark.parametrize("kind", ["pandas", "arrow", "categories", "polars", "duckdb"])
def test_frames_have_the_same_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 7)
    frame = pd.DataFrame(ROWS, index=[f"i{number}" for number in range(len(ROWS["id"]))])
    if kind == "arrow":
        frame = frame.convert_dtypes(dtype_backend="pyarrow")
    elif kind == "categories":
        frame["text"], frame["format"] = frame["text"].astype("category"), frame["format"].astype("category")
    with duckdb.connect() as connection:
        connection.register("logs", pl.DataFrame(ROWS))
        relation = connection.sql("SELECT * FROM logs")
        made = read_table({"polars": pl.DataFrame(ROWS), "duckdb": relation}.get(kind, frame), FRAME_OPTIONS)
        assert connection.sql("SELECT count(*), count(error) FROM made").fetchall() == [(len(frame), 5)]
    wanted = BatchReader(FRAME_OPTIONS)(pa.RecordBatch.from_pydict(ROWS)).to_pylist()
    assert made.to_pylist() == wanted
    assert codes(made)[-len(BAD) :] == BAD
    assert pl.DataFrame(made)["chars"].to_list() == [row["chars"] for row in wanted]
    assert made.to_pandas(types_mapper=pd.ArrowDtype)["error"].notna().sum() == 5


def test_objects_of_pandas() -> None:
    values = ["hello", float("nan"), pd.NA, None, pd.NaT]
    made = read_table(pd.DataFrame({"text": pd.Series(values, dtype=object)}))
    assert codes(made) == [None, *["no-text"] * 4]
    made = read_table(pd.DataFrame({"text": pd.Series(["a", b"caf\xe9", b"caf\xc3\xa9"], dtype=object)}))
    assert (codes(made), made["text"].to_pylist()) == ([None, "not-utf8", None], ["a", None, "café"])
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": CALL % 1}]
    frame = pd.DataFrame({"a": [{"messages": np.array(said, dtype=object)}, {"messages": said}, {}, None]})
    made = read_table(frame, BatchOptions(messages_column="a.messages", format="hermes"))
    assert [len(calls) for calls in made["tool_calls"].to_pylist()] == [1, 1, 0, 0]
    assert codes(made) == [None, None, "no-text", "no-text"]
    assert read_table(pd.DataFrame({"text": []})).schema.names == [*COLUMNS, "error"]


def test_kept_columns_of_polars_have_their_types() -> None:
    frame = pl.DataFrame({"text": ["a"], "n": [1], "day": ["2026-01-02"]}).with_columns(
        category=pl.lit("x", dtype=pl.Categorical), kind=pl.lit("y", dtype=pl.Enum(["y", "z"])),
        day=pl.col("day").str.to_date(), time=pl.lit("2026-01-02 03:04:05").str.to_datetime(time_unit="ns"),
        price=pl.lit("1.50").cast(pl.Decimal(10, 2)), small=pl.lit(3, dtype=pl.UInt8), blob=pl.lit(b"\xff"),
        list=pl.lit([1, 2]), nested=pl.struct(a=pl.lit(1), b=pl.struct(c=pl.lit("d"))), empty=pl.lit(None),
    )  # fmt: skip
    names = [name for name in frame.columns if name != "text"]
    options = BatchOptions(keep=(*names, "nested.b.c"), id_column="n")
    made = read_table(frame, options)
    assert made.schema.equals(schema_of(pa.table(frame).schema, options))
    read = pl.DataFrame(made)
    assert read.select(names).rows() == frame.select(names).rows()
    assert (read["nested.b.c"].item(), read["id"].item()) == ("d", "1")


def test_bodies_of_a_query_that_is_larger_than_a_vector() -> None:
    body = {"id": "c1", "choices": [{"message": {"content": CALL % 1}, "finish_reason": "stop"}]}
    with duckdb.connect() as connection:
        query = "SELECT CASE WHEN range % 5 = 0 THEN '{}' ELSE ? END AS body FROM range(5000)"
        given = connection.sql(query, params=[json.dumps(body)])
        made = read_table(given, BatchOptions(provider="openai", text_column="body", format="hermes"))
        query = "SELECT count(*), count(error), sum(len(tool_calls)), min(response.id) FROM made"
        assert connection.sql(query).fetchall() == [(5000, 1000, 4000, "c1")]
    assert made.schema.names[-2:] == ["response", "error"]


def test_what_is_no_table_is_named() -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "n": [1, "x"]})
    for given in (frame[["text"]], pl.DataFrame({"text": ["a"]})):
        with pytest.raises(BatchError, match="there is no column `t`; the columns are `text`"):
            read_table(given, BatchOptions(text_column="t"))
    with pytest.raises(BatchError, match=r"no columns of Arrow: .*column n .*; pass only the columns that are read"):
        read_table(frame)
    with pytest.raises(BatchError, match="no columns of Arrow: Duplicate column names"):
        read_table(pd.concat([frame, frame], axis=1))
    with pytest.raises(BatchError, match="the column `text` holds objects of Python; cast it to text"):
        read_table(pl.DataFrame({"text": pl.Series([object()], dtype=pl.Object)}))
    wrong: Any
    for wrong in ([frame], pl.LazyFrame({"text": ["a"]}), "x"):
        with pytest.raises(TypeError, match=r"`table` is .*; expected a table with `__arrow_c_stream__`"):
            read_table(wrong)
