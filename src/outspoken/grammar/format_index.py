"""The index of all formats, made ahead of time: names, aliases, and the openers that detection looks for.

With it, an alias is resolved and a format detected without reading any other grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .sources import is_current

if TYPE_CHECKING:
    from .header import Header
    from .tables import Tables

#: Increase it when the meaning of the data below changes, so that no old index is read.
VERSION = 5

#: The header fields that must be known of all formats at once.
LISTED = frozenset({"aliases", "like", "ids", "forced"})

#: The sign of a call begins with one of these.
BRACKETS = "<["


class FormatIndex(NamedTuple):
    """The formats of a folder of grammars.

    `headers` holds what is not empty of the header fields `LISTED`, by the names of the formats. `sources` maps the
    files that the index was made from to their checksums. `openers` is for `detection`.
    """

    headers: dict[str, dict[str, Any]]
    sources: dict[str, int]
    openers: dict[str, Any]

    @classmethod
    def of(cls, tables: Iterable[Tables], openers: dict[str, Any]) -> FormatIndex:
        """The index of formats."""
        headers, sources = dict[str, dict[str, Any]](), dict[str, int]()
        for known in tables:
            headers[known.header.format] = listed(known.header)
            sources |= known.sources
        return cls(headers, dict(sorted(sources.items())), openers)

    def to_json(self) -> str:
        """The index as JSON text, the same for the same grammars on every machine."""
        parts = [f"{json.dumps(key)}: {_lines(part)}" for key, part in self._asdict().items()]
        return f'{{"version": {VERSION},\n' + ",\n".join(parts) + "}\n"


def listed(header: Header) -> dict[str, Any]:
    """What the index holds of a header."""
    return {key: value for key, value in header.to_data().items() if key in LISTED}


def _lines(data: dict[str, Any]) -> str:
    """A dict as JSON text, with a line for each item."""
    return (
        "{\n" + ",\n".join([f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in data.items()]) + "\n}"
    )


def index_path(folder: Path) -> Path:
    """The path of the index of a folder of grammars."""
    return folder / "compiled" / "index.json"


class CallSigns(NamedTuple):
    """What is in every text that holds a call of one of these formats, as patterns; see `semantics.call_signs`.

    There is a pattern for each of the `BRACKETS`.
    """

    formats: list[str]
    patterns: list[str]

    def to_json(self) -> str:
        """The signs as JSON text, the same for the same grammars on every machine."""
        return json.dumps({"version": VERSION, **self._asdict()}, ensure_ascii=False, indent=0) + "\n"


def read_signs(folder: Path) -> CallSigns | None:
    """The signs of calls in a folder of grammars; None if there are none of this version.

    Whether the grammars have changed since is not looked at: that would cost more than it tells.
    """
    data = _read(folder / "compiled" / "signs.json")
    return None if data is None else CallSigns(**data)


def read_index(folder: Path) -> FormatIndex | None:
    """The index of a folder of grammars; None if there is none, or if it is out of date.

    Formats that are newer than the index, whose grammars lie in the folder, too, are not in it.
    """
    data = _read(index_path(folder))
    if data is None:
        return None
    found, formats = FormatIndex(**data), {grammar.stem for grammar in folder.glob("*.lark")}
    return found if formats >= found.headers.keys() and is_current(folder, found.sources) else None


def _read(path: Path) -> dict[str, Any] | None:
    """The data of a file without its version; None if it is missing, half written, or by another version."""
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return data if data.pop("version") == VERSION else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
