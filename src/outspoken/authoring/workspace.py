"""A temporary checkout round a grammar file that lies anywhere."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from outspoken.grammar.registry import compiled_path
from outspoken.grammar.sources import own_folder
from outspoken.results.errors import GrammarError

from .shared.checkout import Checkout
from .shared.grammar_source import Source


@dataclass(frozen=True, slots=True)
class Workspace(Checkout):
    """The library's grammars and that of `file`, whose cases lie in the folder of the same name beside it."""

    file: Path = Path()

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.file.stem

    @property
    def cases(self) -> Path:
        """The folder with the cases of the format, beside the file."""
        return self.file.with_suffix("")

    @property
    def is_project(self) -> bool:
        """No: nothing but the file and its cases is kept."""
        return False

    def command(self, tool: str, name: str) -> str:
        """The command that runs a tool on the file."""
        return f"outspoken grammar {tool} {self.file}"

    def shown(self, path: Path) -> str:
        """A path as the author knows it."""
        if path == self.grammar(self.name):
            return str(self.file)
        folder = self.corpus / self.name
        return str(self.cases / path.relative_to(folder)) if path.is_relative_to(folder) else Checkout.shown(self, path)


@contextmanager
def workspace(file: Path, *, is_new: bool = False) -> Generator[Workspace]:
    """A checkout with the grammar of a file, what it imports from beside it, and its cases.

    A new file need not be there. Raises GrammarError if the file is no grammar.
    """
    if file.suffix != ".lark":
        raise GrammarError(str(file), "the name of a grammar ends in `.lark`")
    with TemporaryDirectory(prefix="outspoken-grammar-") as folder:
        made = Workspace(Path(folder), file)
        shutil.copytree(own_folder(), made.grammars, ignore=shutil.ignore_patterns("pages", "*.md", "*.py"))
        if is_new:
            yield made
            return
        _copy(file, made.grammar(made.name), made.grammars, seen=set())
        compiled_path(made.grammar(made.name)).unlink(missing_ok=True)
        if made.cases.is_dir():
            shutil.copytree(made.cases, made.corpus / made.name)
        yield made


def _copy(file: Path, to: Path, grammars: Path, seen: set[Path]) -> None:
    """Copy a grammar and what it imports from files beside it. Raises GrammarError if it cannot be read."""
    if file in seen:
        return
    seen.add(file)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)
        source = Source.of(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise GrammarError(str(file), f"it cannot be read: {reason}") from error
    for imported in source.imports:
        path = source.imported_file(imported)
        if path is not None and path.is_file():
            _copy(path, to.parent / path.relative_to(file.parent), grammars, seen)
