"""Coordinates in a format whose kin write them in other spaces: where it was detected, they are not converted.

Each action with such points is reported: with a warning where a screen is given, since pixels are expected then, and
with a note where none is. Their `space` is that of the format that was found, and the caller may convert them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from outspoken.grammar import registry
from outspoken.results.diagnostics import PendingDiagnostic, Severity
from outspoken.results.geometry import Box, Point
from outspoken.results.settings import Settings

if TYPE_CHECKING:
    from outspoken.semantics.builder import Builder

#: Spaces without numbers of a place.
_WITHOUT_POINTS = ("", "mark", "desc")


class Spaces(NamedTuple):
    """The spaces in which the points of a segment may be written, and how severe it is that they are not known."""

    names: tuple[str, ...]
    severity: Severity

    def keep_numbers(self, builder: Builder) -> None:
        """Let a builder leave points in the numbers of the model."""
        settings = replace(builder.context.settings, clamp=False)
        builder.context = builder.state.context = builder.context._replace(settings=settings)

    def reports(self, name: str, segments: Iterable[Any]) -> list[PendingDiagnostic]:
        """A diagnostic for each action with points that a format has read."""
        message = f"the space of its points may be {' or '.join(self.names)}; they are as the model wrote them"
        spans = [segment.span for segment in segments if has_points(segment)]
        return [PendingDiagnostic("ambiguous-space", message, at, self.severity, name, helps=_HELPS) for at in spans]


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
    return Spaces(found, "note" if settings.screen is None else "warning")


def has_points(segment: Any) -> bool:
    """Is a segment an action with points?"""
    fields = cast("dict[str, Any]", vars(segment))
    return segment.kind == "action" and any(True for _ in _points(fields.values()))


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
