"""The folders of a checkout. The tools work on any folder with the same layout."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outspoken.grammar import registry
from outspoken.grammar.sources import own_folder
from outspoken.results.errors import UnknownFormatError

#: The top of the checkout that this file lies in; of no use in an installed package.
TOP = Path(__file__).resolve().parents[4]

_State = tuple[Path, int, dict[str, tuple[int, int]]]
#: The grammars that are in use, and what their files were like then. Empty until grammars were chosen here.
_IN_USE: list[_State] = []


@dataclass(frozen=True, slots=True)
class Checkout:
    """The folders of a checkout. `root` is its top; the tools' own is the default."""

    root: Path = TOP

    @property
    def grammars(self) -> Path:
        """The folder of the grammars."""
        return self.root / "grammars"

    @property
    def corpus(self) -> Path:
        """The folder with a folder of responses for each format."""
        return self.root / "tests" / "corpus"

    @property
    def snapshots(self) -> Path:
        """The folder with what each response of the corpus is read as, one file for each format."""
        return self.root / "snapshots" / "test_formats"

    def names(self) -> list[str]:
        """The formats that have a grammar, in alphabetical order."""
        return sorted(path.stem for path in self.grammars.glob("*.lark"))

    def grammar(self, name: str) -> Path:
        """The grammar of a format, whether it is there or not."""
        return self.grammars / f"{name}.lark"

    @property
    def is_project(self) -> bool:
        """Whether the formats are part of a project that keeps their origins, compiled forms and snapshots."""
        return True

    def command(self, tool: str, name: str) -> str:
        """The command that runs a tool on a format."""
        return f"python -m tools.{tool} {name}"

    def shown(self, path: Path) -> str:
        """A path as it is written in messages: from the top of the checkout where it lies in it."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    def existing(self, name: str) -> Path:
        """The grammar of a format. Raises UnknownFormatError if there is none of exactly this name."""
        path = self.grammar(name)
        if not path.is_file():
            raise UnknownFormatError(name, self.names())
        return path

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Within, everything is parsed with the grammars of this checkout, as they are now.

        If they are in use already and none of their files has changed, what was made of them is kept.
        """
        _use(self.grammars)
        try:
            yield
        finally:
            _use(own_folder())


def _use(folder: Path) -> None:
    if [_state(folder)] != _IN_USE:
        registry.use(folder)
        _IN_USE[:] = [_state(folder)]


def _state(folder: Path) -> _State:
    """The files that are read as grammars, and which formats were added to them."""
    folders = [folder, folder / "shared", folder / "compiled"]
    files = [file for place in folders if place.is_dir() for file in os.scandir(place) if file.is_file()]
    return folder, registry.edition(), {file.path: (file.stat().st_mtime_ns, file.stat().st_size) for file in files}
