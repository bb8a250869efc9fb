"""Where reading goes on behind a call that cannot be read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.matchers import OpenMarkers
from outspoken.grammar.tables import Terminal, order

#: More configurations than this between two markers are not looked at.
_MAX_CONFIGS = 300


class Resync:
    """The markers at which a broken call may end, and where each leads.

    `places` gives, for the group of a match, the configuration in which reading goes on, and whether the marker belongs
    to the broken call.
    """

    __slots__ = ("find", "find_partial", "places", "open_markers")

    def __init__(self, places: dict[str, tuple[Terminal, Config, bool]]) -> None:
        import regex

        ordered = [(key, *places[key]) for key in sorted(places, key=lambda key: order(places[key][0]))]
        source = "|".join([f"({key})" for key, *_ in ordered]) or "(?!)"
        self.find: Any = re.compile(source).search
        self.find_partial: Any = regex.compile(source).search
        self.open_markers = OpenMarkers(
            [(regex.compile(source), i) for i, (source, t, _, _) in enumerate(ordered, 1) if t.may_stay_open]
        )
        self.places = {i: (config, inside, t.grows) for i, (_, t, config, inside) in enumerate(ordered, 1)}


class Damage:
    """A segment that the grammar refuses: the offset where it begins, and the configuration there.

    `frame` is the call in it that was announced, if one was. `at` is the offset where it was refused, `sync` finds its
    end. `hopeful` says that it may be a call at all; None where that is not known yet. `bare` says that the marker that
    should open it is missing, so that the next one of its kind may be without it, too; `plain`, that a bracket is all
    that opened it.
    """

    __slots__ = ("start", "outer", "frame", "at", "sync", "hopeful", "plain")

    def __init__(
        self,
        start: int,
        outer: Config,
        frame: Any,
        at: int,
        hopeful: bool | None,
        bare: bool,
        *,
        plain: bool = False,
    ) -> None:
        self.plain = plain
        self.start, self.outer, self.frame, self.at, self.hopeful = start, outer, frame, at, hopeful
        self.sync = resync(outer.automaton, outer, bare)


@lru_cache(maxsize=256)
def resync(automaton: Automaton, outer: Config, bare: bool = False) -> Resync:
    """The ways on behind a broken call that began in a configuration: the next call there, the call's or the section's
    end, or an opening marker outside of everything. Single characters do not count; see `nearest`.
    """
    inner = _inner(automaton, outer)
    places = {regex: place for regex, place in inner.items() if _is_long(place[0])}
    home = automaton.top_level
    for step in automaton.top_level_markers:
        if ("begin", "code") in step.after or (step.inserted and not bare):
            continue  # a fence is part of a broken call as likely as not
        regex = step.terminal.regex
        if step.terminal.canonical.strip() in ("{", "["):  # elsewhere in a line it is as likely part of the call
            regex = f"(?<![^\n])(?:{regex})"
        places.setdefault(regex, (step.terminal, home, False))
    return Resync(places)


@lru_cache(maxsize=256)
def nearest(automaton: Automaton, outer: Config) -> Resync | None:
    """The same with single characters, for formats whose calls end with nothing else. None for others."""
    inner = _inner(automaton, outer)
    ends = _inner(automaton, outer, calls=True)
    if any(_is_long(terminal) for terminal, _, inside in ends.values() if inside):
        return None
    return Resync(inner)


def _is_long(terminal: Terminal) -> bool:
    return len(terminal.canonical.strip() or terminal.regex) > 2


def _inner(automaton: Automaton, outer: Config, *, calls: bool = False) -> dict[str, tuple[Terminal, Config, bool]]:
    """The same without the markers outside of everything; with `calls` only where a call ends."""
    home, start = automaton.top_level, automaton.start
    places: dict[str, tuple[Terminal, Config, bool]] = {}
    if outer not in (home, start):
        for step in [t for t in outer.markers if not t.inserted]:
            places[step.terminal.regex] = (step.terminal, outer, False)
    queue, seen = [outer], {outer.stack}
    for config in queue:
        for step in _steps(config):
            if step.inserted:
                continue
            target = step.target
            # what ends deeper inside is another call, of something that was not opened
            ends = ("end", "tool_call") in step.after and len(target.stack) <= len(outer.stack) + 1
            if ends or (target in (home, start) and not calls):
                places.setdefault(step.terminal.regex, (step.terminal, target if ends else home, True))
            if target not in (home, start) and target.stack not in seen and len(seen) < _MAX_CONFIGS:
                seen.add(target.stack)
                queue.append(target)
    return {regex: place for regex, place in places.items() if place[0].short.startswith("_")}


def _steps(config: Config) -> list[Transition]:
    return [*([config.free] if config.free else []), *config.embedded, *config.markers]
