"""Sound, complete text of unknown format, read by the generated functions of the formats that it is in.

They can tell of most texts all that the parsers would say. Everything else raises `NotSoundError`; then parsers read
the text from its start.
"""

from __future__ import annotations

from typing import Any

from outspoken.engine.text_buffer import BLANK
from outspoken.fast_path.reader import INSIDE, FastPath, fast_path_of
from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN
from outspoken.notations.tools import Tools
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings
from outspoken.semantics.segments import reply_of

from .candidates import Candidate
from .detector import Detector
from .evidence import has_content, is_credible, says_something
from .opener_index import OpenerIndex, Owners, Place, opener_index


class NotSoundError(Exception):
    """Only parsers can tell what a text says."""


def read(text: str, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a complete text; None if only parsers can tell."""
    if settings.screen is not None and settings.coordinates is None:
        return None  # several formats may write the points of a segment in different spaces
    if len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    plain = fast_path_of(PLAIN, registry.edition())
    if plain is None:
        return None
    given = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    detector = SoundDetector(text, given, settings, plain)
    while True:
        try:
            detector.read()
        except NotSoundError:
            if not detector.used_recent:
                return None
            detector = SoundDetector(text, given, settings, plain, uses_recent=False)
        else:
            return reply_of(text, detector.detected, detector.output)


class SoundCandidate(Candidate):
    """Reads one segment by the fast path of a format."""

    has_ended = True

    def __init__(self, name: str, path: FastPath, before: SoundDetector, start: int, wanted: str) -> None:
        output = path.new_output(before.text, before.tools)
        output.continue_from(before.output, start)
        super().__init__(name, output, start, wanted, before.tools, before.settings.max_hold)
        self.path, self._before, self._end = path, before, start

    def begin(self, *, final: bool) -> None:
        """Read the segment."""
        text, start = self._before.text, self.start
        end = self.path.read_part(self.output, text, start, self._before.tools, self._before.settings)
        if end is None or end is True:
            raise NotSoundError
        if end is False:
            self.has_ended, self.refusal = False, (start, None, False)
        else:
            self._end = end

    @property
    def end(self) -> int:
        return self._end

    @property
    def raw(self) -> str:
        return self._before.text[self.start : self._end]

    def read_on_damaged(self, *, final: bool) -> None:
        raise NotSoundError

    def cut(self) -> None:
        raise NotSoundError

    def ends_line(self, openers: OpenerIndex, *, final: bool) -> bool | None:
        return openers.ends_line(self._before.text, self._end, final=True)

    def is_more_than_text(self) -> bool:
        """Is it known that what it reads is not only text? If it lacks evidence, no unlikely format is tried."""
        return self.has_failed or super().is_more_than_text()


class SoundDetector(Detector[SoundCandidate]):
    """Reads a text of which all is there with the fast paths of formats, among them that of plain text.

    At a marker where one format was found before, and no other one is likely, that reads on without a candidate;
    `used_recent` says that this was tried.
    """

    used_recent = False

    def __init__(
        self, text: str, tools: Tools | None, settings: Settings, plain: FastPath, *, uses_recent: bool = True
    ) -> None:
        self._edition = edition = registry.edition()
        super().__init__(opener_index(True, edition), plain.new_output(text, tools))
        self.text, self.tools, self.settings, self._plain = text, tools, settings, plain
        self._uses_recent, self._trims = uses_recent, plain.trims_text
        #: where text begins that is not in the output, where markers are searched from, and where markup ended last
        self._pos, self._scan, self._behind = 0, 0, -1
        #: the formats that have read anything
        self._names: set[str] = set()

    # reading

    def read(self) -> None:
        """Read the text."""
        self._read_head()
        self.run(final=True)
        self.output.flush()
        plain, path = self._plain, None if self.detected is None else fast_path_of(self.detected, self._edition)
        alternates = path is None or not self._names <= {path.format, PLAIN}
        if self._may_report_spaces() or not (path or plain).is_certain(
            self.text, self.output, self.tools, self.settings, plain, alternates=alternates
        ):
            raise NotSoundError

    def _read_head(self) -> None:
        """Read what precedes all text."""
        match, text = self._plain.match_leading, self.text
        # no such marker begins with a letter or a digit
        if match is not None and not text[:1].isalnum() and match(text, 0) is not None:
            end = self._plain.read_part(self.output, text, 0, self.tools, self.settings, state=0, reads=INSIDE)
            self._pos = self._behind = _place_of(end)

    def find(self, *, final: bool) -> Place | None:
        """Read on to the next opening marker of another format, and return it; None at the end."""
        text, find, output = self.text, self.openers.find, self.output
        length, foreign = len(text), len(self.openers.terminals)
        while (pos := self._pos) < length:
            opener = find(text, max(pos, self._scan), behind=self._behind)
            start = length if opener is None else opener.start
            if pos and pos < start and self._trims and not output.after_text:
                self._pos = pos = start - len(text[pos:start].lstrip(BLANK))
            if opener is None:
                output.text(text[pos:], pos, length)
                break
            if opener.number > foreign:
                self._read_own(start)
                continue
            path = self._recent_at(opener) if self._uses_recent else None
            if path is None:
                return opener
            self._read_recent(path, opener)
        return None

    def _read_own(self, start: int) -> None:
        """Read what begins with a marker of plain text itself."""
        path, output, pos = self._plain, self.output, self._pos
        text_end = pos + len(self.text[pos:start].rstrip(BLANK))
        own = path.new_output(self.text, self.tools)
        own.continue_from(output, text_end)
        own.after_text = output.after_text or text_end > pos
        end = _place_of(path.read_part(own, self.text, start, self.tools, self.settings, reads=INSIDE))
        if not own.after_text:
            self._behind = end
        self._add_text(path, start)
        output.absorb(own)
        self._pos = end

    def _recent_at(self, opener: Place) -> FastPath | None:
        """The fast path of the format that was opener at a marker before, if no other one is likely there."""
        start, number, group, _ = opener
        for name in self.openers.recent.get(number, ()):
            if not self.openers.has_rival(name, self.text, start, group):
                return fast_path_of(name, self._edition)
        return None

    def _read_recent(self, path: FastPath, opener: Place) -> None:
        """Read a segment by the format that was opener here before, right into the output."""
        self.used_recent = True
        start, _, group, _ = opener
        self._add_text(path, start)
        output = self.output
        count = len(output.segments)
        output.separates = path.separates
        end = path.read_into(output, self.text, start, self.tools, self.settings)
        output.separates = False
        is_lone = self.detected is None and len(output.segments) == count  # a marker, which tells no format
        if end is None or is_lone:
            raise NotSoundError  # the text before the marker and the segment must be read otherwise
        if self.openers.wants_evidence(group):
            names, _, evidence = self.owners_at(opener, final=True)
            wanted = evidence.get(path.format, "")
            if path.format not in names or (
                wanted and not self._is_evident(output.segments[count:], start, end, wanted)
            ):
                raise NotSoundError
        if self.detected is None and path is not self._plain:
            self.detected = path.format
        self._go_on(path, end)

    def _is_evident(self, segments: list[Any], start: int, end: int, wanted: str) -> bool:
        """Is there the evidence that is wanted behind segments and in them?"""
        return is_credible(segments, self.tools, wanted) and (
            end - start > self.settings.max_hold or self.openers.ends_line(self.text, end, final=True) is True
        )

    def _add_text(self, path: FastPath, end: int) -> None:
        """Take over the text before a segment."""
        pos = self._pos
        piece = self.text[pos:end]
        if path.trims_text:
            piece = piece.rstrip(BLANK)
        if piece:
            self.output.text(piece, pos, pos + len(piece))

    def _go_on(self, path: FastPath, end: int) -> None:
        """Go on behind a segment of a format."""
        self._pos = self._behind = end
        self._trims = path.trims_text
        self._names.add(path.format)

    def _may_report_spaces(self) -> bool:
        """May actions be reported whose points may be in several spaces?"""
        if self.settings.coordinates is not None or not any(s.kind == "action" for s in self.output.segments):
            return False
        from .spaces import has_points, may_differ

        return any(map(has_points, self.output.segments)) and any(map(may_differ, self._names))

    # at an opening marker

    def owners_at(self, place: Place, *, final: bool) -> Owners:
        known = self.detected is not None
        return self.openers.at(self.text, place.start, final=True, group=place.group, behind=self._behind, known=known)

    def candidate(self, name: str) -> SoundCandidate:
        path = fast_path_of(name, self._edition)
        if path is None:
            raise NotSoundError
        return SoundCandidate(name, path, self, self.place.start, self.owners.wanted.get(name, ""))

    def pass_over(self) -> None:
        """The marker does not count where it stands, so it is text. What formats have refused is reported."""
        if self.owners.names or not self.openers.is_foreign(self.place.group):
            raise NotSoundError
        self._scan = self.place.start + 1

    def take(self, best: SoundCandidate) -> None:
        """Go on behind the segment, unless a format that has refused it may still find more."""
        if not says_something(best.output) and any(c.refusal or c.has_failed for c in self.tried):
            raise NotSoundError  # another format may take in what is behind the marker, as where a turn ends
        if self.tried != [best] and best.end == len(self.text) and not has_content(best.output):
            raise NotSoundError  # another format may find a call or action in reasoning that goes on to the end
        self._add_text(best.path, best.start)
        self.output.absorb(best.output)
        self._go_on(best.path, best.end)


def _place_of(end: int | bool | None) -> int:
    """Where a fast path has read up to. Raises NotSoundError if it could not read."""
    if end is None or end.__class__ is bool:
        raise NotSoundError
    return end
