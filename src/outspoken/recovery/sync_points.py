"""Synchronisation points: the markers at which reading can continue behind a damaged segment."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.marker_search import compile_search
from outspoken.grammar.matchers import OpenMarkers
from outspoken.grammar.tables import Terminal, order
from outspoken.patterns.alike import compile_arriving

#: No more configurations than this are searched for the end of a call.
_MAX_CONFIGS = 300


class SyncPoint(NamedTuple):
    """A marker at which a damaged segment may end.

    Reading continues in `config`: behind the marker if that `belongs_to_segment`, else before it.
    """

    terminal: Terminal
    config: Config
    belongs_to_segment: bool


class SyncPoints:
    """Finds the next synchronisation point. `points` gives the point of each group of a match.

    What finds it is compiled when it is first used: a whole text needs one of both, and most of them need none.
    """

    def __init__(self, points: dict[str, SyncPoint]) -> None:
        self._ordered = sorted(points.items(), key=lambda item: order(item[1].terminal))
        self._source = "|".join([f"({pattern})" for pattern, _ in self._ordered]) or "(?!)"
        self.points = {i: point for i, (_, point) in enumerate(self._ordered, 1)}

    @cached_property
    def find(self) -> Any:
        """Finds the next point in a text that is complete."""
        return compile_search(self._source, [point.terminal for _, point in self._ordered])[0]

    @cached_property
    def find_partial(self) -> Any:
        """Finds the next point in a text that is still arriving."""
        return compile_arriving(self._source).search

    @cached_property
    def open_markers(self) -> OpenMarkers:
        """The points that may be incomplete where another one has matched."""
        may_be_open = [(p, i) for i, (p, point) in enumerate(self._ordered, 1) if point.terminal.may_stay_open]
        return OpenMarkers([(compile_arriving(pattern), i) for pattern, i in may_be_open])


def sync_points(outer: Config, lacks_opener: bool = False) -> SyncPoints:
    """The synchronisation points behind a call that began in the configuration `outer`.

    They are the next call there, the end of the call or of its section, and the top-level opening markers; if the call
    `lacks_opener`, also those that stand without their opener. Single characters do not count; see
    `single_character_points`. They are kept with the configuration.
    """
    found: SyncPoints | None = outer.matchers.get(("sync", lacks_opener))
    if found is None:
        found = outer.matchers["sync", lacks_opener] = SyncPoints(_points(outer, lacks_opener=lacks_opener))
    return found


def _points(outer: Config, *, lacks_opener: bool) -> dict[str, SyncPoint]:
    points = {pattern: p for pattern, p in _inner_points(outer).items() if _is_long(p.terminal)}
    for step in outer.automaton.top_level_markers:
        if ("begin", "code") in step.after or (step.inserted and not (lacks_opener or step.replaces)):
            continue  # a fence is part of a broken call as likely as not
        pattern = step.terminal.regex
        written = step.inserted if step.replaces else step.terminal.canonical
        if written.strip() in ("{", "["):  # elsewhere in a line it is as likely part of the call
            pattern = f"(?<![^\n])(?:{pattern})"
        points.setdefault(pattern, SyncPoint(step.terminal, outer.automaton.top_level, False))
    return points


@lru_cache(maxsize=256)
def single_character_points(outer: Config) -> SyncPoints | None:
    """The synchronisation points with single characters, if the calls of a format end with nothing else."""
    points, ends = _inner_points(outer), _inner_points(outer, only_calls=True)
    if any(_is_long(point.terminal) for point in ends.values() if point.belongs_to_segment):
        return None
    return SyncPoints(points)


def _is_long(terminal: Terminal) -> bool:
    return len(terminal.canonical.strip() or terminal.regex) > 2


def _inner_points(outer: Config, *, only_calls: bool = False) -> dict[str, SyncPoint]:
    """The points inside the section of a call; with `only_calls`, only those where a call ends."""
    automaton = outer.automaton
    top_level = (automaton.top_level, automaton.start)
    points: dict[str, SyncPoint] = {}
    if outer not in top_level:
        for step in [t for t in outer.markers if not t.inserted]:
            points[step.terminal.regex] = SyncPoint(step.terminal, outer, False)
    queue, seen = [outer], {outer.stack}
    for config in queue:
        for step in [t for t in config.steps if not _begins_code(t)]:
            target = step.target
            # what ends deeper inside is another call, of something that was not opened
            ends_call = ("end", "tool_call") in step.after and len(target.stack) <= len(outer.stack) + 1
            if ends_call or (target in top_level and not only_calls):
                point = SyncPoint(step.terminal, target if ends_call else automaton.top_level, True)
                points.setdefault(step.terminal.regex, point)
            if target not in top_level and target.stack not in seen and len(seen) < _MAX_CONFIGS:
                seen.add(target.stack)
                queue.append(target)
    return {pattern: point for pattern, point in points.items() if point.terminal.short.startswith("_")}


def _begins_code(step: Transition) -> bool:
    """Does a code sample begin, whose fence is no end of a call?"""
    return any(name == "begin" and "code" in kinds.split() for name, kinds in step.after)
