"""What Ray and Spark call in their processes, without a cluster."""

from __future__ import annotations

import json
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from outspoken.batch import BatchError, BatchOptions, BatchReader, run, tables
from outspoken.batch.arrow import pa, parquet
from outspoken.batch.schema import COLUMNS, make_schema
from outspoken.batch.spark import json_type, result_schema
from outspoken.batch.tables import needed_columns, read_batches, read_table, reader_of, split_table
from tests.batch.batch_files import quarantine, results

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


def test_a_table_is_split_into_rows_and_quarantine() -> None:
    good, bad = split_table(read_table(pa.table(rows(9)), OPTIONS))
    assert good.schema.equals(bad.schema)
    assert bad.column("id").to_pylist() == ["r2", "r5", "r8"]
    assert good.num_rows == 6
    assert codes(good) == [None] * 6


def test_only_needed_columns_are_read() -> None:
    options = BatchOptions(text_column="a.b", id_column="id", keep=("a.c", "n:json", "x.y"))
    assert needed_columns(options, ["id", "n", "a", "more", "x.y"]) == ["a", "id", "n", "x.y"]
    with pytest.raises(BatchError, match=r"there is no column `x\.y`; the columns are `id`, `a`, `n`"):
        needed_columns(options, ["id", "a", "n"])


def test_too_much_text_is_read_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = read_table(pa.table(rows(9)), OPTIONS)
    make_batch = BatchReader.make_batch

    def fails(self: BatchReader, given: Any, *more: Any) -> Any:
        if len(given.values) > 2:
            raise OverflowError
        return make_batch(self, given, *more)

    monkeypatch.setattr(BatchReader, "make_batch", fails)
    assert read_table(pa.table(rows(9)), OPTIONS).equals(wanted)


# Spark


def field(name: str, type: Any) -> dict[str, Any]:
    """A field in the JSON of Spark."""
    return {"name": name, "type": type, "nullable": True, "metadata": {}}


def test_the_schema_for_spark_has_the_types_of_arrow() -> None:
    inner = {"type": "struct", "fields": [field("c", "timestamp")]}
    given = {"type": "struct", "fields": [field("text", "string"), field("a", inner), field("n", "decimal(10,2)")]}
    options = BatchOptions(keep=("a.c", "n", "text:float64", "a:json"), provider="openai")
    made = result_schema(given, options)["fields"]
    arrow = make_schema({"a.c": pa.null(), "n": pa.null(), "text": pa.null(), "a": pa.null()}, has_response=True)
    assert [one["name"] for one in made] == arrow.names
    types = {one["name"]: one["type"] for one in made}
    assert [types[name] for name in ("a.c", "n", "input_text", "a")] == [
        "timestamp",
        "decimal(10,2)",
        "double",
        "string",
    ]
    assert [types[name] for name in ("line", "needs_more_work", "format")] == ["long", "boolean", "string"]
    calls = types["tool_calls"]
    assert (calls["type"], calls["containsNull"]) == ("array", True)
    assert calls["elementType"]["fields"] == [field(name, "string") for name in ("name", "arguments", "id")]
    assert types["segments"]["elementType"]["fields"][-1] == field("end", "integer")
    assert json_type(pa.list_(pa.string()))["elementType"] == "string"


def test_the_schema_for_spark_needs_other_names() -> None:
    given = {"type": "struct", "fields": [field("text", "string"), field("Status", "string")]}
    with pytest.raises(BatchError, match="Spark does not tell the kept column `Status` from another of the result"):
        result_schema(given, BatchOptions(keep=("Status",)))
    with pytest.raises(BatchError, match=r"there is no column `text\.x`; the columns are `text`, `Status`"):
        result_schema(given, BatchOptions(keep=("text.x",)))
