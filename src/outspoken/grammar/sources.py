"""The files that grammars are made from, and whether what was compiled from them is current."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from os.path import join
from pathlib import Path

_IMPORT = re.compile(rb"^%import[ ]+((?:\.\w+)+)", re.MULTILINE)


@lru_cache(maxsize=1)
def own_folder() -> Path:
    """The folder of the library's own grammars, in an installed package or a checkout."""
    installed = _installed_folder()
    return installed if installed.is_dir() else Path(__file__).parents[3] / "grammars"


@lru_cache(maxsize=1)
def _installed_folder() -> Path:
    return Path(__file__).parents[1] / "grammars"


def sources(grammar: Path) -> dict[str, int]:
    """The checksums (CRC-32) of a grammar file and of all files that it imports, by paths relative to its folder.

    What it imports of the library's own grammars, from another folder, is left out.
    """
    checksums: dict[str, int] = {}
    waiting = [grammar]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(grammar.parent).as_posix()
        if name in checksums or not (path.is_file() or path == grammar):
            continue
        data = path.read_bytes()
        checksums[name] = zlib.crc32(data)
        for match in _IMPORT.finditer(data):
            parts = match[1].decode().split(".")[1:]
            whole = path.parent.joinpath(*parts).with_suffix(".lark")
            waiting.append(whole if whole.exists() else path.parent.joinpath(*parts[:-1]).with_suffix(".lark"))
    return dict(sorted(checksums.items()))


def is_current(folder: Path, recorded: dict[str, int]) -> bool:
    """Do the files in a folder still have the recorded checksums? Those of an installed package always do."""
    if folder == _installed_folder():
        return True
    try:
        for name, checksum in recorded.items():
            with open(join(folder, name), "rb", buffering=0) as file:  # not by `Path`: the index has 140 files
                if zlib.crc32(file.read()) != checksum:
                    return False
    except OSError:
        return False
    return True


@lru_cache(maxsize=1)
def note_not_compiled(folder: Path) -> None:
    """Log, once in a process, that the grammars of a checkout are not compiled for its version of the library.

    It is a record of `logging` and no warning: every text is read, only more slowly.
    """
    import logging

    logging.getLogger("outspoken").warning(
        "the grammars are not compiled, or by another version, so responses are read more slowly: "
        "run `python -m tools.compile` in %s",
        folder.parent,
    )
