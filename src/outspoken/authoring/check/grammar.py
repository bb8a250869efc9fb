"""Checks of a loaded grammar: notation, patterns, endless rules and conflicts."""

from __future__ import annotations

from collections.abc import Iterator

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.compiler import terminal_of
from outspoken.grammar.tables import START
from outspoken.grammar.vocabulary import short
from outspoken.patterns.analysis import UnsafePatternError
from outspoken.results.errors import GrammarError

from .conflicts import conflict_findings
from .findings import CheckedFile, Finding
from .lark_errors import Loaded, LoadError, load, load_error_finding, starts_of, syntax
from .rules import check_file, unused

#: What the text of a file already says where Lark would refuse it.
_SAID = frozenset({"defined-twice", "missing-import", "undefined", "bad-pattern"})


def check_grammar(checkout: Checkout, source: Source, file: CheckedFile) -> list[Finding]:
    """The problems of the rules and terminals of a grammar."""
    found = [mistake for one in files(source) for mistake in syntax(one, CheckedFile.of_source(checkout, one))]
    if found:
        return found
    found = check_file(checkout, source, file)
    if any(finding.diagnostic.code in _SAID for finding in found):
        return found
    found += unused(source, file)
    if source.definition(START) is None:
        return found
    loaded = load(source)
    if isinstance(loaded, LoadError):
        return [*found, load_error_finding(loaded, source, file)]
    found += _patterns(checkout, source, loaded)
    found += _endless(source, file, loaded)
    if any(finding.diagnostic.code == "endless-rule" for finding in found):
        return found
    return [*found, *conflict_findings(checkout, source, loaded.rules, starts_of(source), loaded.texts)]


def files(source: Source) -> list[Source]:
    """A grammar and all files that it imports, directly or through others, that are there."""
    found = {source.path: source}
    for known in (waiting := [source]):
        for imported in known.imports:
            path = known.imported_file(imported)
            if path is not None and path not in found and path.is_file():
                found[path] = Source.of(path)
                waiting.append(found[path])
    return list(found.values())


def _patterns(checkout: Checkout, source: Source, loaded: Loaded) -> Iterator[Finding]:
    """Markers that cannot be read in a stream."""
    reported: set[tuple[str, str]] = set()
    for definition in loaded.terminals:
        name = str(definition.name)
        try:
            terminal_of(name, definition, loaded.written.get(name), "")
        except GrammarError as error:
            home = source.resolve(name)
            if home is None or not isinstance(error.__cause__, UnsafePatternError):
                raise
            defined_in, known = home
            if (str(defined_in.path), known.name) in reported:
                continue
            reported.add((str(defined_in.path), known.name))
            span = known.span[1] - len(known.body), known.span[1]
            yield CheckedFile.of_source(checkout, defined_in).finding(
                "unsafe-pattern",
                f"`{short(name)}` cannot be read in a stream",
                span,
                notes=[str(error.__cause__)],
                helps=["`grammars/notation` says under `What to avoid` what to write instead"],
            )


def _endless(source: Source, file: CheckedFile, loaded: Loaded) -> Iterator[Finding]:
    """Rules that no text satisfies, since each of their alternatives has one of them in it."""
    ends: set[str] = set()
    size = -1
    while size < len(ends):
        size = len(ends)
        for rule in loaded.rules:
            if all(symbol.is_term or str(symbol.name) in ends for symbol in rule.expansion):
                ends.add(str(rule.origin.name))
    for name in sorted({str(rule.origin.name) for rule in loaded.rules} - ends):
        home = source.definition(name)
        if home is not None:
            place = source.find(name, *home.span) or home.span
            helps = ["give it an alternative that ends"]
            yield file.finding("endless-rule", f"`{name}` has no end: it always needs itself again", place, helps=helps)
