"""Where the tools find grammars and their cases: in a checkout, or round one grammar file that lies anywhere."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outspoken.grammar import registry
from outspoken.grammar.sources import own_folder
from outspoken.results.errors import GrammarError, UnknownFormatError

#: The top of the checkout that this file lies in; of no use in an installed package.
TOP = Path(__file__).resolve().parents[4]

#: The grammars that are in use, and what their files were like then. Empty until grammars were chosen here.
_IN_USE: list[object] = []


@dataclass(frozen=True)
class Checkout:
    """The folders of a checkout, or of any folder with the same layout. `root` is its top."""

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

    def case_files(self, format: str = "*") -> list[Path]:
        """The texts of the cases of a format, or of all, by format, kind and name."""
        return sorted(self.corpus.glob(f"{format}/*/*.txt"))

    def existing(self, name: str) -> Path:
        """The grammar of a format. Raises UnknownFormatError if there is none of exactly this name."""
        path = self.grammar(name)
        if not path.is_file():
            raise UnknownFormatError(name, self.names())
        return path

    @property
    def files(self) -> dict[str, Path]:
        """The grammars by name that lie elsewhere than in the folder of the grammars."""
        return {}

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


@dataclass(frozen=True)
class Workspace(Checkout):
    """The library's grammars and one in a `file` anywhere, which may take the place of one of them.

    The cases of a grammar `my.lark` are its header's example, and the files in the folder `my` beside it: `my/ok/*.txt`
    are sound responses, `my/err/*.txt` damaged ones. Both folders may be missing.
    """

    file: Path = Path()

    @classmethod
    def of(cls, file: Path, *, is_new: bool = False) -> Workspace:
        """The workspace of a file, which is yet to be written if it `is_new`. Raises GrammarError if it is no grammar.

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
    def name(self) -> str:
        """The name of the format."""
        return self.file.stem

    @property
    def grammars(self) -> Path:
        """The folder of the library's grammars."""
        return own_folder()

    @property
    def corpus(self) -> Path:
        """The folder of the file: in it is the folder of the grammar's cases."""
        return self.file.parent

    @property
    def files(self) -> dict[str, Path]:
        """The file, once it is there."""
        return {self.name: self.file} if self.file.is_file() else {}

    @property
    def is_project(self) -> bool:
        """No: nothing but the file and its cases is kept."""
        return False

    def names(self) -> list[str]:
        """The library's formats and that of the file."""
        return sorted({*Checkout.names(self), *self.files})

    def grammar(self, name: str) -> Path:
        """The grammar of a format, whether it is there or not."""
        return self.file if name == self.name else Checkout.grammar(self, name)

    def case_files(self, format: str = "*") -> list[Path]:
        """The texts of the cases of the grammar, the only ones here."""
        return Checkout.case_files(self, self.name) if format in ("*", self.name) else []

    def command(self, tool: str, name: str) -> str:
        """The command that runs a tool on the file."""
        return f"outspoken grammar {tool} {self.file}"

    def shown(self, path: Path) -> str:
        """A path as the author knows it."""
        return str(path)


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
