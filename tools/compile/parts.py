"""The parts of a fast path: states, and branches from them; and pieces of its source."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config
from outspoken.grammar.tables import Terminal
from outspoken.patterns.markup_search import MarkupSearch
from outspoken.semantics import unread_markup

from .markers import Expression, Markers, Path


class State(NamedTuple):
    """A state of the function: a configuration, the open nodes, and whether a marker was read before.

    With `at_marker`, a marker that ends free text stands at the position.
    """

    config: Config
    nodes: tuple[str, ...]
    after_marker: bool
    at_marker: bool = False


class StateBranch(NamedTuple):
    """A branch from a state: the kind of the markers that are looked for, and its path."""

    state: State
    kind: str
    path: Path


Part = State | StateBranch


class Shared:
    """What the writers of one format share: the markers of configurations, and what is taken of them."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        #: the states in which a function may start: at the beginning of a text, and at an opening marker
        self.entries = [State(automaton.start, (), False), State(automaton.top_level, (), True, True)]
        self._markers: dict[tuple[Config, str], Markers] = {}

    def markers(self, config: Config, kind: str) -> Markers:
        """The markers of a configuration."""
        found = self._markers.get((config, kind))
        if found is None:
            found = self._markers[config, kind] = Markers(config, kind)
        return found

    def expressions(self, parts: set[Part]) -> dict[str, Expression]:
        """The expressions for parts, by the source of all markers: states with the same markers share one."""
        taken: dict[str, tuple[Markers, set[Path]]] = {}
        for part in parts:
            if isinstance(part, StateBranch):
                markers = self.markers(part.state.config if part.kind != "find" else _after_free(part.state), part.kind)
                taken.setdefault(markers.source, (markers, set()))[1].add(part.path)
        return {source: markers.cut(frozenset(paths)) for source, (markers, paths) in taken.items()}


def _after_free(state: State) -> Config:
    if state.at_marker or state.config.free is None:
        return state.config
    return state.config.free.target


@cache
def written_markers(automaton: Automaton) -> tuple[list[str], list[str]]:
    """The markers of a format that text is searched for, as they are written, and the weak ones among them."""
    tables = automaton.tables
    return MarkupSearch(unread_markup.written_markers(tables)).markers, unread_markup.weak_markers(tables)


def literal(text: str) -> str:
    """A string as Python source, in double quotes."""
    written = repr(text)
    if written[0] == '"':
        return written
    return '"' + written[1:-1].replace('"', '\\"').replace("\\'", "'") + '"'


def literals(texts: Sequence[Any]) -> str:
    """A tuple of strings, or of such tuples, as Python source."""
    items = [literal(item) if isinstance(item, str) else literals(item) for item in texts]
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


def spelling(terminal: Terminal) -> str:
    """A terminal as comments show it."""
    return repr(terminal.canonical) if terminal.canonical and terminal.short.startswith("_") else terminal.short
