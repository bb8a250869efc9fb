"""Trials: one segment read by one format, where it is open which format it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.engine.parser import Machine
from outspoken.grammar import matchers, registry
from outspoken.grammar.automaton import Config, Transition
from outspoken.recovery.sync_points import Damage
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import HANDLERS

if TYPE_CHECKING:
    from outspoken.recovery.path import Way

#: The format that reads what no other one claims.
PLAIN = "text"

#: The damage of a segment that a format had to give up.
UNREADABLE = 1000


class Trial(Machine):
    """Reads one segment by one format, and stops behind it.

    `ended` says that something stands behind the segment, `whole` that the text may end here, and `failed` that the
    format cannot read it.
    """

    def __init__(self, name: str, parent: Builder, left: str, start: int) -> None:
        automaton = registry.automaton(name, lenient=is_lenient(parent))
        builder = parent.fork(start, automaton.tables.header)
        self._calls = parent.output.call_count
        super().__init__(automaton, builder, base=start - len(left), config=automaton.top_level)
        self.buffer, self.chunks = left, [left]
        self.pos = len(left)
        self.length = self._begun_at = start
        self.origin = self.base
        self.name = name
        self.begun = self.ended = self.failed = self.whole = False
        #: where the grammar refused the text, and how, while it is open whether another format reads it
        self.refused: tuple[int, int | None, bool] | None = None
        #: 0 where nothing is damaged, else more the more of it is
        self.damaged = 0

    def _sprint(self, *, stop: bool) -> None:
        super()._sprint(stop=True)

    def read_on(self, text: str, *, final: bool) -> None:
        """Read more of the text; all that is left of it, where it is final."""
        if final and self._blanks:
            self.add("".join(self._blanks))
            self._blanks.clear()
        if text:
            (self.add if final else self.feed)(text)
        if final:
            self._run(final=True)
            at_end = self.pos >= len(self.buffer) and not (self._island or self._damage or self.refused)
            self.whole = self.ended or (self.begun and at_end and self.config.end_operations() is not None)

    def read_through(self, text: str) -> bool:
        """Read a segment of text that is all there in whole steps. Returns whether that was all of it, and sound."""
        self.add(text)
        step = matchers.matcher_of(self.config, "find whole", HANDLERS)
        match = step.match(self.buffer, self.pos)
        self.begun = True
        self._take(step.branches[match.lastindex], match)
        self._sprint(stop=True)
        builder, config = self.builder, self.config
        if config.free is None or config.free.target is not self.automaton.top_level or config.leading_markers:
            return False
        if builder.nodes or builder.recorder.diagnostics:
            return False
        self.ended = bool(builder.output.segments) and builder.output.segments[-1].kind != "text"
        return self.ended

    def cut(self) -> None:
        """The text ended before the segment did."""
        self._end()
        self.pos = len(self.buffer)

    def stopped_at(self) -> int:
        """The offset at which the segment ended."""
        return self.base + self.pos

    def is_plain(self) -> bool:
        """Is what it read only text, as it was written?"""
        self.builder.output.flush()
        segments = self.builder.output.segments
        if any(s.kind != "text" for s in segments):
            return False
        return "".join([s.text for s in segments]) == self.slice(self._begun_at, self.stopped_at())

    def says_more(self) -> bool:
        """Is it known already that what it read is not only text, as it was written?"""
        begins = self.builder.first_start
        return self.announced or (begins is not None and begins > self._begun_at)

    def rank(self, first: str | None) -> tuple[Any, ...]:
        """How good this reading is; the smallest is the best."""
        tools = self.builder.context.tools
        segments = self.builder.output.segments
        called = [s.name for s in segments if s.kind == "tool_call"]
        nothing = not any(s.kind != "text" for s in segments)
        answered = self.builder.output.outcome.answered
        idle = not (answered or any(s.kind not in ("text", "reasoning") for s in segments))
        unknown = tools is not None and any(name not in tools for name in called)
        named = any(f.name for f in self.builder.nodes)
        does = answered or any(s.kind in ("tool_call", "action", "payload") and s.status != "invalid" for s in segments)
        return (
            self.refused is not None,
            not (self.ended or self.whole),
            nothing,
            self.damaged,
            unknown,
            idle,
            -self.stopped_at() if self.ended or self.whole else not named,
            not does,
            self.name != first,
            self.name != PLAIN,
            bool(self.automaton.tables.header.like),
            self.name,
        )

    def _run(self, *, final: bool) -> None:
        if not (self.ended or self.failed or self.refused):
            super()._run(final=final)

    def _free(self, config: Config, free: Transition, *, final: bool) -> bool:
        if (
            free.terminal.short == "CODE"
            and self.builder.nodes[0].start == self._begun_at
            and not self.builder.output.segments
        ):
            self.failed = True  # a code sample, which plain text reads as well
            return False
        if (
            free.terminal.short != "TEXT"
            or self.builder.nodes
            or (self.begun and free.target is not self.automaton.top_level)
        ):
            return super()._free(config, free, final=final)
        if self.begun:
            self.ended = True
            return False
        step = self._step(free, "find whole" if final else "find partial")
        match = step.match(self.buffer, self.pos) if final else step.match(self.buffer, self.pos, partial=True)
        if match is None:
            self.failed = True
            return False
        if not final and (
            match.partial
            or (
                step.open_markers
                and step.open_markers.find_open(self.buffer, self.pos, self.pos, match.lastindex) is not None
            )
        ):
            return False
        path = step.branches[match.lastindex]
        if path.grows and not final and match.end() == len(self.buffer):
            return False
        self.begun = True
        self._close_free(free, self.pos)
        self._opened_at = self.base + self.pos
        self._take(path, match)
        return True

    def feed(self, chunk: str) -> None:
        """Read a piece of which more may come."""
        if self.refused is None:
            super().feed(chunk)
        else:
            self.add(chunk)

    @property
    def settled(self) -> bool:
        """Has it come to an end, in one way or another?"""
        return self.ended or self.failed or self.refused is not None

    @property
    def announced(self) -> bool:
        """Was something read that a stream would have passed on?"""
        builder = self.builder
        return builder.output.call_count > self._calls or any(
            segment.kind != "text" for segment in builder.output.segments
        )

    def repair_region(self, *, final: bool) -> None:
        """No format reads the segment without damage: go on where this one refused it."""
        at, end, inside = self.refused or (0, None, False)
        self.refused, self.damaged = None, 1
        if super()._fail(at - self.base, end if end is None else end - self.base, inside=inside):
            self.read_on("", final=final)
            if not final:
                self._run(final=False)

    def _fail(self, pos: int, end: int | None = None, *, inside: bool = False) -> bool:
        if not self.damaged:
            # another format may read it without damage; that is waited for
            self.refused = self.base + pos, end if end is None else self.base + end, inside
            self.pos = end if end is not None else pos
            return False
        return super()._fail(pos, end, inside=inside)

    def _as_text(self, after: int) -> bool:
        self._damage = None
        self.pos = max(self.pos, after - self.base)
        self.builder.output.flush()  # text of an answer, which a stream has passed on, stands
        self.failed = not self.builder.output.segments
        if not self.failed:
            self.ended, self.damaged = True, UNREADABLE
            self.pos = self.builder.output.consumed - self.base
            self.builder.nodes.clear()
        return False

    def _carry_out(self, way: Way, damage: Damage, end: int, *, closed: bool) -> bool:
        if not super()._carry_out(way, damage, end, closed=closed):
            self.damaged = UNREADABLE
            return False
        self.damaged += way.cost
        return True


def is_lenient(builder: Builder) -> bool:
    return builder.context.repair_limit not in ("none", "notation")
