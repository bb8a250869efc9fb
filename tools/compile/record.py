"""What compiled grammars were made from: checksums, which tell what has to be compiled again.

- Tables depend on the grammar, on what it imports, and on the compiler.
- A fast path depends on the tables of its format and of those that are like it, on the responses of the corpus that it
  is trained on, and on the compiler.
- The index depends on all tables.

`grammars/compiled/.record` keeps the key of each file, and a checksum of everything at once, which is compared first.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

TOP = Path(__file__).resolve().parents[2]
CORPUS = TOP / "tests" / "corpus"

#: The rooms that decide what is written. What others say is only called by what is written.
ROOMS = ("detection", "fast_path", "grammar", "notations", "patterns", "rendering", "semantics")


class Made(NamedTuple):
    """A compiled file: the key of what it was made from, and the checksum of what it holds."""

    key: str
    checksum: int


class Record:
    """The compiled files of a folder of grammars. `files` are those that are as they were written, by their names."""

    def __init__(self, folder: Path, inputs: str, files: dict[str, Made]) -> None:
        self.folder = folder / "compiled"
        self.inputs = inputs
        self.files = {name: made for name, made in files.items() if self._checksum(name) == made.checksum}
        self.is_whole = len(self.files) == len(files) and set(self._names()) == files.keys()

    @classmethod
    def read(cls, folder: Path) -> Record:
        """What is recorded of a folder; nothing if there is no record that can be read."""
        try:
            data: dict[str, Any] = json.loads((folder / "compiled" / ".record").read_bytes())
            return cls(folder, data["inputs"], {name: Made(*made) for name, made in data["files"].items()})
        except (OSError, ValueError, KeyError, TypeError):
            return cls(folder, "", {})

    def is_current(self, inputs: str) -> bool:
        """Were all files made from these inputs, and is each still what it was?"""
        return self.is_whole and self.inputs == inputs

    def is_made(self, name: str, key: str) -> bool:
        """Is a file there that was made from what the key stands for?"""
        return name in self.files and self.files[name].key == key

    def write(self, name: str, key: str, text: str) -> bool:
        """Write a file, and return whether it holds anything else than before."""
        data = text.encode()
        before, made = self.files.get(name), Made(key, zlib.crc32(data))
        self.files[name] = made
        self.folder.mkdir(exist_ok=True)
        (self.folder / name).write_bytes(data)
        return before is None or before.checksum != made.checksum

    def keep(self, inputs: str, names: Iterable[str]) -> None:
        """Remove all files but these, and write the record: everything is made from these inputs."""
        self.files = {name: self.files[name] for name in sorted(names)}
        for name in self._names():
            if name not in self.files:
                (self.folder / name).unlink()
        lines = [f"{json.dumps(name)}: {json.dumps(made)}" for name, made in self.files.items()]
        text = f'{{"inputs": {json.dumps(inputs)}, "files": {{\n' + ",\n".join(lines) + "\n}}\n"
        (self.folder / ".record").write_text(text, "utf-8")

    def _names(self) -> Iterator[str]:
        if self.folder.is_dir():
            yield from [path.name for path in self.folder.iterdir() if path.suffix in (".json", ".py")]

    def _checksum(self, name: str) -> int | None:
        try:
            return zlib.crc32((self.folder / name).read_bytes())
        except OSError:
            return None


def key_of(*parts: Any) -> str:
    """The key of data that JSON can express, and of the compiler."""
    return hashlib.sha256(json.dumps([compiler(), *parts]).encode()).hexdigest()[:16]


@cache
def compiler() -> str:
    """The checksum of the compiler's own sources."""
    source = TOP / "src" / "outspoken"
    rooms = [Path(__file__).parent, *[source / room for room in ROOMS]]
    costs = source / "recovery" / "costs.py"  # they are in the rules of the tolerant grammars
    return _digest([*[path for room in rooms for path in sorted(room.rglob("*.py"))], costs], TOP)


def inputs_of(folder: Path) -> str:
    """The checksum of everything that the compiled files of a folder of grammars are made from."""
    return key_of(_digest(sorted(folder.glob("**/*.lark")), folder), _digest(sorted(CORPUS.glob("*/ok/*")), CORPUS))


def _digest(paths: list[Path], folder: Path) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(b"%s\0%d\0" % (path.relative_to(folder).as_posix().encode(), zlib.crc32(path.read_bytes())))
    return found.hexdigest()
