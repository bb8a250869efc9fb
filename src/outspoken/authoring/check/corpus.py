"""The cases of a format: whether they can be read, and whether they are read as what they should be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from outspoken import Diagnostic, Reply
from outspoken.authoring.shared.corpus import KINDS, Case, load

from .findings import CheckedFile, CheckedGrammar

_NEEDED = {"ok": "a sound response", "err": "a damaged one, `cut_inside_value.txt`"}
_OPTIONS = "options are `prefix`, a string, and `tools`, an array of tables or a string of JSON"


class Read(NamedTuple):
    """A case that could be read: its file, how it is parsed, and what was read."""

    file: CheckedFile
    case: Case
    reply: Reply


def check_corpus(grammar: CheckedGrammar) -> tuple[list[Read], list[Diagnostic]]:
    """The cases of a format that can be read, and what is wrong with them."""
    checkout, found, read = grammar.checkout, list[Diagnostic](), list[Read]()
    folder = checkout.corpus / grammar.name
    paths = [path for path in sorted(folder.glob("*/*.txt")) if path.parent.name in KINDS]
    for kind in KINDS if checkout.is_project else ():
        if not any(path.parent.name == kind for path in paths):
            helps = f"put {_NEEDED[kind]} into `{checkout.shown(folder / kind)}`, byte for byte as the model wrote it"
            message = f"`{grammar.name}` has no `{kind}` case"
            found.append(grammar.file.finding("no-cases", grammar.file.top, message, helps))
    for path in paths:
        file = CheckedFile.of(checkout, path)
        try:
            case = load(path)
            read.append(Read(file, case, case.parse()))
        except (ValueError, TypeError) as error:
            found.append(_unreadable(grammar, path, file, error))
    return read, [*found, *[one for case in read for one in _check_folder(case)]]


def _unreadable(grammar: CheckedGrammar, path: Path, file: CheckedFile, error: Exception) -> Diagnostic:
    """A case whose text or options are not what they should be."""
    if isinstance(error, UnicodeDecodeError):
        return file.finding("bad-case", file.top, f"this case is no text: {error}", "write it as UTF-8")
    options, line = path.with_suffix(".toml"), re.search(r"at line (\d+)", str(error))
    beside = CheckedFile.of(grammar.checkout, options) if options.is_file() else file
    span, message = beside.line(int(line[1]) if line else 1), "the options of this case cannot be read"
    return beside.finding("bad-case", span, message, _OPTIONS, notes=[str(error)])


def _check_folder(one: Read) -> Iterator[Diagnostic]:
    """Check that a case is in the right folder."""
    reply, file = one.reply, one.file
    if one.case.kind == "err" and not reply.diagnostics:
        message = "an `err` case is read without a diagnostic"
        helps = "move it to `ok`, or make sure that the damage is still in the file"
        yield file.finding("err-without-diagnostic", file.top, message, helps)
    wrong = [diagnostic for diagnostic in reply.diagnostics if diagnostic.severity != "note"]
    if one.case.kind == "ok" and (wrong or reply.status != "ok"):
        helps = "mend the grammar, or move the case to `err` if its text is damaged"
        span, message, label, notes = file.top, f"an `ok` case is `{reply.status}`", "", list[str]()
        if wrong:
            first, more = wrong[0], len(wrong) - 1
            span, message, label = first.span, f"an `ok` case has a diagnostic: {first.message}", first.label
            notes = [*first.notes[:1], *([f"and {more} more"] if more else [])]
        yield file.finding("ok-with-diagnostic", span, message, helps, label=label, notes=notes)
