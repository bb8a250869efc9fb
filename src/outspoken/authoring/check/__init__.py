"""Report the problems of a grammar. Run as `python -m tools.check [NAME ...] [--explain]`.

Without a name, all formats and the shared files are checked. Notes are shown for the formats that are named; they are
no faults.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator

from outspoken import Diagnostic, UnknownFormatError
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.header import Header
from outspoken.grammar.tables import START, Tables
from outspoken.results.errors import GrammarError
from outspoken.authoring.shared.arguments import refuse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.text import counted

from .ambiguity import check_ambiguity
from .corpus import check_corpus
from .detection import check_detection, check_example
from .ends import check_ends
from .findings import SEVERITIES, CheckedFile, Finding
from .grammar import check_grammar
from .header import BANNED, check_header
from .lark_errors import syntax
from .read_as_text import check_read_as_text
from .rendering import check_current, check_writing
from .rules import check_file, unused
from .terminals import check_same_patterns, check_terminals

#: The deepest stack of a configuration in a sound grammar; far more than any needs.
_DEEP = 300

#: Findings that make a grammar unusable, so that reading and writing are not checked.
_UNREADABLE = frozenset(
    {
        "bad-name",
        "banned-name",
        "bad-action",
        "missing-import",
        "grammar-syntax",
        "mixed-case",
        "undefined",
        "bad-pattern",
        "endless-rule",
    }
)


def check(checkout: Checkout, name: str) -> list[Diagnostic]:
    """The problems of a format: its header, its rules, its corpus, how it is parsed and written.

    Errors come first, then warnings, then notes; each has its place in the grammar's file or in one of the corpus, and
    that file's path as its `format`. Raises UnknownFormatError if there is no grammar of exactly this name.
    """
    with checkout.in_use():
        return [finding.diagnostic for finding in findings(checkout, name)]


def findings(checkout: Checkout, name: str) -> list[Finding]:
    """The findings of `check` with explanations, for a checkout that is in use."""
    path = checkout.existing(name)
    file = CheckedFile.of(checkout, path)
    try:
        source = Source.of(path)
    except UnicodeDecodeError:
        return [file.finding("no-text", f"`{file.shown}` is no text", file.top, helps=["write it as UTF-8"])]
    header, found = check_header(checkout, source, file)
    found += check_grammar(checkout, source, file)
    codes = {finding.diagnostic.code for finding in found}
    if header is not None and codes.isdisjoint(_UNREADABLE):
        try:
            tables = compile_grammar(path)
        except GrammarError as error:
            if not found:
                found.append(file.finding("grammar-refused", error.message, file.line(error.line), helps=error.helps))
        else:
            found += check_terminals(checkout, source, tables)
            try:
                found += _in_use(checkout, header, source, file, tables)
            except Exception as error:
                found.append(_failed(error, file))
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.diagnostic.severity))


def _failed(error: Exception, file: CheckedFile) -> Finding:
    """What a grammar does that nothing above has a name for. The author sees the other findings all the same."""
    helps = ["mend the other findings first; if there are none, report the grammar as a mistake of the library"]
    what = f"{type(error).__name__}: {error}"
    return file.finding("check-failed", f"the check ended with {what}", file.top, helps=helps)


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


def _in_use(checkout: Checkout, header: Header, source: Source, file: CheckedFile, tables: Tables) -> list[Finding]:
    """How a usable grammar reads and writes."""
    reader = Automaton(tables)  # all of its configurations are visited, so it is not kept
    if _nests(reader):
        helps = ["nested values are embedded values, which have their own scanner: `JSON_VALUE`, `PYTHON_VALUE`"]
        return [file.finding("endless-nesting", "a rule nests in itself without end", file.top, helps=helps)]
    found = [*check_same_patterns(checkout, source, reader), *check_ends(checkout, source, reader)]
    if any(finding.diagnostic.code == "no-owner" for finding in found):
        return found  # a text that leads there cannot be read
    found += check_example(header, source, file)
    cases, wrong = check_corpus(checkout, source.path.stem, file)
    found += wrong
    found += check_read_as_text(checkout, source.path.stem, cases)
    found += check_ambiguity(cases)
    found += check_detection(checkout, header, source, file, cases)
    found += check_writing(header, source, file, cases)
    if checkout.is_project:
        found += check_current(checkout, source, file, cases, tables)
    return found


def shared_findings(checkout: Checkout) -> list[Finding]:
    """The problems of shared files, and files in the wrong place."""
    paths = sorted((checkout.grammars / "shared").glob("*.lark"))
    known = {*paths, *[checkout.grammar(name) for name in checkout.names()]}
    found: list[Finding] = []
    for path in sorted(checkout.grammars.rglob("*.lark")):
        file = CheckedFile.of(checkout, path)
        if path not in known:
            helps = ["grammars lie in `grammars`, what they import in `grammars/shared`"]
            found.append(file.finding("other-file", "this grammar has no place here", file.top, helps=helps))
        elif path in paths and path.stem in BANNED:
            message = f"a grammar cannot be called `{path.stem}`: Lark has its own"
            found.append(file.finding("banned-name", message, file.top, helps=["name it after what is in it"]))
    everything = [Source.of(path) for path in sorted(known)]
    for path in paths:
        source, file = Source.of(path), CheckedFile.of(checkout, path)
        wanted = {i.name for other in everything for i in other.imports if other.imported_file(i) == path}
        if source.definition(START) is not None:
            wanted.add(START)  # a grammar that only lacks the names which an application gives
        found += syntax(source, file) or [
            *check_file(checkout, source, file),
            *unused(source, file, frozenset(wanted)),
        ]
    return found


def _shown(found: list[Finding], explain: bool, notes: bool) -> Iterator[str]:
    for finding in found:
        if notes or finding.diagnostic.severity != "note":
            yield finding.diagnostic.frame()
            if explain and finding.explanation:
                yield finding.explanation
            yield ""


def summary(found: list[Finding]) -> str:
    """How many findings there are of each severity; `sound` where there is no error and no warning."""
    counts = Counter([finding.diagnostic.severity for finding in found])
    parts = [counted(counts[s], s) for s in SEVERITIES if counts[s]]
    is_sound = not counts["error"] and not counts["warning"]
    return ", ".join([*(["sound"] if is_sound else []), *parts])


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Print what is wrong, and return 1 where that is an error or a warning, 2 for wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.check", description="Say what is wrong with a grammar or missing from it."
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="a format; all of them where none is named")
    parser.add_argument("--explain", action="store_true", help="print both derivations of each conflict")
    parser.add_argument("--json", action="store_true", help="write the findings as JSON, a line for each format")
    options = parser.parse_args(arguments)
    checkout = checkout or Checkout()
    names: list[str] = options.names or checkout.names()
    try:
        for name in names:
            checkout.existing(name)
    except UnknownFormatError as error:
        return refuse("", error, checkout)
    failed = False
    report = _report_json if options.json else _report
    with checkout.in_use():
        for name in dict.fromkeys(names):
            failed |= report(name, findings(checkout, name), options.explain, bool(options.names))
        if not options.names:
            failed |= report("shared", shared_findings(checkout), options.explain, False)
    return int(failed)


def _report(name: str, found: list[Finding], explain: bool, notes: bool) -> bool:
    """Print the findings of one format and a line that sums them up. Returns whether one is an error or a warning."""
    for line in _shown(found, explain, notes):
        print(line)
    print(f"{name}: {summary(found)}")
    return _is_wrong(found)


def _report_json(name: str, found: list[Finding], explain: bool, notes: bool) -> bool:
    """Print the findings of one format as a line of JSON. Returns whether one is an error or a warning."""
    shown = [finding for finding in found if notes or finding.diagnostic.severity != "note"]
    rows = [finding.diagnostic.model_dump(mode="json") for finding in shown]
    if explain:
        rows = [{**row, "explanation": finding.explanation} for row, finding in zip(rows, shown, strict=True)]
    print(json.dumps({"name": name, "sound": not _is_wrong(found), "findings": rows}, ensure_ascii=False))
    return _is_wrong(found)


def _is_wrong(found: list[Finding]) -> bool:
    return any(finding.diagnostic.severity != "note" for finding in found)
