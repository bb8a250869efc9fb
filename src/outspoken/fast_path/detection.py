"""The fast path for complete, sound text of unknown format: it uses the fast paths of the formats that it finds.

It decides as the detector does, if the fast paths can tell what each likely format reads. Everything else is left to
the detector, which reads the text from its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.detection.opener_index import FoundOpener, OpenerIndex, opener_index
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN, like
from outspoken.notations.tools import Tools
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reply, Text, ToolCall
from outspoken.results.settings import Settings

from .reader import FastPath, fast_path_of, reply_of
from .runtime import segment


class _Plain(NamedTuple):
    """The reader of plain text between the segments, in an edition of the formats."""

    edition: int
    openers: OpenerIndex
    #: the number of the first marker of plain text itself
    first_own: int
    fast_path: FastPath


#: What was read at a marker: by which fast path, the segments, where they end, whether they end with text, and whether
#: the marker is plain text's own, so that no format was detected.
_Read = tuple[FastPath, list[Any], int, bool, bool]


@registry.cached
def _plain(edition: int) -> _Plain | None:
    fast_path = fast_path_of(PLAIN, edition)
    if fast_path is None:
        return None
    openers = opener_index(True, edition)
    return _Plain(edition, openers, len(openers.terminals) + 1, fast_path)


def read(text: str, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a complete text; None if only the detector can tell."""
    if len(text) > settings.max_chars or replace_surrogates(text) is not text:
        return None
    plain = _plain(registry.edition())
    if plain is None:
        return None
    found = _Reader(text, Tools.of(tools), settings.max_depth, plain)
    return reply_of(text, found.detected, found.segments) if found.read() else None


class _Reader:
    """Reads one text. `segments` are those read so far, `detected` is the format of the first one that is no text."""

    __slots__ = ("text", "tools", "depth", "plain", "segments", "detected", "_pos", "_after", "_trims")

    def __init__(self, text: str, tools: Tools | None, depth: int, plain: _Plain) -> None:
        self.text, self.tools, self.depth, self.plain = text, tools, depth, plain
        self.segments: list[Any] = []
        self.detected: str | None = None
        self._pos, self._after, self._trims = 0, True, plain.fast_path.trims_text

    def read(self) -> bool:
        """Read the text; returns False if only the detector can tell."""
        plain, text, length = self.plain, self.text, len(self.text)
        match_leading = plain.fast_path.match_leading
        if match_leading is not None and match_leading(text, 0) is not None:
            head = plain.fast_path.read_head(text, self.tools, self.depth)
            if head.__class__ is not tuple:
                return False
            self.segments, self._pos, _, self._after = head
        while self._pos < length:
            pos = self._pos
            place = plain.openers.find(text, pos)
            start = length if place is None else place[0]
            piece = text[pos:start]
            if pos and not self._after and self._trims:
                piece = piece.lstrip(BLANK)
                pos = start - len(piece)
            if place is None:
                self._add(piece, pos)
                return True
            found = self._read_at(place, piece, pos)
            if found is None:
                return False
            self._take(found, piece, pos)
        return True

    def _read_at(self, place: FoundOpener, piece: str, pos: int) -> _Read | None:
        """Read what begins with a marker; None if only the detector can tell."""
        start, number, group, _ = place
        plain, text = self.plain, self.text
        if number >= plain.first_own:
            path, end = plain.fast_path, pos + len(piece.rstrip(BLANK))
            found = path.read_in_text(text, start, self.tools, self.depth, end, self._after or end > pos)
            return (path, found[0], found[1], found[3], True) if found.__class__ is tuple else None
        openers = plain.openers
        for name in openers.recent.get(number, ()):
            if not openers.has_rival(name, text, start, group):
                path = fast_path_of(name, plain.edition)
                found = path and path.read_segment(text, start, self.tools, self.depth)
                if path and found.__class__ is tuple:
                    return self._unless_text(path, found, start)
                break
        return self._best(start)

    def _best(self, start: int) -> _Read | None:
        """Read a segment by the best of several likely formats; None if only the detector can tell."""
        names, likely = self.plain.openers.at(self.text, start, final=True)
        for candidates in (likely, [name for name in names if name not in likely]):
            sound: list[tuple[FastPath, Any]] = []
            for name in candidates:
                path = fast_path_of(name, self.plain.edition)
                found = path and path.read_segment(self.text, start, self.tools, self.depth)
                if path is None or found is None or found is True:
                    return None
                if found is not False:
                    sound.append((path, found))
            if sound:
                path, found = sound[0] if len(sound) == 1 else min(sound, key=self._rank)
                return self._unless_text(path, found, start)
        return None

    def _rank(self, read: tuple[FastPath, Any]) -> tuple[Any, ...]:
        """The sort key of formats that read a segment, the best first."""
        path, (segments, end, _, _) = read
        is_text = all(s.__class__ is Text for s in segments)
        no_call = not any(s.__class__ is ToolCall for s in segments)
        name = path.format
        return is_text, no_call, -end, name != self.detected, name != PLAIN, bool(like(name)), name

    def _unless_text(self, path: FastPath, found: Any, start: int) -> _Read | None:
        """What was read; None if it is nothing but the text itself."""
        segments, end, _, after = found
        for made in segments:
            if made.__class__ is not Text:
                return path, segments, end, after, False
        read = "".join([made.text for made in segments])
        return None if read == self.text[start:end] else (path, segments, end, after, False)

    def _take(self, found: _Read, piece: str, pos: int) -> None:
        """Append the text before a segment, and the segment."""
        path, segments, self._pos, self._after, own = found
        if not own:
            self._trims = path.trims_text
        if path is not self.plain.fast_path:
            self.detected = self.detected or path.format
        if piece:
            self._add(piece.rstrip(BLANK) if path.trims_text else piece, pos)
        for made in segments:
            if made.__class__ is Text:
                self._add(made.text, made.span[0])
            else:
                self.segments.append(made)

    def _add(self, piece: str, start: int) -> None:
        """Append text that begins at `start`, to the last segment if that is text which ends there."""
        if not piece:
            return
        end = start + len(piece)
        last = self.segments[-1] if self.segments else None
        if last is not None and last.__class__ is Text and last.span[1] == start:
            self.segments[-1] = segment(1, last.text + piece, last.span[0], end)
        else:
            self.segments.append(segment(1, piece, start, end))
