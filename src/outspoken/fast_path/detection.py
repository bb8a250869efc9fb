"""The fast path for complete, sound text of unknown format: it uses the fast paths of the formats that it finds.

It decides as the detector does, if the fast paths can tell what each likely format reads. Everything else is left to
the detector, which reads the text from its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.detection.evidence import has_actions, has_content, is_credible, is_text, says_something
from outspoken.detection.opener_index import FoundOpener, OpenerIndex, Owners, opener_index
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN, like
from outspoken.notations.tools import Tools
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings
from outspoken.semantics.output import Output
from outspoken.semantics.segments import reply_of

from .reader import FastPath, ReadSegment, fast_path_of


class _Plain(NamedTuple):
    """The reader of plain text between the segments, in an edition of the formats."""

    edition: int
    openers: OpenerIndex
    #: the number of the first marker of plain text itself
    first_own: int
    fast_path: FastPath
    #: the fast paths of the formats that were found, by name
    paths: dict[str, FastPath | None]

    def path_of(self, name: str) -> FastPath | None:
        """The fast path of a format, if it has one."""
        paths = self.paths
        if name not in paths:
            paths[name] = fast_path_of(name, self.edition)
        return paths[name]


class _Read(NamedTuple):
    """What was read at a marker, and by which fast path. `is_own`: the marker is plain text's own."""

    path: FastPath
    output: Output
    end: int
    is_own: bool = False


@registry.cached
def _plain(edition: int) -> _Plain | None:
    fast_path = fast_path_of(PLAIN, edition)
    if fast_path is None:
        return None
    openers = opener_index(True, edition)
    return _Plain(edition, openers, len(openers.terminals) + 1, fast_path, {})


def read(text: str, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a complete text; None if only the detector can tell."""
    if settings.screen is not None and settings.coordinates is None:
        return None  # several formats may write the points of a segment in different spaces
    if len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    plain = _plain(registry.edition())
    if plain is None:
        return None
    given = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    for uses_recent in (True, False):
        found = _Reader(text, given, settings, plain)
        if found.read(uses_recent=uses_recent):
            return reply_of(text, found.detected, found.output)
        if not found.used_recent:
            break
    return None


class _Reader:
    """Reads one text. `detected` is the format of the first segment that is no text, `found` are those of all.

    At a marker where one format was found before, and no other one is likely, that reads on. `used_recent` says that
    this was tried.
    """

    __slots__ = (
        "text",
        "tools",
        "settings",
        "plain",
        "output",
        "detected",
        "found",
        "used_recent",
        "_behind",
        "_pos",
        "_trims",
    )

    def __init__(self, text: str, tools: Tools | None, settings: Settings, plain: _Plain) -> None:
        self.text, self.tools, self.settings, self.plain = text, tools, settings, plain
        self._pos, self._trims = 0, plain.fast_path.trims_text
        #: where markup ended last
        self._behind: int = -1
        self.output = plain.fast_path.new_output(text, tools)
        self.detected: str | None = None
        self.found: set[str] = set()
        self.used_recent = False

    def read(self, *, uses_recent: bool) -> bool:
        """Read the text; returns False if only the detector can tell."""
        plain, text, length = self.plain, self.text, len(self.text)
        match_leading = plain.fast_path.match_leading
        # no such marker begins with a letter or a digit
        if match_leading is not None and not text[:1].isalnum() and match_leading(text, 0) is not None:
            head = plain.fast_path.read_head(text, self.tools, self.settings)
            if not isinstance(head, ReadSegment):
                return False
            self.output = head.output
            self._pos = self._behind = head.end
        find, recent_at, output = plain.openers.find, self._recent_at, self.output
        scan = self._pos
        while (pos := self._pos) < length:
            place = find(text, max(pos, scan), behind=self._behind)
            start = length if place is None else place[0]
            path = recent_at(place) if uses_recent and place is not None else None
            owners = self._owners_at(place) if path is None and place is not None else None
            if place and owners and not owners.names and plain.openers.is_foreign(place):
                scan = start + 1  # the marker does not count here
                continue
            piece = text[pos:start]
            if pos and piece and self._trims and not output.after_text:
                piece = piece.lstrip(BLANK)
                pos = start - len(piece)
            if place is None:
                output.text(piece, pos, length)
                break
            if path is None:
                found = self._read_at(place, owners, piece, pos)
                if found is None:
                    return False
                self._take(found, piece, pos, place)
                continue
            self.used_recent = True
            if piece:
                self._add_text(path, piece, pos)
            count = len(output.segments)
            output.separates = path.separates
            end = path.read_into(output, text, start, self.tools, self.settings)
            output.separates = False
            is_lone = self.detected is None and len(output.segments) == count  # a marker, which tells no format
            if end is None or is_lone or not self._is_evident(place, path.format, output.segments[count:], end):
                return False  # the text before the marker and the segment must be read otherwise
            self._pos, self._behind, self._trims = end, end, path.trims_text
            self.found.add(path.format)
            if self.detected is None and path is not plain.fast_path:
                self.detected = path.format
        output.flush()
        path = plain.path_of(self.detected) if self.detected is not None else None
        path = path or plain.fast_path
        return not self._may_report_spaces() and path.is_certain(
            text, output, self.tools, self.settings, plain.fast_path
        )

    def _may_report_spaces(self) -> bool:
        """May the detector report actions whose points may be in several spaces?"""
        if self.settings.coordinates is not None or not any(s.kind == "action" for s in self.output.segments):
            return False
        from outspoken.detection.spaces import has_points, may_differ

        return any(map(has_points, self.output.segments)) and any(may_differ(name) for name in self.found)

    def _owners_at(self, place: FoundOpener) -> Owners | None:
        """The formats that have a marker; None if it is plain text's own."""
        start, number, group, _ = place
        if number >= self.plain.first_own:
            return None
        return self.plain.openers.at(
            self.text, start, final=True, group=group, behind=self._behind, known=self.detected is not None
        )

    def _is_evident(self, place: FoundOpener, name: str, segments: list[Any], end: int) -> bool:
        """Is there enough evidence for the segments of a format, which end at a position?"""
        if not self.plain.openers.wants_evidence(place[2]):
            return True
        owners = self._owners_at(place)
        return owners is None or (
            name in owners.names and self._has_end(segments, place[0], end, owners.wanted.get(name, ""))
        )

    def _has_end(self, segments: list[Any], start: int, end: int, wanted: str) -> bool:
        """Is there the evidence that is wanted behind segments and in them?"""
        if not wanted:
            return True
        return is_credible(segments, self.tools, wanted) and (
            end - start > self.settings.max_hold or self.plain.openers.ends_line(self.text, end, final=True) is True
        )

    def _recent_at(self, place: FoundOpener) -> FastPath | None:
        """The fast path of the format that was found at a marker before, if no other one is likely there."""
        start, number, group, _ = place
        openers = self.plain.openers
        for name in openers.recent.get(number, ()):
            if not openers.has_rival(name, self.text, start, group):
                return self.plain.path_of(name)
        return None

    def _read_at(self, place: FoundOpener, owners: Owners | None, piece: str, pos: int) -> _Read | None:
        """Read what begins with a marker; None if only the detector can tell."""
        start = place[0]
        plain, text = self.plain, self.text
        if owners is None:
            path, end = plain.fast_path, pos + len(piece.rstrip(BLANK))
            after_text = self.output.after_text or end > pos
            found = path.read_in_text(text, start, self.tools, self.settings, self.output, end, after_text)
            return _Read(path, *found, is_own=True) if isinstance(found, ReadSegment) else None
        return self._best(place, owners)

    def _read_by(self, name: str, start: int) -> _Read | bool | None:
        """Read a segment by the fast path of a format; see `FastPath.read_segment`."""
        path = self.plain.path_of(name)
        if path is None:
            return None
        output = path.new_output(self.text, self.tools)
        output.continue_from(self.output, start)
        found = path.read_segment(output, self.text, start, self.tools, self.settings)
        return found if found is None or isinstance(found, bool) else _Read(path, output, found)

    def _best(self, place: FoundOpener, owners: Owners) -> _Read | None:
        """Read a segment by the best of several likely formats; None if only the detector can tell."""
        openers, start, number = self.plain.openers, place[0], place[1]
        names, likely, wanted = owners
        for candidates in (likely, [name for name in names if name not in likely]):
            sound: list[_Read] = []
            lacks_evidence = False
            for name in candidates:
                read = self._read_by(name, start)
                if read is None or read is True:
                    return None
                if read is False:
                    continue
                if self._has_end(read.output.segments, start, read.end, wanted.get(name, "")):
                    sound.append(read)
                else:
                    lacks_evidence = True
            if sound:
                if len(sound) > 1:  # the one that has content is the best
                    sound = [r for r in sound if has_content(r.output) and not is_text(r.output)] or sound
                best = sound[0] if len(sound) == 1 else min(sound, key=self._rank)
                if len(sound) < len(candidates) and not says_something(best.output):
                    return None  # another format may take in what is behind the marker, as where a turn ends
                if len(candidates) > 1 and best.end == len(self.text) and not has_content(best.output):
                    return None  # another format may find a call or action in reasoning that goes on to the end
                openers.remember(number, best.path.format)
                return self._unless_text(best, start)
            if lacks_evidence:
                return None  # the detector tries no unlikely format then
        return None

    def _rank(self, read: _Read) -> tuple[Any, ...]:
        """The sort key of formats that read a segment, the best first."""
        output, name = read.output, read.path.format
        found = is_text(output), not has_content(output), -read.end, not has_actions(output)
        return *found, name != self.detected, name != PLAIN, bool(like(name)), name

    def _unless_text(self, read: _Read, start: int) -> _Read | None:
        """What was read; None if it is nothing but the text itself."""
        if not is_text(read.output):
            return read
        text = "".join([made.text for made in read.output.segments])
        return None if text == self.text[start : read.end] else read

    def _take(self, read: _Read, piece: str, pos: int, place: FoundOpener) -> None:
        """Take over the text before a segment, and the segment that begins with a marker."""
        path, output, self._pos, is_own = read
        self.found.add(path.format)
        if not is_own or not output.after_text:
            self._behind = read.end
        if not is_own:
            self._trims = path.trims_text
        if self.detected is None and path is not self.plain.fast_path:
            is_alone = self.plain.openers.is_alone
            if says_something(output) or not is_alone(place[1], self.text[place[0] : read.end]):
                self.detected = path.format
        self._add_text(path, piece, pos)
        self.output.absorb(output)

    def _add_text(self, path: FastPath, piece: str, pos: int) -> None:
        """Take over the text before a segment."""
        piece = piece.rstrip(BLANK) if path.trims_text else piece
        self.output.text(piece, pos, pos + len(piece))
