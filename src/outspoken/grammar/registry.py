"""The formats: one grammar file each. Listing the folder is the registry.

A grammar is used in its compiled form where that is current; it is compiled, which takes Lark, where it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from outspoken.results.errors import GrammarError, UnknownFormatError

from .automaton import Automaton
from .header import Header, read_header
from .sources import is_current, own_folder
from .tables import Tables

if TYPE_CHECKING:
    from .template_fields import Template

_F = TypeVar("_F", bound=Callable[..., Any])
_NAME = re.compile(r"[a-z][a-z0-9_]*")

#: The folder that is used in place of the library's own, where there is one.
_folder: Path | None = None
_remembering: list[Any] = []


class Added(NamedTuple):
    """A format that was added while the program runs: its grammar, and what was made of it."""

    text: str
    tables: Tables
    template: Template | None = None


#: The formats that were added, by name, before and after each addition. Nothing in the list is ever changed, so that
#: it can be read without the lock.
_editions: list[dict[str, Added]] = [{}]
_adding = Lock()


def cached(function: _F) -> _F:
    """The function with its results kept, until other grammars are used."""
    kept: Any = lru_cache(maxsize=1024)(function)  # names come from callers, in any spelling
    _remembering.append(kept)
    return kept


def use(folder: Path | None) -> None:
    """Use the grammars of another folder from now on, or with None the library's own again.

    All that was made of grammars is made anew when it is next needed, so a grammar that was edited is read again. This
    is for tools that work on grammars; it must not be called while something is being parsed. Formats that were added
    are forgotten.
    """
    global _folder
    _folder = folder
    _editions.append({})
    for kept in _remembering:
        kept.cache_clear()


def add(name: str, text: str, path: Path, template: Template | None = None) -> str:
    """Add a format, and return its name. Raises GrammarError, and ValueError where there is another of this name.

    `template` is what its grammar was made of, where that was a response template.

    Safe while other threads parse: nothing that was made of a grammar is made anew, only the list of formats is.
    """
    from .compiler import compile_text

    with _adding:
        added = _editions[-1]
        known = added.get(name)
        data = template.data if template is not None else None
        if known is not None and known.text == text and data == (known.template.data if known.template else None):
            return name
        if known is not None or normalized(name) in _aliases(edition()):
            raise ValueError(f"there is another format that `{name}` means")
        made = compile_text(text, path)
        if not _NAME.fullmatch(name):
            raise GrammarError(str(path), f"`{name}` is no name of a format; it is made of a-z, 0-9 and _")
        _editions.append({**added, name: Added(text, made, template)})
    return name


def template(name: str) -> Template | None:
    """The response template that a format was made of; None where it was made of a grammar."""
    added = _editions[-1].get(name)
    return added.template if added is not None else None


def edition() -> int:
    """A number that changes when a format is added: what is made of the list of formats is kept under it."""
    return len(_editions) - 1


def grammars_folder() -> Path:
    """Where the grammars lie: beside this module in an installed package, at the top of a checkout."""
    return _folder or own_folder()


def compiled_path(grammar: Path) -> Path:
    """Where the compiled form of a grammar lies."""
    return grammar.parent / "compiled" / f"{grammar.stem}.json"


def names(edition: int | None = None) -> tuple[str, ...]:
    """The names of all formats, or of those in an edition, in alphabetical order."""
    return _names(len(_editions) - 1 if edition is None else edition)


@cached
def _names(edition: int) -> tuple[str, ...]:
    return tuple(sorted({*[path.stem for path in grammars_folder().glob("*.lark")], *_editions[edition]}))


@cached
def _aliases(edition: int) -> dict[str, str]:
    """Every name and alias, normalised, to the format's name."""
    found: dict[str, str] = {}
    for name in _names(edition):
        for alias in (name, *header(name).aliases):
            found.setdefault(normalized(alias), name)
    return found


def normalized(name: str) -> str:
    """A name as it is compared: lower case, with `-` and `.` as `_`."""
    return name.lower().replace("-", "_").replace(".", "_")


def resolve(name: str) -> str:
    """The format that a name or alias means. Raises UnknownFormatError, which names the nearest ones."""
    return _resolved(name, edition())


@cached
def _resolved(name: str, edition: int) -> str:
    wanted = normalized(name)
    if wanted in _names(edition):
        return wanted
    found = _aliases(edition).get(wanted)
    if found is None:
        raise UnknownFormatError(name, _aliases(edition))
    return found


@cached
def header(name: str) -> Header:
    """What a format says of itself."""
    if (added := _editions[-1].get(name)) is not None:
        return added.tables.header
    path = grammars_folder() / f"{name}.lark"
    return read_header(path.read_text("utf-8"), str(path))


@cached
def automaton(name: str, *, lenient: bool = False) -> Automaton:
    """The automaton of a format, by its exact name; made once in a process.

    A lenient one also notices calls before which a marker is missing.
    """
    if not lenient:
        return Automaton(tables(name))
    from .insertions import LENIENT_RULES

    return Automaton(tables(name), LENIENT_RULES)


def tables(name: str) -> Tables:
    """The tables of a format: the compiled ones where they are current, else from the grammar itself."""
    if (added := _editions[-1].get(name)) is not None:
        return added.tables
    path = grammars_folder() / f"{name}.lark"
    compiled = compiled_path(path)
    if compiled.exists():
        try:
            found = Tables.from_json(compiled.read_text("utf-8"))
        except (ValueError, KeyError):
            found = None  # half written, or by another version
        if found is not None and is_current(path.parent, found.sources):
            return found
    from .compiler import compile_grammar

    return compile_grammar(path)
