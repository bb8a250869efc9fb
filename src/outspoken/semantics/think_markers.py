"""The tags of reasoning, by what the tables of a grammar allow behind reasoning."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.tables import Tables
from outspoken.patterns.analysis import required_chars, required_text

from .said_signs import ThinkMarkers


class _Tags(NamedTuple):
    """The patterns of what closes reasoning and of what opens it; for the others, see `ThinkMarkers`."""

    close: str
    open: str
    bare: str = ""
    ends: tuple[str, str] | None = None

    def beside(self, other: _Tags) -> _Tags:
        """These tags, and those of another format whose reasoning may stand in the same text."""
        ends = self.ends
        if ends is not None and not self.bare:
            ends = (f"{ends[0]}|{other.close}", ends[1])
        return _Tags(f"{self.close}|{other.close}", "|".join(filter(None, (self.open, other.open))), self.bare, ends)


@lru_cache(maxsize=256)
def think_markers(automaton: Automaton, other: Automaton | None = None) -> ThinkMarkers | None:
    """The tags of a format's reasoning, and of an `other` one that its text may hold.

    None if it has none that close, or if calls in its reasoning run.
    """
    tags = _tags_of(automaton)
    if other is not None and other is not automaton and (others := _tags_of(other)) is not None:
        tags = others if tags is None else tags.beside(others)
    if tags is None:
        return None
    ends = "" if tags.ends is None else _either(*tags.ends)
    chars = sorted(char for char in required_chars(tags.close) if not (char.isalnum() or char.isspace()))
    sign = required_text(tags.close) or "".join(chars[:1])
    return ThinkMarkers.of(_either(tags.close, tags.open), tags.close, tags.bare, ends, sign)


def _tags_of(automaton: Automaton) -> _Tags | None:
    tables = automaton.tables
    closers, openers = think_terminals(automaton)
    shared = [] if closers else sorted(_tags_behind(tables) & tables.terminals.keys())
    if tables.header.reasoned_calls == "run" or not (closers or shared):
        return None
    closers, thoughts = closers or shared, _thoughts(tables)
    closable = {
        name for _, name, to in _shifts(tables) if name in openers and _is_closed(tables, to, thoughts, {*closers})
    }
    close, open, bare = (_one_of(tables, names) for names in (closers, closable, {*openers} - closable))
    ends: tuple[str, str] | None = None
    if bare and (answers := _openers_of(tables, "answer")):
        ends = _one_of(tables, answers), _one_of(tables, _openers_of(tables, "invented"))
    if shared:  # a message that is opened behind a call is another one; marks that open no call come first
        steps = [step for step in automaton.top_level_markers if ("begin", "code") not in step.after]
        begins = {step.terminal.name: str(step.after) for step in steps if not step.inserted}
        calls = {name for name, begun in begins.items() if "tool_call" in begun}
        marks = [_one_of(tables, names) for names in (begins.keys() - calls - {*shared}, calls)]
        ends = close, "|".join(filter(None, marks))
    return _Tags(close, open, bare, ends)


def _one_of(tables: Tables, names: Iterable[str]) -> str:
    return "|".join([f"(?:{tables.terminals[name].regex})" for name in sorted(names)])


def _openers_of(tables: Tables, kind: str) -> set[str]:
    """The terminals that open nodes of a kind."""
    return {name for _, name, to in _shifts(tables) if kind in tables.nodes[to].split() and name in tables.terminals}


def _either(close: str, open: str) -> str:
    return f"(?P<close>{close})|(?P<open>{open or '(?!)'})"


@lru_cache(maxsize=256)
def think_terminals(automaton: Automaton) -> tuple[list[str], list[str]]:
    """The names of the terminals that close reasoning, and of those that open it."""
    tables = automaton.tables
    shifts, thoughts, behind = _shifts(tables), _thoughts(tables), _behind_thoughts(tables)
    tags = _tags_behind(tables)
    # what also stands elsewhere, such as the end of a message, tells nothing of reasoning
    others = {name for at, name, _ in shifts if at not in behind}
    closers = [name for name in sorted(tags - others) if name in tables.terminals]
    begins = {to for to, state in enumerate(tables.states) if not thoughts.isdisjoint(state)}
    openers = sorted({name for _, name, to in shifts if name in tables.terminals and to in begins} - tags)
    return closers, openers


def _behind_thoughts(tables: Tables) -> set[int]:
    """The states in which reasoning was read."""
    thoughts = _thoughts(tables)
    return _with_reductions(tables, {to for _, name, to in _shifts(tables) if name in thoughts})


def _with_reductions(tables: Tables, states: set[int]) -> set[int]:
    """Some states, and those that follow them by reductions: reasoning within reasoning was read."""
    waiting = [*states]
    for at in waiting:
        more = {to for name, to in tables.states[at].items() if to >= 0 and name not in tables.terminals} - states
        states |= more
        waiting += more
    return states


def _tags_behind(tables: Tables) -> set[str]:
    """What may stand behind reasoning, and leads to no more of it: a tag closes it; a call reduces it first."""
    thoughts, behind = _thoughts(tables), _behind_thoughts(tables)
    return {name for at, name, to in _shifts(tables) if at in behind and thoughts.isdisjoint(tables.states[to])}


def _shifts(tables: Tables) -> list[tuple[int, str, int]]:
    """From which state which symbol leads where."""
    return [(at, name, to) for at, state in enumerate(tables.states) for name, to in state.items() if to >= 0]


def _thoughts(tables: Tables) -> set[str]:
    """The names of the terminals that match reasoning."""
    return {name for name, terminal in tables.terminals.items() if terminal.short == "REASONING"}


def _is_closed(tables: Tables, start: int, thoughts: set[str], closers: set[str]) -> bool:
    """May a closing tag follow the reasoning that begins in a state?"""
    shifts = tables.states[start]
    behind = _with_reductions(tables, {shifts[name] for name in thoughts & shifts.keys()})
    return any(not closers.isdisjoint(tables.states[at]) for at in behind)
