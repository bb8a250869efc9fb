"""Checks of the rules and terminals of a grammar: notation, names, patterns, endless rules and conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import combinations

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import QUOTED, Source
from outspoken.authoring.shared.wording import listed
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.compiler import terminal_of
from outspoken.grammar.tables import BROKEN, START, Terminal, order
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS, is_meaningful, short
from outspoken.patterns.analysis import UnsafePatternError
from outspoken.patterns.spellings import spellings
from outspoken.results.errors import GrammarError

from .conflicts import conflict_findings
from .findings import CheckedGrammar, body_span, name_span
from .lark_errors import Loaded, load, refusal, sample, syntax

STARTS = frozenset({START, BROKEN})

_RULES, _TERMINALS = sorted(NODES | FIELDS), sorted(FREE_TEXT | EMBEDDED_VALUES | TOKENS)
#: What Lark's own grammars define that ours import.
_LARKS_OWN = frozenset({"WS"})
#: What stands for one character in a regular expression: an escape, a class of characters.
_SOLID = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_IGNORED = re.compile(rf"^%ignore[ \t]+({QUOTED.pattern})", re.MULTILINE)
_UNBOUNDED = re.compile(r"[*+]|,\}")


def check_file(grammar: CheckedGrammar) -> list[Diagnostic]:
    """The problems of a grammar file or a shared one, read as text."""
    found = [
        *([*_imports(grammar)] or _undefined(grammar)),
        *_names(grammar),
        *_literals(grammar),
        *_repetitions(grammar),
    ]
    return sorted(found, key=lambda finding: finding.span)


# what is defined, imported and used


def _imports(grammar: CheckedGrammar) -> Iterator[Diagnostic]:
    for imported in grammar.source.imports:
        path = grammar.source.imported_file(imported)
        if path is None:
            continue
        shown = grammar.checkout.shown(path)
        if not path.is_file():
            message = f"there is no file `{shown}` to import from"
            names, other = [p.stem for p in path.parent.glob("*.lark")], imported.module
            otherwise = "a path begins with `.` and ends in the imported name"
        else:
            shared = Source.of(path)
            names, other = [definition.name for definition in shared.definitions], imported.name
            if other in names or shared.resolve(other) is not None:
                continue
            message, otherwise = f"`{shown}` defines no `{other}`", f"it defines {listed(names)}"
        helps = f"did you mean `{near}`?" if (near := _near(other, names)) else otherwise
        yield grammar.file.finding("missing-import", imported.span, message, helps)


def _near(name: str, known: Iterable[str]) -> str:
    """The name that is nearest to another one, in letters of any size; "" if none is near."""
    folded = {one.lower(): one for one in known}
    return next((folded[near] for near in get_close_matches(name.lower(), folded, 1)), "")


def _undefined(grammar: CheckedGrammar) -> Iterator[Diagnostic]:
    source, file = grammar.source, grammar.file
    defined = {d.name for d in source.definitions} | {i.known_as for i in source.imports}
    reported: set[str] = set()
    for definition in source.written:
        for name, span in source.words(definition):
            if name not in defined | reported:
                reported.add(name)
                helps = _where_from(grammar, name, sorted(defined))
                yield file.finding("undefined", span, f"`{name}` is not defined", helps)
    for override in source.overrides:
        if override.name not in defined | reported:
            helps = f"import it together with the rules that use it: `(tool_call, {override.name})`"
            message = f"`{override.name}` is overridden, but not imported"
            yield file.finding("undefined", name_span(grammar.source, override), message, helps)
    for name in source.ignored:
        if name not in defined | reported:
            span = source.find(name, source.text.index("%ignore")) or file.top
            helps = f"`%import common.{name}`" if name in _LARKS_OWN else f"define `{name}`"
            yield file.finding("undefined", span, f"`{name}` is ignored, but not defined", helps)


def _where_from(grammar: CheckedGrammar, name: str, known: list[str]) -> str:
    """What to do about a name that is not defined."""
    near, source = _near(name, known), grammar.source
    if near and near.strip("_s") == name.strip("_s"):
        return f"did you mean `{near}`?"
    for path in sorted((grammar.checkout.grammars / "shared").glob("*.lark")):
        if path != source.path and Source.of(path).definition(name):
            lead = "." if path.parent == source.path.parent else ".shared."
            return f"`%import {lead}{path.stem}.{name}`"
    return f"did you mean `{near}`?" if near else "define it in this file, or import it"


def unused(grammar: CheckedGrammar, wanted: frozenset[str] = STARTS) -> list[Diagnostic]:
    """What nothing leads to from the wanted rules, or from what is ignored."""
    source, file = grammar.source, grammar.file
    if START in wanted and source.definition(START) is None:
        helps = f"begin with `{START}: (TEXT | tool_call)*`"
        return [file.finding("no-start", file.top, f"the grammar has no rule `{START}`", helps)]
    reached, diagnostics = _reached(source, wanted), list[Diagnostic]()
    for definition in source.definitions:
        if definition.name not in reached:
            message = f"nothing uses the {'terminal' if definition.is_terminal else 'rule'} `{definition.name}`"
            helps = f"use it in a rule that `{START}` leads to, or take it out"
            diagnostics.append(file.finding("unused", name_span(grammar.source, definition), message, helps))
    for imported in source.imports:
        if imported.known_as not in reached:
            message = f"`{imported.known_as}` is imported and not used"
            diagnostics.append(file.finding("unused", imported.span, message, "take it out of the import"))
    return diagnostics


def _reached(source: Source, wanted: frozenset[str]) -> set[str]:
    overridden = [name for override in source.overrides for name in (override.name, *override.uses)]
    waiting, reached = [*wanted, *source.ignored, *overridden], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [use for d in source.definitions if d.name == name for use in d.uses]
    return reached


# names and markers


def _names(grammar: CheckedGrammar) -> Iterator[Diagnostic]:
    file = grammar.file
    for definition in grammar.source.definitions:
        name, span = definition.name, name_span(grammar.source, definition)
        if definition.is_terminal:
            if not name.startswith("_") and not is_meaningful(short(name)):
                message = f"`{name}` is a marker, and its name does not begin with `_`"
                yield file.finding("marker-name", span, message, f"call it `_{name}`, or {_nearest(name, _TERMINALS)}")
        elif not (name.startswith("_") or name in STARTS or is_meaningful(name) or definition.aliases):
            helps = f"call it `_{name}` if it is only structure, or {_nearest(name, _RULES)}"
            yield file.finding("meaningless-name", span, f"`{name}` is no rule of the vocabulary", helps)
        for alias in [alias for alias in definition.aliases if not is_meaningful(alias)]:
            span = grammar.source.find(alias, *definition.span) or definition.span
            helps = f"take the `-> {alias}` out, or {_nearest(alias, _RULES)}"
            yield file.finding("meaningless-name", span, f"`{alias}` is no rule of the vocabulary", helps)


def _nearest(name: str, known: list[str]) -> str:
    near = _near(name.strip("_"), known)
    return f"take `{near}`" if near else "take a name of the vocabulary in `grammars/vocabulary`"


def _literals(grammar: CheckedGrammar) -> Iterator[Diagnostic]:
    """Strings and regular expressions in rules: they have no name to be written or spoken of."""
    bare = grammar.source.bare
    found = [(match[1], match.span(1), "what is ignored has no name") for match in _IGNORED.finditer(bare)]
    for definition in [one for one in grammar.source.written if not one.is_terminal]:
        message = f"a marker in `{definition.name}` has no name"
        found += [(match[0], match.span(), message) for match in QUOTED.finditer(bare, *body_span(definition))]
    for text, span, message in found:
        helps = f"define a terminal and name it here: `_NAME: {text}`"
        yield grammar.file.finding("unnamed-marker", span, message, helps)


def _repetitions(grammar: CheckedGrammar) -> Iterator[Diagnostic]:
    """Repetitions without a limit: what may still grow is looked at again with every chunk, in quadratic time."""
    for definition in [written for written in grammar.source.written if written.is_terminal]:
        start = body_span(definition)[0]
        is_bounded = definition.name not in FREE_TEXT | EMBEDDED_VALUES
        for at in _UNBOUNDED.finditer(QUOTED.sub(_pattern, definition.body)) if is_bounded else ():
            yield grammar.file.finding(
                "unbounded-repeat",
                (start + at.start(), start + at.end()),
                f"the marker `{definition.name}` has a repetition without a limit",
                "give it a limit: `{0,99}`",
                notes=["what may still grow is looked at again with every chunk of a stream"],
            )


def _pattern(match: re.Match[str]) -> str:
    """A string as blanks, a regular expression with blanks for its classes and escapes."""
    return _SOLID.sub(lambda m: "x" * len(m[0]), match[0]) if match[0].startswith("/") else " " * len(match[0])


#: What the text of a file already says where Lark would refuse it.
_SAID = frozenset({"missing-import", "undefined"})


def check_grammar(grammar: CheckedGrammar) -> list[Diagnostic]:
    """The problems of the rules and terminals of a grammar."""
    diagnostics = [
        mistake
        for source_file in files(grammar.source)
        for mistake in syntax(source_file, grammar.file_of(source_file))
    ]
    if diagnostics:
        return diagnostics
    diagnostics = check_file(grammar)
    if any(finding.code in _SAID for finding in diagnostics):
        return diagnostics
    diagnostics += unused(grammar)
    if grammar.source.definition(START) is None:
        return diagnostics
    loaded = load(grammar.source)
    if isinstance(loaded, str):
        return [*diagnostics, refusal(loaded, grammar.source, grammar.file)]
    endless = [*_endless(grammar, loaded)]
    return [*diagnostics, *_patterns(grammar, loaded), *(endless or conflict_findings(grammar, loaded))]


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
            source, home_definition = home
            if (str(source.path), home_definition.name) not in reported:
                reported.add((str(source.path), home_definition.name))
                message = f"`{short(name)}` cannot be read in a stream"
                helps = "`grammars/notation` says under `What to avoid` what to write instead"
                notes = [str(error.__cause__)]
                file = grammar.file_of(source)
                yield file.finding("unsafe-pattern", body_span(home_definition), message, helps, notes=notes)


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
    for terminal, other, is_never_read in _pairs(automaton):
        text = "" if is_never_read else _both(terminal, other) or _both(other, terminal)
        names = frozenset({terminal.name, other.name} if is_never_read else {terminal.short, other.short})
        if names in reported or not (text or is_never_read) or len(names) == 1:
            continue
        override = next((o for o in grammar.source.overrides if o.name in (terminal.short, other.short)), None)
        homes = map(grammar.source.resolve, (other.name, terminal.name) if is_never_read else (terminal.name,))
        home = next(filter(None, homes), None)
        if home is None:
            continue
        reported.add(names)
        source, definition = (grammar.source, override) if override is not None else home
        is_twice = terminal.short == other.short
        first, second = (terminal.name, other.name) if is_twice else (terminal.short, other.short)
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
    pairs: dict[tuple[Terminal, Terminal, bool], None] = {}
    for part in [automaton, *([automaton.broken] if automaton.broken else [])]:
        for config in part.configs:
            steps = sorted(config.strict_transitions()[2], key=lambda step: order(step.terminal))
            for marker, other in combinations(steps, 2):
                if marker.terminal.regex == other.terminal.regex and not _is_spelling(marker, other):
                    pairs[marker.terminal, other.terminal, True] = None
        for state in part.tables.states:
            terminals = [part.tables.terminals[name] for name in sorted(state) if name in part.tables.terminals]
            plain = [terminal for terminal in terminals if terminal.short not in FREE_TEXT | EMBEDDED_VALUES]
            pairs |= {(a, b, False): None for a, b in combinations(plain, 2) if a.priority == b.priority}
    return pairs


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
