"""A candidate that reads any text, with a parser of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.engine.parse_steps import ParseStep
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.policy import ParserPolicy

from .candidates import Candidate
from .opener_index import OpenerIndex, Owners
from .spaces import spaces_of

if TYPE_CHECKING:
    from outspoken.engine.recovery_driver import RecoveryDriver
    from outspoken.engine.single_steps import SingleSteps
    from outspoken.grammar.automaton import Automaton, Config, Transition
    from outspoken.recovery.path import RecoveryPath

#: The damage of a segment that a format had to give up.
UNREADABLE = 1000


class ParsedCandidate(Candidate, ParserPolicy):
    """Reads one segment by one format, with a parser and a builder of its own, for the parser of the text before it.

    As the policy of its parser, it stops that behind the segment, and keeps what became of the segment.
    """

    #: the opening marker was read
    _has_begun = False

    def __init__(self, name: str, automaton: Automaton, before: AutomatonParser, start: int, owners: Owners) -> None:
        self._before, self.automaton, header = before, automaton, automaton.tables.header
        context = before.builder.context
        self.builder = builder = before.builder.fork(start, header)
        output, settings = builder.output, context.settings
        super().__init__(name, output, start, owners.wanted.get(name, ""), context.tools, settings.max_hold)
        #: the spaces of its kin, if points stay in the numbers of the model
        self.spaces = spaces_of(name, settings, owners.names) if header.actions else None
        if self.spaces is not None:
            self.spaces.keep_numbers(builder)
        self._calls = before.builder.output.call_count
        self.text = before.text.fork(start)
        log: list[ParseStep] | None = None if before.log is None else []
        self.parser = AutomatonParser(
            automaton, builder, self.text, self, before.budget.copy(), automaton.top_level, log
        )

    # reading

    @property
    def is_settled(self) -> bool:
        """Has the segment come to an end, in one way or another?"""
        return self.has_ended or self.has_failed or self.refusal is not None

    def feed(self, chunk: str) -> None:
        if self.is_settled:
            self.text.append(chunk)
        else:
            self.parser.feed(chunk)

    def begin(self, *, final: bool) -> None:
        if final:
            self.read_rest()
        else:
            self.parser.read_on()

    def read_rest(self) -> None:
        """Read all that is left of the text."""
        state = self.parser.state
        state.end_is_proven = self._before.state.end_is_proven
        self.parser.flush_blanks()
        self._run(final=True)
        at_end = self.text.pos >= len(self.text.text)
        is_open = state.embedded or state.damage or self.refusal
        self.may_end = self.has_ended or (
            self._has_begun and at_end and not is_open and state.config.end_operations() is not None
        )

    def read_on_damaged(self, *, final: bool) -> None:
        at, end, inside = self.refusal or (0, None, False)
        self.refusal, self.damage = None, 1
        base = self.text.base
        if self.parser.steps.recovery.start_segment(at - base, end if end is None else end - base, inside=inside):
            if final:
                self.read_rest()
            else:
                self._run(final=False)

    def _run(self, *, final: bool) -> None:
        if not self.is_settled:
            self.parser.run(final=final)

    def cut(self) -> None:
        self.parser.finish()
        self.text.pos = len(self.text.text)

    # what it has read

    @property
    def end(self) -> int:
        return self.text.offset

    @property
    def raw(self) -> str:
        return self.text.slice(self.start, self.end)

    def ends_line(self, openers: OpenerIndex, *, final: bool) -> bool | None:
        return openers.ends_line(self.text.text, self.text.pos, final=final)

    def has_announced(self) -> bool:
        return self.output.call_count > self._calls or super().has_announced()

    def is_more_than_text(self) -> bool:
        begins = self.builder.first_start
        return self.has_announced() or (begins is not None and begins > self.start)

    def count_repairs(self) -> int:
        return len(self.builder.recorder.repairs)

    def has_name(self) -> bool:
        return any(node.name for node in self.builder.nodes)

    # decisions of the parser

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> bool | None:
        """Outside of the segment, there is its opening marker before it, and its end behind it."""
        builder, role = steps.builder, free.terminal.short
        begun = builder.nodes[0].start if builder.nodes else -1
        if role == "CODE" and begun == self.start and not builder.output.segments:
            self.has_failed = True  # a code sample, which plain text reads as well
            return False
        is_inside = self._has_begun and free.target is not steps.automaton.top_level
        if role != "TEXT" or builder.nodes or is_inside:
            return None
        if self._has_begun:
            self.has_ended = True
            return False
        return self._read_opener(steps, free, final=final)

    def _read_opener(self, steps: SingleSteps, free: Transition, *, final: bool) -> bool:
        text = steps.text
        step = steps.opener_step(free, final=final)
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
        self._has_begun = True
        steps.shift_text(free, text.pos)
        steps.state.opener_at, steps.state.opener = text.offset, branch.transition
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
