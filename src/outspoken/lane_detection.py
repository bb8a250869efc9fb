"""Whole, sound text whose format is not known, read by the lanes of the formats that are found in it.

This does what the detector does, where the lanes can tell what each likely format makes of a segment. Whatever else
there is, the detector reads the text from its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import paths, registry
from .detection import watch
from .lanes import Lane, is_encodable, lane_of, reply_of, segment
from .openers import Openers, like, opening_markers
from .operations import HANDLERS
from .replies import Reply, Text
from .settings import Settings
from .sprint import BLANK, LONG
from .tools import Tools
from .trials import PLAIN


class _Plain(NamedTuple):
    """What is between the segments, in an edition of the formats."""

    edition: int
    openers: Openers
    find: Any
    #: the groups of `find` from this one on are plain text's own markers
    own: int
    long: Any
    ahead: Any
    lane: Lane


class _Read(NamedTuple):
    """A segment that a lane has read: what it is, where it ends, and whether what ended there is text."""

    lane: Lane
    segments: list[Any]
    end: int
    after_text: bool


@registry.remembered
def _plain(edition: int) -> _Plain:
    lane = lane_of(PLAIN, edition)
    start = lane.automaton.start
    openers = opening_markers(True, edition)
    short, long = watch("find whole", True, edition), watch("find long", True, edition)
    ahead = paths.step(start, "ahead whole", HANDLERS).match if start.ahead else None
    return _Plain(edition, openers, short.find, len(openers.numbers) + 1, long.find, ahead, lane)


def read(text: str, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a whole text; None where only the detector can tell."""
    plain = _plain(registry.edition())
    if len(text) > settings.max_chars or not is_encodable(text):
        return None
    given = Tools.of(tools)
    segments: list[Any] = []
    detected: str | None = None
    pos, length, after = 0, len(text), True
    if plain.ahead is not None and plain.ahead(text, 0) is not None:
        head = plain.lane.read_head(text, given, settings.max_depth)
        if head.__class__ is not tuple:
            return None
        segments, pos, _, after = head
    trims = own = plain.lane.automaton.trims
    while pos < length:
        match = (plain.find if length - pos <= LONG else plain.long)(text, pos)
        start = length if match is None else match.start()
        piece = text[pos:start]
        if pos and not after and "TEXT" in trims:
            piece = piece.lstrip(BLANK)
            pos = start - len(piece)
        if match is None:
            _add(segments, piece, pos)
            break
        if match.lastindex >= plain.own:
            said = pos + len(piece.rstrip(BLANK))
            found = _own(plain.lane, text, start, said, after or said > pos, given, settings.max_depth)
        else:
            found = _segment(plain, text, match, given, settings.max_depth, detected)
        if found is None:
            return None
        trims = found.lane.automaton.trims if found.lane is not plain.lane else trims
        _add(
            segments, piece.rstrip(BLANK) if "TEXT" in (trims if found.lane is not plain.lane else own) else piece, pos
        )
        for made in found.segments:
            if made.__class__ is Text:
                _add(segments, made.text, made.span[0])
            else:
                segments.append(made)
        pos, after = found.end, found.after_text
        if detected is None and found.lane is not plain.lane:
            detected = found.lane.format
    return reply_of(text, detected, segments)


def _add(segments: list[Any], piece: str, start: int) -> None:
    """Add text that stands at a place to the segments, or to the text before it."""
    if not piece:
        return
    end = start + len(piece)
    last = segments[-1] if segments else None
    if last is not None and last.__class__ is Text and last.span[1] == start:
        segments[-1] = segment(1, last.text + piece, last.span[0], end)
    else:
        segments.append(segment(1, piece, start, end))


def _own(lane: Lane, text: str, start: int, said: int, after: bool, tools: Tools | None, depth: int) -> _Read | None:
    """What stands at plain text's own marker; None where that is not certain."""
    found = lane.read_on(text, start, tools, depth, said, after)
    return _Read(lane, found[0], found[1], found[3]) if found.__class__ is tuple else None


def _segment(
    plain: _Plain, text: str, match: Any, tools: Tools | None, depth: int, detected: str | None
) -> _Read | None:
    """What stands at a marker; None where that is not certain."""
    start: int = match.start()
    group: int = match.lastindex
    number = plain.openers.numbers[group - 1]
    for name in plain.openers.found.get(number, ()):
        if plain.openers.rivals(number, name)(text, start) is None:
            lane = lane_of(name, plain.edition)
            found = lane.read_segment(text, start, tools, depth)
            if found.__class__ is tuple:
                return _told(lane, found, text, start)
            break
    return _best(plain, number, text, start, tools, depth, detected)


def _best(
    plain: _Plain, number: int, text: str, start: int, tools: Tools | None, depth: int, detected: str | None
) -> _Read | None:
    """What the best of several likely formats makes of a segment; None where a lane cannot tell."""
    names, likely = plain.openers.at(number, text, start, final=True)
    likely = likely or names
    likely = [name for name in likely if like(name) not in likely]
    for candidates in (likely, [name for name in names if name not in likely]):
        sound: list[tuple[Any, Lane, Any]] = []
        for name in candidates:
            lane = lane_of(name, plain.edition)
            found = lane.read_segment(text, start, tools, depth)
            if found is None or found is True:
                return None
            if found is not False:
                nothing = all(s.kind == "text" for s in found[0])
                rank = nothing, -found[1], name != detected, name != PLAIN, bool(like(name)), name
                sound.append((rank, lane, found))
        if sound:
            _, lane, found = min(sound)
            return _told(lane, found, text, start)
    return None


def _told(lane: Lane, found: Any, text: str, start: int) -> _Read | None:
    """A segment that was read; None where it is no more than its text."""
    if found.__class__ is not tuple:
        return None
    segments, end, _, after = found
    for made in segments:
        if made.__class__ is not Text:
            return _Read(lane, segments, end, after)
    said = "".join([made.text for made in segments])
    return None if said == text[start:end] else _Read(lane, segments, end, after)
