"""The corpus of a format: its files, their sources, and whether each case is in the right folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from outspoken import Reply
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import KINDS, Case, load, sources, toml
from outspoken.authoring.shared.text import listed

from .findings import CheckedFile, Finding, Span

_NEEDED = {"ok": "a sound response", "err": "a damaged one, `cut_inside_value.txt`"}


class Read(NamedTuple):
    """A case that could be read: its file, how it is parsed, and what was read."""

    file: CheckedFile
    case: Case
    reply: Reply


def check_corpus(checkout: Checkout, name: str, grammar: CheckedFile) -> tuple[list[Read], list[Finding]]:
    """The cases of a format that can be read, and what is wrong with its files and with the cases."""
    folder = checkout.corpus / name
    found = [*_other_files(checkout, folder)]
    read: list[Read] = []
    paths = [path for path in sorted(folder.glob("*/*.txt")) if path.parent.name in KINDS]
    for kind in KINDS:
        if checkout.is_project and not any(path.parent.name == kind for path in paths):
            helps = [f"put {_NEEDED[kind]} into `{checkout.shown(folder / kind)}`, byte for byte as the model wrote it"]
            found.append(grammar.finding("no-cases", f"`{name}` has no `{kind}` case", grammar.top, helps=helps))
    for path in paths:
        file = CheckedFile.of(checkout, path)
        try:
            case = load(path)
            read.append(Read(file, case, case.parse()))
        except (ValueError, TypeError) as error:
            found.append(_unreadable(checkout, path, file, error))
    found += [finding for one in read for finding in _check_folder(one)]
    return read, [*found, *_sources(checkout, name, [path.stem for path in paths], grammar)]


def _other_files(checkout: Checkout, folder: Path) -> Iterator[Finding]:
    texts = {path.with_suffix("") for path in folder.glob("*/*.txt")}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).parts
        if path.is_dir() or place == ("sources.toml",):
            continue
        file = CheckedFile.of(checkout, path)
        if len(place) != 2 or place[0] not in KINDS or path.suffix not in (".txt", ".toml"):
            helps = ["cases are `ok/<case>.txt` and `err/<case>.txt`; what they need lies in `<case>.toml`"]
            yield file.finding("other-file", "this file has no place in the corpus", file.top, helps=helps)
        elif path.with_suffix("") not in texts:
            helps = [f"write `{path.stem}.txt`, or take this file out"]
            yield file.finding("other-file", "these options belong to no case", file.top, helps=helps)


def _unreadable(checkout: Checkout, path: Path, file: CheckedFile, error: Exception) -> Finding:
    """A case whose text or options are not what they should be."""
    if isinstance(error, UnicodeDecodeError):
        start = len(path.read_bytes()[: error.start].decode("utf-8", "backslashreplace"))
        helps = ["write it as UTF-8"]
        return file.finding("bad-case", "this case is no text", (start, start + 4), helps=helps)
    beside = CheckedFile.of(checkout, path.with_suffix(".toml"))
    helps = ["options are `prefix`, a string, and `tools`, an array of tables or a string of JSON"]
    return beside.finding(
        "bad-case", "the options of this case cannot be read", beside.top, notes=[str(error)], helps=helps
    )


def _check_folder(one: Read) -> Iterator[Finding]:
    """Check that a case is in the right folder."""
    reply, file = one.reply, one.file
    if one.case.kind == "err" and not reply.diagnostics:
        helps = ["move it to `ok`, or make sure that the damage is still in the file"]
        yield file.finding(
            "err-without-diagnostic", "an `err` case is read without a diagnostic", file.top, helps=helps
        )
    found = [d for d in reply.diagnostics if d.severity != "note"]
    if one.case.kind == "ok" and found:
        first = found[0]
        helps = ["mend the grammar, or move the case to `err` if its text is damaged"]
        more = len(found) - 1
        notes = [*first.notes[:1], *([f"and {more} more"] if more else [])]
        message = f"an `ok` case has a diagnostic: {first.message}"
        yield file.finding("ok-with-diagnostic", message, first.span, label=first.label, notes=notes, helps=helps)
    elif one.case.kind == "ok" and reply.status != "ok":
        helps = ["mend the grammar, or move the case to `err` if its text is damaged"]
        yield file.finding("ok-with-diagnostic", f"an `ok` case is `{reply.status}`", file.top, helps=helps)


def _sources(checkout: Checkout, name: str, cases: list[str], grammar: CheckedFile) -> Iterator[Finding]:
    """Check that `sources.toml` names the origin of every case, and nothing else."""
    path = checkout.corpus / name / "sources.toml"
    if not path.is_file():
        if cases and checkout.is_project:
            helps = [f'write `{checkout.shown(path)}`: a table `[{cases[0]}]` with `origin = "..."` for each case']
            message = f"nothing says where the cases of `{name}` are from"
            yield grammar.finding("no-source", message, grammar.top, helps=helps)
        return
    file = CheckedFile.of(checkout, path)
    try:
        known = sources(checkout, name)
    except ValueError as error:
        yield file.finding("bad-sources", "this file is no TOML", _toml_line(error, file), notes=[str(error)])
        return
    for case in sorted({*cases} - {*known}):
        helps = [f'add a table `[{case}]` with `origin = "..."`']
        yield file.finding("no-source", f"nothing says where the case `{case}` is from", file.top, helps=helps)
    for case, source in known.items():
        yield from _source(case, source, cases.count(case), file)


def _source(case: str, source: Any, count: int, file: CheckedFile) -> Iterator[Finding]:
    place = _table(case, file)
    if not count:
        helps = ["take it out, or rename it as the file is named"]
        yield file.finding("source-of-nothing", f"there is no case `{case}`", place, helps=helps)
    elif count > 1:
        helps = ["rename one of them"]
        yield file.finding("same-case", f"`{case}` is an `ok` case and an `err` case", place, helps=helps)
    if not _has_origin(source):
        helps = ['add `origin = "..."`: a model and when, a document, or that it is made up']
        yield file.finding("no-source", f"nothing says where the case `{case}` is from", place, helps=helps)


def _has_origin(source: Any) -> bool:
    try:
        return bool(source["origin"])
    except (TypeError, KeyError):
        return False


def _table(case: str, file: CheckedFile) -> Span:
    match = re.search(rf'^\[?"?{re.escape(case)}"?\]?', file.text, re.MULTILINE)
    return match.span() if match else file.top


def _toml_line(error: ValueError, file: CheckedFile) -> Span:
    match = re.search(r"at line (\d+)", str(error)) if isinstance(error, toml.TOMLDecodeError) else None
    return file.line(int(match[1])) if match else file.top


def names_of(cases: list[Read]) -> str:
    """The cases as a list in a sentence."""
    return listed([f"{one.case.kind}/{one.case.name}" for one in cases])
