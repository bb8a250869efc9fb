"""Sound, complete text of unknown format, read by the generated functions of the formats that it is in.

They can tell of most texts all that the parsers would say. Everything else raises `NotSoundError`; then parsers read
the text from its start.
"""

from __future__ import annotations

from typing import Any

from outspoken.engine.text_buffer import BLANK
from outspoken.fast_path.reader import INSIDE, FastPath, fast_path_of
from outspoken.fast_path.runtime import DAMAGED
from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN
from outspoken.notations.tools import Tools
from outspoken.results.diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings
from outspoken.semantics.output import Output
from outspoken.semantics.segments import reply_of

from .candidates import Candidate
from .detector import Detector
from .evidence import has_content, is_credible, says_something
from .opener_index import OpenerIndex, Owners, Place, opener_index

#: So many items of a rank are false if nothing is amiss with a reading; any damage makes one of them true.
_WHOLENESS = 6


class NotSoundError(Exception):
    """Only parsers can tell what a text says."""


def read(text: str, tools: Any, settings: Settings) -> Reply | Output | None:
    """The reply to a complete text, or what was read if something is to be reported; None if only parsers can tell."""
    if settings.screen is not None and settings.coordinates is None:
        return None  # several formats may write the points of a segment in different spaces
    if len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    plain = fast_path_of(PLAIN, registry.edition())
    if plain is None:
        return None
    known_tools = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    for uses_recent in (True, False):
        detector = SoundDetector(text, known_tools, settings, plain, uses_recent=uses_recent)
        try:
            return detector.read()
        except NotSoundError:
            if not detector.used_recent:
                break
    return None


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
        if end is False:
            self.has_ended, self.refusal = False, (start, None, False)
        elif end == DAMAGED:
            self.has_ended = False
        else:
            self._end = _place_of(end)

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

    def is_whole(self) -> bool:
        """Is nothing amiss with what it reads? Then it is better than anything that is damaged."""
        return not any(self.rank(None)[:_WHOLENESS])

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
        #: what is to be reported of actions
        self.reports: list[PendingDiagnostic] = []

    # reading

    def read(self) -> Reply | Output:
        """Read the text. Returns the reply, or what was read if no format was found, and something may be reported."""
        self._read_head()
        self.run(final=True)
        self.output.flush()
        plain, path = self._plain, None if self.detected is None else fast_path_of(self.detected, self._edition)
        alternates = path is None or not self._names <= {path.format, PLAIN}
        if (path or plain).is_certain(self.text, self.output, self.tools, self.settings, plain, alternates=alternates):
            reports = place_diagnostics(self.reports, self.text) if self.reports else None
            return reply_of(self.text, self.detected, self.output, diagnostics=reports)
        if not self._names <= {PLAIN}:
            raise NotSoundError
        return self.output

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
        start = opener.start
        self._add_text(path, start)
        output = self.output
        count, length = len(output.segments), output.open_length
        output.separates = path.separates
        end = path.read_into(output, self.text, start, self.tools, self.settings)
        output.separates = False
        # a marker tells no format
        is_lone = self.detected is None and len(output.segments) == count and output.open_length == length
        if end is None or is_lone:
            raise NotSoundError  # the text before the marker and the segment must be read otherwise
        if path.has_evidence and self.openers.wants_evidence(opener.group):
            owners = self.owners_at(opener, final=True)
            wanted = owners.wanted.get(path.format, "")
            if path.format not in owners.names or (
                wanted and not self._is_evident(output.segments[count:], start, end, wanted)
            ):
                raise NotSoundError
        if self.detected is None and path is not self._plain:
            self.detected = path.format
        self._report_spaces(path.format, output.segments[count:], opener)
        self._go_on(path, end)

    def _is_evident(self, segments: list[Any], start: int, end: int, wanted: str) -> bool:
        """Is there the evidence that is wanted behind segments and in them?"""
        return is_credible(segments, self.tools, wanted, self.text[start:end]) and (
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

    def _report_spaces(self, name: str, segments: list[Any], opener: Place) -> None:
        """Report the actions that a format has read at a marker whose points may be in several spaces."""
        if "action" not in [segment.kind for segment in segments]:
            return
        from .spaces import spaces_of  # which few texts need

        spaces = spaces_of(name, self.settings, self.owners_at(opener, final=True).names)
        self.reports += [] if spaces is None else spaces.reports(name, segments)

    # at an opening marker

    def owners_at(self, place: Place, *, final: bool) -> Owners:
        known = self.detected is not None
        return self.openers.at(self.text, place.start, final=True, group=place.group, behind=self._behind, known=known)

    def candidate(self, name: str) -> SoundCandidate:
        path = fast_path_of(name, self._edition)
        if path is None:
            raise NotSoundError
        return SoundCandidate(name, path, self, self.place.start, self.owners.wanted.get(name, ""))

    def _started(self, names: list[str], *, final: bool) -> list[SoundCandidate]:
        """The candidates; those that cannot read the segment without damage only if the others do not read it."""
        rest = [name for name in names if name not in self.owners.sound]
        found = super()._started([name for name in names if name not in rest], final=final)
        if rest and not any(not c.wanted and c.is_whole() for c in found):
            found += super()._started(rest, final=final)
        return found

    def pass_over(self) -> None:
        """The marker does not count where it stands, so it is text. What formats have refused is reported."""
        if self.owners.names or not self.openers.is_foreign(self.place.group):
            raise NotSoundError
        self._scan = self.place.start + 1

    def take(self, best: SoundCandidate) -> None:
        """Go on behind the segment, unless a format that has refused it may still find more."""
        if not (all(c.has_ended or c.refusal for c in self.candidates) or best.is_whole()):
            raise NotSoundError  # one that is damaged may be better
        if not says_something(best.output) and any(c.refusal or c.has_failed for c in self.tried):
            raise NotSoundError  # another format may take in what is behind the marker, as where a turn ends
        if self.tried != [best] and best.end == len(self.text) and not has_content(best.output):
            raise NotSoundError  # another format may find a call or action in reasoning that goes on to the end
        self._report_spaces(best.name, best.output.segments, self.place)
        self._add_text(best.path, best.start)
        self.output.absorb(best.output)
        self._go_on(best.path, best.end)


def _place_of(end: int | bool | str | None) -> int:
    """Where a fast path has read up to. Raises NotSoundError if it could not read."""
    if type(end) is not int:  # true and false are none
        raise NotSoundError
    return end
