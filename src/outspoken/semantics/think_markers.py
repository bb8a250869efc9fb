"""The tags of reasoning, by what the tables of a grammar allow behind reasoning."""

from __future__ import annotations

import re
from functools import lru_cache

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.tables import Tables

from .said_signs import ThinkMarkers


@lru_cache(maxsize=256)
def think_markers(automaton: Automaton) -> ThinkMarkers | None:
    """The tags of a format's reasoning; None if it has none that close, or if calls in its reasoning run."""
    tables = automaton.tables
    closers, openers = think_terminals(tables)
    if tables.header.reasoned_calls == "run" or not closers:
        return None
    thoughts, tags = _thoughts(tables), {*closers}
    closable = {name for _, name, to in _shifts(tables) if name in openers and _is_closed(tables, to, thoughts, tags)}
    close, open, bare = [
        "|".join([f"(?:{tables.terminals[name].regex})" for name in names])
        for names in (closers, sorted(closable), sorted({*openers} - closable))
    ]
    either = re.compile(f"(?P<close>{close})|(?P<open>{open or '(?!)'})")
    return ThinkMarkers(either, re.compile(close), re.compile(bare) if bare else None)


def think_terminals(tables: Tables) -> tuple[list[str], list[str]]:
    """The names of the terminals that close reasoning, and of those that open it."""
    shifts, thoughts = _shifts(tables), _thoughts(tables)
    behind = {to for _, name, to in shifts if name in thoughts}
    while more := {to for at, name, to in shifts if at in behind and name not in tables.terminals} - behind:
        behind |= more  # reasoning within reasoning was read
    # behind reasoning, a tag leads to more of it or closes it; a call reduces it first
    tags = {name for at, name, to in shifts if at in behind and thoughts.isdisjoint(tables.states[to])}
    # what also stands elsewhere, such as the end of a message, tells nothing of reasoning
    others = {name for at, name, _ in shifts if at not in behind}
    closers = [name for name in sorted(tags - others) if name in tables.terminals]
    begins = {to for to, state in enumerate(tables.states) if not thoughts.isdisjoint(state)}
    openers = sorted({name for _, name, to in shifts if name in tables.terminals and to in begins} - tags)
    return closers, openers


def _shifts(tables: Tables) -> list[tuple[int, str, int]]:
    """From which state which symbol leads where."""
    return [(at, name, to) for at, state in enumerate(tables.states) for name, to in state.items() if to >= 0]


def _thoughts(tables: Tables) -> set[str]:
    """The names of the terminals that match reasoning."""
    return {name for name, terminal in tables.terminals.items() if terminal.short == "REASONING"}


def _is_closed(tables: Tables, start: int, thoughts: set[str], closers: set[str]) -> bool:
    """May a closing tag follow the reasoning that begins in a state?"""
    behind = {tables.states[start][name] for name in thoughts & tables.states[start].keys()}
    while (
        more := {
            to for at in behind for name, to in tables.states[at].items() if to >= 0 and name not in tables.terminals
        }
        - behind
    ):
        behind |= more
    return any(not closers.isdisjoint(tables.states[at]) for at in behind)
