"""JSON lines to the columns of rows: each line by itself, so that a bad one is known by its number and its bytes."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from outspoken.results.arguments import kind_of

from .errors import RowError
from .function import Rows
from .options import WHOLE_ROW, BatchOptions
from .rows import dig

_MISSING: Any = object()
_decode = json.JSONDecoder().decode


class LineReader:
    """Reads lines of JSON with the columns of some options."""

    def __init__(self, options: BatchOptions) -> None:
        self._options = options
        names = (*options.columns, *options.kept)
        self._heads = tuple(dict.fromkeys([name.split(".")[0] for name in names if name != WHOLE_ROW]))
        #: what a line has twice if it has a column twice
        self._needles = tuple([json.dumps(head, ensure_ascii=False) for head in self._heads])

    def read(self, data: bytes, first: int, file: str) -> tuple[Rows, list[str | bytes]]:
        """The rows of some lines, and the lines. The first has the number `first`. Blank lines are no rows."""
        lines, raws, objects = list[int](), list[str | bytes](), list[Any]()
        for number, line in enumerate(_split(data, is_start=first == 1), first):
            if line and not line.isspace():
                lines.append(number)
                raws.append(line)
                objects.append(self._object_of(line))
        values = self._column(objects, self._options.response_column, required=True)
        rows = Rows.of(self._options, values, partial(self._column, objects))
        rows.file, rows.lines = file, lines
        return rows, raws

    def _object_of(self, line: str | bytes) -> dict[str, Any] | RowError:
        """The object on a line, or why there is none."""
        if isinstance(line, bytes):
            try:
                line = line.decode()
            except UnicodeDecodeError as error:
                return RowError("not-utf8", f"the line is not UTF-8 at byte {error.start + 1}")
        try:
            decoded: Any = _decode(line)
        except json.JSONDecodeError:  # what it says, and of which place, depends on the version of Python
            return RowError("not-json", "the line is not JSON")
        except RecursionError:
            return RowError("not-json", "the line is nested too deeply")
        except ValueError:
            return RowError("not-json", "the line has a number with too many digits")
        if decoded.__class__ is not dict:
            return RowError("not-an-object", f"the line is {kind_of(decoded)}; expected an object")
        for needle, head in zip(self._needles, self._heads, strict=True):
            if line.count(needle) > 1 and _differs(line, head):
                return RowError("repeated-column", f"the line has `{head}` twice, with other values")
        return decoded

    def _column(self, objects: Sequence[Any], name: str, *, required: bool = False) -> list[Any]:
        """The values of a column. If it is required, a row without it has an error in its place."""
        get = _getter(name)
        values = [_MISSING if one.__class__ is RowError else get(one) for one in objects]
        if not required:
            return [None if value is _MISSING else value for value in values]
        pairs = zip(objects, values, strict=True)
        return [_without(one, name) if value is _MISSING else value for one, value in pairs]


def _getter(name: str) -> Callable[[dict[str, Any]], Any]:
    """What gives the value of a column, whose name may lead into objects."""
    if name == WHOLE_ROW:
        return lambda one: one
    head, *path = name.split(".")
    if not path:
        return lambda one: one.get(name, _MISSING)

    def get(one: dict[str, Any]) -> Any:
        if name in one:
            return one[name]
        return dig(one.get(head), path) if head in one else _MISSING

    return get


def _without(one: dict[str, Any] | RowError, name: str) -> RowError:
    """What says that a line lacks a column, or why it is no object."""
    if isinstance(one, RowError):
        return one
    keys = ", ".join([f"`{key}`" for key in list(one)[:20]]) or "none"
    return RowError("no-text", f"the line has no `{name}`; its keys are {keys}")


def _split(data: bytes, *, is_start: bool) -> list[str] | list[bytes]:
    """The lines of some bytes: as text if all of them are UTF-8. A byte order mark at the start is left out."""
    if is_start and data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    try:
        lines: list[Any] = data.decode().split("\n")
    except UnicodeDecodeError:
        lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _differs(line: str, key: str) -> bool:
    """Has the object on a line a key several times, with other values?"""
    outermost: list[list[tuple[str, Any]]] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        outermost[:] = [pairs]
        return dict(pairs)

    json.loads(line, object_pairs_hook=keep)
    values = [value for name, value in outermost[0] if name == key]
    return any(value != values[0] for value in values[1:])
