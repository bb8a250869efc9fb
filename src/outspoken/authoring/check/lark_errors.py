"""Errors of Lark's loader, translated for the author of a grammar, with their places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from lark import Lark, load_grammar
from lark.exceptions import LarkError, UnexpectedInput, VisitError

from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.compiler import imported, spellings, without_collisions
from outspoken.grammar.tables import BROKEN, START
from outspoken.grammar.vocabulary import short

from .findings import CheckedFile, Finding, Span
from .terminal_examples import samples

_LOADING: Any = load_grammar
_HELP = "`grammars/notation` says which part of Lark's notation is used here"


class Loaded(NamedTuple):
    """A grammar that Lark has loaded, without a parser: its rules and terminals, and a text for each terminal.

    `written` is what each terminal writes and reads, where its definition says so.
    """

    rules: list[Any]
    terminals: list[Any]
    written: Mapping[str, tuple[str | None, str | None]]
    texts: Mapping[str, str]


class LoadError(NamedTuple):
    """Why Lark rejects a grammar."""

    message: str


def starts_of(source: Source) -> list[str]:
    """The start rules that a grammar has."""
    return [start for start in (START, BROKEN) if source.definition(start)]


def load(source: Source) -> Loaded | LoadError:
    """Load a grammar with Lark, without making its parser."""
    starts = starts_of(source)
    try:
        with without_collisions():
            lark: Any = Lark(
                source.text,
                parser=None,
                lexer="basic",
                source_path=str(source.path),
                import_paths=[imported],
                maybe_placeholders=False,
                start=starts or [START],
            )
    except VisitError as error:
        return LoadError(str(error.orig_exc))
    except (LarkError, OSError, RecursionError, AssertionError) as error:
        return LoadError(str(error))
    canonical = spellings(lark)
    patterns = {
        str(t.name): (str(t.pattern.to_regexp()), canonical.get(str(t.name), (None, None))[0] or "")
        for t in lark.terminals
    }
    return Loaded(list(lark.rules), list(lark.terminals), canonical, samples(patterns))


# syntax

#: What cannot begin anything in a grammar: what it is, and what to do.
_CHARACTERS = {
    '"': ("a string is never closed", 'a string ends on its own line; a quote in it is `\\"`'),
    "/": ("a regular expression is never closed", "it ends on its own line; a slash in it is `\\/`"),
    "_": ("a name begins with two underscores", "one underscore says that a name is only structure, or a marker"),
}
_WORD = re.compile(r"\w+")
_CLOSERS = {"_RPAR": "(", "_RBRA": "[", "_RBRACE": "{"}


def syntax(source: Source, file: CheckedFile) -> list[Finding]:
    """The first mistake in a grammar's notation, if there is one."""
    try:
        _LOADING._get_parser().parse(source.text + "\n", "start")
    except UnexpectedInput as error:
        return [_mistake(error, source, file)]
    return []


def _mistake(error: Any, source: Source, file: CheckedFile) -> Finding:
    start = min(error.pos_in_stream or 0, len(source.text.rstrip()))
    token = getattr(error, "token", None)
    token_text = "" if token is None else str(token).strip()
    word = _WORD.match(source.text, source.text.rfind("\n", 0, start) + 1)
    if token is None:
        what, to_do = _CHARACTERS.get(error.char, (f"`{error.char}` means nothing in a grammar", _HELP))
    elif word is not None and word.start() < start < word.end():
        helps = ["rules are in small letters, terminals in capitals"]
        message = f"`{word[0]}` is neither in small letters nor in capitals"
        return file.finding("mixed-case", message, word.span(), helps=helps)
    else:
        what, to_do = _misplaced(str(token.type), token_text, set(error.expected))
    return file.finding("grammar-syntax", what, (start, start + max(len(token_text), 1)), helps=[to_do])


def _misplaced(kind: str, token_text: str, expected: set[str]) -> tuple[str, str]:
    """The message and the help for a misplaced token."""
    closer = next((name for name in _CLOSERS if name in expected), "")
    if closer and kind in ("_NL", "$END"):
        return f"`{_CLOSERS[closer]}` is never closed", "close it on its line, or begin the next line with `|`"
    if kind in _CLOSERS:
        return f"`{token_text}` closes what was not opened", f"open it with `{_CLOSERS[kind]}`, or take it out"
    if "_COLON" in expected:
        return "a definition has no colon", "a definition is `name: what it is made of`"
    if kind == "OP":
        return f"`{token_text}` has nothing to work on", "write it once, behind a name, a string or a group"
    if not token_text:
        return "a line ends too early", _HELP
    return f"`{token_text}` has no place here", _HELP


# what is refused behind the notation


@dataclass(frozen=True)
class _KnownError:
    """Lark's message as a pattern; our code and message; which group is the name to show, and what to do."""

    pattern: str
    code: str
    message: str
    help: str
    label: str = ""


_KNOWN_ERRORS = (
    _KnownError(
        r"Bad Range for (\S+) \((\d+)\.\.(\d+)",
        "bad-range",
        "something is repeated from {2} to {3} times",
        "the first number of a range is the smaller one",
    ),
    _KnownError(
        r"Conflicting flags for the same terminal: .*",
        "mixed-flags",
        "the parts of a terminal have different flags",
        "give all parts the same flags, or make them terminals of their own",
    ),
    _KnownError(
        r"Literal ended unexpectedly|unicode error|You cannot put newlines|You can only use newlines",
        "bad-literal",
        "a string or a regular expression cannot be read",
        "write a line break as `\\n` and a backslash as `\\\\`",
    ),
    _KnownError(
        r"Empty terminals are not allowed|Terminals cannot be empty \((?P<name>\S+)\)",
        "empty-terminal",
        "a terminal is empty",
        "a terminal reads one character at least; what may be missing is `NAME?` in a rule",
    ),
    _KnownError(
        r"Lexer does not allow zero-width terminals\. \((?P<name>\w+):",
        "empty-terminal",
        "`{name}` can match nothing at all",
        "a terminal reads one character at least; what may be missing is `NAME?` in a rule",
        "this can be empty",
    ),
    _KnownError(
        r"Cannot compile token (?P<name>\w+):",
        "bad-pattern",
        "`{name}` is no regular expression",
        "Python's `re` has to understand the pattern",
        "not understood",
    ),
    _KnownError(
        r"Aliasing not allowed in terminals",
        "alias-in-terminal",
        "a terminal gives a name to an alternative with `->`",
        "only the alternatives of rules have names",
    ),
    _KnownError(
        r"Rule (?P<name>\w+) is marked for expansion .*\(alias=(\w+)\)",
        "alias-of-structure",
        "`{name}` is only structure, so that its alternatives have no names",
        "take the `_` from the beginning of its name, or the `->` from its alternative",
    ),
    _KnownError(
        r"Rules defined twice:[\s*<]*(?P<name>\w+)",
        "same-alternative",
        "`{name}` has the same alternative twice",
        "take one of them out; `X?` and `X*` are also nothing at all",
    ),
    _KnownError(
        r"Rules aren't allowed inside terminals \((?:NonTerminal\(')?(?P<inner>\w+)(?:'\))? in (?P<name>\w+)\)",
        "rule-in-terminal",
        "the terminal `{name}` is made of the rule `{inner}`",
        "make `{name}` a rule, in small letters, or `{inner}` a terminal",
    ),
    _KnownError(
        r"Recursion in terminal '(?P<name>\w+)'",
        "endless-terminal",
        "the terminal `{name}` is made of itself",
        "nesting needs a rule, or an embedded value",
    ),
    _KnownError(
        r"Inlined rules \(_rule\) cannot use the \?rule modifier",
        "mark-of-structure",
        "a rule that is only structure is marked with `?`",
        "take the `?` out: a rule whose name begins with `_` is always left out",
    ),
    _KnownError(
        r"Names starting with double-underscore are reserved \(Error at (?P<name>\w+)\)",
        "bad-name",
        "`{name}` begins with two underscores",
        "one underscore says that a name is only structure, or a marker",
    ),
    _KnownError(
        r"Nothing was imported from grammar `(?P<file>\w+)`",
        "bad-import",
        "an import does not say what it imports from `{file}`",
        "name the rule or terminal, too: `%import .shared.text.TEXT`",
    ),
    _KnownError(
        r"No such file or directory: '(?P<file>[^']+)'",
        "missing-import",
        "there is no file `{file}` to import from",
        "a path begins with `.`, but for Lark's own `common`",
    ),
    _KnownError(
        r"[Tt]emplate",
        "bad-template",
        "a template is not used as it is defined",
        "write the rule out; the grammars here use no templates",
    ),
    _KnownError(
        r"maximum recursion depth",
        "endless-import",
        "the imports of this grammar have no end",
        "two files import each other; move what both need to a third one",
    ),
)


def load_error_finding(error: LoadError, source: Source, file: CheckedFile) -> Finding:
    """The finding for a grammar that Lark rejects although its notation is sound."""
    for known in _KNOWN_ERRORS:
        match = re.search(known.pattern, error.message)
        if match is not None:
            return _known_finding(known, match, source, file)
    plain = re.sub(r"__ANON_\d+|\$\w+|(?:NonTerminal|Terminal|Token)\((?:'\w+', )?'(\w+)'\)", r"\1", error.message)
    first = plain.strip().splitlines()[0] if plain.strip() else ""
    notes = [f"the loader says: {first}"] if first else []
    return file.finding("grammar-refused", "this grammar cannot be loaded", file.top, notes=notes, helps=[_HELP])


def _known_finding(known: _KnownError, match: re.Match[str], source: Source, file: CheckedFile) -> Finding:
    groups = {key: short(value) for key, value in match.groupdict().items() if value}
    name = groups.get("name", "")
    numbered = [match[0], *[group or "" for group in match.groups()]]
    words: dict[str, str] = {"inner": "", **groups, "name": name}
    return file.finding(
        known.code,
        known.message.format(*numbered, **words),
        _place(known, match, name, source) or file.top,
        label=known.label,
        helps=[known.help.format(*numbered, **words)],
    )


#: Where to look for a mistake whose rule Lark does not name.
_TRACES = {
    "bad-literal": r'"(?:[^"\\\n]|\\.)*\\"\s*$|"[^"\n]*\n',
    "empty-terminal": r'""|//|(?m:^[A-Z_]+:[ ]*$)',
    "alias-in-terminal": r"(?m:^_?[A-Z][A-Z_0-9]*[^\n]*->[ ]*\w+)",
    "mark-of-structure": r"(?m:^\?_\w+)",
    "missing-import": r"(?m:^%import[ \t]+(?!\.|common\b)[^\n]*)",
    "bad-import": r"(?m:^%import[^\n]*)",
    "bad-template": r"\b\w+\{[^}\n]*\}",
    "bad-range": r"~[ ]*\d+[ ]*\.\.[ ]*\d+",
    "mixed-flags": r"(?m:^_?[A-Z_0-9]+(?:\.\d+)?:[^\n]*/[imslux]+[^\n]*)",
}


def _place(known: _KnownError, match: re.Match[str], name: str, source: Source) -> Span | None:
    """The definition of the name that Lark speaks of, or where a mistake of this kind can be seen."""
    definition = source.definition(name) if name else None
    if definition is not None:
        start, end = definition.span
        return (end - len(definition.body), end) if definition.is_terminal and definition.body else (start, end)
    trace = re.search(_TRACES[known.code], source.bare) if known.code in _TRACES else None
    return trace.span() if trace else None
