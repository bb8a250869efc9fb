"""Detection: which format is each segment of a text in?

Between segments, all formats agree: everything but an opening marker is text. At an opening marker, the formats that
have it become candidates and read on side by side. Of those that read their segment to its end without damage, the one
that reads the most wins. The next segment is open to all formats again, so a response may mix formats.
"""

from __future__ import annotations

from typing import Any

from outspoken.engine.parse_steps import Kind, ParseStep, Trial
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.state import TRY
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.registry import PLAIN
from outspoken.patterns.markup_search import FoundMarkup, is_distinct_marker
from outspoken.semantics.builder import Builder

from .candidates import Candidate
from .evidence import says_something
from .opener_index import is_lenient, opener_index
from .plain_text import OpenerMatch, PlainTextPolicy


class Detector:
    """Reads a text whose format is not known. `detected` is the format of the first segment that is not text.

    A parser reads plain text up to an opening marker, and candidates the segment behind it.
    """

    def __init__(
        self, automaton: Automaton, builder: Builder, text: TextBuffer, log: list[ParseStep] | None = None
    ) -> None:
        self.builder, self.text = builder, text
        lenient, edition = is_lenient(builder), registry.edition()
        self._openers = opener_index(lenient, edition)
        self.plain = PlainTextPolicy(lenient=lenient, edition=edition)
        self.parser = AutomatonParser(automaton, builder, text, self.plain, log=log)
        self._log = log
        #: the candidates that were tried first at the opening marker
        self._tried: list[Candidate] = []
        self.detected: str | None = None
        self.candidates: list[Candidate] = []
        #: formats with the same opening marker that refuse what follows it, or are like another one that has it; tried
        #: if all others fail
        self._unlikely: list[str] = []
        #: the only candidate that is left, once its events were passed on; from then on they are passed on as they come
        self._passed_on: Candidate | None = None
        #: the opening marker, while the character behind it has not come
        self._waiting: OpenerMatch | None = None
        #: the offsets of the opening marker, of the text before it that is held, and up to where candidates have failed
        self._start = self._text_start = self._failed_at = 0
        #: the number of the opening marker, and whether a format has it here
        self._number, self._is_marker = 0, False
        #: the opening markers behind which no format could read a segment
        self.refused: list[FoundMarkup] = []
        #: what evidence the segment of a format needs, if any
        self._wanted: dict[str, str] = {}
        #: the formats that have the opening marker
        self._sharing: list[str] = []

    # reading

    def feed(self, chunk: str) -> None:
        """Read a chunk behind which more may come."""
        candidates = self.candidates
        if not candidates:
            if self._waiting is not None:
                self.text.append(chunk)
            else:
                self.parser.feed(chunk)
            if self._open_segment(final=False):
                self._run(final=False)
            return
        self.text.append_unseen(chunk)
        for candidate in candidates:
            candidate.feed(chunk)
        if len(candidates) == 1 and self._pass_on_more(candidates[0]):
            return
        self._run(final=False)

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
        self._run(final=True)
        self.parser.finish()

    def _run(self, *, final: bool) -> None:
        going = True
        while going:
            if self.candidates and not self._judge(final=final):
                return
            if self._waiting is None:
                self.parser.run(final=final)
            going = self._open_segment(final=final)

    # a segment

    def _open_segment(self, *, final: bool) -> bool:
        """Start candidates if the parser has stopped at an opening marker. Returns whether it has."""
        match, self._waiting = self._waiting, None
        if match is None:
            match = self.plain.take_found()
            if match is None:
                return False
            self._start = self.text.base + match.start()
        if not final and self._openers.is_open(self.text.text, self._start - self.text.base):
            self._waiting = match
            return False
        self._start_candidates(match, final=final)
        return True

    def _start_candidates(self, match: OpenerMatch, *, final: bool) -> None:
        """Try the formats that have an opening marker, from there on."""
        text, start = self.text, self._start - self.text.base
        self._text_start = text.offset
        self._tried = []
        if not self.parser.budget.allows(self._start):
            self._failed_at = self._start
            self._read_as_text()
            return
        self._number = match.number
        behind = self.plain.behind - text.base
        known = self.detected is not None
        names, likely, self._wanted = self._openers.at(text.text, start, final=final, behind=behind, known=known)
        self._sharing, self._is_marker = names, bool(names)
        if not names:
            self._read_as_text()
            return
        self._unlikely = [name for name in names if name not in likely]
        self.candidates = self._started(likely, final=final)
        self._tried = [*self.candidates]
        if not self.candidates:
            self._failed_at = max(self._failed_at, self._start)
            self._read_as_text()

    def _started(self, names: list[str], *, final: bool) -> list[Candidate]:
        """Candidates that have read all that is there from the opening marker on."""
        candidates = [self._candidate(name) for name in names]
        for candidate in candidates:
            candidate.start(final=final)
        return candidates

    def _candidate(self, name: str) -> Candidate:
        """A format that reads from the opening marker on."""
        log: list[ParseStep] | None = None if self._log is None else []
        made = Candidate(name, self.builder, self.text, self._start, self.parser.budget, self._sharing, log)
        made.wanted = self._wanted.get(name, "")
        made.parser.state.end_is_proven = self.parser.state.end_is_proven
        return made

    def _judge(self, *, final: bool) -> bool:
        """End the segment if the candidates have come to an end. Returns whether they have."""
        if final:
            for candidate in self.candidates:
                candidate.parser.state.end_is_proven = self.parser.state.end_is_proven
                candidate.read_rest()
        candidates = self._remaining(final=final)
        if not candidates:
            self._read_as_text()
            return True
        over = self.text.length - self._start > self.builder.context.settings.max_hold
        if len(candidates) > 1 and not (final or over or any(c.segment.has_ended for c in candidates)):
            return False  # whichever is the best, more of it is awaited
        best = candidates[0] if len(candidates) == 1 else min(candidates, key=lambda c: c.rank(self.detected))
        ended = best.segment.has_ended
        if ended and not (final or over or all(c.segment.has_ended for c in candidates)):
            return False  # another one may read more of it
        if not ended and final:
            best.cut()
        elif not ended or (best.segment.damage and len(candidates) > 1 and not final):
            self._wait_for(best, over=over)
            return False
        evident = best.is_evident(self._openers, final=final)
        if not evident:
            best.segment.has_failed = evident is not None
            return best.segment.has_failed and self._judge(final=final)
        if best.is_plain():
            self._failed_at = max(self._failed_at, best.end)
            self._read_as_text()
        else:
            self._choose(best)
        return True

    def _wait_for(self, best: Candidate, *, over: bool) -> None:
        """Wait for more of a segment, and pass on its events if it is the only one left, or if too much is held."""
        if over:
            self.candidates = [best]
        is_known = len(self.candidates) == 1 and (over or not best.wanted)
        if is_known and best.builder.output.events and best.is_more_than_text():
            self._pass_on(best)

    def _remaining(self, *, final: bool) -> list[Candidate]:
        """The candidates that may read the segment: those without damage first, and the others if there are none."""
        candidates = self.candidates
        if self._unlikely and not any(
            c.is_more_than_text() or not (c.segment.refusal or c.segment.has_failed) for c in candidates
        ):
            candidates += self._started(self._unlikely, final=final)
            self._unlikely = []
        refused = [c for c in candidates if c.segment.refusal]
        running = [c for c in candidates if not (c.segment.refusal or c.segment.has_failed)]
        if len(running) == 1 and running[0].has_announced() and not any(c.has_announced() for c in refused):
            _fail(refused)  # its events are passed on from here on
        elif not running:
            announced = [c for c in refused if c.has_announced()] or refused
            _fail([c for c in refused if c not in announced])
            for candidate in announced:
                candidate.read_on_damaged(final=final)
        for candidate in candidates:
            if candidate.segment.has_failed:
                self._failed_at = max(self._failed_at, candidate.end)
        self.candidates = [c for c in candidates if not c.segment.has_failed]
        return self.candidates

    def _read_as_text(self) -> None:
        """No format reads what stands here: it is text, or plain text's own."""
        self.candidates = []
        self._log_trials("tried", self._failed_at, self._tried)
        text, budget = self.text, self.parser.budget
        if self._is_marker and is_distinct_marker(written := self._openers.written(self._number)):
            self.refused.append(FoundMarkup(self._start, self._start + len(written), written))
        if self._failed_at >= self._start:
            budget.spent += TRY + self._failed_at - self._start
        text.rewind(self._text_start)
        text.scan = self._start - text.base
        self.plain.no_opener_at = self._start
        if not budget.allows(self._failed_at):
            text.scan = max(self._failed_at - text.base, text.scan)

    def _choose(self, best: Candidate) -> None:
        """A segment was read by this format: take it over, and go on behind it."""
        self.candidates = []
        self._log_trials("chosen", best.end, [best, *[one for one in self._tried if one is not best]])
        self._pass_on(best)
        if best.spaces is not None:
            best.spaces.report(best.builder)
        self.builder.absorb(best.builder)
        self.builder.nodes.clear()
        if self.detected is None and best.name != PLAIN and not self._is_lone_marker(best):
            self.detected = best.name
        self._openers.remember(self._number, best.name)
        parser = self.parser
        parser.budget.continue_from(best.parser.budget)
        parser.state.leading_trims = best.automaton.trims
        parser.state.config = parser.automaton.top_level
        parser.state.before_text = parser.state.after_marker = True
        self.text.rewind(best.end)
        self.plain.behind = max(best.end, 0)

    def _is_lone_marker(self, best: Candidate) -> bool:
        """Is the segment one marker that says nothing? Many formats may have it, as the end of a turn."""
        if says_something(best.builder.output):
            return False
        return self._openers.is_alone(self._number, best.text.slice(self._start, best.end))

    def _log_trials(self, kind: Kind, end: int, candidates: list[Candidate]) -> None:
        if self._log is not None:
            trials = tuple([Trial(one.name, one.parser.log or []) for one in candidates])
            self._log.append(ParseStep(kind, self._start, end, self.parser.state.config, trials=trials))

    # events

    @property
    def held_from(self) -> int:
        """The offset from which on text is held, as long as there are candidates whose events are not passed on."""
        return self._text_start

    def _pass_on_more(self, candidate: Candidate) -> bool:
        """Pass on the events of the only candidate that is left, while it reads on without damage.

        Returns whether that was all that is to be done.
        """
        if candidate.segment.is_settled:
            return False
        events: Any = self.builder.output.events
        if candidate is self._passed_on:
            own: Any = candidate.builder.output.events
            events += own
            own.clear()
            return True
        if events is None or candidate.wanted or not candidate.is_more_than_text():
            return False
        self._passed_on = candidate
        self._pass_on(candidate)
        return True

    def _pass_on(self, candidate: Candidate) -> None:
        """Pass on the text before the segment, and the events of the only candidate that is left."""
        builder, own = self.builder, candidate.builder
        if self._text_start < self._start:
            start, self._text_start = self._text_start, self._start
            if "TEXT" not in candidate.automaton.trims:
                builder.output.text(self.text.slice(start, self._start), start, self._start)
        if builder.output.events is not None and own.output.events:
            builder.output.events += own.output.events
            own.output.events.clear()


def _fail(candidates: list[Candidate]) -> None:
    for candidate in candidates:
        candidate.segment.has_failed = True
