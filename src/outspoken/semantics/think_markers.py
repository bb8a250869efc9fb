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
    close, open = [
        "|".join([f"(?:{tables.terminals[name].regex})" for name in names]) or "(?!)" for names in (closers, openers)
    ]
    return ThinkMarkers(re.compile(f"(?P<close>{close})|(?P<open>{open})"), re.compile(close))


def think_terminals(tables: Tables) -> tuple[list[str], list[str]]:
    """The names of the terminals that close reasoning, and of those that open it."""
    shifts = [(at, name, to) for at, state in enumerate(tables.states) for name, to in state.items() if to >= 0]
    thoughts = {name for name, terminal in tables.terminals.items() if terminal.short == "REASONING"}
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
