"""The files that grammars are made from: where they lie, and by which a compiled grammar is known to be current."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from pathlib import Path

_IMPORT = re.compile(rb"^%import[ ]+((?:\.\w+)+)", re.MULTILINE)


@lru_cache(maxsize=1)
def own_folder() -> Path:
    """The library's own grammars."""
    package = Path(__file__).parents[1]
    installed = package / "grammars"
    return installed if installed.is_dir() else package.parents[1] / "grammars"


def sources(grammar: Path) -> dict[str, int]:
    """A grammar file and all files that it imports, relative to its folder, each with its checksum."""
    found: dict[str, int] = {}
    waiting = [grammar]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(grammar.parent).as_posix()
        if name in found:
            continue
        data = path.read_bytes()
        found[name] = zlib.crc32(data)
        for match in _IMPORT.finditer(data):
            parts = match[1].decode().split(".")[1:]
            whole = path.parent.joinpath(*parts).with_suffix(".lark")
            waiting.append(whole if whole.exists() else path.parent.joinpath(*parts[:-1]).with_suffix(".lark"))
    return dict(sorted(found.items()))


def is_current(folder: Path, recorded: dict[str, int]) -> bool:
    """Do the files in a folder still have the recorded checksums?"""
    try:
        return all(zlib.crc32((folder / name).read_bytes()) == checksum for name, checksum in recorded.items())
    except OSError:
        return False
