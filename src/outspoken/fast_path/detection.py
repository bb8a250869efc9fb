"""Whole, sound text whose format is not known, read by the lanes of the formats that are found in it.

This does what the detector does, where the lanes can tell what each likely format makes of a segment. Whatever else
there is, the detector reads the text from its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.detection.opener_index import PLAIN, Openers, Place, like, opening_markers
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar import matchers, registry
from outspoken.notations.tools import Tools
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reply, Text, ToolCall
from outspoken.results.settings import Settings
from outspoken.semantics.handlers import HANDLERS

from . import reader
from .reader import Lane, lane_of, reply_of, segment


class _Plain(NamedTuple):
    """What is between the segments, in an edition of the formats."""

    edition: int
    openers: Openers
    #: the numbers from this one on are plain text's own markers
    own: int
    leading_markers: Any
    lane: Lane


#: What a lane has read at a marker: the lane, the segments, where they end, whether what ended there is text, and
#: whether plain text was read on, so that no format had to be found.
_Read = tuple[Lane, list[Any], int, bool, bool]

#: how many texts were read in an edition of the formats, as long as they are few
_seen: dict[int, int] = {}


@registry.cached
def _plain(edition: int) -> _Plain:
    lane = lane_of(PLAIN, edition)
    start = lane.automaton.start
    openers = opening_markers(True, edition)
    ahead = matchers.matcher_of(start, "leading whole", HANDLERS).match if start.leading_markers else None
    return _Plain(edition, openers, len(openers.terminals) + 1, ahead, lane)


def read(text: str, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a whole text; None where only the detector can tell."""
    edition = registry.edition()
    if _seen.get(edition, 0) < reader.AFTER:
        _seen[edition] = _seen.get(edition, 0) + 1
        return None
    if len(text) > settings.max_chars or replace_surrogates(text) is not text:
        return None
    found = _Reader(text, Tools.of(tools), settings.max_depth, _plain(edition))
    return reply_of(text, found.detected, found.segments) if found.read() else None


class _Reader:
    """Reads one text. `segments` are what it found so far, `detected` is the first format among them."""

    __slots__ = ("text", "tools", "depth", "plain", "segments", "detected", "_pos", "_after", "_trims")

    def __init__(self, text: str, tools: Tools | None, depth: int, plain: _Plain) -> None:
        self.text, self.tools, self.depth, self.plain = text, tools, depth, plain
        self.segments: list[Any] = []
        self.detected: str | None = None
        self._pos, self._after, self._trims = 0, True, plain.lane.automaton.trims

    def read(self) -> bool:
        """Was all of the text read?"""
        plain, text, length = self.plain, self.text, len(self.text)
        if plain.leading_markers is not None and plain.leading_markers(text, 0) is not None:
            head = plain.lane.read_head(text, self.tools, self.depth)
            if head.__class__ is not tuple:
                return False
            self.segments, self._pos, _, self._after = head
        while self._pos < length:
            pos = self._pos
            place = plain.openers.place(text, pos)
            start = length if place is None else place[0]
            piece = text[pos:start]
            if pos and not self._after and "TEXT" in self._trims:
                piece = piece.lstrip(BLANK)
                pos = start - len(piece)
            if place is None:
                self._add(piece, pos)
                return True
            found = self._found(place, piece, pos)
            if found is None:
                return False
            self._take(found, piece, pos)
        return True

    def _found(self, place: Place, piece: str, pos: int) -> _Read | None:
        """What stands at a marker; None where that is not certain."""
        start, number, group, _ = place
        plain, text = self.plain, self.text
        if number >= plain.own:
            lane, said = plain.lane, pos + len(piece.rstrip(BLANK))
            found = lane.read_on(text, start, self.tools, self.depth, said, self._after or said > pos)
            return (lane, found[0], found[1], found[3], True) if found.__class__ is tuple else None
        openers = plain.openers
        for name in openers.found.get(number, ()):
            if not openers.has_rival(name, text, start, group):
                lane = lane_of(name, plain.edition)
                found = lane.read_segment(text, start, self.tools, self.depth)
                if found.__class__ is tuple:
                    return self._told(lane, found, start)
                break
        return self._best(start)

    def _best(self, start: int) -> _Read | None:
        """What the best of several likely formats makes of a segment; None where a lane cannot tell."""
        names, likely = self.plain.openers.at(self.text, start, final=True)
        likely = likely or names
        likely = [name for name in likely if like(name) not in likely]
        for candidates in (likely, [name for name in names if name not in likely]):
            sound: list[tuple[Lane, Any]] = []
            for name in candidates:
                lane = lane_of(name, self.plain.edition)
                found = lane.read_segment(self.text, start, self.tools, self.depth)
                if found is None or found is True:
                    return None
                if found is not False:
                    sound.append((lane, found))
            if sound:
                lane, found = sound[0] if len(sound) == 1 else min(sound, key=self._rank)
                return self._told(lane, found, start)
        return None

    def _rank(self, read: tuple[Lane, Any]) -> tuple[Any, ...]:
        """The order of the formats that read a segment, the best first."""
        lane, (segments, end, _, _) = read
        nothing = all(s.__class__ is Text for s in segments)
        idle = not any(s.__class__ is ToolCall for s in segments)
        name = lane.format
        return nothing, idle, -end, name != self.detected, name != PLAIN, bool(like(name)), name

    def _told(self, lane: Lane, found: Any, start: int) -> _Read | None:
        """A segment that was read; None where it is no more than its text."""
        segments, end, _, after = found
        for made in segments:
            if made.__class__ is not Text:
                return lane, segments, end, after, False
        said = "".join([made.text for made in segments])
        return None if said == self.text[start:end] else (lane, segments, end, after, False)

    def _take(self, found: _Read, piece: str, pos: int) -> None:
        """Take over the text before a segment, and the segment."""
        lane, segments, self._pos, self._after, own = found
        trims = lane.automaton.trims
        if not own:
            self._trims = trims
        if lane is not self.plain.lane:
            self.detected = self.detected or lane.format
        if piece:
            self._add(piece.rstrip(BLANK) if "TEXT" in trims else piece, pos)
        for made in segments:
            if made.__class__ is Text:
                self._add(made.text, made.span[0])
            else:
                self.segments.append(made)

    def _add(self, piece: str, start: int) -> None:
        """Add text that stands at a place to the segments, or to the text before it."""
        if not piece:
            return
        end = start + len(piece)
        last = self.segments[-1] if self.segments else None
        if last is not None and last.__class__ is Text and last.span[1] == start:
            self.segments[-1] = segment(1, last.text + piece, last.span[0], end)
        else:
            self.segments.append(segment(1, piece, start, end))
