"""A parser that records each step: what it reads, what it rejects, and how it recovers.

It reads in single steps, as in a stream, even if the text is complete. These classes replace those of the engine; the
library does not know them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from outspoken.detection.candidates import SegmentPolicy
from outspoken.engine.damaged_segment import DamagedSegment
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.recovery_driver import RecoveryDriver
from outspoken.engine.single_steps import SingleSteps
from outspoken.engine.state import ParserState
from outspoken.engine.text_buffer import BLANK, TextBuffer
from outspoken.grammar import matchers
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, TOKENS
from outspoken.notations.interface import Notation, notation_of
from outspoken.recovery.marker_lexer import marker_forms
from outspoken.recovery.path import RecoveryPath, RecoveryStep
from outspoken.results.edits import Edit
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import HANDLERS
from outspoken.semantics.open_node import OpenNode

Span = tuple[int, int]

#: The kind of a step: a token, or an event at this place.
Kind = Literal["read", "refused", "recovered", "rejected", "text", "unread", "tried", "chosen"]

#: The condition of a token: "" is sound.
Mark = Literal["", "missing", "damaged", "dropped", "repaired", "text", "unread", "cut"]

_VALUES = EMBEDDED_VALUES | TOKENS | {"ARG_VALUE"}
_TELLING = frozenset({"tool_call", "action", "payload", "json", "envelope", "unread"})
_MARKS: dict[str, Mark] = {"damaged-marker": "damaged", "missing-marker": "missing"}
#: More spans than this are merged.
_MOST_HELD = 32


@dataclass(slots=True, eq=False)
class Step:
    """One step of a parser from `start` to `end` of the raw text, in a configuration.

    `transition` is the one that it takes, if any. A step is `withdrawn` if its text is read differently later.
    `cost` is that of a recovery path, and `trials` are the formats that were tried, with their steps.
    """

    kind: Kind
    start: int
    end: int
    config: Config
    transition: Transition | None = None
    mark: Mark = ""
    edits: tuple[Edit, ...] = ()
    withdrawn: bool = False
    cost: int = 0
    trials: tuple[TriedFormat, ...] = ()


class TriedFormat(NamedTuple):
    """A format that was tried during detection, with the steps of its parser."""

    name: str
    log: list[Step]


class Trace:
    """The steps of a parser in `log`, and the values that it has read and not sent yet."""

    def __init__(self, builder: Builder, text: TextBuffer, state: ParserState) -> None:
        self.log: list[Step] = []
        self.builder, self.text, self.state = builder, text, state
        #: the offset behind the last token
        self.end = text.offset
        #: where free text ended, and where the arguments began that are read
        self.free_end = self.arguments_at = -1
        self._pending: list[Span] = []

    # read by the tool

    def tokens(self) -> Iterator[Step]:
        """The tokens that were not withdrawn, in the order of the text."""
        return (step for step in self.log if step.kind == "read" and not step.withdrawn)

    def held(self, received: int, sent: dict[int, int]) -> list[Span]:
        """The spans of the received text that are in no event yet and are no markup.

        `sent` is the number of characters of the arguments of each call that were in events.
        """
        spans = [(s, e) for span in self._pending for s, e in self._unsent(*span, sent)]
        state, at = self.state, self.text.offset
        if state.damage is not None:
            at = self._sent_of_damaged(state.damage, sent)
        elif state.embedded is not None:
            spans += self._unsent(state.embedded.begun, at, sent)
        elif state.config.free is not None and state.config.free.terminal.short == "ARG_VALUE" and at > self.end:
            spans += self._unsent(self.end, at, sent)
        return joined([*spans, (at, received)])

    def _unsent(self, start: int, end: int, sent: dict[int, int]) -> list[Span]:
        """The part of a value that is in no event yet."""
        nodes = [n for n in self.builder.nodes if n.start <= start and n.kinds not in ("think", "code")]
        node = nodes[-1] if nodes else None
        if node is None:
            return []
        if node.index >= 0 and self.state.embedded is not None and self.arguments_at == start:
            return [(start + sent.get(node.index, 0), end)]
        is_unsent = node.key is not None and not node.sending and start >= node.key_start
        return [(start, end)] if node.index < 0 or is_unsent else []

    def _sent_of_damaged(self, damage: DamagedSegment, sent: dict[int, int]) -> int:
        """The offset from which a damaged segment is held."""
        call = damage.call
        if call is None:
            return damage.start
        if call.key is not None:
            return damage.refused_at if call.sending else call.key_start
        if call.sending and self.arguments_at >= call.start:
            return self.arguments_at + sent.get(call.index, 0)
        return damage.refused_at

    # recorded by the parser

    def note(self, kind: Kind, start: int, end: int, **more: Any) -> None:
        """Record a step in the current configuration."""
        self.log.append(Step(kind, start, end, self.state.config, **more))

    def shift(self, config: Config, step: Transition, start: int, end: int, **more: Any) -> None:
        """Record a transition, and one over a missing marker before it; a marker with a mistake is read as it is."""
        if step.inserted and not step.replaces:
            opener = next(t for t in config.markers if not t.inserted and t.terminal.canonical == step.inserted)
            self.log.append(Step("read", start, start, config, opener, "missing"))
            config, step = opener.target, next(t for t in opener.target.markers if t.terminal is step.terminal)
        self.log.append(Step("read", start, end, config, step, **more))
        self.end = end

    def keep_value(self, before: list[OpenNode], step: Transition, start: int, end: int) -> None:
        """Keep a value until its node is sent; `before` are the nodes that were open before it."""
        nodes = self.builder.nodes
        if not nodes:
            self._pending = []
            return
        if step.terminal.short in _VALUES:
            self._pending.append((start, end))
        if any(op == "end" and kind in _TELLING for op, kind in (*step.before, *step.after)):
            ended = [n.start for n in before if n not in nodes]
            self._pending = [span for span in self._pending if span[0] < min(ended, default=end)]

    def withdraw(self, start: int) -> None:
        """Withdraw the tokens from an offset on."""
        self._pending = [span for span in self._pending if span[0] < start]
        self.end = start
        for step in reversed(self.log):
            if step.kind != "read" or step.withdrawn:
                continue
            if step.start < start:
                self.end = step.end
                return
            step.withdrawn = True

    def follow(self, path: RecoveryPath, config: Config) -> None:
        """Record the steps of a recovery path, each repair at the token that it changes."""
        first = len(self.log)
        for taken in path.steps:
            self.pass_over(config, taken.start, "repaired")
            step = taken.transition
            if step is None:
                self.log.append(Step("read", taken.start, taken.end, config, None, "dropped", taken.edits))
                self.end = taken.end
                continue
            if step.target.automaton is not config.automaton:
                config = step.target.automaton.top_level
            edits = () if step.inserted else tuple([e for e in taken.edits if e.level == "markup"])
            self.shift(config, step, taken.start, taken.end, mark=_mark(taken, edits), edits=edits)
            config = step.target
        _hand_out([e for t in path.steps for e in t.edits if e.level != "markup"], self.log[first:])

    def pass_over(self, config: Config, end: int, mark: Mark) -> None:
        """Record text before the next token that is part of none."""
        if end > self.end and self.text.slice(self.end, end).strip(BLANK):
            self.log.append(Step("read", self.end, end, config, None, mark))

    def unread(self, config: Config, end: int, step: Transition | None, mark: Mark = "unread") -> None:
        """Record that the text after the last token, or the end of `step`, was not read."""
        start, self.end = self.end, max(end, self.end)
        self._pending = []
        self.log.append(Step("unread", start, end, config))
        self.log.append(Step("read", start, end, config, step, mark))


class TracedSteps(SingleSteps):
    """Matches only single markers, and records them."""

    trace: Trace

    @cached_property
    def recovery(self) -> RecoveryDriver:
        """Writes down what becomes of damaged segments."""
        made = TracedRecovery(self)
        made.trace = self.trace
        return made

    def text_step(self, free: Transition, which: str) -> Any:
        """Single markers, also in complete text."""
        return super().text_step(free, "find partial")

    def _match_marker(self, config: Config, when: str, *, final: bool) -> tuple[matchers.Matcher, Any]:
        if not final:
            return super()._match_marker(config, when, final=final)
        step = matchers.matcher_of(config, f"{when} partial", HANDLERS)
        return step, step.match(self.text.text, self.text.pos)

    def follow(self, branch: matchers.Branch, match: Any) -> None:
        """Follow a branch of one marker."""
        trace, config, base, before = self.trace, self.state.config, self.text.base, list(self.builder.nodes)
        step = _transition(config, branch)
        begun = match.start()
        if trace.free_end != base + begun:
            begun = self._begun(step, begun, match.end())
        trace.shift(config, step, base + begun, base + match.end())
        super().follow(branch, match)
        trace.keep_value(before, step, base + begun, trace.end)

    def _begun(self, step: Transition, start: int, end: int) -> int:
        """Where a marker begins whose match includes the white space before it."""
        at = self.skip_blank(start)
        while at > start:
            match = marker_forms(step).regex.match(self.text.text, at)
            if match is not None and match.end() == end:
                break
            at -= 1
        return at

    def shift_text(self, free: Transition, at: int) -> None:
        """Shift free text."""
        trace, before = self.trace, list(self.builder.nodes)
        start, trace.free_end = trace.end, self.text.base + at
        trace.shift(self.state.config, free, start, trace.free_end)
        super().shift_text(free, at)
        trace.keep_value(before, free, start, trace.free_end)

    def _begin_embedded(self, transition: Transition, notation: Notation, *, final: bool) -> bool:
        self.trace.arguments_at = self.text.offset if transition.role == "arguments" else -1
        return super()._begin_embedded(transition, notation, final=final)

    def shift_embedded(self, transition: Transition, start: int, end: int) -> None:
        """Shift an embedded value."""
        trace, base, before = self.trace, self.text.base, list(self.builder.nodes)
        trace.shift(self.state.config, transition, base + start, base + end)
        super().shift_embedded(transition, start, end)
        trace.keep_value(before, transition, base + start, base + end)


class TracedRecovery(RecoveryDriver):
    """Records rejected text and its recovery."""

    trace: Trace

    def on_refused(self, pos: int, end: int | None = None, *, inside: bool = False) -> bool:
        """The grammar rejects the text at `pos`."""
        base = self.text.base
        value = self._scanned(base + pos) if inside else None
        self.trace.note("refused", base + pos, base + (pos if end is None else end), transition=value)
        return super().on_refused(pos, end, inside=inside)

    def _scanned(self, at: int) -> Transition | None:
        """The embedded value that began at the place after the last token."""
        begun = self.text.slice(self.trace.end, at + 1).lstrip(BLANK)[:1]
        return next((t for t in self.state.config.embedded if notation_of(t.terminal).may_begin(begun)), None)

    def reread_as_text(self, after: int) -> bool:
        """The rejected text is plain text, or the end of a candidate's segment."""
        trace, start = self.trace, max(self.builder.output.consumed, 0)
        going = super().reread_as_text(after)
        if isinstance(self.policy, SegmentPolicy):
            trace.note("text", self.builder.output.consumed, after)
            trace.withdraw(self.text.offset)
            return going
        trace.withdraw(start)
        start, end, config = max(start, trace.end), self.text.offset, self.state.config
        trace.note("text", start, end)
        if config.free is not None and end > start:
            trace.shift(config, config.free, start, end, mark="text")
        trace.end = max(start, end)
        return going

    def apply(self, path: RecoveryPath, damage: DamagedSegment, end: int, *, end_is_certain: bool) -> bool:
        """Apply a recovery path."""
        done, trace = super().apply(path, damage, end, end_is_certain=end_is_certain), self.trace
        trace.note("recovered" if done else "rejected", damage.start, end, cost=path.cost)
        if done:
            trace.withdraw(damage.start)
            trace.follow(path, damage.outer)
            trace.pass_over(path.config, end, "cut" if path.cut else "repaired")
            trace.end = end
        return done

    def give_up(self, damage: DamagedSegment, config: Config, at: int, *, cut: bool) -> bool:
        """Report an announced call that cannot be read."""
        before = self.state.config
        going = super().give_up(damage, config, at, cut=cut)
        self.trace.unread(before, self.text.offset, None)
        return going


class TracedParser(AutomatonParser):
    """Reads one text in single steps, and records them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.trace = Trace(self.builder, self.text, self.state)

    def read_batches(self) -> None:
        """Read nothing: all of the text is left to the single steps."""

    @cached_property
    def steps(self) -> SingleSteps:
        """Single steps that are written down."""
        made = TracedSteps(self)
        made.trace = self.trace
        return made

    def finish(self) -> None:
        """All of the text was read."""
        state, trace = self.state, self.trace
        config, open_ = state.config, state.config.free if state.embedded is None else state.embedded.step
        super().finish()
        if self.text.slice(trace.end, self.text.end).strip(BLANK):
            trace.unread(config, self.text.end, open_, "cut")


def _transition(config: Config, path: matchers.Branch) -> Transition:
    """The transition that a path of a single marker takes."""
    for which, step in config.matchers.items():
        if which.endswith("partial"):
            markers = config.leading_markers if which.startswith("leading") else config.markers
            for found, own in zip(markers, step.branches.values(), strict=False):  # missing closers follow
                if own is path:
                    return found
    raise AssertionError("a path belongs to a marker of its configuration")


def _mark(taken: RecoveryStep, edits: tuple[Edit, ...]) -> Mark:
    if not edits:
        return ""
    return "missing" if taken.is_missing else _MARKS.get(edits[0].code, "repaired")


def _hand_out(edits: list[Edit], steps: list[Step]) -> None:
    """Give each repair of a value to the last token that begins before it."""
    for edit in sorted(edits, key=lambda e: e.start):
        step = next((s for s in reversed(steps) if s.start <= edit.start and s.end > s.start), None)
        if step is not None:
            step.edits = (*step.edits, edit)
            step.mark = step.mark or "repaired"


def joined(spans: list[Span]) -> list[Span]:
    """The spans in order, without empty ones; those that touch or overlap are one. There are at most 32."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > start:
            found.append((start, end))
    over = len(found) - _MOST_HELD
    return found if over <= 0 else [(found[0][0], found[over][1]), *found[over + 1 :]]
