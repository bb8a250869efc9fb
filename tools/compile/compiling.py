"""Compiles what is not current, in several processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from outspoken.detection.collection import collect
from outspoken.detection.opener_index import likeness_chain
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.format_index import CallSigns, FormatIndex
from outspoken.grammar.lenient_rules import LenientAutomaton
from outspoken.grammar.sources import sources
from outspoken.grammar.tables import Tables
from outspoken.grammar.tolerant import tolerant_rules
from outspoken.grammar.value_markup import make_survey
from outspoken.parsing.prompt_prefix import PromptState, after_anchor
from outspoken.parsing.response_reader import read_embedded
from outspoken.recovery.earley import RULES
from outspoken.results.errors import GrammarError
from outspoken.results.settings import DEFAULT
from outspoken.semantics.builder import Builder
from outspoken.semantics.sign_patterns import sign_patterns
from outspoken.semantics.state import Context, ReplyState
from outspoken.terminal.outputs import ProgressLine

from .record import Record, key_of
from .training import trainer

_T = TypeVar("_T")
_R = TypeVar("_R")
INDEX, SIGNS = "index.json", "signs.json"
#: If more formats than this changed, only their number is printed.
_NAMED = 12


class Compilation:
    """Compiles a folder of grammars. `record` tells what is current; `jobs` is the number of processes."""

    def __init__(self, folder: Path, record: Record, jobs: int) -> None:
        self.folder, self.record, self.jobs = folder, record, jobs
        self.keys = {path.stem: key_of(sources(path)) for path in sorted(folder.glob("*.lark"))}
        self.progress = ProgressLine("grammars compiled", len(self.keys))
        self.changed: set[str] = set()

    def run(self, inputs: str) -> int:
        """Compile. Returns 1, and has written nothing, if a grammar cannot be used."""
        stale = [name for name, key in self.keys.items() if not self.record.is_made(f"{name}.json", key)]
        made = [*self._each(_tables, [self.folder / f"{name}.lark" for name in stale])]
        if errors := [error for _, error in made if error]:
            self.progress.clear()
            print(*errors, sep="\n", file=sys.stderr)
            return 1
        for name, (text, _) in zip(stale, made, strict=True):
            self._write(name, "json", self.keys[name], text)
        self._index()
        self._fast_paths()
        names = [f"{name}.{kind}" for name in self.keys for kind in ("json", "py")]
        self.record.keep(inputs, names + [name for name in (INDEX, SIGNS) if name in self.record.files])
        self.progress.clear()
        few = ", ".join(sorted(self.changed)) if len(self.changed) <= _NAMED else f"{len(self.changed)} formats"
        print(f"compiled: {few}" if self.changed else "compiled: nothing that differs")
        return 0

    def _write(self, name: str, kind: str, key: str, text: str) -> None:
        if self.record.write(f"{name}.{kind}", key, text):
            self.changed.add(name)

    def _index(self) -> None:
        """The index of formats, which needs plain text among them, and the signs of their calls."""
        key = key_of(self.keys)
        is_made = all(self.record.is_made(name, key) for name in (INDEX, SIGNS))
        if registry.PLAIN in self.keys and not is_made:
            automata: dict[str, Automaton] = {name: LenientAutomaton(self._tables_of(name)) for name in self.keys}
            self.record.write(INDEX, key, format_index(automata).to_json())
            signs = CallSigns([*automata], sign_patterns(automata.items()))
            self.record.write(SIGNS, key, signs.to_json())

    def _tables_of(self, name: str) -> Tables:
        found = Tables.from_json((self.record.folder / f"{name}.json").read_text("utf-8"))
        assert found is not None
        return found

    def _fast_paths(self) -> None:
        """The fast paths. Formats that are like another are made in one process: they are trained on the same texts."""
        registry.use(self.folder)  # what was read of it may be older than its tables are now
        families: dict[str, list[str]] = {}
        for name in self.keys:
            families.setdefault(likeness_chain(name)[-1], []).append(name)
        work = sorted(families.values(), key=len, reverse=True)
        known = {name.removesuffix(".py"): made.key for name, made in self.record.files.items()}
        for family, modules in zip(work, self._each(partial(_modules, known), work), strict=True):
            for name, (key, source) in zip(family, modules, strict=True):
                if source:
                    self._write(name, "py", key, source)
            self.progress.step(len(family))

    def _each(self, function: Callable[[_T], _R], items: list[_T]) -> Iterator[_R]:
        """What a function returns for each item, in order."""
        if min(self.jobs, len(items)) < 2:
            yield from map(function, items)
            return
        spawn = get_context("spawn")  # the same on all systems
        with ProcessPoolExecutor(self.jobs, spawn, initializer=registry.use, initargs=(self.folder,)) as pool:
            yield from pool.map(function, items)


def _tables(path: Path) -> tuple[str, str]:
    """The tables of a grammar, or why it cannot be used."""
    try:
        return surveyed(compile_grammar(path)).to_json(), ""
    except GrammarError as error:
        return "", str(error)


def surveyed(tables: Tables) -> Tables:
    """The tables with what takes long to find."""
    automaton = LenientAutomaton(tables)
    tolerant = tolerant_rules(tables, RULES).to_data()
    survey, prompt = make_survey(automaton).to_data(), _prompt_data(automaton)
    return tables._replace(survey=survey, prompt=prompt, tolerant=tolerant)


def _prompt_data(automaton: Automaton) -> dict[str, Any] | None:
    """The place behind what a format's prompts end with, as plain data; None if there is nothing, or it cannot be kept.

    Formats that are being compiled have no entry in the registry yet.
    """
    header = automaton.tables.header
    if not header.opened or after_anchor(header.opened, header.anchor) != header.opened:
        return None
    builder = Builder(ReplyState(Context(header, None, DEFAULT, "heuristic", read_embedded), None))
    parser = AutomatonParser(automaton, builder, TextBuffer(-len(header.opened)))
    parser.feed(header.opened)
    builder.discard_prompt()
    state = PromptState.of(parser, builder)
    return state and state.to_data()


def _modules(known: dict[str, str], family: list[str]) -> list[tuple[str, str]]:
    """The keys of fast paths and their source, or "" where `known` has the key already."""
    found: list[tuple[str, str]] = []
    for name in family:
        automaton = LenientAutomaton(registry.tables(name))
        alike = [registry.tables(other).sources for other in registry.names() if name in likeness_chain(other)]
        entries = trainer().entries(automaton, name)
        key = key_of(name, alike, entries)
        found.append((key, "" if known.get(name) == key else trainer().module(name, automaton, entries)))
    return found


def format_index(automata: dict[str, Automaton]) -> FormatIndex:
    """The index of formats, by their names."""
    openers = collect(automata.items(), automata[registry.PLAIN]).to_data()
    return FormatIndex.of([automaton.tables for automaton in automata.values()], openers)
