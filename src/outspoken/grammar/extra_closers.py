"""Closing brackets that stand too early: transitions over a bracket that would end a call before one of its keys.

To the strict grammar, `{"name": "f"}, "arguments": {…}` ends the call before its arguments.
"""

from __future__ import annotations

from .automaton import Config, Transition
from .near_keys import PRIORITY
from .tables import Terminal
from .vocabulary import CALLS

#: A comma and a key.
_KEY = r'(?=\s{0,20},\s{0,20}"[^"\n]{1,60}"\s{0,20}:)'


def extra_closers(config: Config) -> list[Transition]:
    """The transitions over a closing bracket that ends no call, since a key of the call follows it."""
    markers = config.strict_transitions()[2]
    closer = next((step for step in markers if _ends_call(step) and not _may_go_on(step.target)), None)
    if closer is None or not any(_leads_to_key(step) for step in markers):
        return []
    name, short = f"{closer.terminal.name}~", closer.terminal.short
    regex = rf"\}}{_KEY}"
    terminal = Terminal(name, short, regex, "", grows=False, may_stay_open=True, priority=PRIORITY, first="}")
    return [Transition(terminal, config, (), (("replace", ""),), closer.cost, "}", replaces=True)]


def _ends_call(step: Transition) -> bool:
    return step.terminal.canonical.strip() == "}" and any(op == "end" and kind in CALLS for op, kind in step.after)


def _may_go_on(config: Config) -> bool:
    """May a comma and a key follow: is the call in another object?"""
    return any(_leads_to_key(step) for step in config.strict_transitions()[2])


def _leads_to_key(step: Transition) -> bool:
    if step.terminal.canonical.strip() != ",":
        return False
    return any(key.terminal.canonical[:1] == '"' for key in step.target.strict_transitions()[2])
