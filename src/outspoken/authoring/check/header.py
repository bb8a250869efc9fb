"""Checks of a grammar's header and name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from difflib import get_close_matches
from typing import get_args

from outspoken.actions.mapping import parse_rule
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Field, Source
from outspoken.authoring.shared.text import listed
from outspoken.grammar.header import Header, read_header
from outspoken.grammar.registry import normalized
from outspoken.results.errors import GrammarError
from outspoken.results.geometry import Space

from .findings import CheckedFile, Finding, Span

#: Names that mean something else: files that Lark looks for in a folder of its own, and names of its libraries.
BANNED = frozenset({"common", "python", "lark", "unicode"})

_KNOWN = tuple([field.name for field in fields(Header)])
_NEEDED = {
    "title": "a few words for lists, 40 characters at most",
    "models": "the models that write it, separated by commas",
    "source": "where it is defined: a chat template, a vendor's parser, a document",
    "example": "a response in the format, indented under `// example:`",
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TITLE = 40


def check_header(checkout: Checkout, source: Source, file: CheckedFile) -> tuple[Header | None, list[Finding]]:
    """The header, where it can be read, and what is wrong with it."""
    name = source.path.stem
    found = [*_names(source, file), *_structure(source, file)]
    try:
        header = read_header(source.text, file.shown, source.path.parent)
    except GrammarError as error:
        return None, found or [_unreadable(error, file)]
    needed = _NEEDED if checkout.is_project else {"example": _NEEDED["example"]}
    found += [*_missing(header, needed, source, file), *_values(header, source, file)]
    if header.format != name:
        found.append(_other_name(header.format, source, file))
    found += _aliases(checkout, header, source, file)
    found += _like(checkout, header, source, file)
    return header, found


def _names(source: Source, file: CheckedFile) -> Iterator[Finding]:
    name = source.path.stem
    if name in BANNED:
        helps = ["name it after the family and the version at which the format changed"]
        yield file.finding(
            "banned-name", f"a grammar cannot be called `{name}`: Lark has its own", file.top, helps=helps
        )
    elif not _NAME.fullmatch(name):
        helps = ["a name is small letters, digits and `_`, and begins with a letter"]
        yield file.finding("bad-name", f"`{name}` is no name for a format", file.top, helps=helps)


def _structure(source: Source, file: CheckedFile) -> Iterator[Finding]:
    """Fields that are unknown or there twice, lines that are no fields, no format."""
    seen: dict[str, Field] = {}
    for field in source.fields:
        if field.key not in _KNOWN:
            near = get_close_matches(field.key.lower(), _KNOWN, 1)
            helps = [f"did you mean `{near[0]}`?" if near else f"fields are {listed(_KNOWN, most=20)}"]
            yield file.finding("unknown-field", f"the header has no field `{field.key}`", field.key_span, helps=helps)
        elif field.key in seen:
            helps = ["join them, or take one out"]
            first = file.text.count("\n", 0, seen[field.key].span[0]) + 1
            yield file.finding(
                "duplicate-field",
                f"the header has `{field.key}` twice",
                field.key_span,
                label=f"the first one is in line {first}",
                helps=helps,
            )
        seen.setdefault(field.key, field)
    if "format" not in seen:
        helps = [f"the first line is `// format:  {source.path.stem}`"]
        yield file.finding("missing-field", "the header has no `format`", file.top, helps=helps)


def _unreadable(error: GrammarError, file: CheckedFile) -> Finding:
    """What `read_header` refuses: a value or a line."""
    return file.finding("bad-header", error.message, file.line(error.line), helps=error.helps)


def _missing(header: Header, needed: dict[str, str], source: Source, file: CheckedFile) -> Iterator[Finding]:
    for key, meaning in needed.items():
        field = source.field(key)
        if not getattr(header, key):
            what = f"the header's `{key}` is empty" if field else f"the header has no `{key}`"
            place = field.span if field else file.top
            yield file.finding("missing-field", what, place, helps=[f"`{key}` is {meaning}"])
    title = source.field("title")
    if title is not None and len(header.title) > _TITLE:
        place = source.find(header.title, *title.span) or title.span
        helps = [f"say it in {_TITLE} characters; the rest can go to `source`"]
        yield file.finding("long-title", f"the title has {len(header.title)} characters", place, helps=helps)


def _values(header: Header, source: Source, file: CheckedFile) -> Iterator[Finding]:
    """The space of coordinates and the meanings of actions."""
    spaces: tuple[str, ...] = get_args(Space)
    field = source.field("space")
    if field is not None and header.space not in spaces:
        place = source.find(header.space, *field.span) or field.span
        helps = [f"`space` is {listed(spaces, 'or', 20)}"]
        yield file.finding("bad-header", f"there is no space of coordinates `{header.space}`", place, helps=helps)
    field = source.field("actions")
    for name, meaning in header.actions.items() if field is not None else ():
        try:
            parse_rule(name, meaning, tuple(header.arguments.items()))
        except ValueError as error:
            place = _entry(name, meaning, source, field.span if field else file.top)
            helps = ["write `name = action(field=argument)`; `grammars/vocabulary` says which there are"]
            yield file.finding(
                "bad-action", f"the action `{name}` means nothing", place, notes=[str(error)], helps=helps
            )


def _entry(name: str, meaning: str, source: Source, within: Span) -> Span:
    match = re.compile(rf"\b{re.escape(name)}\s*=\s*{re.escape(meaning)}").search(source.text, *within)
    return match.span() if match else within


def _other_name(declared: str, source: Source, file: CheckedFile) -> Finding:
    field = source.field("format")
    place = (source.find(declared, field.key_span[1], field.span[1]) if field else None) or file.top
    name = source.path.stem
    return file.finding(
        "other-name",
        f"the header's `format` is `{declared}`, but the file is `{name}.lark`",
        place,
        helps=[f"write `{name}` here, or call the file `{declared}.lark`"],
    )


def _aliases(checkout: Checkout, header: Header, source: Source, file: CheckedFile) -> Iterator[Finding]:
    """Aliases that are no names, or that mean another format, or this one anyway."""
    field = source.field("aliases")
    taken = _taken(checkout, source.path.stem) if header.aliases else {}
    seen: set[str] = set()
    for alias in header.aliases:
        place = (source.find(alias, field.key_span[1], field.span[1]) if field else None) or file.top
        if not _NAME.fullmatch(alias):
            helps = ["write it in small letters, with `_` for `-` and `.`: callers may write either"]
            yield file.finding("bad-alias", f"the alias `{alias}` is no name", place, helps=helps)
        elif normalized(alias) == source.path.stem or normalized(alias) in seen:
            helps = ["take it out"]
            yield file.finding("needless-alias", f"the alias `{alias}` says nothing new", place, helps=helps)
        elif normalized(alias) in taken:
            helps = ["a name means one format; leave it to one of the two"]
            other = taken[normalized(alias)]
            yield file.finding("taken-alias", f"the alias `{alias}` already means `{other}`", place, helps=helps)
        seen.add(normalized(alias))


def _like(checkout: Checkout, header: Header, source: Source, file: CheckedFile) -> Iterator[Finding]:
    """A format that this one is said to be like, and that is not there."""
    if not header.like or (header.like in checkout.names() and header.like != source.path.stem):
        return
    field = source.field("like")
    near = get_close_matches(header.like, [name for name in checkout.names() if name != source.path.stem], 1)
    helps = [f"did you mean `{near[0]}`?" if near else "name another format, or take the line out"]
    place = field.span if field else file.top
    yield file.finding("unknown-like", f"there is no other format `{header.like}`", place, helps=helps)


def _taken(checkout: Checkout, name: str) -> dict[str, str]:
    """The names and aliases of all other formats."""
    found: dict[str, str] = {normalized(other): other for other in checkout.names() if other != name}
    for other in list(found.values()):
        try:
            header = read_header(checkout.grammar(other).read_text("utf-8"), str(checkout.grammar(other)))
        except (GrammarError, UnicodeDecodeError):
            continue  # that is for the check of that format to say
        for alias in header.aliases:
            found.setdefault(normalized(alias), other)
    return found
