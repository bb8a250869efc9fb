"""A session that traces its parsers, those of detection included."""

from __future__ import annotations

from typing import Any

from outspoken.detection.candidates import Candidate
from outspoken.detection.detector import Detector
from outspoken.detection.plain_text import OpenerMatch
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar.automaton import Config
from outspoken.parsing.response_reader import ResponseReader

from .trace import Span, Step, Trace, TracedParser, TriedFormat


class TracedCandidate(Candidate):
    """Reads one segment in one format, and records the steps."""

    parser_type = TracedParser

    @property
    def trace(self) -> Trace:
        """The trace of its parser."""
        return _trace_of(self.parser)

    @property
    def log(self) -> list[Step]:
        """The steps of its parser."""
        return self.trace.log

    def read_batches(self) -> bool:
        """Complete text is not matched in batches."""
        return False


class TracedDetector(Detector):
    """Detects the format, and records the formats that were tried with their steps."""

    parser_type = TracedParser
    candidate_type = TracedCandidate

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.trace = _trace_of(self.parser)
        self._tried: tuple[TracedCandidate, ...] = ()
        self.sending: TracedCandidate | None = None

    def _start_candidates(self, match: OpenerMatch, *, final: bool) -> None:
        self._tried, self.sending = (), None
        super()._start_candidates(match, final=final)
        self._tried = tuple([c for c in self.candidates if isinstance(c, TracedCandidate)])

    def _pass_on(self, candidate: Candidate) -> None:
        self.sending = candidate if isinstance(candidate, TracedCandidate) else None
        super()._pass_on(candidate)

    def _trials(self) -> tuple[TriedFormat, ...]:
        return tuple([TriedFormat(candidate.name, candidate.log) for candidate in self._tried])

    def _read_as_text(self) -> None:
        self.trace.note("tried", self._start, self._failed_at, trials=self._trials())
        self._tried, self.sending = (), None
        super()._read_as_text()

    def _choose(self, best: Candidate) -> None:
        trace, free = self.trace, self.parser.state.config.free
        if free is not None and self._start > trace.end:
            trace.shift(self.parser.state.config, free, trace.end, self._start)
        trace.note("chosen", self._start, best.end, trials=self._trials())
        self._tried, self.sending = (), None
        if isinstance(best, TracedCandidate):
            trace.log += best.log
        trace.end = best.end
        super()._choose(best)


def _trace_of(parser: AutomatonParser) -> Trace:
    assert isinstance(parser, TracedParser)
    return parser.trace


class TracedSession(ResponseReader):
    """Reads one response, and records the steps."""

    parser_type = TracedParser

    def make_detector(self, text: TextBuffer) -> Detector:
        """A detector that writes down how it reads."""
        return TracedDetector(self._automaton, self._builder, text)

    @property
    def trace(self) -> Trace:
        """The trace, without candidates that are still being tried."""
        reader = self._reader
        return _trace_of(reader.parser if isinstance(reader, Detector) else reader)

    def places(self) -> list[tuple[str, Config]]:
        """The current configurations, each with the format that is being tried, "" without candidates."""
        if self._prompt_end is not None:
            return [("", self._automaton.start)]
        candidates = self._reader.candidates if isinstance(self._reader, Detector) else []
        found = [(candidate.name, candidate.parser.state.config) for candidate in candidates]
        return found or [("", self.trace.state.config)]

    def held(self, received: int, sent: dict[int, int]) -> list[Span]:
        """The spans that are in no event yet and are no markup; see `Trace.held`."""
        if self._prompt_end is not None:  # it is not known yet whether the response repeats the end of its prompt
            return [(0, received)]
        reader = self._reader
        if isinstance(reader, TracedDetector) and reader.candidates and reader.sending is not None:
            return reader.sending.trace.held(received, sent)
        return self.trace.held(received, sent)
