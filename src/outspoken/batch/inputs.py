"""The files of a batch: found, and cut into units."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .arrow import RecordBatch, Schema, pa, parquet
from .errors import BatchError, RowError
from .function import BatchReader
from .packed import LINE_HEAD, MAX_LINE, LineStream
from .units import Unit

#: The suffixes of files that are found in folders: what is in them, and how they are compressed.
_KINDS: dict[str, Literal["lines", "parquet"]] = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "lines",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
#: The types of a column that text may be in.
_TEXT_TYPES = frozenset({"null", "string", "large_string", "string_view", "binary", "large_binary", "binary_view"})
#: The file that tells a folder of results.
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class InputFile:
    """A file of a batch. `name` is how it was named, `size` in bytes and `mtime` in nanoseconds when it was found."""

    number: int
    name: str
    kind: Literal["lines", "parquet"]
    compression: str | None
    size: int
    mtime: int

    def check_unchanged(self) -> None:
        """Raise BatchError if the file is not what it was when it was found."""
        found = stat_of(self.name)
        if (found.st_size, found.st_mtime_ns) != (self.size, self.mtime):
            raise BatchError(f"`{self.name}` has changed since the batch began; run it again with `--restart`")


def stat_of(path: str) -> os.stat_result:
    """The size and the times of a file. Raises BatchError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return os.stat(file.fileno())
    except OSError as error:
        raise BatchError(f"cannot read `{path}`: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """What the system says about an error."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def find_inputs(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], out: Path) -> list[InputFile]:
    """The files of names, folders and patterns (`logs/*.jsonl.gz`), each once, in the order that they are named in.

    Those of a folder are all that have a known suffix, in the order of their names, with those of its folders; hidden
    ones, the folder of results and other folders of results are left out. Raises BatchError if there are none, if one
    cannot be found, or if its suffix is unknown.
    """
    names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: dict[str, InputFile] = {}
    for path in names:
        for name in _files_of(os.fspath(path), out):
            real = os.path.realpath(name)
            if Path(os.path.realpath(out)) in Path(real).parents:
                raise BatchError(
                    f"the input `{name}` is in the folder of the results, `{out}`; choose another for them"
                )
            if real not in files:
                files[real] = _input_file(len(files), name)
    if not files:
        raise BatchError("there are no input files; name files, folders or patterns")
    return list(files.values())


def _files_of(name: str, out: Path) -> list[str]:
    if os.path.isdir(name):
        files = sorted(_folder_files(Path(name), out))
        if not files:
            raise BatchError(
                f"the folder `{name}` has no files that end in {', '.join(_KINDS)} (or these with .gz, .zst)"
            )
        return files
    if not os.path.exists(name) and glob.has_magic(name):
        matches = sorted(glob.glob(name, recursive=True))
        if not matches:
            raise BatchError(f"no file matches `{name}`")
        return [file for match in matches for file in (_files_of(match, out) if os.path.isdir(match) else [match])]
    return [name]


def _folder_files(folder: Path, out: Path) -> Generator[str]:
    own = os.path.realpath(out)
    for root, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if name[0] not in "._"
            and os.path.realpath(os.path.join(root, name)) != own
            and not os.path.exists(os.path.join(root, name, MANIFEST))
        ]
        if os.path.realpath(root) == own:
            folders.clear()
            continue
        yield from [os.path.join(root, name) for name in files if name[0] not in "._" and _kind_of(name) is not None]


def _kind_of(name: str) -> tuple[Literal["lines", "parquet"], str | None] | None:
    """What is in a file, and how it is compressed, by its suffixes; None if they are not known."""
    stem, suffix = os.path.splitext(name.lower())
    compression = _COMPRESSIONS.get(suffix)
    kind = _KINDS.get(os.path.splitext(stem)[1] if compression else suffix)
    return None if kind is None or (compression and kind == "parquet") else (kind, compression)


def _input_file(number: int, name: str) -> InputFile:
    found = stat_of(name)
    known = _kind_of(name)
    if known is None:
        raise BatchError(
            f"`{name}` has no suffix that is known; expected {', '.join(_KINDS)} (JSON lines also .gz, .zst)"
        )
    return InputFile(number, name, *known, found.st_size, found.st_mtime_ns)


# schemas


def common_schema(files: Sequence[InputFile], reader: BatchReader) -> Schema:
    """The schema of all results. Raises BatchError if two files disagree, or if one lacks a column."""
    common: Schema | None = None
    by = ""
    for file in files:
        schema = reader.schema() if file.kind == "lines" else _parquet_schema(file, reader)
        if common is None:
            common, by = schema, file.name
        elif not schema.equals(common):
            name = next(f.name for f in schema if not f.type.equals(common.field(f.name).type))
            message = f"the column `{name}` is {common.field(name).type} in `{by}` and {schema.field(name).type} in"
            raise BatchError(f"{message} `{file.name}`; name one type: `{name}:json`")
    assert common is not None
    return common


def _parquet_schema(file: InputFile, reader: BatchReader) -> Schema:
    try:
        schema: Schema = parquet().read_schema(file.name)
    except (OSError, ValueError) as error:
        raise BatchError(f"`{file.name}` is no Parquet file: {first_line(error)}") from error
    options = reader.options
    try:
        result_schema = reader.schema(schema)
    except BatchError as error:
        raise BatchError(f"{file.name}: {error}") from error
    name = options.text_column
    if options.provider is None and options.messages_column is None and name in schema.names:
        type: Any = schema.field(name).type
        if pa.types.is_dictionary(type):
            type = type.value_type
        if str(type) not in _TEXT_TYPES:
            raise BatchError(f"{file.name}: the column `{name}` is {type}; expected text")
    return result_schema


def first_line(error: Exception) -> str:
    """The first line of a message."""
    return (str(error) or type(error).__name__).splitlines()[0]


# units


class UnitCutter:
    """Cuts files into units of about `unit_bytes`, those of Parquet by what their rows take in memory.

    `done` gives a unit that is done already, by its file and number. Such units are left out, and of a plain file not
    even looked at.
    """

    def __init__(self, unit_bytes: int, done: Callable[[tuple[int, int]], Unit | None], reader: BatchReader) -> None:
        self._bytes, self._done, self._reader = unit_bytes, done, reader

    def units(self, file: InputFile) -> Generator[Unit]:
        """The units of a file, without those that are done. What cannot be read of it is a unit of its own."""
        return self._parquet_units(file) if file.kind == "parquet" else self._line_units(file)

    def _line_units(self, file: InputFile) -> Generator[Unit]:
        number, first, offset, is_plain = 0, 1, 0, file.compression is None
        with open(file.name, "rb") as raw:
            stream = LineStream(raw, file.compression)
            while not is_plain or offset < file.size:
                done = self._done((file.number, number))
                if done is not None and is_plain:
                    lines, offset = done.lines, offset + done.length
                    raw.seek(offset)
                    stream = LineStream(raw, None)
                else:
                    data = stream.take(self._bytes)
                    if not data:
                        break
                    unit = _line_unit(file, number, first, data, stream.dropped, offset if is_plain else raw.tell())
                    lines, offset = unit.lines, offset + unit.length
                    if done is None:
                        yield unit
                number, first = number + 1, first + lines
        if is_plain and offset < file.size:
            file.check_unchanged()
        if stream.error is not None and self._done((file.number, number)) is None:
            yield _broken(file, number, first, first_line(stream.error), stream.rest)

    def _parquet_units(self, file: InputFile) -> Generator[Unit]:
        number, first = 0, 1
        try:
            opened = parquet().ParquetFile(file.name)
            rows = opened.metadata.num_rows
            size = sum([opened.metadata.row_group(i).total_byte_size for i in range(opened.metadata.num_row_groups)])
            count = max(64, min(int(self._bytes * rows / max(size, 1)), 65_536))
            for batch in opened.iter_batches(batch_size=count, columns=self._columns(opened.schema_arrow)):
                if self._done((file.number, number)) is None:
                    done = int(file.size * (first - 1 + batch.num_rows) / max(rows, 1))
                    yield Unit(file.number, number, "arrow", first, batch.num_rows, done, 0, _ipc(batch))
                number, first = number + 1, first + batch.num_rows
        except (OSError, ValueError) as error:
            if self._done((file.number, number)) is None:
                yield _broken(file, number, first, first_line(error), b"")

    def _columns(self, schema: Schema) -> list[str]:
        """The columns of a Parquet file that are read."""
        options = self._reader.options
        heads = [name if name in schema.names else name.split(".")[0] for name in (*options.columns, *options.kept)]
        return list(dict.fromkeys(heads))


def _line_unit(file: InputFile, number: int, first: int, data: bytes, dropped: int, offset: int) -> Unit:
    """The unit of some lines, or of one that was dropped as it is too long."""
    length = (dropped or len(data)) if file.compression is None else 0
    if dropped:
        error = RowError("too-long", f"the line has {dropped:,} bytes; the limit is {MAX_LINE:,}")
        return Unit(file.number, number, "unreadable", first, 1, offset, length, data, error)
    lines = data.count(b"\n") + (data[-1:] != b"\n")
    return Unit(file.number, number, "lines", first, lines, offset, length, data)


def _broken(file: InputFile, number: int, first: int, message: str, rest: bytes) -> Unit:
    """The unit that says from where on a file cannot be read."""
    error = RowError("unreadable-input", f"the file cannot be read from here on: {message}")
    return Unit(file.number, number, "unreadable", first, 1, file.size, 0, rest[:LINE_HEAD], error)


def _ipc(batch: RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()
