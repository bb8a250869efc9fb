"""Coordinates in a format whose kin write them in other spaces: where it was detected, they are not converted.

Each action with such points is reported: with a warning where a screen is given, since pixels are expected then, and
with a note where none is. Their `space` is that of the format that was found, and the caller may convert them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

from outspoken.grammar import registry
from outspoken.results.diagnostics import Severity
from outspoken.results.geometry import Box, Point
from outspoken.results.settings import Settings
from outspoken.semantics.builder import Builder

#: Spaces without numbers of a place.
_WITHOUT_POINTS = ("", "mark", "desc")


class Spaces(NamedTuple):
    """The spaces in which the points of a segment may be written, and the settings that convert none of them."""

    names: tuple[str, ...]
    settings: Settings
    severity: Severity

    def keep_numbers(self, builder: Builder) -> None:
        """Let a builder leave points in the numbers of the model."""
        builder.context = builder.state.context = builder.context._replace(settings=self.settings)

    def report(self, builder: Builder) -> None:
        """Report each action with points that a builder has read."""
        segments: list[Any] = builder.output.segments
        for segment in segments:
            if has_points(segment):
                message = f"the space of its points may be {' or '.join(self.names)}; they are as the model wrote them"
                builder.recorder.report("ambiguous-space", message, segment.span, self.severity, helps=_HELPS)


_HELPS = ("name the format, or the space: `Settings(coordinates=…)`",)


def spaces_of(name: str, settings: Settings, sharing: Iterable[str] = ()) -> Spaces | None:
    """The spaces in which a format and its kin write points, if they differ and the caller names none.

    `sharing` are the formats that have the marker with which the segment begins.
    """
    if settings.coordinates is not None:
        return None
    found = _kin_spaces(name, tuple(sharing), registry.edition())
    if len(found) < 2:
        return None
    severity = "note" if settings.screen is None else "warning"
    return Spaces(found, replace(settings, clamp=False), severity)


def has_points(segment: Any) -> bool:
    """Is a segment an action with points?"""
    fields = cast("dict[str, Any]", vars(segment))
    return segment.kind == "action" and any(True for _ in _points(fields.values()))


def may_differ(name: str) -> bool:
    """May the kin of a format write points in other spaces, whatever marker its segments begin with?"""
    edition = registry.edition()
    return len(_kin_spaces(name, registry.names(edition), edition)) > 1


@registry.cached
def _kin_spaces(name: str, sharing: tuple[str, ...], edition: int) -> tuple[str, ...]:
    """The spaces of the formats of GUI actions that are kin of one.

    They are like the same format, share a marker and all words with it, or have all of its words or it has all of
    theirs in a larger set: then their calls are written alike, whatever stands round them.
    """
    words = set(registry.header(name).actions)
    kin = [other for other in registry.names(edition) if _origin(other) == _origin(name)]
    kin += [other for other in sharing if set(registry.header(other).actions) == words]
    kin += [
        other for other in registry.names(edition) if words and _are_part(words, set(registry.header(other).actions))
    ]
    headers = [registry.header(other) for other in kin]
    return tuple(sorted({str(header.space) for header in headers if header.actions}.difference(_WITHOUT_POINTS)))


def _are_part(words: set[str], others: set[str]) -> bool:
    """Are the words of one of two formats all words of the other one, which has more?"""
    return bool(others) and (words < others or others < words)


def _origin(name: str) -> str:
    """The first of the formats of GUI actions that a format is like."""
    while (other := registry.like(name)) and registry.header(other).actions:
        name = other
    return name


def _points(values: Iterable[Any]) -> Iterator[Point | Box]:
    """The points and boxes in the fields of an action."""
    for value in values:
        if isinstance(value, (Point, Box)):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _points(cast("Iterable[Any]", value))
