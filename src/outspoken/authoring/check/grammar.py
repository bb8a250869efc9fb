"""Checks of the rules and terminals of a grammar: notation, names, patterns, endless rules and conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.compiler import terminal_of
from outspoken.grammar.tables import START, Terminal, order
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, short
from outspoken.patterns.analysis import UnsafePatternError
from outspoken.patterns.spellings import spellings
from outspoken.results.errors import GrammarError

from .conflicts import conflict_findings
from .findings import CheckedGrammar, body_span, name_span
from .lark_errors import Loaded, load, refusal, sample, syntax
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


def check_terminals(grammar: CheckedGrammar, automaton: Automaton) -> Iterator[Diagnostic]:
    """A warning for each two terminals in one place of which one is never read, or is read only by chance."""
    reported: set[frozenset[str]] = set()
    for one, other, is_never_read in _pairs(automaton):
        text = "" if is_never_read else _both(one, other) or _both(other, one)
        names = frozenset({one.name, other.name} if is_never_read else {one.short, other.short})
        if names in reported or not (text or is_never_read) or len(names) == 1:
            continue
        override = next((o for o in grammar.source.overrides if o.name in (one.short, other.short)), None)
        homes = map(grammar.source.resolve, (other.name, one.name) if is_never_read else (one.name,))
        home = next(filter(None, homes), None)
        if home is None:
            continue
        reported.add(names)
        source, definition = (grammar.source, override) if override is not None else home
        is_twice = one.short == other.short
        first, second = (one.name, other.name) if is_twice else (one.short, other.short)
        code, message = "same-text", f"and both read `{text}`"
        note = "the one with the longer pattern is tried first, which is chance"
        helps = f"give one of them a priority (`{first}.1`), or exclude from one what the other one reads"
        if is_never_read:
            code, message = "same-pattern", "and have the same pattern"
            note = f"`{first}` is always read there, and the other one never"
            helps = "use one terminal in both rules, or let each pattern show what follows: `(?=...)`"
            helps = "import it once, from the file that uses it" if is_twice else helps
        message = f"`{first}` and `{second}` can stand in the same place, {message}"
        span = name_span(source, definition)
        yield grammar.file_of(source).finding(code, span, message, helps, severity="warning", notes=[note])


def _pairs(automaton: Automaton) -> Iterable[tuple[Terminal, Terminal, bool]]:
    """Two terminals each that may stand in one place, and whether the second one is never read there."""
    found: dict[tuple[Terminal, Terminal, bool], None] = {}
    for part in [automaton, *([automaton.broken] if automaton.broken else [])]:
        for config in part.configs:
            steps = sorted(config.strict_transitions()[2], key=lambda step: order(step.terminal))
            for one, other in combinations(steps, 2):
                if one.terminal.regex == other.terminal.regex and not _is_spelling(one, other):
                    found[one.terminal, other.terminal, True] = None
        for state in part.tables.states:
            terminals = [part.tables.terminals[name] for name in sorted(state) if name in part.tables.terminals]
            plain = [terminal for terminal in terminals if terminal.short not in FREE_TEXT | EMBEDDED_VALUES]
            found |= {(a, b, False): None for a, b in combinations(plain, 2) if a.priority == b.priority}
    return found


def _is_spelling(one: Transition, other: Transition) -> bool:
    """Whether two markers mean the same where they stand, and are only written differently."""
    is_same = (one.before, one.after) == (other.before, other.after)
    return is_same and one.terminal.canonical != other.terminal.canonical


def _both(one: Terminal, other: Terminal) -> str:
    """A text of one terminal that the other one reads as well; "" where no text of the one shows any."""
    text = sample(one.name, one.regex, one.canonical)
    patterns = [re.compile(terminal.regex) for terminal in (one, other)]
    known = filter(None, dict.fromkeys([text, text.strip(), *spellings(one.regex)]))
    return next((text for text in known if all(pattern.fullmatch(text) for pattern in patterns)), "")
