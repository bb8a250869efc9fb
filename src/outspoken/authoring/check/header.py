"""Checks of a grammar's header and name. `outspoken.grammar.header` reads it, and says what it cannot read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from outspoken import Diagnostic
from outspoken.actions.mapping import parse_rule
from outspoken.grammar import registry
from outspoken.grammar.header import Header, examine_header
from outspoken.grammar.registry import normalized
from outspoken.results.errors import GrammarError

from .findings import CheckedGrammar, Span

#: Names that mean something else: files that Lark looks for in a folder of its own, and names of its libraries.
BANNED = frozenset({"common", "python", "lark", "unicode"})

_NEEDED = {
    "title": "a few words for lists, 40 characters at most",
    "models": "the models that write it, separated by commas",
    "source": "where it is defined: a chat template, a vendor's parser, a document",
    "example": "a response in the format, indented under `// example:`",
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TITLE = 40


def check_header(grammar: CheckedGrammar) -> tuple[Header | None, list[Diagnostic]]:
    """The header, if it can be read, and what is wrong with it."""
    found = [*_name(grammar)]
    header, problems = examine_header(grammar.source.text, grammar.source.path.parent)
    if header is None:
        found += [
            grammar.file.finding(one.code, one.span, one.message, *one.helps, label=one.label) for one in problems
        ]
        return None, found
    return header, [*found, *_fields(grammar, header), *_actions(grammar, header), *_other_formats(grammar, header)]


def _name(grammar: CheckedGrammar) -> Iterator[Diagnostic]:
    name, file = grammar.name, grammar.file
    if name in BANNED:
        helps = "name it after the family and the version at which the format changed"
        yield file.finding("banned-name", file.top, f"a grammar cannot be called `{name}`: Lark has its own", helps)
    elif not _NAME.fullmatch(name):
        helps = "a name is small letters, digits and `_`, and begins with a letter"
        yield file.finding("bad-name", file.top, f"`{name}` is no name for a format", helps)


def _span(grammar: CheckedGrammar, key: str, text: str = "") -> Span:
    """Where a text stands in a field of the header; the whole field without one, the first line without a field."""
    field = grammar.source.field(key)
    if field is None:
        return grammar.file.top
    return (text and grammar.source.find(text, field.key_span[1], field.span[1])) or field.span


def _fields(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    """What is missing, too long, or not what the file is called."""
    file, name = grammar.file, grammar.name
    for key in _NEEDED if grammar.checkout.is_project else ["example"]:
        if not getattr(header, key):
            is_there = grammar.source.field(key) is not None
            message = f"the header's `{key}` is empty" if is_there else f"the header has no `{key}`"
            yield file.finding("missing-field", _span(grammar, key), message, f"`{key}` is {_NEEDED[key]}")
    if len(header.title) > _TITLE:
        message = f"the title has {len(header.title)} characters"
        helps = f"say it in {_TITLE} characters; the rest can go to `source`"
        yield file.finding("long-title", _span(grammar, "title", header.title), message, helps)
    if header.format != name:
        message = f"the header's `format` is `{header.format}`, but the file is `{name}.lark`"
        helps = f"write `{name}` here, or call the file `{header.format}.lark`"
        yield file.finding("other-name", _span(grammar, "format", header.format), message, helps)


def _actions(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    """Actions that mean nothing in the vocabulary; those of a shared file are checked there."""
    for name, meaning in header.actions.items():
        try:
            parse_rule(name, meaning, tuple(header.arguments.items()))
        except ValueError as error:
            entry = re.compile(rf"\b{re.escape(name)}\s*=\s*{re.escape(meaning)}")
            match = entry.search(grammar.source.text, *_span(grammar, "actions"))
            yield grammar.file.finding(
                "bad-action",
                match.span() if match else _span(grammar, "actions"),
                f"the action `{name}` means nothing",
                "write `name = action(field=argument)`; `grammars/vocabulary` says which there are",
                notes=[str(error)],
            )


def _other_formats(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    """Aliases that are no names, or that mean another format or this one anyway; another format that is not there."""
    file, others = grammar.file, [name for name in grammar.checkout.names() if name != grammar.name]
    seen, taken = {grammar.name}, _taken(others) if header.aliases else {}
    for alias in header.aliases:
        span, plain_alias = _span(grammar, "aliases", alias), normalized(alias)
        if not _NAME.fullmatch(alias):
            helps = "write it in small letters, with `_` for `-` and `.`: callers may write either"
            yield file.finding("bad-alias", span, f"the alias `{alias}` is no name", helps)
        elif plain_alias in seen:
            yield file.finding("needless-alias", span, f"the alias `{alias}` says nothing new", "take it out")
        elif plain_alias in taken:
            helps = "a name means one format; leave it to one of the two"
            yield file.finding("taken-alias", span, f"the alias `{alias}` already means `{taken[plain_alias]}`", helps)
        seen.add(plain_alias)
    if header.like and header.like not in others:
        near = get_close_matches(header.like, others, 1)
        helps = f"did you mean `{near[0]}`?" if near else "name another format, or take the line out"
        yield file.finding("unknown-like", _span(grammar, "like"), f"there is no other format `{header.like}`", helps)


def _taken(others: list[str]) -> dict[str, str]:
    """The names and aliases of other formats."""
    found = {normalized(other): other for other in others}
    for other in others:
        try:
            aliases = registry.header(other).aliases
        except (GrammarError, UnicodeDecodeError):
            continue  # that is for the check of that format to say
        found = {normalized(alias): other for alias in aliases} | found
    return found
