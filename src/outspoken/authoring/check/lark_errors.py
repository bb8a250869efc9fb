"""What Lark says of a grammar that it refuses, for the author of the grammar: the place, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from lark import load_grammar
from lark.exceptions import LarkError, UnexpectedInput, VisitError

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.regex_samples import example
from outspoken.grammar.compiler import lark_of, spellings, without_collisions
from outspoken.grammar.tables import BROKEN, END, START
from outspoken.grammar.vocabulary import SPELLED_VALUES, short

from .findings import CheckedFile, Span, body_span

_LOADING: Any = load_grammar
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


class _Refusal(NamedTuple):
    """What Lark says, as a pattern; our code, message and help, with the groups of the pattern.

    If the pattern has no group `name`, `trace` is a pattern of what a mistake of this kind looks like in the file.
    """

    pattern: str
    code: str
    message: str
    help: str
    trace: str = ""


_UNDERSCORE = "one underscore says that a name is only structure, or a marker"
_NOT_EMPTY = "a terminal reads one character at least; what may be missing is `NAME?` in a rule"
_TWICE = "take one of them out; `X?` and `X*` are also nothing at all"
_RULE = "make `{name}` a rule, in small letters, or `{inner}` a terminal"
# fmt: off
_REFUSALS = (
    _Refusal(r"Bad Range for \S+ \((?P<low>\d+)\.\.(?P<high>\d+)", "bad-range",
             "something is repeated from {low} to {high} times", "the first number of a range is the smaller one",
             r"~[ ]*\d+[ ]*\.\.[ ]*\d+"),
    _Refusal("Conflicting flags for the same terminal", "mixed-flags", "the parts of a terminal have different flags",
             "give all parts the same flags, or make them terminals of their own",
             r"(?m:^_?[A-Z_0-9]+(?:\.\d+)?:[^\n]*/[imslux]+[^\n]*)"),
    _Refusal("Literal ended unexpectedly|unicode error|You cannot put newlines|You can only use newlines",
             "bad-literal", "a string or a regular expression cannot be read",
             "write a line break as `\\n` and a backslash as `\\\\`", r'"(?:[^"\\\n]|\\.)*\\"\s*$|"[^"\n]*\n'),
    _Refusal(r"Empty terminals are not allowed|Terminals cannot be empty \((?P<name>\S+)\)", "empty-terminal",
             "a terminal is empty", _NOT_EMPTY, r'""|//|(?m:^[A-Z_]+:[ ]*$)'),
    _Refusal(r"Lexer does not allow zero-width terminals\. \((?P<name>\w+):", "empty-terminal",
             "`{name}` can match nothing at all", _NOT_EMPTY),
    _Refusal(r"Cannot compile token (?P<name>\w+):[\s\S]*because of (?P<why>.+)", "bad-pattern",
             "`{name}` is no regular expression: {why}", "Python's `re` has to understand the pattern"),
    _Refusal(r"(?:Rule|Terminal) '(?P<name>\w+)' defined more than once", "defined-twice",
             "`{name}` is defined twice, or defined and imported",
             "take one of them out, or import it by another name; alternatives of one rule are separated by `|`"),
    _Refusal("Aliasing not allowed in terminals", "alias-in-terminal",
             "a terminal gives a name to an alternative with `->`", "only the alternatives of rules have names",
             r"(?m:^_?[A-Z][A-Z_0-9]*[^\n]*->[ ]*\w+)"),
    _Refusal(r"Rule (?P<name>\w+) is marked for expansion .*\(alias=(\w+)\)", "alias-of-structure",
             "`{name}` is only structure, so that its alternatives have no names",
             "take the `_` from the beginning of its name, or the `->` from its alternative"),
    _Refusal(r"Rules defined twice:[\s*<]*(?P<name>\w+)", "same-alternative",
             "`{name}` has the same alternative twice", _TWICE),
    _Refusal(r"Rules aren't allowed inside terminals \((?:NonTerminal\(')?(?P<inner>\w+)(?:'\))? in (?P<name>\w+)\)",
             "rule-in-terminal", "the terminal `{name}` is made of the rule `{inner}`", _RULE),
    _Refusal(r"Recursion in terminal '(?P<name>\w+)'", "endless-terminal", "the terminal `{name}` is made of itself",
             "nesting needs a rule, or an embedded value"),
    _Refusal(r"Inlined rules \(_rule\) cannot use the \?rule modifier", "mark-of-structure",
             "a rule that is only structure is marked with `?`",
             "take the `?` out: a rule whose name begins with `_` is always left out", r"(?m:^\?_\w+)"),
    _Refusal(r"Names starting with double-underscore are reserved \(Error at (?P<name>\w+)\)", "bad-name",
             "`{name}` begins with two underscores", _UNDERSCORE),
    _Refusal(r"Nothing was imported from grammar `(?P<file>\w+)`", "bad-import",
             "an import does not say what it imports from `{file}`",
             "name the rule or terminal, too: `%import .shared.text.TEXT`", r"(?m:^%import[^\n]*)"),
    _Refusal(r"[Nn]o such file[^:]*: '(?P<file>[^']+)'", "missing-import", "there is no file `{file}` to import from",
             "a path begins with `.`, but for Lark's own `common`", r"(?m:^%import[ \t]+(?!\.|common\b)[^\n]*)"),
    _Refusal("[Tt]emplate", "bad-template", "a template is not used as it is defined",
             "write the rule out; the grammars here use no templates", r"\b\w+\{[^}\n]*\}"),
    _Refusal("maximum recursion depth", "endless-import", "the imports of this grammar have no end",
             "two files import each other; move what both need to a third one"),
)
# fmt: on


def refusal(message: str, source: Source, file: CheckedFile) -> Diagnostic:
    """The finding for a grammar that Lark refuses, with what Lark says, although its notation is sound."""
    for known in _REFUSALS:
        if (match := re.search(known.pattern, message)) is not None:
            words = {"inner": "", "name": ""} | {k: short(v) for k, v in match.groupdict().items() if v}
            span = _span(known, words["name"], source) or file.top
            return file.finding(known.code, span, known.message.format(**words), known.help.format(**words))
    plain = re.sub(r"__ANON_\d+|\$\w+|(?:NonTerminal|Terminal|Token)\((?:'\w+', )?'(\w+)'\)", r"\1", message).strip()
    notes = [f"the loader says: {plain.splitlines()[0]}"] if plain else []
    return file.finding("grammar-refused", file.top, "this grammar cannot be loaded", _HELP, notes=notes)


def _span(known: _Refusal, name: str, source: Source) -> Span | None:
    """The definition of the name that Lark speaks of, or where a mistake of this kind can be seen."""
    definition = next((one for one in reversed(source.definitions) if one.name == name), None)
    if definition is not None:
        return body_span(definition) if definition.is_terminal and definition.body else definition.span
    trace = re.search(known.trace, source.bare) if known.trace else None
    return trace.span() if trace else None
