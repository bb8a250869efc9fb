"""Detection with parsers: of plain text, which stops at the opening marker of any format, and of the segments there."""

from __future__ import annotations

from copy import copy
from typing import Any

from outspoken.engine.parse_steps import Kind, ParseStep, Trial
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.policy import ParserPolicy
from outspoken.engine.single_steps import SingleSteps
from outspoken.engine.state import TRY
from outspoken.engine.text_buffer import LOOKBEHIND, TextBuffer
from outspoken.grammar import matchers, registry
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.registry import PLAIN
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import HANDLERS

from .detector import Detector
from .evidence import MAX_INDENT
from .opener_index import OpenerIndex, Owners, Place, opener_index
from .parsed_candidate import ParsedCandidate


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
            partial_match = openers.group_at(buffer, at)
            for number in openers.numbers_at(partial_match, buffer, at, self._behind):
                if number >= count or (at == start and number + 1 >= rank):
                    break
                marker = openers.terminals[number]
                if marker.may_stay_open and openers.may_be_open(marker.regex, buffer, at):
                    return at
            for pattern, place in self.found:
                if at < start or count + place < rank:
                    partial_match = pattern.match(buffer, at, partial=True)
                    if partial_match is not None and partial_match.partial:
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

    def stays_open(self, buffer: str, at: int) -> bool:
        """See `Matcher.stays_open`: the markers of all formats are searched for."""
        return False

    def find(self, text: str, pos: int, *, partial: bool = False) -> Any:
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


class ParserDetector(Detector[ParsedCandidate], ParserPolicy):
    """Reads any text with parsers. The one of plain text stops at the opening markers of all formats.

    At the offset `_no_opener_at`, no format reads a segment: a marker there is text, or plain text's own. Other markup,
    or the prompt, ends at the offset `_behind`. From `held_from` on, text waits for what the candidates read.
    """

    held_from = 0
    #: the opening marker at which the parser has stopped
    _stopped_at: OpenerMatch | None = None
    #: the opening marker, while the character behind it has not come
    _waiting: Place | None = None
    _no_opener_at: int | None = None
    _behind = 0
    #: the only candidate that is left, once its events were passed on; from then on they are passed on as they come
    _passed_on: ParsedCandidate | None = None

    def __init__(
        self, automaton: Automaton, builder: Builder, text: TextBuffer, log: list[ParseStep] | None = None
    ) -> None:
        self._lenient = builder.context.repair_limit not in ("none", "notation")  # may missing markers be inserted?
        self._edition = registry.edition()
        super().__init__(opener_index(self._lenient, self._edition), builder.output)
        self.builder, self.text = builder, text
        self.parser = AutomatonParser(automaton, builder, text, self, log=log)

    # reading

    def feed(self, chunk: str) -> None:
        """Read a chunk behind which more may come."""
        candidates = self.candidates
        if not candidates:
            if self._waiting is not None:
                self.text.append(chunk)
            else:
                self.parser.feed(chunk)
            if (place := self._take_place(final=False)) is not None:
                self.start_candidates(place, final=False)
                self.run(final=False)
            return
        self.text.append_unseen(chunk)
        for candidate in candidates:
            candidate.feed(chunk)
        if len(candidates) == 1 and self._pass_on_more(candidates[0]):
            return
        self.run(final=False)

    def read(self, text: str, *, end_is_proven: bool = False) -> None:
        """Read a whole text, or all that is left of it, and end."""
        if self.candidates:
            self.feed(text)
        else:
            self.parser.take_rest(text)
        self.close(end_is_proven=end_is_proven)

    def close(self, *, end_is_proven: bool = False) -> None:
        """End the text. `end_is_proven` says that the model ended it, as a finish reason does."""
        self.parser.state.end_is_proven = end_is_proven
        self.parser.flush_blanks()
        for candidate in self.candidates:
            candidate.read_rest()
        self.run(final=True)
        self.parser.finish()

    def find(self, *, final: bool) -> Place | None:
        if self._waiting is None:
            self.parser.run(final=final)
        return self._take_place(final=final)

    def _take_place(self, *, final: bool) -> Place | None:
        """The opening marker at which the parser has stopped, once it is known whether a code sample starts there."""
        place, match = self._waiting, self._stopped_at
        self._waiting = self._stopped_at = None
        if match is not None:
            place = Place(self.text.base + match.start(), match.number)
        if place is not None and not final and self.openers.is_open(self.text.text, place.start - self.text.base):
            self._waiting, place = place, None
        return place

    # a segment

    def may_try(self) -> bool:
        """May more be spent on candidates at the opening marker? The text before it is held."""
        self.held_from = self.text.offset
        return self.parser.budget.allows(self.place.start)

    def owners_at(self, place: Place, *, final: bool) -> Owners:
        text, base = self.text.text, self.text.base
        behind, known = self._behind - base, self.detected is not None
        return self.openers.at(text, place.start - base, final=final, behind=behind, known=known)

    def candidate(self, name: str) -> ParsedCandidate:
        automaton = registry.automaton(name, lenient=self._lenient, calls=self.builder.context.calls)
        return ParsedCandidate(name, automaton, self.parser, self.place.start, self.owners)

    def is_awaited(self) -> bool:
        """May more of the segment be awaited? Not if too much is held."""
        return self.text.length - self.place.start <= self.builder.context.settings.max_hold

    def wait_for(self, best: ParsedCandidate) -> None:
        """More of the segment is awaited: pass on its events if it is the only one left, or if too much is held."""
        over = not self.is_awaited()
        if over:
            self.candidates = [best]
        is_known = len(self.candidates) == 1 and (over or not best.wanted)
        if is_known and best.output.events and best.is_more_than_text():
            self._pass_on(best)

    def pass_over(self) -> None:
        text, budget, start, failed_at = self.text, self.parser.budget, self.place.start, self.failed_at
        self._log_trials("tried", failed_at, self.tried)
        if failed_at >= start:
            budget.spent += TRY + failed_at - start
        text.rewind(self.held_from)
        text.scan = start - text.base
        self._no_opener_at = start
        if not budget.allows(failed_at):
            text.scan = max(failed_at - text.base, text.scan)

    def take(self, best: ParsedCandidate) -> None:
        self._log_trials("chosen", best.end, [best, *[other for other in self.tried if other is not best]])
        self._pass_on(best)
        if best.spaces is not None:
            best.builder.recorder.diagnostics += best.spaces.reports(best.name, best.output.segments)
        self.builder.absorb(best.builder)
        self.builder.nodes.clear()
        parser, state = self.parser, self.parser.state
        parser.budget.continue_from(best.parser.budget)
        if (wasted := max([candidate.end for candidate in self.tried], default=best.end) - best.end) > 0:
            parser.budget.spent += TRY + wasted
        state.leading_trims = best.automaton.trims
        state.config = parser.automaton.top_level
        state.before_text = state.after_marker = True
        self.text.rewind(best.end)
        self._behind = max(best.end, 0)

    def _log_trials(self, kind: Kind, end: int, candidates: list[ParsedCandidate]) -> None:
        if self.parser.log is not None:
            trials = tuple([Trial(candidate.name, candidate.parser.log or []) for candidate in candidates])
            self.parser.log.append(ParseStep(kind, self.place.start, end, self.parser.state.config, trials=trials))

    # events

    def _pass_on_more(self, candidate: ParsedCandidate) -> bool:
        """Pass on the events of the only candidate that is left, while it reads on without damage.

        Returns whether that was all that is to be done.
        """
        if candidate.is_settled:
            return False
        events: Any = self.output.events
        if candidate is self._passed_on:
            own: Any = candidate.output.events
            events += own
            own.clear()
            return True
        if events is None or candidate.wanted or not candidate.is_more_than_text():
            return False
        self._passed_on = candidate
        self._pass_on(candidate)
        return True

    def _pass_on(self, candidate: ParsedCandidate) -> None:
        """Pass on the text before the segment, and the events of the only candidate that is left."""
        output, own = self.output, candidate.output
        if self.held_from < candidate.start:
            start, self.held_from = self.held_from, candidate.start
            if "TEXT" not in candidate.automaton.trims:
                output.text(self.text.slice(start, candidate.start), start, candidate.start)
        if output.events is not None and own.events:
            output.events += own.events
            own.events.clear()

    # decisions of the parser

    def plain_text_step(self, text: TextBuffer, *, final: bool) -> Any:
        """Plain text ends at the markers of all formats."""
        if self._no_opener_at == text.base + max(text.scan, text.pos):
            return None
        found = opener_matcher(self._lenient, self._edition, final=final)
        behind = self._behind - text.base
        return found.behind(behind) if behind + MAX_INDENT >= max(text.scan, text.pos) else found

    def is_plain_text(self, text: TextBuffer, chunk: str) -> bool:
        """Markers of other formats may depend on the characters before them."""
        before = text.text[-LOOKBEHIND:]
        return self.openers.begins(before + chunk, len(before)) < 0

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> None:
        """Pass over an opening marker that no format reads, unless it is plain text's own."""
        text, output = steps.text, steps.builder.output
        if steps.state.before_text and steps.state.after_marker and not output.after_text:
            self._behind = max(text.offset, 0)
        at = max(text.scan, text.pos)
        if free.target is not steps.automaton.top_level or self._no_opener_at != text.base + at:
            return
        step = matchers.matcher_of(free.target, "find", HANDLERS, final=final)
        match = step.match(text.text, at) if final else step.match(text.text, at, partial=True)
        if match is None:
            text.scan = at + 1
            self._no_opener_at = None

    def foreign_opener(self, steps: SingleSteps, match: Any, *, final: bool) -> bool:
        """Stop here: formats are tried from this marker on."""
        self._stopped_at = match
        return False
