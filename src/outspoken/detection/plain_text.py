"""Plain text between segments, while the format is open: it ends at the opening marker of any format."""

from __future__ import annotations

from copy import copy
from typing import Any

from outspoken.engine.policy import ParserPolicy
from outspoken.engine.single_steps import SingleSteps
from outspoken.engine.text_buffer import LOOKBEHIND, TextBuffer
from outspoken.grammar import matchers, registry
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.registry import PLAIN
from outspoken.semantics.handlers import HANDLERS

from .evidence import MAX_INDENT
from .opener_index import OpenerIndex, opener_index


class OpenerMatch:
    """An opening marker that was found at `start()`, with its `number` in the opener index.

    As a match it has a group behind those of plain text's own markers.
    """

    __slots__ = ("_start", "lastindex", "number")
    partial = False

    def __init__(self, start: int, number: int, own_groups: int) -> None:
        self.lastindex, self.number, self._start = own_groups + number, number, start

    def start(self) -> int:
        """Where it stands."""
        return self._start


class _OpenMarkers(matchers.OpenMarkers):
    """The markers of all formats that may be open. They are many: only those that may begin at a place are asked."""

    __slots__ = ("_behind", "_openers", "_own_groups")

    def __init__(self, openers: OpenerIndex, own: matchers.OpenMarkers | None, own_groups: int, behind: int) -> None:
        super().__init__(own.found if own else [])
        self._openers, self._own_groups, self._behind = openers, own_groups, behind

    def find_open(self, buffer: str, at: int, start: int, group: int) -> int | None:
        """See `OpenMarkers`."""
        openers, own = self._openers, self._own_groups
        count = len(openers.terminals)
        rank = group - own if group > own else count + group
        while 0 <= (at := openers.begins(buffer, at)) <= start:
            found = openers.group_at(buffer, at)
            for number in openers.numbers_at(found, buffer, at, self._behind):
                if number >= count or (at == start and number + 1 >= rank):
                    break
                marker = openers.terminals[number]
                if marker.may_stay_open and openers.may_be_open(marker.regex, buffer, at):
                    return at
            for pattern, place in self.found:
                if at < start or count + place < rank:
                    found = pattern.match(buffer, at, partial=True)
                    if found is not None and found.partial:
                        return at
            at += 1
        return None


class OpenerMatcher:
    """The matcher of plain text that also stops at every opening marker of every format.

    `behind` gives one for a text in which other markup ends at a position.
    """

    _behind = -1

    def __init__(self, lenient: bool, edition: int, *, final: bool) -> None:
        self._openers = openers = opener_index(lenient, edition)
        automaton = registry.automaton(PLAIN, lenient=lenient)
        self._own = own = matchers.matcher_of(automaton.top_level, "find", HANDLERS, final=final)
        self.branches = own.branches
        self._groups = max(own.branches, default=0)
        self.open_markers = None if final else _OpenMarkers(openers, own.open_markers, self._groups, -1)

    def behind(self, pos: int) -> OpenerMatcher:
        """The same matcher for a text in which other markup ends at a position."""
        made = copy(self)
        made._behind = pos
        if self.open_markers is not None:
            made.open_markers = _OpenMarkers(self._openers, self._own.open_markers, self._groups, pos)
        return made

    def holds(self, piece: str, *, finds: bool) -> bool:
        """See `Matcher.holds`: what begins the markers of all formats is not known here."""
        return False

    def find(self, text: str, pos: int, *, partial: bool = False) -> Any:
        """The next marker: a match of plain text's own, or an `OpenerMatch`."""
        place = self._openers.find(text, pos, partial=partial, behind=self._behind)
        if place is None:
            return None
        start, number, _, match = place
        if number > len(self._openers.terminals):
            return self._own.match(text, start, partial=True) if partial else self._own.match(text, start)
        return OpenerMatch(start, number, self._groups) if number else match


@registry.cached
def opener_matcher(lenient: bool, edition: int, *, final: bool) -> OpenerMatcher:
    """The matcher of plain text in an edition of the formats."""
    return OpenerMatcher(lenient, edition, final=final)


class PlainTextPolicy(ParserPolicy):
    """Stops the parser of plain text at the opening marker of any format.

    The marker is then `found`. At the offset `no_opener_at`, no format reads a segment: a marker there is text, or
    plain text's own. Other markup, or the prompt, ends at the offset `behind`.
    """

    def __init__(self, *, lenient: bool, edition: int) -> None:
        self._lenient, self._edition = lenient, edition
        self.found: OpenerMatch | None = None
        self.no_opener_at: int | None = None
        self.behind = 0

    def take_found(self) -> OpenerMatch | None:
        """The opening marker at which the parser stopped, once."""
        found, self.found = self.found, None
        return found

    def plain_text_step(self, text: TextBuffer, *, final: bool) -> Any:
        """Plain text ends at the markers of all formats."""
        if self.no_opener_at == text.base + max(text.scan, text.pos):
            return None
        found = opener_matcher(self._lenient, self._edition, final=final)
        behind = self.behind - text.base
        return found.behind(behind) if behind + MAX_INDENT >= max(text.scan, text.pos) else found

    def is_plain_text(self, text: TextBuffer, chunk: str) -> bool:
        """Markers of other formats may depend on the characters before them."""
        before = text.text[-LOOKBEHIND:]
        return opener_index(self._lenient, self._edition).begins(before + chunk, len(before)) < 0

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> None:
        """Pass over an opening marker that no format reads, unless it is plain text's own."""
        text, output = steps.text, steps.builder.output
        if steps.state.before_text and steps.state.after_marker and not output.after_text:
            self.behind = max(text.offset, 0)
        at = max(text.scan, text.pos)
        if free.target is not steps.automaton.top_level or self.no_opener_at != text.base + at:
            return
        step = matchers.matcher_of(free.target, "find", HANDLERS, final=final)
        match = step.match(text.text, at) if final else step.match(text.text, at, partial=True)
        if match is None:
            text.scan = at + 1
            self.no_opener_at = None

    def foreign_opener(self, steps: SingleSteps, match: Any, *, final: bool) -> bool:
        """Stop here: formats are tried from this marker on."""
        self.found = match
        return False
