"""The files of a batch: how they are found, cut into units, and read line by line."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outspoken.batch import BatchError, BatchOptions, BatchReader, inputs, packed, run
from outspoken.batch.arrow import pa, parquet
from outspoken.batch.inputs import UnitCutter, common_schema, find_inputs
from outspoken.batch.lines import LineReader
from outspoken.batch.units import Unit
from tests.batch.batch_files import quarantine, results, write_lines, zstd
from tests.tables import tables

TABLES = tables(__file__)


def cut(path: Path, size: int, done: dict[tuple[int, int], Unit] | None = None) -> list[Unit]:
    """The units of a file."""
    (file,) = find_inputs(path, path / "none")
    return list(UnitCutter(size, (done or {}).get, BatchReader()).units(file))


def content(path: Path, unit: Unit) -> bytes:
    """The bytes of a unit."""
    return unit.data if unit.kind == "lines" else path.read_bytes()[unit.offset : unit.offset + unit.length]


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_units_are_whole_lines_and_cover_the_file(
    tmp_path: Path, suffix: str, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "_CHUNK", 64)  # so that what is read at once ends elsewhere than units
    data = b"\n".join([b"x" * (n * 37 % 90) for n in range(200)] + [b"y" * 5000, b"z"]) + end
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(PACK[suffix](data))
    for size in (1, 7, 100, 1000, 100_000):
        units = cut(path, size)
        pieces = [content(path, unit) for unit in units]
        assert b"".join(pieces) == data
        assert all(piece.endswith(b"\n") for piece in pieces[:-1])
        assert [unit.number for unit in units] == list(range(len(units)))
        assert [unit.lines for unit in units] == [len(piece.splitlines()) for piece in pieces]
        assert [unit.first for unit in units] == [1 + sum(unit.lines for unit in units[:n]) for n in range(len(units))]
        assert cut(path, size) == units
        ends = {unit.key: unit for unit in units}
        assert cut(path, size, ends) == []
        some = {key: end for key, end in ends.items() if key[1] % 3}
        assert cut(path, size, some) == units[::3]


@pytest.mark.parametrize("suffix", PACK)
def test_empty_files_have_no_units(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(b"")
    assert cut(path, 10) == []
    path.write_bytes(PACK[suffix](b""))
    assert cut(path, 10) == []


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_what_is_sound_of_a_damaged_file_is_read(tmp_path: Path, suffix: str) -> None:
    rows = [json.dumps({"text": f"{n * n * 7919 % 10007} {n}"}).encode() + b"\n" for n in range(20_000)]
    whole = PACK[suffix](b"".join(rows))
    path = tmp_path / f"a.jsonl{suffix}"
    for damaged, words in (
        (whole[: len(whole) * 2 // 3], "cut off"),
        (whole[:-1], "cut off"),
        (whole + b"no end", "damaged"),
    ):
        path.write_bytes(damaged)
        *units, last = cut(path, 50_000)
        read = b"".join([unit.data for unit in units])
        assert read
        assert b"".join(rows).startswith(read)
        assert (last.kind, last.first) == ("unreadable", read.count(b"\n") + 1)
        assert last.error is not None
        assert words in last.error.message
        assert b"".join(rows)[len(read) :].startswith(last.data)


def test_members_of_a_compressed_file_are_one_text(tmp_path: Path) -> None:
    for suffix, padding in ((".gz", b"\0" * 600), (".zst", b"")):
        path = tmp_path / f"a.jsonl{suffix}"
        path.write_bytes(PACK[suffix](b"a\nb") + PACK[suffix](b"c\n") + padding)
        assert [unit.data for unit in cut(path, 100)] == [b"a\nbc\n"]


@pytest.mark.parametrize("suffix", PACK)
def test_lines_that_are_too_long_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    for module in (inputs, packed):
        monkeypatch.setattr(module, "MAX_LINE", 3000)
        monkeypatch.setattr(module, "LINE_HEAD", 10)
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(PACK[suffix](b"a\n" + os.urandom(900_000).replace(b"\n", b"") + b"\nb\n" + b"y" * 5000))
    units = cut(path, 50)
    assert [unit.kind == "unreadable" for unit in units] == [False, True, False, True]
    assert [unit.first for unit in units] == [1, 2, 3, 4]
    assert [len(unit.data) for unit in units if unit.kind == "unreadable"] == [10, 10]
    assert [unit.error and unit.error.code for unit in units] == [None, "too-long", None, "too-long"]
    assert units[3].error is not None
    assert units[3].error.message == "the line has 5,000 bytes; the limit is 3,000"


def test_damage_is_in_quarantine_and_other_files_are_read(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in" / "b.jsonl", 20)
    (tmp_path / "in" / "a.jsonl.gz").write_bytes(gzip.compress(path.read_bytes())[:-20])
    (tmp_path / "in" / "c.jsonl").write_bytes(b"")
    parquet().write_table(pa.table({"text": [f"text {n}" * 50 for n in range(5000)]}), tmp_path / "in" / "d.parquet")
    data = bytearray((tmp_path / "in" / "d.parquet").read_bytes())
    data[100:200] = bytes(100)
    (tmp_path / "in" / "d.parquet").write_bytes(data)
    summary = run(tmp_path / "in", tmp_path / "out", BatchOptions(format="hermes"), workers=1)
    bad = [(Path(row["file"]).name, row["code"]) for row in quarantine(tmp_path / "out")]
    assert bad == [("a.jsonl.gz", "unreadable-input"), ("d.parquet", "unreadable-input")]
    assert [Path(row["file"]).name for row in results(tmp_path / "out")].count("b.jsonl") == 20
    assert summary.total.quarantine == {"unreadable-input": 2}
    again = run(tmp_path / "in", tmp_path / "out", BatchOptions(format="hermes"), workers=1)
    assert (again.total, again.new.lines) == (summary.total, 0)


# what is found


def test_folders_patterns_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b/a.jsonl", "b/c.parquet", "b/.hidden.jsonl", "_tmp/x.jsonl", "out/parts/p.parquet"):
        write_lines(Path("in") / name, 1)
    write_lines(Path("in/other/parts/p.jsonl"), 1)
    Path("in/other/manifest.json").write_text("{}")
    Path("in/notes.txt").write_text("x")
    os.symlink("a.jsonl", "in/z.jsonl")

    def names(*paths: str) -> list[str]:
        return [file.name for file in find_inputs(paths, Path("in/out"))]

    assert names("in") == ["in/a.jsonl", "in/b/a.jsonl", "in/b/c.parquet"]
    assert names("in/b", "in/*.jsonl", "in") == ["in/b/a.jsonl", "in/b/c.parquet", "in/a.jsonl"]
    assert names("in/**/a.jsonl") == ["in/a.jsonl", "in/b/a.jsonl"]
    assert names("in/other/parts") == ["in/other/parts/p.jsonl"]
    for wrong, words in TABLES["FOLDERS_PATTERNS_AND_NAMES"]:
        with pytest.raises(BatchError, match=words):
            names(wrong)
    with pytest.raises(BatchError, match="there are no input files"):
        names()


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    first, second = write_lines(tmp_path / "a" / "x.jsonl", 3), write_lines(tmp_path / "b" / "x.jsonl", 2, first=7)
    run([first, second], tmp_path / "out", BatchOptions(id_column="id"), workers=1)
    assert [(row["file"], row["id"]) for row in results(tmp_path / "out")] == [
        *[(str(first), f"r{n}") for n in range(3)],
        *[(str(second), f"r{n}") for n in (7, 8)],
    ]


def test_columns_of_parquet_files_are_checked_first(tmp_path: Path) -> None:
    def schema(keep: tuple[str, ...] = (), **tables: dict[str, list[Any]]) -> None:
        for name, table in tables.items():
            parquet().write_table(pa.table(table), tmp_path / f"{name}.parquet")
        files = find_inputs([tmp_path / f"{name}.parquet" for name in tables], tmp_path / "out")
        common_schema(files, BatchReader(BatchOptions(keep=keep)))

    with pytest.raises(BatchError, match=r"a\.parquet: the column `text` is int64; expected text"):
        schema(a={"text": [1]})
    with pytest.raises(BatchError, match=r"a\.parquet: there is no column `text`; the columns are `t`"):
        schema(a={"t": ["x"]})
    a, b = {"text": ["x"], "n": [1]}, {"text": ["x"], "n": ["1"]}
    with pytest.raises(
        BatchError, match=r"the column `n` is int64 in `.*a.parquet` and string in `.*b.parquet`; .*`n:json`"
    ):
        schema(("n",), a=a, b=b)
    schema(("n:json",), a=a, b=b)
    (tmp_path / "c.parquet").write_text("no parquet")
    with pytest.raises(BatchError, match=r"c.parquet` is no Parquet file: "):
        common_schema(find_inputs(tmp_path / "c.parquet", tmp_path / "out"), BatchReader())


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", 10)
    (file,) = find_inputs(path, tmp_path / "out")
    file.check_unchanged()
    write_lines(path, 11)
    with pytest.raises(BatchError, match=r"a.jsonl` has changed since the batch began"):
        file.check_unchanged()
    path.write_bytes(b"")
    with pytest.raises(BatchError, match="has changed since the batch began"):
        list(UnitCutter(100, lambda key: None, BatchReader()).units(file))


# lines


def column(options: BatchOptions, *lines: bytes) -> list[Any]:
    """The values of the column of responses of some lines."""
    return LineReader(options).read(b"\n".join(lines), 1, "a")[0].values


def test_columns_within_objects() -> None:
    lines = (b'{"a": {"b": "x"}}', b'{"a": "{\\"b\\": \\"y\\"}"}', b'{"a.b": "z"}', b'{"a": 1}', b"{}")
    *found, missing = column(BatchOptions(text_column="a.b"), *lines)
    assert found == ["x", "y", "z", None]
    assert missing.code == "no-text"
    assert column(BatchOptions(text_column=".", provider="openai"), b'{"choices": []}') == [{"choices": []}]


def test_a_column_twice_counts_if_its_values_differ() -> None:
    lines = (b'{"text": "a", "text": "b"}', b'{"text": "a", "text": "a"}', b'{"text": "a", "x": {"text": "b"}}')
    first, *others = column(BatchOptions(), *lines)
    assert (first.code, first.message) == ("repeated-column", "the line has `text` twice, with other values")
    assert others == ["a", "a"]


def test_lines_keep_their_numbers_beside_blank_ones_and_bad_bytes() -> None:
    data = b'\xef\xbb\xbf{"text": "a"}\r\n\n \t\n\xff\n{"text": "caf\xc3\xa9"}'
    rows, raws = LineReader(BatchOptions()).read(data, 1, "a")
    assert rows.lines == [1, 4, 5]
    assert [getattr(value, "code", value) for value in rows.values] == ["a", "not-utf8", "café"]
    assert raws[1] == b"\xff"
