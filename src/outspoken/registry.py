"""The formats: one grammar file each. Listing the folder is the registry.

A grammar is used in its compiled form where that is current; it is compiled, which takes Lark, where it is not.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from .automaton import Automaton
from .errors import UnknownFormatError
from .header import Header, read_header
from .sources import is_current
from .tables import Tables


@lru_cache(maxsize=1)
def grammars_folder() -> Path:
    """Where the grammars lie: beside this module in an installed package, at the top of a checkout."""
    here = Path(__file__).parent
    installed = here / "grammars"
    return installed if installed.is_dir() else here.parents[1] / "grammars"


def compiled_path(grammar: Path) -> Path:
    """Where the compiled form of a grammar lies."""
    return grammar.parent / "compiled" / f"{grammar.stem}.json"


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of all formats, in alphabetical order."""
    return tuple(sorted([path.stem for path in grammars_folder().glob("*.lark")]))


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    """Every name and alias, normalised, to the format's name."""
    found: dict[str, str] = {}
    for name in names():
        for alias in (name, *header(name).aliases):
            found.setdefault(normal(alias), name)
    return found


def normal(name: str) -> str:
    """A name as it is compared: lower case, with `-` and `.` as `_`."""
    return name.lower().replace("-", "_").replace(".", "_")


@lru_cache(maxsize=256)
def resolve(name: str) -> str:
    """The format that a name or alias means. Raises UnknownFormatError, which names the nearest ones."""
    wanted = normal(name)
    if wanted in names():
        return wanted
    found = _aliases().get(wanted)
    if found is None:
        raise UnknownFormatError(name, _aliases())
    return found


@cache
def header(name: str) -> Header:
    """What a format says of itself."""
    path = grammars_folder() / f"{name}.lark"
    return read_header(path.read_text("utf-8"), str(path))


@cache
def automaton(name: str, *, lenient: bool = False) -> Automaton:
    """The automaton of a format, by its exact name; made once in a process.

    A lenient one also notices calls before which a marker is missing.
    """
    made = Automaton(tables(name))
    if lenient:
        from .lenient import extend

        extend(made)
    return made


def tables(name: str) -> Tables:
    """The tables of a format: the compiled ones where they are current, else from the grammar itself."""
    path = grammars_folder() / f"{name}.lark"
    compiled = compiled_path(path)
    if compiled.exists():
        try:
            found = Tables.from_json(compiled.read_text("utf-8"))
        except (ValueError, KeyError):
            found = None  # half written, or by another version
        if found is not None and is_current(path.parent, found.sources):
            return found
    from .grammar import compile_grammar

    return compile_grammar(path)
