"""Candidates: formats that read the same segment side by side, until it is known which of them has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from outspoken.engine.parse_steps import ParseStep
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.policy import ParserPolicy
from outspoken.engine.state import RecoveryBudget
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN
from outspoken.semantics.builder import Builder

from .evidence import has_actions, has_content, is_credible, is_text
from .opener_index import OpenerIndex, is_lenient
from .spaces import spaces_of

if TYPE_CHECKING:
    from outspoken.engine.recovery_driver import RecoveryDriver
    from outspoken.engine.single_steps import SingleSteps
    from outspoken.grammar.automaton import Config, Transition
    from outspoken.recovery.path import RecoveryPath

#: The damage of a segment that a format had to give up.
UNREADABLE = 1000


class SegmentPolicy(ParserPolicy):
    """Stops a parser behind one segment that begins at an offset, and keeps what became of it.

    `has_begun` says that the opening marker was read, `has_ended` that something stands behind the segment, and
    `has_failed` that the format cannot read it. `refusal` is where the grammar refused the text, as long as another
    format may read it; see `RecoveryDriver.on_refused`. `damage` is the cost of repairs, 0 for a sound segment.
    """

    def __init__(self, start: int) -> None:
        self._start = start
        self.has_begun = self.has_ended = self.has_failed = False
        self.refusal: tuple[int, int | None, bool] | None = None
        self.damage = 0

    @property
    def is_settled(self) -> bool:
        """Has the segment come to an end, in one way or another?"""
        return self.has_ended or self.has_failed or self.refusal is not None

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> bool | None:
        """Outside of the segment, there is its opening marker before it, and its end behind it."""
        builder, role = steps.builder, free.terminal.short
        begun = builder.nodes[0].start if builder.nodes else -1
        if role == "CODE" and begun == self._start and not builder.output.segments:
            self.has_failed = True  # a code sample, which plain text reads as well
            return False
        is_inside = self.has_begun and free.target is not steps.automaton.top_level
        if role != "TEXT" or builder.nodes or is_inside:
            return None
        if self.has_begun:
            self.has_ended = True
            return False
        return self._read_opener(steps, free, final=final)

    def _read_opener(self, steps: SingleSteps, free: Transition, *, final: bool) -> bool:
        text = steps.text
        step = steps.text_step(free, final=final)
        match = step.match(text.text, text.pos) if final else step.match(text.text, text.pos, partial=True)
        if match is None:
            self.has_failed = True
            return False
        if not final and (
            match.partial
            or (
                step.open_markers
                and step.open_markers.find_open(text.text, text.pos, text.pos, match.lastindex) is not None
            )
        ):
            return False
        branch = step.branches[match.lastindex]
        if branch.grows and not final and match.end() == len(text.text):
            return False
        if branch.transition is not None and branch.transition.replaces:
            self.has_failed = True  # its marker, which was still open, has a mistake: no index of markers has that
            return False
        self.has_begun = True
        steps.shift_text(free, text.pos)
        steps.state.opener_at = text.offset
        steps.follow(branch, match)
        return True

    def on_refused(self, recovery: RecoveryDriver, pos: int, end: int | None, *, inside: bool) -> bool | None:
        """Wait whether another format reads the segment without damage."""
        if self.damage:
            return None
        text = recovery.text
        self.refusal = text.base + pos, end if end is None else text.base + end, inside
        text.pos = end if end is not None else pos
        return False

    def reread_as_text(self, recovery: RecoveryDriver, after: int) -> bool:
        """The segment ends before what cannot be read, or fails if that is all of it."""
        builder, text = recovery.builder, recovery.text
        recovery.state.damage = None
        text.pos = max(text.pos, after - text.base)
        builder.output.flush()  # text of an answer, which a stream has passed on, stands
        self.has_failed = not builder.output.segments
        if not self.has_failed:
            self.has_ended, self.damage = True, UNREADABLE
            text.rewind(builder.output.consumed)
            builder.nodes.clear()
        return False

    def recovered(self, path: RecoveryPath, *, accepted: bool) -> None:
        """Add up what repairs cost."""
        self.damage = self.damage + path.cost if accepted else UNREADABLE


class Candidate:
    """Reads one segment by one format, with a parser and a builder of its own.

    `sharing` are the formats that have the opening marker. `may_end` says that the text may end where the candidate has
    come to. What it reads counts only with the evidence that is `wanted`.
    """

    #: see `evidence`
    wanted = ""

    def __init__(
        self,
        name: str,
        parent: Builder,
        text: TextBuffer,
        start: int,
        budget: RecoveryBudget,
        sharing: Iterable[str] = (),
        log: list[ParseStep] | None = None,
    ) -> None:
        self.name = name
        self.automaton = automaton = registry.automaton(name, lenient=is_lenient(parent), calls=parent.context.calls)
        self.builder = builder = parent.fork(start, automaton.tables.header)
        #: the spaces of its kin, if points stay in the numbers of the model
        acts = bool(automaton.tables.header.actions)
        self.spaces = spaces_of(name, builder.context.settings, sharing) if acts else None
        if self.spaces is not None:
            self.spaces.keep_numbers(builder)
        self._calls = parent.output.call_count
        self._start = start
        self.text = text.fork(start)
        self.segment = SegmentPolicy(start)
        self.parser = AutomatonParser(
            automaton, builder, self.text, self.segment, budget.copy(), automaton.top_level, log
        )
        self.may_end = False

    # reading

    def feed(self, chunk: str) -> None:
        """Read a chunk behind which more may come."""
        if self.segment.is_settled:
            self.text.append(chunk)
        else:
            self.parser.feed(chunk)

    def start(self, *, final: bool) -> None:
        """Read what is there from the start of the segment on."""
        if final:
            self.read_rest()
        else:
            self.parser.read_on()

    def read_rest(self) -> None:
        """Read all that is left of the text."""
        self.parser.flush_blanks()
        self._run(final=True)
        state, segment = self.parser.state, self.segment
        at_end = self.text.pos >= len(self.text.text)
        is_open = state.embedded or state.damage or segment.refusal
        self.may_end = segment.has_ended or (
            segment.has_begun and at_end and not is_open and state.config.end_operations() is not None
        )

    def read_on_damaged(self, *, final: bool) -> None:
        """Read on where the grammar refused the segment, since no format reads it without damage."""
        segment = self.segment
        at, end, inside = segment.refusal or (0, None, False)
        segment.refusal, segment.damage = None, 1
        base = self.text.base
        if self.parser.steps.recovery.start_segment(at - base, end if end is None else end - base, inside=inside):
            if final:
                self.read_rest()
            else:
                self._run(final=False)

    def _run(self, *, final: bool) -> None:
        if not self.segment.is_settled:
            self.parser.run(final=final)

    def cut(self) -> None:
        """The text ended before the segment did."""
        self.parser.finish()
        self.text.pos = len(self.text.text)

    # what it has read

    @property
    def end(self) -> int:
        """The offset that the candidate has come to, which is the end of the segment once it has ended."""
        return self.text.offset

    def is_plain(self) -> bool:
        """Is what it read only text, as it was written?"""
        self.builder.output.flush()
        segments = self.builder.output.segments
        if any(s.kind != "text" for s in segments):
            return False
        return "".join([s.text for s in segments]) == self.text.slice(self._start, self.end)

    def has_announced(self) -> bool:
        """Was something read that a stream would have passed on?"""
        builder = self.builder
        return builder.output.call_count > self._calls or any(
            segment.kind != "text" for segment in builder.output.segments
        )

    def is_evident(self, openers: OpenerIndex, *, final: bool) -> bool | None:
        """Is there the evidence that is wanted behind the segment and in it? None if only more text can tell."""
        if not self.wanted:
            return True
        segment, output, text = self.segment, self.builder.output, self.text
        output.flush()
        answered, is_sound = output.outcome.answered, not segment.damage
        tools = self.builder.context.tools
        if not (answered or is_credible(output.segments, tools, self.wanted, is_sound=is_sound)):
            return False
        if not segment.has_ended or self.end - self._start > self.builder.context.settings.max_hold:
            return True
        return openers.ends_line(text.text, text.pos, final=final)

    def is_more_than_text(self) -> bool:
        """Is it known already that what it reads is not only text, as it was written?"""
        begins = self.builder.first_start
        return self.has_announced() or (begins is not None and begins > self._start)

    def rank(self, first: str | None) -> tuple[Any, ...]:
        """How good this reading is: the smallest rank is the best. `first` is the format that was found before."""
        tools = self.builder.context.tools
        output = self.builder.output
        called = [s.name for s in output.segments if s.kind == "tool_call"]
        has_end = self.segment.has_ended or self.may_end
        return (
            self.segment.refusal is not None,
            not has_end,
            is_text(output),
            self.segment.damage + len(self.builder.recorder.repairs),
            tools is not None and any(name not in tools for name in called),
            not has_content(output),
            -self.end if has_end else not any(f.name for f in self.builder.nodes),
            not has_actions(output),
            self.name != first,
            self.name != PLAIN,
            bool(self.automaton.tables.header.like),
            self.name,
        )
