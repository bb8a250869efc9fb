"""Detection: which format is each segment of a text in?

Between segments, all formats agree: everything but an opening marker is text. At an opening marker, the formats that
have it become candidates and read on side by side. Of those that read their segment to its end without damage, the one
that reads the most wins. The next segment is open to all formats again, so a response may mix formats.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from outspoken.grammar.registry import PLAIN
from outspoken.patterns.markup_search import FoundMarkup, is_distinct_marker

from .candidates import Candidate
from .evidence import says_something
from .opener_index import OpenerIndex, Owners, Place

if TYPE_CHECKING:
    from outspoken.semantics.output import Output

C = TypeVar("C", bound=Candidate)


class Detector(ABC, Generic[C]):
    """Reads a text whose format is not known. `detected` is the format of the first segment that is not text.

    Candidates read the segment at an opening marker. A subclass makes them, and reads the text between segments: with
    parsers (`parsed_text`), or with the functions that are generated ahead of time for sound text (`sound_text`).
    """

    detected: str | None = None
    #: the opening marker, the formats that have it, and the offset up to where candidates have failed
    place, owners, failed_at = Place(0, 0), Owners([], [], {}, []), 0

    def __init__(self, openers: OpenerIndex, output: Output) -> None:
        self.openers, self.output = openers, output
        self.candidates: list[C] = []
        #: the candidates that were tried first at the opening marker
        self.tried: list[C] = []
        #: formats with the same opening marker that refuse what follows it, or are like another one that has it; tried
        #: if all others fail
        self._unlikely: list[str] = []
        #: the opening markers behind which no format could read a segment
        self.refused: list[FoundMarkup] = []

    # the text between segments

    @abstractmethod
    def find(self, *, final: bool) -> Place | None:
        """Read on to the next opening marker, and return it; None if there is none yet."""

    @abstractmethod
    def owners_at(self, place: Place, *, final: bool) -> Owners:
        """The formats that have a marker."""

    @abstractmethod
    def candidate(self, name: str) -> C:
        """A format that reads from the opening marker on."""

    def may_try(self) -> bool:
        """May more be spent on candidates at the opening marker?"""
        return True

    def is_awaited(self) -> bool:
        """May more of the segment be awaited? Not if all is there, or too much is held."""
        return False

    def wait_for(self, best: C) -> None:
        """More of the segment is awaited, of which a candidate is the best."""

    @abstractmethod
    def pass_over(self) -> None:
        """No format reads what stands at the opening marker: it is text, or plain text's own."""

    @abstractmethod
    def take(self, best: C) -> None:
        """The segment was read by this candidate: take it over, and go on behind it."""

    # a segment

    def run(self, *, final: bool) -> None:
        """Read on as far as possible; `final` says that the text is complete."""
        while not self.candidates or self._judge(final=final):
            place = self.find(final=final)
            if place is None:
                return
            self.start_candidates(place, final=final)

    def start_candidates(self, place: Place, *, final: bool) -> None:
        """Try the formats that have an opening marker, from there on."""
        self.place, self.tried = place, []
        if not self.may_try():
            self.failed_at = place.start
            self._read_as_text()
            return
        self.owners = self.owners_at(place, final=final)
        names, likely = self.owners[:2]
        if not likely:
            self._read_as_text()
            return
        self._unlikely = [name for name in names if name not in likely]
        self.candidates = self._started(likely, final=final)
        self.tried = [*self.candidates]

    def _started(self, names: list[str], *, final: bool) -> list[C]:
        """Candidates that have read all that is there from the opening marker on."""
        candidates = [self.candidate(name) for name in names]
        for candidate in candidates:
            candidate.begin(final=final)
        return candidates

    def _judge(self, *, final: bool) -> bool:
        """End the segment if the candidates have come to an end. Returns whether they have."""
        candidates = self._remaining(final=final)
        if not candidates:
            self._read_as_text()
            return True
        awaits = not final and self.is_awaited()
        if len(candidates) > 1 and awaits and not any(c.has_ended for c in candidates):
            return False  # whichever is the best, more of it is awaited
        best = candidates[0] if len(candidates) == 1 else min(candidates, key=lambda c: c.rank(self.detected))
        ended = best.has_ended
        if ended and awaits and not all(c.has_ended for c in candidates):
            return False  # another one may read more of it
        if not ended and final:
            best.cut()
        elif not ended or (best.damage and len(candidates) > 1 and not final):
            self.wait_for(best)
            return False
        evident = best.is_evident(self.openers, final=final)
        if not evident:
            best.has_failed = evident is not None
            return best.has_failed and self._judge(final=final)
        if best.is_plain():
            self.failed_at = max(self.failed_at, best.end)
            self._read_as_text()
        else:
            self._choose(best)
        return True

    def _remaining(self, *, final: bool) -> list[C]:
        """The candidates that may read the segment: those without damage first, and the others if there are none."""
        candidates = self.candidates
        if self._unlikely and not any(c.is_more_than_text() or not (c.refusal or c.has_failed) for c in candidates):
            candidates += self._started(self._unlikely, final=final)
            self._unlikely = []
        refused = [c for c in candidates if c.refusal]
        running = [c for c in candidates if not (c.refusal or c.has_failed)]
        if len(running) == 1 and running[0].has_announced() and not any(c.has_announced() for c in refused):
            _fail(refused)  # its events are passed on from here on
        elif not running:
            announced = [c for c in refused if c.has_announced()] or refused
            _fail([c for c in refused if c not in announced])
            for candidate in announced:
                candidate.read_on_damaged(final=final)
        for candidate in candidates:
            if candidate.has_failed:
                self.failed_at = max(self.failed_at, candidate.end)
        self.candidates = [c for c in candidates if not c.has_failed]
        return self.candidates

    def _read_as_text(self) -> None:
        self.candidates = []
        start, number = self.place[:2]
        if self.owners.names and is_distinct_marker(written := self.openers.written(number)):
            self.refused.append(FoundMarkup(start, start + len(written), written))
        self.pass_over()

    def _choose(self, best: C) -> None:
        """A segment was read by this format."""
        number, is_alone = self.place.number, self.openers.is_alone
        # many formats may have a marker that says nothing by itself, as the end of a turn
        if (
            self.detected is None
            and best.name != PLAIN
            and (says_something(best.output) or not is_alone(number, best.raw))
        ):
            self.detected = best.name
        self.openers.remember(number, best.name)
        self.take(best)
        self.candidates = []


def _fail(candidates: Iterable[Candidate]) -> None:
    for candidate in candidates:
        candidate.has_failed = True
