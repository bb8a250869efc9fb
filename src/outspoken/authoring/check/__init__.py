"""Report the problems of a grammar: `outspoken grammar check`. Notes are no faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from outspoken import Diagnostic
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.wording import counted
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.header import Header
from outspoken.grammar.tables import START, Tables
from outspoken.results.errors import GrammarError
from outspoken.terminal.outputs import print_json

from .detection import check_corpus, check_detection
from .ends import check_ends
from .findings import SEVERITIES, CheckedFile, CheckedGrammar
from .grammar import check_file, check_grammar, check_terminals, unused
from .header import BANNED, check_header
from .lark_errors import syntax
from .writing import check_example, check_writing

#: The deepest stack of a configuration in a sound grammar; far more than any needs.
_DEEP = 300

#: Findings that make a grammar unusable, so that reading and writing are not checked.
_UNREADABLE = frozenset(
    {"bad-name", "banned-name", "bad-action", "missing-import", "grammar-syntax"}
    | {"mixed-case", "undefined", "bad-pattern", "endless-rule"}
)


def check(checkout: Checkout, name: str) -> list[Diagnostic]:
    """The problems of a format: its header, its rules, its corpus, how it is parsed and written.

    Errors come first, then warnings, then notes; each has its place in the grammar's file or in one of the corpus, and
    that file's path as its `format`. Raises UnknownFormatError if there is no grammar of exactly this name.
    """
    with checkout.in_use():
        return findings(checkout, name)


def findings(checkout: Checkout, name: str) -> list[Diagnostic]:
    """The findings of `check`, for a checkout that is in use."""
    path = checkout.existing(name)
    try:
        grammar = CheckedGrammar(checkout, Source.of(path))
    except UnicodeDecodeError:
        file = CheckedFile.of(checkout, path)
        return [file.finding("no-text", file.top, f"`{file.shown}` is no text", "write it as UTF-8")]
    file = grammar.file
    header, diagnostics = check_header(grammar)
    diagnostics += check_grammar(grammar)
    if header is not None and _UNREADABLE.isdisjoint([finding.code for finding in diagnostics]):
        try:
            diagnostics += _in_use(grammar, header, registry.tables(name))
        except GrammarError as error:
            if not diagnostics:
                diagnostics.append(file.finding("grammar-refused", file.line(error.line), error.message, *error.helps))
        except Exception as error:  # the author sees the other findings all the same
            message = f"the check ended with {type(error).__name__}: {error}"
            helps = "mend the other findings first; if there are none, report the grammar as a mistake of the library"
            diagnostics.append(file.finding("check-failed", file.top, message, helps))
    return sorted(diagnostics, key=lambda finding: SEVERITIES.index(finding.severity))


def _in_use(grammar: CheckedGrammar, header: Header, tables: Tables) -> list[Diagnostic]:
    """How a usable grammar reads and writes."""
    reader = Automaton(tables)  # all of its configurations are visited, so it is not kept
    if _nests(reader):
        helps = "nested values are embedded values, which have their own scanner: `JSON_VALUE`, `PYTHON_VALUE`"
        message = "a rule nests in itself without end"
        return [grammar.file.finding("endless-nesting", grammar.file.top, message, helps)]
    diagnostics = [*check_terminals(grammar, reader), *check_ends(grammar, reader)]
    if any(finding.code == "no-owner" for finding in diagnostics):
        return diagnostics  # a text that leads there cannot be read
    diagnostics += check_example(grammar, header)
    cases, wrong = check_corpus(grammar)
    return [*diagnostics, *wrong, *check_detection(grammar, header, cases), *check_writing(grammar, header)]


def _nests(automaton: Automaton) -> bool:
    """Whether a rule nests in itself, so that the number of configurations is unbounded."""
    seen, waiting = {automaton.start.stack}, [automaton.start]
    while waiting:
        config = waiting.pop()
        if len(config.stack) > _DEEP:
            return True
        for step in [*([config.free] if config.free else []), *config.embedded, *config.markers]:
            if step.target.stack not in seen:
                seen.add(step.target.stack)
                waiting.append(step.target)
    return False


def shared_findings(checkout: Checkout) -> list[Diagnostic]:
    """The problems of shared files, and files in the wrong place."""
    paths = sorted((checkout.grammars / "shared").glob("*.lark"))
    expected_paths = {*paths, *[checkout.grammar(name) for name in checkout.names()]}
    diagnostics: list[Diagnostic] = []
    for path in sorted(checkout.grammars.rglob("*.lark")):
        file = CheckedFile.of(checkout, path)
        if path not in expected_paths:
            helps = "grammars lie in `grammars`, what they import in `grammars/shared`"
            diagnostics.append(file.finding("other-file", file.top, "this grammar has no place here", helps))
        elif path in paths and path.stem in BANNED:
            message = f"a grammar cannot be called `{path.stem}`: Lark has its own"
            diagnostics.append(file.finding("banned-name", file.top, message, "name it after what is in it"))
    everything = [Source.of(path) for path in sorted(expected_paths)]
    for path in paths:
        grammar = CheckedGrammar(checkout, Source.of(path))
        wanted = {i.name for other in everything for i in other.imports if other.imported_file(i) == path}
        if grammar.source.definition(START) is not None:
            wanted.add(START)  # a grammar that only lacks the names which an application gives
        wrong = syntax(grammar.source, grammar.file)
        diagnostics += wrong or [*check_file(grammar), *unused(grammar, frozenset(wanted))]
    return diagnostics


def summary(found: list[Diagnostic]) -> str:
    """How many findings there are of each severity; `sound` where there is no error and no warning."""
    counts = Counter([finding.severity for finding in found])
    parts = [counted(counts[s], s) for s in SEVERITIES if counts[s]]
    return ", ".join([*([] if _is_wrong(found) else ["sound"]), *parts])


def _is_wrong(found: list[Diagnostic]) -> bool:
    return any(finding.severity != "note" for finding in found)


def report(checkout: Checkout, names: Sequence[str] = (), *, as_json: bool = False) -> int:
    """Print what is wrong with formats, and return 1 where that is an error or a warning.

    Without names, that is of all formats and the shared files, without notes. Raises UnknownFormatError.
    """
    chosen = names or checkout.names()
    for name in chosen:
        checkout.existing(name)
    with checkout.in_use():
        reports = {name: findings(checkout, name) for name in chosen}
        if not names:
            reports["shared"] = shared_findings(checkout)
    for name, diagnostics in reports.items():
        shown = [diagnostic for diagnostic in diagnostics if names or diagnostic.severity != "note"]
        if as_json:
            print_json({"name": name, "sound": not _is_wrong(diagnostics), "findings": shown}, line=True)
        else:
            print("".join([f"{diagnostic.frame()}\n\n" for diagnostic in shown]) + f"{name}: {summary(diagnostics)}")
    return int(any(map(_is_wrong, reports.values())))
