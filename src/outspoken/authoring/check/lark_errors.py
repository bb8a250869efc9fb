"""What Lark says of a grammar that it refuses, for the author of the grammar: the place, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lark import load_grammar
from lark.exceptions import LarkError, UnexpectedInput, VisitError

from outspoken import Diagnostic
from outspoken.authoring.shared.checkout import toml
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.compiler import lark_of, spellings, without_collisions
from outspoken.grammar.tables import BROKEN, END, START
from outspoken.grammar.vocabulary import SPELLED_VALUES, short
from outspoken.patterns.spellings import example

from .findings import CheckedFile, Span, body_span

_LOADING: Any = load_grammar
#: What Lark says of each mistake behind the notation, and what the author is told of it.
_REFUSALS = Path(__file__).with_name("refusals.toml")
_HELP = "`grammars/notation` says which part of Lark's notation is used here"

#: A short text for each terminal of the vocabulary.
_SAMPLES = {
    "TEXT": "text", "CODE": "code", "REASONING": "text", "ARG_VALUE": "1", "JSON_VALUE": "1", "JSON_OBJECT": "{}",
    "JSON_ARRAY": "[]", "JSON_STRING": '"a"', "JSON_NUMBER": "1", "JSON_BOOLEAN": "true", "JSON_NULL": "null",
    "PYTHON_VALUE": "1", "TOOL_NAME": "f", "ARG_NAME": "a", "BRACED_OBJECT": "{}", "TAGGED_OBJECT": "",
}  # fmt: skip


class Loaded(NamedTuple):
    """A grammar that Lark has loaded, without a parser: its rules and terminals, and a text for each terminal.

    `written` is what each terminal writes and reads, where its definition says so.
    """

    rules: list[Any]
    terminals: list[Any]
    written: Mapping[str, tuple[str | None, str | None]]
    texts: Mapping[str, str]


def sample(name: str, pattern: str, canonical: str = "") -> str:
    """A text for a terminal: what is written, a value that is known by its name, else an example of its pattern."""
    known = _SAMPLES.get(short(name), "")
    return known if short(name) in SPELLED_VALUES else canonical or known or example(pattern)


def starts_of(source: Source) -> list[str]:
    """The start rules that a grammar has."""
    return [start for start in (START, BROKEN) if source.definition(start)]


def load(source: Source) -> Loaded | str:
    """Load a grammar with Lark, without making its parser. If Lark refuses it, what Lark says."""
    try:
        lark: Any = lark_of(source.text, source.path, starts_of(source) or [START], parser=None, lexer="basic")
    except VisitError as error:
        return str(error.orig_exc)
    except (LarkError, OSError, RecursionError, AssertionError) as error:
        return f"{error} because of {error.__context__}" if isinstance(error.__context__, re.error) else str(error)
    written = spellings(lark)
    texts = {
        str(t.name): sample(str(t.name), str(t.pattern.to_regexp()), written.get(str(t.name), ("",))[0] or "")
        for t in lark.terminals
    }
    return Loaded(list(lark.rules), list(lark.terminals), written, {**texts, END: ""})


# the notation

#: What cannot begin anything in a grammar: what it is, and what to do.
_CHARACTERS = {
    '"': ("a string is never closed", 'a string ends on its own line; a quote in it is `\\"`'),
    "/": ("a regular expression is never closed", "it ends on its own line; a slash in it is `\\/`"),
    "_": ("a name begins with two underscores", "one underscore says that a name is only structure, or a marker"),
}
_WORD = re.compile(r"\w+")
_CLOSERS = {"_RPAR": "(", "_RBRA": "[", "_RBRACE": "{"}


def syntax(source: Source, file: CheckedFile) -> list[Diagnostic]:
    """The first mistake in a grammar's notation, if there is one."""
    try:
        with without_collisions():
            _LOADING._get_parser().parse(source.text + "\n", "start")
    except UnexpectedInput as error:
        return [_mistake(error, source, file)]
    return []


def _mistake(error: Any, source: Source, file: CheckedFile) -> Diagnostic:
    start = min(error.pos_in_stream or 0, len(source.text.rstrip()))
    token = getattr(error, "token", None)
    written = "" if token is None else str(token).strip()
    word = _WORD.match(source.text, source.text.rfind("\n", 0, start) + 1)
    if token is None:
        message, to_do = _CHARACTERS.get(error.char, (f"`{error.char}` means nothing in a grammar", _HELP))
    elif word is not None and word.start() < start < word.end():
        message = f"`{word[0]}` is neither in small letters nor in capitals"
        return file.finding("mixed-case", word.span(), message, "rules are in small letters, terminals in capitals")
    else:
        message, to_do = _misplaced(str(token.type), written, set(error.expected))
    return file.finding("grammar-syntax", (start, start + max(len(written), 1)), message, to_do)


def _misplaced(kind: str, written: str, expected: set[str]) -> tuple[str, str]:
    """The message and the help for a misplaced token."""
    closer = next((name for name in _CLOSERS if name in expected), "")
    if closer and kind in ("_NL", "$END"):
        return f"`{_CLOSERS[closer]}` is never closed", "close it on its line, or begin the next line with `|`"
    if kind in _CLOSERS:
        return f"`{written}` closes what was not opened", f"open it with `{_CLOSERS[kind]}`, or take it out"
    if "_COLON" in expected:
        return "a definition has no colon", "a definition is `name: what it is made of`"
    if kind == "OP":
        return f"`{written}` has nothing to work on", "write it once, behind a name, a string or a group"
    return (f"`{written}` has no place here" if written else "a line ends too early"), _HELP


# what is refused behind the notation


def refusal(message: str, source: Source, file: CheckedFile) -> Diagnostic:
    """The finding for a grammar that Lark refuses, with what Lark says, although its notation is sound."""
    for known in toml.loads(_REFUSALS.read_text("utf-8"))["refusal"]:
        if (match := re.search(known["pattern"], message)) is not None:
            words = {"inner": "", "name": ""} | {k: short(v) for k, v in match.groupdict().items() if v}
            span = _span(known.get("trace", ""), words["name"], source) or file.top
            return file.finding(known["code"], span, known["message"].format(**words), known["help"].format(**words))
    plain = re.sub(r"__ANON_\d+|\$\w+|(?:NonTerminal|Terminal|Token)\((?:'\w+', )?'(\w+)'\)", r"\1", message).strip()
    notes = [f"the loader says: {plain.splitlines()[0]}"] if plain else []
    return file.finding("grammar-refused", file.top, "this grammar cannot be loaded", _HELP, notes=notes)


def _span(trace: str, name: str, source: Source) -> Span | None:
    """The definition of the name that Lark speaks of, or where a mistake of this kind can be seen."""
    definition = next((one for one in reversed(source.definitions) if one.name == name), None)
    if definition is not None:
        return body_span(definition) if definition.is_terminal and definition.body else definition.span
    found = re.search(trace, source.bare) if trace else None
    return found.span() if found else None
