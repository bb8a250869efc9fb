"""Where the tools find grammars and their cases: in a checkout, or round one grammar file that lies anywhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from outspoken import Reply, parse
from outspoken.grammar import registry
from outspoken.grammar.sources import own_folder
from outspoken.results.errors import GrammarError, UnknownFormatError

#: The top of the checkout that this file lies in; of no use in an installed package.
TOP = Path(__file__).resolve().parents[4]

#: The grammars that are in use, and what their files were like then. Empty until grammars were chosen here.
_IN_USE: list[object] = []


@dataclass(frozen=True)
class Checkout:
    """The folders of a checkout, or of any folder with the same layout; or a grammar in a `file` anywhere.

    `root` is the top of a checkout. Of a file, the grammars are the library's and it; it may take the place of one of
    them. Its cases are its header's example, and the files in the folder beside it that has its name: of `my.lark`,
    `my/ok/*.txt` are sound responses, `my/err/*.txt` damaged ones. Both folders may be missing.
    """

    root: Path = TOP
    file: Path | None = None

    @classmethod
    def of(cls, file: Path, *, is_new: bool = False) -> Checkout:
        """That of a file, which is yet to be written if it `is_new`. Raises GrammarError if it is no grammar.

        The file has to be text, whatever is wrong with the grammar.
        """
        if file.suffix != ".lark":
            raise GrammarError(str(file), "the name of a grammar ends in `.lark`")
        if not is_new:
            try:
                file.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                raise GrammarError(str(file), f"it cannot be read: {reason}") from error
        return cls(file.parent, file)

    @property
    def is_project(self) -> bool:
        """Whether the formats are part of a project that keeps their origins and compiled forms."""
        return self.file is None

    @property
    def grammars(self) -> Path:
        """The folder of the grammars."""
        return self.root / "grammars" if self.file is None else own_folder()

    @property
    def corpus(self) -> Path:
        """The folder with a folder of responses for each format."""
        return self.root / "tests" / "corpus" if self.file is None else self.root

    @property
    def files(self) -> dict[str, Path]:
        """The grammars by name that lie elsewhere than in the folder of the grammars, and are there."""
        return {self.file.stem: self.file} if self.file is not None and self.file.is_file() else {}

    def names(self) -> list[str]:
        """The formats that have a grammar, in alphabetical order."""
        return sorted({*[path.stem for path in self.grammars.glob("*.lark")], *self.files})

    def grammar(self, name: str) -> Path:
        """The grammar of a format, whether it is there or not."""
        if self.file is not None and name == self.file.stem:
            return self.file
        return self.grammars / f"{name}.lark"

    def existing(self, name: str) -> Path:
        """The grammar of a format. Raises UnknownFormatError if there is none of exactly this name."""
        path = self.grammar(name)
        if not path.is_file():
            raise UnknownFormatError(name, self.names())
        return path

    def case_files(self, format: str = "*") -> list[Path]:
        """The texts of the cases of a format, or of all, by format, kind and name. Of a file, there are no others."""
        if self.file is not None:
            format = self.file.stem if format in ("*", self.file.stem) else "-"
        return sorted(self.corpus.glob(f"{format}/*/*.txt"))

    def command(self, tool: str, name: str) -> str:
        """The command that runs a tool on a format."""
        return f"python -m tools.{tool} {name}" if self.file is None else f"outspoken grammar {tool} {self.file}"

    def shown(self, path: Path) -> str:
        """A path as it is written in messages: from the top of the checkout where it lies in it."""
        is_within = self.is_project and path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if is_within else str(path)

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Within, everything is parsed with these grammars, as they are now.

        If they are in use already and none of their files has changed, what was made of them is kept.
        """
        _use(self.grammars, self.files)
        try:
            yield
        finally:
            _use(own_folder(), {})


def _use(folder: Path, files: dict[str, Path]) -> None:
    if [_state(folder, files)] != _IN_USE:
        registry.use(folder, files)
        _IN_USE[:] = [_state(folder, files)]


def _state(folder: Path, files: dict[str, Path]) -> object:
    """The files that are read as grammars, and which formats were added to them."""
    beside = [place for file in files.values() for place in (file.parent, file.parent / "shared")]
    folders = [folder, folder / "shared", folder / "compiled", *beside]
    found = [file for place in folders if place.is_dir() for file in os.scandir(place) if file.is_file()]
    stats = {file.path: (file.stat().st_mtime_ns, file.stat().st_size) for file in found}
    return folder, files, registry.edition(), stats


toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

KINDS = ("ok", "err")


@dataclass(frozen=True)
class Case:
    """One text of the corpus, and how it is parsed."""

    format: str
    kind: str
    name: str
    text: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"{self.format}-{self.kind}-{self.name}"

    def parse(self, text: str | None = None, format: str | None = None) -> Reply:
        """Read the text, or another one in its place."""
        return parse(self.text if text is None else text, format=format or self.format, **self.options)


def load(path: Path) -> Case:
    """The case whose text lies at a path of a corpus."""
    options: dict[str, Any] = {}
    beside = path.with_suffix(".toml")
    if beside.exists():
        options = toml.loads(beside.read_text("utf-8"))
        if isinstance(options.get("tools"), str):
            options["tools"] = json.loads(options["tools"])
    return Case(path.parts[-3], path.parts[-2], path.stem, path.read_bytes().decode(), options)


def cases(checkout: Checkout, format: str = "*") -> list[Case]:
    """The cases of a format, or of all, by format, kind and name."""
    return [load(path) for path in checkout.case_files(format)]
