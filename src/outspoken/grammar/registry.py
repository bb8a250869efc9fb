"""The registry of formats: the grammar files of one folder, and the formats that were added while the program runs.

`load_format` adds one. The compiled form of a grammar is used if it is current. Otherwise the grammar is compiled,
which takes Lark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from outspoken.results.arguments import kind_of
from outspoken.results.errors import GrammarError, UnknownFormatError, nearest

from .format_index import CallSigns, FormatIndex, index_path, listed, read_index, read_signs
from .sources import is_current, note_not_compiled, own_folder

if TYPE_CHECKING:  # a text that is read by generated functions alone needs none of these
    from .automaton import Automaton
    from .header import Header
    from .model_ids import ModelFormat
    from .tables import Tables
    from .template_fields import Template

#: The format that reads what no other one claims.
PLAIN = "text"

_F = TypeVar("_F", bound=Callable[..., object])
_NAME = re.compile(r"[a-z][a-z0-9_]{0,199}")

#: The folder that is used in place of the library's own, or None.
_folder: Path | None = None
#: Grammar files elsewhere, by the name of their format; they come before those of the folder.
_files: dict[str, Path] = {}
_caches: list[Any] = []


class Added(NamedTuple):
    """A format that was added while the program runs.

    It has the text and the path of its grammar, its tables and, if it was made from one, its template.
    """

    text: str
    path: Path
    tables: Tables
    template: Template | None = None


#: The formats that were added, by name, one dict after each addition. No dict is ever changed, so they are read without
#: the lock.
_editions: list[dict[str, Added]] = [{}]
_adding = Lock()


def cached(function: _F) -> _F:
    """Cache the results of a function until `use` is called."""
    kept: Any = lru_cache(maxsize=1024)(function)  # names come from callers, in any spelling
    _caches.append(kept)
    return kept


def use(folder: Path | None, files: dict[str, Path] | None = None) -> None:
    """Use the grammars of another folder from now on, or the library's own again if `folder` is None.

    `files` are grammars that lie elsewhere, by name; one may take the place of a grammar in the folder.

    This clears all caches, so edited grammars are read again, and removes the formats that were added. It is for tools
    that work on grammars. Do not call it while anything is being parsed.
    """
    global _folder
    _folder = folder
    _files.clear()
    _files.update(files or {})
    _editions.append({})
    for kept in _caches:
        kept.cache_clear()


def add(name: str, text: str, path: Path, template: Template | None = None) -> str:
    """Add a format and return its name. `template` is the response template that its grammar was made from, if any.

    Other threads may parse meanwhile, since no cache of a grammar is cleared.

    Raises GrammarError if the grammar cannot be used, and ValueError if another format has this name.
    """
    from .compiler import compile_text

    with _adding:
        added = _editions[-1]
        earlier = added.get(name)
        data = template.data if template is not None else None
        if (
            earlier is not None
            and earlier.text == text
            and data == (earlier.template.data if earlier.template else None)
        ):
            return name
        if earlier is not None or normalized(name) in _aliases(edition()):
            raise ValueError(f"another format is called `{name}`")
        compiled = compile_text(text, path)
        if "auto" in map(normalized, (name, *compiled.header.aliases)):
            raise GrammarError(str(path), "no format may be called `auto`: it means that the format is not known")
        if not _NAME.fullmatch(name):
            raise GrammarError(str(path), f"`{name}` is not a valid name: use a-z, 0-9 and _, and begin with a letter")
        _editions.append({**added, name: Added(text, path, compiled, template)})
    return name


def template(name: str) -> Template | None:
    """The response template that a format was made from; None if it was made from a grammar."""
    added = _editions[-1].get(name)
    return added.template if added is not None else None


def edition() -> int:
    """A number that changes when a format is added: the key of all caches that depend on the list of formats."""
    return len(_editions) - 1


def grammars_folder() -> Path:
    """The folder of the grammars that are in use."""
    return _folder or own_folder()


def grammar_path(name: str) -> Path:
    """The path of the grammar file of a format, whether it is there or not."""
    return _files.get(name) or grammars_folder() / f"{name}.lark"


def compiled_path(grammar: Path) -> Path:
    """The path of the compiled form of a grammar."""
    return grammar.parent / "compiled" / f"{grammar.stem}.json"


def generated_path(grammar: Path) -> Path:
    """The path of the module with the fast path of a grammar."""
    return grammar.parent / "compiled" / f"{grammar.stem}.py"


def is_added(name: str) -> bool:
    """Was a format added while the program runs?"""
    return name in _editions[-1]


def names(edition: int | None = None) -> tuple[str, ...]:
    """The names of all formats, or of those in an edition, in alphabetical order."""
    return _names(len(_editions) - 1 if edition is None else edition)


@cached
def _names(edition: int) -> tuple[str, ...]:
    own = [path.stem for path in grammars_folder().glob("*.lark")]
    return tuple(sorted({*own, *_files, *_editions[edition]}))


@cached
def index() -> FormatIndex | None:
    """The index of the formats that have a grammar file; None if it is not current."""
    found = read_index(grammars_folder())
    return None if found is not None and not _files.keys().isdisjoint(found.headers) else found


@cached
def call_signs() -> CallSigns | None:
    """The signs of calls in the formats that have a grammar file; None if nothing is compiled."""
    return read_signs(grammars_folder())


@cached
def _listed(name: str) -> dict[str, Any]:
    """What is not empty of the header fields of a format that the index has, by the format's exact name."""
    known = index()
    found = known.headers.get(name) if known is not None else None
    return listed(header(name)) if found is None else found


def like(name: str) -> str:
    """The format that spells its calls as this one does, if its header names one; else ""."""
    return _listed(name).get("like", "")


@cached
def _aliases(edition: int) -> dict[str, str]:
    """The names of formats by their normalized names and aliases."""
    found: dict[str, str] = {}
    for name in _names(edition):
        for alias in (name, *_listed(name).get("aliases", ())):
            found.setdefault(normalized(alias), name)
    return found


def normalized(name: str) -> str:
    """A name in lower case, with `-` and `.` as `_`: names are compared in this form."""
    return name.lower().replace("-", "_").replace(".", "_")


def resolve(name: str) -> str:
    """The name of the format that a name, an alias or the id of a model means.

    Raises UnknownFormatError, which lists similar names.
    """
    return _resolved(name, edition())


def model(id: str) -> ModelFormat:
    """The format of a model by its id, and what its prompts end with. Raises UnknownFormatError for an unknown one."""
    found = _model(id, edition())
    if found is None:
        raise _unknown(id)
    return found


@cached
def ids(edition: int) -> tuple[tuple[str, str, str], ...]:
    """The patterns of the ids of models in an edition: format, pattern, and what the prompts end with."""
    return tuple(
        [(name, pattern, ends) for name in _names(edition) for pattern, ends in _listed(name).get("ids", {}).items()]
    )


@cached
def forced(edition: int) -> dict[str, str]:
    """The formats in which engines force calls, each with the pattern of what such a response begins with."""
    return {name: own for name in _names(edition) if (own := _listed(name).get("forced"))}


@cached
def _model(id: str, edition: int) -> ModelFormat | None:
    from .model_ids import find, is_whole  # a format's own name needs none of it

    found = find(id, ids(edition))
    if found is not None and "/" not in id and not is_whole(id, found.pattern):
        # a misspelled name of a format (`qwen3_codr`) holds what ids begin with
        return None if nearest(normalized(id), [*_aliases(edition)], 0.9) else found
    return found


def _unknown(name: str) -> UnknownFormatError:
    """The error for what is neither a format nor the id of a model that is known."""
    from .model_ids import bare_id, served_by

    families = [normalized(pattern) for _, pattern, _ in ids(edition()) if "*" not in pattern]
    return UnknownFormatError(name, _aliases(edition()), bare_id(name), served_by(name), families)


@cached
def _resolved(name: str, edition: int) -> str:
    wanted = normalized(name)
    is_file = _NAME.fullmatch(wanted) and grammar_path(wanted).is_file()
    if is_file or wanted in _editions[edition]:
        return wanted  # no other format is looked at
    aliased = _aliases(edition).get(wanted)
    if aliased is not None:
        return aliased
    by_id = _model(name, edition)
    if by_id is None:
        raise _unknown(name)
    return by_id.format


def prompt_end(name: str, thinking: bool | None = None) -> str | None:
    """What the prompt of a model ends with, if a name is the id of one; None for that of the format.

    `thinking` says whether the prompt asks it to think; None for what is usual.
    """
    wanted = normalized(name)
    if (_NAME.fullmatch(wanted) and grammar_path(wanted).is_file()) or wanted in _aliases(edition()):
        return None
    return model(name).ends.end(thinking=thinking)


@cached
def header(name: str) -> Header:
    """The header of a format, by its exact name."""
    if (added := _editions[-1].get(name)) is not None:
        return added.tables.header
    from .header import read_header

    path = grammar_path(name)
    return read_header(path.read_text("utf-8"), str(path))


def grammar_text(name: str) -> tuple[str, Path]:
    """The text of a format's grammar, by its exact name, and the path that its imports are relative to."""
    if (added := _editions[-1].get(name)) is not None:
        return added.text, added.path
    path = grammar_path(name)
    return path.read_text("utf-8"), path


def automaton(name: str, *, lenient: bool = False, calls: bool = True) -> Automaton:
    """The automaton of a format, by its exact name; built once in a process.

    A lenient one also recognises calls whose opening marker is missing and values whose closing marker is missing.
    Without `calls`, their markup is text, unless it may be that of actions or answers.
    """
    return _automaton(name, lenient, calls)


@cached
def _automaton(name: str, lenient: bool, calls: bool) -> Automaton:
    from .automaton import Automaton

    found = tables(name)
    whole = None if calls or found.header.actions or found.header.answer else automaton(name)
    if not lenient:
        return Automaton(found, whole)
    from .lenient_rules import LenientAutomaton

    return LenientAutomaton(found, whole)


def tables(name: str) -> Tables:
    """The tables of a format: the compiled ones if they are current, otherwise compiled from the grammar."""
    if (added := _editions[-1].get(name)) is not None:
        return added.tables
    from .tables import Tables

    path = grammar_path(name)
    compiled = compiled_path(path)
    if compiled.exists():
        try:
            compiled_tables = Tables.from_json(compiled.read_text("utf-8"))
        except (ValueError, KeyError):
            compiled_tables = None  # half written, or by another version
        if compiled_tables is not None and is_current(path.parent, compiled_tables.sources):
            return compiled_tables
    elif path.parent == own_folder() and not index_path(path.parent).exists():
        note_not_compiled(path.parent)
    return _compiled(path)


@cached
def _compiled(path: Path) -> Tables:
    """The tables of a grammar that has no compiled form, or an old one."""
    from .compiler import compile_grammar

    return compile_grammar(path)


def load_format(source: str | PathLike[str] | dict[str, Any], name: str | None = None) -> str:
    """Add a format while the program runs, and return its name, which `format=` accepts from then on.

    `source` is the path of a grammar file (`.lark`), a response template of Hugging Face as a dict, or the path of a
    JSON file that is a template or has one under `response_template` (such as `tokenizer_config.json`). A grammar has
    its own name; a template is called `name`. A grammar may import what the library's own formats share. For a
    template, `parse_message` returns the message that it makes of a response.

    Loading the same format again does nothing. You may call this from any thread, also while other threads parse.

    Raises GrammarError, with the line or the key, if the source cannot be used, and ValueError if another format has
    the name, and TypeError if the source is neither a path nor a dict.
    """
    if isinstance(source, dict):
        return _load_template(source, name)
    try:
        path = Path(source)
    except TypeError:
        message = f"`source` is {kind_of(source)}; expected a path or a response template as a dict"
        raise TypeError(message) from None
    if path.suffix == ".lark":
        return _load_grammar(path, name)
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise GrammarError(str(path), f"it cannot be read: {error}") from error
    template_data = cast("dict[str, Any]", data).get("response_template", data) if isinstance(data, dict) else data
    return _load_template(template_data, name)


def _load_template(data: Any, name: str | None) -> str:
    from .response_template import grammar_of
    from .template_fields import Template

    if not name:
        raise ValueError("a response template has no name of its own; pass `name`")
    known = normalized(name)
    path = grammars_folder() / f"{known}.lark"
    checked = Template(deepcopy(data), known)
    return add(known, grammar_of(checked, known), path, checked)


def _load_grammar(path: Path, name: str | None) -> str:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GrammarError(str(path), f"it cannot be read: {error}") from error
    from .header import read_header

    known = read_header(text, str(path)).format
    if name is not None and normalized(name) != known:
        raise ValueError(f"the grammar calls itself `{known}`, not `{name}`")
    return add(known, text, path)
