"""Checks of a grammar file as text: names, undefined and unused definitions, markers, size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import QUOTED, Definition, Source
from outspoken.authoring.shared.text import listed
from outspoken.grammar.tables import BROKEN, START
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS, is_meaningful, short

from .findings import CheckedFile, Finding

STARTS = frozenset({START, BROKEN})
MOST_LINES = 70

#: What Lark's own grammars define that ours import.
_LARKS_OWN = frozenset({"WS"})
#: What stands for one character in a regular expression: an escape, a class of characters.
_SOLID = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_IGNORED = re.compile(rf"^%ignore[ \t]+({QUOTED.pattern})", re.MULTILINE)
_UNBOUNDED = re.compile(r"[*+]|,\}")


def check_file(checkout: Checkout, source: Source, file: CheckedFile) -> list[Finding]:
    """The problems of a grammar file or a shared one, read as text."""
    missing = [*_imports(checkout, source, file)]
    found = [
        *_lines(file),
        *_duplicates(source, file),
        *(missing or _undefined(checkout, source, file)),
        *_names(source, file),
        *_literals(source, file),
        *_repetitions(source, file),
        *_patterns(source, file),
    ]
    return sorted(found, key=lambda finding: finding.diagnostic.span)


# the file


def _lines(file: CheckedFile) -> Iterator[Finding]:
    lines = file.text.splitlines()
    if len(lines) > MOST_LINES:
        helps = ["move what other formats have, too, to `grammars/shared`, and import it"]
        place = file.line(MOST_LINES + 1)
        yield file.finding(
            "long-file", f"the file has {len(lines)} lines, {MOST_LINES} is the most", place, helps=helps
        )
    at = 0
    for line in file.text.splitlines(keepends=True):
        text = line.rstrip("\r\n")
        bare = text.rstrip()
        if "\t" in bare:
            tab = at + bare.index("\t")
            yield file.finding("tab", "a line has a tab in it", (tab, tab + 1), helps=["write blanks, or `\\t`"])
        if bare != text:
            yield file.finding(
                "blank-end", "a line ends in blanks", (at + len(bare), at + len(text)), helps=["take them out"]
            )
        at += len(line)


# what is defined, imported and used


def _duplicates(source: Source, file: CheckedFile) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for definition in source.definitions:
        name, line = definition.name, file.text.count("\n", 0, definition.span[0]) + 1
        if name in first:
            place = source.find(name, *definition.span) or definition.span
            helps = ["take one of them out; alternatives of one rule are separated by `|`"]
            label = f"the first time is in line {first[name]}"
            yield file.finding("defined-twice", f"`{name}` is defined twice", place, label=label, helps=helps)
        first.setdefault(name, line)
    for imported in source.imports:
        if imported.known_as in first:
            helps = [f"take one of them out, or import it by another name: `-> MY_{imported.name.strip('_')}`"]
            label = f"it is defined in line {first[imported.known_as]}"
            message = f"`{imported.known_as}` is imported and defined"
            yield file.finding("defined-twice", message, imported.span, label=label, helps=helps)


def _imports(checkout: Checkout, source: Source, file: CheckedFile) -> Iterator[Finding]:
    for imported in source.imports:
        path = source.imported_file(imported)
        if path is None:
            continue
        if not path.is_file():
            near = get_close_matches(imported.module, [p.stem for p in path.parent.glob("*.lark")], 1)
            helps = [f"did you mean `{near[0]}`?" if near else "a path begins with `.` and ends in the imported name"]
            message = f"there is no file `{checkout.shown(path)}` to import from"
            yield file.finding("missing-import", message, imported.span, helps=helps)
            continue
        shared = Source.of(path)
        known = [definition.name for definition in shared.definitions]
        if imported.name not in known and shared.resolve(imported.name) is None:
            near = get_close_matches(imported.name, known, 1)
            helps = [f"did you mean `{near[0]}`?" if near else f"it defines {listed(known)}"]
            message = f"`{checkout.shown(path)}` defines no `{imported.name}`"
            yield file.finding("missing-import", message, imported.span, helps=helps)


def _undefined(checkout: Checkout, source: Source, file: CheckedFile) -> Iterator[Finding]:
    known = {d.name for d in source.definitions} | {i.known_as for i in source.imports}
    reported: set[str] = set()
    for definition in source.written:
        for name, span in source.words(definition):
            if name not in known | reported and not _is_parameter(name, definition, file):
                reported.add(name)
                helps = [_where_from(checkout, source, name, known)]
                yield file.finding("undefined", f"`{name}` is not defined", span, helps=helps)
    for override in source.overrides:
        if override.name not in known | reported:
            place = source.find(override.name, *override.span) or override.span
            helps = [f"import it together with the rules that use it: `(tool_call, {override.name})`"]
            yield file.finding("undefined", f"`{override.name}` is overridden, but not imported", place, helps=helps)
    for name in source.ignored:
        if name not in known | reported:
            place = source.find(name, source.text.index("%ignore")) or file.top
            helps = [f"`%import common.{name}`" if name in _LARKS_OWN else f"define `{name}`"]
            yield file.finding("undefined", f"`{name}` is ignored, but not defined", place, helps=helps)


def _is_parameter(name: str, definition: Definition, file: CheckedFile) -> bool:
    """Whether a name is the parameter of a template."""
    head = file.text[definition.span[0] : definition.span[1] - len(definition.body)]
    return name in re.findall(r"\w+", head.partition("{")[2])


def _where_from(checkout: Checkout, source: Source, name: str, known: set[str]) -> str:
    """What to do about a name that is not defined."""
    near = get_close_matches(name, sorted(known), 1)
    if near and near[0].strip("_s") == name.strip("_s"):
        return f"did you mean `{near[0]}`?"
    for path in sorted((checkout.grammars / "shared").glob("*.lark")):
        if path != source.path and Source.of(path).definition(name):
            lead = "." if path.parent == source.path.parent else ".shared."
            return f"`%import {lead}{path.stem}.{name}`"
    return f"did you mean `{near[0]}`?" if near else "define it in this file, or import it"


def unused(source: Source, file: CheckedFile, wanted: frozenset[str] = STARTS) -> list[Finding]:
    """What nothing leads to from the wanted rules, or from what is ignored."""
    if START in wanted and source.definition(START) is None:
        helps = [f"begin with `{START}: (TEXT | tool_call)*`"]
        return [file.finding("no-start", f"the grammar has no rule `{START}`", file.top, helps=helps)]
    reached = _reached(source, wanted)
    found: list[Finding] = []
    for definition in source.definitions:
        if definition.name not in reached:
            place = source.find(definition.name, *definition.span) or definition.span
            kind = "terminal" if definition.is_terminal else "rule"
            helps = [f"use it in a rule that `{START}` leads to, or take it out"]
            found.append(file.finding("unused", f"nothing uses the {kind} `{definition.name}`", place, helps=helps))
    for imported in source.imports:
        if imported.known_as not in reached:
            helps = ["take it out of the import"]
            found.append(
                file.finding("unused", f"`{imported.known_as}` is imported and not used", imported.span, helps=helps)
            )
    return found


def _reached(source: Source, wanted: frozenset[str]) -> set[str]:
    overridden = [name for override in source.overrides for name in (override.name, *override.uses)]
    waiting, reached = [*wanted, *source.ignored, *overridden], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [use for d in source.definitions if d.name == name for use in d.uses]
    return reached


# names


def _names(source: Source, file: CheckedFile) -> Iterator[Finding]:
    for definition in source.definitions:
        name = definition.name
        place = source.find(name, *definition.span) or definition.span
        if definition.is_terminal:
            if not name.startswith("_") and not is_meaningful(short(name)):
                helps = [f"call it `_{name}`, or {_nearest(name, _TERMINALS)}"]
                message = f"`{name}` is a marker, and its name does not begin with `_`"
                yield file.finding("marker-name", message, place, helps=helps)
        elif not (name.startswith("_") or name in STARTS or is_meaningful(name) or definition.aliases):
            helps = [f"call it `_{name}` if it is only structure, or {_nearest(name, _RULES)}"]
            yield file.finding("meaningless-name", f"`{name}` is no rule of the vocabulary", place, helps=helps)
        for alias in definition.aliases:
            if not is_meaningful(alias):
                place = source.find(alias, *definition.span) or definition.span
                helps = [f"take the `-> {alias}` out, or {_nearest(alias, _RULES)}"]
                yield file.finding("meaningless-name", f"`{alias}` is no rule of the vocabulary", place, helps=helps)


_RULES = sorted(NODES | FIELDS)
_TERMINALS = sorted(FREE_TEXT | EMBEDDED_VALUES | TOKENS)


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name.strip("_"), known, 1)
    return f"take `{near[0]}`" if near else "take a name of the vocabulary in `grammars/vocabulary`"


# markers


def _literals(source: Source, file: CheckedFile) -> Iterator[Finding]:
    """Strings and regular expressions in rules: they have no name to be written or spoken of."""
    for match in _IGNORED.finditer(source.bare):
        helps = [f"define a terminal and name it here: `_NAME: {match[1]}`"]
        yield file.finding("unnamed-marker", "what is ignored has no name", match.span(1), helps=helps)
    for definition in source.written:
        if definition.is_terminal:
            continue
        end = definition.span[1]
        for match in QUOTED.finditer(source.bare, end - len(definition.body), end):
            helps = [f"define a terminal and name it here: `_NAME: {match[0]}`"]
            message = f"a marker in `{definition.name}` has no name"
            yield file.finding("unnamed-marker", message, match.span(), helps=helps)


def _repetitions(source: Source, file: CheckedFile) -> Iterator[Finding]:
    """What may still grow is looked at again with every chunk: without a limit, a stream takes quadratic time."""
    for definition in source.written:
        if not definition.is_terminal or definition.name in FREE_TEXT | EMBEDDED_VALUES:
            continue
        start = definition.span[1] - len(definition.body)
        for at in _UNBOUNDED.finditer(QUOTED.sub(_pattern, definition.body)):
            yield file.finding(
                "unbounded-repeat",
                f"the marker `{definition.name}` has a repetition without a limit",
                (start + at.start(), start + at.end()),
                notes=["what may still grow is looked at again with every chunk of a stream"],
                helps=["give it a limit: `{0,99}`"],
            )


def _patterns(source: Source, file: CheckedFile) -> Iterator[Finding]:
    """Regular expressions that Python cannot read."""
    for definition in source.written:
        if _is_expression(_whole(source, definition)):
            continue
        for match in QUOTED.finditer(source.bare, definition.span[1] - len(definition.body), definition.span[1]):
            pattern = match[0][1 : match[0].rfind("/")] if match[0].startswith("/") else ""
            try:
                re.compile(pattern)
            except re.error as error:
                yield file.finding(
                    "bad-pattern",
                    f"`{definition.name}` is no regular expression",
                    match.span(),
                    label=error.msg,
                    helps=["Python's `re` has to understand the pattern"],
                )


def _whole(source: Source, definition: Definition) -> str:
    """The expression that the pieces of a definition make, with a character for each other terminal in it."""
    body = source.bare[definition.span[1] - len(definition.body) : definition.span[1]]
    found: list[str] = []
    at = 0
    for match in QUOTED.finditer(body):
        piece = match[0]
        found.append(re.sub(r"\w+", "x", body[at : match.start()]))
        found.append(piece[1 : piece.rfind("/")] if piece.startswith("/") else re.escape(piece[1 : piece.rfind('"')]))
        at = match.end()
    return "".join([*found, re.sub(r"\w+", "x", body[at:])])


def _is_expression(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _pattern(match: re.Match[str]) -> str:
    """A string as blanks, a regular expression with blanks for its classes and escapes."""
    return _SOLID.sub(lambda m: "x" * len(m[0]), match[0]) if match[0].startswith("/") else " " * len(match[0])
