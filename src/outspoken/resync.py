"""Where reading goes on behind a call that cannot be read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .automaton import Automaton, Config, Transition, order
from .tables import Terminal

#: More configurations than this between two markers are not looked at.
_MAX_CONFIGS = 300


class Resync:
    """The markers at which a broken call may end, and where each leads.

    `places` gives, for the group of a match, the configuration in which reading goes on, and whether the marker belongs
    to the broken call.
    """

    __slots__ = ("find", "find_partial", "places", "rivals")

    def __init__(self, places: dict[str, tuple[Terminal, Config, bool]]) -> None:
        import regex

        ordered = sorted(places.values(), key=lambda place: order(place[0]))
        source = "|".join([f"({terminal.regex})" for terminal, _, _ in ordered]) or "(?!)"
        self.find: Any = re.compile(source).search
        self.find_partial: Any = regex.compile(source).search
        self.rivals: list[tuple[Any, int]] = [
            (regex.compile(t.regex), i) for i, (t, _, _) in enumerate(ordered, 1) if t.wide
        ]
        self.places = {i: (config, inside, t.grows) for i, (t, config, inside) in enumerate(ordered, 1)}


def outside_of_call(automaton: Automaton, config: Config) -> Config:
    """The configuration in which the innermost call of a configuration began."""
    frames = automaton.tables.frames
    depth = max([i for i, state in enumerate(config.stack) if "tool_call" in frames[state].split()], default=0)
    return automaton.config(config.stack[:depth]) if depth else automaton.home


@lru_cache(maxsize=256)
def resync(automaton: Automaton, outer: Config) -> Resync:
    """The ways on behind a broken call that began in a configuration: the next call there, the call's or the section's
    end, or an opening marker outside of everything. Single characters count only where a format has nothing else.
    """
    inner = _inner(automaton, outer)
    long = {regex: place for regex, place in inner.items() if len(place[0].canonical.strip() or place[0].regex) > 2}
    places = long or inner
    home = automaton.home
    for step in (home.free.target if home.free else home).markers:
        if ("begin", "code") not in step.after:  # a fence is part of a broken call as likely as not
            places.setdefault(step.terminal.regex, (step.terminal, home, False))
    return Resync(places)


def _inner(automaton: Automaton, outer: Config) -> dict[str, tuple[Terminal, Config, bool]]:
    """The same without the markers outside of everything."""
    home, start = automaton.home, automaton.start
    places: dict[str, tuple[Terminal, Config, bool]] = {}
    if outer not in (home, start):
        for step in outer.markers:
            places[step.terminal.regex] = (step.terminal, outer, False)
    queue, seen = [outer], {outer.stack}
    for config in queue:
        for step in _steps(config):
            target = step.target
            ends = ("end", "tool_call") in step.after
            if ends or (target in (home, start) and not step.terminal.short.isupper()):
                places.setdefault(step.terminal.regex, (step.terminal, target if ends else home, True))
            if target not in (home, start) and target.stack not in seen and len(seen) < _MAX_CONFIGS:
                seen.add(target.stack)
                queue.append(target)
    return {regex: place for regex, place in places.items() if place[0].short.startswith("_")}


def _steps(config: Config) -> list[Transition]:
    return [*([config.free] if config.free else []), *config.islands, *config.markers]
