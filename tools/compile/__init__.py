"""Compile all grammars ahead of time, and the index of formats, into `grammars/compiled/`.

For each grammar this writes its tables, as JSON, and its fast path, as a Python module. Run as
`python -m tools.compile [--check]`.
"""

from __future__ import annotations

import argparse
import sys

from outspoken.detection.collection import collect
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.format_index import FormatIndex, index_path
from outspoken.grammar.lenient_rules import LENIENT_RULES
from outspoken.grammar.registry import PLAIN, compiled_path, generated_path, grammars_folder
from outspoken.grammar.tables import Tables
from outspoken.results.errors import GrammarError
from tools.shared.generated import outdated, update

from .module import module_of, trainer


def main(arguments: list[str] | None = None) -> int:
    """Write the compiled grammars, or with `--check` name those that are out of date."""
    parser = argparse.ArgumentParser(prog="python -m tools.compile", description="Compile all grammars ahead of time.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is out of date")
    check = parser.parse_args(arguments).check
    folder = grammars_folder()
    try:
        tables = {path: compile_grammar(path) for path in sorted(folder.glob("*.lark"))}
    except GrammarError as error:
        print(error, file=sys.stderr)
        return 1
    wanted = {compiled_path(path): made.to_json() for path, made in tables.items()}
    named = {path.stem: made for path, made in tables.items()}
    if PLAIN in named:
        wanted[index_path(folder)] = format_index(named).to_json()
    changed = outdated(wanted, (folder / "compiled").glob("*.json"))
    status = update(changed, lambda path: path.name, check=check)
    modules = {generated_path(path): module_of(path.stem, made, trainer()) for path, made in tables.items()}
    changed = outdated(modules, (folder / "compiled").glob("*.py"))
    return update(changed, lambda path: path.name, check=check) or status


def format_index(tables: dict[str, Tables]) -> FormatIndex:
    """The index of formats, by their names."""
    automata = {name: Automaton(made, LENIENT_RULES) for name, made in tables.items()}
    openers = collect(automata.items(), automata[PLAIN]).to_data()
    return FormatIndex.of(tables.values(), openers)
