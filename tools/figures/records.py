"""What was measured: `figures.json`, and which figures in it are stale."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from outspoken.authoring.shared.checkout import TOP
from outspoken.results.errors import OutspokenError

from .digests import GRAMMARS, digest_of
from .registry import FIGURES, Figure

PATH = Path(__file__).parent / "figures.json"


class Measurement(BaseModel):
    """What a measuring command writes: `values`, the versions of the `peers`, and the `formats` that it read."""

    model_config = ConfigDict(extra="forbid")

    values: dict[str, Any]
    peers: dict[str, str] = Field(default_factory=dict)
    formats: list[str] = Field(default_factory=list)
    #: the machine that it ran on, in words
    machine: str = Field(default_factory=lambda: machine())

    def write(self, path: Path) -> None:
        """Write it to a file for `python -m tools.figures`."""
        path.write_text(self.model_dump_json(), "utf-8")


class Record(Measurement):
    """A measurement with its date, how long it took, and the digests of the code that it measures."""

    command: str
    date: str
    seconds: int
    code: dict[str, str]


def machine() -> str:
    """The machine in words: cores, processor, system and Python."""
    processor, system = platform.machine().replace("_", "-"), platform.system()
    return f"{os.cpu_count()} cores of {processor}, {system}, Python {platform.python_version()}"


def new_file(text: str) -> Path:
    """The file of an option of a measuring command. Raises ArgumentTypeError if its folder is missing."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


class FiguresError(OutspokenError):
    """The file of the figures cannot be used."""


def load(path: Path = PATH) -> dict[str, Record]:
    """The records, by the names of their figures. Raises FiguresError if the file holds something else."""
    if not path.is_file():
        return {}
    try:
        return {name: Record.model_validate(record) for name, record in json.loads(path.read_text("utf-8")).items()}
    except (ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise FiguresError(f"{path.name} cannot be read: {reason}; restore it, or delete it and measure all") from error


def save(records: dict[str, Record], path: Path = PATH) -> None:
    """Write the records in the order of the registry."""
    found = {name: records[name].model_dump() for name in FIGURES if name in records}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


#: Digests that were made already, by their arguments.
_Made = dict[tuple[str, tuple[str, ...]], str]


def digests(figure: Figure, formats: list[str], root: Path = TOP, made: _Made | None = None) -> dict[str, str]:
    """The digest of each part of the code of a figure. `made` keeps those that several figures have."""
    made = {} if made is None else made
    found: dict[str, str] = {}
    for path in figure.code:
        key = (path, tuple(formats) if path == GRAMMARS else ())
        if key not in made:
            made[key] = digest_of(root, *key)
        found[path] = made[key]
    return found


def changed(figure: Figure, record: Record | None, root: Path = TOP, made: _Made | None = None) -> list[str]:
    """The parts of the code that are other ones than those that were measured; all of them if nothing was."""
    if record is None:
        return [*figure.code]
    current = digests(figure, record.formats, root, made)
    return [path for path in current | record.code if current.get(path) != record.code.get(path)]


def stale(records: dict[str, Record], root: Path = TOP) -> dict[str, list[str]]:
    """The figures that are older than their code, with the parts of it that have changed."""
    made: _Made = {}
    found = {name: changed(figure, records.get(name), root, made) for name, figure in FIGURES.items()}
    return {name: parts for name, parts in found.items() if parts}
