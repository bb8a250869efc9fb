"""Detection: which format is a piece of text in?

Outside of every segment all formats agree: what is no opening marker is text. At an opening marker, the formats that
have it are tried side by side from there. Of those that read their segment to the end without damage, the
one that reads the most has it; then the next segment is anybody's again, so that a response may mix formats.
"""

from __future__ import annotations

from typing import Any

from outspoken.engine.buffer import LEFT
from outspoken.engine.parser import Machine
from outspoken.engine.recovery_driver import TRY
from outspoken.grammar import matchers, registry
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.patterns import prefilter
from outspoken.patterns.prefix_index import PrefixIndex
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import HANDLERS

from .candidates import PLAIN, Trial, is_lenient
from .opener_index import like, opening_markers


class _Rivals(matchers.OpenMarkers):
    """Those of all formats, which are many: only those are asked that may begin where a marker may."""

    __slots__ = ("_begins", "_ranks", "_near")

    def __init__(self, found: list[tuple[Any, int]], begins: prefilter.Prefilter | None, ranks: dict[int, int]) -> None:
        super().__init__(found)
        self._begins, self._ranks = begins, ranks
        self._near = PrefixIndex([rival.pattern for rival, _ in found])

    def find_open(self, buffer: str, at: int, start: int, group: int) -> int | None:
        """See `Rivals`."""
        rank = self._ranks[group]
        if self._begins is None:
            return super().find_open(buffer, at, start, rank)
        while 0 <= (at := self._begins(buffer, at)) <= start:
            for rival, own in [self.found[i] for i in self._near.groups[self._near.at(buffer, at)]]:
                if at < start or own < rank:
                    found = rival.match(buffer, at, partial=True)
                    if found is not None and found.partial:
                        return at
            at += 1
        return None


class _Marker:
    """An opening marker that was found: where it stands, and its number among all, behind the groups of plain text."""

    __slots__ = ("lastindex", "number", "_start")
    partial = False

    def __init__(self, start: int, number: int, behind: int) -> None:
        self.lastindex, self.number, self._start = behind + number, number, start

    def start(self) -> int:
        """Where it stands."""
        return self._start


class _Watch:
    """The step of plain text that also stops at every opening marker of every format."""

    def __init__(self, which: str, lenient: bool, edition: int) -> None:
        self._openers = openers = opening_markers(lenient, edition)
        self._own = own = matchers.matcher_of(registry.automaton(PLAIN, lenient=lenient).top_level, which, HANDLERS)
        partial = which == "find partial"
        #: finds where a marker may begin; None where anywhere
        self.begins = openers.may_begin if partial else openers.begins
        self.branches = own.branches
        self._groups = max(own.branches, default=0)
        self.open_markers: matchers.OpenMarkers | None = None
        if partial:
            import regex

            known = openers.terminals
            rivals = [(regex.compile(t.regex), i) for i, t in enumerate(known, 1) if t.may_stay_open]
            rivals += [
                (rival, len(known) + group) for rival, group in (own.open_markers.found if own.open_markers else [])
            ]
            ranks = {group: len(known) + group for group in range(1, self._groups + 1)}
            ranks |= {self._groups + i: i for i in range(1, len(known) + 1)}
            self.open_markers = _Rivals(rivals, self.begins, ranks)

    def find(self, text: str, pos: int, *, partial: bool = False) -> Any:
        """The next marker: a match of plain text's own, or an opening marker."""
        place = self._openers.place(text, pos, partial=partial)
        if place is None:
            return None
        start, number, _, match = place
        if number > len(self._openers.terminals):
            return self._own.match(text, start, partial=True) if partial else self._own.match(text, start)
        return _Marker(start, number, self._groups) if number else match


@registry.cached
def watch(which: str, lenient: bool, edition: int) -> _Watch:
    """The step of plain text in an edition of the formats; see `matcher_of` for `which`."""
    return _Watch(which, lenient, edition)


class Detector(Machine):
    """Reads a text whose format is not known. `detected` is the format of the first segment that was no text."""

    #: what reads one segment by one format
    trial: type[Trial] = Trial

    def __init__(self, automaton: Automaton, builder: Builder, *, base: int = 0) -> None:
        super().__init__(automaton, builder, base=base)
        self._lenient = is_lenient(builder)
        self._edition = registry.edition()
        self._trials: list[Trial] = []
        #: formats with the same opening marker that refuse what follows it, or are like another one that has it; tried
        #: where all others fail
        self._unlikely: list[str] = []
        #: the only trial that is left, once it was heard: what it says from then on is handed on as it comes
        self._telling: Trial | None = None
        self._barred: int | None = None
        self._begun_at = self._pending_at = self._failed_at = self._number = 0

    def feed(self, chunk: str) -> None:
        """Read a piece of which more may come."""
        trials = self._trials
        if not trials:
            super().feed(chunk)
            return
        self.chunks.append(chunk)
        self.length += len(chunk)
        for trial in trials:
            trial.feed(chunk)
        if len(trials) == 1 and self._alone(trials[0]):
            return
        self._run(final=False)

    def _alone(self, trial: Trial) -> bool:
        """Hand on what the only format that is left says, while it reads on without damage."""
        builder, own = self.builder, trial.builder
        if trial.settled or builder.output.events is None:
            return False
        if trial is not self._telling:
            if not trial.says_more():
                return False
            if self._pending_at < self._begun_at:
                self._pass_on(trial)
            self._telling = trial
        if own.output.events:
            builder.output.events += own.output.events
            own.output.events.clear()
        return True

    def take_rest(self, text: str) -> None:
        """All that is left of the text has arrived; `close` reads it."""
        (self.feed if self._trials else super().take_rest)(text)

    def _run(self, *, final: bool) -> None:
        going = True
        while going:
            if self._trials and not self._judge(final=final):
                return
            super()._run(final=final)
            going = bool(self._trials)

    def _sprint(self, *, stop: bool) -> None:
        if not self._trials:
            super()._sprint(stop=True)

    def _free(self, config: Config, free: Transition, *, final: bool) -> bool:
        if self._trials:
            return False
        at = max(self.scan, self.pos)
        if free.target is not self.automaton.top_level or self._barred != self.base + at:
            return super()._free(config, free, final=final)
        step = matchers.matcher_of(free.target, "find whole" if final else "find partial", HANDLERS)
        match = step.match(self.buffer, at) if final else step.match(self.buffer, at, partial=True)
        if match is None:
            self.scan = at + 1
            self._barred = None
        return super()._free(config, free, final=final)

    def _step(self, free: Transition, which: str) -> Any:
        """Plain text watches for every format; reasoning and code samples only for their own end."""
        if free.target is not self.automaton.top_level or self._barred == self.base + max(self.scan, self.pos):
            return super()._step(free, which)
        return watch("find whole" if which == "find long" else which, self._lenient, self._edition)

    def _is_text(self, free: Transition, chunk: str) -> bool:
        """Markers of other formats may depend on what stands before them."""
        if free.target is not self.automaton.top_level:
            return super()._is_text(free, chunk)
        begins = watch("find partial", self._lenient, self._edition).begins
        known = self.buffer[-LEFT:]
        return begins is not None and begins(known + chunk, len(known)) < 0

    def _opening(self, match: Any, *, final: bool) -> bool:
        """An opening marker of some formats: try them from here."""
        start = match.start()
        self._begun_at, self._pending_at = self.base + start, self.base + self.pos
        if not self._may_try(self._begun_at):
            self._failed_at = self._begun_at
            return self._nobody()
        openers = opening_markers(self._lenient, self._edition)
        self._number = match.number
        names, likely = openers.at(self.buffer, start, final=final)
        likely = likely or names
        likely = [name for name in likely if like(name) not in likely]
        if len(likely) == 1 and final:
            trial = self._trial(likely[0])
            if trial.read_through(self.buffer[start:]):
                return self._settle(trial)
        self._unlikely = [name for name in names if name not in likely]
        self._trials = self._started(likely, final=final)
        return False

    def _started(self, names: list[str], *, final: bool) -> list[Trial]:
        """Trials of formats, which have read all that is there from the opening marker on."""
        rest = self.tail(self._begun_at)
        trials = [self._trial(name) for name in names]
        for trial in trials:
            trial.read_on(rest, final=final)
        return trials

    def _trial(self, name: str) -> Trial:
        """A trial of a format from the opening marker on."""
        at = self._begun_at - self.base
        trial = self.trial(name, self.builder, self.buffer[max(at - LEFT, 0) : at], self._begun_at)
        trial.share(self)
        trial.proven = self.proven
        return trial

    def _judge(self, *, final: bool) -> bool:
        """Have the trials come to an end? Returns whether there is more to do."""
        for trial in self._trials:
            if final:
                trial.proven = self.proven
                trial.read_on("", final=True)
        trials = self._sound_first(final=final)
        if not trials:
            return self._nobody()
        best = trials[0] if len(trials) == 1 else min(trials, key=lambda t: t.rank(self.detected))
        over = self.length - self._begun_at > self.builder.context.settings.max_hold
        if best.ended and not (final or over or all(t.ended for t in trials)):
            return False  # another one may read more of it
        if not best.ended and final:
            best.cut()
        elif not best.ended or (best.damaged and len(trials) > 1 and not final):
            if over:
                trials = self._trials = [best]
            if len(trials) == 1 and best.builder.output.events and best.says_more():
                self._pass_on(best)
            return False
        if best.is_plain():
            self._failed_at = max(self._failed_at, best.stopped_at())
            return self._nobody()
        return self._settle(best)

    def _sound_first(self, *, final: bool) -> list[Trial]:
        """The trials that may read the segment: those without damage first, and the others where there are none."""
        if self._unlikely and not any(t.says_more() or not (t.refused or t.failed) for t in self._trials):
            self._trials += self._started(self._unlikely, final=final)
            self._unlikely = []
        waiting = [t for t in self._trials if t.refused]
        running = [t for t in self._trials if not (t.refused or t.failed)]
        if len(running) == 1 and running[0].announced and not any(t.announced for t in waiting):
            self._fail_all(waiting)  # its events are passed on from here on
        elif not running:
            announced = [t for t in waiting if t.announced] or waiting
            self._fail_all([t for t in waiting if t not in announced])
            for trial in announced:
                trial.repair_region(final=final)
        for trial in self._trials:
            if trial.failed:
                self._failed_at = max(self._failed_at, trial.stopped_at())
        self._trials = [t for t in self._trials if not t.failed]
        return self._trials

    def _fail_all(self, trials: list[Trial]) -> None:
        for trial in trials:
            trial.failed = True

    def _nobody(self) -> bool:
        """No format reads what stands here: it is text, or plain text's own."""
        self._trials = []
        self._spent += TRY + self._failed_at - self._begun_at
        self.rewind(self._pending_at)
        self.scan = self._begun_at - self.base
        self._barred = self._begun_at
        if not self._may_try(self._failed_at):
            self.scan = max(self._failed_at - self.base, self.scan)
        return True

    def _settle(self, best: Trial) -> bool:
        """A segment was read by this format: take it over, and go on behind it."""
        self._trials = []
        self._pass_on(best)
        builder = self.builder
        builder.absorb(best.builder)
        builder.nodes.clear()
        self.share(best)
        if self.detected is None and best.name != PLAIN:
            self.detected = best.name
        opening_markers(self._lenient, self._edition).learn(self._number, best.name)
        self._lead_trims = best.automaton.trims
        self.rewind(best.stopped_at())
        self.config = self.automaton.top_level
        self._fresh = self.marked = True
        return True

    def _pass_on(self, trial: Trial) -> None:
        """Hand on the events of the only format that is left."""
        builder, own = self.builder, trial.builder
        if self._pending_at < self._begun_at:
            start, self._pending_at = self._pending_at, self._begun_at
            if "TEXT" not in trial.automaton.trims:
                builder.text(self.tail(start)[: self._begun_at - start], start, self._begun_at)
        if builder.output.events is not None and own.output.events:
            builder.output.events += own.output.events
            own.output.events.clear()
