"""Whole, sound text whose format is not known, read by the lanes of the formats that are found in it.

This does what the detector does, where that is certain at once: at each opening marker one format alone is likely, and
its lane reads the segment. Whatever else there is, the detector reads the text from its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import paths, registry
from .detection import Openers, opening_markers, watch
from .lanes import Lane, is_encodable, lane_of, reply_of, segment
from .operations import HANDLERS
from .replies import Reply
from .settings import Settings
from .sprint import BLANK, LONG
from .tools import Tools
from .trials import PLAIN


class _Plain(NamedTuple):
    """What is between the segments, in an edition of the formats."""

    openers: Openers
    find: Any
    #: the groups of `find` from this one on are plain text's own markers
    own: int
    long: Any
    ahead: Any
    lane: Lane
    trims: frozenset[str]


@registry.remembered
def _plain(edition: int) -> _Plain:
    lane = lane_of(PLAIN, edition)
    automaton = lane.automaton
    openers = opening_markers(True, edition)
    short, long = watch("find whole", True, edition), watch("find long", True, edition)
    ahead = paths.step(automaton.start, "ahead whole", HANDLERS).match if automaton.start.ahead else None
    return _Plain(openers, short.find, len(openers.numbers) + 1, long.find, ahead, lane, automaton.trims)


def read(text: str, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a whole text; None where only the detector can tell."""
    edition = registry.edition()
    plain = _plain(edition)
    if len(text) > settings.max_chars or not is_encodable(text) or (plain.ahead is not None and plain.ahead(text, 0) is not None):
        return None
    given = Tools.of(tools)
    segments: list[Any] = []
    detected: str | None = None
    pos, end, after, trims = 0, len(text), True, plain.trims
    while pos < end:
        match = (plain.find if end - pos <= LONG else plain.long)(text, pos)
        start = end if match is None else match.start()
        piece = text[pos:start]
        if pos and not after and "TEXT" in trims:
            piece = piece.lstrip(BLANK)
            pos = start - len(piece)
        if match is None:
            if piece:
                segments.append(segment(1, piece, pos, end))
            break
        found = _segment(plain, text, start, match.lastindex, given, settings, edition)
        if found is None:
            return None
        lane, (made, at, _, now) = found
        if lane is plain.lane or "TEXT" in lane.automaton.trims:
            piece = piece.rstrip(BLANK)
        if piece:
            segments.append(segment(1, piece, pos, pos + len(piece)))
        segments += made
        pos, after = at, now
        if lane is not plain.lane:
            trims = lane.automaton.trims
            detected = detected or lane.automaton.tables.header.format
    return reply_of(text, detected, segments)


def _segment(
    plain: _Plain, text: str, start: int, group: int, tools: Tools | None, settings: Settings, edition: int
) -> tuple[Lane, Any] | None:
    """What stands at a marker, with the lane that reads it; None where that is not certain."""
    if group >= plain.own:
        lane = plain.lane
    else:
        number = plain.openers.numbers[group - 1]
        for name in plain.openers.found.get(number, ()):
            if plain.openers.rivals(number, name)(text, start) is None:
                lane = lane_of(name, edition)
                break
        else:
            return None
    found = lane.read_segment(text, start, tools, settings.max_depth)
    if found is None or not found[0] or any(s.kind == "text" for s in found[0]):
        return None
    return lane, found
