"""Doubled markers: transitions over a marker that stands right behind itself.

To the strict grammar, the second one is part of the value that follows, or refused.
"""

from __future__ import annotations

import re

from outspoken.patterns.spellings import without_conditions

from .automaton import Config, Transition
from .tables import Terminal
from .vocabulary import TOKENS

#: The least length of a marker that does not occur by chance.
MIN_DISTINCT = 6
#: They are tried before the markers and values that may follow.
_PRIORITY = 9


def doubled_markers(config: Config) -> list[Transition]:
    """The transitions over the marker that led to a configuration, if a value or a name that may hold it follows."""
    free, embedded, markers = config.strict_transitions()
    terminal = _last_terminal(config)
    written = terminal.canonical.strip() if terminal is not None else ""
    names = [step for step in markers if _may_begin(step.terminal, written)]
    if not (embedded or names if free is None else free.terminal.short == "ARG_VALUE"):
        return []
    if terminal is None or len(written) < MIN_DISTINCT or any(step.terminal.name == terminal.name for step in markers):
        return []
    regex = rf"{re.escape(written)}\s{{0,9}}" if free is None else re.escape(written)
    name, first = f"{terminal.name}~~", written[0]
    doubled = Terminal(name, terminal.short, regex, "", free is None, True, _PRIORITY, first)
    return [Transition(doubled, config, (), (("stray", ""),), 0, written, replaces=True)]


def _may_begin(name: Terminal, written: str) -> bool:
    """May a name begin with a marker?"""
    return name.short in TOKENS and re.match(without_conditions(name.regex), written) is not None


def _last_terminal(config: Config) -> Terminal | None:
    """The marker whose shift led to a configuration; None if it was none."""
    if len(config.stack) < 2:
        return None
    terminals, (before, last) = config.automaton.tables.terminals, config.stack[-2:]
    names = [name for name, action in config.automaton.tables.states[before].items() if action == last]
    return next((terminals[n] for n in names if n in terminals and terminals[n].short.startswith("_")), None)
