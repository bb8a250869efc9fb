"""Checks of the rules and terminals of a grammar: notation, names, patterns, endless rules and conflicts."""

from __future__ import annotations

from collections.abc import Iterator

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.compiler import terminal_of
from outspoken.grammar.tables import START
from outspoken.grammar.vocabulary import short
from outspoken.patterns.analysis import UnsafePatternError
from outspoken.results.errors import GrammarError

from .conflicts import conflict_findings
from .findings import CheckedGrammar, body_span, name_span
from .lark_errors import Loaded, load, refusal, syntax
from .rules import check_file, unused

#: What the text of a file already says where Lark would refuse it.
_SAID = frozenset({"missing-import", "undefined"})


def check_grammar(grammar: CheckedGrammar) -> list[Diagnostic]:
    """The problems of the rules and terminals of a grammar."""
    found = [mistake for one in files(grammar.source) for mistake in syntax(one, grammar.file_of(one))]
    if found:
        return found
    found = check_file(grammar)
    if any(finding.code in _SAID for finding in found):
        return found
    found += unused(grammar)
    if grammar.source.definition(START) is None:
        return found
    loaded = load(grammar.source)
    if isinstance(loaded, str):
        return [*found, refusal(loaded, grammar.source, grammar.file)]
    endless = [*_endless(grammar, loaded)]
    return [*found, *_patterns(grammar, loaded), *(endless or conflict_findings(grammar, loaded))]


def files(source: Source) -> list[Source]:
    """A grammar and all files that it imports, directly or through others, that are there."""
    found = {source.path: source}
    for known in (waiting := [source]):
        for path in filter(None, map(known.imported_file, known.imports)):
            if path not in found and path.is_file():
                found[path] = Source.of(path)
                waiting.append(found[path])
    return list(found.values())


def _patterns(grammar: CheckedGrammar, loaded: Loaded) -> Iterator[Diagnostic]:
    """Markers that cannot be read in a stream."""
    reported: set[tuple[str, str]] = set()
    for definition in loaded.terminals:
        name = str(definition.name)
        try:
            terminal_of(name, definition, loaded.written.get(name), "")
        except GrammarError as error:
            home = grammar.source.resolve(name)
            if home is None or not isinstance(error.__cause__, UnsafePatternError):
                raise
            source, known = home
            if (str(source.path), known.name) not in reported:
                reported.add((str(source.path), known.name))
                message = f"`{short(name)}` cannot be read in a stream"
                helps = "`grammars/notation` says under `What to avoid` what to write instead"
                notes = [str(error.__cause__)]
                file = grammar.file_of(source)
                yield file.finding("unsafe-pattern", body_span(known), message, helps, notes=notes)


def _endless(grammar: CheckedGrammar, loaded: Loaded) -> Iterator[Diagnostic]:
    """Rules that no text satisfies, since each of their alternatives has one of them in it."""
    ends: set[str] = set()
    size = -1
    while size < len(ends):
        size = len(ends)
        for rule in loaded.rules:
            if all(symbol.is_term or str(symbol.name) in ends for symbol in rule.expansion):
                ends.add(str(rule.origin.name))
    for name in sorted({str(rule.origin.name) for rule in loaded.rules} - ends):
        if (home := grammar.source.definition(name)) is not None:
            message = f"`{name}` has no end: it always needs itself again"
            yield grammar.file.finding(
                "endless-rule", name_span(grammar.source, home), message, "give it an alternative that ends"
            )
