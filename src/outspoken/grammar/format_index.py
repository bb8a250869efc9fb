"""The index of all formats, made ahead of time: names, aliases, and the openers that detection looks for.

With it, an alias is resolved and a format detected without reading any other grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .sources import is_current

if TYPE_CHECKING:
    from .tables import Tables

#: Increase it when the meaning of the data below changes, so that no old index is read.
VERSION = 4

#: The sign of a call begins with one of these.
BRACKETS = "<["


class FormatIndex(NamedTuple):
    """The formats of a folder of grammars.

    `aliases`, `like`, `ids` and `forced` hold the header fields of these names, by the name of the format. `sources`
    maps the files that the index was made from to their checksums. `openers` is for `detection`.
    """

    aliases: dict[str, list[str]]
    like: dict[str, str]
    ids: dict[str, dict[str, str]]
    forced: dict[str, str]
    sources: dict[str, int]
    openers: dict[str, Any]

    @classmethod
    def of(cls, tables: Iterable[Tables], openers: dict[str, Any]) -> FormatIndex:
        """The index of formats."""
        aliases: dict[str, list[str]] = {}
        like: dict[str, str] = {}
        ids: dict[str, dict[str, str]] = {}
        forced: dict[str, str] = {}
        sources: dict[str, int] = {}
        for known in tables:
            header = known.header
            aliases[header.format], like[header.format] = [*header.aliases], header.like
            ids |= {header.format: header.ids} if header.ids else {}
            forced |= {header.format: header.forced} if header.forced else {}
            sources |= known.sources
        return cls(aliases, like, ids, forced, dict(sorted(sources.items())), openers)

    def to_json(self) -> str:
        """The index as JSON text, the same for the same grammars on every machine."""
        data: dict[str, Any] = {"version": VERSION, **self._asdict()}
        openers = cast("dict[str, Any]", data.pop("openers"))
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in data.items()]
        inner = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in openers.items()]
        return "{\n" + ",\n".join([*lines, '"openers": {\n' + ",\n".join(inner) + "\n}"]) + "\n}\n"


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
    try:
        data: dict[str, Any] = json.loads((folder / "compiled" / "signs.json").read_text("utf-8"))
        return CallSigns(**data) if data.pop("version") == VERSION else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_index(folder: Path) -> FormatIndex | None:
    """The index of a folder of grammars; None if there is none, or if it is out of date.

    Formats that are newer than the index, whose grammars lie in the folder, too, are not in it.
    """
    path = index_path(folder)
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if data.pop("version") != VERSION:
            return None
        found = FormatIndex(**data)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # missing, half written, or by another version
    formats = {grammar.stem for grammar in folder.glob("*.lark")}
    return found if formats >= found.aliases.keys() and is_current(folder, found.sources) else None
